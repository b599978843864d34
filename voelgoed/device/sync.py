"""Delivers the waiting scans to the server, fifty at a time and in their order.

A batch without an answer is sent again byte for byte and under its id, so that it is one batch however
often it arrives. Scans that the server rejects are kept, with the reason.
"""

from datetime import datetime, timedelta
from itertools import takewhile
from uuid import UUID

import msgspec
from msgspec.structs import replace

from voelgoed.device.client import Device
from voelgoed.device.ledger import signed_fields
from voelgoed.device.link import Answered, require
from voelgoed.device.model import (
    DeviceFault,
    LoggedScan,
    Outgoing,
    Refused,
    ServerAway,
    SyncReport,
)
from voelgoed.scanning.rules.scan_signatures import is_signed_by

SYNC = "/api/scanning/sync"
TOGETHER_MAX = 50
ATTEMPTS_MAX = 5
"""The attempts for one batch; after them it waits for a later sync."""
BACKOFF_S = (1.0, 2.0, 4.0, 8.0, 16.0)
WAIT_S_MAX = 30.0
BUSY_MAX = 20
"""The number of waits in a row that the server may ask for."""
FRUITLESS_MAX = 20
"""Answers in a row after which no scan is frozen."""
REFUSED = (400, 413)
"""Something in it the server cannot read; in which scan, a smaller batch tells."""


class Rejected(msgspec.Struct):
    scan_id: UUID
    error: str
    message: str = ""


class Conflicting(msgspec.Struct):
    scan_id: UUID


class Unverified(msgspec.Struct):
    scan_id: UUID
    reason: str


class Synced(msgspec.Struct, kw_only=True):
    """The parts of the server's answer that a device needs."""

    processed: list[UUID]
    skipped: list[UUID]
    rejected: list[Rejected]
    conflicts: list[Conflicting]
    unverified: list[Unverified] = []
    offset_seconds: float
    server_time: datetime


async def sync(device: Device) -> SyncReport:
    """All that waits, or as much as the server takes."""
    report, most, fruitless = SyncReport(), TOGETHER_MAX, 0
    try:
        if device.store.count()["pending"]:
            await device.compare_clocks()
        while (batch := device.store.outgoing or _next(device, most)) is not None:
            frozen = report.synced + report.failed
            answered = await _send(device, batch, report)
            if answered is None:
                continue
            if answered.status == 200:
                _settle(device, batch, answered.read(Synced), report)
                most = TOGETHER_MAX
            else:
                _withdraw(device, batch, answered, report)
                if answered.status in REFUSED:
                    most = max(len(batch.scan_ids) // 2, 1)
            fruitless = fruitless + 1 if report.synced + report.failed == frozen else 0
            if fruitless == FRUITLESS_MAX:
                raise Refused(answered.error.message or None)
    except DeviceFault as fault:
        report.reason = str(fault)
    report.left = device.store.count()["pending"]
    return report


def offset_of(scan: LoggedScan) -> timedelta:
    return scan.scanned_at_corrected - scan.scanned_at


def _next(device: Device, most: int) -> Outgoing | None:
    """Scans that were read from the same clock: a batch has one offset."""
    scans = device.store.scans("pending", most)
    if not scans:
        return None
    offset = offset_of(scans[0])
    scans = list(takewhile(lambda scan: offset_of(scan) == offset, scans))
    body = {
        "device_id": device.identity.device_id,
        "sync_batch_id": (batch_id := device.new_id()),
        "offset_seconds": offset.total_seconds(),
        "scans": [told(scan) for scan in scans],
    }
    batch = Outgoing(
        batch_id,
        msgspec.json.encode(body),
        [scan.scan_id for scan in scans],
        offset.total_seconds(),
    )
    with device.store.transaction():
        device.store.keep_outgoing(batch)
    return batch


def told(scan: LoggedScan) -> dict[str, object]:
    fields: dict[str, object] = msgspec.structs.asdict(signed_fields(scan))
    fields |= {"outcome": scan.outcome, "signature": scan.signature, "direction": scan.direction}
    return fields if scan.ticket_code is None else fields | {"ticket_code": scan.ticket_code}


async def _send(device: Device, batch: Outgoing, report: SyncReport) -> Answered | None:
    """An answer that settles something; else ServerAway, after as many attempts as it is worth. None
    where the key has changed: what was signed with the old one is not sent under the new one."""
    busy, failed, fault = 0, 0, ServerAway()
    while failed < ATTEMPTS_MAX and busy < BUSY_MAX:
        if device.store.outgoing != batch:
            return None
        try:
            report.requests += 1
            offset = timedelta(seconds=batch.offset_seconds)
            answered = await device.ask_once("POST", SYNC, batch.body, offset=offset)
            if device.needs_next_key(answered):
                await device.renew_key(answered)
                return None
            if answered.status == 429 and answered.retry_after_s is not None:
                busy, fault = busy + 1, ServerAway(answered.error.message)
                await device.sleep(answered.retry_after_s + device.luck.uniform(0, 1))
                continue
            if answered.status not in (409, *REFUSED) or not answered.is_refusal_of_ours:
                require(answered, 200).read(Synced)  # what came but in part did not come
            return answered
        except ServerAway as away:
            fault = away
        _count(device, batch, str(fault))
        failed += 1
        if failed < ATTEMPTS_MAX:
            await device.sleep(_backoff_s(device, failed))
    raise fault


def _backoff_s(device: Device, failed: int) -> float:
    """The pause before the next attempt, with a random part, so that devices which lost the server
    together do not return together."""
    return min(BACKOFF_S[failed - 1] * device.luck.uniform(0.5, 1.5), WAIT_S_MAX)


def _count(device: Device, batch: Outgoing, error: str) -> None:
    with device.store.transaction():
        device.store.change_scans(
            _again(scan, error) for scan in device.store.scans_by_ids(batch.scan_ids)
        )


def _again(scan: LoggedScan, error: str) -> LoggedScan:
    return replace(scan, retry_count=scan.retry_count + 1, last_error=error)


def _refused(scan: LoggedScan, error: str) -> LoggedScan:
    return replace(_again(scan, error), refusal_count=scan.refusal_count + 1)


def _settle(device: Device, batch: Outgoing, answer: Synced, report: SyncReport) -> None:
    """Scans that the server does not name go on waiting, and are sent with another batch."""
    done = {*answer.processed, *answer.skipped}
    rejected = {each.scan_id: each for each in answer.rejected}
    frozen: list[LoggedScan] = []
    for scan in device.store.scans_by_ids(batch.scan_ids):
        if scan.scan_id in done:
            frozen.append(_acknowledged(scan, answer))
        elif (no := rejected.get(scan.scan_id)) is not None:
            frozen.append(_rejected(device, scan, no))
        else:
            frozen.append(_again(scan, "The server did not name it."))
    _close(device, frozen, report)
    # A scan that this device denied and the server denies too is no conflict: they agree.
    denied = {scan.scan_id for scan in frozen if scan.outcome != "valid"}
    report.conflicts += [each.scan_id for each in answer.conflicts if each.scan_id not in denied]
    report.unverified |= {each.scan_id: each.reason for each in answer.unverified}


def _close(device: Device, scans: list[LoggedScan], report: SyncReport) -> None:
    with device.store.transaction():
        device.store.forget_outgoing()
        device.ledger.change(scans)
    report.synced += sum(scan.sync_status == "synced" for scan in scans)
    report.failed += sum(scan.sync_status == "failed" for scan in scans)


def _acknowledged(scan: LoggedScan, answer: Synced) -> LoggedScan:
    at = scan.scanned_at_corrected
    if scan.scan_id in answer.processed:
        at = scan.scanned_at + timedelta(seconds=answer.offset_seconds)
    return replace(
        scan,
        sync_status="synced",
        synced_at=answer.server_time,
        scanned_at_corrected=at,
        last_error=None,
    )


def _rejected(device: Device, scan: LoggedScan, no: Rejected) -> LoggedScan:
    """A signature that is right here was spoilt on the way: it is sent again."""
    error = f"{no.error}: {no.message}"
    is_ours = is_signed_by(scan.signature, signed_fields(scan), device.identity.api_key)
    if no.error == "invalid_signature" and is_ours and scan.refusal_count < ATTEMPTS_MAX:
        return _refused(scan, error)
    return replace(scan, sync_status="failed", last_error=error)


def _withdraw(device: Device, batch: Outgoing, answered: Answered, report: SyncReport) -> None:
    """The server will not have this batch as it is: its scans go with others. One that is refused
    alone, again and again, is the reason."""
    error = answered.error
    said = f"{error.error}: {error.message}"
    scans = device.store.scans_by_ids(batch.scan_ids)
    if answered.status in REFUSED and len(scans) == 1:
        scans = [_refused(scans[0], said)]
        if scans[0].refusal_count >= ATTEMPTS_MAX:
            scans = [replace(scans[0], sync_status="failed")]
    else:
        scans = [_again(scan, said) for scan in scans]
    _close(device, scans, report)
