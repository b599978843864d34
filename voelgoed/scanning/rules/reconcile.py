"""A ticket's scans judged in their canonical order, so that it does not matter when they became known.

What counts is who was let through at the gate. Whoever was, and should not have been, does not count
as an entry and is a conflict; whoever was turned away never counts, whatever the rule would have said:
nobody came in.
"""

import datetime as dt
from collections.abc import Collection, Iterable, Sequence
from itertools import takewhile
from uuid import UUID

from voelgoed.scanning.model.decisions import (
    REASONS_OF_HISTORY,
    Attempt,
    EventFacts,
    GateFacts,
    Reason,
    TicketFacts,
)
from voelgoed.scanning.model.outcomes import Outcome
from voelgoed.scanning.model.scan_history import Clash, HistoryScan, JudgedScan, Resolution
from voelgoed.scanning.model.scans import Scan
from voelgoed.scanning.rules.attendance import come_in, leave
from voelgoed.scanning.rules.decision import (
    Case,
    foremost,
    judge_history,
)
from voelgoed.scanning.rules.facts import history_of
from voelgoed.scanning.rules.outcomes import reason_of
from voelgoed.scanning.rules.replay import blank, in_order
from voelgoed.scanning.rules.synced import lasting
from voelgoed.ticketing.model.admissions import Attendance

_ANY_GATE = GateFacts(
    id=UUID(int=0), status="open", allowed_zones=None, hard_capacity_limit=None, inside=0
)
"""What a gate has to say is said of each scan apart."""


def tell(
    event: EventFacts,
    ticket: TicketFacts,
    scans: Sequence[HistoryScan],
    frozen: Collection[UUID],
) -> list[JudgedScan]:
    """In their order. Those that are frozen stay as they stand."""
    attendance, last = blank(ticket.id, ticket.status), None
    told: list[JudgedScan] = []
    irregular = _IrregularEntries(event, ticket)
    for scan in in_order(scans):
        against = _judge_history(event, ticket, attendance, scan)
        resolution = scan.resolution if scan.id in frozen else None
        if resolution is None:
            resolution = _judge(attendance, scan, against)
        is_repeated = against is not None or resolution.reason in REASONS_OF_HISTORY
        is_entry, is_admitted = scan.direction == "entry", resolution.status == "admitted"
        winner = last if is_entry and is_repeated and not is_admitted else None
        told.append(JudgedScan(scan, resolution, winner))
        if is_admitted:
            irregular.meet(scan, told)
            attendance = _after(attendance, scan)
            last = scan if is_entry else last
        elif is_entry and scan.is_let_in and winner is None:
            irregular.add(attendance, scan, len(told) - 1)
    return told


class _IrregularEntries:
    """Who came in with a ticket though something was against that scan alone: it was void, or not for
    there. They count for nothing, but they are inside: who comes in with it after them, and would not
    have if they counted, is the second person."""

    def __init__(self, event: EventFacts, ticket: TicketFacts) -> None:
        self._event = event
        self._ticket = ticket
        self._places: list[int] = []
        """Among what was told."""
        self._attendance: Attendance | None = None
        """If they counted."""

    def add(self, attendance: Attendance, scan: HistoryScan, place: int) -> None:
        self._attendance = _after(self._attendance or attendance, scan)
        self._places.append(place)

    def meet(self, scan: HistoryScan, told: list[JudgedScan]) -> None:
        attendance = self._attendance
        if attendance is None:
            return
        against = _judge_history(self._event, self._ticket, attendance, scan)
        if scan.direction == "entry" and against is not None:
            for place in self._places:
                told[place] = JudgedScan(told[place].scan, told[place].resolution, scan)
            self._places, self._attendance = [], None
        else:
            self._attendance = _after(attendance, scan)


def frozen_prefix(scans: Sequence[HistoryScan], changed: Collection[UUID]) -> set[UUID]:
    """Those before the first of these, to which they do not matter."""
    return {scan.id for scan in takewhile(lambda scan: scan.id not in changed, in_order(scans))}


def corrected(
    scan: Scan, ticket_id: UUID, told: Iterable[HistoryScan], outcome: Outcome, day: dt.date
) -> HistoryScan | None:
    """What we answered, as what the device did; None where that is the same."""
    stood = next((each for each in told if each.id == scan.id), None)
    is_let_in = outcome == "valid"
    if (stood is not None and stood.is_let_in) == is_let_in:
        return None
    return HistoryScan(
        id=scan.id,
        event_id=scan.event_id,
        gate_id=scan.gate_id,
        zone_id=scan.zone_id,
        device_id=scan.device_id,
        direction=scan.direction,
        scanned_at_canonical=scan.scanned_at_canonical,
        day=day,
        ticket_id=ticket_id,
        source=scan.source,
        is_let_in=is_let_in,
        reason_apart=lasting(scan.reason_denied),
        outcome=outcome,
        resolution=stood.resolution if stood else Resolution(scan.status, scan.reason_denied),
    )


def _judge_history(
    event: EventFacts, ticket: TicketFacts, attendance: Attendance, scan: HistoryScan
) -> Reason | None:
    attempt = Attempt(at=scan.scanned_at_canonical, direction=scan.direction, issue=None)
    history = history_of(attendance)
    case = Case(attempt=attempt, event=event, gate=_ANY_GATE, ticket=ticket, history=history)
    return judge_history(case, ticket)


def _judge(attendance: Attendance, scan: HistoryScan, against: Reason | None) -> Resolution:
    if scan.source == "supervisor":
        return Resolution("admitted", None, _entry_number(attendance, scan))
    # Whom we let in, and a device that did not hear us turned away: only that device knows why.
    is_unheard = scan.source == "online" and not scan.is_let_in
    reason = scan.reason_apart if is_unheard else foremost(scan.reason_apart, against)
    if reason is None and not scan.is_let_in:
        reason = reason_of(scan.outcome or "invalid")
    if reason is not None:
        return Resolution("denied", reason)
    return Resolution("admitted", None, _entry_number(attendance, scan))


def _entry_number(attendance: Attendance, scan: HistoryScan) -> int | None:
    return attendance.scan_count + 1 if scan.direction == "entry" else None


def _after(attendance: Attendance, scan: HistoryScan) -> Attendance:
    if scan.direction == "entry":
        return come_in(attendance, scan.scanned_at_canonical, scan.gate_id, scan.day)
    return leave(attendance, scan.scanned_at_canonical)


def clashes_of(told: Iterable[JudgedScan]) -> list[Clash]:
    """Critical where two were let in with one ticket, low where a device alone turned the second away.
    Whom we turned away ourselves was answered right."""
    return [
        Clash(
            event_id=each.scan.event_id,
            ticket_id=each.scan.ticket_id,
            scan_id=each.scan.id,
            winner_scan_id=each.winner.id,
            kind="double_entry" if each.scan.is_let_in else "duplicate_scan",
            severity="critical" if each.scan.is_let_in else "low",
        )
        for each in told
        if each.winner is not None and (each.scan.is_let_in or each.scan.source != "online")
    ]
