"""Online scans that came in together: decided one after the other, from facts that were read at once.

`decide` is a plain function: it reads no clock and waits for nothing. Whether somebody is let through
is decided by `rules/decision.py`, also where a cache's hint is all that is known of a ticket. A scan
that comes alone is a batch of one.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

import msgspec

from voelgoed.events.model import GateNotFound
from voelgoed.infra.refusal import Refusal
from voelgoed.scanning.model.admission import (
    AdmissionFacts,
    AdmissionPlan,
    CountsAhead,
    LastEntry,
    Override,
    Presented,
    ScanAuditEntry,
    ScanDecision,
    ScanRequest,
    TicketEntry,
)
from voelgoed.scanning.model.decisions import Attempt, EventFacts, Reason, TicketFacts, Verdict
from voelgoed.scanning.model.occupancy import Counted, KnownReset
from voelgoed.scanning.model.refusals import (
    DeviceMismatch,
    DeviceNotAssignedToGate,
    InvalidDeviceToken,
    OverrideNotAllowed,
    ScanAnnulled,
    ScanIdReused,
    TimestampOutOfRange,
)
from voelgoed.scanning.model.scans import CODE_KEPT_MAX, Scan, ScanDetails
from voelgoed.scanning.model.stations import (
    ScanningDevice,
    ScanningGate,
    Stations,
    WantedStations,
)
from voelgoed.scanning.rules import decision
from voelgoed.scanning.rules.devices import refusal_to_scan
from voelgoed.scanning.rules.facts import (
    attendance_of,
    come_in,
    event_facts,
    gate_facts,
    history_of,
    later,
    leave,
    ticket_facts,
)
from voelgoed.scanning.rules.presented import refusal_to_read
from voelgoed.scanning.rules.tally import GateCapacity, Move, Place, Tally
from voelgoed.ticketing.model.admissions import Attendance, ScannedTicket
from voelgoed.ticketing.rules.barcode import read_barcode, verify_barcode

CLOCK_SKEW_S_MAX = 300
DENIED_AHEAD = CountsAhead()
NO_DETAILS = ScanDetails()
ONE_AFTER_THE_OTHER = timedelta(microseconds=1)
NEVER_OVERRIDDEN: frozenset[Reason] = frozenset(
    {"ticket_not_found", "wrong_event", "barcode_revoked", "ticket_voided", "ticket_refunded"}
)
"""Nobody may be let in with such a ticket: its seat may be somebody else's by now."""


def decide(requests: Sequence[ScanRequest], facts: AdmissionFacts, now: datetime) -> AdmissionPlan:
    """Decides each request after those before it, a microsecond apart."""
    batch = _Batch(facts)
    for request in requests:
        batch.add(request, now)
        now += ONE_AFTER_THE_OTHER
    return batch.plan()


def stations_of(requests: Sequence[ScanRequest], hints: Mapping[str, LastEntry]) -> WantedStations:
    """The stations that requests name: devices by their keys, gates by supervisors and caches."""
    gate_ids = {hint.gate_id for hint in hints.values()}
    device_ids = set[UUID]()
    for request in requests:
        if isinstance(request.by, Override):
            gate_ids.add(request.by.gate_id)
        elif request.caller.id is not None:
            device_ids.add(request.caller.id)
    return WantedStations(frozenset(device_ids), frozenset(gate_ids))


def stations_behind(requests: Sequence[ScanRequest], facts: AdmissionFacts) -> WantedStations:
    """The stations that only the facts name: where known scans were made, and the events whose keys tell
    which barcode it is, where it is not the ticket's present one."""
    event_ids = {
        ticket.event_id
        for request in requests
        if (shown := request.presented) is not None
        and shown.barcode_hash is not None
        and (ticket := facts.tickets.get(shown.code)) is not None
        and ticket.barcode_hash != shown.barcode_hash
    }
    gate_ids = {scan.gate_id for scan in facts.known.values()}
    return WantedStations(
        gate_ids=frozenset(gate_ids - facts.gates.keys()),
        event_ids=frozenset(event_ids - facts.event_keys.keys()),
    )


def limited_gates(requests: Sequence[ScanRequest], stations: Stations) -> dict[UUID, UUID]:
    """The gates with a hard limit at the events that these requests are about, with their events."""
    if not stations.limited_gates:
        return {}
    gates = [stations.gates.get(gate_id) for gate_id in _gate_ids(requests, stations.devices)]
    event_ids = {gate.event_id for gate in gates if gate is not None}
    return {
        gate_id: event_id
        for gate_id, event_id in stations.limited_gates.items()
        if event_id in event_ids
    }


def gates_of(requests: Sequence[ScanRequest], facts: AdmissionFacts) -> list[ScanningGate]:
    """The gates that these requests, and the scans that are known by their ids, are about."""
    ids = _gate_ids(requests, facts.devices)
    ids.update(scan.gate_id for scan in facts.known.values())
    return [facts.gates[gate_id] for gate_id in ids if gate_id in facts.gates]


def _gate_ids(requests: Sequence[ScanRequest], devices: Mapping[UUID, ScanningDevice]) -> set[UUID]:
    ids = set[UUID]()
    for request in requests:
        if isinstance(request.by, Override):
            ids.add(request.by.gate_id)
            continue
        device = devices.get(request.caller.id) if request.caller.id else None
        if device is not None and device.gate_id is not None:
            ids.add(device.gate_id)
    return ids


def with_counts(plan: AdmissionPlan, counts: Sequence[Counted]) -> list[ScanDecision]:
    """The plan's decisions, with who was inside after each admission, by the counts as written."""
    inside = {(each.scope_id, each.day): each.inside for each in counts if each.scope != "zone"}
    scans: dict[UUID, Scan] = {}
    for scan, ahead in zip(plan.scans, plan.ahead, strict=True):
        if ahead.at_gate is not None and ahead.at_event is not None:
            assert scan.day is not None
            scans[scan.id] = msgspec.structs.replace(
                scan,
                gate_current=max(inside[scan.gate_id, scan.day] - ahead.at_gate, 0),
                event_current=max(inside[scan.event_id, scan.day] - ahead.at_event, 0),
            )
    return [
        msgspec.structs.replace(each, scan=scans[each.request.scan_id])
        if each.scan is not None and each.request.scan_id in scans
        else each
        for each in plan.decisions
    ]


class _Gate(msgspec.Struct, frozen=True):
    kept: ScanningGate
    event: EventFacts


class _Ticket(msgspec.Struct):
    """A ticket, with what this batch did to it."""

    kept: ScannedTicket
    facts: TicketFacts
    attendance: Attendance
    last_gate_name: str | None
    is_moved: bool = False


class _Batch:
    """The results of the requests so far."""

    def __init__(self, facts: AdmissionFacts) -> None:
        self._facts = facts
        self._gates: dict[UUID, _Gate] = {}
        self._tickets: dict[str, _Ticket] = {}
        self._tally = Tally()
        self._capacity = GateCapacity(self._tally)
        self._decisions: list[ScanDecision] = []
        self._made: dict[UUID, ScanDecision] = {}
        self._moves: list[bool] = []
        """Whether somebody passed, for each new scan."""
        self._audit: list[ScanAuditEntry] = []
        self._entries: list[TicketEntry] = []
        self._exits: list[str] = []
        self._needs_tickets: set[str] = set()
        self._contested: dict[UUID, list[UUID]] = {}

    def add(self, request: ScanRequest, now: datetime) -> None:
        decided = self._answer(request, now)
        if isinstance(decided, Refusal):
            self._audit.append(_audit_of_refusal(request, decided))
            decided = ScanDecision(request, decided)
        self._decisions.append(decided)

    def plan(self) -> AdmissionPlan:
        ahead = iter(self._tally.ahead())
        scans = [each.scan for each in self._made.values() if each.scan is not None]
        return AdmissionPlan(
            decisions=self._decisions,
            needs_tickets=frozenset(self._needs_tickets),
            attendance=[each.attendance for each in self._tickets.values() if each.is_moved],
            counts=self._tally.changes(),
            capacity=self._capacity.afterwards(),
            earliest=_earliest(scans),
            scans=scans,
            ahead=[
                self._ahead_of(scan, *next(ahead)) if moved else DENIED_AHEAD
                for scan, moved in zip(scans, self._moves, strict=True)
            ],
            audit=self._audit,
            entries=self._entries,
            exits=self._exits,
            contested=self._contested,
        )

    def _ahead_of(self, scan: Scan, at_gate: int, at_event: int) -> CountsAhead:
        """Includes the people of earlier days who were not seen leaving, where there is a limit."""
        by_gate = self._facts.inside.get(scan.gate_id, {})
        by_event = self._facts.carried.get(scan.event_id, {})
        return CountsAhead(
            at_gate - _before(by_gate, scan.day), at_event - _before(by_event, scan.day)
        )

    def _answer(self, request: ScanRequest, now: datetime) -> ScanDecision | Refusal:
        device = self._device_of(request)
        if isinstance(device, Refusal):
            return device
        if (known := self._known(request)) is not None:
            return known
        return self._decide_new(request, device, now)

    def _device_of(self, request: ScanRequest) -> ScanningDevice | None | Refusal:
        """The device that sent the request; None where a supervisor acts without one."""
        by, caller_id = request.by, request.caller.id
        if isinstance(by, Override):
            return None
        device = self._facts.devices.get(caller_id) if caller_id else None
        if device is None:
            return InvalidDeviceToken()
        if (refusal := refusal_to_scan(device, by.key_version)) is not None:
            return refusal
        return device if by.named_device_id == device.id else DeviceMismatch()

    def _known(self, request: ScanRequest) -> ScanDecision | Refusal | None:
        """Before any rule: a scan that was answered, or is about to be, is answered so again."""
        same = (request.caller.id, _code_of(request), request.direction)
        if (twin := self._made.get(request.scan_id)) is not None:
            first = twin.request
            if same != (first.caller.id, _code_of(first), first.direction):
                return ScanIdReused()
            return ScanDecision(request, None, twin.scan, twin.gate, twin.place)
        if (scan := self._facts.known.get(request.scan_id)) is not None:
            if same != (scan.device_id or scan.actor_id, scan.ticket_code, scan.direction):
                return ScanIdReused()
            if scan.is_annulled:
                return ScanAnnulled()
            gate = self._facts.gates.get(scan.gate_id)
            return ScanDecision(request, None, scan, gate, scan.place)
        return None

    def _decide_new(
        self, request: ScanRequest, device: ScanningDevice | None, now: datetime
    ) -> ScanDecision | Refusal:
        gate = self._gate_of(request, device)
        if isinstance(gate, Refusal):
            return gate
        presented = _presented_in(request)
        if isinstance(presented, Refusal):
            return presented
        hint = self._facts.hints.get(presented.code)
        if hint is None:
            return self._decide(request, gate, presented, now)
        if (denied := self._deny_by_hint(request, gate, presented, hint, now)) is None:
            self._needs_tickets.add(presented.code)
            return ScanDecision(request)
        return denied

    def _gate_of(self, request: ScanRequest, device: ScanningDevice | None) -> _Gate | Refusal:
        by = request.by
        gate_id = by.gate_id if isinstance(by, Override) else device and device.gate_id
        if gate_id is None:
            return DeviceNotAssignedToGate()
        gate = self._gates.get(gate_id)
        if gate is None:
            kept = self._facts.gates.get(gate_id)
            if kept is None:
                return GateNotFound()
            gate = _Gate(kept, event_facts(kept, self._facts.days[kept.event_id]))
            self._gates[gate_id] = gate
        return gate

    def _decide(
        self, request: ScanRequest, gate: _Gate, presented: Presented, now: datetime
    ) -> ScanDecision | Refusal:
        ticket, issue, is_forged = self._ticket_of(presented.code), None, False
        if ticket is not None and presented.barcode_hash is not None:
            issue = self._issue_of(ticket.kept, presented)
            is_forged = issue is None
        if ticket is None or is_forged:
            verdict = _judge(request, gate, None, None, None, now, 0)
            if isinstance(request.by, Override):
                return OverrideNotAllowed(reason=verdict.reason)
            scan = self._scan_of(request, gate.kept, verdict, now)
            return self._made_of(request, scan, gate.kept, is_forged=is_forged)
        before = ticket.attendance
        at = later(now, before, self._facts.resets.get(gate.kept.event_id))
        day = _day_of(gate.event, at)
        inside = self._inside_of(gate.kept)
        verdict, overridden = _judge(request, gate, ticket.facts, issue, before, at, inside), None
        if verdict.reason is not None and isinstance(request.by, Override):
            if verdict.reason in NEVER_OVERRIDDEN:
                return OverrideNotAllowed(reason=verdict.reason)
            overridden, verdict = verdict.reason, _admitted(request, before, day)
        kept = ticket.kept
        if verdict.status == "denied":
            details = _details_of_denial(verdict, before, ticket.last_gate_name, gate.kept, inside)
            scan = self._scan_of(request, gate.kept, verdict, at, kept, details)
            return self._made_of(request, scan, gate.kept)
        details = _details_of_admission(request, gate.kept, overridden)
        scan = self._scan_of(request, gate.kept, verdict, at, kept, details, day)
        self._admit(scan, gate, ticket, day)
        return self._made_of(request, scan, gate.kept, ticket=kept, before=before)

    def _ticket_of(self, code: str) -> _Ticket | None:
        ticket = self._tickets.get(code)
        if ticket is None and (kept := self._facts.tickets.get(code)) is not None:
            ticket = _Ticket(kept, ticket_facts(kept), attendance_of(kept), kept.last_gate_name)
            self._tickets[code] = ticket
        return ticket

    def _issue_of(self, ticket: ScannedTicket, presented: Presented) -> int | None:
        """Which of the ticket's barcodes it is; None where it is forged."""
        if presented.barcode_hash == ticket.barcode_hash:
            return ticket.issue
        barcode = read_barcode(presented.text)
        if barcode is None or barcode.fields.ticket_id != ticket.id:
            return None
        keys = self._facts.event_keys.get(ticket.event_id, {})
        return barcode.fields.issue if verify_barcode(barcode, ticket.event_id, keys) else None

    def _inside_of(self, gate: ScanningGate) -> int:
        """The people inside, including those who came and went in this batch and those of earlier
        days who were not seen leaving; only counted where there is a limit."""
        if gate.hard_capacity_limit is None:
            return 0
        read = self._facts.inside.get(gate.id, {})
        return sum(read.values()) + self._tally.inside_by(gate.id)

    def _admit(self, scan: Scan, gate: _Gate, ticket: _Ticket, day: dt.date) -> None:
        kept, before, at = gate.kept, ticket.attendance, scan.scanned_at_canonical
        is_entry = scan.direction == "entry"
        here = self._tally.presence(kept.event_id, day, kept.id, ticket.kept.zone_id)
        is_irregular = not is_entry and not before.is_inside
        self._tally.add(
            Move(here, self._presence_of(ticket.kept, before, scan), is_entry, is_irregular)
        )
        if ticket.kept.irregular:
            self._contested.setdefault(ticket.kept.id, []).append(scan.id)
        if is_entry:
            is_added = not before.is_inside or before.last_gate_id != kept.id
            is_asked = scan.details.overridden is None and kept.hard_capacity_limit is not None
            if is_asked and is_added:
                self._capacity.let_in(kept.event_id, kept.id, day, self._left_for(kept, day))
            ticket.attendance = come_in(before, at, kept.id, day)
            ticket.last_gate_name = kept.name
            # A used ticket that was let in by hand is denied as used the next time, not as scanned.
            if ticket.kept.status in ("active", "scanned"):
                window_s = gate.event.dedup_window_s
                self._entries.append(TicketEntry(scan, ticket.kept.barcode_hash, window_s))
        else:
            ticket.attendance = leave(before, at)
            self._exits.append(scan.ticket_code)
        ticket.is_moved = True

    def _left_for(self, gate: ScanningGate, day: dt.date) -> int:
        """The number of people who come today that may be inside by a gate with a limit."""
        assert gate.hard_capacity_limit is not None
        of_today = self._facts.inside.get(gate.id, {}).get(day, 0) + self._tally.inside(
            gate.event_id, gate.id, day
        )
        return gate.hard_capacity_limit - (self._inside_of(gate) - of_today)

    def _presence_of(
        self, ticket: ScannedTicket, attendance: Attendance, scan: Scan
    ) -> Sequence[Place]:
        """The place where a person who comes in again, or leaves, counts as inside: the holder's,
        or, where only people without a right to are inside, that of the first of them."""
        if not attendance.is_inside:
            heads = attendance.irregular[0] if attendance.irregular else None
            if scan.direction == "entry" or heads is None or not heads.count:
                return ()
            return self._tally.presence(ticket.event_id, heads.day, heads.gate_id, heads.zone_id)
        assert attendance.last_entry_day is not None
        assert attendance.last_gate_id is not None
        return self._tally.presence(
            ticket.event_id, attendance.last_entry_day, attendance.last_gate_id, ticket.zone_id
        )

    def _deny_by_hint(
        self,
        request: ScanRequest,
        gate: _Gate,
        presented: Presented,
        remembered: LastEntry,
        now: datetime,
    ) -> ScanDecision | None:
        """None where what a cache remembers is not enough for the rule to deny by."""
        hint = self._completed(remembered, presented, gate.kept)
        ticket = _ticket_by_hint(hint)
        if ticket is None or presented.barcode_hash not in (None, hint.barcode_hash):
            return None
        before = _attendance_by_hint(hint, ticket.id, _day_of(gate.event, hint.scan_at))
        at = later(now, before)
        verdict = _judge(request, gate, ticket, None, before, at, 0)
        if verdict.reason != "already_scanned" or isinstance(request.by, Override):
            return None
        details = msgspec.structs.replace(
            _details_of_denial(verdict, before, hint.gate_name, gate.kept, 0), tier=hint.tier
        )
        scan = self._scan_of(request, gate.kept, verdict, at, hint, details)
        return self._made_of(request, scan, gate.kept)

    def _completed(self, hint: LastEntry, presented: Presented, gate: ScanningGate) -> LastEntry:
        """Redis knows neither ticket nor event; a barcode that is genuine does."""
        named = self._facts.gates.get(hint.gate_id)
        if hint.tier == "hot" or named is None or named.event_id != gate.event_id:
            return hint
        barcode = read_barcode(presented.text)
        keys = self._facts.event_keys.get(gate.event_id, {})
        if barcode is None or not verify_barcode(barcode, gate.event_id, keys):
            return hint
        return msgspec.structs.replace(
            hint,
            ticket_id=barcode.fields.ticket_id,
            event_id=gate.event_id,
            gate_name=named.name,
            barcode_hash=presented.barcode_hash,
        )

    def _scan_of(
        self,
        request: ScanRequest,
        gate: ScanningGate,
        verdict: Verdict,
        at: datetime,
        ticket: ScannedTicket | LastEntry | None = None,
        details: ScanDetails = NO_DETAILS,
        day: dt.date | None = None,
    ) -> Scan:
        """The row of what was decided. Who is inside then is known when it is written."""
        device = None
        if not isinstance(request.by, Override) and request.caller.id is not None:
            device = self._facts.devices[request.caller.id]
        return Scan(
            id=request.scan_id,
            event_id=gate.event_id,
            ticket_id=ticket.ticket_id if isinstance(ticket, LastEntry) else ticket and ticket.id,
            ticket_code=_code_of(request),
            device_id=device and device.id,
            actor_id=None if device else request.caller.id,
            gate_id=gate.id,
            direction=request.direction,
            status=verdict.status,
            reason_denied=verdict.reason,
            scanned_at=request.scanned_at,
            scanned_at_canonical=at,
            day=day,
            zone_id=ticket and ticket.zone_id,
            entry_number=verdict.entry_number,
            gate_name=gate.name,
            device_name=device.name if device else "",
            source="online" if device else "supervisor",
            details=details,
        )

    def _made_of(
        self,
        request: ScanRequest,
        scan: Scan,
        gate: ScanningGate,
        *,
        ticket: ScannedTicket | None = None,
        before: Attendance | None = None,
        is_forged: bool = False,
    ) -> ScanDecision:
        """A new scan; with the ticket of an admission, and what was known of it before."""
        made = ScanDecision(request, None, scan, gate, ticket, True, is_forged)
        self._made[scan.id] = made
        self._moves.append(ticket is not None)
        self._audit.append(_audit_of_scan(request, scan, before))
        return made


def _before(inside: Mapping[dt.date, int], day: dt.date | None) -> int:
    return sum(count for each, count in inside.items() if day is not None and each < day)


def _earliest(scans: Sequence[Scan]) -> list[KnownReset]:
    """The moment of the first admission, by event."""
    found: dict[UUID, datetime] = {}
    for scan in scans:
        if scan.status == "admitted":
            found.setdefault(scan.event_id, scan.scanned_at_canonical)
    return [KnownReset(event_id, at) for event_id, at in found.items()]


def _code_of(request: ScanRequest) -> str:
    """The ticket code as the scan's row keeps it."""
    return request.presented.code if request.presented else request.text[:CODE_KEPT_MAX]


def _presented_in(request: ScanRequest) -> Presented | Refusal:
    ahead = (request.received_at - request.scanned_at).total_seconds()
    if abs(ahead) > CLOCK_SKEW_S_MAX:
        return TimestampOutOfRange(
            server_time=request.received_at.isoformat(),
            device_time=request.scanned_at.isoformat(),
            diff_seconds=round(ahead),
        )
    return request.presented or refusal_to_read(request.text)


def _judge(
    request: ScanRequest,
    gate: _Gate,
    ticket: TicketFacts | None,
    issue: int | None,
    before: Attendance | None,
    at: datetime,
    inside: int,
) -> Verdict:
    return decision.decide(
        decision.Case(
            attempt=Attempt(at=at, direction=request.direction, issue=issue),
            event=gate.event,
            gate=gate_facts(gate.kept, inside),
            ticket=ticket,
            history=history_of(before),
        )
    )


def _day_of(event: EventFacts, at: datetime) -> dt.date:
    day = decision.day_of(event.days, at)
    assert day is not None, "every event has a day"
    return dt.date.fromisoformat(day)


def _admitted(request: ScanRequest, before: Attendance, day: dt.date) -> Verdict:
    """The verdict of a supervisor who lets somebody through, whatever the rule says."""
    if request.direction == "exit":
        return Verdict(status="admitted")
    return Verdict(status="admitted", entry_number=before.scan_count + 1, day=day.isoformat())


def _ticket_by_hint(hint: LastEntry) -> TicketFacts | None:
    """A ticket that was valid and just came in, as far as a cache knows: whatever changes a ticket
    drops its hint. None where the hint does not say which ticket it is."""
    if hint.ticket_id is None or hint.event_id is None:
        return None
    return TicketFacts(
        id=hint.ticket_id,
        event_id=hint.event_id,
        status="scanned",
        issue=1,
        zone_id=hint.zone_id,
        days=[],
        entry_limit=None,
        max_daily_entries=None,
        gate_ids=None,
        reentry="allowed",
        is_membership_active=None,
    )


def _attendance_by_hint(hint: LastEntry, ticket_id: UUID, day: dt.date) -> Attendance:
    return Attendance(
        id=ticket_id,
        status="scanned",
        scanned_at=hint.scan_at,
        last_scanned_at=hint.scan_at,
        last_exit_at=None,
        last_gate_id=hint.gate_id,
        last_entry_day=day,
        day_entries=1,
        is_inside=True,
        scan_count=1,
        irregular=[],
        seen=None,
    )


def _details_of_denial(
    verdict: Verdict,
    before: Attendance,
    last_gate_name: str | None,
    gate: ScanningGate,
    inside: int,
) -> ScanDetails:
    is_full = verdict.reason == "gate_at_capacity"
    return ScanDetails(
        gate_capacity=gate.hard_capacity_limit if is_full else None,
        gate_current=inside if is_full else None,
        event_status=gate.event_status if verdict.reason == "event_not_live" else None,
        last_scanned_at=before.last_scanned_at,
        seconds_since_last_scan=verdict.seconds_since_last_scan,
        last_gate_name=last_gate_name if before.last_scanned_at else None,
        left_at=verdict.left_at,
        may_return_at=verdict.may_return_at,
    )


def _details_of_admission(
    request: ScanRequest, gate: ScanningGate, overridden: Reason | None
) -> ScanDetails:
    return ScanDetails(
        gate_capacity=_capacity_of(gate),
        event_capacity=gate.event_capacity,
        overridden=overridden,
        override_reason=request.by.reason if isinstance(request.by, Override) else None,
    )


def _capacity_of(gate: ScanningGate) -> int | None:
    """The lower of what the gate is meant for and what is enforced."""
    if gate.capacity is None or gate.hard_capacity_limit is None:
        return gate.hard_capacity_limit if gate.capacity is None else gate.capacity
    return min(gate.capacity, gate.hard_capacity_limit)


def _audit_of_refusal(request: ScanRequest, refusal: Refusal) -> ScanAuditEntry:
    changes: dict[str, object] = {"ticket_code": _code_of(request), "error": refusal.code}
    return _audit(request, "scan_refused", changes)


def _audit_of_scan(request: ScanRequest, scan: Scan, before: Attendance | None) -> ScanAuditEntry:
    """`before` is what was known of the ticket before its admission."""
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
    if before is None:
        changes["reason"] = scan.reason_denied
        return _audit(request, "ticket_scan_denied", changes)
    changes["scan_count"] = scan.entry_number or before.scan_count
    if isinstance(request.by, Override):
        changes["overridden"], changes["reason"] = scan.details.overridden, request.by.reason
        return _audit(request, "ticket_admitted_by_hand", changes)
    return _audit(request, "ticket_scanned", changes)


def _audit(request: ScanRequest, action: str, changes: dict[str, object]) -> ScanAuditEntry:
    caller = request.caller
    return ScanAuditEntry(
        request.audit_id,
        caller.kind,
        caller.id,
        action,
        request.scan_id,
        changes,
        caller.ip,
        caller.user_agent,
    )
