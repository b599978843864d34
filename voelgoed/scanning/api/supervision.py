from typing import Annotated
from uuid import UUID

from litestar.di import NamedDependency as Given
from litestar.params import FromPath, JSONBody, QueryParameter

from voelgoed.accounts import access
from voelgoed.accounts.access import Call
from voelgoed.events.model import EventNotFound, GateNotFound
from voelgoed.infra.batcher import Overloaded
from voelgoed.infra.idempotency import IdempotencyKeyReused
from voelgoed.infra.shapes import Data
from voelgoed.infra.web import IdempotencyKey
from voelgoed.scanning.actions import occupancy_resets
from voelgoed.scanning.actions import supervision as actions
from voelgoed.scanning.model.occupancy import OccupancyReset
from voelgoed.scanning.model.refusals import (
    InvalidTicketCodeFormat,
    InvalidTicketCodeLength,
    OverrideNotAllowed,
    ScanAnnulled,
    ScanIdReused,
    ScanNotAdmitted,
    ScanNotFound,
    SearchTooShort,
)
from voelgoed.scanning.model.scans import Answer
from voelgoed.scanning.model.supervision import (
    Annulment,
    EventOccupancy,
    ManualAdmission,
    NewOccupancyReset,
    PastScan,
    TicketAtGate,
    TicketTransition,
)
from voelgoed.seating.model.refusals import EventLayoutNotFound
from voelgoed.ticketing.model.refusals import TicketNotFound, TicketNotValid

SearchText = Annotated[
    str,
    QueryParameter(
        max_length=100,
        pattern=r"^[^\x00]*$",
        description="A ticket code, an order number, or the beginning of a name.",
    ),
]


@access.post(
    "/api/scanning/admissions",
    "admissions.write",
    GateNotFound,
    InvalidTicketCodeFormat,
    InvalidTicketCodeLength,
    OverrideNotAllowed,
    ScanAnnulled,
    ScanIdReused,
    Overloaded,
)
async def admit_by_hand(data: JSONBody[ManualAdmission], call: Given[Call]) -> Data[Answer]:
    """Admits somebody against the rule, with a reason."""
    return Data(await actions.admit_by_hand(call.database, call.parts.scans, call.caller, data))


@access.post(
    "/api/scanning/scans/{scan_id:uuid}/annulment",
    "admissions.write",
    ScanNotFound,
    ScanNotAdmitted,
    TicketNotFound,
    status=204,
)
async def annul_admission(
    scan_id: FromPath[UUID], data: JSONBody[Annulment], call: Given[Call]
) -> None:
    """Annuls an admission as if it had never been: the turnstile refused, or it was somebody
    else."""
    await actions.annul(call.database, call.caller, scan_id, data)


@access.post(
    "/api/scanning/tickets/{ticket_id:uuid}/transitions",
    "admissions.write",
    TicketNotFound,
    TicketNotValid,
    EventLayoutNotFound,
    status=204,
)
async def move_ticket(
    ticket_id: FromPath[UUID], data: JSONBody[TicketTransition], call: Given[Call]
) -> None:
    """Marks a ticket used, resets it as if nobody had come with it, or voids it."""
    await actions.move_ticket(call.database, call.parts.checkout, call.caller, ticket_id, data)


@access.get(
    "/api/scanning/events/{event_id:uuid}/tickets",
    "admissions.read",
    EventNotFound,
    SearchTooShort,
)
async def search_tickets(
    event_id: FromPath[UUID], search: SearchText, call: Given[Call]
) -> Data[list[TicketAtGate]]:
    """Finds at most twenty tickets, with only what gate staff need; every search is recorded."""
    return Data(await actions.find_tickets(call.database, call.caller, event_id, search))


@access.get("/api/scanning/tickets/{ticket_id:uuid}/scans", "admissions.read", TicketNotFound)
async def list_scans_of_ticket(
    ticket_id: FromPath[UUID], call: Given[Call]
) -> Data[list[PastScan]]:
    """The newest hundred scans of a ticket, admitted, denied and annulled."""
    return Data(await actions.scans_of(call.database, call.caller, ticket_id))


@access.get("/api/scanning/events/{event_id:uuid}/occupancy", "gates.read", EventNotFound)
async def read_occupancy(event_id: FromPath[UUID], call: Given[Call]) -> Data[EventOccupancy]:
    """The people inside, at the event, by gate, by zone and by day."""
    return Data(await actions.read_occupancy(call.database, call.caller, event_id))


@access.post(
    "/api/scanning/events/{event_id:uuid}/occupancy/resets",
    "admissions.write",
    EventNotFound,
    IdempotencyKeyReused,
)
async def declare_empty(
    event_id: FromPath[UUID],
    data: JSONBody[NewOccupancyReset],
    call: Given[Call],
    idempotency_key: IdempotencyKey = None,
) -> Data[OccupancyReset]:
    """Declares the venue empty: all who came in until now no longer count as inside. The audit log
    has the person and the reason."""
    key = access.once_for(call.caller, idempotency_key, "declare_empty", event_id, data)
    return Data(
        await occupancy_resets.declare_empty(call.database, call.caller, event_id, data, key)
    )


ROUTES = [
    admit_by_hand,
    annul_admission,
    move_ticket,
    search_tickets,
    list_scans_of_ticket,
    read_occupancy,
    declare_empty,
]
