"""The alerts that a delivery of offline scans raises."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

import msgspec

from voelgoed.scanning.model.alerts import AlertKind, Suspicion
from voelgoed.scanning.model.stations import ScanningGate
from voelgoed.scanning.model.sync import BatchSync
from voelgoed.scanning.rules.device_clock import DeviceClock, jump_details
from voelgoed.scanning.rules.fraud import SEVERITY, SUBJECT
from voelgoed.scanning.rules.invalid_admissions import (
    InvalidAdmission,
    WhoseDelivery,
    invalid_admissions,
)
from voelgoed.scanning.rules.offline_scans import SyncResult
from voelgoed.scanning.rules.scan_rate import impossible_rate

WRONG_SHARE_MAX = 0.5
LATE_AFTER = timedelta(hours=8)
SIZE_MAX = 5_000
FAILURES_MAX = 5
"""Failed deliveries in a row that raise an alert."""
_BY_REFUSAL: dict[str, AlertKind] = {
    "invalid_signature": "invalid_signature",
    "replayed_signature": "replayed_signature",
    "scan_id_reused": "scan_id_reused",
    "timestamp_out_of_range": "impossible_timestamp",
}


class BatchFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A delivery, and what became of its scans."""

    batch: BatchSync
    device_name: str
    created_at: datetime | None
    """The moment by the device's clock; None where the device did not say."""
    clock: DeviceClock
    results: Sequence[SyncResult]
    nearby_entries: Sequence[datetime]
    """Moments of entries that the device delivered before, near those of this delivery."""


def suspicions_of(facts: BatchFacts) -> list[Suspicion]:
    return [
        *_of_delivery(facts),
        *_of_scans(facts),
        *_of_provenance(facts),
        *_of_rate(facts),
        *_invalid_admissions(facts),
    ]


def _of_delivery(facts: BatchFacts) -> Iterator[Suspicion]:
    batch = facts.batch
    brought_at = facts.created_at or max(each.scan.at for each in facts.results)
    if batch.synced_at - brought_at > LATE_AFTER:
        yield _about(facts, "delayed_batch_submission", since=brought_at)
    if batch.batch_size >= SIZE_MAX:
        yield _about(facts, "batch_size_anomaly")
    if facts.clock.gap is not None:
        gap_s = round(facts.clock.gap.total_seconds())
        yield _about(facts, "clock_manipulation", gap_seconds=gap_s)
    if (jump := jump_details(facts.clock.change)) is not None:
        yield _about(facts, "clock_skew", **jump)
    if facts.clock.is_unmeasured:
        claimed_s = round(facts.clock.offset.total_seconds())
        yield _about(facts, "clock_skew", claimed_seconds=claimed_s)


def _of_scans(facts: BatchFacts) -> Iterator[Suspicion]:
    results = facts.results
    wrong = sum(_is_wrong(each) for each in results)
    if wrong > facts.batch.batch_size * WRONG_SHARE_MAX:
        yield _about(facts, "high_error_rate_batch", errors=wrong)
    new = [each for each in results if each.is_new]
    if forged := sum(each.is_forged for each in new):
        yield _about_scans(facts, "forged_barcode", forged)
    learnt = (each for each in results if each.is_learnt)
    if unknown := sum(each.ticket is None and not each.is_forged for each in learnt):
        yield _about_scans(facts, "ticket_not_found", unknown)
    errors = Counter(each.refusal.code for each in results if each.refusal is not None)
    for error, count in sorted(errors.items()):
        if (kind := _BY_REFUSAL.get(error)) is not None:
            yield _about_scans(facts, kind, count)


def _is_wrong(result: SyncResult) -> bool:
    """Somebody was let in who should not have been, or what was read is no ticket at all. Whoever was
    turned away with a ticket was turned away rightly."""
    if result.refusal is not None:
        return True
    if result.unverified is not None:
        return False  # nobody knows yet
    is_wrong = result.scan.is_let_in or result.ticket is None
    return result.is_learnt and is_wrong and not result.is_good


def _of_provenance(facts: BatchFacts) -> Iterator[Suspicion]:
    """Scans that wait for review; of those at gates where the device never was, their own events hear."""
    waiting = [each for each in facts.results if each.is_new and each.unverified is not None]
    if not waiting:
        return
    causes = Counter(each.unverified for each in waiting)
    yield _about_scans(facts, "unverified_scans", len(waiting), causes=dict(causes))
    if from_future := causes["from_future"]:
        yield _about_scans(facts, "future_timestamp", from_future)
    foreign: dict[UUID, list[SyncResult]] = {}
    for each in waiting:
        if each.unverified == "foreign_gate" and each.gate is not None:
            foreign.setdefault(each.gate.event_id, []).append(each)
    for event_id, those in foreign.items():
        gates = sorted({each.gate.name for each in those if each.gate is not None})
        suspicion = _about_scans(facts, "foreign_gate", len(those), gates=gates)
        yield msgspec.structs.replace(suspicion, event_id=event_id)


def _of_rate(facts: BatchFacts) -> Iterator[Suspicion]:
    entries = [
        each.scan.at
        for each in facts.results
        if each.is_new and each.scan.direction == "entry" and each.scan.is_let_in
    ]
    if not entries:
        return
    rate = impossible_rate([*entries, *facts.nearby_entries])
    if rate is not None:
        yield _about(
            facts,
            "impossible_rate",
            entries=rate.entries,
            seconds=round((rate.until - rate.since).total_seconds(), 3),
            since=rate.since,
        )


def _about_scans(facts: BatchFacts, kind: AlertKind, scans: int, **more: object) -> Suspicion:
    """One suspicion that counts each of so many scans."""
    return msgspec.structs.replace(_about(facts, kind, scans=scans, **more), occurrences=scans)


def _about(facts: BatchFacts, kind: AlertKind, **more: object) -> Suspicion:
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


def _invalid_admissions(facts: BatchFacts) -> list[Suspicion]:
    found = [
        InvalidAdmission(
            event_id=each.gate.event_id,
            ticket_id=each.ticket.id,
            scan_id=each.scan.scan_id,
            gate_name=each.gate.name,
            reason=each.stateless_reason,
        )
        for each in facts.results
        if each.is_learnt
        and each.unverified is None
        and each.gate is not None
        and each.ticket is not None
        and each.stateless_reason is not None
        and each.scan.is_let_in
    ]
    if not found:
        return []
    batch = facts.batch
    delivery = WhoseDelivery(
        device_id=batch.device_id, device_name=facts.device_name, batch_id=batch.batch_id
    )
    return invalid_admissions(found, delivery, batch.synced_at)


def failing_device(
    failures: int, device_id: UUID, gates: Sequence[ScanningGate], error: str, now: datetime
) -> Suspicion | None:
    """The finding about a device that failed several times; None unless it is at a gate of an
    event."""
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
