"""Seats that somebody sold without us."""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from voelgoed.infra.database import Transaction, json_text


class SoldSeat(msgspec.Struct, frozen=True, gc=False):
    """From which version, and through what."""

    seat_id: UUID
    position: int
    version: int
    hold_id: UUID


async def sell_outright(tx: Transaction, event_id: UUID, seats: Sequence[SoldSeat]) -> int:
    """Each from the version that was read. Gives how many it got."""
    return await tx.run(
        """
        INSERT INTO seat_state AS seat (organization_id, event_id, seat_id, position, status,
                                        seat_hold_id, version, updated_at)
        SELECT current_organization(), $1, wanted.seat_id, wanted.position, 'sold',
               wanted.hold_id, wanted.version + 1, $3
          FROM json_to_recordset($2::json)
            AS wanted (seat_id uuid, position integer, version integer, hold_id uuid)
         ORDER BY wanted.position
        ON CONFLICT (organization_id, event_id, seat_id) DO UPDATE SET
            status = 'sold', held_until = NULL, locked_at = NULL,
            seat_hold_id = EXCLUDED.seat_hold_id, holder_id = NULL,
            version = EXCLUDED.version, updated_at = EXCLUDED.updated_at
        WHERE seat.version = EXCLUDED.version - 1
        """,
        event_id,
        json_text(seats),
        tx.now,
    )
