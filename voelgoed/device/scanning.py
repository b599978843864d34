"""A scan: the server is asked, and when it does not answer in time, or something else answers in its
place, the device decides.

One scan has one id, whichever way it goes. Whatever is said at the gate is on the disk before. What the
server may have heard without our hearing its answer is brought to it again with the others.
"""

from datetime import datetime, timedelta
from uuid import UUID

import msgspec
import structlog
from msgspec import UNSET, UnsetType

from voelgoed.device.client import Device
from voelgoed.device.ledger import signed
from voelgoed.device.link import require
from voelgoed.device.model import LoggedScan, NothingRead, ScanAnswer, ServerAway, SyncStatus
from voelgoed.scanning.model.decisions import Direction, Reason, Verdict
from voelgoed.scanning.model.offline import Decision, Shown, Undecided
from voelgoed.scanning.model.outcomes import Outcome
from voelgoed.scanning.model.scans import PRESENTED_MAX, Answer
from voelgoed.scanning.rules.answers import GOODBYE, WELCOME, WELCOME_BACK, denial_message
from voelgoed.scanning.rules.manifest import barcode_hash, moment_text
from voelgoed.scanning.rules.offline import decide_offline, lacking
from voelgoed.scanning.rules.outcomes import colour_of, outcome_of

log = structlog.get_logger()
SCANS = "/api/scans"
ONLINE_WAIT_S = 1.5
"""The longest wait of a person at a gate for a network."""
UNDECIDED_WAIT_S = 10.0
"""Unless the device could only say that it does not know."""
STOPS = (401, 403)
"""The device may not scan, alone or not."""
COMMITTED_AFTER = timedelta(seconds=2)
"""A scan that is answered was written by then. A manifest that was made in between may not know it."""
_UNDECIDED: dict[Undecided, tuple[Outcome, str]] = {
    "manifest_expired": ("expired", "✗ No network, and this device's manifest has expired."),
    "gate_unknown": (
        "gate_access_denied",
        "✗ No network, and this device's manifest does not know its gate.",
    ),
}
_NO_MANIFEST: tuple[Outcome, str] = (
    "invalid",
    "✗ No network, and this device has no manifest yet.",
)


class _Attempt(msgspec.Struct, frozen=True):
    scan_id: UUID
    text: str
    direction: Direction
    at: datetime
    """The moment by the device's clock."""


async def scan(
    device: Device, text: str, direction: Direction = "entry", *, offline: bool = False
) -> ScanAnswer:
    """`offline`: do not even ask."""
    text = text.encode(errors="replace").decode()
    if not text.strip():
        raise NothingRead()
    attempt = _Attempt(device.new_id(), text, direction, device.ledger.now())
    device.identity  # noqa: B018 (a device that is nobody's says so before anything else)
    if not offline:
        try:
            answer = await _ask(device, attempt)
            if answer is not None:
                return _heard(device, attempt, answer)
        except ServerAway:
            pass
    return decide_alone(device, attempt)


async def _ask(device: Device, attempt: _Attempt) -> Answer | None:
    """The server's answer; None where the device has to decide."""
    # The server takes no scan of another minute: a clock that is known to be wrong is put right for it.
    # What is signed, if the scan has to be brought later, is what the clock showed.
    at = device.clock.corrected(attempt.at) if device.clock.is_sure else attempt.at
    body = {
        "ticket_code": attempt.text[:PRESENTED_MAX],
        "device_id": device.identity.device_id,
        "scanned_at": moment_text(at),
        "scan_id": attempt.scan_id,
        "direction": attempt.direction,
    }
    sent = msgspec.json.encode(body)
    wait_s = _patience_s(device, attempt)
    answered = await device.ask_once("POST", SCANS, sent, wait_s=wait_s)
    if answered.is_rotation_demanded:
        await device.renew_key(answered, wait_s)
        answered = await device.ask_once("POST", SCANS, sent, wait_s=wait_s)
    if device.needs_next_key(answered):
        return None  # nobody at a gate waits for the new one
    if answered.status in (200, 404) or answered.status in STOPS or not answered.is_refusal_of_ours:
        return require(answered, 200, 404).read(Answer)
    # Nothing of ours, a clock that is minutes off, or whatever else the server cannot read: it is brought
    # with the others.
    server_time = answered.error.details.get("server_time")
    if isinstance(server_time, str):
        offset = datetime.fromisoformat(server_time) - attempt.at
        device.ledger.learn(offset.total_seconds(), answered.round_trip_s)
    return None


def _patience_s(device: Device, attempt: _Attempt) -> float:
    """The server may have let somebody in whom a device that knows nothing would send away."""
    if device.register is None:
        return UNDECIDED_WAIT_S
    at = device.clock.corrected(attempt.at)
    lacks = lacking(device.register, gate=device.gate, direction=attempt.direction, at=at)
    return ONLINE_WAIT_S if lacks is None else UNDECIDED_WAIT_S


def _heard(device: Device, attempt: _Attempt, answer: Answer) -> ScanAnswer:
    """The moment is the server's."""
    reason = None if isinstance(answer.reason, UnsetType) else answer.reason
    ticket_id = None if isinstance(answer.ticket_id, UnsetType) else answer.ticket_id
    entry = device.register.by_ticket.get(ticket_id) if device.register and ticket_id else None
    shown_hash = entry.barcode_hash if entry else barcode_hash(attempt.text)
    _record(device, attempt, outcome_of(reason), reason, ticket_id, shown_hash, answer.scanned_at)
    seat = answer.seat_info or None
    return ScanAnswer(
        scan_id=attempt.scan_id,
        outcome=outcome_of(reason),
        colour=colour_of(outcome_of(reason)),
        reason=reason,
        message=answer.message,
        is_offline=False,
        ticket_id=ticket_id,
        entry_number=None if isinstance(answer.entry_number, UnsetType) else answer.entry_number,
        left_at=None if isinstance(answer.left_at, UnsetType) else answer.left_at,
        may_return_at=None if isinstance(answer.may_return_at, UnsetType) else answer.may_return_at,
        shown=Shown(
            seat=_seat_text(seat.row, seat.seat_number) if seat else None,
            zone=seat.block_name if seat else None,
            notes=seat.notes if seat else [],
            last_scanned_at=None if answer.last_scanned_at is UNSET else answer.last_scanned_at,
            last_gate=None if answer.last_gate_name is UNSET else answer.last_gate_name,
        ),
    )


def _seat_text(row: str | None, number: str | None) -> str | None:
    return "-".join(part for part in (row, number) if part) or None


def decide_alone(device: Device, attempt: _Attempt) -> ScanAnswer:
    at = device.clock.corrected(attempt.at)
    decision: Decision | Undecided | None = None
    if device.register is not None:
        decision = decide_offline(
            device.register,
            attempt.text,
            gate=device.gate,
            direction=attempt.direction,
            at=at,
            own=device.ledger.own,
        )
    if isinstance(decision, Decision):
        verdict = decision.verdict
        reason = verdict.reason
        _record(
            device, attempt, decision.outcome, reason, decision.ticket_id, decision.barcode_hash
        )
        return ScanAnswer(
            scan_id=attempt.scan_id,
            outcome=decision.outcome,
            colour=decision.colour,
            reason=reason,
            message=_message(attempt.direction, at, verdict),
            is_offline=True,
            ticket_id=decision.ticket_id,
            entry_number=verdict.entry_number,
            left_at=verdict.left_at,
            may_return_at=verdict.may_return_at,
            shown=decision.shown,
        )
    outcome, message = _NO_MANIFEST if decision is None else _UNDECIDED[decision]
    _record(device, attempt, outcome, None, None, barcode_hash(attempt.text))
    return ScanAnswer(
        scan_id=attempt.scan_id,
        outcome=outcome,
        colour="red",
        reason=None,
        message=message,
        is_offline=True,
    )


def _message(direction: Direction, at: datetime, verdict: Verdict) -> str:
    if verdict.reason is not None:
        return denial_message(verdict.reason, at, verdict.left_at, verdict.may_return_at)
    if direction == "exit":
        return GOODBYE
    return WELCOME if verdict.entry_number == 1 else WELCOME_BACK


def _record(
    device: Device,
    attempt: _Attempt,
    outcome: Outcome,
    reason: Reason | None,
    ticket_id: UUID | None,
    shown_hash: str,
    heard_at: datetime | None = None,
) -> None:
    """`heard_at`: the moment of the scan as the server has it, if it answered."""
    status: SyncStatus = "pending" if heard_at is None else "synced"
    is_listed = device.register is not None and ticket_id in device.register.by_ticket
    logged = LoggedScan(
        scan_id=attempt.scan_id,
        ticket_id=ticket_id,
        barcode=attempt.text,
        barcode_hash=shown_hash,
        scanned_at=attempt.at,
        scanned_at_corrected=heard_at or device.clock.corrected(attempt.at),
        is_measured=device.clock.is_sure,
        gate_id=device.gate_id,
        direction=attempt.direction,
        outcome=outcome,
        reason=reason,
        ticket_code=None if is_listed else _sendable(attempt.text),
        signature="",
        sync_status=status,
        synced_at=heard_at and heard_at + COMMITTED_AFTER,
    )
    device.ledger.add(signed(logged, device.identity.api_key))
    _tell(device, logged)


def _tell(device: Device, scan: LoggedScan) -> None:
    """Logs for operators what the device decided itself, and the result of every scan."""
    about = {
        "device_id": str(device.identity.device_id),
        "scan_id": str(scan.scan_id),
        "gate_id": scan.gate_id,
        "direction": scan.direction,
        "outcome": scan.outcome,
        "reason": scan.reason,
    }
    if scan.sync_status == "pending":
        log.info("scan.local", **about)
    log.info("scan.valid" if scan.outcome == "valid" else "scan.invalid", **about)


def _sendable(text: str) -> str | None:
    """The text that the server can read; None for one that is known by its hash only."""
    return text if text and len(text) <= PRESENTED_MAX and "\0" not in text else None
