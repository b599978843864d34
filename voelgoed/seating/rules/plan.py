"""A layout made ready to think about: who sits beside whom, how far from the stage.

Two orders are used. A seat's *position* is its place in the layout's own order, which maps
of seat states follow. A *step* is its place along the rows: zone by zone, row by row from
the front, seat by seat from one end to the other; neighbours are one step apart.
"""

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha1
from uuid import UUID

import msgspec
import numpy as np
from numpy.typing import NDArray

from voelgoed.seating.model.layout import LayoutConfig, Point, Seat, SeatCategory, Zone
from voelgoed.seating.rules.rows import Bools, Floats, Ints, Rows, rows_of

CATEGORIES: tuple[SeatCategory, ...] = (
    "standard",
    "wheelchair",
    "companion",
    "restricted_view",
    "aisle",
)
WHEELCHAIR, COMPANION, RESTRICTED_VIEW = 1, 2, 3
FAMILY_PARTY = 3
"""From this size on a party is a family, unless its block says otherwise."""


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
    def paired(self) -> frozenset[int]:
        """Wheelchair places and the seats of their companions."""
        return frozenset(np.concatenate((self.wheelchair_of_pair, self.companion_of_pair)).tolist())

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
        for made in (self.by_seat_id, self.by_id, self.ordinary):
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
    rows = rows_of(seats, zone, x, y, focal_point, groups.table, groups.table_seats)
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
