"""Rows as the text form writes them: their names, their seats, and how they go on."""

import re

from voelgoed.seating.forms.draft import Wrong
from voelgoed.seating.forms.rows import Gap, Numbering, Place, Spot, row_of
from voelgoed.seating.forms.text_words import Options, choice, count, number
from voelgoed.seating.model.layout import GROUP_SEATS_MAX, SeatCategory

NAMES_MAX = 500
NAME_CHARACTERS_MAX = 20
ROW_PLACES_MAX = 1_000
GROW_MAX = 10.0

_SPOTS = re.compile(r"([wcra]?)(\d{1,7})(?:-(\d{1,7})(?:/(\d{1,2}))?)?", re.ASCII)
_SEAT_IDS = re.compile(r"(\S+-)(\d{1,7})\.\.(\d{1,7})(?:/(\d{1,2}))?", re.ASCII)
_NUMBERED = re.compile(r"([A-Za-z]*)(\d{1,6})", re.ASCII)
_LETTERS = re.compile(r"[A-Z]{1,3}")
_NAME = re.compile(r"[^\s,\x00-\x1f]+")

_CATEGORIES: dict[str, SeatCategory] = {
    "": "standard",
    "w": "wheelchair",
    "c": "companion",
    "r": "restricted_view",
    "a": "aisle",
}


def names(word: str) -> list[str]:
    """`A-H,J-M` or `1-10` or `T1-T8`, in any direction."""
    found: list[str] = []
    for part in word.split(","):
        found += _names(part)
        if len(found) > NAMES_MAX:
            raise Wrong(f"a line has at most {NAMES_MAX} names")
    for name in found:
        if not _NAME.fullmatch(name) or len(name) > NAME_CHARACTERS_MAX:
            raise Wrong(f"a name has 1 to {NAME_CHARACTERS_MAX} characters, and not `{name}`")
    return found


def _names(part: str) -> list[str]:
    first, hyphen, last = part.partition("-")
    if not hyphen:
        return [part]
    if _LETTERS.fullmatch(first) and _LETTERS.fullmatch(last):
        return [letters(at) for at in _through(_place(first), _place(last))]
    one, other = _NUMBERED.fullmatch(first), _NUMBERED.fullmatch(last)
    if not one or not other or one[1] != other[1]:
        raise Wrong(f"`{part}` is no range of names, such as A-H, 1-10 or T1-T8")
    return [f"{one[1]}{at}" for at in _through(int(one[2]), int(other[2]))]


def _through(first: int, last: int, step: int = 1) -> range:
    if abs(last - first) > ROW_PLACES_MAX * step:
        raise Wrong(f"from {first} to {last} is more than {ROW_PLACES_MAX}")
    return range(first, last + 1, step) if first <= last else range(first, last - 1, -step)


def _place(name: str) -> int:
    place = 0
    for letter in name:
        place = place * 26 + ord(letter) - ord("A") + 1
    return place


def letters(place: int) -> str:
    """A to Z, then AA, AB and so on, as spreadsheets name their columns."""
    name = ""
    while place:
        place, letter = divmod(place - 1, 26)
        name = chr(ord("A") + letter) + name
    return name


def row_of_words(words: list[str], aisle: float) -> list[Place]:
    """`w1 c2 _ 5-20 | 27-21/2 r23`."""
    row: list[Place] = []
    for word in words:
        if word in {"|", "_"}:
            row.append(Gap(aisle if word == "|" else 1.0))
        else:
            row += _spots(word)
        if len(row) > ROW_PLACES_MAX:
            raise Wrong(f"a row has at most {ROW_PLACES_MAX} places")
    if not any(isinstance(place, Spot) for place in row):
        raise Wrong("the row has no seats")
    return row


def _spots(word: str) -> list[Place]:
    found = _SPOTS.fullmatch(word)
    if not found:
        raise Wrong(f"`{word}` is no seat, such as 7, 1-14, 27-1/2 or w3, and neither | nor _")
    first, last = int(found[2]), int(found[3] or found[2])
    step = _step(found[4])
    return [Spot(at, _CATEGORIES[found[1]]) for at in _through(first, last, step)]


def _step(word: str | None) -> int:
    if word is not None and int(word) == 0:
        raise Wrong("a range cannot go in steps of 0")
    return int(word or 1)


def seat_ids(words: list[str]) -> list[str]:
    """`F-10`, or `F-10..13` for four of them."""
    found: list[str] = []
    for word in words:
        row = _SEAT_IDS.fullmatch(word)
        numbers = _through(int(row[2]), int(row[3]), _step(row[4])) if row else ()
        found += [f"{row[1]}{number}" for number in numbers] if row else [word]
        if len(found) > GROUP_SEATS_MAX:
            raise Wrong(f"a group has at most {GROUP_SEATS_MAX} seats")
    return found


class Generated:
    """`seats 8,12,8 grow 0,1,0 numbering odd-even`: rows that are not written out."""

    def __init__(self, words: list[str], aisle: float) -> None:
        options = Options(words, ["seats", "grow", "numbering"])
        self._aisle = aisle
        given = options.word("seats").split(",")
        self._sections = [count(word, "seats", ROW_PLACES_MAX) for word in given]
        grow = options.word("grow", ",".join("0" for _ in given)).split(",")
        self._grow = [number(word, "grow", 0.0, GROW_MAX) for word in grow]
        if len(self._grow) != len(self._sections):
            raise Wrong(f"`seats` has {len(given)} sections, and `grow` has {len(grow)}")
        numbering = options.word("numbering", "left")
        self._numbering: Numbering = choice(numbering, Numbering, "numbering")

    def row(self, index: int) -> list[Place]:
        grown = zip(self._sections, self._grow, strict=True)
        sections = [seats + int(index * more + 1e-9) for seats, more in grown]
        if sum(sections) > ROW_PLACES_MAX:
            raise Wrong(f"a row has at most {ROW_PLACES_MAX} seats")
        return row_of(sections, self._numbering, self._aisle)
