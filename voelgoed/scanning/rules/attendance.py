"""What an admission makes of what is known of a ticket."""

import datetime as dt
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.ticketing.model.admissions import Attendance


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
        seen=before.seen,
    )


def leave(before: Attendance, at: datetime) -> Attendance:
    return msgspec.structs.replace(before, is_inside=False, last_exit_at=at)
