"""What an admission makes of what is known of a ticket."""

import datetime as dt
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.ticketing.model.admissions import Attendance, IrregularHeads
from voelgoed.ticketing.model.tickets import TicketStatus

HeadsAt = tuple[UUID, UUID | None, dt.date]
"""The gate, the zone and the day that somebody counts for."""


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


def come_in_irregularly(before: Attendance, at: HeadsAt) -> Attendance:
    """Somebody was let in who had no right to: they are inside, and count as nothing else."""
    return msgspec.structs.replace(before, irregular=add_heads(before.irregular, at, 1))


def leave(before: Attendance, at: datetime) -> Attendance:
    """The person who came in rightly leaves first; after them, those who came in irregularly first."""
    if before.is_inside:
        return msgspec.structs.replace(before, is_inside=False, last_exit_at=at)
    return msgspec.structs.replace(before, irregular=without_first_head(before.irregular))


def heads_at(heads: IrregularHeads) -> HeadsAt:
    return heads.gate_id, heads.zone_id, heads.day


def add_heads(heads: Sequence[IrregularHeads], at: HeadsAt, count: int) -> list[IrregularHeads]:
    """So many more there, or less; never less than nobody."""
    found = {heads_at(each): each.count for each in heads}
    found[at] = found.get(at, 0) + count
    return [
        IrregularHeads(gate_id=gate_id, zone_id=zone_id, day=day, count=count)
        for (gate_id, zone_id, day), count in found.items()
        if count > 0
    ]


def no_heads(at: HeadsAt) -> IrregularHeads:
    """Somebody came in there irregularly and has left."""
    gate_id, zone_id, day = at
    return IrregularHeads(gate_id=gate_id, zone_id=zone_id, day=day, count=0)


def without_first_head(heads: Sequence[IrregularHeads]) -> list[IrregularHeads]:
    return add_heads(heads, heads_at(heads[0]), -1) if heads else []
