"""An event's seats at one moment: who could book what, as policy, overlay and time have it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from voelgoed.seating.model.event_layout import EventZone
from voelgoed.seating.model.layout import SEATED
from voelgoed.seating.model.policy import SeatingPolicy
from voelgoed.seating.model.seats import (
    AVAILABLE,
    BLOCKED,
    HELD,
    SOFT_RESERVED,
    SOLD,
    WITHHELD,
    Snapshot,
)
from voelgoed.seating.rules.plan import Plan
from voelgoed.seating.rules.rows import Bools, Ints

Codes = NDArray[np.uint8]
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
"""PostgreSQL's own: it sends times as microseconds since then."""


@dataclass(frozen=True, eq=False)
class House:
    plan: Plan
    zones: tuple[EventZone, ...]
    policy: SeatingPolicy
    codes: Codes
    """Of each position, as the public sees it."""
    open: Bools
    """Of each position: anybody may book it, and best-available may hand it out."""
    taken: Ints
    sellable: Ints
    """Seats of each row: held or sold, and not blocked."""
    released: Bools
    """Zones so full that companion seats which nobody claimed are anybody's."""


def house(
    plan: Plan,
    zones: tuple[EventZone, ...],
    blocked_seat_ids: Sequence[str],
    policy: SeatingPolicy,
    snapshot: Snapshot,
    now: datetime,
) -> House:
    codes = _statuses(len(plan), snapshot, now)
    closed = _closed(plan, zones, blocked_seat_ids)
    codes[closed & (codes == AVAILABLE)] = BLOCKED
    codes[plan.groups.withheld & (codes == AVAILABLE)] = WITHHELD
    taken, sellable = _by_row(plan, codes)
    released = _released_zones(plan, policy, taken, sellable)
    if policy.enforce_accessibility_rules:
        kept = _kept_for_companions(plan, codes, _positions(snapshot.sold_blocked))
        kept = kept[~released[plan.zone[kept]]]
        codes[kept[codes[kept] == AVAILABLE]] = SOFT_RESERVED
    is_open = (codes == AVAILABLE) & plan.ordinary
    companions = plan.companion_seats[released[plan.zone[plan.companion_seats]]]
    is_open[companions] = codes[companions] == AVAILABLE
    return House(plan, zones, policy, codes, is_open, taken, sellable, released)


def _statuses(count: int, snapshot: Snapshot, now: datetime) -> Codes:
    """A hold is over at the moment it ends, whoever has noticed."""
    codes = np.zeros(count, np.uint8)
    until = np.frombuffer(snapshot.held_until, ">i8")
    codes[_positions(snapshot.held)[until > microseconds(now)]] = HELD
    codes[_positions(snapshot.sold)] = SOLD
    codes[_positions(snapshot.blocked)] = BLOCKED
    return codes


def _positions(packed: bytes) -> NDArray[np.intp]:
    """As numpy takes them without another thought, which is twice as fast."""
    return np.frombuffer(packed, ">i4").astype(np.intp)


def microseconds(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1)  # a float would lose some, from 2106 on


def next_end(snapshot: Snapshot, now: datetime) -> datetime | None:
    """When the first of the holds ends."""
    until = np.frombuffer(snapshot.held_until, ">i8")
    left = until[until > microseconds(now)] - microseconds(now)
    return now + timedelta(microseconds=int(left.min())) if len(left) else None


def _closed(plan: Plan, zones: tuple[EventZone, ...], blocked_seat_ids: Sequence[str]) -> Bools:
    shut = [not zone.enabled or zone.zone.zone_type not in SEATED for zone in zones]
    closed = np.array(shut)[plan.zone] if any(shut) else np.zeros(len(plan), np.bool_)
    closed[[plan.by_seat_id[seat_id] for seat_id in blocked_seat_ids]] = True
    return closed


def _by_row(plan: Plan, codes: Codes) -> tuple[Ints, Ints]:
    """How many seats are held or sold, and how many are not blocked."""
    begin = plan.rows.first_step[:-1]
    along = codes.take(plan.rows.position)
    taken = (along == HELD) | (along == SOLD)
    return (
        np.add.reduceat(taken, begin, dtype=np.int32),
        np.add.reduceat(along != BLOCKED, begin, dtype=np.int32),
    )


def _released_zones(plan: Plan, policy: SeatingPolicy, taken: Ints, sellable: Ints) -> Bools:
    """Zones so full that companion seats which nobody claimed are anybody's."""
    if not policy.enforce_accessibility_rules:
        return np.ones(len(plan.zones), np.bool_)
    zone = plan.rows.zone_of_row
    taken_of, sellable_of = (
        np.bincount(zone, counts, minlength=len(plan.zones)) for counts in (taken, sellable)
    )
    threshold = policy.companion_release_occupancy_threshold
    return taken_of * 100 >= threshold * np.maximum(sellable_of, 1)


def _kept_for_companions(plan: Plan, codes: Codes, sold_blocked: NDArray[np.intp]) -> Ints:
    """Beside every wheelchair place that is held or sold, also if it was blocked since."""
    wheelchair = codes[plan.wheelchair_of_pair]
    taken = (wheelchair == HELD) | (wheelchair == SOLD)
    taken |= np.isin(plan.wheelchair_of_pair, sold_blocked)
    return plan.companion_of_pair[taken]
