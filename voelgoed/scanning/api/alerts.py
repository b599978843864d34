from typing import Annotated
from uuid import UUID

from litestar.di import NamedDependency as Given
from litestar.params import FromPath, JSONBody, QueryParameter

from voelgoed.accounts import access
from voelgoed.accounts.access import Call
from voelgoed.events.model import EventNotFound
from voelgoed.infra.refusal import VersionConflict
from voelgoed.infra.shapes import Data, Page
from voelgoed.infra.web import Limit, page
from voelgoed.scanning.actions import alerts as actions
from voelgoed.scanning.model.alerts import Alert, AlertState, AlertTransition
from voelgoed.scanning.model.refusals import AlertNotFound, AlertRaisedAgain

InState = Annotated[
    AlertState | None, QueryParameter(name="state", description="Only those in this state.")
]
After = Annotated[UUID | None, QueryParameter(description="The `next` of the page before.")]


@access.get("/api/scanning/events/{event_id:uuid}/alerts", "admissions.read", EventNotFound)
async def list_alerts(
    event_id: FromPath[UUID],
    call: Given[Call],
    in_state: InState = None,
    after: After = None,
    limit: Limit = 50,
) -> Page[Alert]:
    """The newest first."""
    found = await actions.list_alerts(
        call.database, call.caller, event_id, in_state, after, limit + 1
    )
    return page(found, limit, lambda alert: alert.id)


@access.post(
    "/api/scanning/alerts/{alert_id:uuid}/transitions",
    "admissions.write",
    AlertNotFound,
    AlertRaisedAgain,
    VersionConflict,
    status=200,
)
async def move_alert(
    alert_id: FromPath[UUID], data: JSONBody[AlertTransition], call: Given[Call]
) -> Data[Alert]:
    """Acknowledge it, resolve it, or open it again, and say why."""
    return Data(await actions.move_alert(call.database, call.caller, alert_id, data))


ROUTES = [list_alerts, move_alert]
