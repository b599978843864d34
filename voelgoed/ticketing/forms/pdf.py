"""Tickets as PDF: a page each, of paper's or of a phone's shape. The same tickets, the same bytes."""

from collections.abc import Sequence
from io import BytesIO
from threading import Lock
from typing import Any

import msgspec
from reportlab import rl_config  # pyright: ignore[reportMissingTypeStubs]
from reportlab.lib.units import mm  # pyright: ignore[reportMissingTypeStubs]
from reportlab.pdfgen.canvas import Canvas  # pyright: ignore[reportMissingTypeStubs]

from voelgoed.ticketing.forms.lettering import LEADING, POINTS_MIN, Weight, clean, font
from voelgoed.ticketing.forms.pdf_layouts import LAYOUTS, Box, Layout, Size
from voelgoed.ticketing.forms.sheet import Sheet
from voelgoed.ticketing.model.faces import TicketFace

rl_config.useA85 = 0  # bytes as they are: a fifth less, and sooner done

SOFT, TILE, NOTE, BAD = "#4d5768", "#f3f1eb", "#fdf0d2", "#9b1710"
HEAD, HEAD_INK, HEAD_SOFT, ACCENT = "#0a3a4c", "#ffffff", "#c5dde6", "#f4b41a"
LABEL_POINTS_MAX, LABEL_SHARE = 9.5, 0.8

CLAIM = "Whoever shows this code first is let in: keep it to yourself."
CHANGED = "Some letters could not be printed as they are written; what counts is the code."
HINTS = (
    "Show the code on paper or on a screen, flat and bright.",
    "If it does not scan, the letters and digits under it say the same.",
    "On paper: fold along the dotted line, and keep the half with the code at hand.",
)

_drawing = Lock()
"""A font of reportlab's remembers where it reads: two threads at once get wrong letters."""


def tickets_pdf(faces: Sequence[TicketFace], size: Size = "a4") -> bytes:
    if not faces:
        raise ValueError("a PDF has a page at least")
    with _drawing:
        return _draw(faces, LAYOUTS[size])


def _draw(faces: Sequence[TicketFace], layout: Layout) -> bytes:
    file = BytesIO()
    canvas: Any = Canvas(
        file,
        pagesize=(layout.width * mm, layout.height * mm),
        invariant=1,
        pageCompression=1,
        initialFontName=font("regular"),  # pyright: ignore[reportArgumentType]
        lang="en",
    )
    _describe(canvas, faces)
    for number, face in enumerate(faces, 1):
        _Ticket(canvas, layout).draw(face, f"Ticket {number} of {len(faces)}")
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def _describe(canvas: Any, faces: Sequence[TicketFace]) -> None:
    one = faces[0]
    what = "Ticket" if len(faces) == 1 else f"{len(faces)} tickets"
    canvas.setTitle(clean(f"{what}: {one.event_name}"))
    canvas.setAuthor(clean(one.organization_name))
    canvas.setSubject(clean(f"{one.venue_name}, {one.starts_at}"))
    canvas.setCreator("Voelgoed")
    canvas.setViewerPreference("DisplayDocTitle", "true")


class _Ticket:
    def __init__(self, canvas: Any, layout: Layout) -> None:
        self.sheet = Sheet(canvas, layout.width, layout.height)
        self.layout = layout

    def draw(self, face: TicketFace, count: str) -> None:
        sheet, layout = self.sheet, self.layout
        self._head(face)
        if face.is_valid:
            sheet.qr(layout.qr, face.barcode)
            sheet.write(layout.code, [face.code], "bold", is_centred=True)
        else:
            self._instead_of_qr(face)
        self._place(face)
        self._facts(face)
        self._notes(face.notes)
        if layout.fold:
            sheet.fold(layout.fold)
        if layout.hints and face.is_valid:
            sheet.write(layout.hints, HINTS)
        self._foot(f"{count}. {CLAIM}" if face.is_valid else f"{count}.")

    def _head(self, face: TicketFace) -> None:
        sheet, layout, head = self.sheet, self.layout, self.layout.head
        sheet.fill(head, HEAD)
        sheet.fill(Box(0, head.height, head.width, head.height / 40), ACCENT)
        sheet.mark(layout.mark, ACCENT, HEAD)
        sheet.write(layout.organization, [face.organization_name], "bold", HEAD_INK)
        sheet.write(layout.event, [face.event_name], "bold", HEAD_INK, is_low=True)
        sheet.write(layout.starts_at, [face.starts_at], "bold", ACCENT)
        sheet.write(layout.admission, [face.admission], colour=HEAD_SOFT)

    def _instead_of_qr(self, face: TicketFace) -> None:
        box = self.layout.qr.within(self.layout.gap)
        self.sheet.fill(box, TILE, radius=2)
        amid = Box(box.x, box.y + box.height * 0.36, box.width, box.height * 0.3, box.width * 0.3)
        words = [face.status.capitalize(), "lets nobody in"]
        self.sheet.write(amid, words, "bold", BAD, is_centred=True)
        self.sheet.write(self.layout.code, [face.code], colour=BAD, is_centred=True)

    def _place(self, face: TicketFace) -> None:
        """Large: it is read at arm's length, in the dark, by somebody who is late."""
        zone, row, seat = self.layout.zone, self.layout.row, self.layout.seat
        self._tile(zone, "Zone", face.zone_name or "General admission")
        if face.row and face.seat:
            self._tile(row, "Row", face.row)
            self._tile(seat, "Seat", face.seat)
            return
        both = msgspec.structs.replace(row, width=seat.x + seat.width - row.x)
        if label := face.seat_label or face.seat:
            self._tile(both, "Seat", label)
        else:
            both = msgspec.structs.replace(both, points=zone.points * 0.7)
            self._tile(both, "Seat", "Free choice, no numbered seat")

    def _facts(self, face: TicketFace) -> None:
        layout = self.layout
        self._tile(layout.ticket_type, "Ticket", face.ticket_type, face.price)
        self._tile(layout.holder, "Name", face.holder_name or "Not named")
        self._tile(layout.venue, "Venue", face.venue_name, face.venue_address, weight="regular")
        order = [face.order_number or "Sold elsewhere"]
        if face.issue > 1:
            order.append(f"Issue {face.issue}; earlier ones are void")
        self._tile(layout.order, "Order", *order, weight="regular")

    def _tile(self, box: Box, label: str, *texts: str, weight: Weight = "bold") -> None:
        self.sheet.fill(box, TILE, radius=1.5)
        inner = box.within(self.layout.gap)
        points = max(POINTS_MIN, min(LABEL_POINTS_MAX, self.layout.holder.points * LABEL_SHARE))
        label_box = msgspec.structs.replace(inner, height=points * LEADING / mm, points=points)
        self.sheet.write(label_box, [label], colour=SOFT)
        top = label_box.height
        below = Box(inner.x, inner.y + top, inner.width, inner.height - top, box.points)
        self.sheet.write(below, texts, weight)

    def _notes(self, notes: Sequence[str]) -> None:
        box, gap = self.layout.notes, self.layout.gap
        fit = self.sheet.fitted(box.within(gap), notes, "bold")
        if fit.lines:
            behind = msgspec.structs.replace(box, height=fit.height / mm + 2 * gap)
            self.sheet.fill(behind, NOTE, radius=1.5)
            self.sheet.write(box.within(gap), notes, "bold")

    def _foot(self, text: str) -> None:
        """Last, because only now it is known whether something had to be changed."""
        texts = [CHANGED, text] if self.sheet.is_changed else [text]
        self.sheet.write(self.layout.foot, texts, colour=SOFT)
