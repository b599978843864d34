"""Places of zones without seats. Every change locks all days of the zone first, in their order."""

import datetime as dt
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.infra.database import Transaction, date_array
from voelgoed.seating.model.seats import ZoneDay


class PlaceHold(msgspec.Struct, frozen=True):
    zone_id: UUID
    hold_id: UUID
    days: list[dt.date]
    places: int
    held_until: datetime


async def make_days(
    tx: Transaction, event_id: UUID, zone_id: UUID, days: Sequence[dt.date], capacity: int
) -> None:
    await tx.run(
        """
        INSERT INTO zone_day (organization_id, event_id, zone_id, day, capacity)
        SELECT current_organization(), $1, $2, day, $4 FROM unnest($3::date[]) AS day ORDER BY day
        ON CONFLICT DO NOTHING
        """,
        event_id,
        zone_id,
        days,
        capacity,
    )


async def lock_days(tx: Transaction, event_id: UUID, zone_id: UUID) -> list[ZoneDay]:
    return await tx.rows(
        ZoneDay,
        """
        SELECT zone_id, day, capacity, held, sold FROM zone_day
         WHERE event_id = $1 AND zone_id = $2 ORDER BY day FOR UPDATE
        """,
        event_id,
        zone_id,
    )


async def let_go_of_ended_holds(tx: Transaction, event_id: UUID, zone_id: UUID) -> int:
    """A hold whose time is up no longer counts; with the days locked, nobody else does this too."""
    return await tx.run(
        """
        WITH ended AS (
            DELETE FROM place_hold WHERE event_id = $1 AND zone_id = $2 AND held_until <= $3
            RETURNING days, places
        ), freed AS (
            SELECT day, sum(places)::integer AS places FROM ended, unnest(days) AS day GROUP BY day
        )
        UPDATE zone_day SET held = held - freed.places FROM freed
         WHERE event_id = $1 AND zone_id = $2 AND zone_day.day = freed.day
        """,
        event_id,
        zone_id,
        tx.now,
    )


async def insert_place_holds(tx: Transaction, event_id: UUID, holds: Sequence[PlaceHold]) -> None:
    # Days as text, because an array of arrays of different lengths is none.
    await tx.run(
        """
        INSERT INTO place_hold (organization_id, event_id, zone_id, hold_id, days, places, held_until)
        SELECT current_organization(), $1, zone_id, hold_id, days::date[], places, held_until
          FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::integer[], $6::timestamptz[])
            AS new (zone_id, hold_id, days, places, held_until)
        """,
        event_id,
        [hold.zone_id for hold in holds],
        [hold.hold_id for hold in holds],
        [date_array(hold.days) for hold in holds],
        [hold.places for hold in holds],
        [hold.held_until for hold in holds],
    )


async def zones_of_holds(tx: Transaction, event_id: UUID, hold_ids: Sequence[UUID]) -> list[UUID]:
    """In the order of locking."""
    return await tx.rows(
        _id,
        """
        SELECT DISTINCT zone_id AS found FROM place_hold
         WHERE event_id = $1 AND hold_id = ANY($2::uuid[]) ORDER BY zone_id
        """,
        event_id,
        hold_ids,
    )


async def delete_place_holds(
    tx: Transaction, event_id: UUID, hold_ids: Sequence[UUID]
) -> list[PlaceHold]:
    return await tx.rows(
        PlaceHold,
        """
        DELETE FROM place_hold WHERE event_id = $1 AND hold_id = ANY($2::uuid[])
        RETURNING zone_id, hold_id, days, places, held_until
        """,
        event_id,
        hold_ids,
    )


async def prolong_place_holds(
    tx: Transaction, event_id: UUID, hold_ids: Sequence[UUID], held_until: datetime
) -> int:
    return await tx.run(
        """
        UPDATE place_hold SET held_until = $3
         WHERE event_id = $1 AND hold_id = ANY($2::uuid[]) AND held_until > $4
        """,
        event_id,
        hold_ids,
        held_until,
        tx.now,
    )


async def add_to_days(
    tx: Transaction, event_id: UUID, changes: Sequence[tuple[UUID, dt.date, int, int]]
) -> None:
    """Held and sold, of zones and days that are locked."""
    await tx.run(
        """
        UPDATE zone_day SET held = zone_day.held + more.held, sold = zone_day.sold + more.sold
          FROM unnest($2::uuid[], $3::date[], $4::integer[], $5::integer[])
            AS more (zone_id, day, held, sold)
         WHERE event_id = $1 AND zone_day.zone_id = more.zone_id AND zone_day.day = more.day
        """,
        event_id,
        [zone_id for zone_id, _, _, _ in changes],
        [day for _, day, _, _ in changes],
        [held for _, _, held, _ in changes],
        [sold for _, _, _, sold in changes],
    )


async def set_capacity(tx: Transaction, event_id: UUID, zone_id: UUID, capacity: int) -> int:
    return await tx.run(
        "UPDATE zone_day SET capacity = $3 WHERE event_id = $1 AND zone_id = $2",
        event_id,
        zone_id,
        capacity,
    )


async def read_days(tx: Transaction, event_id: UUID, now: datetime) -> list[ZoneDay]:
    """Holds whose time is up are not counted, whether or not anybody has removed them."""
    return await tx.rows(
        ZoneDay,
        """
        SELECT zone_id, day, capacity, sold,
               held - coalesce((SELECT sum(places) FROM place_hold
                                 WHERE place_hold.event_id = $1
                                   AND place_hold.zone_id = zone_day.zone_id
                                   AND held_until <= $2 AND zone_day.day = ANY(days)), 0)::integer AS held
          FROM zone_day WHERE event_id = $1 ORDER BY zone_id, day
        """,
        event_id,
        now,
    )


async def next_place_hold_end(tx: Transaction, event_id: UUID) -> datetime | None:
    return await tx.value(
        datetime,
        "SELECT min(held_until) FROM place_hold WHERE event_id = $1 AND held_until > $2",
        event_id,
        tx.now,
    )


def _id(found: UUID) -> UUID:
    return found
