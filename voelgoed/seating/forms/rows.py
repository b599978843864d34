"""How a row is numbered, and where its seats stand."""

import math
from bisect import bisect
from typing import Literal

import msgspec

from voelgoed.seating.forms.draft import Wrong
from voelgoed.seating.model.layout import COORDINATE_MAX, Point, SeatCategory

Numbering = Literal["left", "right", "centre", "odd-even"]

COORDINATE_DIGITS = 4


class Spot(msgspec.Struct, frozen=True, gc=False):
    """A seat still without a place."""

    number: int
    category: SeatCategory = "standard"


class Gap(msgspec.Struct, frozen=True, gc=False):
    """An aisle or an empty place, in places."""

    places: float = 1.0


Place = Spot | Gap


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """Rows one behind the other. `at` is the middle of the front row."""

    at: Point = Point(0, 0)
    pitch: float = 1.0
    """Between neighbours, from middle to middle."""
    depth: float = 1.0
    """Between a row and the one behind it."""
    curve: float | None = None
    """The radius of the front row; the rows behind it have the same middle point."""
    turn: float = 0.0
    """Degrees. At 0 people look towards smaller y, at 90 towards greater x."""
    aisle: float = 1.0
    """In places."""


def numbers(sections: list[int], numbering: Numbering) -> list[int]:
    """From left to right as drawn, with the stage at the top; aisles are between sections."""
    count = sum(sections)
    if numbering == "left":
        return list(range(1, count + 1))
    if numbering == "right":
        return list(range(count, 0, -1))
    if numbering == "centre":
        middle = (count - 1) // 2
        return [2 * (i - middle) if i > middle else 1 + 2 * (middle - i) for i in range(count)]
    left = _left_of_the_middle(sections)
    return [*range(2 * left - 1, 0, -2), *range(2, 2 * (count - left) + 1, 2)]


def _left_of_the_middle(sections: list[int]) -> int:
    """Up to the middle aisle, or to the middle of the middle section."""
    half, odd = divmod(len(sections), 2)
    return sum(sections[:half]) + (math.ceil(sections[half] / 2) if odd else 0)


def row_of(sections: list[int], numbering: Numbering, aisle: float) -> list[Place]:
    numbered = iter(numbers(sections, numbering))
    row: list[Place] = []
    for index, section in enumerate(sections):
        if index:
            row.append(Gap(aisle))
        row += [Spot(next(numbered)) for _ in range(section)]
    return row


def points_of(row: list[Place], block: Block, back: float) -> list[Point]:
    """Where the seats of a row stand that is `back` behind the block's front row.

    Neighbours are one pitch apart as the crow flies, on a curve too."""
    steps = _steps(row)
    if block.curve is None:
        middle = sum(steps) / 2
        flat = [((along - middle) * block.pitch, back) for along in _running(steps)]
    else:
        flat = _on_a_curve(steps, block.pitch, block.curve, back)
    points = [_placed(x, y, block) for x, y in flat[: sum(isinstance(p, Spot) for p in row)]]
    if any(max(abs(point.x), abs(point.y)) > COORDINATE_MAX for point in points):
        raise Wrong(f"the row reaches beyond {COORDINATE_MAX}")
    return points


def _steps(row: list[Place]) -> list[float]:
    """From the row's beginning to each seat, then to its end, in places.

    Empty places at the ends count, so that a row can be pushed aside."""
    steps: list[float] = []
    step = 0.0
    for place in row:
        if isinstance(place, Gap):
            step += place.places
        else:
            steps.append(step)
            step = 1.0
    return [*steps, step - 1.0 if steps else step]


def _running(steps: list[float]) -> list[float]:
    total = 0.0
    return [total := total + step for step in steps]


def _on_a_curve(
    steps: list[float], pitch: float, curve: float, back: float
) -> list[tuple[float, float]]:
    radius = curve + back
    angles = [2 * math.asin(min(1.0, step * pitch / (2 * radius))) for step in steps]
    if sum(angles) > math.pi:  # beyond, left and right of a row are no longer clear
        raise Wrong("the row is too long for its curve: it would be more than half a circle")
    middle = sum(angles) / 2
    return [
        (radius * math.sin(angle - middle), radius * math.cos(angle - middle) - curve)
        for angle in _running(angles)
    ]


def _placed(x: float, y: float, block: Block) -> Point:
    turn = math.radians(block.turn)
    cos, sin = math.cos(turn), math.sin(turn)
    return Point(_rounded(block.at.x + x * cos - y * sin), _rounded(block.at.y + x * sin + y * cos))


def table_points(seats: int, middle: Point, pitch: float) -> list[Point]:
    """Around a round table, clockwise from the top, neighbours one pitch apart."""
    radius = pitch / (2 * math.sin(math.pi / seats)) if seats > 1 else 0.0
    turns = [2 * math.pi * i / seats for i in range(seats)]
    return [
        Point(
            _rounded(middle.x + radius * math.sin(turn)),
            _rounded(middle.y - radius * math.cos(turn)),
        )
        for turn in turns
    ]


def _rounded(value: float) -> float:
    return round(value, COORDINATE_DIGITS) + 0.0  # no -0.0, which reads oddly in a file


def companions_of(row: list[Place]) -> dict[int, int]:
    """Of each companion's number, its wheelchair place's: the nearest one; of two as near, the
    one that has no companion yet, then the left one."""
    spots = [place for place in row if isinstance(place, Spot)]
    along = dict(zip((spot.number for spot in spots), _running(_steps(row)), strict=False))
    chairs = [spot.number for spot in spots if spot.category == "wheelchair"]
    chairs = sorted(set(chairs), key=along.__getitem__)
    stand = [along[chair] for chair in chairs]
    found: dict[int, int] = {}
    accompanied: set[int] = set()
    for companion in (spot.number for spot in spots if spot.category == "companion"):
        if not chairs:
            raise Wrong(f"companion {companion} has no wheelchair place in its row")
        right = bisect(stand, along[companion])
        found[companion] = min(
            (abs(along[chair] - along[companion]), chair in accompanied, along[chair], chair)
            for chair in chairs[max(right - 1, 0) : right + 1]
        )[-1]
        accompanied.add(found[companion])
    return found
