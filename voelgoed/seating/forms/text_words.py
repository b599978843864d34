"""The words of one line of a layout in text form."""

import re
from collections.abc import Iterable
from typing import Any, get_args

from voelgoed.seating.forms.draft import Wrong
from voelgoed.seating.model.layout import CAPACITY_MAX, COORDINATE_MAX, AccessMode, Point
from voelgoed.seating.rules.access import NEEDED_BY

SIZE_MIN, SIZE_MAX = 0.1, 100_000.0

_WORD = re.compile(r'#.*|"([^"]*)"(?!\S)|[^\s"]+(?!\S)|(\S)')
_NUMBER = re.compile(r"-?\d{1,7}(\.\d{1,9})?", re.ASCII)
_COUNT = re.compile(r"\d{1,7}", re.ASCII)


def words_of(line: str) -> list[str]:
    words: list[str] = []
    for found in _WORD.finditer(line):
        if found[0].startswith("#"):
            break
        if found[2]:
            raise Wrong('a " is missing, or is inside a word')
        words.append(found[0] if found[1] is None else found[1])
    return words


class Options:
    """What follows at the end of a line: names with a value each, and flags."""

    def __init__(self, words: list[str], known: Iterable[str], flags: Iterable[str] = ()) -> None:
        self._values: dict[str, str] = {}
        rest = iter(words)
        for name in rest:
            if name not in {*known, *flags}:
                raise Wrong(f"`{name}` is not known here; known are {', '.join([*known, *flags])}")
            if name in self._values:
                raise Wrong(f"`{name}` is given twice")
            value = name if name in flags else next(rest, None)
            if value is None:
                raise Wrong(f"`{name}` needs a value")
            self._values[name] = value

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def word(self, name: str, default: str = "") -> str:
        return self._values.get(name, default)

    def number(self, name: str, default: float, least: float, most: float) -> float:
        value = self._values.get(name)
        return default if value is None else number(value, name, least, most)

    def point(self, name: str) -> Point:
        return point(self.needed(name))

    def needed(self, name: str) -> str:
        if name not in self._values:
            raise Wrong(f"`{name}` is missing")
        return self._values[name]


def choice(word: str, kind: Any, what: str) -> Any:
    """One of a Literal's."""
    if word not in get_args(kind):
        raise Wrong(f"{what} is one of {', '.join(get_args(kind))}, and not `{word}`")
    return word


def number(word: str, what: str, least: float, most: float) -> float:
    if not _NUMBER.fullmatch(word) or not least <= float(word) <= most:
        raise Wrong(f"{what} is a number from {least:g} to {most:.7g}, and not `{word}`")
    return float(word)


def count(word: str, what: str, most: int) -> int:
    if not _COUNT.fullmatch(word) or not 1 <= int(word) <= most:
        raise Wrong(f"{what} is a whole number from 1 to {most}, and not `{word}`")
    return int(word)


def point(word: str) -> Point:
    x, comma, y = word.partition(",")
    if not comma:
        raise Wrong(f"a place is two numbers with a comma and no blank between, and not `{word}`")
    return Point(
        number(x, "x", -COORDINATE_MAX, COORDINATE_MAX),
        number(y, "y", -COORDINATE_MAX, COORDINATE_MAX),
    )


def exactly(words: list[str], pattern: str) -> list[str]:
    if len(words) != len(pattern.split()) - 1:
        raise Wrong(f"write it as: {pattern}")
    return words


def access_of(word: str) -> dict[str, Any]:
    mode, _, value = word.partition(":")
    if mode == "public" and not value:
        return {"access_mode": "public"}
    access_mode: AccessMode = choice(mode, AccessMode, "access")
    if access_mode == "public" or not value:
        raise Wrong("write access as public, membership_tier:…, role_based:…,… or whitelist:…")
    needed = NEEDED_BY[access_mode]
    return {"access_mode": mode, needed: value.split(",") if mode == "role_based" else value}


def area_of(options: Options) -> dict[str, Any]:
    capacity = count(options.needed("capacity"), "capacity", CAPACITY_MAX)
    if "at" not in options and "size" not in options:
        return {"capacity": capacity}
    at = options.point("at")
    across, _, deep = options.needed("size").partition("x")
    width = number(across, "the width in `size`, such as 20x10,", SIZE_MIN, SIZE_MAX)
    height = number(deep, "the depth in `size`, such as 20x10,", SIZE_MIN, SIZE_MAX)
    box = {"x": at.x - width / 2, "y": at.y, "width": width, "height": height}
    return {"capacity": capacity, "metadata": box}
