from uuid import UUID

import msgspec

from voelgoed.infra.database import Transaction


class MeasuredGate(msgspec.Struct, frozen=True):
    id: UUID
    code: str
    is_open: bool
    capacity: int | None


async def list_measured_gates(tx: Transaction, event_id: UUID) -> list[MeasuredGate]:
    return await tx.rows(
        MeasuredGate,
        """
        SELECT id, code, status = 'open' AS is_open,
               least(capacity, hard_capacity_limit) AS capacity
          FROM gate WHERE event_id = $1
        """,
        event_id,
    )
