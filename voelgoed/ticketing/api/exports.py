from typing import Annotated
from uuid import UUID

from litestar.di import NamedDependency as Given
from litestar.params import FromPath, PathParameter
from litestar.response import Stream

from voelgoed.accounts import access
from voelgoed.accounts.access import Call
from voelgoed.events.model import EventNotFound
from voelgoed.infra.web import CSV, GivesTable
from voelgoed.ticketing.actions import exports as actions
from voelgoed.ticketing.model.exports import ExportNotFound

KINDS = {"csv": f"{CSV}; charset=utf-8", "json": "application/json"}

What = Annotated[
    str,
    PathParameter(
        max_length=20, description="`orders`, `tickets` or `holds`, with `.csv` or `.json`."
    ),
]


@access.get(
    "/api/events/{event_id:uuid}/exports/{what:str}",
    "sales.read",
    EventNotFound,
    ExportNotFound,
    operation_class=GivesTable,
)
async def export_sales(event_id: FromPath[UUID], what: What, call: Given[Call]) -> Stream:
    """All orders, tickets or holds of an event: a table, or one array. No barcodes."""
    subject, form = actions.export_named(what)
    content = await actions.export(call.database, call.cache, call.caller, event_id, what)
    name = f"{subject}-{event_id}.{form}"
    # As a header, because the framework would rather have the one kind that the route declares.
    headers = {
        "Content-Type": KINDS[form],
        "Content-Disposition": f'attachment; filename="{name}"',
    }
    return Stream(content, headers=headers)


ROUTES = [export_sales]
