from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.infra.database import Transaction
from voelgoed.seating.model.event_layout import Assignment, EventLayout, Overrides


class UsedLayout(msgspec.Struct, frozen=True):
    """An event's layout, and whose version it is."""

    event_layout: EventLayout
    lineage_id: UUID


def _event_layout(overrides: dict[str, object], **columns: object) -> EventLayout:
    given = msgspec.convert(overrides, Overrides)
    return EventLayout(overrides=given, **columns)  # pyright: ignore[reportArgumentType]


def _used_layout(lineage_id: UUID, **columns: object) -> UsedLayout:
    return UsedLayout(_event_layout(**columns), lineage_id)  # pyright: ignore[reportArgumentType]


async def insert_event_layout(tx: Transaction, event_layout: EventLayout) -> None:
    await tx.run(
        """
        INSERT INTO event_layout (organization_id, event_id, id, layout_id, layout_version,
                                  overrides, version, created_at, updated_at)
        VALUES (current_organization(), $1, $2, $3, $4, $5, 1, $6, $6)
        """,
        event_layout.event_id,
        event_layout.id,
        event_layout.layout_id,
        event_layout.layout_version,
        event_layout.overrides,
        event_layout.created_at,
    )


async def find_used_layout(tx: Transaction, event_id: UUID) -> UsedLayout | None:
    return await tx.row(
        _used_layout,
        """
        SELECT event_layout.id, event_id, layout_id, layout_version, overrides,
               event_layout.version, event_layout.created_at, event_layout.updated_at, lineage_id
          FROM event_layout JOIN layout
            ON layout.organization_id = event_layout.organization_id AND layout.id = layout_id
         WHERE event_id = $1
        """,
        event_id,
    )


async def lock_event_layout(tx: Transaction, event_id: UUID) -> EventLayout | None:
    """Nobody takes a seat of this event until the transaction ends."""
    return await tx.row(
        _event_layout,
        """
        SELECT id, event_id, layout_id, layout_version, overrides, version, created_at, updated_at
          FROM event_layout WHERE event_id = $1 FOR UPDATE
        """,
        event_id,
    )


async def share_event_layout(tx: Transaction, event_id: UUID) -> Assignment | None:
    """Nobody changes this event's layout until the transaction ends. Whatever changes a seat or
    a place takes this first: also giving up and selling, or a layout could be changed between
    the moment a hold ends for one and not yet for the other."""
    return await tx.row(
        Assignment,
        "SELECT id, version FROM event_layout WHERE event_id = $1 FOR KEY SHARE",
        event_id,
    )


class Versions(msgspec.Struct, frozen=True):
    """Of all that a view of an event is made from."""

    assignment_id: UUID
    assignment_version: int
    event_version: int
    policy_version: int | None


async def share_versions(tx: Transaction, event_id: UUID) -> Versions | None:
    """Like `share_event_layout`, and nobody changes the event either: neither its status nor its
    days can be others than those a booking was decided on."""
    return await tx.row(
        Versions,
        """
        SELECT event_layout.id AS assignment_id, event_layout.version AS assignment_version,
               event.version AS event_version,
               (SELECT version FROM seating_policy) AS policy_version
          FROM event_layout JOIN event
            ON event.organization_id = event_layout.organization_id AND event.id = event_id
         WHERE event_id = $1
           FOR KEY SHARE OF event_layout FOR SHARE OF event
        """,
        event_id,
    )


async def update_event_layout(tx: Transaction, event_layout: EventLayout) -> int:
    return await tx.run(
        """
        UPDATE event_layout
           SET layout_id = $2, layout_version = $3, overrides = $4, version = $5, updated_at = $6
         WHERE event_id = $1 AND version = $5 - 1
        """,
        event_layout.event_id,
        event_layout.layout_id,
        event_layout.layout_version,
        event_layout.overrides,
        event_layout.version,
        event_layout.updated_at,
    )


async def delete_event_layout(tx: Transaction, event_id: UUID) -> int:
    return await tx.run("DELETE FROM event_layout WHERE event_id = $1", event_id)


async def anything_sold(tx: Transaction, event_id: UUID) -> bool:
    found = await tx.value(
        bool,
        """
        SELECT EXISTS (SELECT 1 FROM seat_state
                        WHERE event_id = $1 AND (status = 'sold' OR sold_when_blocked))
            OR EXISTS (SELECT 1 FROM zone_day WHERE event_id = $1 AND sold > 0)
        """,
        event_id,
    )
    return found is True


async def anything_held(tx: Transaction, event_id: UUID, now: datetime) -> bool:
    found = await tx.value(
        bool,
        """
        SELECT EXISTS (SELECT 1 FROM seat_state
                        WHERE event_id = $1 AND status = 'held' AND held_until > $2)
            OR EXISTS (SELECT 1 FROM place_hold WHERE event_id = $1 AND held_until > $2)
        """,
        event_id,
        now,
    )
    return found is True


async def forget_holds(tx: Transaction, event_id: UUID) -> None:
    """All of which have ended: they count no longer, and whoever comes late to sell one finds
    it gone."""
    await tx.run(
        """
        UPDATE seat_state SET status = 'available', held_until = NULL, locked_at = NULL,
               seat_hold_id = NULL, holder_id = NULL, version = version + 1, updated_at = $2
         WHERE event_id = $1 AND status = 'held'
        """,
        event_id,
        tx.now,
    )
    await tx.run("DELETE FROM place_hold WHERE event_id = $1", event_id)
    await tx.run("UPDATE zone_day SET held = 0 WHERE event_id = $1 AND held <> 0", event_id)


async def blocked_seats(tx: Transaction, event_id: UUID) -> list[UUID]:
    return await tx.rows(
        _id,
        "SELECT seat_id AS found FROM seat_state WHERE event_id = $1 AND status = 'blocked'",
        event_id,
    )


async def carry_over(
    tx: Transaction, event_id: UUID, seat_ids: Sequence[UUID], positions: Sequence[int]
) -> None:
    """These stay blocked, at their positions of another layout version; all else starts afresh."""
    await tx.run(
        "DELETE FROM seat_state WHERE event_id = $1 AND seat_id <> ALL($2::uuid[])",
        event_id,
        seat_ids,
    )
    await tx.run(
        """
        UPDATE seat_state SET position = moved.position, version = version + 1, updated_at = $4
          FROM unnest($2::uuid[], $3::integer[]) AS moved (seat_id, position)
         WHERE event_id = $1 AND seat_state.seat_id = moved.seat_id
        """,
        event_id,
        seat_ids,
        positions,
        tx.now,
    )
    await tx.run("DELETE FROM zone_day WHERE event_id = $1", event_id)


async def selling_events(tx: Transaction) -> list[UUID]:
    """Events with a layout that are published or live."""
    return await tx.rows(
        _id,
        """
        SELECT event_id AS found FROM event_layout JOIN event
            ON event.organization_id = event_layout.organization_id AND event.id = event_id
         WHERE event.status IN ('published', 'live') ORDER BY event_id
        """,
    )


def _id(found: UUID) -> UUID:
    return found
