from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.accounts.model import AuditEntry, AuditRow
from voelgoed.infra.database import Transaction, json_text


class AuditFilter(msgspec.Struct, frozen=True, kw_only=True):
    action: str | None = None
    entity_type: str | None = None
    entity_id: str | None = None
    actor_id: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None


async def insert_entries(tx: Transaction, entries: Sequence[AuditRow]) -> None:
    await tx.run(
        """
        INSERT INTO audit_entry (organization_id, id, actor_kind, actor_id, action, entity_type,
                                 entity_id, changes, ip, user_agent, metadata, at)
        SELECT current_organization(), id, actor_kind, actor_id, action, entity_type, entity_id,
               changes, ip, user_agent, metadata, at
          FROM json_to_recordset($1::json)
            AS new (id uuid, actor_kind text, actor_id uuid, action text, entity_type text,
                    entity_id text, changes jsonb, ip text, user_agent text, metadata jsonb,
                    at timestamptz)
        """,
        json_text(entries),
    )


async def search_entries(
    tx: Transaction, wanted: AuditFilter, after: UUID | None, limit: int
) -> list[AuditEntry]:
    return await tx.rows(
        AuditEntry,
        """
        SELECT id, actor_kind, actor_id, action, entity_type, entity_id, changes,
               jsonb_strip_nulls(jsonb_build_object(
                   'device_id', CASE WHEN actor_kind = 'device' THEN actor_id END,
                   'device_name', CASE WHEN actor_kind = 'device' THEN changes -> 'device_name' END,
                   'ip_address', ip,
                   'user_agent', user_agent)) || coalesce(metadata, '{}') AS metadata,
               at
          FROM audit_entry
         WHERE ($1::text IS NULL OR action = $1)
           AND ($2::text IS NULL OR entity_type = $2)
           AND ($3::text IS NULL OR entity_id = $3)
           AND ($4::uuid IS NULL OR actor_id = $4)
           AND ($5::timestamptz IS NULL OR at >= $5)
           AND ($6::timestamptz IS NULL OR at < $6)
           AND ($7::uuid IS NULL OR id < $7)
         ORDER BY id DESC LIMIT $8
        """,
        wanted.action,
        wanted.entity_type,
        wanted.entity_id,
        wanted.actor_id,
        wanted.since,
        wanted.until,
        after,
        limit,
    )
