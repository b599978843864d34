"""A stadium of any size: straight stands and round corners about a field, filled from the front."""

import math
from collections.abc import Iterator
from uuid import UUID

import msgspec

from voelgoed.seating.forms.draft import zone_id_of
from voelgoed.seating.forms.rows import Block, Place, Spot, points_of
from voelgoed.seating.model.layout import LayoutConfig, Point, Seat, Zone

FIELD_LENGTH, FIELD_WIDTH = 150.0, 90.0
"""The straight parts of the front row, in seats."""
LONG_SIDE_SECTIONS, SHORT_SIDE_SECTIONS, CORNER_SECTIONS = 6, 4, 3
CORNER_RADIUS = 30.0
CORNER_ANGLE = math.pi / 2 / CORNER_SECTIONS
AISLE = 1.5
"""Between sections, in places."""
LOWER_ROWS = 30
TIER_GAP = 6.0
PAIRS_PER_SECTION = 2
"""Wheelchair places with a companion each, in the front row."""
SEATS_MIN = 2_000


class _Section(msgspec.Struct, frozen=True):
    stand: str
    block: Block
    width: float
    """Of its front row, with an aisle."""

    def seats_in_row(self, back: float) -> int:
        corner = self.block.curve is not None
        return int((CORNER_ANGLE * (CORNER_RADIUS + back) if corner else self.width) - AISLE)


def stadium(seats: int = 50_000) -> LayoutConfig:
    """Exactly so many seats, ring by ring around the field, as far back as it takes."""
    if seats < SEATS_MIN:
        raise ValueError(f"a stadium has at least {SEATS_MIN} seats")
    sections = list(_sections())
    by_code: dict[str, list[Seat]] = {}
    left, ring = seats, 0
    while left:
        for number, section in enumerate(sections):
            row = _row(_code(number, ring), section, ring, left)
            by_code.setdefault(_code(number, ring), []).extend(row)
            left -= len(row)
        ring += 1
    zones = [
        _zone(code, sections[int(code[1:]) - 1].stand, by_code[code])
        for code in sorted(by_code)
        if by_code[code]
    ]
    return LayoutConfig(zones=zones, focal_point=Point(0, 0), total_capacity=seats)


def _sections() -> Iterator[_Section]:
    """Clockwise as drawn, from the right end of the south stand."""
    for quarter, (stand, corner) in enumerate(
        [
            ("South", "South West"),
            ("West", "North West"),
            ("North", "North East"),
            ("East", "South East"),
        ]
    ):
        long = quarter % 2 == 0
        length, across = (FIELD_LENGTH, FIELD_WIDTH) if long else (FIELD_WIDTH, FIELD_LENGTH)
        count = LONG_SIDE_SECTIONS if long else SHORT_SIDE_SECTIONS
        width = length / count
        for index in range(count):
            at = _at(quarter, (index + 0.5) * width - length / 2, across / 2 + CORNER_RADIUS)
            yield _Section(stand, Block(at=at, turn=90.0 * quarter), width)
        for index in range(CORNER_SECTIONS):
            angle = (index + 0.5) * CORNER_ANGLE
            along = length / 2 + CORNER_RADIUS * math.sin(angle)
            at = _at(quarter, along, across / 2 + CORNER_RADIUS * math.cos(angle))
            turn = 90.0 * quarter + math.degrees(angle)
            yield _Section(corner, Block(at=at, turn=turn, curve=CORNER_RADIUS), 0.0)


def _at(quarter: int, along: float, out: float) -> Point:
    """Turned about the middle of the field."""
    x, y = [(-along, out), (-out, -along), (along, -out), (out, along)][quarter]
    return Point(x, y)


def _code(section: int, ring: int) -> str:
    return f"{2 if ring >= LOWER_ROWS else 1}{section + 1:02}"


def _row(code: str, section: _Section, ring: int, most: int) -> list[Seat]:
    back = ring + (TIER_GAP if ring >= LOWER_ROWS else 0.0)
    pairs = PAIRS_PER_SECTION if ring == 0 else 0
    spots = _spots(min(most, section.seats_in_row(back)), pairs)
    places: list[Place] = [*spots]
    name = str(ring + 1 if ring < LOWER_ROWS else ring - LOWER_ROWS + 1)
    return [
        Seat(
            seat_id=f"{code}-{name}-{spot.number}",
            row=name,
            number=spot.number,
            category=spot.category,
            coordinates=at,
            companion_seat_id=_partner(code, name, spot),
        )
        for spot, at in zip(spots, points_of(places, section.block, back), strict=True)
    ]


def _spots(count: int, pairs: int) -> list[Spot]:
    """First the wheelchair places, each with its companion behind it."""
    special = [
        spot
        for pair in range(pairs)
        for spot in (Spot(2 * pair + 1, "wheelchair"), Spot(2 * pair + 2, "companion"))
    ]
    return special + [Spot(number) for number in range(2 * pairs + 1, count + 1)]


def _partner(code: str, row: str, spot: Spot) -> str | None:
    step = {"wheelchair": 1, "companion": -1}.get(spot.category)
    return None if step is None else f"{code}-{row}-{spot.number + step}"


def _zone(code: str, stand: str, seats: list[Seat]) -> Zone:
    return Zone(
        zone_id=UUID(zone_id_of(code)),
        zone_type="reserved_seating",
        name=f"{stand} {code}",
        capacity=len(seats),
        seats=seats,
    )
