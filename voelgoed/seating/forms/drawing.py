"""A layout as a picture: SVG for screens and print, PNG for everything else."""

import re
from functools import lru_cache
from html import escape
from io import BytesIO

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from voelgoed.seating.forms.picture import picture
from voelgoed.seating.forms.sheet import WORDS_CHARACTERS_MAX, Disc, Panel, Picture, Words
from voelgoed.seating.model.layout import LayoutConfig

CORNER_PX = 3
RIM_PX = 2.0
FRACTIONS = 4
"""Circles begin at quarters of a pixel; finer than that nobody sees."""
MASKS_MAX = 256
FONT_PX_MIN = 4

_NOT_FOR_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def svg(config: LayoutConfig) -> str:
    drawn = picture(config)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {drawn.width} {drawn.height}"'
        f' width="{drawn.width}" height="{drawn.height}" font-family="sans-serif">',
        f'<rect width="100%" height="100%" fill="{drawn.paper}"/>',
        *(_element(shape) for shape in drawn.shapes),
        "</svg>\n",
    ]
    return "\n".join(lines)


def _element(shape: Disc | Panel | Words) -> str:
    if isinstance(shape, Disc):
        rim = f' stroke="{shape.rim}" stroke-width="{RIM_PX:g}"' if shape.rim else ""
        circle = f'<circle cx="{shape.at.x:.1f}" cy="{shape.at.y:.1f}" r="{shape.radius:.1f}"'
        circle += f' fill="{shape.fill}"{rim}'
        return (
            f"{circle}><title>{_text(shape.title)}</title></circle>"
            if shape.title
            else circle + "/>"
        )
    if isinstance(shape, Panel):
        box = shape.box
        return (
            f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}"'
            f' height="{box.height:.1f}" rx="{CORNER_PX}" fill="{shape.fill}" stroke="{shape.rim}"/>'
        )
    return (
        f'<text x="{shape.at.x:.1f}" y="{shape.at.y:.1f}" dy=".35em" font-size="{shape.size:.1f}"'
        f' text-anchor="{shape.anchor}" fill="{shape.fill}">{_text(shape.text)}</text>'
    )


def _text(text: str) -> str:
    return escape(_plain(text))


def _plain(text: str) -> str:
    """On one line, of characters that every program can show or at least skip."""
    line = " ".join(_NOT_FOR_XML.sub("\ufffd", text).split())
    return line if len(line) <= WORDS_CHARACTERS_MAX else line[: WORDS_CHARACTERS_MAX - 1] + "…"


def png(config: LayoutConfig) -> bytes:
    drawn = picture(config)
    image = Image.new("RGB", (drawn.width, drawn.height), drawn.paper)
    _paint(image, drawn)
    file = BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def _paint(image: Image.Image, drawn: Picture) -> None:
    draw = ImageDraw.Draw(image)
    for shape in drawn.shapes:
        if isinstance(shape, Disc):
            _paint_disc(image, shape)
        elif isinstance(shape, Panel):
            box = shape.box
            corners = (box.x, box.y, box.x + box.width, box.y + box.height)
            draw.rounded_rectangle(corners, CORNER_PX, shape.fill, shape.rim)
        else:
            anchor = "mm" if shape.anchor == "middle" else "lm"
            place = (shape.at.x, shape.at.y)
            draw.text(place, _plain(shape.text), shape.fill, _font(round(shape.size)), anchor)


def _paint_disc(image: Image.Image, disc: Disc) -> None:
    if disc.rim:
        _stamp(image, disc, disc.radius + RIM_PX / 2, disc.rim)
        _stamp(image, disc, disc.radius - RIM_PX / 2, disc.fill)
    else:
        _stamp(image, disc, disc.radius, disc.fill)


def _stamp(image: Image.Image, disc: Disc, radius: float, colour: str) -> None:
    x, x_part = divmod(round((disc.at.x - radius) * FRACTIONS), FRACTIONS)
    y, y_part = divmod(round((disc.at.y - radius) * FRACTIONS), FRACTIONS)
    image.paste(colour, (x, y), _disc_mask(radius, x_part, y_part))


@lru_cache(MASKS_MAX)
def _disc_mask(radius: float, x_part: int, y_part: int) -> Image.Image:
    """A circle with a soft edge, which Pillow does not draw; it lies so many quarters off."""
    side = int(2 * radius) + 3
    place = np.arange(side) + 0.5
    x, y = place - radius - x_part / FRACTIONS, place - radius - y_part / FRACTIONS
    distance = np.hypot(x[None, :], y[:, None])
    cover = np.clip(radius + 0.5 - distance, 0.0, 1.0)
    return Image.fromarray((cover * 255).astype(np.uint8))


@lru_cache(MASKS_MAX)
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(max(FONT_PX_MIN, size))
