from typing import Annotated
from uuid import UUID

from litestar.di import NamedDependency as Given
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter

from voelgoed.accounts import access
from voelgoed.accounts.access import Call
from voelgoed.accounts.actions import whitelists as actions
from voelgoed.accounts.model import (
    NewWhitelist,
    NewWhitelistEntry,
    Whitelist,
    WhitelistEntry,
    WhitelistEntryNotFound,
    WhitelistNameTaken,
    WhitelistNotFound,
)
from voelgoed.infra.idempotency import IdempotencyKeyReused
from voelgoed.infra.shapes import Data, Page
from voelgoed.infra.web import IdempotencyKey, Limit, page

Address = Annotated[str, QueryParameter(max_length=254)]
AfterAddress = Annotated[str | None, QueryParameter(max_length=254)]


@access.get("/api/whitelists", "whitelists.read")
async def list_whitelists(
    call: Given[Call],
    after: FromQuery[UUID | None] = None,
    limit: Limit = 50,
) -> Page[Whitelist]:
    whitelists = await actions.list_whitelists(call.database, call.caller, after, limit + 1)
    return page(whitelists, limit, lambda whitelist: whitelist.id)


@access.post("/api/whitelists", "whitelists.write", WhitelistNameTaken, IdempotencyKeyReused)
async def create_whitelist(
    data: JSONBody[NewWhitelist],
    call: Given[Call],
    idempotency_key: IdempotencyKey = None,
) -> Data[Whitelist]:
    key = access.once_for(call.caller, idempotency_key, "create_whitelist", data)
    return Data(await actions.create_whitelist(call.database, call.caller, data, key))


@access.delete("/api/whitelists/{whitelist_id:uuid}", "whitelists.write", WhitelistNotFound)
async def delete_whitelist(whitelist_id: FromPath[UUID], call: Given[Call]) -> None:
    await actions.delete_whitelist(call.database, call.caller, whitelist_id)


@access.get("/api/whitelists/{whitelist_id:uuid}/entries", "whitelists.read", WhitelistNotFound)
async def list_entries(
    whitelist_id: FromPath[UUID],
    call: Given[Call],
    after: AfterAddress = None,
    limit: Limit = 50,
) -> Page[WhitelistEntry]:
    """Whose addresses are on it, in alphabetical order."""
    entries = await actions.list_entries(call.database, call.caller, whitelist_id, after, limit + 1)
    return page(entries, limit, lambda entry: entry.email)


@access.post("/api/whitelists/{whitelist_id:uuid}/entries", "whitelists.write", WhitelistNotFound)
async def add_entry(
    whitelist_id: FromPath[UUID],
    data: JSONBody[NewWhitelistEntry],
    call: Given[Call],
) -> Data[WhitelistEntry]:
    """Put an address on it; twice is once."""
    return Data(await actions.add_entry(call.database, call.caller, whitelist_id, data))


@access.delete(
    "/api/whitelists/{whitelist_id:uuid}/entries",
    "whitelists.write",
    WhitelistNotFound,
    WhitelistEntryNotFound,
)
async def remove_entry(whitelist_id: FromPath[UUID], email: Address, call: Given[Call]) -> None:
    await actions.remove_entry(call.database, call.caller, whitelist_id, email)


ROUTES = [
    list_whitelists,
    create_whitelist,
    delete_whitelist,
    list_entries,
    add_entry,
    remove_entry,
]
