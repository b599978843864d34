from typing import Annotated
from uuid import UUID

from litestar import Response
from litestar.di import NamedDependency as Given
from litestar.params import FromPath, FromQuery, QueryParameter

from voelgoed.accounts import access
from voelgoed.accounts.access import Call, once_for
from voelgoed.infra.batcher import Overloaded
from voelgoed.infra.idempotency import IdempotencyKeyReused
from voelgoed.infra.master_key import MasterKeyMissing, SealBroken
from voelgoed.infra.refusal import RateLimited
from voelgoed.infra.shapes import Data
from voelgoed.infra.web import IdempotencyKey
from voelgoed.ticketing.actions.documents import Documents
from voelgoed.ticketing.actions.letters import Letters
from voelgoed.ticketing.api.files import PDF, PNG, SVG, file
from voelgoed.ticketing.forms.pdf_layouts import Size
from voelgoed.ticketing.forms.qr import PIXELS_MAX, qr_png, qr_svg
from voelgoed.ticketing.model.letters import Posting
from voelgoed.ticketing.model.refusals import (
    BarcodeNotFound,
    BuyerAddressMissing,
    MailIsOff,
    OrderNotFound,
    TicketNotFound,
    TicketsNotFound,
)

PIXELS_MIN = 50
DRAWN = (MasterKeyMissing, SealBroken, Overloaded)
OF_A_TICKET = (TicketNotFound, BarcodeNotFound, *DRAWN)

Pixels = Annotated[
    int, QueryParameter(ge=PIXELS_MIN, le=PIXELS_MAX, description="How wide and how high.")
]


def _documents(call: Call) -> Documents:
    return call.parts.documents


@access.get("/api/tickets/{ticket_id:uuid}/qr.svg", "orders.read", *OF_A_TICKET, media_type=SVG)
async def read_ticket_qr_svg(ticket_id: FromPath[UUID], call: Given[Call]) -> Response[bytes]:
    """The barcode as a picture of any size."""
    documents = _documents(call)
    face = await documents.own_ticket(call.caller, ticket_id)
    picture = await documents.drawn(qr_svg, face.barcode, f"QR code of ticket {face.code}")
    return file(picture, SVG, f"ticket-{face.code}.svg")


@access.get("/api/tickets/{ticket_id:uuid}/qr.png", "orders.read", *OF_A_TICKET, media_type=PNG)
async def read_ticket_qr_png(
    ticket_id: FromPath[UUID], call: Given[Call], pixels: Pixels = 600
) -> Response[bytes]:
    """The barcode as a picture of so many pixels."""
    documents = _documents(call)
    face = await documents.own_ticket(call.caller, ticket_id)
    picture = await documents.drawn(qr_png, face.barcode, pixels)
    return file(picture, PNG, f"ticket-{face.code}.png")


@access.get("/api/tickets/{ticket_id:uuid}/ticket.pdf", "orders.read", *OF_A_TICKET, media_type=PDF)
async def read_ticket_pdf(
    ticket_id: FromPath[UUID], call: Given[Call], size: FromQuery[Size] = "a4"
) -> Response[bytes]:
    """One page, of A4 or of a phone's shape."""
    face = await _documents(call).own_ticket(call.caller, ticket_id)
    return file(await _documents(call).pdf([face], size), PDF, f"ticket-{face.code}.pdf")


@access.get(
    "/api/orders/{order_id:uuid}/tickets.pdf",
    "orders.read",
    OrderNotFound,
    TicketsNotFound,
    *DRAWN,
    media_type=PDF,
)
async def read_order_pdf(
    order_id: FromPath[UUID], call: Given[Call], size: FromQuery[Size] = "a4"
) -> Response[bytes]:
    """All tickets of the order that are good, a page each."""
    face = await _documents(call).own_order(call.caller, order_id)
    pdf = await _documents(call).pdf(face.tickets, size)
    return file(pdf, PDF, f"tickets-{face.number}.pdf")


@access.post(
    "/api/orders/{order_id:uuid}/letters",
    "orders.write",
    OrderNotFound,
    MailIsOff,
    BuyerAddressMissing,
    RateLimited,
    IdempotencyKeyReused,
    status=202,
)
async def send_order_letter(
    order_id: FromPath[UUID], call: Given[Call], idempotency_key: IdempotencyKey = None
) -> Data[Posting]:
    """Send the tickets to the buyer once more, at most five times an hour."""
    letters: Letters = call.parts.letters
    key = once_for(call.caller, idempotency_key, "send_order_letter", order_id)
    return Data(await letters.send_again(call.caller, order_id, key))


ROUTES = [
    read_ticket_qr_svg,
    read_ticket_qr_png,
    read_ticket_pdf,
    read_order_pdf,
    send_order_letter,
]
