from typing import Annotated
from uuid import UUID

from litestar.di import NamedDependency as Given
from litestar.params import FromQuery, QueryParameter
from litestar.response import Stream

from voelgoed.accounts import access
from voelgoed.accounts.access import Call
from voelgoed.accounts.actions import audit as actions
from voelgoed.accounts.actions.audit import AuditFilter
from voelgoed.accounts.model import AuditEntry
from voelgoed.infra.shapes import Moment, Page
from voelgoed.infra.web import CSV, Limit, page, table_stream

Word = Annotated[str | None, QueryParameter(max_length=200)]


@access.get("/api/audit", "audit.read")
async def search_audit(
    call: Given[Call],
    action: Word = None,
    entity_type: Word = None,
    entity_id: Word = None,
    actor_id: FromQuery[UUID | None] = None,
    since: FromQuery[Moment | None] = None,
    until: FromQuery[Moment | None] = None,
    after: FromQuery[UUID | None] = None,
    limit: Limit = 50,
) -> Page[AuditEntry]:
    """Who did what, newest first."""
    wanted = AuditFilter(
        action=action,
        entity_type=entity_type,
        entity_id=entity_id,
        actor_id=actor_id,
        since=since,
        until=until,
    )
    entries = await actions.search(call.database, call.caller, wanted, after, limit + 1)
    return page(entries, limit, lambda entry: entry.id)


@access.get("/api/audit.csv", "audit.read", media_type=CSV)
async def download_audit(
    call: Given[Call],
    action: Word = None,
    entity_type: Word = None,
    entity_id: Word = None,
    actor_id: FromQuery[UUID | None] = None,
    since: FromQuery[Moment | None] = None,
    until: FromQuery[Moment | None] = None,
) -> Stream:
    """All that the same search finds as a table, the newest first, 100,000 entries at most: if there are
    more, the last row has no id and the action `export_cut`. Taking it is itself recorded."""
    wanted = AuditFilter(
        action=action,
        entity_type=entity_type,
        entity_id=entity_id,
        actor_id=actor_id,
        since=since,
        until=until,
    )
    return table_stream(await actions.export(call.database, call.caller, wanted), "audit.csv")


ROUTES = [search_audit, download_audit]
