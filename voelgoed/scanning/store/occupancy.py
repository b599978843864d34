from collections.abc import Sequence
from uuid import UUID

from voelgoed.infra.database import Transaction, json_text
from voelgoed.scanning.model.occupancy import Counted


async def add_counts(tx: Transaction, changes: Sequence[Counted]) -> list[Counted]:
    """Gives what there is now, which nobody else changes until this transaction ends."""
    return await tx.rows(
        Counted,
        """
        INSERT INTO occupancy AS counted
               (organization_id, event_id, day, scope, scope_id, entries, exits, inside, irregular)
        SELECT current_organization(), event_id, day, scope, scope_id, entries, exits, inside,
               irregular
          FROM json_to_recordset($1::json)
            AS new (event_id uuid, day date, scope text, scope_id uuid, entries integer,
                    exits integer, inside integer, irregular integer)
        ON CONFLICT (organization_id, event_id, day, scope, scope_id) DO UPDATE
           SET entries = counted.entries + EXCLUDED.entries,
               exits = counted.exits + EXCLUDED.exits,
               inside = counted.inside + EXCLUDED.inside,
               irregular = counted.irregular + EXCLUDED.irregular
        RETURNING event_id, day, scope, scope_id, entries, exits, inside, irregular
        """,
        # In one order, so that nobody waits in a circle.
        json_text(sorted(changes)),
    )


async def find_counts(tx: Transaction, event_id: UUID) -> list[Counted]:
    return await tx.rows(
        Counted,
        """
        SELECT event_id, day, scope, scope_id, entries, exits, inside, irregular
          FROM occupancy WHERE event_id = $1 ORDER BY day, scope, scope_id
        """,
        event_id,
    )
