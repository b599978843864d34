from collections.abc import Collection
from uuid import UUID

from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.model import (
    Caller,
    NewWhitelist,
    NewWhitelistEntry,
    Whitelist,
    WhitelistEntry,
    WhitelistEntryNotFound,
    WhitelistNameTaken,
    WhitelistNotFound,
)
from voelgoed.accounts.store import whitelists as store
from voelgoed.infra.database import Database, Transaction, refusing
from voelgoed.infra.idempotency import IdempotencyKey, once
from voelgoed.infra.ids import new_id


async def create_whitelist(
    database: Database, caller: Caller, new: NewWhitelist, key: IdempotencyKey | None
) -> Whitelist:
    async with database.transaction(caller.organization_id) as tx:
        return await once(tx, key, Whitelist, lambda: _create(tx, caller, new))


async def _create(tx: Transaction, caller: Caller, new: NewWhitelist) -> Whitelist:
    whitelist = Whitelist(new_id(), new.name, tx.now)
    with refusing("whitelist_name_taken", WhitelistNameTaken):
        await store.insert_whitelist(tx, whitelist)
    await record(tx, caller, "whitelist_created", "Whitelist", whitelist.id, new)
    return whitelist


async def list_whitelists(
    database: Database, caller: Caller, after: UUID | None, limit: int
) -> list[Whitelist]:
    async with database.transaction(caller.organization_id) as tx:
        return await store.list_whitelists(tx, after, limit)


async def delete_whitelist(database: Database, caller: Caller, whitelist_id: UUID) -> None:
    async with database.transaction(caller.organization_id) as tx:
        if not await store.delete_whitelist(tx, whitelist_id):
            raise WhitelistNotFound()
        await record(tx, caller, "whitelist_deleted", "Whitelist", whitelist_id)


async def add_entry(
    database: Database, caller: Caller, whitelist_id: UUID, new: NewWhitelistEntry
) -> WhitelistEntry:
    """Adding an address twice keeps it once, with the newer note."""
    async with database.transaction(caller.organization_id) as tx:
        await _require(tx, whitelist_id)
        with refusing("whitelist_entry_organization_id_whitelist_id_fkey", WhitelistNotFound):
            entry = await store.upsert_entry(tx, whitelist_id, new.email.lower(), new.note)
        assert entry is not None
        await record(tx, caller, "whitelist_entry_added", "Whitelist", whitelist_id, new)
        return entry


async def list_entries(
    database: Database, caller: Caller, whitelist_id: UUID, after: str | None, limit: int
) -> list[WhitelistEntry]:
    async with database.transaction(caller.organization_id) as tx:
        await _require(tx, whitelist_id)
        return await store.list_entries(tx, whitelist_id, after, limit)


async def remove_entry(database: Database, caller: Caller, whitelist_id: UUID, email: str) -> None:
    async with database.transaction(caller.organization_id) as tx:
        await _require(tx, whitelist_id)
        if not await store.delete_entry(tx, whitelist_id, email.lower()):
            raise WhitelistEntryNotFound()
        changes: dict[str, object] = {"email": email.lower()}
        await record(tx, caller, "whitelist_entry_removed", "Whitelist", whitelist_id, changes)


async def existing_whitelists(tx: Transaction, wanted: Collection[UUID]) -> set[UUID]:
    return set(await store.find_existing(tx, list(wanted))) if wanted else set()


async def _require(tx: Transaction, whitelist_id: UUID) -> None:
    if await store.find_whitelist(tx, whitelist_id) is None:
        raise WhitelistNotFound()
