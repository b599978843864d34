"""A party that fits nowhere together, divided: as few parts as possible, near each other, nobody alone.

Branch and bound over arrays: exact, with memory that is bounded however large the house.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from voelgoed.seating.rules.rows import Floats, Ints
from voelgoed.seating.rules.search import Choice, Search, windows_of_size
from voelgoed.seating.rules.stretches import (
    Steps,
    Windows,
)

SPLIT_COST = 10.0
"""For each part after the first."""
SPREAD_COST = 0.5
"""For each seat of distance between the two parts that are furthest apart."""
PART_MIN = 2
PARTS_MAX = 3
FIRST_PARTS_TRIED = 32
"""At first, the most promising; then so many times more, until no other could be better."""
COMBINATIONS_AT_ONCE = 100_000
"""Of parts, which bounds the memory of a search."""


def split(search: Search, *, strict: bool) -> Choice | None:
    @cache
    def windows_of(size: int) -> Windows:
        return windows_of_size(search, size, strict=strict)

    @cache
    def cheapest_of(size: int) -> Cheapest:
        return _cheapest(search, windows_of(size))

    for parts in range(2, PARTS_MAX + 1):
        chosen: Choice | None = None
        for sizes in divisions(search.wish.party, parts):
            found = [windows_of(size) for size in sizes]
            if all(len(each) for each in found) and not _is_hopeless(found, chosen):
                division = Division(search, found, [cheapest_of(size) for size in sizes[1:]])
                chosen = _best_division(division, chosen)
        if chosen is not None:
            return chosen
    return None


def _is_hopeless(found: list[Windows], known: Choice | None) -> bool:
    """Whether the cheapest of all windows, wherever they are, would cost no less."""
    least = sum(float(each.cost.min()) for each in found) + SPLIT_COST * (len(found) - 1)
    return known is not None and known.cost <= least


def divisions(party: int, parts: int, most: int | None = None) -> Iterator[tuple[int, ...]]:
    """The ways to divide a party, larger parts first, nobody alone."""
    most = party if most is None else most
    if parts == 1:
        if PART_MIN <= party <= most:
            yield (party,)
        return
    for size in range(min(most, party - PART_MIN * (parts - 1)), PART_MIN - 1, -1):
        for rest in divisions(party - size, parts - 1, size):
            yield (size, *rest)


@dataclass(frozen=True, eq=False)
class Cheapest:
    """What the cheapest windows of one size cost, by row; infinite where there is none."""

    here: Floats
    stretch: Steps
    """The one which that window is in."""
    beside: Floats
    """In the same row, but another stretch."""
    nearby: Floats
    """In other rows that are near."""
    index: Steps
    """Of the row's first window, whatever it costs, and one more for the end."""

    def elsewhere(self, row: Ints, stretch: Steps) -> Floats:
        """Where the other part of a party in this row and stretch can be."""
        own = np.where(self.stretch[row] == stretch, self.beside[row], self.here[row])
        return np.minimum(own, self.nearby[row])


def _cheapest(search: Search, found: Windows) -> Cheapest:
    rows = search.house.plan.rows
    count, row = len(rows.name_of_row), rows.row[found.first]
    here, beside, nearby = (np.full(count, np.inf) for _ in range(3))
    np.minimum.at(here, row, found.cost)
    stretch = np.full(count, -1)
    cheapest = found.cost == here[row]
    stretch[row[cheapest]] = found.stretch[cheapest]
    others = found.stretch != stretch[row]
    np.minimum.at(beside, row[others], found.cost[others])
    for apart in range(1, min(search.house.policy.max_group_split, count - 1) + 1):
        same_zone = rows.zone_of_row[apart:] == rows.zone_of_row[:-apart]
        ahead, behind = (
            np.where(same_zone, each, np.inf) for each in (here[:-apart], here[apart:])
        )
        nearby[apart:] = np.minimum(nearby[apart:], ahead)
        nearby[:-apart] = np.minimum(nearby[:-apart], behind)
    index = np.searchsorted(found.first, rows.first_step.astype(np.int64))
    return Cheapest(here, stretch, beside, nearby, index)


@dataclass(frozen=True, eq=False)
class Division:
    """One way to divide a party, and all windows that its parts could have."""

    search: Search
    windows: list[Windows]
    cheapest: list[Cheapest]
    """Of all parts but the first."""


@dataclass(frozen=True, eq=False)
class Begun:
    """Parties of which some parts have their seats; one entry of each array for each of them."""

    parts: tuple[Steps, ...]
    """Indexes into the windows of each part."""
    cost: Floats
    """Without the spread."""
    spread: Floats
    rest: tuple[Floats, ...]
    """The least that each other part could cost."""

    @property
    def bound(self) -> Floats:
        return sum(self.rest, self.cost + SPREAD_COST * self.spread)

    def __len__(self) -> int:
        return len(self.cost)

    def __getitem__(self, at: Steps) -> "Begun":
        return Begun(
            tuple(part[at] for part in self.parts),
            self.cost[at],
            self.spread[at],
            tuple(each[at] for each in self.rest),
        )

    def better_than(self, known: Choice | None) -> Steps:
        """Which of them could become so."""
        return np.flatnonzero(self.bound < (known.cost if known else np.inf))


def _best_division(division: Division, known: Choice | None) -> Choice | None:
    """Better than what is known already, or that.

    The bound of a party that has begun to sit down is what its parts cost and the least that
    the others could. Once no bound is better than the best so far, nothing is.
    """
    one = division.windows[0]
    row = division.search.house.plan.rows.row[one.first]
    begun = Begun(
        (np.arange(len(one)),),
        one.cost + SPLIT_COST * (len(division.windows) - 1),
        np.zeros(len(one)),
        tuple(each.elsewhere(row, one.stretch) for each in division.cheapest),
    )
    return _best_ending(division, begun, known)


def _best_ending(division: Division, begun: Begun, known: Choice | None) -> Choice | None:
    """Of the most promising first, so that most of the others need no look."""
    best, count = known, FIRST_PARTS_TRIED
    while len(better := begun.better_than(best)):
        begun = begun[better]
        order = np.arange(len(begun))
        if len(begun) > count:
            order = np.argpartition(begun.bound, count)
        for some, begin, end in _batches(division, begun[order[:count]]):
            longer = _with_next_part(division, some, begin, end)
            longer = longer[longer.better_than(best)]
            if longer.rest:
                best = _best_ending(division, longer, best)
            elif len(longer):
                best = _better(division, longer, best)
        begun = begun[order[count:]]
        count *= FIRST_PARTS_TRIED
    return best


def _batches(division: Division, begun: Begun) -> Iterator[tuple[Begun, Steps, Steps]]:
    """With the windows that the next part may have, from one index up to another."""
    begin, end = _near(division, begun)
    total = np.cumsum(end - begin)
    if total[-1] <= COMBINATIONS_AT_ONCE:
        yield begun, begin, end
        return
    cuts = np.flatnonzero(np.diff(total // COMBINATIONS_AT_ONCE)) + 1
    for at in np.split(np.arange(len(begun)), cuts):
        yield begun[at], begin[at], end[at]


def _near(division: Division, begun: Begun) -> tuple[Steps, Steps]:
    search, seated = division.search, len(begun.parts)
    rows, apart = search.house.plan.rows, search.house.policy.max_group_split
    taken = [rows.row[division.windows[at].first[part]] for at, part in enumerate(begun.parts)]
    low = np.maximum(np.maximum.reduce(taken) - apart, rows.zone_begin[taken[0]])
    high = np.minimum(np.minimum.reduce(taken) + apart + 1, rows.zone_end[taken[0]])
    begin, end = (division.cheapest[seated - 1].index[row] for row in (low, high))
    if division.windows[seated] is division.windows[seated - 1]:
        # Of two parts of one size it does not matter which is which.
        begin = np.maximum(begin, begun.parts[-1] + 1)
    return begin, np.maximum(begin, end)


def _with_next_part(division: Division, begun: Begun, begin: Steps, end: Steps) -> Begun:
    count = end - begin
    of = np.repeat(np.arange(len(count)), count)
    part = np.arange(len(of)) + (begin - np.cumsum(count) + count)[of]
    next_part = division.windows[len(begun.parts)]
    elsewhere = np.ones(len(of), np.bool_)
    for found, at in zip(division.windows, begun.parts, strict=False):
        elsewhere &= found.stretch[at][of] != next_part.stretch[part]
    of, part = of[elsewhere], part[elsewhere]
    spread, (x, y) = begun.spread[of], next_part.middle(part)
    for found, at in zip(division.windows, begun.parts, strict=False):
        from_x, from_y = found.middle(at)
        spread = np.maximum(spread, np.hypot(x - from_x[of], y - from_y[of]))
    return Begun(
        (*(at[of] for at in begun.parts), part),
        begun.cost[of] + next_part.cost[part],
        spread,
        tuple(each[of] for each in begun.rest[1:]),
    )


def _better(division: Division, ended: Begun, known: Choice | None) -> Choice | None:
    cost = ended.bound.round(6)
    best = int(cost.argmin())
    if known is not None and not cost[best] < known.cost:
        return known
    chosen = [
        (found, int(at[best])) for found, at in zip(division.windows, ended.parts, strict=True)
    ]
    parts = sorted((found.steps(at) for found, at in chosen), key=lambda part: (-len(part), part))
    return Choice(tuple(parts), float(cost[best]), sum(int(f.orphans[at]) for f, at in chosen))
