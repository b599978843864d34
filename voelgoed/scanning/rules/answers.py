"""The answers to scans. A scan that is sent again gets the same words."""

import math
from datetime import datetime

from msgspec import UNSET, UnsetType

from voelgoed.scanning.model.decisions import Reason
from voelgoed.scanning.model.scans import (
    Answer,
    GateInfo,
    OccupancyInfo,
    Scan,
    ScanWarning,
    SeatInfo,
)

MINUTE_S = 60
HOUR_S = 3600
WELCOME = "✓ Entry permitted. Welcome!"
WELCOME_BACK = "✓ Entry permitted. Welcome back!"
GOODBYE = "✓ Exit recorded. Goodbye!"
DENIED: dict[Reason, str] = {
    "ticket_not_found": "✗ No such ticket. Access denied.",
    "wrong_event": "✗ This ticket is for another event.",
    "barcode_revoked": "✗ This barcode was replaced by a newer one. Ask for the new ticket.",
    "ticket_already_used": "✗ Ticket already used.",
    "ticket_voided": "✗ Ticket voided. Send to the box office.",
    "ticket_refunded": "✗ Ticket refunded. Send to the box office.",
    "already_scanned": "✗ Ticket already scanned. Access denied.",
    "event_not_live": "✗ Event inactive.",
    "event_ended": "✗ The event has ended.",
    "gate_closed": "✗ This gate is closed.",
    "wrong_gate": "✗ Not at this gate. Show the way to the right one.",
    "not_valid_today": "✗ Ticket not valid today.",
    "membership_not_active": "✗ The membership behind this ticket is not active.",
    "reentry_not_allowed": "✗ No re-entry with this ticket.",
    "exit_required": "✗ Already inside: no exit was scanned.",
    "entry_limit_reached": "✗ All entries of this ticket are used.",
    "daily_limit_reached": "✗ All entries of this ticket for today are used.",
    "gate_at_capacity": "✗ Gate full. Send to another gate.",
    "not_inside": "✗ Not inside: no entry, or already left.",
    "unverified": "✗ This scan waits for review.",
}


def denial_message(
    reason: Reason, at: datetime, left_at: datetime | None, may_return_at: datetime | None
) -> str:
    """It has durations, not clock times: the gate may be in another time zone than the server."""
    sentences = [DENIED[reason]]
    if left_at is not None:
        sentences.append(f"Left {_duration((at - left_at).total_seconds())} ago.")
    if may_return_at is not None:
        sentences.append(f"May return in {_duration((may_return_at - at).total_seconds())}.")
    return " ".join(sentences)


def _duration(seconds: float) -> str:
    """The duration is rounded up, so that a person who comes back after it is not too early."""
    whole = math.ceil(max(seconds, 0))
    if whole <= 2 * MINUTE_S:
        return f"{whole} s"
    if whole <= 2 * HOUR_S:
        return f"{math.ceil(whole / MINUTE_S)} min"
    return f"{math.ceil(whole / HOUR_S)} h"


def percent_full(current: int, capacity: int) -> int:
    return 100 * current // capacity


def answer_of(scan: Scan, seat: SeatInfo | None, sent_id: str) -> Answer:
    """`sent_id` is the scan's id as the request had it."""
    if scan.status == "denied":
        return _denied(scan, sent_id)
    details = scan.details
    assert scan.ticket_id is not None
    return Answer(
        status=scan.status,
        scan_id=sent_id,
        direction=scan.direction,
        ticket_code=scan.ticket_code,
        ticket_id=scan.ticket_id,
        entry_number=UNSET if scan.entry_number is None else scan.entry_number,
        seat_info=seat,
        gate=GateInfo(gate_id=scan.gate_id, gate_name=scan.gate_name),
        scanned_at=scan.scanned_at_canonical,
        occupancy=OccupancyInfo(
            gate_current=scan.gate_current or 0,
            gate_capacity=details.gate_capacity,
            event_current=scan.event_current or 0,
            event_capacity=details.event_capacity or 0,
            percent_full=percent_full(scan.event_current or 0, details.event_capacity or 1),
        ),
        message=_welcome(scan),
        warning=warning_of(scan) or UNSET,
    )


def warning_of(scan: Scan) -> ScanWarning | None:
    """The warning of an admission. A gate's capacity is not enforced, unlike its hard limit."""
    current, capacity = scan.gate_current, scan.details.gate_capacity
    if scan.direction == "exit" or current is None or capacity is None:
        return None
    return "gate_over_capacity" if current > capacity else None


def _welcome(scan: Scan) -> str:
    if scan.direction == "exit":
        return GOODBYE
    return WELCOME if scan.entry_number == 1 else WELCOME_BACK


def _denied(scan: Scan, sent_id: str) -> Answer:
    assert scan.reason_denied is not None
    details = scan.details
    return Answer(
        status=scan.status,
        reason=scan.reason_denied,
        scan_id=sent_id,
        direction=scan.direction,
        ticket_code=scan.ticket_code,
        scanned_at=scan.scanned_at_canonical,
        last_scanned_at=details.last_scanned_at or UNSET,
        seconds_since_last_scan=_given(details.seconds_since_last_scan),
        last_gate_name=details.last_gate_name or UNSET,
        left_at=details.left_at or UNSET,
        may_return_at=details.may_return_at or UNSET,
        capacity=_given(details.gate_capacity),
        current=_given(details.gate_current),
        current_status=details.event_status or UNSET,
        expected="live" if details.event_status else UNSET,
        message=denial_message(
            scan.reason_denied, scan.scanned_at_canonical, details.left_at, details.may_return_at
        ),
    )


def _given(number: int | None) -> int | UnsetType:
    return UNSET if number is None else number
