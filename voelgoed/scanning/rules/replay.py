"""A ticket's story told again: what its admissions, in their order, make of it and of the counts.

The order is that of the canonical moments, then of devices, then of scans, so that it does not matter
in which order they became known.
"""

from collections.abc import Sequence
from typing import TypeVar
from uuid import UUID

from voelgoed.scanning.model.occupancy import Passage
from voelgoed.scanning.rules.attendance import come_in, leave
from voelgoed.scanning.rules.tally import Move, Place, Tally
from voelgoed.ticketing.model.admissions import Attendance
from voelgoed.ticketing.model.tickets import TicketStatus

P = TypeVar("P", bound=Passage)
NOBODY = UUID(int=0)


def in_order(passages: Sequence[P]) -> list[P]:
    return sorted(
        passages, key=lambda each: (each.scanned_at_canonical, each.device_id or NOBODY, each.id)
    )


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
        seen=None,
    )


def replay(
    tally: Tally, ticket_id: UUID, status: TicketStatus, passages: Sequence[Passage]
) -> tuple[Attendance, list[Move]]:
    attendance, moves = blank(ticket_id, status), list[Move]()
    inside: Sequence[Place] = ()
    for each in in_order(passages):
        here = tally.presence(each.event_id, each.day, each.gate_id, each.zone_id)
        moves.append(Move(here, inside, each.direction == "entry"))
        if each.direction == "entry":
            attendance = come_in(attendance, each.scanned_at_canonical, each.gate_id, each.day)
            inside = here
        else:
            attendance, inside = leave(attendance, each.scanned_at_canonical), ()
    return attendance, moves
