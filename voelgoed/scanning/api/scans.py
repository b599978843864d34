import re
import time
from typing import Literal, Protocol

import msgspec
from litestar.params import JSONBody

from voelgoed.infra.conveyor import Overloaded
from voelgoed.infra.master_key import MasterKey
from voelgoed.infra.metrics import scan_duration
from voelgoed.infra.refusal import InvalidRequest, NotFound, Unavailable
from voelgoed.infra.web import (
    AnswersMissing,
    InvalidJson,
    Receive,
    Scope,
    Send,
    headers_of,
    read_body,
    send_json,
    status_of,
)
from voelgoed.scanning.access import device_in, device_post
from voelgoed.scanning.actions.scan_desk import ScanDesk
from voelgoed.scanning.model.refusals import (
    DeviceMismatch,
    DeviceNotAssignedToGate,
    InvalidTicketCodeFormat,
    ScanAnnulled,
    ScanIdReused,
    TimestampOutOfRange,
)
from voelgoed.scanning.model.scans import Answer, NewScan

SCANS_TEMPLATE = "/api/scans"
SCANS = re.compile(r"/api/scans/?\Z")
_scan = msgspec.json.Decoder(NewScan)

Outcome = Literal["admitted", "denied", "refused", "unavailable"]
_OUTCOMES: tuple[Outcome, ...] = ("admitted", "denied", "refused", "unavailable")
_observers = {outcome: scan_duration.labels(outcome) for outcome in _OUTCOMES}


@device_post(
    SCANS_TEMPLATE,
    DeviceMismatch,
    DeviceNotAssignedToGate,
    TimestampOutOfRange,
    InvalidTicketCodeFormat,
    ScanAnnulled,
    ScanIdReused,
    Overloaded,
    operation_class=AnswersMissing,
)
async def process_scan(data: JSONBody[NewScan]) -> Answer:
    """For a device: may whoever holds this through? Admitted or denied is an answer, with 200; a
    ticket that does not exist is denied with 404. With 503 and `"fallback": "offline"` the device
    decides by itself."""
    raise NotFound()  # `answer_scan` is asked before the framework, and answers all there is


class Parts(Protocol):
    """Of a process, those that are needed here."""

    @property
    def master_key(self) -> MasterKey: ...
    @property
    def scans(self) -> ScanDesk: ...


class Fallback(msgspec.Struct, frozen=True):
    """An error after which the device decides by itself."""

    error: str
    message: str
    details: dict[str, object]
    fallback: str = "offline"


async def answer_scan(scope: Scope, receive: Receive, send: Send, services: "Parts") -> None:
    """Timed as the device sees it; whatever is not answered here was refused, or went wrong."""
    began = time.perf_counter()
    outcome: Outcome = "refused"
    try:
        outcome = await _answer_scan(scope, receive, send, services)
    finally:
        _observers[outcome].observe(time.perf_counter() - began)


async def _answer_scan(scope: Scope, receive: Receive, send: Send, services: "Parts") -> Outcome:
    proven = device_in(scope, services.master_key)
    new = _read(await read_body(receive))
    try:
        answer = await services.scans.scan(proven.caller, proven.key_version, new)
    except Unavailable as refusal:
        body = Fallback(refusal.code, refusal.message, refusal.details)
        await send_json(send, status_of(type(refusal)), body, headers_of(refusal))
        return "unavailable"
    await send_json(send, 404 if answer.reason == "ticket_not_found" else 200, answer)
    return answer.status


def _read(body: bytes) -> NewScan:
    try:
        return _scan.decode(body)
    except msgspec.ValidationError as fault:
        message, _, path = str(fault).partition(" - at `")
        raise InvalidRequest(
            faults=[{"path": path.rstrip("`") or "$", "message": message}]
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise InvalidJson() from None


ROUTES = [process_scan]
