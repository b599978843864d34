from typing import Annotated
from uuid import UUID

from litestar.di import NamedDependency as Given
from litestar.params import FromPath, QueryParameter

from voelgoed.accounts import access
from voelgoed.accounts.access import Call
from voelgoed.events.model import EventNotFound
from voelgoed.infra.shapes import Page
from voelgoed.infra.web import Limit, page
from voelgoed.scanning.actions import event_scans as actions
from voelgoed.scanning.model.event_scans import EventScan

After = Annotated[UUID | None, QueryParameter(description="The `next` of the page before.")]


@access.get("/api/scanning/events/{event_id:uuid}/scans", "admissions.read", EventNotFound)
async def list_scans_of_event(
    event_id: FromPath[UUID], call: Given[Call], after: After = None, limit: Limit = 50
) -> Page[EventScan]:
    """Every attempt, also with what is no ticket of ours, as it stands now; the newest first."""
    found = await actions.scans_at(call.database, call.caller, event_id, after, limit + 1)
    return page(found, limit, lambda scan: scan.id)


ROUTES = [list_scans_of_event]
