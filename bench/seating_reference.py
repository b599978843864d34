"""Best available by trying everything, in plain Python: what the real search is held against.

Written from the definitions in `voelgoed/seating/rules/best.py` and `stretches.py` and sharing
their weights, but none of their code: every window of every stretch of free seats, and where
no window is large enough, every pair and every triple of windows.
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations, groupby
from math import dist
from typing import NamedTuple

from voelgoed.seating.model.seats import BLOCKED, HELD, SOLD
from voelgoed.seating.rules.house import House
from voelgoed.seating.rules.plan import CATEGORIES
from voelgoed.seating.rules.search import FAMILY_COST, RESTRICTED_VIEW_COST, Wish
from voelgoed.seating.rules.splits import PART_MIN, PARTS_MAX, SPLIT_COST, SPREAD_COST
from voelgoed.seating.rules.stretches import CUT_COST, FIT_GAIN, ORPHAN_COST


class Seat(NamedTuple):
    step: int
    x: float
    y: float
    eligible: bool
    cost: float


class Stretch(NamedTuple):
    row: int
    zone: int
    spared: bool
    seats: list[Seat]


class Window(NamedTuple):
    stretch: int
    row: int
    zone: int
    size: int
    steps: range
    cost: float
    orphans: int
    middle: tuple[float, float]


class Found(NamedTuple):
    cost: float
    orphans: int
    parts: tuple[range, ...]


def best_of_everything(house: House, wish: Wish) -> Found | None:
    stretches = _stretches(house, wish)
    splitting = not house.policy.group_adjacency_strict
    for strict in (True, False) if house.policy.orphan_avoidance_strict else (False,):
        found = _together(stretches, wish, strict=strict)
        for count in range(2, PARTS_MAX + 1) if splitting else ():
            found = found or _apart(house, stretches, wish, count, strict=strict)
        if found is not None:
            return found
    return None


def _together(stretches: list[Stretch], wish: Wish, *, strict: bool) -> Found | None:
    found = _windows(stretches, wish.party, wish.party, strict=strict)
    return _judged(min(found, key=lambda window: window.cost, default=None))


def _apart(
    house: House, stretches: list[Stretch], wish: Wish, count: int, *, strict: bool
) -> Found | None:
    """In exactly `count` parts."""
    by_row: dict[int, list[Window]] = defaultdict(list)
    for size in range(PART_MIN, wish.party - PART_MIN * (count - 1) + 1):
        for window in _windows(stretches, size, wish.party, strict=strict):
            by_row[window.row].append(window)
    every = (
        _judged(*chosen)
        for row in by_row
        for chosen in _combinations(by_row, row, house.policy.max_group_split, wish.party, count)
    )
    return min(filter(None, every), key=lambda found: found.cost, default=None)


def _combinations(
    by_row: dict[int, list[Window]], row: int, split_max: int, party: int, count: int
) -> Iterator[tuple[Window, ...]]:
    """Of windows in different stretches of near rows, with this row the frontmost."""
    zone = by_row[row][0].zone
    near = [
        window
        for other in range(row, row + split_max + 1)
        for window in by_row.get(other, ())
        if window.zone == zone
    ]
    by_size: dict[int, list[int]] = defaultdict(list)
    for number, window in enumerate(near):
        by_size[window.size].append(number)
    for number, first in enumerate(near):
        if first.row != row:
            break
        for rest in _rests(near, by_size, number + 1, party - first.size, count - 1):
            if len({first.stretch, *(window.stretch for window in rest)}) == count:
                yield (first, *rest)


def _rests(
    near: list[Window], by_size: dict[int, list[int]], begin: int, party: int, count: int
) -> Iterator[tuple[Window, ...]]:
    """From number `begin` on, so that no combination comes twice."""
    if count == 1:
        for number in by_size.get(party, ()):
            if number >= begin:
                yield (near[number],)
        return
    for number in range(begin, len(near)):
        window = near[number]
        for rest in _rests(near, by_size, number + 1, party - window.size, count - 1):
            yield (window, *rest)


def _judged(*chosen: Window | None) -> Found | None:
    windows = [window for window in chosen if window is not None]
    if not windows:
        return None
    spread = max((dist(a.middle, b.middle) for a, b in combinations(windows, 2)), default=0.0)
    return Found(
        sum(window.cost for window in windows)
        + SPLIT_COST * (len(windows) - 1)
        + SPREAD_COST * spread,
        sum(window.orphans for window in windows),
        tuple(window.steps for window in windows),
    )


def _windows(stretches: list[Stretch], size: int, party: int, *, strict: bool) -> Iterator[Window]:
    for number, stretch in enumerate(stretches):
        for left in range(len(stretch.seats) - size + 1):
            right = len(stretch.seats) - size - left
            orphans = 0 if stretch.spared else (left == 1) + (right == 1)
            seats = stretch.seats[left : left + size]
            if (strict and orphans) or not all(seat.eligible for seat in seats):
                continue
            cost = sum(seat.cost for seat in seats) / party + ORPHAN_COST * orphans
            if left and right:
                cost += CUT_COST
            if not left and not right:
                cost -= FIT_GAIN
            first = seats[0].step
            x, y = sum(seat.x for seat in seats) / size, sum(seat.y for seat in seats) / size
            steps = range(first, first + size)
            yield Window(number, stretch.row, stretch.zone, size, steps, cost, orphans, (x, y))


def _stretches(house: House, wish: Wish) -> list[Stretch]:
    plan, rows = house.plan, house.plan.rows
    positions, runs, row_of = rows.position.tolist(), rows.run.tolist(), rows.row.tolist()
    x, y, distance = rows.x.tolist(), rows.y.tolist(), rows.distance.tolist()
    is_open, zones, categories = house.open.tolist(), plan.zone.tolist(), plan.category.tolist()
    tables, families = plan.groups.table.tolist(), plan.groups.family_party.tolist()

    def is_wanted(at: int) -> bool:
        return (wish.zones is None or zones[at] in wish.zones) and (
            wish.categories is None or categories[at] in wish.categories
        )

    forbidden: set[int] = set()
    for table in plan.groups.whole_tables:  # filled by this party, or not for it
        members = plan.groups.table_seats[table].tolist()
        if len(members) != wish.party or not all(is_open[at] and is_wanted(at) for at in members):
            forbidden.update(members)

    def seat(step: int) -> Seat:
        at = positions[step]
        cost = distance[step]
        if CATEGORIES[categories[at]] == "restricted_view":
            cost += RESTRICTED_VIEW_COST
        if families[at] > wish.party:
            cost += FAMILY_COST
        return Seat(step, x[step], y[step], is_wanted(at) and at not in forbidden, cost)

    nearly_sold = _nearly_sold_rows(house)
    found: list[Stretch] = []
    for (_, free), steps in groupby(
        range(len(positions)), key=lambda step: (runs[step], is_open[positions[step]])
    ):
        if free:
            seats = [seat(step) for step in steps]
            at, row = positions[seats[0].step], row_of[seats[0].step]
            found.append(Stretch(row, zones[at], tables[at] >= 0 or row in nearly_sold, seats))
    return found


def _nearly_sold_rows(house: House) -> set[int]:
    rows, codes = house.plan.rows, house.codes.tolist()
    sellable: dict[int, int] = defaultdict(int)
    taken: dict[int, int] = defaultdict(int)
    for at, row in zip(rows.position.tolist(), rows.row.tolist(), strict=True):
        if codes[at] != BLOCKED:
            sellable[row] += 1
        if codes[at] in {HELD, SOLD}:
            taken[row] += 1
    return {row for row, count in sellable.items() if 10 * taken[row] > 9 * count}
