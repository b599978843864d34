"""Free seats side by side: the stretches they form, and what taking a part of one leaves behind."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voelgoed.seating.rules.house import House
from voelgoed.seating.rules.rows import Bools, Floats, Rows

Steps = NDArray[np.int64]

ROW_NEARLY_SOLD_PERCENT = 90
"""In a row fuller than this a lonely seat is no longer worth avoiding."""
CUT_COST = 1.0
"""For leaving free seats on both sides, in seats of distance to the focal point."""
FIT_GAIN = 1.5
"""For using a stretch up entirely."""
ORPHAN_COST = 8.0
"""For each lonely seat left, where the policy does not forbid it outright."""


@dataclass(frozen=True, eq=False)
class Stretches:
    """A stretch is all free seats without a taken one, a gap or an aisle between them."""

    open: Bools
    """By step."""
    begin: Steps
    end: Steps
    """Of each stretch, in their order: its first step, and the one after its last."""
    spared: Bools
    """Stretches where a seat left alone does not count: at tables, in rows that are nearly sold."""

    def at(self, step: int) -> int:
        """The stretch of an open seat."""
        return int(np.searchsorted(self.begin, step, side="right")) - 1


def stretches(house: House) -> Stretches:
    return stretches_of(house, house.open.take(house.plan.rows.position))


def stretches_of(house: House, is_open: Bools) -> Stretches:
    """As they would be with these seats open, by step."""
    plan = house.plan
    begin, end = _pieces(is_open, plan.rows)
    nearly_sold = house.taken * 100 > ROW_NEARLY_SOLD_PERCENT * house.sellable
    spared = plan.at_table_by_step[begin] | nearly_sold[plan.rows.row[begin]]
    return Stretches(is_open, begin, end, spared)


def _pieces(wanted: Bools, rows: Rows) -> tuple[Steps, Steps]:
    """Where the wanted seats side by side begin and end."""
    joined = wanted[1:] & wanted[:-1] & rows.beside_next
    first, last = wanted.copy(), wanted.copy()
    first[1:] &= ~joined
    last[:-1] &= ~joined
    return np.flatnonzero(first), np.flatnonzero(last) + 1


@dataclass(frozen=True, eq=False)
class Ground:
    """What windows of any size are made from, prepared once."""

    begin: Steps
    end: Steps
    """Of eligible seats side by side."""
    stretch: Steps
    """The one they are in."""
    cost: Floats
    x: Floats
    y: Floats
    """Running totals by step, one longer than the steps."""


def ground(house: House, free: Stretches, eligible: Bools, cost_total: Floats) -> Ground:
    rows = house.plan.rows
    begin, end = _pieces(eligible, rows)
    stretch = np.searchsorted(free.begin, begin, side="right") - 1
    return Ground(begin, end, stretch, cost_total, rows.x_total, rows.y_total)


@dataclass(frozen=True, eq=False)
class Windows:
    """Every way to seat `size` people side by side."""

    size: int
    ground: Ground
    first: Steps
    """The step of the first of them, ascending; the other arrays go with it."""
    stretch: Steps
    cost: Floats
    """What it adds to the cost of a party's seats."""
    orphans: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.first)

    def steps(self, at: int) -> tuple[int, ...]:
        return tuple(range(int(self.first[at]), int(self.first[at]) + self.size))

    def middle(self, at: Steps) -> tuple[Floats, Floats]:
        begin, end = self.first[at], self.first[at] + self.size
        x, y = self.ground.x, self.ground.y
        return (x[end] - x[begin]) / self.size, (y[end] - y[begin]) / self.size


def windows(free: Stretches, ground: Ground, size: int, party: int, *, strict: bool) -> Windows:
    """`strict` windows leave no seat alone; others pay for each."""
    enough = np.flatnonzero(ground.end - ground.begin >= size)
    begin = ground.begin[enough]
    count = ground.end[enough] - begin - (size - 1)
    of = np.repeat(np.arange(len(enough)), count)
    first = np.arange(len(of)) + (begin - np.cumsum(count) + count)[of]
    stretch = ground.stretch[enough][of]
    left = first - free.begin[stretch]
    right = free.end[stretch] - first - size
    orphans = ((left == 1).astype(np.int64) + (right == 1)) * ~free.spared[stretch]
    if strict and orphans.any():
        kept = orphans == 0
        first, stretch, left, right = (each[kept] for each in (first, stretch, left, right))
        orphans = orphans[kept]
    behind = CUT_COST * ((left > 0) & (right > 0)) - FIT_GAIN * ((left == 0) & (right == 0))
    cost = (ground.cost[first + size] - ground.cost[first]) / party + behind + ORPHAN_COST * orphans
    # Rounded, so that equal seats left and right of the middle are equal.
    return Windows(size, ground, first, stretch, cost.round(6), orphans)
