"""Builders of little houses, drawn as they look from above with the stage at the top.

A row is a string, a place a sign: `.` is a free seat and `X` a sold one, `h` is held, `b`
blocked; `r` is a free seat with a restricted view, `w` a wheelchair place and `c` a companion
seat, and their capitals are sold; `|` or a blank is a place without a seat, which is a gap.
Rows are called A, B, C, ... through all zones, and their seats A1, A2, ... from the left.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

import msgspec
import numpy as np

from voelgoed.seating.model.event_layout import EventZone
from voelgoed.seating.model.layout import LayoutConfig, Point, Seat, SeatCategory, SeatGroup, Zone
from voelgoed.seating.model.policy import SeatingPolicy
from voelgoed.seating.model.seats import Snapshot
from voelgoed.seating.rules.house import House, house, microseconds
from voelgoed.seating.rules.plan import Plan, compile_plan
from voelgoed.seating.rules.search import Choice

NOW = datetime(2026, 6, 1, 18, tzinfo=UTC)
LINEAGE = UUID(int=77)
ROW_NAMES = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
GAPS = "| "
CATEGORIES: Mapping[str, SeatCategory] = {
    "r": "restricted_view",
    "w": "wheelchair",
    "c": "companion",
}
ZONE_WIDTH = 100.0

Pictures = Sequence[str]


def a_policy(**changes: Any) -> SeatingPolicy:
    given = {"id": UUID(int=1), "created_at": NOW, "updated_at": NOW, **changes}
    return SeatingPolicy(**given)


def a_layout(
    *zones: Pictures,
    groups: Iterable[SeatGroup] = (),
    focal_point: Point | None = None,
    links: Mapping[str, str] | None = None,
    shuffled: int | None = None,
) -> LayoutConfig:
    """`links` are of wheelchair places to their companions or the other way round; `shuffled`
    is the seed of another order of the seats within each zone."""
    names = iter(ROW_NAMES)
    drawn = [
        _zone(number, [(next(names), picture) for picture in pictures], links or {})
        for number, pictures in enumerate(zones)
    ]
    if shuffled is not None:
        drawn = [_shuffled(zone, Random(f"{shuffled} {zone.zone_id}")) for zone in drawn]
    return LayoutConfig(zones=drawn, seat_groups=list(groups), focal_point=focal_point)


def _zone(number: int, rows: list[tuple[str, str]], links: Mapping[str, str]) -> Zone:
    seats = [
        seat
        for back, (name, picture) in enumerate(rows)
        for seat in _row(name, picture, number * ZONE_WIDTH, float(back), links)
    ]
    return Zone(
        zone_id=UUID(int=100 + number),
        zone_type="reserved_seating",
        name=f"Zone {number + 1}",
        capacity=max(len(seats), 1),
        seats=seats,
    )


def _row(name: str, picture: str, x: float, y: float, links: Mapping[str, str]) -> list[Seat]:
    places = [(at, sign) for at, sign in enumerate(picture) if sign not in GAPS]
    return [
        Seat(
            seat_id=f"{name}{number}",
            row=name,
            number=number,
            category=CATEGORIES.get(sign.lower(), "standard"),
            coordinates=Point(x + at, y),
            companion_seat_id=links.get(f"{name}{number}"),
        )
        for number, (at, sign) in enumerate(places, start=1)
    ]


def _shuffled(zone: Zone, random: Random) -> Zone:
    return msgspec.structs.replace(zone, seats=random.sample(zone.seats, len(zone.seats)))


def a_group(group_type: Any, seat_ids: str, **metadata: Any) -> SeatGroup:
    """`seat_ids` with blanks between them."""
    return SeatGroup(group_type=group_type, seat_ids=seat_ids.split(), metadata=metadata)


def a_plan(*zones: Pictures, **layout: Any) -> Plan:
    return compile_plan(a_layout(*zones, **layout), LINEAGE)


def a_snapshot(
    plan: Plan,
    *,
    held: Mapping[str, datetime] | None = None,
    sold: Iterable[str] = (),
    blocked: Iterable[str] = (),
    sold_blocked: Iterable[str] = (),
) -> Snapshot:
    """`sold_blocked` seats are blocked, and were sold before."""
    held = held or {}
    return Snapshot(
        seq=0,
        held=_packed([plan.by_seat_id[seat_id] for seat_id in held], ">i4"),
        held_until=_packed([microseconds(until) for until in held.values()], ">i8"),
        sold=_packed([plan.by_seat_id[seat_id] for seat_id in sold], ">i4"),
        blocked=_packed([plan.by_seat_id[each] for each in (*blocked, *sold_blocked)], ">i4"),
        sold_blocked=_packed([plan.by_seat_id[seat_id] for seat_id in sold_blocked], ">i4"),
    )


def _packed(numbers: list[int], kind: str) -> bytes:
    return np.array(numbers, kind).tobytes()


def as_drawn(plan: Plan, zones: Iterable[Pictures]) -> Snapshot:
    """The states in the pictures; what is held is so for five minutes more."""
    signs: dict[str, str] = {}
    names = iter(ROW_NAMES)
    for picture in (picture for pictures in zones for picture in pictures):
        name = next(names)
        seats = (sign for sign in picture if sign not in GAPS)
        signs |= {f"{name}{number}": sign for number, sign in enumerate(seats, start=1)}
    return a_snapshot(
        plan,
        held={seat: NOW + timedelta(minutes=5) for seat, sign in signs.items() if sign == "h"},
        sold=[seat for seat, sign in signs.items() if sign.isupper()],
        blocked=[seat for seat, sign in signs.items() if sign == "b"],
    )


def event_zones(plan: Plan, **changes: Any) -> tuple[EventZone, ...]:
    """Enabled and free of charge."""
    given = {"enabled": True, "pricing_rule_id": None, **changes}
    return tuple(EventZone(zone=zone, **given) for zone in plan.zones)


def a_house(
    *rows: str,
    zones: Sequence[Pictures] | None = None,
    policy: SeatingPolicy | None = None,
    snapshot: Snapshot | None = None,
    blocked: Sequence[str] = (),
    now: datetime = NOW,
    **layout: Any,
) -> House:
    """Of one zone with these rows, or of several zones."""
    drawn = [rows] if zones is None else zones
    plan = a_plan(*drawn, **layout)
    states = as_drawn(plan, drawn) if snapshot is None else snapshot
    return house(plan, event_zones(plan), blocked, policy or a_policy(), states, now)


def names(house: House, steps: Iterable[int]) -> str:
    """`A1 A2`."""
    plan = house.plan
    return " ".join(plan.seats[int(plan.rows.position[step])].seat_id for step in steps)


def parts(house: House, choice: Choice | None) -> list[str] | None:
    return None if choice is None else [names(house, part) for part in choice.parts]


def positions(house: House, seat_ids: str) -> list[int]:
    return [house.plan.by_seat_id[seat_id] for seat_id in seat_ids.split()]


def steps(house: House, seat_ids: str) -> set[int]:
    return {int(house.plan.step[position]) for position in positions(house, seat_ids)}


def code(house: House, seat_id: str) -> int:
    return int(house.codes[house.plan.by_seat_id[seat_id]])
