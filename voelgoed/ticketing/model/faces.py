"""What a ticket and an order look like: texts, ready to be shown. `forms` draws them."""

import msgspec

from voelgoed.ticketing.model.orders import OrderStatus
from voelgoed.ticketing.model.tickets import VALID, TicketStatus


class TicketFace(msgspec.Struct, frozen=True, kw_only=True):
    organization_name: str
    event_name: str
    venue_name: str
    venue_address: str = ""
    starts_at: str
    """In the venue's time, such as "Saturday 5 December 2026, 19:30"."""
    admission: str = ""
    """When it lets in: "Doors 18:00", or the days of a pass."""
    ticket_type: str
    zone_name: str
    row: str | None = None
    seat: str | None = None
    seat_label: str | None = None
    """Shown for a seat that has no row and number of its own."""
    holder_name: str = ""
    order_number: str = ""
    """Empty for a ticket sold elsewhere and imported."""
    code: str
    issue: int = 1
    barcode: str
    """Of QR's alphanumeric characters, or the picture is half as large again."""
    price: str = ""
    notes: list[str] = []
    """Such as "Wheelchair place, companion beside"."""
    status: TicketStatus = "active"
    pdf_url: str = ""
    phone_pdf_url: str = ""
    qr_url: str = ""

    @property
    def is_valid(self) -> bool:
        return self.status in VALID


class OrderFace(msgspec.Struct, frozen=True, kw_only=True):
    number: str
    organization_name: str
    event_name: str
    venue_name: str = ""
    venue_address: str = ""
    starts_at: str = ""
    buyer_name: str
    buyer_email: str | None = None
    status: OrderStatus
    total: str
    refunded: str = ""
    """How much of the total; empty for nothing."""
    tickets: list[TicketFace] = []
    pdf_url: str = ""
    """Of all valid tickets; empty where there is none."""
    phone_pdf_url: str = ""

    @property
    def valid_tickets(self) -> list[TicketFace]:
        return [ticket for ticket in self.tickets if ticket.is_valid]
