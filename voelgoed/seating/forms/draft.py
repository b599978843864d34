"""A layout in the making, out of lines that people write: text and CSV."""

import re
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid5

import msgspec

from voelgoed.seating.model.layout import Fault, LayoutConfig, TextFault
from voelgoed.seating.rules.validation import check_config

ZONES = UUID("6d5be04e-67b7-5b06-9b0e-4f4a5a7e0c11")
"""Never change it: the zones of every layout written as text have their ids from it."""

MESSAGE_CHARACTERS_MAX = 300

_PART = re.compile(r"\$\.(?:zones\[\d+\](?:\.seats\[\d+\])?|seat_groups\[\d+\]|\w+)")


class Wrong(ValueError):
    """What is wrong with one line."""


class Origin(msgspec.Struct, frozen=True):
    """Where a part of the layout came from, and what it is in words."""

    line: int
    what: str


@dataclass
class DraftZone:
    path: str
    fields: dict[str, Any]
    seats: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


class Draft:
    """Takes everything as it was given. `finish` says what was wrong with it, line by line."""

    def __init__(self) -> None:
        self.zones: list[DraftZone] = []
        self.faults: list[TextFault] = []
        self.seat_count = 0
        self.groups: list[dict[str, Any]] = []
        self._layout: dict[str, Any] = {}
        self._origins: dict[str, Origin] = {}

    def fault(self, line: int, message: str) -> None:
        self.faults.append(TextFault(line, message[:MESSAGE_CHARACTERS_MAX]))

    def say(self, line: int, name: str, value: object) -> None:
        """A field of the layout itself."""
        if name in self._layout:
            self.fault(line, f"the {name.replace('_', ' ')} is given twice")
        self._layout[name] = value
        self._origins[f"$.{name}"] = Origin(line, name.replace("_", " "))

    def add_zone(self, line: int, code: str, fields: dict[str, Any]) -> DraftZone:
        zone = DraftZone(f"$.zones[{len(self.zones)}]", fields)
        self._origins[zone.path] = Origin(line, f"zone {code}")
        self.zones.append(zone)
        return zone

    def add_seat(self, line: int, zone: DraftZone, seat: dict[str, Any]) -> None:
        path = f"{zone.path}.seats[{len(zone.seats)}]"
        self._origins[path] = Origin(line, f"seat {seat.get('seat_id', '')}".rstrip())
        zone.seats.append(seat)
        self.seat_count += 1

    def add_group(self, line: int, fields: dict[str, Any]) -> None:
        path = f"$.seat_groups[{len(self.groups)}]"
        self._origins[path] = Origin(line, f"group {fields.get('name') or ''}".rstrip())
        self.groups.append(fields)

    def finish(self) -> tuple[LayoutConfig | None, list[TextFault]]:
        """The layout, or what is wrong with it, every bad line at once."""
        config, found = check_config(self.builtins())
        # What a bad line did not bring is missing elsewhere; that is no fault of its own.
        own = [fault for fault in found if not (self.faults and _may_be_for_what_is_missing(fault))]
        faults = sorted([*self.faults, *(self.explained(fault) for fault in own)])
        return (None, faults) if faults else (config, [])

    def builtins(self) -> dict[str, Any]:
        """As it was given, sound or not."""
        zones: list[dict[str, Any]] = []
        for zone in self.zones:
            capacity = {"capacity": len(zone.seats)} if zone.seats else {}
            seats = {"seats": zone.seats} if zone.seats else {}
            zones.append(capacity | zone.fields | seats)
        return self._layout | {"zones": zones, "seat_groups": self.groups}

    def explained(self, fault: Fault) -> TextFault:
        """By the line that it came from."""
        part = _PART.match(fault.path)
        origin = self._origins.get(part[0]) if part else None
        message = _PART.sub(self._in_words, fault.message)
        if part is None or origin is None:
            return TextFault(1, f"{fault.path.removeprefix('$.')}: {message}", fault.path)
        inner = fault.path[part.end() + 1 :]
        text = f"{origin.what}{inner and ', ' + inner}: {message}"
        return TextFault(origin.line, text, fault.path)

    def _in_words(self, part: re.Match[str]) -> str:
        origin = self._origins.get(part[0])
        return f"{origin.what} (line {origin.line})" if origin else part[0]


def _may_be_for_what_is_missing(fault: Fault) -> bool:
    path = fault.path
    return not path.startswith("$.zones[") or path.endswith((".seats", ".capacity"))


def zone_id_of(code: str) -> str:
    """The same in every version of a layout, as long as the zone is called the same there."""
    return str(uuid5(ZONES, code))
