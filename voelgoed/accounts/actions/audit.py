"""The audit log: every domain records through here, in the transaction it describes."""

from uuid import UUID

import msgspec

from voelgoed.accounts.model import AuditEntry, Caller
from voelgoed.accounts.store import audit as store
from voelgoed.accounts.store.audit import AuditFilter
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.ids import new_id


async def record(
    tx: Transaction,
    caller: Caller,
    action: str,
    entity_type: str,
    entity_id: UUID | str,
    changes: dict[str, object] | msgspec.Struct | None = None,
) -> None:
    entry = AuditEntry(
        id=new_id(),
        actor_kind=caller.kind,
        actor_id=caller.id,
        action=action,
        entity_type=entity_type,
        entity_id=str(entity_id),
        changes=msgspec.to_builtins(changes or {}, str_keys=True),
        ip=caller.ip,
        user_agent=caller.user_agent,
        at=tx.now,
    )
    await store.insert_entry(tx, entry)


async def search(
    database: Database, caller: Caller, wanted: AuditFilter, after: UUID | None, limit: int
) -> list[AuditEntry]:
    async with database.transaction(caller.organization_id) as tx:
        return await store.search_entries(tx, wanted, after, limit)
