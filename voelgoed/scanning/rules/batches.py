"""What in a batch of scans, or in how it is brought, somebody should look at."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

import msgspec

from voelgoed.scanning.model.alerts import AlertKind, SubjectType, Suspicion
from voelgoed.scanning.model.decisions import Reason
from voelgoed.scanning.model.stations import ScanningGate
from voelgoed.scanning.model.sync import BatchSync
from voelgoed.scanning.rules.alerts import merge_suspicions
from voelgoed.scanning.rules.device_clock import DeviceClock
from voelgoed.scanning.rules.fraud import SEVERITY, SUBJECT

WRONG_SHARE_MAX = 0.5
LATE_AFTER = timedelta(hours=8)
SIZE_MAX = 5_000
TICKETS_ALERTED_MAX = 100
"""Tickets of one delivery that have an alert each; of more there is one list."""
FAILURES_MAX = 5
"""In a row."""
_BY_REFUSAL: dict[str, AlertKind] = {
    "invalid_signature": "invalid_signature",
    "replayed_signature": "replayed_signature",
    "scan_id_reused": "scan_id_reused",
    "timestamp_out_of_range": "impossible_timestamp",
}


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    batch: BatchSync
    device_name: str
    created_at: datetime | None
    """By the device's clock, where it says so."""
    newest: datetime
    """Of the scans."""
    clock: DeviceClock
    errors: Mapping[str, int]
    """Scans that were refused, by why."""
    wrong: int
    """Scans that let somebody in who should not have been, or that are of nobody's ticket."""
    from_future: int
    forged: int
    """Barcodes that somebody made up."""
    unknown: int
    """Codes that nobody has."""


def suspicions_of(facts: Facts) -> list[Suspicion]:
    return list(_suspicions(facts))


def _suspicions(facts: Facts) -> Iterator[Suspicion]:
    batch = facts.batch
    if facts.wrong > batch.batch_size * WRONG_SHARE_MAX:
        yield _about(facts, "high_error_rate_batch", errors=facts.wrong)
    brought_at = facts.created_at or facts.newest
    if batch.synced_at - brought_at > LATE_AFTER:
        yield _about(facts, "delayed_batch_submission", since=brought_at)
    if batch.batch_size >= SIZE_MAX:
        yield _about(facts, "batch_size_anomaly")
    if facts.from_future:
        yield _about_scans(facts, "future_timestamp", facts.from_future)
    if facts.forged:
        yield _about_scans(facts, "forged_barcode", facts.forged)
    if facts.unknown:
        yield _about_scans(facts, "ticket_not_found", facts.unknown)
    if facts.clock.gap is not None:
        gap_s = round(facts.clock.gap.total_seconds())
        yield _about(facts, "clock_manipulation", gap_seconds=gap_s)
    if facts.clock.is_unmeasured:
        claimed_s = round(facts.clock.offset.total_seconds())
        yield _about(facts, "clock_skew", claimed_seconds=claimed_s)
    for error, count in sorted(facts.errors.items()):
        if (kind := _BY_REFUSAL.get(error)) is not None:
            yield _about_scans(facts, kind, count)


def _about_scans(facts: Facts, kind: AlertKind, scans: int) -> Suspicion:
    """One suspicion that counts each of so many scans."""
    return msgspec.structs.replace(_about(facts, kind, scans=scans), occurrences=scans)


def _about(facts: Facts, kind: AlertKind, **more: object) -> Suspicion:
    batch = facts.batch
    return Suspicion(
        event_id=batch.event_id,
        kind=kind,
        severity=SEVERITY[kind],
        subject_type=SUBJECT[kind],
        subject_id=batch.device_id,
        at=batch.synced_at,
        details={
            "device_name": facts.device_name,
            "batch_id": batch.batch_id,
            "batch_size": batch.batch_size,
            **more,
        },
    )


class InvalidAdmission(msgspec.Struct, frozen=True, kw_only=True):
    """A device without network let somebody in with a ticket that was void, or not for there."""

    ticket_id: UUID
    scan_id: UUID
    gate_name: str
    reason: Reason


def invalid_admissions(
    batch: BatchSync, device_name: str, found: Sequence[InvalidAdmission]
) -> list[Suspicion]:
    """One suspicion for each person let in, about their ticket. Of very many tickets in one delivery
    there is one about the device instead, which counts and lists every person."""
    if len({each.ticket_id for each in found}) <= TICKETS_ALERTED_MAX:
        return [_invalid_admission(batch, "ticket", each.ticket_id, each) for each in found]
    by_device = [_invalid_admission(batch, "device", batch.device_id, each) for each in found]
    return [
        msgspec.structs.replace(
            each, details={"device_name": device_name, "batch_id": batch.batch_id, **each.details}
        )
        for each in merge_suspicions(by_device)
    ]


def _invalid_admission(
    batch: BatchSync, subject_type: SubjectType, subject_id: UUID, admitted: InvalidAdmission
) -> Suspicion:
    kind: AlertKind = "invalid_admission"
    details: dict[str, object] = {
        "ticket_id": admitted.ticket_id,
        "scan_id": admitted.scan_id,
        "gate_name": admitted.gate_name,
        "reason": admitted.reason,
    }
    return Suspicion(
        event_id=batch.event_id,
        kind=kind,
        severity=SEVERITY[kind],
        subject_type=subject_type,
        subject_id=subject_id,
        at=batch.synced_at,
        details=details,
    )


def failing_device(
    failures: int, device_id: UUID, gates: Sequence[ScanningGate], error: str, now: datetime
) -> Suspicion | None:
    """About which nobody hears unless it is at a gate of an event."""
    if failures < FAILURES_MAX or not gates:
        return None
    kind: AlertKind = "repeated_sync_failures"
    return Suspicion(
        event_id=gates[0].event_id,
        kind=kind,
        severity=SEVERITY[kind],
        subject_type=SUBJECT[kind],
        subject_id=device_id,
        at=now,
        details={"failures": failures, "error": error, "gate_name": gates[0].name},
    )


def revoked_device(
    device_id: UUID, gates: Sequence[ScanningGate], refused: Mapping[str, object], now: datetime
) -> list[Suspicion]:
    """One that was revoked, deactivated, or overtaken by whoever rotated its key, and still sends."""
    kind: AlertKind = "revoked_device_sync"
    return [
        Suspicion(
            event_id=gate.event_id,
            kind=kind,
            severity=SEVERITY[kind],
            subject_type=SUBJECT[kind],
            subject_id=device_id,
            at=now,
            details={**refused, "gate_name": gate.name},
        )
        for gate in gates[:1]
    ]
