"""What a picture of a layout shows, and where: shapes in pixels, for whatever paints them."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from voelgoed.seating.forms.sheet import Box, Disc, Panel, Picture, Sheet, Words
from voelgoed.seating.forms.sheet_frame import Stage, extent_of, placed_areas, stage_of, usual_pitch
from voelgoed.seating.model.layout import (
    GroupType,
    LayoutConfig,
    Point,
    Seat,
    SeatCategory,
    Zone,
)

INK, FAINT, PAPER = "#2b2f36", "#6b7280", "#fbfaf7"
AREA, AREA_EDGE = "#e6edf5", "#9aabc0"
STAGE, ARENA, TABLE = "#3d4450", "#dce8d4", "#ece7db"

SEAT_COLOURS: dict[SeatCategory, tuple[str, str]] = {
    "standard": ("#b9c6d8", INK),
    "wheelchair": ("#1d5fbf", "#ffffff"),
    "companion": ("#8ec5f2", INK),
    "restricted_view": ("#f2b35b", INK),
    "aisle": ("#b8d8a7", INK),
}
GROUP_COLOURS: dict[GroupType, str] = {"reserved_block": "#b3261e", "family_block": "#2e7d32"}
"""Of the rim of a seat. Tables are drawn, and pairs show by their colours."""

SEAT_SHARE = 0.42
"""A seat's radius, of the distance to its neighbour."""
TABLE_RADIUS_MIN, TABLE_RADIUS_MAX = 0.2, 10.0
"""In seats. Seats further apart than that stand around no table."""
SEAT_RADIUS_PX_MIN = 2.0
NUMBERED_RADIUS_PX_MIN = 7.0
ROW_NAME_PX_MIN = 8.0
ZONE_NAME_PX = 15.0
NAMED_BESIDE_MAX = 10
"""With more zones than this their names are on them; beside them there is no room."""
LEGEND_PX = 14.0


def picture(config: LayoutConfig) -> Picture:
    seats = [seat for zone in config.zones for seat in zone.seats]
    points = np.array([(seat.coordinates.x, seat.coordinates.y) for seat in seats]).reshape(-1, 2)
    pitch = usual_pitch(config)
    areas = placed_areas(config.zones, points, pitch)
    stage = stage_of(config.focal_point, points, [box for _, box in areas], pitch)
    sheet = Sheet(extent_of(points, [stage.box, *(box for _, box in areas)]), pitch, points)
    for zone, box in areas:
        _draw_area(sheet, zone, box)
    _draw_stage(sheet, stage)
    _draw_tables(sheet, config)
    _draw_seats(sheet, config, seats)
    for zone in config.zones:
        if zone.seats:
            _draw_zone_name(sheet, zone, beside=len(config.zones) <= NAMED_BESIDE_MAX)
    _draw_row_names(sheet, config)
    _draw_legend(sheet, config, seats)
    return sheet.picture(PAPER)


def _draw_area(sheet: Sheet, zone: Zone, box: Box) -> None:
    panel = sheet.boxed(box)
    sheet.add(Panel(panel, AREA, AREA_EDGE))
    sheet.take(panel)
    middle = panel.middle
    sheet.add(Words(Point(middle.x, middle.y - 10), zone.name, ZONE_NAME_PX, INK))
    kind = "standing" if zone.zone_type.endswith("standing") else "free seating"
    text = f"{zone.capacity} {kind}"
    sheet.add(Words(Point(middle.x, middle.y + 10), text, ZONE_NAME_PX - 2, FAINT))


def _draw_stage(sheet: Sheet, stage: Stage) -> None:
    panel = sheet.boxed(stage.box)
    name, fill, ink = ("Arena", ARENA, INK) if stage.is_amid else ("Stage", STAGE, "#ffffff")
    sheet.add(Panel(panel, fill, fill))
    sheet.take(panel)
    sheet.add(Words(panel.middle, name, ZONE_NAME_PX, ink))


def _draw_tables(sheet: Sheet, config: LayoutConfig) -> None:
    at = {seat.seat_id: seat.coordinates for zone in config.zones for seat in zone.seats}
    for group in config.seat_groups:
        if group.group_type != "vip_table":
            continue
        around = np.array([(at[each].x, at[each].y) for each in group.seat_ids])
        middle = around.mean(axis=0)
        radius = float(np.hypot(*(around - middle).T).min()) * sheet.scale
        radius -= sheet.pitch_px * SEAT_SHARE * 1.2
        if TABLE_RADIUS_MIN < radius / sheet.pitch_px < TABLE_RADIUS_MAX:
            place = sheet.at(Point(float(middle[0]), float(middle[1])))
            sheet.add(Disc(place, radius, TABLE, FAINT))
            size = min(ZONE_NAME_PX, radius * 0.9)
            sheet.add(Words(place, group.name or "", size, INK))


def _draw_seats(sheet: Sheet, config: LayoutConfig, seats: list[Seat]) -> None:
    radius = max(SEAT_RADIUS_PX_MIN, sheet.pitch_px * SEAT_SHARE)
    rims = {
        seat_id: GROUP_COLOURS[group.group_type]
        for group in config.seat_groups
        if group.group_type in GROUP_COLOURS
        for seat_id in group.seat_ids
    }
    for seat in seats:
        fill, ink = SEAT_COLOURS[seat.category]
        at = sheet.at(seat.coordinates)
        sheet.add(Disc(at, radius, fill, rims.get(seat.seat_id), title=seat.seat_id))
        if radius >= NUMBERED_RADIUS_PX_MIN:
            sheet.add(Words(at, str(seat.number), radius * 0.95, ink))


def _draw_row_names(sheet: Sheet, config: LayoutConfig) -> None:
    size = sheet.pitch_px * 0.6
    if size < ROW_NAME_PX_MIN:
        return
    at_tables = {
        seat_id
        for group in config.seat_groups
        if group.group_type == "vip_table"
        for seat_id in group.seat_ids
    }
    for zone in config.zones:
        rows: dict[str, list[Point]] = {}
        for seat in zone.seats:
            if seat.seat_id not in at_tables:
                rows.setdefault(seat.row, []).append(sheet.at(seat.coordinates))
        for name, row in rows.items():
            for place in _beside(row, sheet.pitch_px):
                sheet.add_if_free(Words(place, name, size, FAINT))


def _beside(row: list[Point], step: float) -> Iterator[Point]:
    """One seat further at both ends."""
    points = np.array([(at.x, at.y) for at in row])
    if len(points) == 1:
        yield Point(row[0].x - step, row[0].y)
        return
    one = int(np.hypot(*(points - points.mean(axis=0)).T).argmax())
    other = int(np.hypot(*(points - points[one]).T).argmax())
    for end in (one, other):
        apart = np.hypot(*(points - points[end]).T)
        apart[end] = np.inf
        neighbour = int(apart.argmin())
        x, y = points[end] + (points[end] - points[neighbour]) / max(apart[neighbour], 1e-9) * step
        yield Point(float(x), float(y))


def _draw_zone_name(sheet: Sheet, zone: Zone, *, beside: bool) -> None:
    points = np.array([(at.x, at.y) for at in (sheet.at(each.coordinates) for each in zone.seats)])
    (left, top), (right, bottom) = points.min(axis=0).tolist(), points.max(axis=0).tolist()
    x, step = (left + right) / 2, sheet.pitch_px / 2 + ZONE_NAME_PX
    text = f"{zone.name} · {zone.capacity}"
    below, above, amid = (
        sheet.inside(Words(Point(x, y), text, ZONE_NAME_PX, INK))
        for y in (bottom + step, top - step, (top + bottom) / 2)
    )
    if beside and (sheet.add_if_free(below) or sheet.add_if_free(above)):
        return
    pill = amid.box.wider(ZONE_NAME_PX / 2)
    sheet.add(Panel(pill, "#ffffff", AREA_EDGE))
    sheet.add(amid)
    sheet.take(pill)


def _draw_legend(sheet: Sheet, config: LayoutConfig, seats: list[Seat]) -> None:
    categories = Counter(seat.category for seat in seats)
    groups = Counter({each.group_type: 0 for each in config.seat_groups})
    for group in config.seat_groups:
        groups[group.group_type] += len(group.seat_ids)
    entries = [(fill, None, name, categories[name]) for name, (fill, _) in SEAT_COLOURS.items()]
    entries += [(PAPER, rim, name, groups[name]) for name, rim in GROUP_COLOURS.items()]
    shown = [entry for entry in entries if entry[-1]]
    for (fill, rim, name, count), at in zip(shown, sheet.legend_places(len(shown)), strict=True):
        sheet.add(Disc(at, LEGEND_PX / 2, fill, rim))
        text = f"{name.replace('_', ' ').capitalize()} {count}"
        sheet.add(Words(Point(at.x + LEGEND_PX, at.y), text, LEGEND_PX, INK, anchor="start"))
