from datetime import datetime
from typing import Annotated
from uuid import UUID

from litestar.di import NamedDependency as Given
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter

from voelgoed.accounts import access
from voelgoed.accounts.access import Call
from voelgoed.events.actions import events as actions
from voelgoed.events.model import (
    Event,
    EventChange,
    EventFrozen,
    EventHasTickets,
    EventNotDraft,
    EventNotFound,
    EventStatus,
    InvalidSchedule,
    InvalidTransition,
    NewEvent,
    Transition,
    VenueNotFound,
)
from voelgoed.infra.idempotency import IdempotencyKeyReused
from voelgoed.infra.refusal import InvalidRequest, VersionConflict
from voelgoed.infra.shapes import Data, Page
from voelgoed.infra.web import IdempotencyKey, Limit, page

Cursor = Annotated[
    str | None, QueryParameter(max_length=100, description="`next` of the page before.")
]


@access.get("/api/events", "events.read")
async def list_events(
    call: Given[Call],
    status: FromQuery[EventStatus | None] = None,
    after: Cursor = None,
    limit: Limit = 50,
) -> Page[Event]:
    """By starting time. Customers see what is published or live."""
    statuses: list[EventStatus] = [status] if status else []
    position = _position(after) if after else None
    events = await actions.list_events(call.database, call.caller, statuses, position, limit + 1)
    return page(events, limit, lambda event: f"{event.starts_at.isoformat()}~{event.id}")


@access.post("/api/events", "events.write", VenueNotFound, InvalidSchedule, IdempotencyKeyReused)
async def create_event(
    data: JSONBody[NewEvent],
    call: Given[Call],
    idempotency_key: IdempotencyKey = None,
) -> Data[Event]:
    """A draft, to be published by a transition."""
    key = access.once_for(call.caller, idempotency_key, "create_event", data)
    return Data(await actions.create_event(call.database, call.caller, data, key))


@access.get("/api/events/{event_id:uuid}", "events.read", EventNotFound)
async def read_event(event_id: FromPath[UUID], call: Given[Call]) -> Data[Event]:
    return Data(await actions.read_event(call.database, call.caller, event_id))


@access.patch(
    "/api/events/{event_id:uuid}",
    "events.write",
    EventNotFound,
    EventFrozen,
    InvalidSchedule,
    VersionConflict,
)
async def change_event(
    event_id: FromPath[UUID],
    data: JSONBody[EventChange],
    call: Given[Call],
) -> Data[Event]:
    return Data(await actions.change_event(call.database, call.caller, event_id, data))


@access.delete(
    "/api/events/{event_id:uuid}", "events.write", EventNotFound, EventNotDraft, EventHasTickets
)
async def delete_event(event_id: FromPath[UUID], call: Given[Call]) -> None:
    await actions.delete_event(call.database, call.caller, event_id)


@access.post(
    "/api/events/{event_id:uuid}/transitions",
    "events.write",
    EventNotFound,
    InvalidTransition,
    VersionConflict,
    status=200,
)
async def move_event(
    event_id: FromPath[UUID],
    data: JSONBody[Transition],
    call: Given[Call],
) -> Data[Event]:
    """Publish it, open its doors, end, archive or cancel it."""
    return Data(await actions.move_event(call.database, call.caller, event_id, data))


def _position(cursor: str) -> tuple[datetime, UUID]:
    moment, _, event_id = cursor.partition("~")
    try:
        position = datetime.fromisoformat(moment), UUID(event_id)
        if position[0].tzinfo is None:
            raise ValueError("no timezone")
    except ValueError:
        raise InvalidRequest(
            faults=[{"path": "after", "message": "is not the `next` of a page"}]
        ) from None
    return position


ROUTES = [list_events, create_event, read_event, change_event, delete_event, move_event]
