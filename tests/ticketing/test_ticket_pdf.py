import re
import sys
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from itertools import combinations
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdf import PageObject, PdfReader
from pypdf.generic import ContentStream

from voelgoed.ticketing.forms.pdf import CHANGED, tickets_pdf
from voelgoed.ticketing.forms.pdf_layouts import LAYOUTS, Size
from voelgoed.ticketing.forms.qr import qr_modules
from voelgoed.ticketing.model.faces import TicketFace
from voelgoed.ticketing.model.tickets import TicketStatus

POINTS_PER_MM = 72 / 25.4
SIZES: list[Size] = ["a4", "phone"]
TEXTS = [
    field.name
    for field in msgspec.structs.fields(TicketFace)
    if field.name not in ("code", "barcode", "status", "issue", "notes", "seat_label")
    and not field.name.endswith("_url")
]


def a_face(**changes: Any) -> TicketFace:
    face = {
        "organization_name": "Ou Teater",
        "event_name": "Lente onder die Sterre",
        "venue_name": "Amfiteater",
        "venue_address": "Adam Tas Road, Stellenbosch",
        "starts_at": "Saturday 5 December 2026, 19:30",
        "admission": "Doors 18:00",
        "ticket_type": "Adult",
        "zone_name": "Grandstand North",
        "row": "F",
        "seat": "12",
        "holder_name": "Annelize van der Merwe",
        "order_number": "VG-0042",
        "code": "7K3M-X2QD-91AB",
        "barcode": "VG1:7K3M-X2QD-91AB:" + "0A9B8C7D6E5F" * 11,
        "price": "R 450,00",
        "notes": ["Wheelchair place, companion beside"],
    }
    return TicketFace(**{**face, **changes})


def read(pdf: bytes) -> PdfReader:
    return PdfReader(BytesIO(pdf), strict=True)


def words(page: PageObject) -> str:
    return " ".join(page.extract_text().split())


def text_of(face: TicketFace, size: Size = "a4") -> str:
    [page] = read(tickets_pdf([face], size)).pages
    return words(page)


@pytest.mark.parametrize(("size", "width", "height"), [("a4", 210, 297), ("phone", 90, 195)])
def test_each_ticket_has_a_page_of_the_size_asked_for(size: Size, width: int, height: int):
    faces = [a_face(seat=str(number)) for number in range(1, 6)]
    pages = read(tickets_pdf(faces, size)).pages
    assert len(pages) == 5
    for page in pages:
        assert float(page.mediabox.width) == pytest.approx(width * POINTS_PER_MM, abs=0.1)
        assert float(page.mediabox.height) == pytest.approx(height * POINTS_PER_MM, abs=0.1)


@pytest.mark.parametrize("size", SIZES)
def test_all_that_a_gate_and_a_visitor_need_is_on_the_page(size: Size):
    face = a_face(issue=3)
    text = text_of(face, size)
    for name in TEXTS:
        assert getattr(face, name) in text, name
    assert face.code in text
    assert face.notes[0] in text
    assert "Issue 3" in text
    assert CHANGED not in text


@pytest.mark.parametrize("size", SIZES)
def test_a_place_without_row_and_number_is_named_as_it_is_known(size: Size):
    assert "VIP table 3" in text_of(a_face(row=None, seat=None, seat_label="VIP table 3"), size)
    assert "no numbered seat" in text_of(a_face(row=None, seat=None), size)


def qr_on(pdf: bytes) -> list[tuple[int, ...]]:
    [page] = read(pdf).pages
    content: Any = page.get_contents()
    drawn = re.findall(rb"^(\d+) (\d+) (\d+) 1 re$", content.get_data(), re.MULTILINE)
    return [tuple(map(int, run)) for run in drawn]


@pytest.mark.parametrize("size", SIZES)
def test_the_qr_code_is_drawn_as_rectangles_module_by_module(size: Size):
    face = a_face()
    runs = qr_modules(face.barcode).runs
    assert qr_on(tickets_pdf([face], size)) == [(run.x, run.y, run.width) for run in runs]


@pytest.mark.parametrize("status", ["voided", "refunded"])
@pytest.mark.parametrize("size", SIZES)
def test_a_ticket_that_is_no_longer_good_has_no_qr_code(size: Size, status: str):
    face = a_face(status=status)
    assert f"{status.capitalize()} lets nobody in" in text_of(face, size)
    assert not qr_on(tickets_pdf([face], size))


@pytest.mark.parametrize("size", SIZES)
def test_the_same_tickets_give_the_same_bytes(size: Size):
    faces = [a_face(), a_face(holder_name="Łukasz Ḓavhana", row="G")]
    assert tickets_pdf(faces, size) == tickets_pdf(faces, size)


def test_many_threads_draw_at_once_as_one_does():
    """Without the lock a few of a hundred are broken, with fonts that have many glyphs."""
    faces = [a_face(holder_name=f"Łukasz {number}", barcode="A1") for number in range(8)]
    alone = [tickets_pdf([face]) for face in faces]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(8) as threads:
            together = list(threads.map(lambda face: tickets_pdf([face]), faces * 10))
    finally:
        sys.setswitchinterval(interval)
    assert together == alone * 10


def test_the_file_says_what_it_is():
    reader = read(tickets_pdf([a_face(), a_face()]))
    about = reader.metadata
    assert about
    assert about.title == "2 tickets: Lente onder die Sterre"
    assert about.author == "Ou Teater"
    assert about.subject == "Amfiteater, Saturday 5 December 2026, 19:30"
    assert reader.root_object["/Lang"] == "en"


def test_every_font_travels_with_the_file():
    [page] = read(tickets_pdf([a_face()])).pages
    fonts = page["/Resources"]["/Font"].values()
    assert fonts
    for font in fonts:
        assert "/FontFile2" in font.get_object()["/FontDescriptor"]


def test_there_is_no_file_of_no_tickets():
    with pytest.raises(ValueError, match="a page"):
        tickets_pdf([])


LONG = ["Wolfeschlegelsteinhausen " * 8, "W" * 200, "a " * 100, "Å" * 200]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("text", LONG)
def test_long_texts_neither_overlap_nor_run_off_the_page(size: Size, text: str):
    expect_order_on_the_page(a_face(**dict.fromkeys(TEXTS, text), notes=[text] * 10), size)


@settings(max_examples=50)
@given(
    st.lists(st.text(max_size=200), min_size=len(TEXTS), max_size=len(TEXTS)),
    st.lists(st.text(max_size=200), max_size=12),
    st.sampled_from(SIZES),
    st.sampled_from(["active", "refunded"]),
)
def test_no_text_at_all_breaks_a_page(
    texts: list[str], notes: list[str], size: Size, status: TicketStatus
):
    changes = dict(zip(TEXTS, texts, strict=True))
    expect_order_on_the_page(a_face(**changes, notes=notes, status=status), size)


def expect_order_on_the_page(face: TicketFace, size: Size) -> None:
    width, height = (side * POINTS_PER_MM for side in (LAYOUTS[size].width, LAYOUTS[size].height))
    lines = lines_on(tickets_pdf([face], size))
    assert lines
    for line in lines:
        assert line.left > 0
        assert line.bottom > 0
        assert line.right < width
        assert line.top < height
    for one, other in combinations(lines, 2):
        is_beside = one.right <= other.left or other.right <= one.left
        assert is_beside or one.bottom >= other.top or other.bottom >= one.top, (one, other)


class Line(NamedTuple):
    left: float
    right: float
    bottom: float
    top: float
    text: bytes


def lines_on(pdf: bytes) -> list[Line]:
    """As the file has them, with the widths that its fonts give their letters."""
    reader = read(pdf)
    [page] = reader.pages
    fonts: Any = page["/Resources"]["/Font"]
    lines: list[Line] = []
    font, points, x, y = fonts, 0.0, 0.0, 0.0
    for operands, operator in ContentStream(page.get_contents(), reader).operations:
        if operator == b"Tf":
            font, points = fonts[operands[0]].get_object(), float(operands[1])
        elif operator == b"Tm":
            x, y = float(operands[4]), float(operands[5])
        elif operator == b"Tj":
            text = operands[0].original_bytes
            width = sum(font["/Widths"][sign - font["/FirstChar"]] for sign in text) * points / 1000
            lines.append(Line(x, x + width, y - 0.2 * points, y + 0.75 * points, text))
            x += width
    return lines


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Zoë Müller-Škvorecký", "Zoë Müller-Škvorecký"),
        ("Zoe\u0308", "Zoë"),
        ("Cafe\u0301\u200b\u2028Bar", "Café Bar"),
    ],
)
def test_european_letters_are_printed_however_they_were_encoded(size: Size, name: str, shown: str):
    text = text_of(a_face(holder_name=name), size)
    assert shown in text
    assert CHANGED not in text


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("name", "spelt"),
    [
        ("Ngũgĩ", "Ngugi"),
        ("Ḓavhana Ṱhoho", "Davhana Thoho"),
        ("Νίκος Жуков", "????? ?????"),
        ("日本 太郎", "?? ??"),
        ("שלום", "????"),
        ("Party 🎉", "Party ?"),
    ],
)
def test_a_letter_is_printed_or_the_page_says_that_it_is_not(size: Size, name: str, spelt: str):
    text = text_of(a_face(holder_name=name), size)
    assert name in text or (spelt in text and CHANGED in text)
    assert (name in text) != (CHANGED in text)


def test_many_tickets_share_their_fonts():
    one, many = (tickets_pdf([a_face()] * count) for count in (1, 30))
    assert len(many) < 10 * len(one)
