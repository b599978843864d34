"""One page of a PDF, drawn on in millimetres from its top left."""

from collections.abc import Sequence
from typing import Any

from reportlab.lib.units import mm  # pyright: ignore[reportMissingTypeStubs]

from voelgoed.ticketing.forms.lettering import LEADING, Fitted, Weight, fitted, font
from voelgoed.ticketing.forms.pdf_layouts import Box
from voelgoed.ticketing.forms.qr import qr_modules

ASCENT = 0.95
INK, LINE, BLACK = "#1c2230", "#8a93a1", "#000000"


class Sheet:
    def __init__(self, canvas: Any, width: float, height: float) -> None:
        self.canvas = canvas
        self.width = width
        self.height = height
        self.is_changed = False
        """Some letter could not be printed as it was written."""

    def fill(self, box: Box, colour: str, radius: float = 0) -> None:
        self.canvas.setFillColor(colour)
        size = (box.width * mm, box.height * mm)
        bottom = (self.height - box.y - box.height) * mm
        self.canvas.roundRect(box.x * mm, bottom, *size, radius * mm, stroke=0, fill=1)

    def write(
        self,
        box: Box,
        texts: Sequence[str],
        weight: Weight = "regular",
        colour: str = INK,
        *,
        is_centred: bool = False,
        is_low: bool = False,
    ) -> None:
        fit = self.fitted(box, texts, weight)
        self.canvas.setFillColor(colour)
        self.canvas.setFont(font(weight), fit.points)
        draw = self.canvas.drawCentredString if is_centred else self.canvas.drawString
        x = (box.x + box.width / 2 if is_centred else box.x) * mm
        y = (self.height - box.y) * mm - fit.points * ASCENT
        if is_low:
            y -= box.height * mm - fit.height
        for number, line in enumerate(fit.lines):
            draw(x, y - number * fit.points * LEADING, line)

    def fitted(self, box: Box, texts: Sequence[str], weight: Weight) -> Fitted:
        fit = fitted(texts, weight, box.width * mm, box.height * mm, box.points)
        self.is_changed |= fit.is_changed
        return fit

    def qr(self, box: Box, text: str) -> None:
        """One path, because viewers leave hairlines between one shape and the next."""
        canvas, drawn = self.canvas, qr_modules(text)
        canvas.saveState()
        canvas.translate(box.x * mm, (self.height - box.y) * mm)
        canvas.scale(box.width * mm / drawn.side, -box.height * mm / drawn.side)
        canvas.setFillColor(BLACK)
        # Written out: to format these as fractions takes longer than all the rest of a page.
        canvas._code.extend(f"{run.x} {run.y} {run.width} 1 re" for run in drawn.runs)
        canvas._code.append("f")
        canvas.restoreState()

    def mark(self, box: Box, colour: str, behind: str) -> None:
        """Ours, a ticket that smiles, in a square of 32."""
        canvas = self.canvas
        canvas.saveState()
        canvas.translate(box.x * mm, (self.height - box.y - box.height) * mm)
        canvas.scale(box.width * mm / 32, box.height * mm / 32)
        canvas.setFillColor(colour)
        canvas.roundRect(3, 6, 26, 20, 3, stroke=0, fill=1)
        canvas.setFillColor(behind)
        canvas.circle(2.4, 16, 3.5, stroke=0, fill=1)
        canvas.circle(29.6, 16, 3.5, stroke=0, fill=1)
        canvas.setStrokeColor(behind)
        canvas.setLineWidth(2.4)
        canvas.setLineCap(1)
        canvas.lines([(11.5, 19.8, 11.5, 18.2), (20.5, 19.8, 20.5, 18.2)])
        canvas.arc(9.2, 11.7, 22.8, 25.3, 219, 102)
        canvas.restoreState()

    def fold(self, y: float) -> None:
        canvas, at = self.canvas, (self.height - y) * mm
        canvas.setStrokeColor(LINE)
        canvas.setLineWidth(0.6)
        canvas.setDash(2, 4)
        canvas.line(0, at, self.width * mm, at)
        canvas.setDash()
