"""What an admission makes of what is known of a ticket."""

import datetime as dt
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.ticketing.model.admissions import Attendance, IrregularHead
from voelgoed.ticketing.model.tickets import TicketStatus


def blank(ticket_id: UUID, status: TicketStatus) -> Attendance:
    """Of a ticket that nobody came with."""
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


def come_in_irregularly(before: Attendance, head: IrregularHead) -> Attendance:
    """Somebody was let in who had no right to: they are inside, and count as nothing else."""
    return msgspec.structs.replace(before, irregular=[*before.irregular, head])


def leave(before: Attendance, at: datetime) -> Attendance:
    """The person who came in rightly leaves first; after them, who came in irregularly first."""
    if before.is_inside:
        return msgspec.structs.replace(before, is_inside=False, last_exit_at=at)
    return msgspec.structs.replace(before, irregular=before.irregular[1:])
