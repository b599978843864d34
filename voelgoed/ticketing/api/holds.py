import re
from functools import lru_cache
from typing import Annotated, Protocol
from uuid import UUID

import msgspec
from litestar import Response
from litestar.di import NamedDependency as Given
from litestar.params import FromPath, JSONBody, PathParameter

from voelgoed.accounts import access
from voelgoed.accounts.access import Call, caller_by, once_for, origin_by, require
from voelgoed.accounts.actions.sessions import SessionLookup
from voelgoed.events.model import EventNotFound
from voelgoed.infra.batcher import Overloaded
from voelgoed.infra.idempotency import IdempotencyKeyReused
from voelgoed.infra.refusal import RateLimited
from voelgoed.infra.shapes import Data
from voelgoed.infra.web import (
    Asked,
    GivesAgain,
    IdempotencyKey,
    Reply,
    read_json,
    reply_of,
)
from voelgoed.seating.model.refusals import (
    BlockAtCapacity,
    BookingRefused,
    EventLayoutNotFound,
    NoSuitableSeats,
    SeatNoLongerAvailable,
    SeatNotAvailable,
    SeatNotFound,
    ZoneAccessDenied,
    ZoneHasSeats,
    ZoneNotFound,
)
from voelgoed.ticketing.actions import hold_changes as actions
from voelgoed.ticketing.actions.hold_desk import HoldDesk
from voelgoed.ticketing.model.holds import Booking, Hold, NewBooking, Reservation
from voelgoed.ticketing.model.refusals import (
    EventNotAvailable,
    EventSalesClosed,
    EventUnavailable,
    GuestsNotNamed,
    HoldAlreadyExtended,
    HoldEnded,
    HoldNotFound,
    InvalidReservation,
    MembershipAlreadyUsed,
    NothingWanted,
    SeatAlreadyHeldByAnotherUser,
    SeatHeldByAnotherUser,
    SeatReservationFailed,
)

CANNOT_BE_HELD = (
    EventNotFound,
    EventLayoutNotFound,
    SeatNotFound,
    EventNotAvailable,
    EventUnavailable,
    EventSalesClosed,
    ZoneAccessDenied,
    GuestsNotNamed,
    MembershipAlreadyUsed,
    SeatAlreadyHeldByAnotherUser,
    SeatHeldByAnotherUser,
    SeatNotAvailable,
    SeatNoLongerAvailable,
    BookingRefused,
    RateLimited,
    SeatReservationFailed,
    Overloaded,
)

RESERVE_TEMPLATE = "/api/events/{event_id}/seats/{seat_id}/reserve"
RESERVE = re.compile(r"/api/events/(?P<event_id>[^/]+)/seats/(?P<seat_id>[^/]+)/reserve/?\Z")
_reservation = msgspec.json.Decoder(Reservation)
FROM_THE_WEB = Reservation()
"""What an empty body means."""

SeatName = Annotated[
    str,
    PathParameter(
        description="A seat's label such as `A-1`, or its UUID.",
        schema_extra={"max_length": 63},  # said, not checked: a longer one is not found
    ),
]


@access.post(
    "/api/events/{event_id:str}/seats/{seat_id:str}/reserve",
    "holds.write",
    *CANNOT_BE_HELD,
    InvalidReservation,
    operation_class=GivesAgain,
    faults_are=InvalidReservation,
)
async def reserve_seat(
    event_id: FromPath[str],
    seat_id: SeatName,
    call: Given[Call],
    data: JSONBody[Reservation] = FROM_THE_WEB,
) -> Response[Data[Hold]]:
    """Hold one seat for a few minutes. A seat that you hold already is given again, with 200."""
    seat = _event_id(event_id), seat_id
    booking, is_new = await _desk(call).reserve(call.caller, *seat, data.source)
    return Response(Data(booking.holds[0]), status_code=201 if is_new else 200)


class Parts(Protocol):
    """Of a process, those that are needed here."""

    @property
    def session_lookup(self) -> SessionLookup: ...


async def answer_reserve(asked: Asked, services: Parts) -> Reply:
    """The short way to `reserve_seat`."""
    origin = origin_by(asked.headers, asked.host)
    caller = await caller_by(asked.headers, origin, services.session_lookup)
    require(caller, "holds.write")
    data = FROM_THE_WEB
    if asked.body:
        data = read_json(asked.body, _reservation, InvalidReservation, InvalidReservation)
    call = Call(services, {"user": caller})
    return reply_of(await reserve_seat.fn(**asked.named, call=call, data=data))


def _desk(call: Call) -> HoldDesk:
    return call.parts.holds


@lru_cache(maxsize=1_000)
def _event_id(text: str) -> UUID:
    try:
        if len(text) == 36:
            return UUID(text)
    except ValueError:
        pass
    raise InvalidReservation(faults=[{"path": "event_id", "message": "is not a UUID"}])


@access.post(
    "/api/events/{event_id:uuid}/holds",
    "holds.write",
    *CANNOT_BE_HELD,
    NothingWanted,
    ZoneNotFound,
    ZoneHasSeats,
    BlockAtCapacity,
    NoSuitableSeats,
    IdempotencyKeyReused,
    operation_class=GivesAgain,
)
async def hold_seats(
    event_id: FromPath[UUID],
    data: JSONBody[NewBooking],
    call: Given[Call],
    idempotency_key: IdempotencyKey = None,
) -> Response[Data[Booking]]:
    """Hold seats by name, the best for so many, places in zones without seats, or a mix: all or
    nothing. What you hold already is given again; if that is all, with 200."""
    once = once_for(call.caller, idempotency_key, "hold_seats", event_id, data)
    booking, is_new = await _desk(call).book(call.caller, event_id, data, once)
    return Response(Data(booking), status_code=201 if is_new else 200)


@access.get("/api/holds", "holds.read")
async def list_my_holds(call: Given[Call]) -> Data[list[Hold]]:
    """What you hold right now, at all events."""
    return Data(await actions.my_holds(call.database, call.cache, call.caller))


@access.delete("/api/holds/{hold_id:uuid}", "holds.write", HoldNotFound)
async def release_hold(hold_id: FromPath[UUID], call: Given[Call]) -> None:
    """Give a seat or places free; one that has ended stays as it ended."""
    await actions.release_hold(
        call.database, call.cache, _desk(call).registry, call.caller, hold_id
    )


@access.post(
    "/api/holds/{hold_id:uuid}/extension",
    "holds.write",
    HoldNotFound,
    HoldEnded,
    HoldAlreadyExtended,
    status=200,
)
async def extend_hold(hold_id: FromPath[UUID], call: Given[Call]) -> Data[Hold]:
    """IdempotencyKey, with all that was held together: as long from now on as a new hold."""
    hold = await actions.extend_hold(
        call.database, call.cache, _desk(call).registry, call.caller, hold_id
    )
    return Data(hold)


ROUTES = [reserve_seat, hold_seats, list_my_holds, release_hold, extend_hold]
