from typing import Annotated
from uuid import UUID

from litestar.di import NamedDependency as Given
from litestar.params import FromPath, FromQuery, QueryParameter

from voelgoed.accounts import access
from voelgoed.accounts.access import Call
from voelgoed.events.model import EventNotFound
from voelgoed.infra.shapes import Data, Moment
from voelgoed.ticketing.actions.funnel import read_funnel
from voelgoed.ticketing.model.funnel import Funnel

StepSeconds = Annotated[
    int, QueryParameter(ge=60, le=86_400, description="How long one step is, in seconds.")
]


@access.get("/api/events/{event_id:uuid}/sales-funnel", "sales.read", EventNotFound)
async def read_sales_funnel(
    event_id: FromPath[UUID],
    call: Given[Call],
    since: FromQuery[Moment | None] = None,
    until: FromQuery[Moment | None] = None,
    step_seconds: StepSeconds = 3_600,
) -> Data[Funnel]:
    """How many of the seats that were held were bought, and when: from what was recorded as it
    happened."""
    found = await read_funnel(call.database, call.caller, event_id, since, until, step_seconds)
    return Data(found)


ROUTES = [read_sales_funnel]
