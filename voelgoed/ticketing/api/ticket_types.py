from uuid import UUID

from litestar.di import NamedDependency as Given
from litestar.params import FromPath, JSONBody

from voelgoed.accounts import access
from voelgoed.accounts.access import Call
from voelgoed.events.model import EventFrozen, EventNotFound
from voelgoed.infra.idempotency import IdempotencyKeyReused
from voelgoed.infra.refusal import VersionConflict
from voelgoed.infra.shapes import Data
from voelgoed.infra.web import IdempotencyKey
from voelgoed.seating.model.refusals import EventLayoutNotFound
from voelgoed.ticketing.actions import ticket_types as actions
from voelgoed.ticketing.model.refusals import (
    InvalidTicketType,
    TicketTypeInUse,
    TicketTypeNameTaken,
    TicketTypeNotFound,
    TooManyTicketTypes,
)
from voelgoed.ticketing.model.ticket_types import (
    NewTicketType,
    TicketType,
    TicketTypeChange,
    ZoneOffers,
)


@access.get("/api/events/{event_id:uuid}/ticket-types", "ticket_types.read", EventNotFound)
async def list_ticket_types(event_id: FromPath[UUID], call: Given[Call]) -> Data[list[TicketType]]:
    """By number. Customers see what is on sale to them."""
    return Data(await actions.list_ticket_types(call.database, call.caller, event_id))


@access.post(
    "/api/events/{event_id:uuid}/ticket-types",
    "ticket_types.write",
    EventNotFound,
    EventFrozen,
    InvalidTicketType,
    TicketTypeNameTaken,
    TooManyTicketTypes,
    IdempotencyKeyReused,
)
async def create_ticket_type(
    event_id: FromPath[UUID],
    data: JSONBody[NewTicketType],
    call: Given[Call],
    idempotency_key: IdempotencyKey = None,
) -> Data[TicketType]:
    key = access.once_for(call.caller, idempotency_key, "create_ticket_type", event_id, data)
    return Data(
        await actions.create_ticket_type(
            call.database, call.cache, call.caller, event_id, data, key
        )
    )


@access.get(
    "/api/events/{event_id:uuid}/prices", "ticket_types.read", EventNotFound, EventLayoutNotFound
)
async def read_prices(event_id: FromPath[UUID], call: Given[Call]) -> Data[list[ZoneOffers]]:
    """What is sold in each zone, for how much, and how many are left: what a seat map shows."""
    return Data(await actions.read_offers(call.database, call.cache, call.caller, event_id))


@access.get("/api/ticket-types/{ticket_type_id:uuid}", "ticket_types.read", TicketTypeNotFound)
async def read_ticket_type(ticket_type_id: FromPath[UUID], call: Given[Call]) -> Data[TicketType]:
    return Data(await actions.read_ticket_type(call.database, call.caller, ticket_type_id))


@access.patch(
    "/api/ticket-types/{ticket_type_id:uuid}",
    "ticket_types.write",
    TicketTypeNotFound,
    EventFrozen,
    InvalidTicketType,
    TicketTypeNameTaken,
    VersionConflict,
)
async def change_ticket_type(
    ticket_type_id: FromPath[UUID], data: JSONBody[TicketTypeChange], call: Given[Call]
) -> Data[TicketType]:
    """For orders from now on; those there are keep their prices."""
    return Data(
        await actions.change_ticket_type(
            call.database, call.cache, call.caller, ticket_type_id, data
        )
    )


@access.delete(
    "/api/ticket-types/{ticket_type_id:uuid}",
    "ticket_types.write",
    TicketTypeNotFound,
    EventFrozen,
    TicketTypeInUse,
)
async def delete_ticket_type(ticket_type_id: FromPath[UUID], call: Given[Call]) -> None:
    """If none was ever ordered; otherwise take it off sale."""
    await actions.delete_ticket_type(call.database, call.caller, ticket_type_id)


ROUTES = [
    list_ticket_types,
    create_ticket_type,
    read_prices,
    read_ticket_type,
    change_ticket_type,
    delete_ticket_type,
]
