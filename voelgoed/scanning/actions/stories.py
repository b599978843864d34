"""Stories told again when more is known of a ticket: what that does to it, to its scans, to the counts,
and which scans contradict each other then."""

from collections import Counter
from collections.abc import Collection, Sequence
from functools import partial
from uuid import UUID

import msgspec
import structlog

from voelgoed.accounts.actions.audit import NewAuditEntry, record_all
from voelgoed.accounts.model import Caller
from voelgoed.infra.database import Transaction
from voelgoed.infra.ids import new_id
from voelgoed.scanning import metrics
from voelgoed.scanning.actions.alerts import raise_alerts, resolve_double_entries
from voelgoed.scanning.model.conflicts import Conflict
from voelgoed.scanning.model.decisions import EventFacts
from voelgoed.scanning.model.occupancy import Counted
from voelgoed.scanning.model.scan_history import Clash, HistoryScan, JudgedScan
from voelgoed.scanning.rules.alerts import alerts_topic
from voelgoed.scanning.rules.conflicts import conflict_changed, suspicion_of
from voelgoed.scanning.rules.facts import ticket_facts
from voelgoed.scanning.rules.reconcile import clashes_of, tell
from voelgoed.scanning.rules.replay import replay
from voelgoed.scanning.rules.tally import Tally
from voelgoed.scanning.store import conflicts, occupancy
from voelgoed.scanning.store import scan_history as store
from voelgoed.scanning.store.conflicts import NewConflict
from voelgoed.scanning.store.scan_history import Ruling
from voelgoed.ticketing.actions import admissions
from voelgoed.ticketing.model.admissions import Attendance, ScannedTicket
from voelgoed.ticketing.model.tickets import TicketStatus

log = structlog.get_logger()

RECORDED_MAX = 100
"""Conflicts of one ticket that are named in the audit log."""


class Stories:
    """Of tickets that are locked, or were seen and are checked when they are written."""

    def __init__(self) -> None:
        self._tally = Tally()
        self._attendance: list[Attendance] = []
        self._rulings: list[Ruling] = []
        self._contested: list[UUID] = []
        """Tickets with more than one scan."""
        self._codes: dict[UUID, str] = {}
        """Of those."""
        self._clashes: list[Clash] = []
        self.conflicts: list[Conflict] = []
        """Those that are new, once it is written."""

    def tell(
        self,
        ticket: ScannedTicket,
        event: EventFacts,
        before: Sequence[HistoryScan],
        after: Sequence[HistoryScan],
        frozen: Collection[UUID],
        *,
        is_locked: bool = False,
        status: TicketStatus | None = None,
    ) -> list[JudgedScan]:
        """Scans that are not frozen are judged, and so is whatever was learnt of them anew."""
        told = tell(event, ticket_facts(ticket), after, frozen)
        status = status or ticket.status
        stood = [
            each for each in before if each.resolution and each.resolution.status == "admitted"
        ]
        stand = [each.scan for each in told if each.resolution.status == "admitted"]
        if stood:
            for move in replay(self._tally, ticket.id, status, stood)[1]:
                self._tally.take_back(move)
        attendance, moves_after = replay(self._tally, ticket.id, status, stand)
        for move in moves_after:
            self._tally.add(move)
        seen = None if is_locked else ticket.seen
        self._attendance.append(msgspec.structs.replace(attendance, seen=seen))
        self._rule(before, told)
        if len(before) + len(after) > 1:
            self._contested.append(ticket.id)
            self._codes[ticket.id] = ticket.code
            self._clashes += clashes_of(told)
        return told

    def _rule(self, before: Sequence[HistoryScan], told: Sequence[JudgedScan]) -> None:
        was_let_in = {each.id: each.is_let_in for each in before}
        for each in told:
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

    async def write_tickets(self, tx: Transaction) -> None:
        await admissions.write_attendance(tx, self._attendance)

    async def write_rulings(self, tx: Transaction) -> None:
        await store.insert_rulings(tx, self._rulings)

    async def write_conflicts(self, tx: Transaction, caller: Caller) -> None:
        """Critical ones are told at once to whoever watches the event."""
        if not self._contested:
            return
        left = [each.scan_id for each in self._clashes]
        withdrawn = await conflicts.withdraw_conflicts(tx, self._contested, left)
        if self._clashes:
            new = [
                NewConflict(id=new_id(), **msgspec.structs.asdict(each)) for each in self._clashes
            ]
            self.conflicts = await conflicts.put_conflicts(tx, new)
        await record_all(
            tx,
            [
                *_audit_entries(caller, "conflict_detected", self.conflicts),
                *_audit_entries(caller, "conflict_withdrawn", withdrawn),
            ],
        )
        await self._tell(tx, caller, withdrawn)

    async def _tell(self, tx: Transaction, caller: Caller, withdrawn: Sequence[Conflict]) -> None:
        """Of each ticket once: a device that is out of its mind makes thousands of them."""
        tx.once_committed(partial(_count, self.conflicts))
        last = {each.ticket_id: each for each in self.conflicts if each.severity == "critical"}
        suspicions = [
            suspicion_of(each, self._codes[each.ticket_id], tx.now)
            for each in self.conflicts
            if each.severity == "critical"
        ]
        await raise_alerts(tx, suspicions)
        await resolve_double_entries(tx, caller, [each.ticket_id for each in withdrawn])
        for each in last.values():
            tx.publish(alerts_topic(each.event_id), conflict_changed("conflict_detected", each))
        for each in {each.ticket_id: each for each in withdrawn}.values():
            tx.publish(alerts_topic(each.event_id), conflict_changed("conflict_withdrawn", each))

    async def write_counts(self, tx: Transaction) -> list[Counted]:
        """The last of all: everybody at the event waits for whoever has changed them. Gives what they
        are then."""
        changes = self._tally.changes()
        return await occupancy.add_counts(tx, changes) if changes else []


def _count(found: Sequence[Conflict]) -> None:
    alike = Counter((each.event_id, each.kind, each.severity) for each in found)
    for (event_id, kind, severity), count in alike.items():
        metrics.conflicts_found.labels(kind, severity).inc(count)
        log.info(
            "conflict.detected",
            event_id=str(event_id),
            kind=kind,
            severity=severity,
            count=count,
        )


def _audit_entries(
    caller: Caller, action: str, conflicts: Sequence[Conflict]
) -> list[NewAuditEntry]:
    """One for each ticket; the conflicts themselves are kept."""
    by_ticket: dict[UUID, list[Conflict]] = {}
    for each in conflicts:
        by_ticket.setdefault(each.ticket_id, []).append(each)
    entries: list[NewAuditEntry] = []
    for ticket_id, those in by_ticket.items():
        changes: dict[str, object] = {
            "count": len(those),
            "conflicts": [
                {
                    "kind": each.kind,
                    "scan_id": each.scan_id,
                    "winner_scan_id": each.winner_scan_id,
                    "state": each.state,
                }
                for each in those[:RECORDED_MAX]
            ],
        }
        entries.append(NewAuditEntry(caller, action, "Ticket", ticket_id, changes))
    return entries
