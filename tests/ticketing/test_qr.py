import re
from io import BytesIO
from xml.etree import ElementTree

import pytest
import segno
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from voelgoed.ticketing.forms.qr import PIXELS_MAX, QUIET_MODULES, qr_modules, qr_png, qr_svg

ALPHANUMERIC = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:"
BARCODE = "VG1:7K3M-X2QD-91AB:" + (ALPHANUMERIC.replace(" ", "") * 3)[:130]
SVG = "{http://www.w3.org/2000/svg}"

Matrix = list[list[bool]]


def by_segno(text: str) -> Matrix:
    """Its own drawing, quiet zone and all."""
    code = segno.make_qr(text, error="M")
    return [[bool(module) for module in row] for row in code.matrix_iter(border=QUIET_MODULES)]


def of_svg(svg: bytes) -> Matrix:
    root = ElementTree.fromstring(svg)
    side = int(root.attrib["viewBox"].split()[-1])
    matrix = [[False] * side for _ in range(side)]
    path = root.findall(f"{SVG}path")[-1].attrib["d"]
    for x, y, width in re.findall(r"M(\d+) (\d+)h(\d+)v1h-\d+z", path):
        for step in range(int(width)):
            matrix[int(y)][int(x) + step] = True
    return matrix


def of_png(png: bytes, side: int) -> Matrix:
    """Every pixel of every module is looked at; the rest is white."""
    image = Image.open(BytesIO(png)).convert("L")
    scale = image.width // side
    rim = (image.width - scale * side) // 2
    matrix: Matrix = []
    for y in range(side):
        matrix.append([])
        for x in range(side):
            left, top = rim + x * scale, rim + y * scale
            darkest, lightest = image.crop((left, top, left + scale, top + scale)).getextrema()
            assert darkest == lightest, "a module has one colour"
            matrix[-1].append(darkest == 0)
    dark = sum(sum(row) for row in matrix) * scale**2
    assert image.histogram()[0] == dark
    return matrix


texts = st.text(ALPHANUMERIC, min_size=1, max_size=300) | st.text(min_size=1, max_size=100)


@settings(max_examples=25)
@given(texts.filter(lambda text: text.isprintable()), st.integers(1, 700))
def test_every_picture_has_the_modules_of_the_text(text: str, pixels: int):
    wanted = by_segno(text)
    assert qr_modules(text).side == len(wanted)
    assert of_svg(qr_svg(text)) == wanted
    assert of_png(qr_png(text, pixels), len(wanted)) == wanted


def test_a_barcode_is_written_in_the_small_alphabet_and_survives_a_stain():
    code = segno.make_qr(BARCODE, error="M")
    assert code.mode == "alphanumeric"
    assert code.error in ("M", "Q", "H")
    assert qr_modules(BARCODE).side == len(by_segno(BARCODE))
    assert qr_modules(BARCODE).side < qr_modules(BARCODE.lower()).side


def test_nothing_is_in_the_quiet_zone():
    side = qr_modules(BARCODE).side
    runs = qr_modules(BARCODE).runs
    assert min(run.x for run in runs) == min(run.y for run in runs) == 4
    assert max(run.x + run.width for run in runs) == max(run.y for run in runs) + 1 == side - 4


@pytest.mark.parametrize("pixels", [200, 301, 600, PIXELS_MAX])
def test_a_png_is_as_large_as_it_was_asked_for(pixels: int):
    assert Image.open(BytesIO(qr_png(BARCODE, pixels))).size == (pixels, pixels)


def test_a_png_is_never_too_small_for_its_modules_nor_larger_than_the_limit():
    side = qr_modules(BARCODE).side
    assert Image.open(BytesIO(qr_png(BARCODE, 1))).size == (side, side)
    assert Image.open(BytesIO(qr_png(BARCODE, 10**9))).size == (PIXELS_MAX, PIXELS_MAX)


def test_an_svg_can_stand_in_a_page_and_is_read_out_by_its_title():
    svg = qr_svg(BARCODE, 'Code of "A & <b>"').decode()
    assert svg.startswith("<svg xmlns=")
    root = ElementTree.fromstring(svg)
    assert root.attrib["role"] == "img"
    assert root[0].tag == f"{SVG}title"
    assert root[0].text == 'Code of "A & <b>"'
    assert "style" not in svg, "the content policy would drop it"


def test_the_same_text_gives_the_same_bytes():
    first = (qr_svg(BARCODE), qr_png(BARCODE, 300))
    qr_modules.cache_clear()
    assert (qr_svg(BARCODE), qr_png(BARCODE, 300)) == first
