"""Where everything stands on a ticket, for paper and for phones."""

from typing import Literal

import msgspec

Size = Literal["a4", "phone"]


class Box(msgspec.Struct, frozen=True):
    """In millimetres from the top left; what is written in it is at most so many points high."""

    x: float
    y: float
    width: float
    height: float
    points: float = 0.0

    def within(self, pad: float) -> "Box":
        inner = Box(self.x + pad, self.y + pad, self.width - 2 * pad, self.height - 2 * pad)
        return msgspec.structs.replace(inner, points=self.points)


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    width: float
    height: float
    head: Box
    mark: Box
    organization: Box
    event: Box
    starts_at: Box
    admission: Box
    qr: Box
    code: Box
    zone: Box
    row: Box
    seat: Box
    ticket_type: Box
    holder: Box
    venue: Box
    order: Box
    notes: Box
    foot: Box
    gap: float
    """Between a tile's edge and its text."""
    fold: float | None = None
    hints: Box | None = None


LAYOUTS: dict[Size, Layout] = {
    "a4": Layout(  # folded in the middle, it shows all that matters at the gate
        width=210,
        height=297,
        head=Box(0, 0, 210, 52),
        mark=Box(15, 8, 9, 9),
        organization=Box(27, 9.7, 168, 6.5, 12),
        event=Box(15, 19, 180, 18.5, 28),
        starts_at=Box(15, 38, 180, 6.5, 14),
        admission=Box(15, 44.8, 180, 5, 10.5),
        qr=Box(119, 57, 78, 78),
        code=Box(119, 134, 78, 9, 20),
        zone=Box(15, 61, 98, 22, 26),
        row=Box(15, 85, 48, 30, 60),
        seat=Box(65, 85, 48, 30, 60),
        ticket_type=Box(15, 117, 48, 26, 13),
        holder=Box(65, 117, 48, 26, 13),
        venue=Box(15, 157, 98, 26, 13),
        order=Box(119, 157, 76, 26, 13),
        notes=Box(15, 187, 180, 62, 13),
        foot=Box(15, 276, 180, 11, 9),
        gap=3,
        fold=148.5,
        hints=Box(15, 254, 180, 20, 11),
    ),
    "phone": Layout(
        width=90,
        height=195,  # as 9 to 19.5
        head=Box(0, 0, 90, 38),
        mark=Box(6, 4.3, 6, 6),
        organization=Box(14, 5.3, 70, 4.6, 8.5),
        event=Box(6, 11.5, 78, 14.5, 17),
        starts_at=Box(6, 26.3, 78, 4.7, 9.5),
        admission=Box(6, 31.3, 78, 4.2, 8),
        qr=Box(14, 40, 62, 62),
        code=Box(6, 101, 78, 8, 18),
        zone=Box(6, 111, 36, 21, 17),
        row=Box(43.5, 111, 19.5, 21, 34),
        seat=Box(64.5, 111, 19.5, 21, 34),
        ticket_type=Box(6, 133.5, 38.25, 14, 9.5),
        holder=Box(45.75, 133.5, 38.25, 14, 9.5),
        venue=Box(6, 149, 38.25, 15, 8.5),
        order=Box(45.75, 149, 38.25, 15, 8.5),
        notes=Box(6, 165.5, 78, 17, 8.5),
        foot=Box(6, 184, 78, 8.5, 6.5),
        gap=1.5,
    ),
}
