"""A layout as a table for spreadsheets: a line for every zone, seat and group. Nothing is lost."""

import csv
from collections.abc import Iterator
from io import StringIO
from typing import Any

import msgspec

from voelgoed.seating.forms.csv_cells import COLUMNS, NO_ROLES, USED, Line, guarded, read_lines
from voelgoed.seating.forms.draft import Draft, DraftZone, zone_id_of
from voelgoed.seating.model.layout import LayoutConfig, Point, Seat, SeatGroup, TextFault, Zone

CSV_CHARACTERS_MAX = 50_000_000


def write_csv(config: LayoutConfig) -> str:
    file = StringIO(newline="")
    writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\r\n")
    writer.writeheader()
    for line in _lines_of(config):
        writer.writerow({name: guarded(name, cell) for name, cell in line.items()})
    text = file.getvalue()
    return text if text.isascii() else "\ufeff" + text  # without it, Excel takes é for Ã©


def _lines_of(config: LayoutConfig) -> Iterator[dict[str, str]]:
    if config.focal_point is not None or config.total_capacity is not None:
        total = "" if config.total_capacity is None else str(config.total_capacity)
        yield {"kind": "layout", "capacity": total} | _place(config.focal_point)
    names = {zone.name for zone in config.zones}
    for zone in config.zones:
        label = zone.name if len(names) == len(config.zones) else str(zone.zone_id)
        yield _zone_line(zone, label)
        yield from (_seat_line(seat, label) for seat in zone.seats)
    yield from map(_group_line, config.seat_groups)


def _zone_line(zone: Zone, label: str) -> dict[str, str]:
    roles = zone.allowed_roles
    return {
        "kind": "zone",
        "zone": label,
        "type": zone.zone_type,
        "name": zone.name,
        "capacity": "" if zone.capacity == len(zone.seats) else str(zone.capacity),
        "access_mode": zone.access_mode,
        "membership_tier": zone.membership_tier or "",
        "allowed_roles": "" if roles is None else " ".join(roles) or NO_ROLES,
        "whitelist_id": str(zone.whitelist_id or ""),
        "zone_id": str(zone.zone_id),
        "metadata": _json(zone.metadata),
    }


def _seat_line(seat: Seat, label: str) -> dict[str, str]:
    return {
        "kind": "seat",
        "zone": label,
        "row": seat.row,
        "number": str(seat.number),
        "category": seat.category,
        "seat_id": seat.seat_id,
        "companion_seat_id": seat.companion_seat_id or "",
    } | _place(seat.coordinates)


def _group_line(group: SeatGroup) -> dict[str, str]:
    return {
        "kind": "group",
        "type": group.group_type,
        "name": group.name or "",
        "seats": " ".join(group.seat_ids),
        "metadata": _json(group.metadata),
    }


def _place(point: Point | None) -> dict[str, str]:
    if point is None:
        return {}
    return {"x": repr(point.x).removesuffix(".0"), "y": repr(point.y).removesuffix(".0")}


def _json(metadata: dict[str, Any]) -> str:
    return msgspec.json.encode(metadata).decode() if metadata else ""


def read_csv(text: str) -> tuple[LayoutConfig | None, list[TextFault]]:
    """The layout, or what is wrong with the table, every bad line at once."""
    return draft_of_csv(text).finish()


def draft_of_csv(text: str) -> Draft:
    draft = Draft()
    if len(text) > CSV_CHARACTERS_MAX:
        draft.fault(1, f"the table has more than {CSV_CHARACTERS_MAX} characters")
        return draft
    zones: dict[str, DraftZone] = {}
    # A spreadsheet may have sorted the lines: zones come first, whatever line they are on.
    lines = sorted(
        read_lines(text.removeprefix("\ufeff"), draft), key=lambda line: line.kind != "zone"
    )
    for line in lines:
        _check_columns(line, draft)
        if line.kind == "zone":
            _read_zone(line, draft, zones)
        elif line.kind == "seat":
            _read_seat(line, draft, zones)
        elif line.kind == "group":
            _read_group(line, draft)
        elif line.kind == "layout":
            _read_layout(line, draft)
    return draft


def _check_columns(line: Line, draft: Draft) -> None:
    if line.kind not in USED:
        message = f"kind is one of {', '.join(USED)}, and not `{line.kind[:40]}`"
        draft.fault(line.number, message)
        return
    for name in line.cells.keys() - USED[line.kind]:
        draft.fault(line.number, f"a {line.kind} has no {name}; leave the cell empty")


def _read_zone(line: Line, draft: Draft, zones: dict[str, DraftZone]) -> None:
    label = line.text("zone")
    if label in zones:
        draft.fault(line.number, f"there is a zone `{label}` already")
        return
    fields = {"zone_id": zone_id_of(label), "name": label, "zone_type": line.text("type")}
    fields |= line.given("zone_id", "name", "access_mode", "membership_tier", "whitelist_id")
    fields |= line.numbers("capacity") | _metadata(line, draft)
    roles = line.text("allowed_roles")
    if roles:
        fields["allowed_roles"] = [] if roles == NO_ROLES else roles.replace(",", " ").split()
    zones[label] = draft.add_zone(line.number, label, fields)


def _read_seat(line: Line, draft: Draft, zones: dict[str, DraftZone]) -> None:
    label = line.text("zone")
    zone = zones.get(label)
    if zone is None:
        draft.fault(line.number, f"there is no line for a zone `{label}`")
        return
    seat = line.given("row", "category", "seat_id", "companion_seat_id") | line.numbers("number")
    draft.add_seat(line.number, zone, seat | {"coordinates": line.numbers("x", "y")})


def _read_group(line: Line, draft: Draft) -> None:
    fields = {"group_type": line.text("type"), "seat_ids": line.text("seats").split()}
    draft.add_group(line.number, fields | line.given("name") | _metadata(line, draft))


def _read_layout(line: Line, draft: Draft) -> None:
    for name, value in line.numbers("capacity").items():
        draft.say(line.number, f"total_{name}", value)
    focus = line.numbers("x", "y")
    if focus:
        draft.say(line.number, "focal_point", focus)


def _metadata(line: Line, draft: Draft) -> dict[str, object]:
    cell = line.text("metadata")
    try:
        return {"metadata": msgspec.json.decode(cell)} if cell else {}
    except (msgspec.DecodeError, RecursionError):
        draft.fault(line.number, 'metadata is JSON, such as {"whole": true}')
        return {}
