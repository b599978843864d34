from uuid import UUID

from litestar.di import NamedDependency as Given
from litestar.params import FromPath

from voelgoed.accounts import access
from voelgoed.accounts.access import Call
from voelgoed.events.model import EventNotFound
from voelgoed.infra.shapes import Data
from voelgoed.scanning.actions import outlook as actions
from voelgoed.scanning.model.outlook import EventOutlook


@access.get("/api/scanning/events/{event_id:uuid}/outlook", "admissions.read", EventNotFound)
async def read_outlook(event_id: FromPath[UUID], call: Given[Call]) -> Data[EventOutlook]:
    """The number of tickets still expected today, and of matters that wait for a decision."""
    return Data(await actions.read_outlook(call.database, call.caller, event_id))


ROUTES = [read_outlook]
