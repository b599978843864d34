"""Texts made to fit: in a font that has most letters, as large as there is room for.

Every text has a box of its own, in which it shrinks, wraps and at last ends: nothing runs over
anything else, whatever people are called.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from io import BytesIO
from typing import Any, Literal

import msgspec
import pymupdf_fonts  # pyright: ignore[reportMissingTypeStubs]
from reportlab.pdfbase import pdfmetrics  # pyright: ignore[reportMissingTypeStubs]
from reportlab.pdfbase.ttfonts import TTFont  # pyright: ignore[reportMissingTypeStubs]

Weight = Literal["regular", "bold"]

FONTS: dict[Weight, str] = {"regular": "figo", "bold": "figbo"}
"""FiraGO: Latin, Greek, Cyrillic, Georgian."""
JOINED = range(0x0590, 0x10A0)
"""Hebrew to Burmese: from the right, or of letters that change beside others. We join none."""
UNSEEN = ("Cc", "Cf", "Cs")

POINTS_MIN, SHRINK, LEADING = 6.0, 0.94, 1.2
FITS_MAX = 4_000


class Fitted(msgspec.Struct, frozen=True):
    points: float
    lines: tuple[str, ...]
    is_changed: bool
    """Some letter is not there as it was written."""

    @property
    def height(self) -> float:
        return len(self.lines) * self.points * LEADING


def fitted(
    texts: Sequence[str], weight: Weight, width: float, height: float, points: float
) -> Fitted:
    """In a box of so many points, each text on a line of its own at least."""
    cleaned = [text for text in map(clean, texts) if text]
    shown = tuple(_printable(text, font(weight)) for text in cleaned)
    size, lines = _fit(shown, font(weight), width, height, points)
    return Fitted(size, lines, list(shown) != cleaned)


@lru_cache
def font(weight: Weight) -> str:
    """Its name, under which it is known from now on."""
    name = f"Voelgoed-{weight}"
    file: bytes = pymupdf_fonts.myfont(FONTS[weight])  # pyright: ignore[reportUnknownMemberType]
    pdfmetrics.registerFont(TTFont(name, BytesIO(file)))  # pyright: ignore[reportUnknownMemberType]
    return name


def clean(text: str) -> str:
    """On one line, composed, and without signs that nobody sees."""
    line = " ".join(unicodedata.normalize("NFC", text).split())
    return "".join(each for each in line if unicodedata.category(each) not in UNSEEN)


@lru_cache(FITS_MAX)
def _printable(text: str, name: str) -> str:
    registered: Any = pdfmetrics.getFont(name)
    glyphs: dict[int, int] = registered.face.charToGlyph
    return "".join(each if _has(glyphs, each) else _instead(glyphs, each) for each in text)


def _has(glyphs: dict[int, int], sign: str) -> bool:
    return ord(sign) in glyphs and ord(sign) not in JOINED


def _instead(glyphs: dict[int, int], sign: str) -> str:
    """A letter without its accents, or a question mark; never the font's empty box."""
    plain = "".join(part for part in unicodedata.normalize("NFKD", sign) if _has(glyphs, part))
    return plain or ("" if unicodedata.combining(sign) else "?")


@lru_cache(FITS_MAX)
def _fit(
    texts: tuple[str, ...], name: str, width: float, height: float, points: float
) -> tuple[float, tuple[str, ...]]:
    """As large as there is room for; what is too much even when smallest ends in dots."""
    while points > POINTS_MIN:
        lines = [line for text in texts for line in _wrap(text, name, width / points)]
        is_narrow = all(_width(line, name) * points <= width for line in lines)
        if is_narrow and len(lines) * points * LEADING <= height:
            return points, tuple(lines)
        points *= SHRINK
    room = width / POINTS_MIN
    lines = [
        part
        for text in texts
        for line in _wrap(text, name, room)
        for part in _cut(line, name, room)
    ]
    count = max(1, int(height / (POINTS_MIN * LEADING)))
    if len(lines) > count:
        last = lines[count - 1]
        while _width(last + "…", name) > room:
            last = last[:-1]
        lines = [*lines[: count - 1], last + "…"]
    return POINTS_MIN, tuple(lines)


def _wrap(text: str, name: str, room: float) -> Iterator[str]:
    line = ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if line and _width(longer, name) > room:
            yield line
            longer = word
        line = longer
    yield line


def _cut(line: str, name: str, room: float) -> Iterator[str]:
    """A word longer than a line, wherever the line ends."""
    while _width(line, name) > room:
        end = next(
            end for end in range(len(line), 0, -1) if end == 1 or _width(line[:end], name) <= room
        )
        yield line[:end]
        line = line[end:]
    yield line


def _width(text: str, name: str) -> float:
    return pdfmetrics.stringWidth(text, name, 1)  # pyright: ignore[reportUnknownMemberType]
