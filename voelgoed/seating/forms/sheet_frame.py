"""How much room a layout takes: its seats, its areas, and the stage."""

from itertools import pairwise
from typing import cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from voelgoed.seating.forms.sheet import Box, Points
from voelgoed.seating.model.layout import COORDINATE_MAX, SEATED, LayoutConfig, Point, Zone

AREAS_ACROSS = 3
AREA_WIDTH, AREA_HEIGHT = 14.0, 7.0
"""Of an area that says nothing about it, in seats."""
STAGE_DEPTH, STAGE_WIDTH_MIN = 3.0, 4.0
"""In seats."""
STAGE_SHARE = 0.4
"""Of the layout's width, at most."""
ARENA_SHARE = 0.7
"""Of the room between the seats."""


class Stage(msgspec.Struct, frozen=True):
    box: Box
    is_amid: bool
    """Among the seats, and not before them."""


def usual_pitch(config: LayoutConfig) -> float:
    """The distance of neighbours in a row, in the middle of all that there are."""
    rows: list[tuple[int, str]] = []
    points: list[tuple[float, float]] = []
    for index, zone in enumerate(config.zones):
        rows += [(index, seat.row) for seat in zone.seats]
        points += [(seat.coordinates.x, seat.coordinates.y) for seat in zone.seats]
    same_row = np.array([one == other for one, other in pairwise(rows)], bool)
    if not same_row.any():
        return 1.0
    apart = np.hypot(*np.diff(np.array(points), axis=0).T)[same_row]
    return float(np.median(apart)) or 1.0


def placed_areas(zones: list[Zone], seats: Points, pitch: float) -> list[tuple[Zone, Box]]:
    """Where they say they are; otherwise side by side behind all else."""
    areas = [(zone, _own_box(zone)) for zone in zones if zone.zone_type not in SEATED]
    placed = [box for _, box in areas if box is not None]
    room = extent_of(seats, placed)
    lost = [zone for zone, box in areas if box is None]
    columns = min(AREAS_ACROSS, len(lost))
    width = max(AREA_WIDTH * pitch, room.width / max(columns, 1) - pitch)
    behind = room.y + room.height + 3 * pitch
    left = room.middle.x - columns * (width + pitch) / 2 + pitch / 2
    found = {
        zone.zone_id: Box(
            left + index % columns * (width + pitch),
            behind + index // columns * (AREA_HEIGHT + 1) * pitch,
            width,
            AREA_HEIGHT * pitch,
        )
        for index, zone in enumerate(lost)
    }
    return [(zone, box or found[zone.zone_id]) for zone, box in areas]


def _own_box(zone: Zone) -> Box | None:
    numbers: list[float] = []
    for name in ("x", "y", "width", "height"):
        value = cast(object, zone.metadata.get(name))
        if not isinstance(value, int | float) or not abs(value) <= COORDINATE_MAX:
            return None
        numbers.append(float(value))
    box = Box(*numbers)
    return box if box.width > 0 and box.height > 0 else None


def stage_of(focus: Point | None, seats: Points, areas: list[Box], pitch: float) -> Stage:
    """About the focal point, as large as there is room; before the front if none is given."""
    room = extent_of(seats, areas)
    depth = STAGE_DEPTH * pitch
    if focus is None:
        focus = Point(room.middle.x, room.y - depth)
    # One far away would make everything else tiny.
    x = min(max(focus.x, room.x - room.width), room.x + 2 * room.width)
    y = min(max(focus.y, room.y - room.height - depth), room.y + 2 * room.height + depth)
    dx, dy = np.abs(seats - (x, y)).T
    is_amid = bool((seats[:, 1] < y - depth).any() and (seats[:, 1] > y + depth).any())
    if is_amid:
        depth = max(depth, ARENA_SHARE * 2 * _least(dy[dx < depth]))
    aside = _least(dx[dy < depth / 2 + pitch])
    width = 2 * min(aside * ARENA_SHARE, room.width * STAGE_SHARE / 2)
    width = max(width, STAGE_WIDTH_MIN * pitch)
    return Stage(Box(x - width / 2, y - depth / 2, width, depth), is_amid)


def _least(distances: NDArray[np.float64]) -> float:
    return float(distances.min()) if len(distances) else COORDINATE_MAX


def extent_of(seats: Points, boxes: list[Box]) -> Box:
    corners = [(box.x, box.y) for box in boxes]
    corners += [(box.x + box.width, box.y + box.height) for box in boxes]
    points = np.concatenate([seats, np.array(corners).reshape(-1, 2)])
    if not len(points):
        return Box(0.0, 0.0, 0.0, 0.0)
    (left, top), (right, bottom) = points.min(axis=0).tolist(), points.max(axis=0).tolist()
    return Box(left, top, right - left, bottom - top)
