"""Which alerts recent scans raise. The order in which scans become known does not matter."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TypeVar
from uuid import UUID

import msgspec

from voelgoed.scanning.model.alerts import (
    AlertKind,
    DeviceCount,
    DeviceError,
    DeviceQuestion,
    Findings,
    GateQuestion,
    Round,
    Severity,
    Sighting,
    SubjectType,
    Suspicion,
    TicketQuestion,
    WatchQuestions,
)
from voelgoed.scanning.model.decisions import Reason
from voelgoed.scanning.model.policies import ScanPolicy
from voelgoed.scanning.model.refusals import (
    DeviceMismatch,
    InvalidTicketCodeFormat,
    InvalidTicketCodeLength,
    ScanIdReused,
    TimestampOutOfRange,
)
from voelgoed.scanning.model.scans import Scan
from voelgoed.scanning.rules.alerts import merge_suspicions

K = TypeVar("K", bound=Hashable)

DUPLICATES_FOR = timedelta(hours=1)
VELOCITY_FOR = timedelta(minutes=1)
ERRORS_FOR = timedelta(minutes=10)
ERRORS_SCANS_MIN = 20
"""With fewer scans nothing can be said about the device that made them."""
ERROR_REASONS: frozenset[Reason] = frozenset({"ticket_not_found"})
"""Forged barcodes are among them. Whoever is denied for another reason has a ticket, and the device read
it well."""
ERROR_REFUSALS = (
    InvalidTicketCodeFormat,
    InvalidTicketCodeLength,
    TimestampOutOfRange,
    ScanIdReused,
    DeviceMismatch,
)
"""A device without a gate is not among them, because that is not its doing, nor is a repeated
annulled admission."""
NEAR_CAPACITY_PERCENT = 90
SENT_ELSEWHERE: frozenset[Reason | None] = frozenset(
    {"wrong_event", "gate_closed", "wrong_gate", "gate_at_capacity"}
)
"""A person who is denied for one of these goes to another gate, as they should."""

SEVERITY: dict[AlertKind, Severity] = {
    "impossible_travel": "high",
    "repeated_duplicates": "high",
    "high_velocity": "low",
    "device_malfunction": "high",
    "ticket_not_found": "low",
    "forged_barcode": "critical",
    "clock_skew": "high",
    "gate_near_capacity": "high",
    "double_entry": "critical",
    "invalid_admission": "high",
    "high_error_rate_batch": "high",
    "delayed_batch_submission": "low",
    "batch_size_anomaly": "high",
    "future_timestamp": "high",
    "impossible_timestamp": "high",
    "clock_manipulation": "critical",
    "invalid_signature": "critical",
    "replayed_signature": "critical",
    "scan_id_reused": "high",
    "repeated_sync_failures": "high",
    "revoked_device_sync": "critical",
    "unverified_scans": "high",
    "foreign_gate": "critical",
    "impossible_rate": "critical",
}
SUBJECT: dict[AlertKind, SubjectType] = {
    "impossible_travel": "ticket",
    "repeated_duplicates": "ticket",
    "high_velocity": "gate",
    "device_malfunction": "device",
    "ticket_not_found": "device",
    "forged_barcode": "device",
    "clock_skew": "device",
    "gate_near_capacity": "gate",
    "double_entry": "ticket",
    "invalid_admission": "ticket",
    "high_error_rate_batch": "device",
    "delayed_batch_submission": "device",
    "batch_size_anomaly": "device",
    "future_timestamp": "device",
    "impossible_timestamp": "device",
    "clock_manipulation": "device",
    "invalid_signature": "device",
    "replayed_signature": "device",
    "scan_id_reused": "device",
    "repeated_sync_failures": "device",
    "revoked_device_sync": "device",
    "unverified_scans": "device",
    "foreign_gate": "device",
    "impossible_rate": "device",
}
BLOCKS: frozenset[AlertKind] = frozenset({"device_malfunction", "repeated_sync_failures"})
"""The findings for which a device is deactivated, where an event wants that. One forged ticket is
not among them; but anybody who shows many invalid codes can cause the others, so no event has it
unless asked for."""


@dataclass(slots=True)
class Span:
    """The first and the last scan of one subject in a round."""

    since: datetime
    last: Scan


class Subjects(msgspec.Struct, frozen=True, kw_only=True):
    """The subjects of a round that its scans alone are not enough to judge."""

    tickets: dict[UUID, Span]
    """Tickets that were seen before this round."""
    gates: dict[UUID, Span]
    erring: dict[UUID, DeviceError]
    """Devices that made an error just now, and the last of them. About the others nothing has become
    worse."""


def subjects_of(noted: Round) -> Subjects:
    tickets: dict[UUID, Span] = {}
    gates: dict[UUID, Span] = {}
    for scan in noted.scans:
        _add(gates, scan.gate_id, scan)
        if scan.ticket_id is not None and scan.source != "supervisor" and scan.entry_number != 1:
            _add(tickets, scan.ticket_id, scan)
    errors = [*noted.refused, *_errors_in(noted.scans)]
    errors.sort(key=lambda each: (each.at, each.gate_id))
    return Subjects(
        tickets=tickets, gates=gates, erring={error.device_id: error for error in errors}
    )


def _errors_in(scans: Iterable[Scan]) -> Iterator[DeviceError]:
    for scan in scans:
        if scan.device_id is not None and scan.reason_denied in ERROR_REASONS:
            yield DeviceError(
                event_id=scan.event_id,
                gate_id=scan.gate_id,
                device_id=scan.device_id,
                device_name=scan.device_name,
                gate_name=scan.gate_name,
                at=scan.scanned_at_canonical,
            )


def _add(spans: dict[K, Span], subject: K, scan: Scan) -> None:
    at, span = scan.scanned_at_canonical, spans.get(subject)
    if span is None:
        spans[subject] = Span(at, scan)
        return
    span.since = min(span.since, at)
    if (at, scan.id) > (span.last.scanned_at_canonical, span.last.id):
        span.last = scan


def questions_of(subjects: Subjects, policies: Mapping[UUID, ScanPolicy]) -> WatchQuestions:
    return WatchQuestions(
        tickets=[
            _ask_ticket(ticket_id, span, policies[span.last.event_id])
            for ticket_id, span in subjects.tickets.items()
        ],
        gates=[
            GateQuestion(
                gate_id=gate_id,
                since=span.last.scanned_at_canonical - VELOCITY_FOR,
                until=span.last.scanned_at_canonical,
                enough=policies[span.last.event_id].gate_scans_per_minute_max + 1,
            )
            for gate_id, span in subjects.gates.items()
        ],
        devices=[
            DeviceQuestion(device_id=device_id, gate_id=error.gate_id, since=error.at - ERRORS_FOR)
            for device_id, error in subjects.erring.items()
        ],
    )


def _ask_ticket(ticket_id: UUID, span: Span, policy: ScanPolicy) -> TicketQuestion:
    until = span.last.scanned_at_canonical
    return TicketQuestion(
        ticket_id=ticket_id,
        gate_id=span.last.gate_id,
        hour_since=until - DUPLICATES_FOR,
        travel_since=span.since - timedelta(seconds=policy.travel_s),
        until=until,
        enough=policy.duplicates_per_hour_max + 1,
    )


def suspicions_of(
    noted: Round, subjects: Subjects, policies: Mapping[UUID, ScanPolicy], findings: Findings
) -> list[Suspicion]:
    """One about each subject of each kind, which counts and lists all of them."""
    found = [
        *_impossible_travel(subjects, policies, findings),
        *_repeated_duplicates(noted, policies, findings),
        *_high_velocity(subjects, policies, findings),
        *_device_malfunction(subjects, policies, findings),
        *_unknown_tickets(noted),
        *_clock_skew(noted),
        *_gate_near_capacity(noted),
    ]
    found.sort(key=lambda each: (each.at, str(each.details)))
    return merge_suspicions(found)


def _impossible_travel(
    subjects: Subjects, policies: Mapping[UUID, ScanPolicy], findings: Findings
) -> Iterator[Suspicion]:
    seen: dict[UUID, list[Sighting]] = {}
    for sighting in findings.sightings:
        seen.setdefault(sighting.ticket_id, []).append(sighting)
    for ticket_id, sightings in seen.items():
        span = subjects.tickets[ticket_id]
        travel_s = policies[span.last.event_id].travel_s
        travelled = impossible_travel(sightings, span.since, travel_s)
        if travelled is not None:
            left, reached = travelled
            details: dict[str, object] = {
                "ticket_code": span.last.ticket_code,
                "from_gate": left.gate_name,
                "to_gate": reached.gate_name,
                "seconds": int((reached.at - left.at).total_seconds()),
            }
            yield _suspicion("impossible_travel", span.last, ticket_id, details)


def impossible_travel(
    sightings: Iterable[Sighting], since: datetime, travel_s: int
) -> tuple[Sighting, Sighting] | None:
    """The last two scans of a ticket, one after the other, that are at different gates and too close
    in time. A first entry is nobody's second: whoever was denied before has not been let in."""
    counted = [
        each
        for each in sightings
        if each.source != "supervisor" and each.reason not in SENT_ELSEWHERE
    ]
    counted.sort(key=lambda each: (each.at, each.id))
    for left, reached in reversed(list(pairwise(counted))):
        if (
            reached.at >= since
            and reached.entry_number != 1
            and left.gate_id != reached.gate_id
            and reached.at - left.at < timedelta(seconds=travel_s)
        ):
            return left, reached
    return None


def _repeated_duplicates(
    noted: Round, policies: Mapping[UUID, ScanPolicy], findings: Findings
) -> Iterator[Suspicion]:
    counts = {each.ticket_id: each.duplicates for each in findings.tickets}
    for scan in noted.scans:
        if scan.reason_denied != "already_scanned" or scan.ticket_id is None:
            continue
        most = policies[scan.event_id].duplicates_per_hour_max
        if counts.get(scan.ticket_id, 0) > most:
            details: dict[str, object] = {
                "ticket_code": scan.ticket_code,
                "gate_name": scan.gate_name,
                "duplicates_per_hour_max": most,
            }
            yield _suspicion("repeated_duplicates", scan, scan.ticket_id, details)


def _high_velocity(
    subjects: Subjects, policies: Mapping[UUID, ScanPolicy], findings: Findings
) -> Iterator[Suspicion]:
    for made in findings.gates:
        last = subjects.gates[made.gate_id].last
        most = policies[last.event_id].gate_scans_per_minute_max
        if made.count > most:
            details: dict[str, object] = {
                "gate_name": last.gate_name,
                "gate_scans_per_minute_max": most,
            }
            yield _suspicion("high_velocity", last, made.gate_id, details)


def _device_malfunction(
    subjects: Subjects, policies: Mapping[UUID, ScanPolicy], findings: Findings
) -> Iterator[Suspicion]:
    for made in findings.devices:
        last = subjects.erring[made.device_id]
        most = policies[last.event_id].device_error_rate_max
        if errs_too_often(made, most):
            details: dict[str, object] = {
                "device_name": last.device_name,
                "gate_name": last.gate_name,
                "scans": made.count,
                "errors": made.errors,
                "device_error_rate_max": most,
            }
            yield _about_device("device_malfunction", last, details)


def errs_too_often(made: DeviceCount, rate_max: float) -> bool:
    return made.count >= ERRORS_SCANS_MIN and made.errors / made.count > rate_max


def _unknown_tickets(noted: Round) -> Iterator[Suspicion]:
    """Somebody shows what is no ticket of ours: a code that nobody has, or somebody's code with a
    signature that is not ours."""
    for scan in noted.scans:
        if scan.reason_denied == "ticket_not_found" and scan.device_id is not None:
            details: dict[str, object] = {
                "ticket_code": scan.ticket_code,
                "device_name": scan.device_name,
                "gate_name": scan.gate_name,
            }
            is_forged = scan.id in noted.forged_ids
            kind: AlertKind = "forged_barcode" if is_forged else "ticket_not_found"
            yield _suspicion(kind, scan, scan.device_id, details)


def _clock_skew(noted: Round) -> Iterator[Suspicion]:
    for error in noted.refused:
        if error.diff_seconds is not None:
            details: dict[str, object] = {
                "device_name": error.device_name,
                "gate_name": error.gate_name,
                "diff_seconds": error.diff_seconds,
            }
            yield _about_device("clock_skew", error, details)


def _gate_near_capacity(noted: Round) -> Iterator[Suspicion]:
    for scan in noted.scans:
        current, capacity = scan.gate_current, scan.details.gate_capacity
        if scan.direction == "entry" and is_near_capacity(current, capacity):
            details: dict[str, object] = {
                "gate_name": scan.gate_name,
                "current": current,
                "capacity": capacity,
            }
            yield _suspicion("gate_near_capacity", scan, scan.gate_id, details)


def is_near_capacity(current: int | None, capacity: int | None) -> bool:
    if current is None or capacity is None:
        return False
    return current * 100 >= capacity * NEAR_CAPACITY_PERCENT


def _about_device(kind: AlertKind, error: DeviceError, details: dict[str, object]) -> Suspicion:
    return Suspicion(
        event_id=error.event_id,
        kind=kind,
        severity=SEVERITY[kind],
        subject_type=SUBJECT[kind],
        subject_id=error.device_id,
        at=error.at,
        details=details,
    )


def _suspicion(
    kind: AlertKind, scan: Scan, subject_id: UUID, details: dict[str, object]
) -> Suspicion:
    return Suspicion(
        event_id=scan.event_id,
        kind=kind,
        severity=SEVERITY[kind],
        subject_type=SUBJECT[kind],
        subject_id=subject_id,
        at=scan.scanned_at_canonical,
        details=details,
    )
