import re
import time
from typing import Literal, Protocol

import msgspec
from litestar import Response
from litestar.di import NamedDependency as Given
from litestar.params import JSONBody

from voelgoed.accounts.access import Call, bearer_in, origin_by
from voelgoed.infra.batcher import Overloaded
from voelgoed.infra.master_key import MasterKey
from voelgoed.infra.refusal import Refusal, Unavailable
from voelgoed.infra.web import (
    AnswersMissing,
    Asked,
    InvalidJson,
    Reply,
    read_json,
    reply_of,
    response_refusing,
)
from voelgoed.scanning.access import device_of, device_post
from voelgoed.scanning.actions.own_device import prove
from voelgoed.scanning.actions.scan_pipeline import ScanPipeline
from voelgoed.scanning.actions.signs_of_life import SignsOfLife
from voelgoed.scanning.metrics import scan_duration
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
    opt={"empty_is": InvalidJson},
)
async def process_scan(data: JSONBody[NewScan], call: Given[Call]) -> Response[Answer]:
    """Decides for a device whether the holder of a ticket may pass. Admitted and denied are
    answers, with 200; a ticket that does not exist is denied with 404. With 503 and `"fallback":
    "offline"` the device decides by itself."""
    began = time.perf_counter()
    outcome: Outcome = "refused"
    try:
        device = device_of(call)
        answer = await _pipeline(call).scan(device.caller, device.key_version, data)
        outcome = answer.status
        return Response(answer, status_code=404 if answer.reason == "ticket_not_found" else 200)
    except Unavailable as refusal:
        outcome = "unavailable"
        body = Fallback(refusal.code, refusal.message, refusal.details)
        return response_refusing(refusal, body)
    finally:
        _observers[outcome].observe(time.perf_counter() - began)


def _pipeline(call: Call) -> ScanPipeline:
    return call.parts.scans


class Fallback(msgspec.Struct, frozen=True):
    """An error after which the device decides by itself."""

    error: str
    message: str
    details: dict[str, object]
    fallback: str = "offline"


class ScanServices(Protocol):
    """The services of a process that the short way needs."""

    @property
    def master_key(self) -> MasterKey: ...
    @property
    def signs_of_life(self) -> SignsOfLife: ...


async def answer_scan(asked: Asked, services: ScanServices) -> Reply:
    """The short way to `process_scan`."""
    began = time.perf_counter()
    try:
        origin = origin_by(asked.headers, asked.host)
        device = prove(services.master_key, bearer_in(asked.headers), origin)
        services.signs_of_life.note(device)
        data = read_json(asked.body, _scan)
    except Refusal:
        _observers["refused"].observe(time.perf_counter() - began)
        raise
    return reply_of(await process_scan.fn(data, Call(services, {"user": device})))


ROUTES = [process_scan]
