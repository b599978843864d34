from typing import Annotated
from uuid import UUID

from litestar.di import NamedDependency as Given
from litestar.params import FromPath, JSONBody, PathParameter

from voelgoed.accounts import access
from voelgoed.accounts.access import Call
from voelgoed.events.model import EventNotFound
from voelgoed.infra.refusal import RateLimited
from voelgoed.infra.shapes import Data
from voelgoed.seating.actions import seats as actions
from voelgoed.seating.actions.access import check_access
from voelgoed.seating.actions.questions import Questions
from voelgoed.seating.model.refusals import (
    BookingRefused,
    EventLayoutNotFound,
    NoSuitableSeats,
    SeatBlockedByLayout,
    SeatNotFound,
    SeatsChangedMeanwhile,
    SeatTaken,
    ZoneAccessDenied,
    ZoneNotFound,
)
from voelgoed.seating.model.seats import (
    AccessRequest,
    Availability,
    BestRequest,
    CheckRequest,
    Proposal,
    SeatBlock,
    SeatDetails,
    SeatingReport,
    SeatMap,
    SeatsChanged,
    SeatUnblock,
    SelectionCheck,
    ZoneAccess,
)

BLOCK_BYTES_MAX = 1024 * 1024
NOT_THERE = (EventNotFound, EventLayoutNotFound)

SeatName = Annotated[
    str, PathParameter(max_length=63, description="A seat's label such as `A-1`, or its UUID.")
]


@access.get("/api/events/{event_id:uuid}/availability", "seats.read", *NOT_THERE)
async def read_availability(event_id: FromPath[UUID], call: Given[Call]) -> Data[Availability]:
    """How many, per zone and in total."""
    return Data(await _questions(call, event_id).availability())


@access.get("/api/events/{event_id:uuid}/seats", "seats.read", *NOT_THERE)
async def read_seat_map(event_id: FromPath[UUID], call: Given[Call]) -> Data[SeatMap]:
    """Every seat in four bits, base64, in the order of the layout: 0 available, 1 held, 2 sold,
    3 blocked, 4 kept for a companion, 5 sold by staff only."""
    return Data(await _questions(call, event_id).seat_map())


@access.get(
    "/api/events/{event_id:uuid}/seats/{seat_id:str}", "seats.read", *NOT_THERE, SeatNotFound
)
async def read_seat(
    event_id: FromPath[UUID], seat_id: SeatName, call: Given[Call]
) -> Data[SeatDetails]:
    return Data(await _questions(call, event_id).seat(seat_id))


@access.post(
    "/api/events/{event_id:uuid}/best-available",
    "seats.read",
    *NOT_THERE,
    ZoneNotFound,
    ZoneAccessDenied,
    BookingRefused,
    NoSuitableSeats,
    status=200,
)
async def find_best_available(
    event_id: FromPath[UUID], data: JSONBody[BestRequest], call: Given[Call]
) -> Data[Proposal]:
    """The best seats for a party, together if possible. Nothing is held by asking."""
    return Data(await _questions(call, event_id).best(data))


@access.post(
    "/api/events/{event_id:uuid}/selection-checks",
    "seats.read",
    *NOT_THERE,
    SeatNotFound,
    status=200,
)
async def check_selection(
    event_id: FromPath[UUID], data: JSONBody[CheckRequest], call: Given[Call]
) -> Data[SelectionCheck]:
    """What would come of booking these seats: who would refuse, which seats would be left alone,
    and the nearest alternatives."""
    return Data(await _questions(call, event_id).check(data))


@access.post(
    "/api/events/{event_id:uuid}/zones/{zone_id:uuid}/access-checks",
    "seats.read",
    *NOT_THERE,
    ZoneNotFound,
    ZoneAccessDenied,
    RateLimited,
    status=200,
)
async def check_zone_access(
    event_id: FromPath[UUID],
    zone_id: FromPath[UUID],
    data: JSONBody[AccessRequest],
    call: Given[Call],
) -> Data[ZoneAccess]:
    """Whether you, and every friend you book for, may book in this zone."""
    return Data(await check_access(call.database, call.cache, call.caller, event_id, zone_id, data))


@access.post(
    "/api/events/{event_id:uuid}/seat-blocks",
    "seats.block",
    *NOT_THERE,
    SeatNotFound,
    SeatTaken,
    SeatsChangedMeanwhile,
    status=200,
    body_bytes_max=BLOCK_BYTES_MAX,
)
async def block_seats(
    event_id: FromPath[UUID], data: JSONBody[SeatBlock], call: Given[Call]
) -> Data[SeatsChanged]:
    """Take seats out of sale, with a reason."""
    changed = await actions.block_seats(call.database, call.cache, call.caller, event_id, data)
    return Data(changed)


@access.post(
    "/api/events/{event_id:uuid}/seat-blocks/lifted",
    "seats.block",
    *NOT_THERE,
    SeatNotFound,
    SeatBlockedByLayout,
    SeatsChangedMeanwhile,
    status=200,
    body_bytes_max=BLOCK_BYTES_MAX,
)
async def unblock_seats(
    event_id: FromPath[UUID], data: JSONBody[SeatUnblock], call: Given[Call]
) -> Data[SeatsChanged]:
    """Put blocked seats back: as sold if they were sold, else as available."""
    changed = await actions.unblock_seats(call.database, call.cache, call.caller, event_id, data)
    return Data(changed)


@access.get("/api/events/{event_id:uuid}/seating-report", "layouts.read", *NOT_THERE)
async def read_seating_report(event_id: FromPath[UUID], call: Given[Call]) -> Data[SeatingReport]:
    """Lonely seats, use of VIP zones and of wheelchair places."""
    return Data(await _questions(call, event_id).report())


def _questions(call: Call, event_id: UUID) -> Questions:
    return Questions(call.database, call.cache, call.caller, event_id)


ROUTES = [
    read_availability,
    read_seat_map,
    read_seat,
    find_best_available,
    check_selection,
    check_zone_access,
    block_seats,
    unblock_seats,
    read_seating_report,
]
