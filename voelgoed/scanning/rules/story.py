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
from voelgoed.scanning.model.scans import Scan
from voelgoed.scanning.model.stories import Clash, Judged, Standing, StoryScan
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
    scans: Sequence[StoryScan],
    settled: Collection[UUID],
) -> list[Judged]:
    """In their order. Those that are settled stay as they stand."""
    attendance, last = blank(ticket.id, ticket.status), None
    told: list[Judged] = []
    strangers = _Strangers(event, ticket)
    for scan in in_order(scans):
        against = _judge_history(event, ticket, attendance, scan)
        standing = scan.standing if scan.id in settled else None
        if standing is None:
            standing = _judge(attendance, scan, against)
        is_repeated = against is not None or standing.reason in REASONS_OF_HISTORY
        is_entry, is_admitted = scan.direction == "entry", standing.status == "admitted"
        winner = last if is_entry and is_repeated and not is_admitted else None
        told.append(Judged(scan, standing, winner))
        if is_admitted:
            strangers.meet(scan, told)
            attendance = _after(attendance, scan)
            last = scan if is_entry else last
        elif is_entry and scan.is_let_in and winner is None:
            strangers.add(attendance, scan, len(told) - 1)
    return told


class _Strangers:
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

    def add(self, attendance: Attendance, scan: StoryScan, place: int) -> None:
        self._attendance = _after(self._attendance or attendance, scan)
        self._places.append(place)

    def meet(self, scan: StoryScan, told: list[Judged]) -> None:
        attendance = self._attendance
        if attendance is None:
            return
        against = _judge_history(self._event, self._ticket, attendance, scan)
        if scan.direction == "entry" and against is not None:
            for place in self._places:
                told[place] = Judged(told[place].scan, told[place].standing, scan)
            self._places, self._attendance = [], None
        else:
            self._attendance = _after(attendance, scan)


def settled_before(scans: Sequence[StoryScan], unsettled: Collection[UUID]) -> set[UUID]:
    """Those before the first of these, to which they do not matter."""
    return {scan.id for scan in takewhile(lambda scan: scan.id not in unsettled, in_order(scans))}


def corrected(
    scan: Scan, ticket_id: UUID, told: Iterable[StoryScan], outcome: Outcome, day: dt.date
) -> StoryScan | None:
    """What we answered, as what the device did; None where that is the same."""
    stood = next((each for each in told if each.id == scan.id), None)
    is_let_in = outcome == "valid"
    if (stood is not None and stood.is_let_in) == is_let_in:
        return None
    return StoryScan(
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
        standing=stood.standing if stood else Standing(scan.status, scan.reason_denied),
    )


def _judge_history(
    event: EventFacts, ticket: TicketFacts, attendance: Attendance, scan: StoryScan
) -> Reason | None:
    attempt = Attempt(at=scan.scanned_at_canonical, direction=scan.direction, issue=None)
    history = history_of(attendance)
    case = Case(attempt=attempt, event=event, gate=_ANY_GATE, ticket=ticket, history=history)
    return judge_history(case, ticket)


def _judge(attendance: Attendance, scan: StoryScan, against: Reason | None) -> Standing:
    if scan.source == "supervisor":
        return Standing("admitted", None, _entry_number(attendance, scan))
    # Whom we let in, and a device that did not hear us turned away: only that device knows why.
    is_unheard = scan.source == "online" and not scan.is_let_in
    reason = scan.reason_apart if is_unheard else foremost(scan.reason_apart, against)
    if reason is None and not scan.is_let_in:
        reason = reason_of(scan.outcome or "invalid")
    if reason is not None:
        return Standing("denied", reason)
    return Standing("admitted", None, _entry_number(attendance, scan))


def _entry_number(attendance: Attendance, scan: StoryScan) -> int | None:
    return attendance.scan_count + 1 if scan.direction == "entry" else None


def _after(attendance: Attendance, scan: StoryScan) -> Attendance:
    if scan.direction == "entry":
        return come_in(attendance, scan.scanned_at_canonical, scan.gate_id, scan.day)
    return leave(attendance, scan.scanned_at_canonical)


def clashes_of(told: Iterable[Judged]) -> list[Clash]:
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
