"""When seats can be held, for how long, and by whom how often."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from voelgoed.accounts.model import Caller
from voelgoed.accounts.rules.permissions import may
from voelgoed.events.model import Event
from voelgoed.infra.rate_limit import Limit, Window
from voelgoed.infra.refusal import RateLimited, Refusal
from voelgoed.seating.model.policy import SeatingPolicy
from voelgoed.ticketing.model.holds import SeatHold
from voelgoed.ticketing.model.refusals import (
    EventNotAvailable,
    EventSalesClosed,
    EventUnavailable,
    HoldAlreadyExtended,
    HoldEnded,
)

SEATS_PER_USER = 10
PERIOD = timedelta(minutes=5)
SWEEP_AFTER = timedelta(seconds=10)
"""After its end a hold is swept away: a little later, so that no clock is ahead of another."""


def sale_refusal(event: Event, now: datetime) -> Refusal | None:
    """Why nothing of this event can be booked at this moment."""
    if event.status == "cancelled":
        return EventUnavailable(status=event.status)
    if event.status not in ("published", "live"):
        return EventNotAvailable(status=event.status)
    before = event.sale_start is not None and now < event.sale_start
    after = event.sale_end is not None and now > event.sale_end
    if before or after:
        return EventSalesClosed(
            sale_start=event.sale_start and event.sale_start.isoformat(),
            sale_end=event.sale_end and event.sale_end.isoformat(),
        )
    return None


def limits_of(caller: Caller, policy: SeatingPolicy) -> dict[str, Limit]:
    """By key. Staff sell all day long; what they do is in the audit log."""
    if may(caller.role, "seats.sell_withheld"):
        return {}
    limits = {f"hold:user:{caller.id}": Limit(policy.max_holds_per_user or SEATS_PER_USER, PERIOD)}
    if policy.max_holds_per_ip is not None and caller.ip is not None:
        limits[f"hold:ip:{caller.ip}"] = Limit(policy.max_holds_per_ip, PERIOD)
    return limits


class Allowance:
    """How many seats may still be held, while parties take some one after the other."""

    def __init__(self, windows: Mapping[str, Window], now: datetime) -> None:
        self._windows = windows
        self._now = now
        self.spent: dict[str, int] = {}
        self.limits: dict[str, Limit] = {}

    def refusal(self, limits: Mapping[str, Limit], cost: int) -> Refusal | None:
        for key, limit in limits.items():
            window = self._windows.get(key)
            used = self.spent.get(key, 0) + (window.used if window else 0)
            if used + cost > limit.count:
                ends_at = window.ends_at if window else self._now + limit.period
                left = max(1, -(-(ends_at - self._now) // timedelta(seconds=1)))
                return RateLimited(
                    f"At most {limit.count} seats can be held in "
                    f"{limit.period // timedelta(minutes=1)} minutes; wait a little.",
                    retry_after_seconds=left,
                )
        return None

    def spend(self, limits: Mapping[str, Limit], cost: int) -> None:
        for key, limit in limits.items():
            self.spent[key] = self.spent.get(key, 0) + cost
            self.limits[key] = limit


def extension_refusal(hold: SeatHold, now: datetime) -> Refusal | None:
    if hold.status != "active" or hold.held_until <= now:
        return HoldEnded(hold_id=str(hold.id))
    if hold.extended:
        return HoldAlreadyExtended(hold_id=str(hold.id))
    return None
