from uuid import UUID

from litestar.di import NamedDependency as Given
from litestar.params import FromPath, FromQuery, JSONBody

from voelgoed.accounts import access
from voelgoed.accounts.access import Call
from voelgoed.events.actions import venues as actions
from voelgoed.events.model import (
    InvalidTimezone,
    NewVenue,
    TimezoneInUse,
    Venue,
    VenueChange,
    VenueInUse,
    VenueNotFound,
)
from voelgoed.infra.idempotency import IdempotencyKeyReused
from voelgoed.infra.refusal import VersionConflict
from voelgoed.infra.shapes import Data, Page
from voelgoed.infra.web import IdempotencyKey, Limit, page


@access.get("/api/venues", "venues.read")
async def list_venues(
    call: Given[Call],
    after: FromQuery[UUID | None] = None,
    limit: Limit = 50,
) -> Page[Venue]:
    venues = await actions.list_venues(call.database, call.caller, after, limit + 1)
    return page(venues, limit, lambda venue: venue.id)


@access.post("/api/venues", "venues.write", InvalidTimezone, IdempotencyKeyReused)
async def create_venue(
    data: JSONBody[NewVenue],
    call: Given[Call],
    idempotency_key: IdempotencyKey = None,
) -> Data[Venue]:
    key = access.once_for(call.caller, idempotency_key, "create_venue", data)
    return Data(await actions.create_venue(call.database, call.caller, data, key))


@access.get("/api/venues/{venue_id:uuid}", "venues.read", VenueNotFound)
async def read_venue(venue_id: FromPath[UUID], call: Given[Call]) -> Data[Venue]:
    return Data(await actions.read_venue(call.database, call.caller, venue_id))


@access.patch(
    "/api/venues/{venue_id:uuid}",
    "venues.write",
    VenueNotFound,
    InvalidTimezone,
    TimezoneInUse,
    VersionConflict,
)
async def change_venue(
    venue_id: FromPath[UUID],
    data: JSONBody[VenueChange],
    call: Given[Call],
) -> Data[Venue]:
    return Data(await actions.change_venue(call.database, call.caller, venue_id, data))


@access.delete("/api/venues/{venue_id:uuid}", "venues.write", VenueNotFound, VenueInUse)
async def delete_venue(venue_id: FromPath[UUID], call: Given[Call]) -> None:
    await actions.delete_venue(call.database, call.caller, venue_id)


ROUTES = [list_venues, create_venue, read_venue, change_venue, delete_venue]
