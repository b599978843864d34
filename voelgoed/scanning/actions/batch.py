"""The admission core: scans that came in together, one transaction.

Read what the decisions need, with the tickets locked; let the rule decide each scan after those
before it; write all of it. A scan that comes alone is a batch of one.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import msgspec

from voelgoed.accounts.actions.audit import Deed, record_all
from voelgoed.accounts.model import Caller
from voelgoed.events.model import GateNotFound
from voelgoed.infra.clock import Clock
from voelgoed.infra.database import Transaction
from voelgoed.infra.refusal import Refusal
from voelgoed.scanning.actions.last_scans import LastScan
from voelgoed.scanning.actions.surroundings import Surroundings
from voelgoed.scanning.model.decisions import Attempt, Direction, EventFacts, Reason, Verdict
from voelgoed.scanning.model.refusals import (
    DeviceInactive,
    DeviceMismatch,
    DeviceNotAssignedToGate,
    InvalidDeviceToken,
    InvalidTicketCodeFormat,
    OverrideNotAllowed,
    ScanIdReused,
    TimestampOutOfRange,
)
from voelgoed.scanning.model.scans import CODE_KEPT_MAX, Scan, ScanDetails, Source
from voelgoed.scanning.model.stations import ScanningDevice, ScanningGate
from voelgoed.scanning.rules.attendance import come_in, leave
from voelgoed.scanning.rules.decision import Case, day_of, decide
from voelgoed.scanning.rules.facts import (
    attendance_of,
    event_facts,
    gate_facts,
    history_of,
    later,
    ticket_facts,
)
from voelgoed.scanning.rules.presented import Presented
from voelgoed.scanning.rules.tally import Move, Place, Tally
from voelgoed.scanning.store import occupancy, scans, stations
from voelgoed.ticketing.actions import admissions
from voelgoed.ticketing.model.admissions import Attendance, ScannedTicket
from voelgoed.ticketing.rules.barcode import read_barcode, verify_barcode

CLOCK_SKEW_S_MAX = 300
ONE_AFTER_THE_OTHER = timedelta(microseconds=1)
NEVER_OVERRIDDEN: frozenset[Reason] = frozenset(
    {"ticket_not_found", "wrong_event", "barcode_revoked", "ticket_voided", "ticket_refunded"}
)
"""Whoever comes with such a ticket has none: its seat may be somebody else's by now."""


class ScanIdsMeanwhile(Exception):
    """The same scan at the same moment elsewhere; by now it is known."""


class HintsWrong(Exception):
    """A cache spoke of something else than what was presented; PostgreSQL is to be asked."""


class Credential(msgspec.Struct, frozen=True):
    """What a device proved, and what it says it is."""

    key_version: int
    named_device_id: UUID


class Override(msgspec.Struct, frozen=True):
    """A supervisor lets somebody in at a gate, whatever the rule says."""

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
    """What became of one wish: a scan, or a refusal."""

    wanted: Wanted
    refusal: Refusal | None = None
    scan: Scan | None = None
    is_new: bool = False
    gate: ScanningGate | None = None
    device_name: str = ""
    ticket: ScannedTicket | None = None
    is_forged: bool = False
    before: Attendance | None = None
    """What was known of the ticket until then."""
    move: Move | None = None
    twin: "Outcome | None" = None
    """The same scan, sent twice at the same time."""
    seat_id: UUID | None = None


class Batch:
    def __init__(
        self, tx: Transaction, clock: Clock, around: Surroundings, wishes: Sequence[Wanted]
    ) -> None:
        self._tx = tx
        self._clock = clock
        self._around = around
        self.outcomes = [Outcome(wanted) for wanted in wishes]
        self._devices: dict[UUID, ScanningDevice] = {}
        self._gates: dict[UUID, ScanningGate] = {}
        self._tickets: dict[str, ScannedTicket] = {}
        self._known: dict[UUID, Scan] = {}
        self._events: dict[UUID, EventFacts] = {}
        self._limited: set[UUID] = set()
        self._inside: dict[tuple[UUID, dt.date], int] = {}
        self._tally = Tally()
        self._attendance: dict[UUID, Attendance] = {}
        self._moved: dict[UUID, Attendance] = {}
        self._made: dict[UUID, Outcome] = {}

    async def read(self) -> None:
        tx, wishes = self._tx, [outcome.wanted for outcome in self.outcomes]
        devices_asking = (each.caller.id for each in wishes if isinstance(each.by, Credential))
        device_ids = list({device_id for device_id in devices_asking if device_id})
        gate_ids = list({each.by.gate_id for each in wishes if isinstance(each.by, Override)})
        codes = {each.presented.code for each in wishes if each.presented and not each.last}
        scan_ids = [each.scan_id for each in wishes]

        async def devices() -> None:
            found = await stations.find_devices(tx, device_ids)
            self._devices = {device.id: device for device in found}

        async def limited() -> None:
            self._limited = await stations.lock_limited_gates(tx, device_ids, gate_ids)

        async def gates() -> None:
            found = await stations.find_gates(tx, device_ids, gate_ids)
            self._gates = {gate.id: gate for gate in found}

        async def tickets() -> None:
            found = await admissions.lock_by_codes(tx, list(codes))
            self._tickets = {ticket.code: ticket for ticket in found}

        async def known() -> None:
            self._known = {scan.id: scan for scan in await scans.find_scans(tx, scan_ids)}

        await tx.gather(limited(), devices(), gates(), tickets(), known())
        for gate in self._gates.values():
            self._around.require_plan(tx.organization_id, gate)
            days = await self._around.days(tx, gate)
            self._events[gate.event_id] = event_facts(gate, days)
        if self._limited:  # after the lock: what was counted while we waited for it counts
            for counted in await occupancy.find_gate_counts(tx, sorted(self._limited)):
                self._inside[counted.scope_id, counted.day] = counted.inside

    async def decide(self) -> None:
        now = self._clock.now()  # with the tickets locked: who comes later is later
        for outcome in self.outcomes:
            try:
                device = self._require_device(outcome.wanted)
                if not self._is_known(outcome):
                    self._place(outcome, device)
                    self._require_sense(outcome.wanted)
                    await self._decide(outcome, now)
                    self._made[outcome.wanted.scan_id] = outcome
            except Refusal as refusal:
                outcome.refusal = refusal
            now += ONE_AFTER_THE_OTHER

    def _require_device(self, wanted: Wanted) -> ScanningDevice | None:
        """None where somebody acts without one."""
        by = wanted.by
        if isinstance(by, Override):
            return None
        device = self._devices.get(wanted.caller.id) if wanted.caller.id else None
        if device is None:
            raise InvalidDeviceToken()
        if device.is_revoked or device.status != "active" or device.key_version != by.key_version:
            raise DeviceInactive(status="revoked" if device.is_revoked else device.status)
        if by.named_device_id != device.id:
            raise DeviceMismatch()
        return device

    def _is_known(self, outcome: Outcome) -> bool:
        """Before any rule: what was answered, or is about to be, is answered so again."""
        wanted = outcome.wanted
        outcome.twin = self._made.get(wanted.scan_id)
        scan = outcome.twin.scan if outcome.twin else self._known.get(wanted.scan_id)
        if scan is None:
            return False
        by = scan.device_id or scan.actor_id
        same = (wanted.caller.id, wanted.code, wanted.direction)
        if same != (by, scan.ticket_code, scan.direction):
            raise ScanIdReused()
        outcome.scan = scan
        return True

    def _place(self, outcome: Outcome, device: ScanningDevice | None) -> None:
        """Who scans, and where."""
        by = outcome.wanted.by
        gate_id = by.gate_id if isinstance(by, Override) else device and device.gate_id
        if gate_id is None:
            raise DeviceNotAssignedToGate()
        if gate_id not in self._gates:
            raise GateNotFound()
        outcome.gate = self._gates[gate_id]
        outcome.device_name = device.name if device else ""

    def _require_sense(self, wanted: Wanted) -> None:
        ahead = (wanted.received_at - wanted.scanned_at).total_seconds()
        if abs(ahead) > CLOCK_SKEW_S_MAX:
            raise TimestampOutOfRange(
                server_time=wanted.received_at.isoformat(),
                device_time=wanted.scanned_at.isoformat(),
                diff_seconds=round(ahead),
            )
        if wanted.presented is None:
            raise InvalidTicketCodeFormat()

    async def _decide(self, outcome: Outcome, now: datetime) -> None:
        wanted = outcome.wanted
        if wanted.last is not None:
            await self._deny_early(outcome, wanted.last, now)
            return
        assert outcome.gate is not None
        assert wanted.presented is not None
        issue = await self._find(outcome, wanted.presented)
        ticket, gate, event = outcome.ticket, outcome.gate, self._events[outcome.gate.event_id]
        before = None if ticket is None else self._attendance_of(ticket)
        at = later(now, before)
        today = day_of(event.days, at)
        assert today is not None
        case = Case(
            attempt=Attempt(at=at, direction=wanted.direction, issue=issue),
            event=event,
            gate=gate_facts(gate, self._inside_of(gate, today)),
            ticket=None if ticket is None else ticket_facts(ticket),
            history=history_of(before),
        )
        verdict = decide(case)
        overridden = None
        if verdict.reason is not None and isinstance(wanted.by, Override):
            if verdict.reason in NEVER_OVERRIDDEN:
                raise OverrideNotAllowed(reason=verdict.reason)
            overridden, verdict = verdict.reason, _admitted(wanted.direction, before, today)
        outcome.before = before
        outcome.scan = self._scan(outcome, verdict, at, today, overridden)
        outcome.is_new = True
        if verdict.status == "admitted" and ticket is not None and before is not None:
            self._admit(outcome, ticket, before, at, dt.date.fromisoformat(today))

    async def _find(self, outcome: Outcome, presented: Presented) -> int | None:
        """The ticket, and which of its barcodes it is."""
        ticket = self._tickets.get(presented.code)
        if ticket is None:
            return None
        if presented.barcode_hash is None or presented.barcode_hash == ticket.barcode_hash:
            outcome.ticket = ticket
            return None if presented.barcode_hash is None else ticket.issue
        barcode = read_barcode(presented.text)
        if barcode is not None and barcode.fields.ticket_id == ticket.id:
            keys = await admissions.public_keys_of(self._tx, ticket.event_id)
            if verify_barcode(barcode, ticket.event_id, keys):
                outcome.ticket = ticket
                return barcode.fields.issue
        outcome.is_forged = True
        return None

    async def _deny_early(self, outcome: Outcome, last: LastScan, now: datetime) -> None:
        """What a cache remembers is enough to deny, if it is of this ticket and of this event."""
        gate, presented = outcome.gate, outcome.wanted.presented
        assert gate is not None
        assert presented is not None
        if last.tier == "warm":
            last = await self._completed(last, presented, gate)
        event = self._events[gate.event_id]
        since = int((now - last.scan_at).total_seconds())
        if (
            last.event_id != gate.event_id
            or not 0 <= since < event.dedup_window_s
            or presented.barcode_hash not in (None, last.barcode_hash)
        ):
            raise HintsWrong()
        outcome.is_new = True
        outcome.scan = msgspec.structs.replace(
            self._denied(outcome, "already_scanned", now),
            ticket_id=last.ticket_id,
            zone_id=last.zone_id,
            details=ScanDetails(
                last_scanned_at=last.scan_at,
                seconds_since_last_scan=since,
                last_gate_name=last.gate_name,
                tier=last.tier,
            ),
        )

    async def _completed(
        self, last: LastScan, presented: Presented, gate: ScanningGate
    ) -> LastScan:
        """Redis knows neither ticket nor event; a barcode that is genuine does."""
        barcode = read_barcode(presented.text)
        keys = await admissions.public_keys_of(self._tx, gate.event_id)
        named = await stations.find_gates(self._tx, [], [last.gate_id])
        if (
            barcode is None
            or not named
            or named[0].event_id != gate.event_id
            or not verify_barcode(barcode, gate.event_id, keys)
        ):
            raise HintsWrong()
        return msgspec.structs.replace(
            last,
            ticket_id=barcode.fields.ticket_id,
            event_id=gate.event_id,
            gate_name=named[0].name,
            barcode_hash=presented.barcode_hash,
        )

    def _attendance_of(self, ticket: ScannedTicket) -> Attendance:
        """With what this batch did to it already."""
        attendance = self._attendance.get(ticket.id)
        if attendance is None:
            attendance = self._attendance[ticket.id] = attendance_of(ticket)
        return attendance

    def _scan(
        self,
        outcome: Outcome,
        verdict: Verdict,
        at: datetime,
        today: str,
        overridden: Reason | None,
    ) -> Scan:
        ticket, wanted = outcome.ticket, outcome.wanted
        if verdict.reason is not None:
            scan = self._denied(outcome, verdict.reason, at)
            if ticket is None:
                return scan
            details = ScanDetails()
            if outcome.before is not None and outcome.before.last_scanned_at is not None:
                details = ScanDetails(
                    last_scanned_at=outcome.before.last_scanned_at,
                    seconds_since_last_scan=verdict.seconds_since_last_scan,
                    last_gate_name=self._last_gate_name(ticket, outcome.before),
                )
            return msgspec.structs.replace(
                scan, ticket_id=ticket.id, zone_id=ticket.zone_id, details=details
            )
        assert ticket is not None
        scan = self._denied(outcome, None, at)
        override = wanted.by.reason if isinstance(wanted.by, Override) else None
        return msgspec.structs.replace(
            scan,
            status="admitted",
            ticket_id=ticket.id,
            zone_id=ticket.zone_id,
            entry_number=verdict.entry_number,
            day=dt.date.fromisoformat(today),
            details=ScanDetails(overridden=overridden, override_reason=override),
        )

    def _last_gate_name(self, ticket: ScannedTicket, before: Attendance) -> str | None:
        if before.last_gate_id == ticket.last_gate_id:
            return ticket.last_gate_name
        gate = self._gates.get(before.last_gate_id) if before.last_gate_id else None
        return gate and gate.name

    def _denied(self, outcome: Outcome, reason: Reason | None, at: datetime) -> Scan:
        wanted, gate = outcome.wanted, outcome.gate
        assert gate is not None
        by_device = isinstance(wanted.by, Credential)
        source: Source = "online" if by_device else "supervisor"
        return Scan(
            id=wanted.scan_id,
            event_id=gate.event_id,
            ticket_id=None,
            ticket_code=wanted.code,
            device_id=wanted.caller.id if by_device else None,
            actor_id=None if by_device else wanted.caller.id,
            gate_id=gate.id,
            direction=wanted.direction,
            status="denied",
            reason_denied=reason,
            scanned_at=wanted.scanned_at,
            scanned_at_canonical=at,
            day=None,
            zone_id=None,
            entry_number=None,
            gate_name=gate.name,
            device_name=outcome.device_name,
            source=source,
            details=ScanDetails(),
        )

    def _admit(
        self,
        outcome: Outcome,
        ticket: ScannedTicket,
        before: Attendance,
        at: datetime,
        day: dt.date,
    ) -> None:
        gate, is_entry = outcome.gate, outcome.wanted.direction == "entry"
        assert gate is not None
        outcome.move = Move(
            self._tally.presence(gate.event_id, day, gate.id, ticket.zone_id),
            presence_of(self._tally, ticket, before),
            is_entry,
        )
        self._tally.add(outcome.move)
        outcome.seat_id = ticket.seat_id
        after = come_in(before, at, gate.id, day) if is_entry else leave(before)
        self._attendance[ticket.id] = self._moved[ticket.id] = after

    def _inside_of(self, gate: ScanningGate, today: str) -> int:
        """With who came and went in this batch; only asked where it matters."""
        if gate.hard_capacity_limit is None:
            return 0
        day = dt.date.fromisoformat(today)
        return self._inside.get((gate.id, day), 0) + self._tally.inside(gate.id, day)

    async def write(self) -> None:
        tx = self._tx
        if changes := self._tally.changes():
            counted = await occupancy.add_counts(tx, changes)
            self._tell_counts(self._tally.running(counted))
        new = [outcome.scan for outcome in self._made.values() if outcome.scan is not None]

        async def insert() -> None:
            if new and await scans.insert_scans(tx, new) != len(new):
                raise ScanIdsMeanwhile()

        await tx.gather(
            insert(),
            admissions.write_attendance(tx, list(self._moved.values())),
            record_all(tx, [deed for outcome in self.outcomes for deed in _deeds(outcome)]),
        )
        for outcome in self.outcomes:
            if outcome.twin is not None and outcome.refusal is None:
                outcome.scan = outcome.twin.scan

    def _tell_counts(self, counts: Sequence[tuple[int, int]]) -> None:
        moved = (outcome for outcome in self.outcomes if outcome.move is not None)
        for outcome, (at_gate, at_event) in zip(moved, counts, strict=True):
            gate, scan = outcome.gate, outcome.scan
            assert gate is not None
            assert scan is not None
            details = msgspec.structs.replace(
                scan.details,
                gate_current=at_gate,
                gate_capacity=gate.capacity,
                event_current=at_event,
                event_capacity=gate.event_capacity,
            )
            outcome.scan = msgspec.structs.replace(scan, details=details)


def presence_of(tally: Tally, ticket: ScannedTicket, attendance: Attendance) -> Sequence[Place]:
    """Where they count as inside."""
    if not attendance.is_inside:
        return ()
    assert attendance.last_entry_day is not None
    assert attendance.last_gate_id is not None
    return tally.presence(
        ticket.event_id, attendance.last_entry_day, attendance.last_gate_id, ticket.zone_id
    )


def _admitted(direction: Direction, before: Attendance | None, today: str) -> Verdict:
    entries = before.scan_count if before else 0
    if direction == "exit":
        return Verdict(status="admitted")
    return Verdict(status="admitted", entry_number=entries + 1, day=today)


def _deeds(outcome: Outcome) -> list[Deed]:
    wanted, scan = outcome.wanted, outcome.scan
    if outcome.refusal is not None:
        changes: dict[str, object] = {"ticket_code": wanted.code, "error": outcome.refusal.code}
        return [Deed(wanted.caller, "scan_refused", "Scan", wanted.scan_id, changes)]
    if scan is None or not outcome.is_new:
        return []
    changes = {
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
        return [Deed(wanted.caller, "ticket_scan_denied", "Scan", scan.id, changes)]
    assert outcome.before is not None
    changes["scan_count"] = scan.entry_number or outcome.before.scan_count
    if scan.details.override_reason is not None:
        changes["overridden"] = scan.details.overridden
        changes["reason"] = scan.details.override_reason
        return [Deed(wanted.caller, "ticket_admitted_by_hand", "Scan", scan.id, changes)]
    return [Deed(wanted.caller, "ticket_scanned", "Scan", scan.id, changes)]
