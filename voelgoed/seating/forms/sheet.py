"""Paper to draw a layout on: shapes in pixels, and what room is left."""

import math
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from voelgoed.seating.model.layout import Point

SIDE_PX_MAX = 6_000
SIDE_PX_BEST = 2_000
WIDTH_PX_MIN = 420
PITCH_PX_BEST, PITCH_PX_MIN = 22.0, 7.0
MARGIN_PX = 40.0
FRAME_PX = 400.0
"""Margins and the longest legend."""
WORDS_CHARACTERS_MAX = 60
LEGEND_ENTRY_PX, LEGEND_LINE_PX = 180.0, 26.0
CHARACTER_SHARE = 0.56
"""How wide a letter is on average, of its height."""

Points = NDArray[np.float64]


class Box(msgspec.Struct, frozen=True):
    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> Point:
        return Point(self.x + self.width / 2, self.y + self.height / 2)

    def wider(self, by: float) -> "Box":
        return Box(self.x - by, self.y - by, self.width + 2 * by, self.height + 2 * by)

    def touches(self, other: "Box") -> bool:
        return (
            self.x < other.x + other.width
            and other.x < self.x + self.width
            and self.y < other.y + other.height
            and other.y < self.y + self.height
        )


class Disc(msgspec.Struct, frozen=True):
    at: Point
    radius: float
    fill: str
    rim: str | None = None
    title: str = ""


class Panel(msgspec.Struct, frozen=True):
    box: Box
    fill: str
    rim: str


class Words(msgspec.Struct, frozen=True):
    """On one line, at the middle of their height."""

    at: Point
    text: str
    size: float
    fill: str
    anchor: Literal["start", "middle"] = "middle"

    @property
    def box(self) -> Box:
        width = CHARACTER_SHARE * self.size * min(len(self.text), WORDS_CHARACTERS_MAX)
        return Box(self.at.x - width / 2, self.at.y - self.size / 2, width, self.size)


Shape = Disc | Panel | Words


class Picture(msgspec.Struct, frozen=True):
    width: int
    height: int
    paper: str
    shapes: list[Shape]


class Sheet:
    """Knows how large the layout is drawn, and where something is already."""

    def __init__(self, extent: Box, pitch: float, seats: Points) -> None:
        side = max(extent.width, extent.height, pitch)
        scale = min(PITCH_PX_BEST / pitch, max(PITCH_PX_MIN / pitch, SIDE_PX_BEST / side))
        self.scale = min(scale, (SIDE_PX_MAX - FRAME_PX) / side)
        self.pitch_px = pitch * self.scale
        self._width = max(WIDTH_PX_MIN, extent.width * self.scale + 2 * MARGIN_PX)
        self._height = extent.height * self.scale + 2 * MARGIN_PX
        self._left = (self._width - extent.width * self.scale) / 2 - extent.x * self.scale
        self._top = MARGIN_PX - extent.y * self.scale
        self._seats = seats * self.scale + (self._left, self._top)
        self._taken: list[Box] = []
        self._shapes: list[Shape] = []

    def at(self, place: Point) -> Point:
        return Point(self._left + place.x * self.scale, self._top + place.y * self.scale)

    def boxed(self, box: Box) -> Box:
        corner = self.at(Point(box.x, box.y))
        return Box(corner.x, corner.y, box.width * self.scale, box.height * self.scale)

    def add(self, shape: Shape) -> None:
        self._shapes.append(shape)

    def take(self, box: Box) -> None:
        self._taken.append(box)

    def add_if_free(self, words: Words) -> bool:
        box = words.box
        if not self._is_free(box):
            return False
        self.add(words)
        self.take(box)
        return True

    def _is_free(self, box: Box) -> bool:
        room = self.pitch_px / 2
        low = (box.x - room, box.y - room)
        high = (box.x + box.width + room, box.y + box.height + room)
        inside = ((self._seats > low) & (self._seats < high)).all(axis=1)
        return not inside.any() and not any(box.touches(taken) for taken in self._taken)

    def inside(self, words: Words) -> Words:
        """Pushed so far from the edge that nothing is cut off."""
        half = words.box.width / 2 + words.size
        x = min(max(words.at.x, half), self._width - half)
        return msgspec.structs.replace(words, at=Point(x, words.at.y))

    def legend_places(self, count: int) -> list[Point]:
        """Below everything else; the sheet grows with it."""
        across = max(1, int((self._width - 2 * MARGIN_PX) / LEGEND_ENTRY_PX))
        top = self._height + LEGEND_LINE_PX / 2
        self._height += math.ceil(count / across) * LEGEND_LINE_PX + MARGIN_PX
        return [
            Point(
                MARGIN_PX + index % across * LEGEND_ENTRY_PX,
                top + index // across * LEGEND_LINE_PX,
            )
            for index in range(count)
        ]

    def picture(self, paper: str) -> Picture:
        return Picture(math.ceil(self._width), math.ceil(self._height), paper, self._shapes)
