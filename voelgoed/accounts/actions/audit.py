"""The audit log: every domain records through here, in the transaction it describes."""

from collections.abc import Sequence
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
    await record_all(tx, [Deed(caller, action, entity_type, entity_id, changes or {})])


class Deed(msgspec.Struct, frozen=True):
    """What somebody did, or tried to do, to something."""

    caller: Caller
    action: str
    entity_type: str
    entity_id: UUID | str
    changes: dict[str, object] | msgspec.Struct


async def record_all(tx: Transaction, deeds: Sequence[Deed]) -> None:
    """In one statement, in their order."""
    if deeds:
        await store.insert_entries(tx, [_entry(tx, deed) for deed in deeds])


def _entry(tx: Transaction, deed: Deed) -> AuditEntry:
    caller = deed.caller
    return AuditEntry(
        id=new_id(),
        actor_kind=caller.kind,
        actor_id=caller.id,
        action=deed.action,
        entity_type=deed.entity_type,
        entity_id=str(deed.entity_id),
        changes=msgspec.to_builtins(deed.changes)
        if isinstance(deed.changes, msgspec.Struct)
        else deed.changes,
        ip=caller.ip,
        user_agent=caller.user_agent,
        at=tx.now,
    )


async def search(
    database: Database, caller: Caller, wanted: AuditFilter, after: UUID | None, limit: int
) -> list[AuditEntry]:
    async with database.transaction(caller.organization_id) as tx:
        return await store.search_entries(tx, wanted, after, limit)
