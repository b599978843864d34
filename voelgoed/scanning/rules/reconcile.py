"""A ticket's scan history: its scans judged in their canonical order, whenever they became known.

What counts is who was let through at the gate. Whoever was let in and should not have been does not count
as an entry, but is inside: an irregular entry, or a person at another event than the ticket's own, where the
history is not about who is inside. Whoever was turned away never counts, whatever the rule would
have said: nobody came in.

The judgement is a fold: a state, then one scan after the other. It follows from the set of scans and from
nothing else, so it does not matter in which order they became known.
"""

import datetime as dt
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from itertools import takewhile
from typing import TypeVar
from uuid import UUID

import msgspec

from voelgoed.scanning.model.decisions import (
    REASONS_OF_HISTORY,
    Attempt,
    EventFacts,
    Reason,
    TicketFacts,
)
from voelgoed.scanning.model.occupancy import Passage
from voelgoed.scanning.model.outcomes import Outcome
from voelgoed.scanning.model.scan_history import (
    HistoryScan,
    HistoryState,
    JudgedHistory,
    JudgedScan,
    Resolution,
)
from voelgoed.scanning.model.sync_facts import RecordedScan
from voelgoed.scanning.rules.decision import Case, foremost, judge_history
from voelgoed.scanning.rules.facts import (
    HeadsAt,
    blank,
    come_in,
    come_in_irregularly,
    history_of,
    leave,
    no_heads,
    with_status,
    without_head,
)
from voelgoed.scanning.rules.outcomes import reason_of
from voelgoed.scanning.rules.synced import ANY_GATE, lasting
from voelgoed.ticketing.model.admissions import Attendance
from voelgoed.ticketing.model.tickets import TicketStatus

P = TypeVar("P", bound=Passage)
NOBODY = UUID(int=0)


def in_order(passages: Iterable[P]) -> list[P]:
    """The canonical order: by moment, then by device, then by scan."""
    return sorted(passages, key=_key)


def _key(passage: Passage) -> tuple[datetime, UUID, UUID]:
    return passage.scanned_at_canonical, passage.device_id or NOBODY, passage.id


def is_after(scan: Passage, state: HistoryState) -> bool:
    """Whether the scan comes after all of those that the state is made of."""
    return state.last_scan is None or _key(scan) > _key(state.last_scan)


def beginning(ticket_id: UUID, status: TicketStatus) -> HistoryState:
    """The state before the first scan."""
    attendance = blank(ticket_id, status)
    return HistoryState(attendance=attendance, everybody=attendance)


def reconcile(
    event: EventFacts,
    ticket: TicketFacts,
    scans: Iterable[HistoryScan],
    frozen: Collection[UUID] = (),
    state: HistoryState | None = None,
) -> JudgedHistory:
    """The scans in their order, each judged after those before it. Those that are frozen keep their
    resolution. `state` is that before the first of them, where they are not the whole history."""
    if state is None:
        state = beginning(ticket.id, ticket.status)
    else:
        # The ticket may have been voided, refunded or used since.
        attendance = with_status(state.attendance, ticket.status)
        state = msgspec.structs.replace(state, attendance=attendance)
    judged: list[JudgedScan] = []
    places: dict[UUID, int] = {}
    earlier: list[JudgedScan] = []
    since = state.last_scan
    resets = sorted(
        (each for each in event.resets if since is None or each >= since.scanned_at_canonical),
        reverse=True,
    )
    for scan in in_order(scans):
        while resets and resets[-1] < scan.scanned_at_canonical:
            state = _everybody_left(state)
            resets.pop()
        result, matched, state = _step(event, ticket, state, scan, is_frozen=scan.id in frozen)
        for each in matched:
            if (place := places.get(each.id)) is not None:
                judged[place] = msgspec.structs.replace(judged[place], winner=scan)
            elif each.resolution is not None:
                earlier.append(JudgedScan(each, each.resolution, scan))
        places[scan.id] = len(judged)
        judged.append(result)
        state = msgspec.structs.replace(state, last_scan=scan)
    attendance = (_everybody_left(state) if resets else state).attendance
    return JudgedHistory(judged, state, _marked(attendance, state.unmatched), earlier)


def _marked(attendance: Attendance, unmatched: Sequence[HistoryScan]) -> Attendance:
    """A ticket with an irregular entry that is in no conflict keeps a mark of it when everybody has left: who
    comes in next at a gate that is online may have to be reconciled with it."""
    if attendance.irregular or not unmatched:
        return attendance
    last = unmatched[-1]
    return msgspec.structs.replace(
        attendance, irregular=[no_heads(_heads_at(last), last.scanned_at_canonical)]
    )


def _everybody_left(state: HistoryState) -> HistoryState:
    """Somebody declared the venue empty."""
    return msgspec.structs.replace(
        state,
        attendance=msgspec.structs.replace(state.attendance, is_inside=False, irregular=[]),
        everybody=msgspec.structs.replace(state.everybody, is_inside=False),
    )


def _step(
    event: EventFacts,
    ticket: TicketFacts,
    state: HistoryState,
    scan: HistoryScan,
    *,
    is_frozen: bool,
) -> tuple[JudgedScan, Sequence[HistoryScan], HistoryState]:
    """The scan as it is judged, earlier irregular entries that it contradicts, and the state after it."""
    against = _judge_history(event, ticket, state.attendance, scan)
    resolution = scan.resolution if is_frozen else None
    if resolution is None:
        resolution = _judge(state.attendance, scan, against)
    is_entry = scan.direction == "entry"
    if resolution.status == "admitted":
        is_second = (
            is_entry
            and bool(state.unmatched)
            and _judge_history(event, ticket, state.everybody, scan) is not None
        )
        matched = state.unmatched if is_second else ()
        return JudgedScan(scan, resolution), matched, _admitted(state, scan, is_second=is_second)
    is_repeated = against is not None or resolution.reason in REASONS_OF_HISTORY
    winner = state.last_entry if is_entry and is_repeated else None
    if not (is_entry and scan.is_let_in):
        return JudgedScan(scan, resolution, winner), (), state
    if winner is None and _is_somebody_else(event, ticket, state, scan):
        winner = state.last_let_in
    after = _irregular(event, state, scan, winner, resolution)
    return JudgedScan(scan, resolution, winner), (), after


def _is_somebody_else(
    event: EventFacts, ticket: TicketFacts, state: HistoryState, scan: HistoryScan
) -> bool:
    """Whether who comes in irregularly is another person than whoever came before: somebody is inside with
    the ticket, or could not have come again so soon. At another event nobody is seen leaving."""
    attendance = state.attendance
    if attendance.is_inside or attendance.irregular or state.is_elsewhere:
        return True
    return _judge_history(event, ticket, state.everybody, scan) is not None


def _judge_history(
    event: EventFacts, ticket: TicketFacts, attendance: Attendance, scan: HistoryScan
) -> Reason | None:
    attempt = Attempt(at=scan.scanned_at_canonical, direction=scan.direction, issue=None)
    history = history_of(attendance)
    case = Case(attempt=attempt, event=event, gate=ANY_GATE, ticket=ticket, history=history)
    return judge_history(case, ticket)


def _judge(attendance: Attendance, scan: HistoryScan, against: Reason | None) -> Resolution:
    if scan.source == "supervisor":
        return Resolution("admitted", None, _entry_number(attendance, scan))
    if not scan.is_let_in:
        # What the device said of it stays, whatever becomes known of other scans.
        return Resolution("denied", scan.stateless_reason or reason_of(scan.outcome or "invalid"))
    reason = foremost(scan.stateless_reason, against)
    if reason is not None:
        return Resolution("denied", reason)
    return Resolution("admitted", None, _entry_number(attendance, scan))


def _entry_number(attendance: Attendance, scan: HistoryScan) -> int | None:
    return attendance.scan_count + 1 if scan.direction == "entry" else None


def _admitted(state: HistoryState, scan: HistoryScan, *, is_second: bool) -> HistoryState:
    """Whoever came in irregularly before and is in no conflict has left unseen, and comes again."""
    attendance = _after(state.attendance, scan)
    all_rightly = state.everybody is state.attendance
    everybody = attendance if all_rightly else _after(state.everybody, scan)
    if scan.direction == "exit":
        return msgspec.structs.replace(state, attendance=attendance, everybody=everybody)
    if not is_second:
        for each in state.unmatched:
            heads = without_head(attendance.irregular, _heads_at(each))
            attendance = msgspec.structs.replace(attendance, irregular=heads)
    return HistoryState(
        attendance=attendance,
        everybody=attendance if is_second else everybody,
        last_entry=scan,
        last_let_in=scan,
        is_elsewhere=state.is_elsewhere,
    )


def _irregular(
    event: EventFacts,
    state: HistoryState,
    scan: HistoryScan,
    winner: HistoryScan | None,
    resolution: Resolution,
) -> HistoryState:
    kept = msgspec.structs.replace(scan, resolution=resolution)
    attendance, is_elsewhere = state.attendance, scan.event_id != event.id
    if not is_elsewhere:
        at = scan.scanned_at_canonical
        attendance = come_in_irregularly(attendance, _heads_at(scan), at)
    return msgspec.structs.replace(
        state,
        attendance=attendance,
        is_elsewhere=state.is_elsewhere or is_elsewhere,
        everybody=_after(state.everybody, scan),
        last_let_in=scan,
        unmatched=state.unmatched if winner else (*state.unmatched, kept),
    )


def _heads_at(scan: HistoryScan) -> HeadsAt:
    return scan.gate_id, scan.zone_id, scan.day


def _after(attendance: Attendance, scan: HistoryScan) -> Attendance:
    if scan.direction == "entry":
        return come_in(attendance, scan.scanned_at_canonical, scan.gate_id, scan.day)
    return leave(attendance, scan.scanned_at_canonical)


def frozen_prefix(scans: Iterable[HistoryScan], changed: Collection[UUID]) -> set[UUID]:
    """The scans before the first of those that changed, for which it does not matter."""
    return {scan.id for scan in takewhile(lambda scan: scan.id not in changed, in_order(scans))}


def corrected(
    scan: RecordedScan, ticket_id: UUID, outcome: Outcome, day: dt.date
) -> HistoryScan | None:
    """A scan that we answered, as what its device did; None where that is the same."""
    is_let_in = outcome == "valid"
    if scan.is_let_in == is_let_in:
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
        stateless_reason=lasting(scan.reason_denied),
        outcome=outcome,
        resolution=scan.resolution,
    )
