from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.infra.database import Transaction, json_text
from voelgoed.ticketing.model.funnel import Recorded


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


async def count_events(
    tx: Transaction,
    event_id: UUID,
    names: Sequence[str],
    since: datetime | None,
    until: datetime | None,
    step_s: int,
) -> list[Recorded]:
    """By kind and span of time. An event about several places counts them all."""
    return await tx.rows(
        Recorded,
        """
        SELECT name, date_bin(make_interval(secs => $5), at, 'epoch'::timestamptz) AS since,
               sum(coalesce((payload->>'places')::integer, 1))::integer AS count
          FROM domain_event
         WHERE event_id = $1 AND name = ANY($2::text[])
           AND ($3::timestamptz IS NULL OR at >= $3) AND ($4::timestamptz IS NULL OR at < $4)
         GROUP BY 1, 2 ORDER BY 2, 1
        """,
        event_id,
        names,
        since,
        until,
        float(step_s),
    )
