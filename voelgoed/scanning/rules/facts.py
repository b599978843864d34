"""From what the tables say to what the rule asks for."""

import datetime as dt
from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from voelgoed.events.model import EventDay
from voelgoed.scanning.model.decisions import EventFacts, GateFacts, History, TicketFacts
from voelgoed.scanning.model.policies import DEDUP_WINDOW_S
from voelgoed.scanning.model.stations import ScanningGate
from voelgoed.ticketing.model.admissions import Attendance, ScannedTicket

MOMENT = timedelta(microseconds=1)


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
        irregular=irregular,
        left_at=None if attendance.is_inside else attendance.last_exit_at,
    )


NOBODY_CAME = History(entries=0, entries_by_day={}, last_scanned_at=None, inside_day=None)


def later(at: datetime, attendance: Attendance | None) -> datetime:
    """After what is known of the ticket, whatever this machine's clock says."""
    if attendance is None:
        return at
    for last in (attendance.last_scanned_at, attendance.last_exit_at):
        if last is not None and last >= at:
            at = last + MOMENT
    return at
