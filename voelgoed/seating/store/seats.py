"""The states of an event's seats. Whatever changes more than one locks them in the order of
their positions, so that two who want the same seats wait for each other instead of deadlocking.
"""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.infra.database import Transaction, json_text
from voelgoed.seating.model.seats import SeatState, Snapshot


async def read_snapshot(tx: Transaction, event_id: UUID, topic: str) -> Snapshot:
    """Packed by PostgreSQL itself: fifty thousand rows become five small values. The ends
    of holds are in the order of what is held: the one in which the rows were read. All of it,
    the number of what was told last included, is of one moment."""
    found = await tx.row(
        Snapshot,
        """
        SELECT coalesce((SELECT seq FROM live_topic WHERE topic = $2), 0) AS seq,
               (SELECT layout_id FROM event_layout WHERE event_id = $1) AS layout_id,
               coalesce(string_agg(int4send(position), ''::bytea)
                   FILTER (WHERE status = 'held'), '') AS held,
               coalesce(string_agg(timestamptz_send(held_until), ''::bytea)
                   FILTER (WHERE status = 'held'), '') AS held_until,
               coalesce(string_agg(int4send(position), ''::bytea)
                   FILTER (WHERE status = 'sold'), '') AS sold,
               coalesce(string_agg(int4send(position), ''::bytea)
                   FILTER (WHERE status = 'blocked'), '') AS blocked,
               coalesce(string_agg(int4send(position), ''::bytea)
                   FILTER (WHERE sold_when_blocked), '') AS sold_blocked
          FROM seat_state WHERE event_id = $1 AND status <> 'available'
        """,
        event_id,
        topic,
    )
    assert found is not None
    return found


async def find_states(tx: Transaction, event_id: UUID, seat_ids: Sequence[UUID]) -> list[SeatState]:
    return await tx.rows(
        SeatState,
        """
        SELECT seat_id, position, status, held_until, seat_hold_id, holder_id, sold_when_blocked,
               version
          FROM seat_state WHERE event_id = $1 AND seat_id = ANY($2::uuid[])
        """,
        event_id,
        seat_ids,
    )


async def find_blocked_reason(tx: Transaction, event_id: UUID, seat_id: UUID) -> str | None:
    return await tx.value(
        str,
        "SELECT blocked_reason FROM seat_state WHERE event_id = $1 AND seat_id = $2",
        event_id,
        seat_id,
    )


async def held_by(
    tx: Transaction, event_id: UUID, holder_id: UUID, now: datetime
) -> list[SeatState]:
    """What somebody holds right now, or has bought."""
    return await tx.rows(
        SeatState,
        """
        SELECT seat_id, position, status, held_until, seat_hold_id, holder_id, sold_when_blocked,
               version
          FROM seat_state
         WHERE event_id = $1 AND holder_id = $2
           AND (status = 'sold' OR (status = 'held' AND held_until > $3))
        """,
        event_id,
        holder_id,
        now,
    )


async def lock_rows(tx: Transaction, event_id: UUID, rows: Sequence[int]) -> None:
    """Until the transaction ends; in their order, so that nobody waits in a circle."""
    await tx.run(
        """
        SELECT pg_advisory_xact_lock(hashtextextended($1::uuid || ':' || number, 0))
          FROM unnest($2::integer[]) AS number
        """,
        event_id,
        rows,
    )


async def lock_seats(tx: Transaction, event_id: UUID, seat_ids: Sequence[UUID]) -> None:
    """Those that anybody ever touched."""
    await tx.run(
        """
        SELECT FROM seat_state WHERE event_id = $1 AND seat_id = ANY($2::uuid[])
         ORDER BY position FOR NO KEY UPDATE
        """,
        event_id,
        seat_ids,
    )


class WantedSeat(msgspec.Struct, frozen=True, kw_only=True):
    """From which version, and for whom."""

    seat_id: UUID
    position: int
    version: int
    hold_id: UUID
    holder_id: UUID | None
    held_until: datetime


async def hold_seats(tx: Transaction, event_id: UUID, wanted: Sequence[WantedSeat]) -> int:
    """Each from the version that was read. Gives how many it got."""
    return await tx.run(
        """
        INSERT INTO seat_state AS seat (organization_id, event_id, seat_id, position, status,
                                        held_until, locked_at, seat_hold_id, holder_id, version,
                                        updated_at)
        SELECT current_organization(), $1, wanted.seat_id, wanted.position, 'held',
               wanted.held_until, $3, wanted.hold_id, wanted.holder_id, wanted.version + 1, $3
          FROM json_to_recordset($2::json)
            AS wanted (seat_id uuid, position integer, version integer, hold_id uuid,
                       holder_id uuid, held_until timestamptz)
         ORDER BY wanted.position
        ON CONFLICT (organization_id, event_id, seat_id) DO UPDATE SET
            status = 'held', held_until = EXCLUDED.held_until, locked_at = EXCLUDED.locked_at,
            seat_hold_id = EXCLUDED.seat_hold_id, holder_id = EXCLUDED.holder_id,
            version = EXCLUDED.version, updated_at = EXCLUDED.updated_at
        WHERE seat.version = EXCLUDED.version - 1
        """,
        event_id,
        json_text(wanted),
        tx.now,
    )


# Below, rows are locked in the order of positions before they are changed. What was locked is
# given as an array: joined, the planner would read all of the event's rows for each of them as
# long as it does not know how many there are.


async def release_seats(
    tx: Transaction, event_id: UUID, seat_ids: Sequence[UUID], hold_ids: Sequence[UUID]
) -> list[UUID]:
    """Those that these holds still have."""
    return await tx.rows(
        _id,
        """
        WITH mine AS (
            SELECT seat_id FROM seat_state
             WHERE event_id = $1 AND seat_id = ANY($2::uuid[])
               AND status = 'held' AND seat_hold_id = ANY($3::uuid[])
             ORDER BY position FOR NO KEY UPDATE
        )
        UPDATE seat_state AS seat SET
               status = 'available', held_until = NULL, locked_at = NULL,
               seat_hold_id = NULL, holder_id = NULL, version = version + 1, updated_at = $4
         WHERE event_id = $1 AND seat.seat_id = ANY(ARRAY(SELECT seat_id FROM mine))
           AND status = 'held' AND seat_hold_id = ANY($3::uuid[])
        RETURNING seat_id
        """,
        event_id,
        seat_ids,
        hold_ids,
        tx.now,
    )


async def prolong_seats(
    tx: Transaction,
    event_id: UUID,
    seat_ids: Sequence[UUID],
    hold_ids: Sequence[UUID],
    held_until: datetime,
) -> int:
    return await tx.run(
        """
        WITH mine AS (
            SELECT seat_id FROM seat_state
             WHERE event_id = $1 AND seat_id = ANY($2::uuid[])
               AND status = 'held' AND seat_hold_id = ANY($3::uuid[]) AND held_until > $5
             ORDER BY position FOR NO KEY UPDATE
        )
        UPDATE seat_state SET held_until = $4, version = version + 1, updated_at = $5
         WHERE event_id = $1 AND seat_id = ANY(ARRAY(SELECT seat_id FROM mine))
        """,
        event_id,
        seat_ids,
        hold_ids,
        held_until,
        tx.now,
    )


async def sell_seats(
    tx: Transaction, event_id: UUID, seat_ids: Sequence[UUID], hold_ids: Sequence[UUID]
) -> list[UUID]:
    """Those that these holds still have, and whose time has not run out."""
    return await tx.rows(
        _id,
        """
        WITH mine AS (
            SELECT seat_id FROM seat_state
             WHERE event_id = $1 AND seat_id = ANY($2::uuid[])
               AND status = 'held' AND seat_hold_id = ANY($3::uuid[]) AND held_until > $4
             ORDER BY position FOR NO KEY UPDATE
        )
        UPDATE seat_state AS seat SET
               status = 'sold', held_until = NULL, locked_at = NULL,
               version = version + 1, updated_at = $4
         WHERE event_id = $1 AND seat.seat_id = ANY(ARRAY(SELECT seat_id FROM mine))
           AND status = 'held' AND seat_hold_id = ANY($3::uuid[]) AND held_until > $4
        RETURNING seat_id
        """,
        event_id,
        seat_ids,
        hold_ids,
        tx.now,
    )


async def return_seats(
    tx: Transaction, event_id: UUID, seat_ids: Sequence[UUID], hold_ids: Sequence[UUID]
) -> list[UUID]:
    """Sold through these holds, and free again. What was blocked meanwhile stays blocked."""
    return await tx.rows(
        _id,
        """
        WITH mine AS (
            SELECT seat_id FROM seat_state
             WHERE event_id = $1 AND seat_id = ANY($2::uuid[]) AND seat_hold_id = ANY($3::uuid[])
               AND (status = 'sold' OR sold_when_blocked)
             ORDER BY position FOR NO KEY UPDATE
        )
        UPDATE seat_state AS seat SET
               status = CASE WHEN status = 'sold' THEN 'available' ELSE status END,
               sold_when_blocked = false, seat_hold_id = NULL, holder_id = NULL,
               version = version + 1, updated_at = $4
         WHERE event_id = $1 AND seat.seat_id = ANY(ARRAY(SELECT seat_id FROM mine))
           AND seat_hold_id = ANY($3::uuid[]) AND (status = 'sold' OR sold_when_blocked)
        RETURNING seat_id
        """,
        event_id,
        seat_ids,
        hold_ids,
        tx.now,
    )


async def block_seats(
    tx: Transaction, event_id: UUID, seats: Sequence[SeatState], reason: str
) -> int:
    """Each from the version that was read. A held seat is lost to its holder, a sold one is not."""
    return await tx.run(
        """
        INSERT INTO seat_state AS seat (organization_id, event_id, seat_id, position, status,
                                        blocked_reason, version, updated_at)
        SELECT current_organization(), $1, wanted.seat_id, wanted.position, 'blocked',
               $4, wanted.version + 1, $5
          FROM unnest($2::uuid[], $3::integer[], $6::integer[])
            AS wanted (seat_id, position, version)
         ORDER BY wanted.position
        ON CONFLICT (organization_id, event_id, seat_id) DO UPDATE SET
            status = 'blocked', blocked_reason = $4, held_until = NULL, locked_at = NULL,
            sold_when_blocked = seat.status = 'sold',
            seat_hold_id = CASE WHEN seat.status = 'sold' THEN seat.seat_hold_id END,
            holder_id = CASE WHEN seat.status = 'sold' THEN seat.holder_id END,
            version = EXCLUDED.version, updated_at = $5
        WHERE seat.version = EXCLUDED.version - 1
        """,
        event_id,
        [seat.seat_id for seat in seats],
        [seat.position for seat in seats],
        reason,
        tx.now,
        [seat.version for seat in seats],
    )


async def unblock_seats(tx: Transaction, event_id: UUID, seats: Sequence[SeatState]) -> int:
    """Each from the version that was read; all of them have a row. Written like the others: an
    UPDATE joined with the list may be planned as a comparison of each seat with each."""
    return await tx.run(
        """
        INSERT INTO seat_state AS seat (organization_id, event_id, seat_id, position, status,
                                        version, updated_at)
        SELECT current_organization(), $1, wanted.seat_id, wanted.position, 'available',
               wanted.version + 1, $5
          FROM unnest($2::uuid[], $3::integer[], $4::integer[])
            AS wanted (seat_id, position, version)
         ORDER BY wanted.position
        ON CONFLICT (organization_id, event_id, seat_id) DO UPDATE SET
            status = CASE WHEN seat.sold_when_blocked THEN 'sold' ELSE 'available' END,
            sold_when_blocked = false, blocked_reason = NULL, version = EXCLUDED.version,
            updated_at = $5
        WHERE seat.version = EXCLUDED.version - 1 AND seat.status = 'blocked'
        """,
        event_id,
        [seat.seat_id for seat in seats],
        [seat.position for seat in seats],
        [seat.version for seat in seats],
        tx.now,
    )


def _id(seat_id: UUID) -> UUID:
    return seat_id
