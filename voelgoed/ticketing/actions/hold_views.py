"""Holds in the words and shapes that their holders get."""

import math
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from voelgoed.seating.actions.views import View
from voelgoed.ticketing.model.holds import Booking, Hold, SeatHold


def shown(view: View, hold: SeatHold, now: datetime) -> Hold:
    left = seconds_left(hold, now)
    position = None if hold.seat_id is None else view.plan.by_id.get(hold.seat_id)
    seat = None if position is None else view.plan.seats[position]
    is_held = hold.status == "active" and hold.held_until > now
    ended = "expired" if hold.status == "active" else hold.status
    return Hold(
        hold_id=hold.id,
        booking_id=hold.booking_id,
        event_id=hold.event_id,
        seat_id=hold.seat_id,
        seat_label=seat and seat.seat_id,
        zone_id=hold.zone_id,
        block_name=view.zone(hold.zone_id).zone.name,
        row=seat and seat.row,
        seat_number=None if seat is None else str(seat.number),
        places=hold.places,
        days=hold.days,
        status="held" if is_held else ended,
        held_until=hold.held_until,
        held_until_unix=int(hold.held_until.timestamp()),
        expires_in_seconds=left,
        can_extend=is_held and not hold.extended,
        message=_message(hold, left) if is_held else "This hold has ended.",
    )


def seconds_left(hold: SeatHold, now: datetime) -> int:
    return max(0, math.ceil((hold.held_until - now).total_seconds()))


def _message(hold: SeatHold, left: int) -> str:
    what = "Seat" if hold.seat_id is not None else f"{hold.places} place{'s' * (hold.places > 1)}"
    minutes, seconds = divmod(left, 60)
    time = f"{minutes} minute{'s' * (minutes != 1)}" if minutes else f"{seconds} seconds"
    return f"{what} reserved for {time}. Proceed to checkout."


def booking(booking_id: UUID, event_id: UUID, holds: Sequence[Hold]) -> Booking:
    first = min(holds, key=lambda hold: hold.held_until)
    return Booking(
        booking_id=booking_id,
        event_id=event_id,
        held_until=first.held_until,
        expires_in_seconds=first.expires_in_seconds,
        holds=list(holds),
    )
