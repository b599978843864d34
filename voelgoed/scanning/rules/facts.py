"""The facts that the rule needs, from the rows of the tables, and the effect of an admission on
them."""

import datetime as dt
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

import msgspec

from voelgoed.events.model import EventDay
from voelgoed.scanning.model.decisions import EventFacts, GateFacts, History, TicketFacts
from voelgoed.scanning.model.policies import DEDUP_WINDOW_S
from voelgoed.scanning.model.stations import ScanningGate
from voelgoed.ticketing.model.admissions import Attendance, IrregularHeads, ScannedTicket
from voelgoed.ticketing.model.tickets import TicketStatus

MOMENT = timedelta(microseconds=1)
HeadsAt = tuple[UUID, UUID | None, dt.date]
"""The gate, the zone and the day that somebody counts for."""


def event_facts(gate: ScanningGate, days: Sequence[EventDay]) -> EventFacts:
    window = gate.dedup_window_s
    return EventFacts(
        id=gate.event_id,
        status=gate.event_status,
        ends_at=gate.event_ends_at,
        days=list(days),
        dedup_window_s=DEDUP_WINDOW_S if window is None else window,
    )


def gate_facts(gate: ScanningGate, inside: int) -> GateFacts:
    return GateFacts(
        id=gate.id,
        status=gate.status,
        allowed_zones=gate.allowed_zones,
        hard_capacity_limit=gate.hard_capacity_limit,
        inside=inside,
    )


def ticket_facts(ticket: ScannedTicket) -> TicketFacts:
    return TicketFacts(
        id=ticket.id,
        event_id=ticket.event_id,
        status=ticket.status,
        issue=ticket.issue,
        zone_id=ticket.zone_id,
        days=ticket.days,
        entry_limit=ticket.entry_limit,
        max_daily_entries=ticket.max_daily_entries,
        gate_ids=ticket.gate_ids,
        reentry=ticket.reentry,
        is_membership_active=ticket.is_membership_active,
    )


def attendance_of(ticket: ScannedTicket) -> Attendance:
    day = ticket.last_entry_day
    return Attendance(
        id=ticket.id,
        status=ticket.status,
        scanned_at=ticket.scanned_at,
        last_scanned_at=ticket.last_scanned_at,
        last_exit_at=ticket.last_exit_at,
        last_gate_id=ticket.last_gate_id,
        last_entry_day=None if day is None else dt.date.fromisoformat(day),
        day_entries=ticket.day_entries,
        is_inside=ticket.is_inside,
        scan_count=ticket.scan_count,
        irregular=ticket.irregular,
        seen=ticket.seen,
    )


def history_of(attendance: Attendance | None) -> History:
    if attendance is None:
        return NOBODY_CAME
    irregular = sum(each.count for each in attendance.irregular)
    if attendance.last_entry_day is None:
        return (
            msgspec.structs.replace(NOBODY_CAME, irregular=irregular) if irregular else NOBODY_CAME
        )
    day = attendance.last_entry_day.isoformat()
    return History(
        entries=attendance.scan_count,
        entries_by_day={day: attendance.day_entries},
        last_scanned_at=attendance.last_scanned_at,
        inside_day=day if attendance.is_inside else None,
        inside_gate_id=attendance.last_gate_id if attendance.is_inside else None,
        irregular=irregular,
        left_at=None if attendance.is_inside else attendance.last_exit_at,
    )


NOBODY_CAME = History(entries=0, entries_by_day={}, last_scanned_at=None, inside_day=None)


def later(at: datetime, attendance: Attendance | None, reset: datetime | None = None) -> datetime:
    """The moment of a scan: after all known moments of the ticket and of the event, whatever this
    machine's clock says. `reset` is when the venue was last declared empty."""
    if attendance is None:
        return at
    for last in (attendance.last_scanned_at, attendance.last_exit_at, reset):
        if last is not None and last >= at:
            at = last + MOMENT
    return at


def blank(ticket_id: UUID, status: TicketStatus) -> Attendance:
    """The attendance of a ticket that nobody came with."""
    return Attendance(
        id=ticket_id,
        status="active" if status == "scanned" else status,
        scanned_at=None,
        last_scanned_at=None,
        last_exit_at=None,
        last_gate_id=None,
        last_entry_day=None,
        day_entries=0,
        is_inside=False,
        scan_count=0,
        irregular=[],
        seen=None,
    )


def with_status(attendance: Attendance, status: TicketStatus) -> Attendance:
    """The attendance of a ticket with its present status; a valid one is scanned once somebody came
    with it."""
    if status in ("active", "scanned"):
        status = "scanned" if attendance.scan_count else "active"
    return msgspec.structs.replace(attendance, status=status)


def come_in(before: Attendance, at: datetime, gate_id: UUID, day: dt.date) -> Attendance:
    return Attendance(
        id=before.id,
        status="scanned" if before.status == "active" else before.status,
        scanned_at=before.scanned_at or at,
        last_scanned_at=at,
        last_exit_at=before.last_exit_at,
        last_gate_id=gate_id,
        last_entry_day=day,
        day_entries=before.day_entries + 1 if before.last_entry_day == day else 1,
        is_inside=True,
        scan_count=before.scan_count + 1,
        irregular=before.irregular,
        seen=before.seen,
    )


def come_in_irregularly(before: Attendance, where: HeadsAt, at: datetime) -> Attendance:
    """Somebody was let in who had no right to: they are inside, and count as nothing else."""
    return msgspec.structs.replace(before, irregular=add_head(before.irregular, where, at))


def leave(before: Attendance, at: datetime) -> Attendance:
    """The person who came in rightly leaves first; after them, those who came in irregularly first."""
    if before.is_inside:
        return msgspec.structs.replace(before, is_inside=False, last_exit_at=at)
    return msgspec.structs.replace(before, irregular=without_first_head(before.irregular))


def add_head(heads: Sequence[IrregularHeads], where: HeadsAt, at: datetime) -> list[IrregularHeads]:
    """One more there, who came at that moment."""
    gate_id, zone_id, day = where
    one = IrregularHeads(gate_id=gate_id, zone_id=zone_id, day=day, last_at=at)
    if all(_where(each) != where for each in heads):
        return [*heads, one]
    return [
        msgspec.structs.replace(each, count=each.count + 1, last_at=max(each.last_at, at))
        if _where(each) == where
        else each
        for each in heads
    ]


def no_heads(where: HeadsAt, at: datetime) -> IrregularHeads:
    """Somebody came in there irregularly and has left."""
    gate_id, zone_id, day = where
    return IrregularHeads(gate_id=gate_id, zone_id=zone_id, day=day, last_at=at, count=0)


def without_head(heads: Sequence[IrregularHeads], where: HeadsAt) -> list[IrregularHeads]:
    """One less there; never less than nobody."""
    left = (
        msgspec.structs.replace(each, count=each.count - (_where(each) == where)) for each in heads
    )
    return [each for each in left if each.count > 0]


def without_first_head(heads: Sequence[IrregularHeads]) -> list[IrregularHeads]:
    return without_head(heads, _where(heads[0])) if heads else []


def _where(heads: IrregularHeads) -> HeadsAt:
    return heads.gate_id, heads.zone_id, heads.day
