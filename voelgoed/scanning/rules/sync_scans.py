"""The decision about offline scans: each by itself first, then each ticket's history.

The rule is that of the online gates (rules/decision.py). The stateless checks of a scan are made as of its
moment; the checks that depend on other scans are made over the ticket's whole history (rules/reconcile.py).
So the result does not depend on when a scan arrives, or with which others.
"""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.events.model import GateNotFound
from voelgoed.infra.refusal import Refusal
from voelgoed.scanning.model.decisions import Attempt, Direction, EventFacts, Reason
from voelgoed.scanning.model.refusals import (
    DeviceNotAssignedToGate,
    ReplayedSignature,
    ScanIdReused,
)
from voelgoed.scanning.model.scan_history import HistoryScan, JudgedScan, Resolution
from voelgoed.scanning.model.scans import (
    CODE_KEPT_MAX,
    ScanDetails,
    Source,
    UnverifiedCause,
)
from voelgoed.scanning.model.stations import ScanningGate
from voelgoed.scanning.model.sync_facts import RecordedScan, SyncedScan, SyncFacts
from voelgoed.scanning.rules.decision import Case, date_of, judge_stateless
from voelgoed.scanning.rules.facts import NOBODY_CAME, ticket_facts
from voelgoed.scanning.rules.history_plan import HistoryPlan, HistoryPlanner
from voelgoed.scanning.rules.offline_scans import OfflineScan, SyncResult
from voelgoed.scanning.rules.provenance import ScanOrigin, assignment_at, unverified_cause
from voelgoed.scanning.rules.reconcile import corrected, frozen_prefix, is_after, reconcile
from voelgoed.scanning.rules.synced import at_sync, gate_at_sync, status_then
from voelgoed.scanning.rules.ticket_index import TicketIndex
from voelgoed.ticketing.model.admissions import ScannedTicket


class SyncedScansPlan(msgspec.Struct, frozen=True, kw_only=True):
    results: Sequence[SyncResult]
    """The results in the order of the scans."""
    history: HistoryPlan
    changed_codes: Sequence[str]
    """Codes of tickets of which caches must forget what they know."""
    needs_whole: bool
    """A scan comes before its ticket's checkpoint: whole histories must be read, and all decided again."""


def judge_scans(
    scans: Sequence[OfflineScan],
    facts: SyncFacts,
    now: datetime,
    source: Source,
    new_ids: Iterator[UUID],
) -> SyncedScansPlan:
    """`source` is `recovered` for scans that came with a file: they wait for review, all of them. `new_ids`
    are fresh ids for conflicts."""
    return _Judgement(facts, now, source, new_ids).judge(scans)


@dataclass(slots=True)
class _Judged:
    """One scan while it is judged."""

    scan: OfflineScan
    refusal: Refusal | None = None
    is_known: bool = False
    twin: "_Judged | None" = None
    """The same scan, which came before it with the same deliveries."""
    is_corrected: bool = False
    gate: ScanningGate | None = None
    ticket: ScannedTicket | None = None
    issue: int | None = None
    """Which barcode was shown with it, where its moment is yet to come."""
    is_forged: bool = False
    unverified: UnverifiedCause | None = None
    stateless_reason: Reason | None = None
    day: dt.date | None = None
    learnt: HistoryScan | None = None
    """What it adds to its ticket's history, or changes in it."""
    resolution: Resolution | None = None
    winner: HistoryScan | None = None
    is_last_entry: bool = False


class _Judgement:
    def __init__(
        self, facts: SyncFacts, now: datetime, source: Source, new_ids: Iterator[UUID]
    ) -> None:
        self._facts = facts
        self._now = now
        self._source: Source = source
        self._by_id = {ticket.id: ticket for ticket in facts.tickets}
        self._index = TicketIndex(facts)
        self._planner = HistoryPlanner(facts, new_ids, now)
        self._histories: dict[UUID, Sequence[JudgedScan]] = {}
        self._changed_codes: list[str] = []
        self._needs_whole = False

    def judge(self, scans: Sequence[OfflineScan]) -> SyncedScansPlan:
        all_judged = [_Judged(scan, scan.refusal) for scan in scans]
        first: dict[UUID, _Judged] = {}
        for judged in all_judged:
            if judged.refusal is None:
                try:
                    self._judge_one(judged, first)
                except Refusal as refusal:
                    judged.refusal = refusal
        self._judge_histories(all_judged)
        self._recall(all_judged)
        return SyncedScansPlan(
            results=[self._result(judged) for judged in all_judged],
            history=self._planner.plan(),
            changed_codes=self._changed_codes,
            needs_whole=self._needs_whole,
        )

    def _judge_one(self, judged: _Judged, first: dict[UUID, _Judged]) -> None:
        scan = judged.scan
        judged.twin = first.get(scan.scan_id)
        if judged.twin is not None:
            self._require_same(judged.twin.scan, scan)
        judged.is_known = judged.twin is not None or self._is_known(judged)
        if not judged.is_known:
            if scan.refusal_if_new is not None:
                raise scan.refusal_if_new
            self._judge_new(judged)
        first.setdefault(scan.scan_id, judged)

    def _require_same(self, one: OfflineScan, other: OfflineScan) -> None:
        """Twice at once, perhaps in two forms, or by another reading of the device's clock."""
        if self._identity_of(one) != self._identity_of(other) or one.scanned_at != other.scanned_at:
            raise ScanIdReused()
        if one.outcome != other.outcome:
            raise ReplayedSignature()

    def _identity_of(self, scan: OfflineScan) -> tuple[UUID, str, Direction]:
        ticket = self._index.ticket_of(scan)
        code = ticket.code if ticket else _kept_code(scan)
        return scan.device.id, code, scan.direction

    def _is_known(self, judged: _Judged) -> bool:
        scan, known = judged.scan, self._facts.known.get(judged.scan.scan_id)
        if known is None:
            return False
        if self._identity_of(scan) != (known.device_id, known.ticket_code, known.direction):
            raise ScanIdReused()
        judged.ticket = self._index.ticket_of(scan)
        judged.resolution = known.resolution
        if known.id in self._facts.annulled:
            return True
        if known.source == "online":
            if self._source != "recovered":
                self._correct(judged, known)
            return True
        if known.scanned_at != scan.scanned_at:
            raise ScanIdReused()
        judged.unverified = known.details.unverified if known.is_waiting else None
        if known.is_waiting and known.source == "recovered":
            self._vouch(judged, known)
        elif known.outcome != scan.outcome and not self._is_vouched_for(known, scan):
            raise ReplayedSignature()
        return True

    def _correct(self, judged: _Judged, known: RecordedScan) -> None:
        """We answered one thing; the device did not hear it in time and did another. What it did is what
        happened at the gate."""
        event = self._facts.events.get(known.event_id)
        ticket = self._by_id.get(known.ticket_id) if known.ticket_id else None
        if event is None:
            return
        day, outcome = _day(event, known.scanned_at_canonical), judged.scan.outcome
        if ticket is None:
            self._correct_without_ticket(judged, known, event, day)
            return
        judged.learnt = corrected(known, ticket.id, outcome, day)
        if judged.learnt is not None:
            judged.is_corrected = True
            judged.gate = self._facts.gates.get(known.gate_id)
            judged.stateless_reason = judged.learnt.stateless_reason

    def _correct_without_ticket(
        self, judged: _Judged, known: RecordedScan, event: EventFacts, day: dt.date
    ) -> None:
        """We answered that nobody has such a ticket, and the device let somebody in."""
        is_let_in = judged.scan.is_let_in
        if known.ticket_id is not None or known.is_let_in == is_let_in:
            return
        judged.is_corrected = True
        judged.gate = self._facts.gates.get(known.gate_id)
        judged.stateless_reason = known.reason_denied
        self._planner.rule_without_ticket(event, known, day, is_let_in=is_let_in)

    def _vouch(self, judged: _Judged, known: RecordedScan) -> None:
        """The device itself says what a file said for it, in which anybody could have changed what is not
        signed. It counts without a review, if it can have been made there and then."""
        scan, gate = judged.scan, self._facts.gates.get(known.gate_id)
        if self._source == "recovered" or gate is None:
            return
        judged.unverified = self._cause(scan, gate)
        if judged.unverified is not None:
            return
        judged.is_corrected = True
        judged.gate, judged.stateless_reason = gate, known.stateless_reason
        unreviewed = self._facts.unreviewed.get(known.id)
        if unreviewed is None:
            event = self._facts.events[known.event_id]
            day = known.day or _day(event, known.scanned_at_canonical)
            self._planner.rule_without_ticket(event, known, day, is_let_in=scan.is_let_in)
            judged.resolution = Resolution("denied", known.stateless_reason)
            return
        judged.learnt = msgspec.structs.replace(
            unreviewed, outcome=scan.outcome, is_let_in=scan.is_let_in
        )

    def _is_vouched_for(self, known: RecordedScan, scan: OfflineScan) -> bool:
        """The device has said before what it did, of a scan that a file had brought."""
        return known.source == "recovered" and scan.is_let_in == known.is_let_in

    def _judge_new(self, judged: _Judged) -> None:
        scan = judged.scan
        judged.gate = gate = self._gate_of(scan)
        event = self._facts.events[gate.event_id]
        shown = self._index.find(scan)
        ticket, issue = shown.ticket, shown.issue
        judged.ticket, judged.day, judged.is_forged = ticket, _day(event, scan.at), shown.is_forged
        judged.issue = issue if scan.at >= self._now else None
        judged.unverified = self._cause(scan, gate)
        judged.stateless_reason = judge_stateless(
            Case(
                attempt=Attempt(at=scan.at, direction=scan.direction, issue=issue),
                event=at_sync(event),
                gate=gate_at_sync(gate),
                ticket=status_then(ticket, ticket_facts(ticket), scan.at) if ticket else None,
                history=NOBODY_CAME,
            )
        )
        if self._source == "recovered" or judged.unverified is not None:
            judged.resolution = Resolution("denied", "unverified")
            return
        if ticket is not None:
            judged.learnt = HistoryScan(
                id=scan.scan_id,
                event_id=gate.event_id,
                gate_id=gate.id,
                zone_id=ticket.zone_id,
                device_id=scan.device.id,
                direction=scan.direction,
                scanned_at_canonical=scan.at,
                day=judged.day,
                ticket_id=ticket.id,
                source=self._source,
                is_let_in=scan.is_let_in,
                stateless_reason=judged.stateless_reason,
                outcome=scan.outcome,
                resolution=None,
                issue=judged.issue,
            )
            return
        judged.resolution = Resolution("denied", judged.stateless_reason)
        if scan.is_let_in and scan.direction == "entry":
            self._planner.add_head(event, scan.at, judged.day, gate.id)

    def _cause(self, scan: OfflineScan, gate: ScanningGate) -> UnverifiedCause | None:
        origin = ScanOrigin(
            at=scan.at,
            tolerance=scan.tolerance,
            direction=scan.direction,
            received_at=self._now,
            contradicts_clock=scan.contradicts_clock,
        )
        event = self._facts.events[gate.event_id]
        return unverified_cause(origin, event, self._facts.assignments.get(scan.device.id, ()))

    def _gate_of(self, scan: OfflineScan) -> ScanningGate:
        gate_id = gate_id_of(scan, self._facts)
        if scan.gate is None and gate_id is None:
            raise DeviceNotAssignedToGate()
        gate = self._facts.gates.get(gate_id) if gate_id else None
        if gate is None:
            raise GateNotFound()
        return gate

    def _judge_histories(self, all_judged: Sequence[_Judged]) -> None:
        by_ticket: dict[UUID, dict[UUID, _Judged]] = {}
        for judged in all_judged:
            if (learnt := judged.learnt) is not None:
                by_ticket.setdefault(learnt.ticket_id, {})[learnt.id] = judged
        for ticket_id, news in by_ticket.items():
            self._judge_history(self._by_id[ticket_id], news)

    def _judge_history(self, ticket: ScannedTicket, news: Mapping[UUID, _Judged]) -> None:
        event = self._facts.events[ticket.event_id]
        before = self._facts.histories.get(ticket.id, ())
        learnt = [each.learnt for each in news.values() if each.learnt is not None]
        after = [*(each for each in before if each.id not in news), *learnt]
        checkpoint = self._facts.checkpoints.get(ticket.id)
        if checkpoint and not all(is_after(each, checkpoint) for each in learnt):
            self._needs_whole = True
        frozen = frozen_prefix(after, news) if before else ()
        planned = self._planner.change(ticket, event, before, after, frozen, checkpoint=checkpoint)
        history = planned.scans
        self._histories[ticket.id] = history
        for each in history:
            if (judged := news.get(each.scan.id)) is not None:
                judged.resolution, judged.winner = each.resolution, each.winner
                judged.stateless_reason = each.scan.stateless_reason
        if before or checkpoint:
            self._changed_codes.append(ticket.code)
        elif (last := history[-1]).resolution.status == "admitted":
            news[last.scan.id].is_last_entry = last.scan.direction == "entry"

    def _recall(self, all_judged: Sequence[_Judged]) -> None:
        """The present resolutions of the scans that were known before."""
        for judged in all_judged:
            if not judged.is_known or judged.learnt is not None:
                continue
            found = self._judged_scans(judged.ticket).get(judged.scan.scan_id)
            if found is not None:
                judged.resolution, judged.winner = found.resolution, found.winner
            elif (twin := judged.twin) is not None:
                judged.ticket, judged.winner = twin.ticket, twin.winner
                judged.resolution, judged.unverified = twin.resolution, twin.unverified

    def _judged_scans(self, ticket: ScannedTicket | None) -> dict[UUID, JudgedScan]:
        if ticket is None:
            return {}
        history = self._histories.get(ticket.id)
        if history is None:
            event = self._facts.events.get(ticket.event_id)
            known = self._facts.histories.get(ticket.id, ())
            if event is None:
                return {}
            frozen, checkpoint = {each.id for each in known}, self._facts.checkpoints.get(ticket.id)
            judged = reconcile(event, ticket_facts(ticket), known, frozen, checkpoint)
            history = judged.scans
            self._histories[ticket.id] = history
        return {each.scan.id: each for each in history}

    def _result(self, judged: _Judged) -> SyncResult:
        is_new = judged.refusal is None and not judged.is_known
        return SyncResult(
            scan=judged.scan,
            refusal=judged.refusal,
            is_known=judged.is_known,
            is_corrected=judged.is_corrected,
            ticket=judged.ticket,
            gate=judged.gate,
            is_forged=judged.is_forged,
            unverified=judged.unverified,
            stateless_reason=judged.stateless_reason,
            resolution=judged.resolution,
            winner=judged.winner,
            row=self._row(judged) if is_new else None,
            is_last_entry=judged.is_last_entry,
        )

    def _row(self, judged: _Judged) -> SyncedScan:
        scan, gate, ticket, resolution = (
            judged.scan,
            judged.gate,
            judged.ticket,
            judged.resolution,
        )
        assert gate is not None
        assert resolution is not None
        return SyncedScan(
            id=scan.scan_id,
            event_id=gate.event_id,
            ticket_id=ticket.id if ticket else None,
            ticket_code=ticket.code if ticket else _kept_code(scan),
            device_id=scan.device.id,
            actor_id=None,
            gate_id=gate.id,
            direction=scan.direction,
            status=resolution.status,
            reason_denied=resolution.reason,
            scanned_at=scan.scanned_at,
            scanned_at_canonical=scan.at,
            day=judged.day,
            zone_id=ticket and ticket.zone_id,
            entry_number=resolution.entry_number,
            gate_name=gate.name,
            device_name=scan.device.name,
            source=self._source,
            details=ScanDetails(
                barcode_hash=None if ticket else scan.barcode_hash,
                signature=scan.signature,
                is_signed=scan.is_signed,
                doubts=list(scan.doubts),
                issue=judged.issue,
                unverified=judged.unverified,
            ),
            outcome=scan.outcome,
            stateless_reason=judged.stateless_reason,
            batch_id=scan.batch_id,
        )


def gate_id_of(scan: OfflineScan, facts: SyncFacts) -> UUID | None:
    """The gate that a scan names by id or code, or where its device was. A code is one of the event to
    which the device was assigned at the scan's moment, or else is now."""
    where = scan.gate
    if isinstance(where, UUID):
        return where
    then = assignment_at(facts.assignments.get(scan.device.id, ()), scan.at)
    device = facts.devices.get(scan.device.id)
    here = device.gate_id if device else None
    if where is None:
        return then.gate_id if then else here
    gate = facts.gates.get(here) if here else None
    events = [each for each in (then and then.event_id, gate and gate.event_id) if each]
    found = (facts.gate_codes.get((event_id, where)) for event_id in events)
    return next((each for each in found if each is not None), None)


def named_gate(scan: OfflineScan, facts: SyncFacts) -> ScanningGate | None:
    gate_id = gate_id_of(scan, facts)
    return facts.gates.get(gate_id) if gate_id else None


def _kept_code(scan: OfflineScan) -> str:
    """The text that is stored of a code that is no ticket of ours."""
    if scan.presented is not None:
        return scan.presented.code
    return (scan.given or f"sha256:{scan.barcode_hash}")[:CODE_KEPT_MAX]


def _day(event: EventFacts, at: datetime) -> dt.date:
    date = date_of(event.days, at)
    assert date is not None
    return date
