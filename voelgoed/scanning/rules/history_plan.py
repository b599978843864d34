"""What becomes of tickets, scans, counts and conflicts when more is known of some tickets' scans."""

import datetime as dt
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.scanning.model.conflicts import Conflict
from voelgoed.scanning.model.decisions import EventFacts
from voelgoed.scanning.model.occupancy import Counted, KnownReset
from voelgoed.scanning.model.scan_history import (
    Clash,
    HistoryScan,
    HistoryState,
    JudgedHistory,
    Ruling,
)
from voelgoed.scanning.model.sync_facts import RecordedScan, SyncFacts
from voelgoed.scanning.rules.conflicts import clashes_of, conflict_changes
from voelgoed.scanning.rules.facts import attendance_of, ticket_facts
from voelgoed.scanning.rules.reconcile import reconcile
from voelgoed.scanning.rules.synced import by_now
from voelgoed.scanning.rules.tally import Tally
from voelgoed.ticketing.model.admissions import Attendance, ScannedTicket
from voelgoed.ticketing.model.tickets import TicketStatus

CHECKPOINT_AFTER = 100
"""Scans of one ticket that let somebody through. After so many, a further one starts from the state that they
left, and costs no more than the first."""


class HistoryPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The rows that are to be written, as data."""

    attendance: list[Attendance]
    rulings: list[Ruling]
    conflicts: list[Conflict]
    """The conflicts that are new, or in which another scan wins than before."""
    withdrawn: list[Conflict]
    counts: list[Counted]
    """The changes of the counts."""
    codes: dict[UUID, str]
    """The codes of the tickets, by their ids."""
    checkpoints: dict[UUID, HistoryState]
    """The states of tickets with very many scans, by ticket."""
    resets: list[KnownReset]
    """The moments at which the venues were last declared empty, as far as this plan knows."""
    ahead: dict[UUID, datetime]
    """The moments of new scans that claim one which is yet to come, by the scans' ids: they are judged once
    more when it has come."""


class HistoryPlanner:
    """Collects the changes of several tickets into one plan."""

    def __init__(self, facts: SyncFacts, new_ids: Iterator[UUID], now: datetime) -> None:
        """`new_ids` are fresh ids for conflicts."""
        self._facts = facts
        self._states: dict[UUID, HistoryState] = {}
        self._new_ids = new_ids
        self._now = now
        self._attendance: list[Attendance] = []
        self._rulings: list[Ruling] = []
        self._clashes: list[Clash] = []
        self._codes: dict[UUID, str] = {}
        self._resets: dict[UUID, datetime] = {}
        self._ahead: dict[UUID, datetime] = {}
        self._tally = Tally()

    def change(
        self,
        ticket: ScannedTicket,
        event: EventFacts,
        before: Sequence[HistoryScan],
        after: Sequence[HistoryScan],
        frozen: Collection[UUID],
        *,
        checkpoint: HistoryState | None = None,
        is_locked: bool = False,
        status: TicketStatus | None = None,
    ) -> JudgedHistory:
        """The ticket's history was `before` and is `after`, since the checkpoint if there is one; the scans
        that are frozen keep their resolution. `status` is what the ticket is made at the same time, if
        anything."""
        self._note_resets(event)
        facts = ticket_facts(ticket)
        if status is not None:
            facts = msgspec.structs.replace(facts, status=status)
        reissues = self._facts.reissues.get(ticket.id, ())
        after = [by_now(each, event, ticket, reissues) for each in after]
        judged = reconcile(event, facts, after, frozen, checkpoint)
        counted = [
            each for each in before if each.resolution and each.resolution.status == "admitted"
        ]
        self._count(ticket, attendance_of(ticket), counted, -1)
        counts = [each.scan for each in judged.scans if each.resolution.status == "admitted"]
        self._count(ticket, judged.attendance, counts, 1)
        self._count_elsewhere(ticket, before, after)
        seen = None if is_locked else ticket.seen
        self._attendance.append(msgspec.structs.replace(judged.attendance, seen=seen))
        self._rule(before, judged)
        self._clashes += clashes_of([*judged.scans, *judged.earlier])
        if len(after) >= CHECKPOINT_AFTER or ticket.id in self._facts.checkpointed:
            self._states[ticket.id] = judged.state
        self._codes[ticket.id] = ticket.code
        self._note_ahead(before, after)
        return judged

    def _note_ahead(self, before: Iterable[HistoryScan], after: Iterable[HistoryScan]) -> None:
        if ahead := [each for each in after if each.scanned_at_canonical >= self._now]:
            known = {each.id for each in before}
            self._ahead |= {
                each.id: each.scanned_at_canonical for each in ahead if each.id not in known
            }

    def _count(
        self,
        ticket: ScannedTicket,
        attendance: Attendance,
        admitted: Iterable[HistoryScan],
        sign: int,
    ) -> None:
        for scan in admitted:
            here = self._tally.presence(scan.event_id, scan.day, scan.gate_id, scan.zone_id)
            is_entry = scan.direction == "entry"
            self._tally.change(here, entries=sign * is_entry, exits=sign * (not is_entry))
        if attendance.is_inside:
            assert attendance.last_entry_day is not None
            assert attendance.last_gate_id is not None
            inside = self._tally.presence(
                ticket.event_id,
                attendance.last_entry_day,
                attendance.last_gate_id,
                ticket.zone_id,
            )
            self._tally.change(inside, inside=sign)
        for heads in attendance.irregular:
            if not heads.count:
                continue
            inside = self._tally.presence(ticket.event_id, heads.day, heads.gate_id, heads.zone_id)
            self._tally.change(inside, inside=sign * heads.count, irregular=sign * heads.count)

    def _count_elsewhere(
        self, ticket: ScannedTicket, before: Iterable[HistoryScan], after: Iterable[HistoryScan]
    ) -> None:
        """People who were let in with the ticket at another event than its own."""
        was, now = (
            {
                each.id: each
                for each in scans
                if each.event_id != ticket.event_id and each.is_let_in and each.direction == "entry"
            }
            for scans in (before, after)
        )
        for sign, scans, others in ((-1, was, now), (1, now, was)):
            for each in scans.values():
                if each.id not in others:
                    event = self._facts.events[each.event_id]
                    self._count_head(event, each.scanned_at_canonical, each.day, each.gate_id, sign)

    def rule_without_ticket(
        self, event: EventFacts, scan: RecordedScan, day: dt.date, *, is_let_in: bool
    ) -> None:
        """More is known of a scan of what is no ticket of ours: it stands as that, and whoever was let in is
        inside."""
        ruling = Ruling(
            scan_id=scan.id,
            event_id=scan.event_id,
            is_let_in=is_let_in,
            status="denied",
            reason_denied=scan.stateless_reason or "ticket_not_found",
            entry_number=None,
            day=day,
        )
        self._rulings.append(ruling)
        if is_let_in and scan.direction == "entry":
            self.add_head(event, scan.scanned_at_canonical, day, scan.gate_id)

    def add_head(self, event: EventFacts, at: datetime, day: dt.date, gate_id: UUID) -> None:
        """Somebody was let in with what is no ticket of the event: they are inside all the same."""
        self._count_head(event, at, day, gate_id, 1)

    def take_head(self, event: EventFacts, at: datetime, day: dt.date, gate_id: UUID) -> None:
        """Nobody had been let in there, as it turns out."""
        self._count_head(event, at, day, gate_id, -1)

    def _count_head(
        self, event: EventFacts, at: datetime, day: dt.date, gate_id: UUID, sign: int
    ) -> None:
        """Unless the venue was declared empty since."""
        self._note_resets(event)
        if all(reset < at for reset in event.resets):
            here = self._tally.presence(event.id, day, gate_id, None)
            self._tally.change(here, inside=sign, irregular=sign)

    def _note_resets(self, event: EventFacts) -> None:
        if event.resets:
            self._resets[event.id] = max(event.resets)

    def _rule(self, before: Sequence[HistoryScan], judged: JudgedHistory) -> None:
        was_let_in = {each.id: each.is_let_in for each in before}
        for each in judged.scans:
            scan, resolution = each.scan, each.resolution
            if scan.resolution is None:
                continue
            if scan.resolution == resolution and was_let_in.get(scan.id) == scan.is_let_in:
                continue
            ruling = Ruling(
                scan_id=scan.id,
                event_id=scan.event_id,
                is_let_in=scan.is_let_in,
                status=resolution.status,
                reason_denied=resolution.reason,
                entry_number=resolution.entry_number,
                day=scan.day,
            )
            self._rulings.append(ruling)

    def plan(self) -> HistoryPlan:
        known = [each for each in self._facts.conflicts if each.ticket_id in self._codes]
        changes = conflict_changes(known, self._clashes, self._new_ids, self._now)
        return HistoryPlan(
            attendance=self._attendance,
            rulings=self._rulings,
            conflicts=changes.found,
            withdrawn=changes.withdrawn,
            counts=self._tally.changes(),
            codes=self._codes,
            checkpoints=self._states,
            resets=[KnownReset(event_id, at) for event_id, at in self._resets.items()],
            ahead=self._ahead,
        )
