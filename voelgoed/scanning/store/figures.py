import datetime as dt
from uuid import UUID

import msgspec

from voelgoed.infra.database import Transaction


class GateFigures(msgspec.Struct, frozen=True):
    id: UUID
    code: str
    is_open: bool
    inside: int
    capacity: int | None


async def find_gate_figures(tx: Transaction, event_id: UUID, day: dt.date) -> list[GateFigures]:
    return await tx.rows(
        GateFigures,
        """
        SELECT gate.id, gate.code, gate.status = 'open' AS is_open,
               greatest(coalesce(counted.inside, 0), 0) AS inside,
               least(gate.capacity, gate.hard_capacity_limit) AS capacity
          FROM gate
          LEFT JOIN occupancy AS counted
            ON counted.organization_id = gate.organization_id AND counted.event_id = gate.event_id
           AND counted.day = $2 AND counted.scope = 'gate' AND counted.scope_id = gate.id
         WHERE gate.event_id = $1
        """,
        event_id,
        day,
    )


async def find_event_inside(tx: Transaction, event_id: UUID, day: dt.date) -> int:
    inside = await tx.value(
        int,
        """
        SELECT greatest(inside, 0) FROM occupancy
         WHERE event_id = $1 AND day = $2 AND scope = 'event' AND scope_id = $1
        """,
        event_id,
        day,
    )
    return inside or 0
