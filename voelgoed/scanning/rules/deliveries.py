"""The two forms in which devices bring scans, and how each is answered: signed ones fifty at a time
(`/api/scanning/sync`), and a whole queue at once (`/api/scans/sync`)."""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from typing import Generic, Literal, TypeVar
from uuid import UUID, uuid5

import msgspec

from voelgoed.infra.refusal import Refusal
from voelgoed.infra.shapes import EARLIEST, LATEST
from voelgoed.scanning.model.conflicts import Conflict
from voelgoed.scanning.model.decisions import REASONS_OF_HISTORY
from voelgoed.scanning.model.devices import Device
from voelgoed.scanning.model.recoveries import ExportedQueue
from voelgoed.scanning.model.refusals import (
    BatchMalformed,
    BatchTooOld,
    EventNotLive,
    InvalidSignature,
    TimestampOutOfRange,
)
from voelgoed.scanning.model.stations import ScanningGate
from voelgoed.scanning.model.sync import (
    BatchAnswer,
    BatchError,
    BatchStatus,
    BatchSummary,
    FoundConflict,
    OfflineBatch,
    QueuedScan,
    RejectedScan,
    SignedBatch,
    SignedScan,
    SyncAnswer,
    TimestampRange,
    UnverifiedScan,
)
from voelgoed.scanning.rules.device_clock import DeviceClock, canonical, is_contradicted
from voelgoed.scanning.rules.offline_scans import OfflineScan, SyncResult
from voelgoed.scanning.rules.presented import read_presented
from voelgoed.scanning.rules.recovery import fields_of
from voelgoed.scanning.rules.scan_signatures import is_signed_by
from voelgoed.ticketing.rules.codes import read_code

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
A = TypeVar("A", BatchAnswer, SyncAnswer)

OFFLINE_MAX = timedelta(hours=24)
"""The largest distance of a queue's moments from the server's time."""
HASH_PREFIX = "sha256:"
GATES_MAX = 1_000
"""Texts that name gates and are remembered as what they were read as: all scans of a delivery name a few."""
AGAIN = "Batch already synced (idempotent)"


class Delivery(ABC, Generic[A]):
    """The content of a delivery, in one of the two forms."""

    batch_id: UUID
    device_id: UUID
    """The device that the delivery names as its sender."""
    fingerprint: str
    created_at: datetime | None = None
    """The moment at which the delivery was made, by the device's clock; None where the device does
    not say."""
    claimed: timedelta | None = None
    """The clock offset that the device claims; None where it claims none."""
    form: Literal["batch", "queue"]
    shape: type[A]

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def read(self, device: Device, clock: DeviceClock, now: datetime) -> list[OfflineScan]:
        """The scans; each that cannot be accepted has its refusal."""

    @abstractmethod
    def lateness(self, gates: Iterable[ScanningGate], now: datetime) -> Refusal | None:
        """Why the whole delivery comes too late, or too early; None where it does not. `gates` are that
        where the device is, first, and those of its scans."""

    @abstractmethod
    def answer(
        self,
        results: Sequence[SyncResult],
        conflicts: Sequence[Conflict],
        clock: DeviceClock,
        now: datetime,
    ) -> A: ...


def fingerprint_of(batch: SignedBatch | OfflineBatch | ExportedQueue) -> str:
    """The same whatever blanks and compression it came with."""
    return sha256(msgspec.json.encode(batch)).hexdigest()


def status_of(results: Sequence[SyncResult]) -> BatchStatus:
    return "partial_success" if any(each.refusal for each in results) else "completed"


class SignedDelivery(Delivery[SyncAnswer]):
    form = "batch"
    shape = SyncAnswer

    def __init__(self, batch: SignedBatch, api_key: str, measured: timedelta | None) -> None:
        self._batch = batch
        self._api_key = api_key
        self._measured = measured
        self.batch_id = UUID(batch.sync_batch_id)
        self.device_id = batch.device_id
        self.fingerprint = fingerprint_of(batch)
        self.claimed = timedelta(seconds=batch.offset_seconds)

    def __len__(self) -> int:
        return len(self._batch.scans)

    def read(self, device: Device, clock: DeviceClock, now: datetime) -> list[OfflineScan]:
        return [
            read_signed(scan, device, self.batch_id, clock, refusal=self._refusal(scan))
            for scan in self._batch.scans
        ]

    def _refusal(self, scan: SignedScan) -> Refusal | None:
        is_signed = is_signed_by(scan.signature, fields_of(scan), self._api_key)
        return None if is_signed and _is_read(scan) else InvalidSignature()

    def lateness(self, gates: Iterable[ScanningGate], now: datetime) -> Refusal | None:
        return None  # each scan is asked whether the event was live at its moment

    def answer(
        self,
        results: Sequence[SyncResult],
        conflicts: Sequence[Conflict],
        clock: DeviceClock,
        now: datetime,
    ) -> SyncAnswer:
        kept = [each for each in results if each.refusal is None]
        sent = {each.scan.scan_id: each.scan.sent_id for each in results}
        return SyncAnswer(
            sync_batch_id=self._batch.sync_batch_id,
            status=status_of(results),
            processed=[each.scan.sent_id for each in kept],
            skipped=[],
            rejected=[
                RejectedScan(
                    scan_id=each.scan.sent_id,
                    error=each.refusal.code,
                    message=each.refusal.message,
                )
                for each in results
                if each.refusal is not None
            ],
            conflicts=[
                FoundConflict(
                    scan_id=sent.get(each.scan_id, str(each.scan_id)),
                    winner_scan_id=sent.get(each.winner_scan_id, str(each.winner_scan_id)),
                    kind=each.kind,
                    severity=each.severity,
                )
                for each in conflicts
            ],
            unverified=[
                UnverifiedScan(scan_id=each.scan.sent_id, reason=each.unverified)
                for each in kept
                if each.unverified is not None
            ],
            offset_seconds=clock.offset.total_seconds(),
            measured_offset_seconds=None
            if self._measured is None
            else self._measured.total_seconds(),
            server_time=now,
        )


def read_signed(
    scan: SignedScan,
    device: Device,
    batch_id: UUID,
    clock: DeviceClock,
    *,
    refusal: Refusal | None = None,
) -> OfflineScan:
    given = scan.ticket_code or ""
    scanned_at = _moment(scan.scanned_at)
    at = canonical(scanned_at, clock)
    return OfflineScan(
        scan_id=_id(scan.scan_id),
        sent_id=scan.scan_id,
        device=device,
        batch_id=batch_id,
        ticket_id=_id(scan.ticket_id) if scan.ticket_id else None,
        presented=read_presented(given) if given else None,
        given=given.strip(),
        barcode_hash=scan.barcode_hash.removeprefix(HASH_PREFIX).lower(),
        gate=_gate(scan.gate_id),
        direction=scan.direction,
        scanned_at=scanned_at,
        at=at,
        tolerance=clock.tolerance,
        contradicts_clock=is_contradicted(at, clock),
        outcome=scan.outcome,
        refusal=refusal,
        signature=scan.signature,
    )


class OfflineDelivery(Delivery[BatchAnswer]):
    form = "queue"
    shape = BatchAnswer

    def __init__(self, batch: OfflineBatch) -> None:
        self._batch = batch
        self.batch_id = UUID(batch.batch_id)
        self.device_id = batch.device_id
        self.fingerprint = fingerprint_of(batch)
        self.created_at = batch.batch_created_at

    def __len__(self) -> int:
        return len(self._batch.scans)

    def read(self, device: Device, clock: DeviceClock, now: datetime) -> list[OfflineScan]:
        batch = self._batch
        if batch.batch_size != len(batch.scans):
            message = f"is {batch.batch_size}, but there are {len(batch.scans)} scans"
            raise BatchMalformed(faults=[{"path": "$.batch_size", "message": message}])
        return [self._read(scan, device, clock, now) for scan in batch.scans]

    def _read(
        self, scan: QueuedScan, device: Device, clock: DeviceClock, now: datetime
    ) -> OfflineScan:
        presented, scan_id = read_presented(scan.ticket_code), id_of(scan, device)
        at = canonical(scan.scanned_at, clock)
        # By its own clock, as the document has it, and by ours: a false time moves no scan to another day.
        is_far_off = max(abs(now - scan.scanned_at), abs(now - at)) > OFFLINE_MAX
        return OfflineScan(
            scan_id=scan_id,
            sent_id=scan.offline_id or str(scan_id),
            device=device,
            batch_id=self.batch_id,
            ticket_id=None,
            presented=presented,
            given=scan.ticket_code.strip(),
            barcode_hash=presented and presented.barcode_hash,
            gate=None if scan.gate_id is None else _gate(scan.gate_id),
            direction=scan.direction,
            scanned_at=scan.scanned_at,
            at=at,
            tolerance=clock.tolerance,
            contradicts_clock=is_contradicted(at, clock),
            outcome=scan.outcome,
            refusal_if_new=TimestampOutOfRange(_FAR_OFF) if is_far_off else None,
        )

    def lateness(self, gates: Iterable[ScanningGate], now: datetime) -> Refusal | None:
        """A device that was moved to another event still brings what it scanned before."""
        created_at = self._batch.batch_created_at
        if abs(now - created_at) > OFFLINE_MAX:
            return BatchTooOld(server_time=now.isoformat(), batch_created_at=created_at.isoformat())
        statuses = (each.event_status for each in gates)
        status = next(statuses)
        return None if status == "live" or "live" in statuses else EventNotLive(event_status=status)

    def answer(
        self,
        results: Sequence[SyncResult],
        conflicts: Sequence[Conflict],
        clock: DeviceClock,
        now: datetime,
    ) -> BatchAnswer:
        errors = [_error(index, each) for index, each in enumerate(results) if not each.is_good]
        reasons = Counter(each.reason for each in errors)
        duplicates = sum(reasons[reason] for reason in REASONS_OF_HISTORY)
        missing = reasons["ticket_not_found"]
        moments = [each.scan.scanned_at for each in results]
        return BatchAnswer(
            batch_id=self._batch.batch_id,
            status=status_of(results),
            processed_count=len(results) - len(errors),
            error_count=len(errors),
            summary=BatchSummary(
                total_scans=len(results),
                new_scans=sum(each.is_good and each.is_learnt for each in results),
                duplicate_scans=duplicates,
                missing_tickets=missing,
                invalid_tickets=len(errors) - duplicates - missing,
            ),
            errors=errors,
            timestamp_range=TimestampRange(oldest=min(moments), newest=max(moments)),
            timestamp=now,
            sync_duration_seconds=0.0,
        )


_FAR_OFF = "This was scanned more than 24 hours ago, or is yet to come; export it to a file."


def _error(index: int, result: SyncResult) -> BatchError:
    refusal, resolution, ticket = result.refusal, result.resolution, result.ticket
    reason = refusal.code if refusal else (resolution and resolution.reason) or ""
    return BatchError(
        offline_id=result.scan.sent_id,
        index=index,
        ticket_code=ticket.code if ticket else result.scan.given,
        reason=reason,
        is_kept=refusal is None,
        unverified=result.unverified or msgspec.UNSET,
        last_scan_at=result.winner.scanned_at_canonical if result.winner else msgspec.UNSET,
    )


def id_of(scan: QueuedScan, device: Device) -> UUID:
    """The id under which a scan of a queue is kept: the device's own where that is a UUID, else one made
    of the device and the name that it gave to the scan, else one made of what the scan is."""
    given = scan.offline_id
    if given is None:
        # Without the gate: a device is at one at a moment, however it names it, or leaves it out.
        text = scan.ticket_code.strip()
        presented = read_presented(text)
        code = text if presented is None or presented.barcode_hash else presented.code
        given = f"{scan.direction} {code} {scan.scanned_at.astimezone(UTC).isoformat()}"
    elif _UUID.match(given):
        return _id(given)
    return uuid5(device.id, given)


def _id(text: str) -> UUID:
    """From a text of the right form, in a third of the time that `UUID` takes."""
    return msgspec.convert(text, UUID)


@lru_cache(GATES_MAX)
def _gate(text: str) -> UUID | str:
    try:
        return UUID(text)
    except ValueError:
        return text


def _is_read(scan: SignedScan) -> bool:
    """Whether the text that was read is the one that was hashed and signed. Of a code that somebody
    typed, whose ticket the device knew, the hash is that of the ticket's barcode."""
    text = scan.ticket_code
    if text is None or (scan.ticket_id is not None and read_code(text) is not None):
        return True
    return scan.barcode_hash.lower() == HASH_PREFIX + sha256(text.encode()).hexdigest()


def _moment(text: str) -> datetime:
    """The moment in a text of the right form. A date that does not exist refuses the whole batch."""
    try:
        moment = msgspec.convert(text, datetime).astimezone(UTC)
    except (msgspec.ValidationError, OverflowError, ValueError):
        moment = None
    if moment is None or not EARLIEST <= moment <= LATEST:
        fault = {"path": "$.scans[...].scanned_at", "message": f"is no moment: {text}"}
        raise BatchMalformed(faults=[fault])
    return moment
