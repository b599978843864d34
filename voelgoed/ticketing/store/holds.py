from collections.abc import Sequence
from datetime import datetime
from typing import Literal
from uuid import UUID

from voelgoed.infra.database import Database, Transaction, json_text
from voelgoed.ticketing.model.holds import SeatHold

Ended = Literal["converted", "expired", "cancelled"]


async def insert_holds(tx: Transaction, holds: Sequence[SeatHold]) -> None:
    if not holds:
        return
    # As one JSON text: a dozen arrays take the driver ten times as long.
    await tx.run(
        """
        INSERT INTO seat_hold (organization_id, id, event_id, booking_id, user_id, seat_id, zone_id,
                               places, days, status, held_until, source, is_judged, notes,
                               associated_membership_id, created_at, updated_at)
        SELECT current_organization(), id, event_id, booking_id, user_id, seat_id, zone_id, places,
               days, 'active', held_until, source, is_judged, notes, associated_membership_id,
               $2, $2
          FROM json_to_recordset($1::json)
            AS new (id uuid, event_id uuid, booking_id uuid, user_id uuid, seat_id uuid,
                    zone_id uuid, places integer, days date[], held_until timestamptz, source text,
                    is_judged boolean, notes text, associated_membership_id uuid)
        """,
        json_text(holds),
        tx.now,
    )


async def find_holds(tx: Transaction, hold_ids: Sequence[UUID]) -> list[SeatHold]:
    return await tx.rows(
        SeatHold,
        """
        SELECT id, event_id, booking_id, user_id, seat_id, zone_id, places, days, status, held_until,
               extended, source, is_judged, notes, associated_membership_id, created_at, updated_at
          FROM seat_hold WHERE id = ANY($1::uuid[]) ORDER BY id
        """,
        hold_ids,
    )


async def lock_holds(tx: Transaction, hold_ids: Sequence[UUID]) -> list[SeatHold]:
    """Before their seats, and in one order: whoever changes a hold does it in this order."""
    return await tx.rows(
        SeatHold,
        """
        SELECT id, event_id, booking_id, user_id, seat_id, zone_id, places, days, status, held_until,
               extended, source, is_judged, notes, associated_membership_id, created_at, updated_at
          FROM seat_hold WHERE id = ANY($1::uuid[]) ORDER BY id FOR NO KEY UPDATE
        """,
        hold_ids,
    )


async def lock_booking(tx: Transaction, booking_id: UUID) -> list[SeatHold]:
    return await tx.rows(
        SeatHold,
        """
        SELECT id, event_id, booking_id, user_id, seat_id, zone_id, places, days, status, held_until,
               extended, source, is_judged, notes, associated_membership_id, created_at, updated_at
          FROM seat_hold WHERE booking_id = $1 ORDER BY id FOR NO KEY UPDATE
        """,
        booking_id,
    )


async def ended_events(tx: Transaction, before: datetime) -> list[UUID]:
    """Those with active holds that ended before."""
    return await tx.rows(
        _id,
        """
        SELECT DISTINCT event_id AS found FROM seat_hold
         WHERE status = 'active' AND held_until <= $1 ORDER BY event_id
        """,
        before,
    )


async def lock_ended_holds(
    tx: Transaction, event_ids: Sequence[UUID], before: datetime, limit: int
) -> list[SeatHold]:
    """Those that nobody else is changing at this moment."""
    return await tx.rows(
        SeatHold,
        """
        SELECT id, event_id, booking_id, user_id, seat_id, zone_id, places, days, status, held_until,
               extended, source, is_judged, notes, associated_membership_id, created_at, updated_at
          FROM seat_hold
         WHERE status = 'active' AND held_until <= $2 AND event_id = ANY($1::uuid[])
         ORDER BY held_until LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED
        """,
        event_ids,
        before,
        limit,
    )


async def list_held_seats(tx: Transaction, event_id: UUID) -> list[SeatHold]:
    """All of an event's at this moment."""
    return await tx.rows(
        SeatHold,
        """
        SELECT id, event_id, booking_id, user_id, seat_id, zone_id, places, days, status, held_until,
               extended, source, is_judged, notes, associated_membership_id, created_at, updated_at
          FROM seat_hold
         WHERE event_id = $1 AND status = 'active' AND held_until > $2 AND seat_id IS NOT NULL
         ORDER BY id
        """,
        event_id,
        tx.now,
    )


async def list_holds_of(tx: Transaction, user_id: UUID, now: datetime) -> list[SeatHold]:
    return await tx.rows(
        SeatHold,
        """
        SELECT id, event_id, booking_id, user_id, seat_id, zone_id, places, days, status, held_until,
               extended, source, is_judged, notes, associated_membership_id, created_at, updated_at
          FROM seat_hold WHERE user_id = $1 AND status = 'active' AND held_until > $2 ORDER BY id
        """,
        user_id,
        now,
    )


async def mark_holds(tx: Transaction, hold_ids: Sequence[UUID], status: Ended) -> int:
    """Of active holds only, so that nothing that ended can end otherwise."""
    return await tx.run(
        """
        UPDATE seat_hold SET status = $2, updated_at = $3
         WHERE id = ANY($1::uuid[]) AND status = 'active'
        """,
        hold_ids,
        status,
        tx.now,
    )


async def prolong_holds(tx: Transaction, hold_ids: Sequence[UUID], held_until: datetime) -> int:
    return await tx.run(
        """
        UPDATE seat_hold SET held_until = $2, extended = true, updated_at = $3
         WHERE id = ANY($1::uuid[]) AND status = 'active' AND NOT extended
        """,
        hold_ids,
        held_until,
        tx.now,
    )


async def lock_memberships(tx: Transaction, event_id: UUID) -> None:
    """Until the transaction ends nobody else uses any at this event. One lock for all of them,
    taken after those of rows and zones, so that nobody waits in a circle."""
    await tx.run(
        "SELECT pg_advisory_xact_lock(hashtextextended($1::uuid || ':memberships', 0))", event_id
    )


async def used_memberships(
    tx: Transaction, event_id: UUID, membership_ids: Sequence[UUID], now: datetime
) -> list[UUID]:
    """Those by which somebody has a seat or place at this event already."""
    return await tx.rows(
        _id,
        """
        SELECT associated_membership_id AS found FROM seat_hold
         WHERE event_id = $1 AND associated_membership_id = ANY($2::uuid[])
           AND status = 'active' AND held_until > $3
         UNION
        SELECT associated_membership_id FROM ticket
         WHERE event_id = $1 AND associated_membership_id = ANY($2::uuid[])
           AND status IN ('active', 'scanned', 'used')
        """,
        event_id,
        membership_ids,
        now,
    )


def _id(found: UUID) -> UUID:
    return found


async def mark_converted(tx: Transaction, hold_ids: Sequence[UUID]) -> int:
    """Whatever they were: their seats are sold by now, in this transaction, and to them."""
    if not hold_ids:
        return 0
    return await tx.run(
        "UPDATE seat_hold SET status = 'converted', updated_at = $2 WHERE id = ANY($1::uuid[])",
        hold_ids,
        tx.now,
    )


async def organizations_with_ended_holds(database: Database, before: datetime) -> list[UUID]:
    return await database.organizations_with("SELECT organizations_with_ended_holds($1)", before)
