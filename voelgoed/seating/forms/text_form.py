"""A layout as a short text, read into a config. docs/layouts.md explains the language."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, get_args

from voelgoed.seating.forms.draft import Draft, DraftZone, Wrong, zone_id_of
from voelgoed.seating.forms.rows import Block, Spot, companions_of, points_of, table_points
from voelgoed.seating.forms.text_rows import Generated, names, row_of_words, seat_ids
from voelgoed.seating.forms.text_words import (
    Options,
    access_of,
    area_of,
    choice,
    count,
    exactly,
    number,
    point,
    words_of,
)
from voelgoed.seating.model.layout import (
    CAPACITY_MAX,
    GROUPS_MAX,
    SEATED,
    SEATS_MAX,
    GroupType,
    LayoutConfig,
    Point,
    TextFault,
    ZoneType,
)
from voelgoed.seating.rules.validation_shapes import FAULTS_MAX

TEXT_CHARACTERS_MAX = 1_000_000
PITCH_MIN, PITCH_MAX = 0.2, 100.0
DEPTH_MIN, DEPTH_MAX = 0.2, 1_000.0
CURVE_MIN, CURVE_MAX = 0.5, 100_000.0
AISLE_MIN, AISLE_MAX = 1.0, 100.0
TABLE_SEATS_MAX = 100
PLACES_MAX = 10 * SEATS_MAX
"""Seats, aisles and empty places, of all rows."""

_LINE_END = re.compile(r"\r\n|\r|\n")
_CODE = re.compile(r"[a-z0-9]([a-z0-9_-]{0,38}[a-z0-9])?")


def read_text(text: str) -> tuple[LayoutConfig | None, list[TextFault]]:
    """The layout, or what is wrong with the text, every bad line at once."""
    return draft_of_text(text).finish()


def draft_of_text(text: str) -> Draft:
    reader = _Reader()
    if len(text) > TEXT_CHARACTERS_MAX:
        reader.draft.fault(1, f"the text has more than {TEXT_CHARACTERS_MAX} characters")
        return reader.draft
    for line, content in enumerate(_LINE_END.split(text.removeprefix("\ufeff")), start=1):
        if len(reader.draft.faults) == FAULTS_MAX:
            break
        try:
            reader.read(line, words_of(content))
        except Wrong as wrong:
            reader.draft.fault(line, str(wrong))
    reader.finish()
    return reader.draft


@dataclass
class _Zone:
    """The one that the lines are about. Without a draft if its own line is wrong: its rows are
    read all the same."""

    code: str = ""
    prefix: str = ""
    seated: bool = True
    draft: DraftZone | None = None
    block: Block = field(default_factory=Block)
    back: float = 0.0
    """Behind the block's front row: where the next one goes."""


class _Reader:
    def __init__(self) -> None:
        self.draft = Draft()
        self._codes: set[str] = set()
        self._zone: _Zone | None = None
        self._total: int | None = None
        self._line = 0
        self._seats_left = SEATS_MAX
        self._places_left = PLACES_MAX
        self._members_left = SEATS_MAX * len(get_args(GroupType))
        self._statements: dict[str, Callable[[list[str]], None]] = {
            "focus": self._read_focus,
            "total": self._read_total,
            "zone": self._read_zone,
            "block": self._read_block,
            "walkway": self._read_walkway,
            "row": self._read_rows,
            "rows": self._read_rows,
            "table": self._read_tables,
            "tables": self._read_tables,
            "group": self._read_group,
        }

    def read(self, line: int, words: list[str]) -> None:
        if not words:
            return
        self._line = line
        statement = self._statements.get(words[0])
        if statement is None:
            known = ", ".join(self._statements)
            raise Wrong(f"`{words[0]}` is not known; a line begins with one of {known}")
        statement(words[1:])

    def finish(self) -> None:
        areas = sum(zone.fields.get("capacity", 0) for zone in self.draft.zones)
        places = areas + self.draft.seat_count
        if self._total is None and places:
            self.draft.say(1, "total_capacity", places)

    def _read_focus(self, words: list[str]) -> None:
        [word] = exactly(words, "focus x,y")
        self.draft.say(self._line, "focal_point", _builtins(point(word)))

    def _read_total(self, words: list[str]) -> None:
        [word] = exactly(words, "total places")
        self._total = count(word, "total", CAPACITY_MAX)
        self.draft.say(self._line, "total_capacity", self._total)

    def _read_zone(self, words: list[str]) -> None:
        self._zone = _Zone()
        code, given_type, name = exactly(words[:3], 'zone code type "Name"')
        if not _CODE.fullmatch(code):
            raise Wrong(f"a zone's code has small letters and digits, and not `{code}`")
        if code in self._codes:
            raise Wrong(f"there is a zone `{code}` already")
        zone_type: ZoneType = choice(given_type, ZoneType, "a zone's type")
        seated = zone_type in SEATED
        options = Options(words[3:], _SEATED_OPTIONS if seated else _AREA_OPTIONS)
        fields = {"zone_id": zone_id_of(code), "zone_type": zone_type, "name": name}
        fields |= access_of(options.word("access", "public"))
        fields |= {} if seated else area_of(options)
        draft = self.draft.add_zone(self._line, code, fields)
        self._codes.add(code)
        self._zone = _Zone(code, options.word("prefix"), seated, draft)

    def _read_block(self, words: list[str]) -> None:
        zone = self._seated_zone()
        options = Options(words, ["at", "pitch", "depth", "curve", "turn", "aisle"])
        pitch = options.number("pitch", 1.0, PITCH_MIN, PITCH_MAX)
        curve = options.number("curve", 0.0, CURVE_MIN, CURVE_MAX)
        zone.block = Block(
            at=options.point("at"),
            pitch=pitch,
            depth=options.number("depth", pitch, max(DEPTH_MIN, pitch / 2), DEPTH_MAX),
            curve=curve or None,
            turn=options.number("turn", 0.0, -360.0, 360.0),
            aisle=options.number("aisle", 1.0, AISLE_MIN, AISLE_MAX),
        )
        zone.back = 0.0

    def _read_walkway(self, words: list[str]) -> None:
        [word] = exactly(words, "walkway width")
        zone = self._seated_zone()
        zone.back += number(word, "a walkway", 0.0, DEPTH_MAX)

    def _read_rows(self, words: list[str]) -> None:
        zone = self._seated_zone()
        if len(words) < 2:
            raise Wrong("say which row and which seats: row A 1-14 | 15-28")
        aisle = zone.block.aisle
        generated = Generated(words[1:], aisle) if words[1] == "seats" else None
        for index, row in enumerate(names(words[0])):
            places = generated.row(index) if generated else row_of_words(words[1:], aisle)
            self._places_left -= len(places)
            self._refuse_too_many_seats()
            spots = [place for place in places if isinstance(place, Spot)]
            seats = _seats(zone, row, spots, points_of(places, zone.block, zone.back))
            self._add_seats(zone, _paired(seats, companions_of(places)))
            zone.back += zone.block.depth

    def _read_tables(self, words: list[str]) -> None:
        zone = self._seated_zone()
        if not words:
            raise Wrong("say which table: table T1 seats 8 at 10,5")
        options = Options(words[1:], ["seats", "at", "step"], ["whole"])
        seats = count(options.needed("seats"), "seats", TABLE_SEATS_MAX)
        at, step = options.point("at"), point(options.word("step", "0,0"))
        spots = [Spot(place) for place in range(1, seats + 1)]
        whole = {"metadata": {"whole": True}} if "whole" in options else {}
        for index, name in enumerate(names(words[0])):
            middle = Point(at.x + index * step.x, at.y + index * step.y)
            table = _seats(zone, name, spots, table_points(seats, middle, zone.block.pitch))
            self._add_seats(zone, table)
            self._add_group("vip_table", name, [seat["seat_id"] for seat in table], whole)

    def _read_group(self, words: list[str]) -> None:
        if len(words) < 3:
            raise Wrong('say which type, name and seats: group family_block "Family" F-10..13')
        group_type: GroupType = choice(words[0], GroupType, "a group's type")
        self._add_group(group_type, words[1], seat_ids(words[2:]), {})

    def _seated_zone(self) -> _Zone:
        if self._zone is None:
            raise Wrong("which zone is this in? Begin one first: zone hall reserved_seating Hall")
        if not self._zone.seated:
            raise Wrong(f"the zone `{self._zone.code}` is an area of so many places, without seats")
        self._refuse_too_many_seats()
        return self._zone

    def _refuse_too_many_seats(self) -> None:
        if self._seats_left < 0:
            raise Wrong(f"a layout has at most {SEATS_MAX} seats")
        if self._places_left < 0:
            raise Wrong(f"the rows have more than {PLACES_MAX} seats, aisles and empty places")

    def _add_seats(self, zone: _Zone, seats: list[dict[str, Any]]) -> None:
        self._seats_left -= len(seats)
        self._refuse_too_many_seats()
        if zone.draft is not None:
            for seat in seats:
                self.draft.add_seat(self._line, zone.draft, seat)

    def _add_group(
        self, group_type: GroupType, name: str, members: list[str], more: dict[str, Any]
    ) -> None:
        self._members_left -= len(members)
        if len(self.draft.groups) == GROUPS_MAX or self._members_left < 0:
            raise Wrong(f"a layout has at most {GROUPS_MAX} groups, and a seat one of each type")
        fields = {"group_type": group_type, "name": name, "seat_ids": members}
        self.draft.add_group(self._line, fields | more)


_SEATED_OPTIONS = ["prefix", "access"]
_AREA_OPTIONS = ["capacity", "access", "at", "size"]


def _seats(zone: _Zone, row: str, spots: list[Spot], points: list[Point]) -> list[dict[str, Any]]:
    prefix = f"{zone.prefix}-" if zone.prefix else ""
    return [
        {
            "seat_id": f"{prefix}{row}-{spot.number}",
            "row": row,
            "number": spot.number,
            "category": spot.category,
            "coordinates": _builtins(at),
        }
        for spot, at in zip(spots, points, strict=True)
    ]


def _paired(seats: list[dict[str, Any]], companions: dict[int, int]) -> list[dict[str, Any]]:
    by_number = {seat["number"]: seat for seat in seats}
    for companion, wheelchair in companions.items():
        by_number[companion]["companion_seat_id"] = by_number[wheelchair]["seat_id"]
        by_number[wheelchair].setdefault("companion_seat_id", by_number[companion]["seat_id"])
    return seats


def _builtins(at: Point) -> dict[str, float]:
    return {"x": at.x, "y": at.y}
