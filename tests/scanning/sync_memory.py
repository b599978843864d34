"""A store in memory for the offline core: the next decision is made from what a plan has written.

It keeps what the tables keep and reads it as store/offline.py does, so that thousands of deliveries can be
decided without a database.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec

from tests.scanning.offline_builders import NOW, a_device, sync_facts
from voelgoed.accounts.model import Caller
from voelgoed.scanning.model.alerts import Suspicion
from voelgoed.scanning.model.conflicts import Conflict
from voelgoed.scanning.model.scan_history import HistoryScan, HistoryState, Resolution, Ruling
from voelgoed.scanning.model.scans import Scan
from voelgoed.scanning.model.sync import SignedBatch, SignedScan, SyncAnswer
from voelgoed.scanning.model.sync_facts import KeptAnswer, RecordedScan, SyncedScan, SyncFacts
from voelgoed.scanning.rules.deliveries import SignedDelivery
from voelgoed.scanning.rules.device_clock import ClockMeasurement, clock_of
from voelgoed.scanning.rules.history_plan import HistoryPlan, HistoryPlanner
from voelgoed.scanning.rules.invalid_admissions import InvalidAdmission
from voelgoed.scanning.rules.reconcile import frozen_prefix, is_after
from voelgoed.scanning.rules.recovery import accept_scans
from voelgoed.scanning.rules.scan_signatures import SignedFields, sign_scan
from voelgoed.scanning.rules.second_look import look_again
from voelgoed.scanning.rules.sync_batch import SyncPlan, SyncRequest, decide
from voelgoed.scanning.rules.synced import lasting
from voelgoed.ticketing.model.admissions import Attendance, Reissued, ScannedTicket

API_KEY = "a key of sixteen bytes or more"
ORGANIZATION = UUID(int=9)


def new_ids(first: int = 1 << 64) -> Iterator[UUID]:
    while True:
        yield UUID(int=first)
        first += 1


def signed_scan(
    scan_id: UUID, ticket: ScannedTicket, gate_id: UUID, at: datetime, **more: Any
) -> SignedScan:
    """A scan as its device signs it."""
    fields = SignedFields(
        scan_id=str(scan_id),
        ticket_id=str(ticket.id),
        barcode_hash=f"sha256:{ticket.barcode_hash}",
        scanned_at=at.isoformat(),
        gate_id=str(gate_id),
    )
    given: dict[str, Any] = {"outcome": "valid", **msgspec.structs.asdict(fields), **more}
    return SignedScan(**given, signature=sign_scan(fields, API_KEY))


def request(
    device_id: UUID,
    scans: Sequence[SignedScan],
    batch_id: UUID,
    *,
    now: datetime = NOW,
    measured: timedelta | None = timedelta(),
) -> SyncRequest:
    """A delivery as the pipeline receives it from a device whose clock is right."""
    offset = timedelta() if measured is None else measured
    batch = SignedBatch(
        device_id=device_id,
        sync_batch_id=str(batch_id),
        offset_seconds=offset.total_seconds(),
        scans=list(scans),
    )
    delivery = SignedDelivery(batch, API_KEY, measured)
    known = None if measured is None else ClockMeasurement(measured, now)
    clock, device = clock_of(delivery.claimed, known, now), a_device(device_id)
    return SyncRequest(
        id=UUID(int=batch_id.int + 1),
        caller=Caller(kind="device", id=device_id, organization_id=ORGANIZATION),
        key_version=1,
        device=device,
        delivery=delivery,
        clock=clock,
        measured=measured,
        scans=delivery.read(device, clock, now),
    )


class MemoryStore:
    def __init__(self, tickets: Iterable[ScannedTicket], **facts: Any) -> None:
        self._around = sync_facts([], **facts)
        self._tickets = {each.id: each for each in tickets}
        self._scans: dict[UUID, Scan] = {}
        self._rulings: dict[UUID, Ruling] = {}
        self._annulled: set[UUID] = set()
        self._conflicts: dict[UUID, Conflict] = {}
        self._counts = Counter[tuple[str, UUID, str]]()
        self._checkpoints: dict[UUID, HistoryState] = {}
        self._answers: dict[UUID, KeptAnswer] = {}
        self._ids = new_ids()
        self._reissues: dict[UUID, list[Reissued]] = {
            ticket_id: list(each) for ticket_id, each in self._around.reissues.items()
        }
        self._ahead: dict[UUID, datetime] = {}
        self.suspicions: list[Suspicion] = []
        self.read_whole = 0
        """The number of whole histories that were read because a scan came before a checkpoint."""

    def deliver(self, *requests: SyncRequest, now: datetime = NOW) -> SyncPlan:
        """Decides deliveries that arrive together, and stores the results."""
        plan = decide(requests, self.facts(), now, self._ids)
        if plan.needs_whole:
            self.read_whole += 1
            plan = decide(requests, self.facts(is_whole=True), now, self._ids)
        for each in plan.to_write:
            for result in each.results:
                if result.row is not None:
                    self._scans[result.row.id] = result.row
            batch = each.batch
            assert batch is not None
            kept = KeptAnswer(batch.batch_id, batch.fingerprint, batch.answer)
            self._answers[batch.batch_id] = kept
            self.suspicions += each.suspicions
        self._write(plan.history)
        return plan

    def accept(self, scan_ids: Iterable[UUID], now: datetime = NOW) -> list[InvalidAdmission]:
        """Gives the people of whom somebody is told because of it."""
        accepted = accept_scans(scan_ids, {}, self.facts(is_whole=True), now, self._ids)
        self._write(accepted.history)
        return accepted.invalid

    def look_again(self, now: datetime) -> list[InvalidAdmission]:
        """As the job does, at scans that claimed a moment that was yet to come. Gives the people of whom
        somebody is told because of it."""
        ahead, self._ahead = self._ahead, {}
        looked = look_again(ahead, self.facts(is_whole=True), now, self._ids)
        self._write(looked.history)
        return looked.invalid

    def waiting(self) -> list[UUID]:
        """Scans that wait for review."""
        return [each.id for each in self._scans.values() if self._recorded(each).is_waiting]

    def annul(self, scan_id: UUID) -> None:
        """Annuls a scan as a supervisor does; a scan that is in no history stays as it is."""
        facts = self.facts(is_whole=True)
        for ticket in facts.tickets:
            before = facts.histories.get(ticket.id, ())
            after = [each for each in before if each.id != scan_id]
            if len(after) < len(before):
                planner = HistoryPlanner(facts, self._ids, NOW)
                event = facts.events[ticket.event_id]
                planner.change(ticket, event, before, after, frozen_prefix(before, {scan_id}))
                self._annulled.add(scan_id)
                self._write(planner.plan())

    def void(self, ticket_id: UUID, at: datetime) -> None:
        ticket = self._tickets[ticket_id]
        self._tickets[ticket_id] = msgspec.structs.replace(ticket, status="voided", status_since=at)

    def reissue(self, ticket_id: UUID, barcode_hash: str, at: datetime) -> None:
        ticket = self._tickets[ticket_id]
        replaced = Reissued(ticket_id, ticket.issue, at, ticket.barcode_hash)
        self._reissues.setdefault(ticket_id, []).append(replaced)
        self._tickets[ticket_id] = msgspec.structs.replace(
            ticket, issue=ticket.issue + 1, barcode_hash=barcode_hash
        )

    def keep(self, scan: Scan) -> None:
        """Stores a scan that a gate admitted online, or that somebody admitted by hand."""
        facts = self.facts(is_whole=True)
        [ticket] = [each for each in facts.tickets if each.id == scan.ticket_id]
        before = facts.histories.get(ticket.id, ())
        self._scans[scan.id] = scan
        after = self.facts(is_whole=True).histories[ticket.id]
        planner = HistoryPlanner(facts, self._ids, NOW)
        frozen = {each.id for each in after}
        planner.change(ticket, facts.events[ticket.event_id], before, after, frozen)
        self._write(planner.plan())

    def facts(self, *, is_whole: bool = False) -> SyncFacts:
        recorded = {each.id: self._recorded(each) for each in self._scans.values()}
        histories: dict[UUID, list[HistoryScan]] = {}
        unreviewed: dict[UUID, HistoryScan] = {}
        for scan in recorded.values():
            if scan.ticket_id is None:
                continue
            if scan.reason_denied == "unverified" and scan.id not in self._rulings:
                unreviewed[scan.id] = _history_scan(scan, scan.outcome == "valid")
                continue
            state = None if is_whole else self._checkpoints.get(scan.ticket_id)
            is_there = scan.is_let_in and scan.id not in self._annulled
            if is_there and (state is None or is_after(_history_scan(scan, True), state)):
                histories.setdefault(scan.ticket_id, []).append(_history_scan(scan, True))
        listed = {each.id for scans in histories.values() for each in scans}
        return msgspec.structs.replace(
            self._around,
            tickets=list(self._tickets.values()),
            reissues={ticket_id: list(each) for ticket_id, each in self._reissues.items()},
            answers=dict(self._answers),
            known=recorded,
            annulled=frozenset(self._annulled),
            unreviewed=unreviewed,
            histories=histories,
            conflicts=[each for each in self._conflicts.values() if each.scan_id in listed],
            checkpoints={} if is_whole else dict(self._checkpoints),
            checkpointed=frozenset(self._checkpoints),
        )

    def _recorded(self, scan: Scan) -> RecordedScan:
        ruling = self._rulings.get(scan.id)
        resolution = Resolution(scan.status, scan.reason_denied, scan.entry_number)
        if ruling is not None:
            resolution = Resolution(ruling.status, ruling.reason_denied, ruling.entry_number)
            is_let_in = ruling.is_let_in
        elif scan.outcome is None:
            is_let_in = scan.status == "admitted"
        else:
            is_let_in = scan.outcome == "valid"
        fields = {name: getattr(scan, name) for name in Scan.__struct_fields__}
        fields["day"] = ruling.day if ruling else scan.day
        stateless = scan.stateless_reason if isinstance(scan, SyncedScan) else None
        return RecordedScan(
            **fields,
            stateless_reason=stateless,
            is_let_in=is_let_in,
            resolution=resolution,
            is_waiting=scan.reason_denied == "unverified" and scan.id not in self._rulings,
        )

    def _write(self, plan: HistoryPlan) -> None:
        for each in plan.attendance:
            self._tickets[each.id] = _attended(self._tickets[each.id], each)
        for each in plan.rulings:
            self._rulings[each.scan_id] = each
        for each in plan.withdrawn:
            del self._conflicts[each.scan_id]
        for each in plan.conflicts:
            self._conflicts[each.scan_id] = each
        for each in plan.counts:
            for what in ("entries", "exits", "inside", "irregular"):
                self._counts[each.scope, each.scope_id, what] += getattr(each, what)
        self._checkpoints |= plan.checkpoints
        self._ahead |= plan.ahead

    def tables(self) -> dict[str, Any]:
        """The final tables, which do not depend on the order in which scans became known."""
        return {
            "tickets": [_answered(each) for each in self._tickets.values()],
            "resolutions": self.resolutions(),
            "conflicts": self.conflicts(),
            "counts": {key: count for key, count in self._counts.items() if count},
        }

    def resolutions(self) -> dict[UUID, Resolution]:
        found = {each.id: self._recorded(each).resolution for each in self._scans.values()}
        return {id_: found[id_] for id_ in sorted(found) if id_ not in self._annulled}

    def conflicts(self) -> set[tuple[UUID, UUID]]:
        """The loser and the winner of each conflict."""
        return {(each.scan_id, each.winner_scan_id) for each in self._conflicts.values()}

    def count(self, scope_id: UUID, what: str) -> int:
        return sum(
            count
            for (_, place, name), count in self._counts.items()
            if (place, name) == (scope_id, what)
        )

    def ticket(self, ticket_id: UUID) -> ScannedTicket:
        return self._tickets[ticket_id]

    def checkpoints(self) -> int:
        return len(self._checkpoints)


def answer_of(plan: SyncPlan) -> SyncAnswer:
    [delivery] = plan.deliveries
    assert isinstance(delivery.answer, SyncAnswer)
    return delivery.answer


def _history_scan(scan: RecordedScan, is_let_in: bool) -> HistoryScan:
    assert scan.ticket_id is not None
    assert scan.day is not None
    is_online = scan.outcome is None
    return HistoryScan(
        id=scan.id,
        event_id=scan.event_id,
        gate_id=scan.gate_id,
        zone_id=scan.zone_id,
        device_id=scan.device_id,
        direction=scan.direction,
        scanned_at_canonical=scan.scanned_at_canonical,
        day=scan.day,
        ticket_id=scan.ticket_id,
        source=scan.source,
        is_let_in=is_let_in,
        stateless_reason=lasting(scan.reason_denied) if is_online else scan.stateless_reason,
        outcome=None if is_online else "valid" if is_let_in else scan.outcome,
        resolution=scan.resolution,
        issue=scan.details.issue,
    )


def _attended(ticket: ScannedTicket, attendance: Attendance) -> ScannedTicket:
    day = attendance.last_entry_day
    fields = msgspec.structs.asdict(attendance) | {"seen": ticket.seen}
    return msgspec.structs.replace(
        ticket, **fields | {"last_entry_day": None if day is None else day.isoformat()}
    )


def _answered(ticket: ScannedTicket) -> dict[str, Any]:
    return msgspec.structs.asdict(ticket)
