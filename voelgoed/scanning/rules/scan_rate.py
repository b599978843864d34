"""Whether one device let in more people than anybody can.

The documents expect 100 to 200 scans a minute of fifty devices together, and find 60 a minute at a gate
suspicious. Whoever holds ticket after ticket before one scanner manages about one a second.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

import msgspec

BURST_MAX = 3
BURST_FOR = timedelta(seconds=1)
STREAM_MAX = 60
STREAM_FOR = timedelta(seconds=30)
NEIGHBOURS_WITHIN = STREAM_FOR
"""Other scans of the device so far from a delivery's moments still matter to them."""


class ImpossibleRate(msgspec.Struct, frozen=True):
    """More entries of one device within a time than a person can make."""

    entries: int
    since: datetime
    until: datetime


def impossible_rate(moments: Iterable[datetime]) -> ImpossibleRate | None:
    """The densest group of a device's entries that nobody can have made, from their moments in any
    order. Each moment counts as often as it is given."""
    in_order = sorted(moments)
    found = [
        rate
        for most, within in ((BURST_MAX, BURST_FOR), (STREAM_MAX, STREAM_FOR))
        if (rate := _densest(in_order, within)) is not None and rate.entries > most
    ]
    return max(found, key=lambda each: (each.entries, each.since), default=None)


def _densest(in_order: Sequence[datetime], within: timedelta) -> ImpossibleRate | None:
    """The most that lie less than this apart; of several such, the first."""
    best: ImpossibleRate | None = None
    first = 0
    for last, until in enumerate(in_order):
        while until - in_order[first] >= within:
            first += 1
        count = last - first + 1
        if best is None or count > best.entries:
            best = ImpossibleRate(count, in_order[first], until)
    return best
