import re
import time
from typing import Literal, Protocol

import msgspec
from litestar.params import JSONBody

from voelgoed.accounts.access import bearer_in, origin_by
from voelgoed.infra.batcher import Overloaded
from voelgoed.infra.master_key import MasterKey
from voelgoed.infra.metrics import scan_duration
from voelgoed.infra.refusal import InvalidRequest, NotFound, Unavailable
from voelgoed.infra.web import (
    AnswersMissing,
    Asked,
    InvalidJson,
    Reply,
    reply_refusing,
    reply_with,
)
from voelgoed.scanning.access import device_post
from voelgoed.scanning.actions.own_device import prove
from voelgoed.scanning.actions.scan_pipeline import ScanPipeline
from voelgoed.scanning.model.refusals import (
    DeviceMismatch,
    DeviceNotAssignedToGate,
    InvalidTicketCodeFormat,
    InvalidTicketCodeLength,
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
    InvalidTicketCodeLength,
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
    def scans(self) -> ScanPipeline: ...


class Fallback(msgspec.Struct, frozen=True):
    """An error after which the device decides by itself."""

    error: str
    message: str
    details: dict[str, object]
    fallback: str = "offline"


async def answer_scan(asked: Asked, services: "Parts") -> Reply:
    """Timed as the device sees it; whatever is not answered here was refused, or went wrong."""
    began = time.perf_counter()
    outcome: Outcome = "refused"
    try:
        origin = origin_by(asked.headers, asked.host)
        proven = prove(services.master_key, bearer_in(asked.headers), origin)
        answer = await services.scans.scan(proven.caller, proven.key_version, _read(asked.body))
        outcome = answer.status
        return reply_with(404 if answer.reason == "ticket_not_found" else 200, answer)
    except Unavailable as refusal:
        outcome = "unavailable"
        body = Fallback(refusal.code, refusal.message, refusal.details)
        return reply_refusing(refusal, body)
    finally:
        _observers[outcome].observe(time.perf_counter() - began)


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
