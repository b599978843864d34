"""The states of a seat and the ways between them.

available -> held (a hold)         held -> available (released, or its time is up)
held -> sold (paid in time)        sold -> available (refunded)
any -> blocked, with a reason      blocked -> what it was: sold, or else available
"""

from datetime import datetime

from voelgoed.seating.model.seats import SeatState, SeatStatus


def status_at(state: SeatState, now: datetime) -> SeatStatus:
    """A hold is over at the moment it ends, whether or not anybody has swept it away."""
    if state.status == "held" and state.held_until is not None and state.held_until <= now:
        return "available"
    return state.status


def seconds_left(state: SeatState, now: datetime) -> int | None:
    if status_at(state, now) != "held" or state.held_until is None:
        return None
    return max(1, round((state.held_until - now).total_seconds()))
