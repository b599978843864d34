"""What a device or a supervisor wants, and what becomes of it."""

import datetime as dt
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.accounts.model import Caller, NewAuditEntry
from voelgoed.infra.refusal import Refusal
from voelgoed.scanning.actions.last_scans import LastScan
from voelgoed.scanning.model.decisions import Direction, Reason, Verdict
from voelgoed.scanning.model.scans import CODE_KEPT_MAX, Scan, ScanDetails
from voelgoed.scanning.model.stations import ScanningGate
from voelgoed.scanning.rules.presented import Presented
from voelgoed.scanning.rules.tally import Move
from voelgoed.ticketing.model.admissions import Attendance, ScannedTicket, TicketPlace


class Credential(msgspec.Struct, frozen=True):
    """What a device proved, and what it says it is."""

    key_version: int
    named_device_id: UUID


class Override(msgspec.Struct, frozen=True):
    """A supervisor lets somebody through at a gate, whatever the rule says."""

    gate_id: UUID
    reason: str


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    caller: Caller
    by: Credential | Override
    scan_id: UUID
    given: str
    presented: Presented | None
    """None: nothing of ours."""
    direction: Direction
    scanned_at: datetime
    received_at: datetime
    last: LastScan | None = None
    """What a cache remembers of its ticket, for an entry that it may deny."""

    @property
    def code(self) -> str:
        return self.presented.code if self.presented else self.given[:CODE_KEPT_MAX]


@dataclass(slots=True)
class Outcome:
    """A refusal, or a decision and the scan that keeps it."""

    wanted: Wanted
    refusal: Refusal | None = None
    gate: ScanningGate | None = None
    device_name: str = ""
    ticket: ScannedTicket | None = None
    is_forged: bool = False
    last: LastScan | None = None
    """By which a cache denied it."""
    before: Attendance | None = None
    """What was known of the ticket until then."""
    last_gate_name: str | None = None
    verdict: Verdict | None = None
    overridden: Reason | None = None
    at: datetime | None = None
    today: dt.date | None = None
    move: Move | None = None
    place: TicketPlace | None = None
    is_new: bool = False
    twin: "Outcome | None" = None
    """The same scan, sent twice at the same time."""
    scan: Scan | None = None


def scan_of(outcome: Outcome) -> Scan:
    """The row of what was decided just now; who is inside then is known when it is written."""
    wanted, gate, verdict, last = outcome.wanted, outcome.gate, outcome.verdict, outcome.last
    assert gate is not None
    assert verdict is not None
    assert outcome.at is not None
    ticket, by_device = outcome.ticket, isinstance(wanted.by, Credential)
    place = ticket or last
    return Scan(
        id=wanted.scan_id,
        event_id=gate.event_id,
        ticket_id=ticket.id if ticket else last and last.ticket_id,
        ticket_code=wanted.code,
        device_id=wanted.caller.id if by_device else None,
        actor_id=None if by_device else wanted.caller.id,
        gate_id=gate.id,
        direction=wanted.direction,
        status=verdict.status,
        reason_denied=verdict.reason,
        scanned_at=wanted.scanned_at,
        scanned_at_canonical=outcome.at,
        day=outcome.today if outcome.move else None,
        zone_id=place and place.zone_id,
        entry_number=verdict.entry_number,
        gate_name=gate.name,
        device_name=outcome.device_name,
        source="online" if by_device else "supervisor",
        details=_admission(outcome, gate) if outcome.move else _denial(outcome, verdict),
    )


def _denial(outcome: Outcome, verdict: Verdict) -> ScanDetails:
    last, before = outcome.last, outcome.before
    if last is not None:
        return ScanDetails(
            last_scanned_at=last.scan_at,
            seconds_since_last_scan=verdict.seconds_since_last_scan,
            last_gate_name=last.gate_name,
            tier=last.tier,
        )
    if before is None or before.last_scanned_at is None:
        return ScanDetails()
    return ScanDetails(
        last_scanned_at=before.last_scanned_at,
        seconds_since_last_scan=verdict.seconds_since_last_scan,
        last_gate_name=outcome.last_gate_name,
        left_at=verdict.left_at,
        may_return_at=verdict.may_return_at,
    )


def _admission(outcome: Outcome, gate: ScanningGate) -> ScanDetails:
    by = outcome.wanted.by
    return ScanDetails(
        gate_capacity=min(gate.limits, default=None),
        event_capacity=gate.event_capacity,
        overridden=outcome.overridden,
        override_reason=by.reason if isinstance(by, Override) else None,
    )


def audit_entry_of(outcome: Outcome) -> NewAuditEntry | None:
    """For the audit log. What was answered before is in it already."""
    wanted, scan = outcome.wanted, outcome.scan
    if outcome.refusal is not None:
        refused: dict[str, object] = {"ticket_code": wanted.code, "error": outcome.refusal.code}
        return NewAuditEntry(wanted.caller, "scan_refused", "Scan", wanted.scan_id, refused)
    if scan is None or not outcome.is_new:
        return None
    changes: dict[str, object] = {
        "ticket_id": scan.ticket_id,
        "ticket_code": scan.ticket_code,
        "gate_id": scan.gate_id,
        "gate_name": scan.gate_name,
        "device_id": scan.device_id,
        "device_name": scan.device_name,
        "direction": scan.direction,
        "status": scan.status,
    }
    if scan.status == "denied":
        changes["reason"] = scan.reason_denied
        return NewAuditEntry(wanted.caller, "ticket_scan_denied", "Scan", scan.id, changes)
    assert outcome.before is not None
    changes["scan_count"] = scan.entry_number or outcome.before.scan_count
    if isinstance(wanted.by, Override):
        changes["overridden"], changes["reason"] = outcome.overridden, wanted.by.reason
        return NewAuditEntry(wanted.caller, "ticket_admitted_by_hand", "Scan", scan.id, changes)
    return NewAuditEntry(wanted.caller, "ticket_scanned", "Scan", scan.id, changes)
