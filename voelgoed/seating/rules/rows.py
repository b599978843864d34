"""The seats along their rows: which row is in front, who sits beside whom, where an aisle is."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from voelgoed.seating.model.layout import Point, Seat

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
GAP = 1.6
"""Seats further apart than this many times the usual distance have an aisle between them."""
WIDE_ROW = 1.2
"""A row may be wider spaced than its zone by this factor; beyond, its seats have gaps between them.
Times GAP it is less than 2: where one seat is missing there is a gap in every row."""
FOLDED = 2.0
"""A row bent by half a circle is pi / 2 times as long as wide; one much longer goes around."""
AROUND = 0.25
"""A zone that has a greater share of its seats behind the focal point is around that."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The seats along their rows; every array is indexed by step, but those of rows by row."""

    position: Ints
    run: Ints
    """Seats without an aisle or gap between them share a run."""
    row: Ints
    x: Floats
    y: Floats
    distance: Floats
    """To the focal point, in seats."""
    zone_of_row: Ints
    rank_of_row: Ints
    """How many rows of its zone are in front of it."""
    name_of_row: list[str]
    first_step: Ints
    """Of each row, and one more for the end."""

    @cached_property
    def beside_next(self) -> Bools:
        """Whether the next step is the seat beside; one shorter than the steps."""
        return self.run[1:] == self.run[:-1]

    @cached_property
    def zone_begin(self) -> Ints:
        """The first row of each row's zone."""
        return np.searchsorted(self.zone_of_row, self.zone_of_row).astype(np.int32)

    @cached_property
    def zone_end(self) -> Ints:
        """The row after the last of each row's zone."""
        return np.searchsorted(self.zone_of_row, self.zone_of_row, side="right").astype(np.int32)

    @cached_property
    def distance_total(self) -> Floats:
        return running_total(self.distance)

    @cached_property
    def seats_of_run(self) -> NDArray[np.int64]:
        return np.bincount(self.run)

    @cached_property
    def x_total(self) -> Floats:
        return running_total(self.x)

    @cached_property
    def y_total(self) -> Floats:
        return running_total(self.y)


def running_total(values: Floats) -> Floats:
    """One longer than the values: the sum of those from `a` up to `b` is total[b] - total[a]."""
    totals = np.zeros(len(values) + 1)
    np.cumsum(values, out=totals[1:])
    return totals


def rows_of(
    seats: list[Seat],
    zone: Ints,
    x: Floats,
    y: Floats,
    focal_point: Point,
    table: Ints,
    table_seats: list[Ints],
) -> Rows:
    """Seats in another order make the same rows: whatever is as near or as far along goes by name."""
    numbers: dict[tuple[int, str], int] = {}
    keys = zip(zone.tolist(), (seat.row for seat in seats), strict=True)
    row = np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int32)
    depth = _depths(row, zone, x - focal_point.x, y - focal_point.y)
    row, zone_of_row, rank_of_row, names = _from_front_to_back(row, numbers, depth)
    number = np.array([seat.number for seat in seats], np.int32)
    along = _along_the_row(row, x, y)
    for members, length in _folded(row, x, y, number, along):
        ring, around = _around(members, x, y, number)
        if around < length:
            along[ring] = np.arange(len(ring))
    for members in table_seats:
        along[members] = np.arange(len(members))
    position = np.lexsort((number, along.round(6), table, row)).astype(np.int32)
    row, x, y = row[position], x[position], y[position]
    run, pitch = _runs(row, zone[position], x, y, table[position])
    return Rows(
        position=position,
        run=run,
        row=row,
        x=x / pitch,
        y=y / pitch,
        distance=np.hypot(x - focal_point.x, y - focal_point.y) / pitch,
        zone_of_row=zone_of_row,
        rank_of_row=rank_of_row,
        name_of_row=names,
        first_step=np.searchsorted(row, np.arange(len(names) + 1)).astype(np.int32),
    )


def _depths(row: Ints, zone: Ints, x: Floats, y: Floats) -> Floats:
    """Of each row: how far away it is where it crosses the line of sight to the middle of its zone.

    Not how far its seats are on average: a wide row is not behind the narrow one behind it.
    """
    to_x, to_y = np.bincount(zone, x), np.bincount(zone, y)
    far = np.maximum(np.hypot(to_x, to_y), np.finfo(np.float64).tiny)
    to_x, to_y = (to_x / far)[zone], (to_y / far)[zone]
    ahead, aside = x * to_x + y * to_y, x * to_y - y * to_x
    order = np.lexsort((ahead.round(6), np.abs(aside).round(6), row))
    one = np.flatnonzero(np.diff(row[order], prepend=-1))
    two = np.minimum(one + 1, len(order) - 1)
    two = np.where(row[order[two]] == row[order[one]], two, one)
    one, two = order[one], order[two]  # of each row, the two seats nearest to the line of sight
    across, along = aside[two] - aside[one], ahead[two] - ahead[one]
    crosses = np.abs(across) > np.abs(along) / 2
    slope = np.divide(along, across, out=np.zeros(len(one)), where=crosses)
    around = (np.bincount(zone, ahead.round(6) < 0) > AROUND * np.bincount(zone))[zone[one]]
    mean_distance = np.bincount(row, np.hypot(x, y)) / np.bincount(row)
    return np.where(around, mean_distance, ahead[one] - aside[one] * slope)


def _from_front_to_back(
    row: Ints, numbers: dict[tuple[int, str], int], depth: Floats
) -> tuple[Ints, Ints, Ints, list[str]]:
    """Number the rows anew: by zone, then by depth."""
    zones = np.array([zone for zone, _ in numbers], np.int32)
    names = [name for _, name in numbers]
    by_name = sorted(range(len(names)), key=lambda index: (len(names[index]), names[index]))
    name_rank = np.empty(len(names), np.int32)
    name_rank[by_name] = np.arange(len(names), dtype=np.int32)
    order = np.lexsort((name_rank, depth.round(6), zones))
    renumbered = np.empty(len(order), np.int32)
    renumbered[order] = np.arange(len(order), dtype=np.int32)
    zones = zones[order]
    first_of_zone = np.searchsorted(zones, zones)
    rank = (np.arange(len(zones)) - first_of_zone).astype(np.int32)
    return renumbered[row], zones, rank, [names[index] for index in order.tolist()]


def _along_the_row(row: Ints, x: Floats, y: Floats) -> Floats:
    """How far along the main direction of its row each seat is, whichever way that runs."""
    count = np.bincount(row)
    dx = x - (np.bincount(row, x) / count)[row]
    dy = y - (np.bincount(row, y) / count)[row]
    xx, xy, yy = (np.bincount(row, product) for product in (dx * dx, dx * dy, dy * dy))
    size = np.maximum(xx + yy, np.finfo(np.float64).tiny)
    # Rounded, so that a row straight up is never taken for one straight down; 0.0 for no -0.0.
    rise, run = (2 * xy / size).round(9) + 0.0, ((xx - yy) / size).round(9)
    angle = 0.5 * np.arctan2(rise, run)
    return dx * np.cos(angle)[row] + dy * np.sin(angle)[row]


def _folded(
    row: Ints, x: Floats, y: Floats, number: Ints, along: Floats
) -> Iterator[tuple[Ints, float]]:
    """Rows that seem to go to and fro along their main direction, and how long a way that is."""
    order = np.lexsort((number, along.round(6), row))
    of, same = row[order][1:], np.diff(row[order]) == 0
    length = np.bincount(of, np.hypot(np.diff(x[order]), np.diff(y[order])) * same)
    width = np.bincount(of, np.diff(along[order]) * same)
    for folded in np.flatnonzero(length > FOLDED * width).tolist():
        yield np.flatnonzero(row == folded).astype(np.int32), float(length[folded])


def _around(members: Ints, x: Floats, y: Floats, number: Ints) -> tuple[Ints, float]:
    """The seats of a horseshoe or ring in their order, from its widest gap on, and its length."""
    x, y, number = x[members], y[members], number[members]
    angle = np.arctan2(y - y.mean(), x - x.mean())
    ring = np.lexsort((number, angle.round(9)))
    after = np.roll(ring, -1)
    apart = np.hypot(x[after] - x[ring], y[after] - y[ring]).round(6)
    first = np.flatnonzero(np.roll(apart, 1) == apart.max())
    start = int(first[number[ring[first]].argmin()])
    return members[np.roll(ring, -start)], float(apart.sum() - apart.max())


def _runs(row: Ints, zone: Ints, x: Floats, y: Floats, table: Ints) -> tuple[Ints, float]:
    """Which seats have no gap between them, and the usual distance of neighbours."""
    if len(row) < 2:
        return np.zeros(len(row), np.int32), 1.0
    same_row = row[1:] == row[:-1]
    apart = np.hypot(np.diff(x), np.diff(y))
    near = apart[same_row]
    usual = float(np.median(near)) if len(near) else 1.0
    usual_in_zone = np.full(int(zone.max()) + 1, usual)
    for index in np.unique(zone[1:][same_row]).tolist():
        usual_in_zone[index] = np.median(apart[same_row & (zone[1:] == index)])
    usual_in_row = _lower_median(row[1:][same_row], near, int(row.max()) + 1)
    pitch = np.minimum(usual_in_row[row[1:]], WIDE_ROW * usual_in_zone[zone[1:]])
    at_table = table[1:] >= 0
    joined = same_row & (table[1:] == table[:-1]) & (at_table | (apart <= GAP * pitch))
    run = np.concatenate(([0], np.cumsum(~joined))).astype(np.int32)
    return run, usual


def _lower_median(row: Ints, values: Floats, rows: int) -> Floats:
    """By row; infinite where a row has no values."""
    count = np.bincount(row, minlength=rows)
    middle = np.cumsum(count) - count + (count - 1) // 2
    ordered = values[np.lexsort((values, row))]
    medians = np.full(rows, np.inf)
    medians[count > 0] = ordered[middle[count > 0]]
    return medians
