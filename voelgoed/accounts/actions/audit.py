"""The audit log: every domain records through here, in the transaction it describes."""

from collections.abc import AsyncIterator, Sequence
from uuid import UUID

import msgspec

from voelgoed.accounts.model import AuditEntry, AuditRow, Caller, NewAuditEntry
from voelgoed.accounts.store import audit as store
from voelgoed.accounts.store.audit import AuditFilter
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.ids import new_id
from voelgoed.infra.shapes import moments_refusal
from voelgoed.infra.tables import header_of, rows_of, table

EXPORTED_MAX = 100_000
"""Entries in one table; who wants older ones gives `until`."""
PAGE_ROWS = 1_000


async def record(
    tx: Transaction,
    caller: Caller,
    action: str,
    entity_type: str,
    entity_id: UUID | str,
    changes: dict[str, object] | msgspec.Struct | None = None,
) -> None:
    await record_all(tx, [NewAuditEntry(caller, action, entity_type, entity_id, changes or {})])


async def record_all(tx: Transaction, entries: Sequence[NewAuditEntry]) -> None:
    """In one statement, in their order."""
    if entries:
        await store.insert_entries(tx, [audit_row(tx, entry) for entry in entries])


def audit_row(tx: Transaction, entry: NewAuditEntry) -> AuditRow:
    """The entry as it is kept, for who writes it with a statement of its own."""
    caller = entry.caller
    return AuditRow(
        id=new_id(),
        actor_kind=caller.kind,
        actor_id=caller.id,
        action=entry.action,
        entity_type=entry.entity_type,
        entity_id=str(entry.entity_id),
        changes=msgspec.to_builtins(entry.changes)
        if isinstance(entry.changes, msgspec.Struct)
        else entry.changes,
        ip=caller.ip,
        user_agent=caller.user_agent,
        metadata=entry.metadata,
        at=tx.now,
    )


async def search(
    database: Database, caller: Caller, wanted: AuditFilter, after: UUID | None, limit: int
) -> list[AuditEntry]:
    if (refusal := moments_refusal(since=wanted.since, until=wanted.until)) is not None:
        raise refusal
    async with database.transaction(caller.organization_id) as tx:
        return await store.search_entries(tx, wanted, after, limit)


async def export(database: Database, caller: Caller, wanted: AuditFilter) -> AsyncIterator[bytes]:
    """As a table, the newest first, page by page. That somebody took it with them is recorded, after
    all that it tells of."""
    if (refusal := moments_refusal(since=wanted.since, until=wanted.until)) is not None:
        raise refusal
    before = new_id()
    async with database.transaction(caller.organization_id) as tx:
        asked = msgspec.to_builtins(wanted)
        changes = {name: value for name, value in asked.items() if value is not None}
        await record(tx, caller, "audit_exported", "AuditLog", caller.organization_id, changes)
        # Before the first byte, so that a question that cannot be asked is refused.
        first = await store.search_entries(tx, wanted, before, min(PAGE_ROWS, EXPORTED_MAX + 1))

    async def pages() -> AsyncIterator[bytes]:
        yield header_of(AuditEntry)
        entries, left = first, EXPORTED_MAX
        while True:
            yield rows_of(entries[:left])
            if len(entries) > left:
                yield _cut_row()
            if len(entries) > left or len(entries) < PAGE_ROWS:
                return
            left -= len(entries)
            async with database.transaction(caller.organization_id) as tx:
                # One more than there is room for tells that there are more.
                rows_max = min(PAGE_ROWS, left + 1)
                entries = await store.search_entries(tx, wanted, entries[-1].id, rows_max)

    return pages()


def _cut_row() -> bytes:
    """The last of a table that is not all: no entry, so it has no id."""
    cells = {"action": "export_cut", "changes": f"only the newest {EXPORTED_MAX} are here"}
    return table([[cells.get(name) for name in AuditEntry.__struct_fields__]]).encode()
