from collections.abc import Sequence
from uuid import UUID

import msgspec

from voelgoed.infra.database import Transaction, json_text


class DomainEvent(msgspec.Struct, frozen=True, kw_only=True):
    id: UUID
    name: str
    event_id: UUID
    subject_id: UUID
    payload: dict[str, object]


async def insert_domain_events(tx: Transaction, events: Sequence[DomainEvent]) -> None:
    if not events:
        return
    await tx.run(
        """
        INSERT INTO domain_event (organization_id, id, name, event_id, subject_id, payload, at)
        SELECT current_organization(), id, name, event_id, subject_id, payload, $2
          FROM json_to_recordset($1::json)
            AS new (id uuid, name text, event_id uuid, subject_id uuid, payload jsonb)
        """,
        json_text(events),
        tx.now,
    )
