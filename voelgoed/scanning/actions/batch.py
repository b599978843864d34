"""The admission core: scans that came in together, two round trips.

Read what the decisions need; let the rule decide each scan after those before it; write all of it,
if what was read of the tickets is still so. Nothing is locked while we think. A scan that comes alone
is a batch of one.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import msgspec

from voelgoed.accounts.actions.audit import record_all
from voelgoed.events.model import GateNotFound
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.refusal import Refusal
from voelgoed.scanning.actions.event_context import EventContext
from voelgoed.scanning.actions.last_scans import LastScan
from voelgoed.scanning.actions.scan_requests import (
    Credential,
    Outcome,
    Override,
    Wanted,
    audit_entry_of,
    scan_of,
)
from voelgoed.scanning.model.decisions import (
    Attempt,
    Direction,
    EventFacts,
    Reason,
    TicketFacts,
    Verdict,
)
from voelgoed.scanning.model.occupancy import Counted
from voelgoed.scanning.model.refusals import (
    DeviceMismatch,
    DeviceNotAssignedToGate,
    InvalidDeviceToken,
    InvalidTicketCodeFormat,
    OverrideNotAllowed,
    ScanAnnulled,
    ScanIdReused,
    TimestampOutOfRange,
)
from voelgoed.scanning.model.scans import Scan
from voelgoed.scanning.model.stations import ScanningDevice, ScanningGate
from voelgoed.scanning.rules.attendance import come_in, leave
from voelgoed.scanning.rules.decision import Case, day_of, decide
from voelgoed.scanning.rules.devices import refusal_to_scan
from voelgoed.scanning.rules.facts import (
    attendance_of,
    event_facts,
    gate_facts,
    history_of,
    later,
    ticket_facts,
)
from voelgoed.scanning.rules.gate_capacity import GateCapacity
from voelgoed.scanning.rules.presented import Presented
from voelgoed.scanning.rules.tally import Move, Place, Tally
from voelgoed.scanning.store import occupancy, scans, stations
from voelgoed.scanning.store.scans import Passing
from voelgoed.ticketing.actions import admissions
from voelgoed.ticketing.model.admissions import Attendance, ScannedTicket, TicketPlace
from voelgoed.ticketing.rules.barcode import read_barcode, verify_barcode

CLOCK_SKEW_S_MAX = 300
NOBODY_PASSES = Passing()
ONE_AFTER_THE_OTHER = timedelta(microseconds=1)
NEVER_OVERRIDDEN: frozenset[Reason] = frozenset(
    {"ticket_not_found", "wrong_event", "barcode_revoked", "ticket_voided", "ticket_refunded"}
)
"""Whoever comes with such a ticket has none: its seat may be somebody else's by now."""


class HintsWrong(Exception):
    """A cache spoke of something else than what was presented; PostgreSQL is to be asked."""


@dataclass(slots=True)
class _Ticket:
    """With what this batch did to it already."""

    kept: ScannedTicket
    facts: TicketFacts
    attendance: Attendance
    last_gate_name: str | None
    is_moved: bool = False


@dataclass(slots=True)
class _Gate:
    kept: ScanningGate
    event: EventFacts
    presences: dict[tuple[UUID | None, dt.date], Sequence[Place]]


class Batch:
    def __init__(
        self,
        tx: Transaction,
        database: Database,
        context: EventContext,
        wishes: Sequence[Wanted],
    ) -> None:
        self._tx = tx
        self._database = database
        self._context = context
        self.outcomes = [Outcome(wanted) for wanted in wishes]
        self._devices: dict[UUID, ScanningDevice] = {}
        self._gates: dict[UUID, _Gate] = {}
        self._tickets: dict[str, _Ticket] = {}
        self._known: dict[UUID, Scan] = {}
        self._annulled: set[UUID] = set()
        self._made: dict[UUID, Outcome] = {}
        self._inside: dict[tuple[UUID, dt.date], int] = {}
        self._keys: dict[UUID, dict[int, bytes]] = {}
        self._tally = Tally()
        self._rooms = GateCapacity(self._tally)

    async def read(self) -> None:
        tx, wishes = self._tx, [outcome.wanted for outcome in self.outcomes]
        devices_asking = (each.caller.id for each in wishes if isinstance(each.by, Credential))
        device_ids = list({device_id for device_id in devices_asking if device_id})
        gate_ids = list({gate_id for each in wishes for gate_id in _gates_named(each)})
        codes = list({each.presented.code for each in wishes if each.presented and not each.last})
        scan_ids = [each.scan_id for each in wishes]
        gates, tickets = list[ScanningGate](), list[ScannedTicket]()

        async def find_devices() -> None:
            found = await stations.find_devices(tx, device_ids)
            self._devices = {device.id: device for device in found}

        async def find_gates() -> None:
            gates.extend(await stations.find_gates(tx, device_ids, gate_ids))

        async def find_inside() -> None:
            for counted in await occupancy.find_limited_counts(tx, device_ids, gate_ids):
                self._inside[counted.scope_id, counted.day] = counted.inside

        async def find_tickets() -> None:
            tickets.extend(await admissions.find_by_codes(tx, codes))

        async def find_known() -> None:
            self._known = {scan.id: scan for scan in await scans.find_scans(tx, scan_ids)}

        async def find_annulled() -> None:
            self._annulled = set(await scans.find_annulled(tx, scan_ids))

        await tx.gather(
            find_devices(),
            find_gates(),
            find_inside(),
            find_tickets(),
            find_known(),
            find_annulled(),
        )
        self._context.require_plans(tx.organization_id, gates)
        for gate in gates:
            days = await self._context.days(tx.organization_id, gate)
            self._gates[gate.id] = _Gate(gate, event_facts(gate, days), {})
        for ticket in tickets:
            self._tickets[ticket.code] = _Ticket(
                ticket, ticket_facts(ticket), attendance_of(ticket), ticket.last_gate_name
            )

    async def decide(self) -> None:
        now = self._database.clock.now()
        for outcome in self.outcomes:
            try:
                device = self._require_device(outcome.wanted)
                if not self._is_known(outcome):
                    gate = self._place(outcome, device)
                    presented = self._require_sense(outcome.wanted)
                    if outcome.wanted.last is not None:
                        await self._deny_early(outcome, gate, presented, outcome.wanted.last, now)
                    else:
                        await self._decide(outcome, gate, presented, now)
                    outcome.is_new = True
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
        if (refusal := refusal_to_scan(device, by.key_version)) is not None:
            raise refusal
        if by.named_device_id != device.id:
            raise DeviceMismatch()
        return device

    def _is_known(self, outcome: Outcome) -> bool:
        """Before any rule: what was answered, or is about to be, is answered so again."""
        wanted = outcome.wanted
        same = (wanted.caller.id, wanted.code, wanted.direction)
        if (twin := self._made.get(wanted.scan_id)) is not None:
            first = twin.wanted
            if same != (first.caller.id, first.code, first.direction):
                raise ScanIdReused()
            outcome.twin = twin
            return True
        if (scan := self._known.get(wanted.scan_id)) is not None:
            if same != (scan.device_id or scan.actor_id, scan.ticket_code, scan.direction):
                raise ScanIdReused()
            if scan.id in self._annulled:
                raise ScanAnnulled()
            outcome.scan = scan
            return True
        return False

    def _place(self, outcome: Outcome, device: ScanningDevice | None) -> _Gate:
        """Who scans, and where."""
        by = outcome.wanted.by
        gate_id = by.gate_id if isinstance(by, Override) else device and device.gate_id
        if gate_id is None:
            raise DeviceNotAssignedToGate()
        gate = self._gates.get(gate_id)
        if gate is None:
            raise GateNotFound()
        outcome.gate, outcome.device_name = gate.kept, device.name if device else ""
        return gate

    def _require_sense(self, wanted: Wanted) -> Presented:
        ahead = (wanted.received_at - wanted.scanned_at).total_seconds()
        if abs(ahead) > CLOCK_SKEW_S_MAX:
            raise TimestampOutOfRange(
                server_time=wanted.received_at.isoformat(),
                device_time=wanted.scanned_at.isoformat(),
                diff_seconds=round(ahead),
            )
        if wanted.presented is None:
            raise InvalidTicketCodeFormat()
        return wanted.presented

    async def _decide(
        self, outcome: Outcome, gate: _Gate, presented: Presented, now: datetime
    ) -> None:
        wanted, (ticket, issue) = outcome.wanted, await self._find(outcome, presented)
        before = ticket.attendance if ticket else None
        at = later(now, before)
        today = day_of(gate.event.days, at)
        assert today is not None
        day = dt.date.fromisoformat(today)
        case = Case(
            attempt=Attempt(at=at, direction=wanted.direction, issue=issue),
            event=gate.event,
            gate=gate_facts(gate.kept, self._inside_of(gate.kept, day)),
            ticket=ticket.facts if ticket else None,
            history=history_of(before),
        )
        verdict = decide(case)
        if verdict.reason is not None and isinstance(wanted.by, Override):
            if verdict.reason in NEVER_OVERRIDDEN:
                raise OverrideNotAllowed(reason=verdict.reason)
            outcome.overridden = verdict.reason
            verdict = _admitted(wanted.direction, before, today)
        outcome.verdict, outcome.at, outcome.today, outcome.before = verdict, at, day, before
        if ticket is not None:
            outcome.ticket, outcome.last_gate_name = ticket.kept, ticket.last_gate_name
            if verdict.status == "admitted":
                self._admit(outcome, gate, ticket, at, day)

    async def _find(
        self, outcome: Outcome, presented: Presented
    ) -> tuple[_Ticket | None, int | None]:
        """The ticket, and which of its barcodes it is."""
        ticket = self._tickets.get(presented.code)
        if ticket is None:
            return None, None
        kept = ticket.kept
        if presented.barcode_hash is None:
            return ticket, None
        if presented.barcode_hash == kept.barcode_hash:
            return ticket, kept.issue
        barcode = read_barcode(presented.text)
        if barcode is not None and barcode.fields.ticket_id == kept.id:
            keys = await self._keys_of(kept.event_id)
            if verify_barcode(barcode, kept.event_id, keys):
                return ticket, barcode.fields.issue
        outcome.is_forged = True
        return None, None

    async def _keys_of(self, event_id: UUID) -> dict[int, bytes]:
        """Seldom asked for: most barcodes are known by their hash."""
        keys = self._keys.get(event_id)
        if keys is None:
            async with self._database.transaction(self._tx.organization_id) as tx:
                keys = self._keys[event_id] = await admissions.public_keys_of(tx, event_id)
        return keys

    async def _deny_early(
        self, outcome: Outcome, gate: _Gate, presented: Presented, last: LastScan, now: datetime
    ) -> None:
        """What a cache remembers is enough to deny, if it is of this ticket and of this event."""
        if last.tier == "warm":
            last = await self._completed(last, presented, gate.kept)
        since = int((now - last.scan_at).total_seconds())
        if (
            last.event_id != gate.kept.event_id
            or not 0 <= since < gate.event.dedup_window_s
            or presented.barcode_hash not in (None, last.barcode_hash)
        ):
            raise HintsWrong()
        outcome.last, outcome.at = last, now
        outcome.verdict = Verdict(
            status="denied", reason="already_scanned", seconds_since_last_scan=since
        )

    async def _completed(
        self, last: LastScan, presented: Presented, gate: ScanningGate
    ) -> LastScan:
        """Redis knows neither ticket nor event; a barcode that is genuine does."""
        barcode, named = read_barcode(presented.text), self._gates.get(last.gate_id)
        if (
            barcode is None
            or named is None
            or named.kept.event_id != gate.event_id
            or not verify_barcode(barcode, gate.event_id, await self._keys_of(gate.event_id))
        ):
            raise HintsWrong()
        return msgspec.structs.replace(
            last,
            ticket_id=barcode.fields.ticket_id,
            event_id=gate.event_id,
            gate_name=named.kept.name,
            barcode_hash=presented.barcode_hash,
        )

    def _admit(
        self, outcome: Outcome, gate: _Gate, ticket: _Ticket, at: datetime, day: dt.date
    ) -> None:
        kept, before, is_entry = gate.kept, ticket.attendance, outcome.wanted.direction == "entry"
        zone_id = ticket.kept.zone_id
        here = gate.presences.get((zone_id, day))
        if here is None:
            here = self._tally.presence(kept.event_id, day, kept.id, zone_id)
            gate.presences[zone_id, day] = here
        outcome.move = Move(here, presence_of(self._tally, ticket.kept, before), is_entry)
        self._tally.add(outcome.move)
        outcome.place = place_of(ticket.kept)
        if is_entry:
            if outcome.overridden is None and kept.hard_capacity_limit is not None:
                self._rooms.let_in(kept.event_id, kept.id, day, kept.hard_capacity_limit)
            ticket.attendance = come_in(before, at, kept.id, day)
            ticket.last_gate_name = kept.name
        else:
            ticket.attendance = leave(before, at)
        ticket.is_moved = True

    def _inside_of(self, gate: ScanningGate, day: dt.date) -> int:
        """With who came and went in this batch; only asked where it matters."""
        if gate.hard_capacity_limit is None:
            return 0
        return self._inside.get((gate.id, day), 0) + self._tally.inside(gate.event_id, gate.id, day)

    async def write(self) -> None:
        """Tickets before counts, in which order nobody waits in a circle."""
        tx, made = self._tx, list(self._made.values())
        for outcome in made:
            outcome.scan = scan_of(outcome)
        new = [outcome.scan for outcome in made if outcome.scan is not None]
        ahead = iter(self._tally.ahead())
        passing = [Passing(*next(ahead)) if outcome.move else NOBODY_PASSES for outcome in made]
        moved = [ticket.attendance for ticket in self._tickets.values() if ticket.is_moved]
        entries = [
            entry for outcome in self.outcomes if (entry := audit_entry_of(outcome)) is not None
        ]
        counts: list[Counted] = []

        async def write_scans() -> None:
            if new:
                changes, rooms = self._tally.changes(), self._rooms.afterwards()
                counts.extend(await scans.write_scans(tx, new, passing, changes, rooms))

        await tx.gather(
            admissions.write_attendance(tx, moved), write_scans(), record_all(tx, entries)
        )
        self._tell_counts(made, passing, counts)
        for outcome in self.outcomes:
            if (twin := outcome.twin) is not None:
                outcome.scan, outcome.gate, outcome.place = twin.scan, twin.gate, twin.place

    def _tell_counts(
        self, made: Sequence[Outcome], passing: Sequence[Passing], counts: Sequence[Counted]
    ) -> None:
        """As they were written."""
        inside = {(each.scope_id, each.day): each.inside for each in counts if each.scope != "zone"}
        for outcome, passed in zip(made, passing, strict=True):
            scan = outcome.scan
            if scan is None or passed.at_gate is None or passed.at_event is None:
                continue
            assert scan.day is not None
            outcome.scan = msgspec.structs.replace(
                scan,
                gate_current=max(inside[scan.gate_id, scan.day] - passed.at_gate, 0),
                event_current=max(inside[scan.event_id, scan.day] - passed.at_event, 0),
            )


def _gates_named(wanted: Wanted) -> Sequence[UUID]:
    """Besides those where devices are."""
    if isinstance(wanted.by, Override):
        return (wanted.by.gate_id,)
    return (wanted.last.gate_id,) if wanted.last and wanted.last.tier == "warm" else ()


def place_of(ticket: ScannedTicket) -> TicketPlace:
    return TicketPlace(ticket.id, ticket.zone_id, ticket.seat_id, ticket.seat_label)


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
