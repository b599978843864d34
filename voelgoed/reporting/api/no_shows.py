from typing import Annotated
from uuid import UUID

from litestar.di import NamedDependency as Given
from litestar.params import FromPath, QueryParameter
from litestar.response import Stream

from voelgoed.accounts import access
from voelgoed.accounts.access import Call
from voelgoed.events.model import EventNotFound
from voelgoed.infra.shapes import Data, Page
from voelgoed.infra.web import CSV, Limit, page, table_stream
from voelgoed.reporting.actions import no_shows as actions
from voelgoed.reporting.api.asked import desk_of
from voelgoed.reporting.model.about import ReportsBusy
from voelgoed.reporting.model.no_shows import NoShow, NoShowReport

After = Annotated[UUID | None, QueryParameter(description="The `next` of the page before.")]


@access.get(
    "/api/events/{event_id:uuid}/reports/no-shows", "sales.read", EventNotFound, ReportsBusy
)
async def read_no_show_report(event_id: FromPath[UUID], call: Given[Call]) -> Data[NoShowReport]:
    """How many of those with a valid ticket did not come, or have not yet: by ticket type, by zone, and
    for each day of the event."""
    return Data(await actions.report_no_shows(desk_of(call), call.caller, event_id))


@access.get("/api/events/{event_id:uuid}/reports/no-shows/tickets", "sales.read", EventNotFound)
async def list_no_shows(
    event_id: FromPath[UUID], call: Given[Call], after: After = None, limit: Limit = 50
) -> Page[NoShow]:
    """The valid tickets that nobody came in with, on whatever day. Nobody's name: that is in the export
    of tickets, by the same code."""
    found = await actions.list_no_shows(desk_of(call), call.caller, event_id, after, limit + 1)
    return page(found, limit, lambda each: each.id)


@access.get(
    "/api/events/{event_id:uuid}/reports/no-shows.csv", "sales.read", EventNotFound, media_type=CSV
)
async def download_no_shows(event_id: FromPath[UUID], call: Given[Call]) -> Stream:
    """All of those tickets as a table."""
    content = await actions.no_shows_table(desk_of(call), call.caller, event_id)
    return table_stream(content, f"no-shows-{event_id}.csv")


ROUTES = [read_no_show_report, list_no_shows, download_no_shows]
