"""A layout made ready to think about: who sits beside whom, how far from the stage.

Two orders are used. A seat's *position* is its place in the layout's own order, which maps
of seat states follow. A *step* is its place along the rows: zone by zone, row by row from
the front, seat by seat from one end to the other; neighbours are one step apart.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha1
from uuid import UUID

import msgspec
import numpy as np
from numpy.typing import NDArray

from voelgoed.seating.model.layout import LayoutConfig, Point, Seat, SeatCategory, Zone

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

CATEGORIES: tuple[SeatCategory, ...] = (
    "standard",
    "wheelchair",
    "companion",
    "restricted_view",
    "aisle",
)
WHEELCHAIR, COMPANION, RESTRICTED_VIEW = 1, 2, 3

GAP = 1.6
"""Seats further apart than this many times the usual distance have an aisle between them."""
WIDE_ROW = 1.2
"""A row may be wider spaced than its zone by this factor; beyond, its seats have gaps between them.
Times GAP it is less than 2: where one seat is missing there is a gap in every row."""
FOLDED = 2.0
"""A row bent by half a circle is pi / 2 times as long as wide; one much longer goes around."""
AROUND = 0.25
"""A zone that has a greater share of its seats behind the focal point is around that."""
FAMILY_PARTY = 3
"""From this size on a party is a family, unless its block says otherwise."""


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


@dataclass(frozen=True, eq=False)
class Groups:
    """By position."""

    table: Ints
    """Which table the seat is at; -1 for none."""
    whole_tables: frozenset[int]
    table_seats: list[Ints]
    family_party: Ints
    """The smallest party that a family block is for; 0 outside of one."""
    withheld: Bools
    names: dict[int, str]


@dataclass(frozen=True, eq=False)
class Plan:
    lineage_id: UUID
    zones: tuple[Zone, ...]
    """Without their seats."""
    seats: list[Seat]
    zone: Ints
    category: NDArray[np.uint8]
    focal_point: Point
    rows: Rows
    step: Ints
    """Of each position."""
    wheelchair_of_pair: Ints
    companion_of_pair: Ints
    groups: Groups

    def __len__(self) -> int:
        return len(self.seats)

    @cached_property
    def category_by_step(self) -> NDArray[np.uint8]:
        return self.category[self.rows.position]

    @cached_property
    def family_party_by_step(self) -> Ints:
        return self.groups.family_party[self.rows.position]

    @cached_property
    def are_alike(self) -> bool:
        """Whether no seat has a drawback but its distance."""
        drawbacks = (self.category == RESTRICTED_VIEW) | (self.groups.family_party > 0)
        return not drawbacks.any()

    @cached_property
    def at_table_by_step(self) -> Bools:
        return (self.groups.table >= 0)[self.rows.position]

    @cached_property
    def whole_table_by_step(self) -> Ints:
        """Which table the seat is at if that is taken whole or not at all; -1 for no such table."""
        whole = np.isin(self.groups.table, sorted(self.groups.whole_tables))
        return np.where(whole, self.groups.table, -1)[self.rows.position]

    @cached_property
    def table_party(self) -> Ints:
        """By table: the party that fills it side by side; 0 where its seats are in several rows."""
        runs = [self.rows.run[self.step[seats]] for seats in self.groups.table_seats]
        return np.array([len(run) * (run.min() == run.max()) for run in runs], np.int32)

    @cached_property
    def ordinary(self) -> Bools:
        """Seats for anybody: neither wheelchair places nor companion seats."""
        return (self.category != WHEELCHAIR) & (self.category != COMPANION)

    @cached_property
    def companion_seats(self) -> Ints:
        return np.flatnonzero(self.category == COMPANION).astype(np.int32)

    @cached_property
    def by_seat_id(self) -> dict[str, int]:
        return {seat.seat_id: position for position, seat in enumerate(self.seats)}

    @cached_property
    def ids(self) -> list[UUID]:
        return [seat_uuid(self.lineage_id, seat.seat_id) for seat in self.seats]

    @cached_property
    def by_id(self) -> dict[UUID, int]:
        return {seat_id: position for position, seat_id in enumerate(self.ids)}

    @cached_property
    def zone_index(self) -> dict[UUID, int]:
        return {zone.zone_id: index for index, zone in enumerate(self.zones)}

    def look_up_everything(self) -> None:
        """What is otherwise made at its first use, and takes a while for a stadium."""
        for made in (self.by_seat_id, self.by_id):
            assert len(made) == len(self)

    def companions(self, position: int) -> list[int]:
        return self.companion_of_pair[self.wheelchair_of_pair == position].tolist()

    def wheelchairs(self, position: int) -> list[int]:
        return self.wheelchair_of_pair[self.companion_of_pair == position].tolist()

    def find(self, seat_id: str) -> int | None:
        """By its label or by its UUID."""
        position = self.by_seat_id.get(seat_id)
        if position is None and len(seat_id) == 36:
            try:
                return self.by_id.get(UUID(seat_id))
            except ValueError:
                return None
        return position


def seat_uuid(lineage_id: UUID, seat_id: str) -> UUID:
    """The same seat has the same UUID in every version of its layout (RFC 9562, version 5)."""
    return UUID(bytes=sha1(lineage_id.bytes + seat_id.encode()).digest()[:16], version=5)  # noqa: S324


def running_total(values: Floats) -> Floats:
    """One longer than the values: the sum of those from `a` up to `b` is total[b] - total[a]."""
    totals = np.zeros(len(values) + 1)
    np.cumsum(values, out=totals[1:])
    return totals


def compile_plan(config: LayoutConfig, lineage_id: UUID) -> Plan:
    """Of a config without faults."""
    seats = [seat for zone in config.zones for seat in zone.seats]
    sizes = [len(zone.seats) for zone in config.zones]
    zone = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    x = np.array([seat.coordinates.x for seat in seats], np.float64)
    y = np.array([seat.coordinates.y for seat in seats], np.float64)
    codes = {name: code for code, name in enumerate(CATEGORIES)}
    category = np.array([codes[seat.category] for seat in seats], np.uint8)
    focal_point = config.focal_point or _front_middle(x, y)
    groups = _groups(config, {seat.seat_id: at for at, seat in enumerate(seats)})
    rows = _rows(seats, zone, x, y, focal_point, groups)
    step = np.empty(len(seats), np.int32)
    step[rows.position] = np.arange(len(seats), dtype=np.int32)
    wheelchairs, companions = _pairs(config, seats, category, rows, step)
    return Plan(
        lineage_id=lineage_id,
        zones=tuple(msgspec.structs.replace(zone, seats=[]) for zone in config.zones),
        seats=seats,
        zone=zone,
        category=category,
        focal_point=focal_point,
        rows=rows,
        step=step,
        wheelchair_of_pair=wheelchairs,
        companion_of_pair=companions,
        groups=groups,
    )


def _front_middle(x: Floats, y: Floats) -> Point:
    if not len(x):
        return Point(0.0, 0.0)
    return Point(float(x.min() + x.max()) / 2, float(y.min()))


def _rows(
    seats: list[Seat], zone: Ints, x: Floats, y: Floats, focal_point: Point, groups: Groups
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
    for members in groups.table_seats:
        along[members] = np.arange(len(members))
    table = groups.table
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


def _pairs(
    config: LayoutConfig, seats: list[Seat], category: NDArray[np.uint8], rows: Rows, step: Ints
) -> tuple[Ints, Ints]:
    """Wheelchair places and their companions: as the layout says, or else the seats beside."""
    at = {seat.seat_id: position for position, seat in enumerate(seats)}
    pairs: set[tuple[int, int]] = set()
    for position, seat in enumerate(seats):
        if seat.companion_seat_id is not None:
            other = at[seat.companion_seat_id]
            is_wheelchair = category[position] == WHEELCHAIR
            pairs.add((position, other) if is_wheelchair else (other, position))
    for group in config.seat_groups:
        if group.group_type == "wheelchair_pair":
            members = [at[seat_id] for seat_id in group.seat_ids]
            [wheelchair] = [member for member in members if category[member] == WHEELCHAIR]
            pairs |= {(wheelchair, member) for member in members if category[member] == COMPANION}
    spoken_for = {seat for pair in pairs for seat in pair}
    alone = [place for place in np.flatnonzero(category == WHEELCHAIR) if place not in spoken_for]
    alone.sort(key=lambda place: step[place])
    for _ in range(2):  # one for every wheelchair place before a second one for any
        for place in alone:
            beside = _neighbours(rows, int(step[place]))
            free = (at for at in beside if category[at] == COMPANION and at not in spoken_for)
            companion = next(free, None)
            if companion is not None:
                pairs.add((int(place), companion))
                spoken_for.add(companion)
    places, companions = np.array(sorted(pairs), np.int32).reshape(-1, 2).T
    away = np.abs(step[companions] - step[places])
    nearest_first = np.lexsort((step[companions], away, step[places]))
    return places[nearest_first], companions[nearest_first]


def _neighbours(rows: Rows, step: int) -> list[int]:
    return [
        int(rows.position[beside])
        for beside in (step - 1, step + 1)
        if 0 <= beside < len(rows.run) and rows.run[beside] == rows.run[step]
    ]


def _groups(config: LayoutConfig, at: dict[str, int]) -> Groups:
    table = np.full(len(at), -1, np.int32)
    family_party = np.zeros(len(at), np.int32)
    withheld = np.zeros(len(at), np.bool_)
    whole: set[int] = set()
    table_seats: list[Ints] = []
    names: dict[int, str] = {}
    for group in config.seat_groups:
        members = np.array([at[seat_id] for seat_id in group.seat_ids], np.int32)
        if group.name is not None:
            names |= dict.fromkeys(members.tolist(), group.name)
        if group.group_type == "vip_table":
            table[members] = len(table_seats)
            if group.metadata.get("whole"):
                whole.add(len(table_seats))
            table_seats.append(members)
        elif group.group_type == "family_block":
            family_party[members] = group.metadata.get("min_party", FAMILY_PARTY)
        elif group.group_type == "reserved_block":
            withheld[members] = True
    return Groups(table, frozenset(whole), table_seats, family_party, withheld, names)
