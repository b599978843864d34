from uuid import UUID

from litestar.di import NamedDependency as Given
from litestar.params import FromPath, JSONBody

from voelgoed.accounts import access
from voelgoed.accounts.access import Call
from voelgoed.events.model import EventFrozen, EventNotFound
from voelgoed.infra.refusal import VersionConflict
from voelgoed.infra.shapes import Data
from voelgoed.seating.actions import event_layouts as actions
from voelgoed.seating.model.event_layout import EventSeating, NewEventLayout
from voelgoed.seating.model.refusals import (
    EventLayoutNotFound,
    EventLayoutTaken,
    InvalidOverrides,
    LayoutFrozen,
    LayoutNotActive,
    LayoutNotFound,
    PolicyForbids,
    SeatsHeld,
)

OVERRIDES_BYTES_MAX = 8 * 1024 * 1024


@access.get("/api/events/{event_id:uuid}/layout", "seats.read", EventNotFound, EventLayoutNotFound)
async def read_event_layout(event_id: FromPath[UUID], call: Given[Call]) -> Data[EventSeating]:
    """The layout version this event uses, and its zones as the event has them."""
    return Data(await actions.read_event_layout(call.database, call.cache, call.caller, event_id))


@access.put(
    "/api/events/{event_id:uuid}/layout",
    "layouts.write",
    EventNotFound,
    EventFrozen,
    EventLayoutNotFound,
    EventLayoutTaken,
    LayoutNotFound,
    LayoutNotActive,
    LayoutFrozen,
    SeatsHeld,
    InvalidOverrides,
    PolicyForbids,
    VersionConflict,
    status=200,
    body_bytes_max=OVERRIDES_BYTES_MAX,
)
async def put_event_layout(
    event_id: FromPath[UUID], data: JSONBody[NewEventLayout], call: Given[Call]
) -> Data[EventSeating]:
    """Give the event a layout, or, naming the version, replace it or its overrides."""
    return Data(
        await actions.put_event_layout(call.database, call.cache, call.caller, event_id, data)
    )


@access.delete(
    "/api/events/{event_id:uuid}/layout",
    "layouts.write",
    EventNotFound,
    EventFrozen,
    EventLayoutNotFound,
    LayoutFrozen,
    SeatsHeld,
)
async def remove_event_layout(event_id: FromPath[UUID], call: Given[Call]) -> None:
    await actions.remove_event_layout(call.database, call.caller, event_id)


ROUTES = [read_event_layout, put_event_layout, remove_event_layout]
