"""A barcode's text as a QR code: its modules, SVG for screens and print, PNG for the rest."""

from collections.abc import Iterator
from functools import lru_cache
from html import escape
from io import BytesIO
from itertools import groupby

import msgspec
import segno
from PIL import Image

QUIET_MODULES = 4
"""The white rim that the standard asks for; scanners find nothing without it."""
PIXELS_MAX = 2_000
KEPT_MAX = 2_000
"""Choosing the mask takes 10 ms, and who looks at an order wants its PDF next."""


class Run(msgspec.Struct, frozen=True):
    """Dark modules beside each other, as one rectangle; the quiet zone is counted in."""

    x: int
    y: int
    width: int


class Modules(msgspec.Struct, frozen=True):
    side: int
    """With the quiet zone."""
    runs: tuple[Run, ...]


@lru_cache(KEPT_MAX)
def qr_modules(text: str) -> Modules:
    code = segno.make_qr(text, error="M")  # or higher, where that takes no more modules
    return Modules(len(code.matrix) + 2 * QUIET_MODULES, tuple(_runs(code.matrix)))


def _runs(matrix: tuple[bytearray, ...]) -> Iterator[Run]:
    for y, row in enumerate(matrix, QUIET_MODULES):
        x = QUIET_MODULES
        for is_dark, modules in groupby(row):
            width = len(list(modules))
            if is_dark:
                yield Run(x, y, width)
            x += width


def qr_svg(text: str, title: str = "QR code") -> bytes:
    """To be a file or part of a page. White behind, so that it scans on a dark page too."""
    drawn = qr_modules(text)
    path = "".join(f"M{run.x} {run.y}h{run.width}v1h-{run.width}z" for run in drawn.runs)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {drawn.side} {drawn.side}"'
        f' role="img" shape-rendering="crispEdges"><title>{escape(title)}</title>'
        f'<path fill="#fff" d="M0 0h{drawn.side}v{drawn.side}H0z"/><path d="{path}"/></svg>'
    ).encode()


def qr_png(text: str, pixels: int) -> bytes:
    """So many pixels wide and high; more white around it rather than modules of uneven width."""
    drawn = qr_modules(text)
    pixels = max(drawn.side, min(pixels, PIXELS_MAX))
    scale = pixels // drawn.side
    rim = (pixels - scale * drawn.side) // 2
    image = Image.new("1", (pixels, pixels), 1)
    for run in drawn.runs:
        left, top = rim + run.x * scale, rim + run.y * scale
        image.paste(0, (left, top, left + run.width * scale, top + scale))
    file = BytesIO()
    image.save(file, "PNG")
    return file.getvalue()
