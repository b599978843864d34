"""A ticket and an order in words, from what the tables have about them."""

from dataclasses import dataclass
from uuid import UUID
from zoneinfo import ZoneInfo

from voelgoed.events.model import Event, Venue
from voelgoed.seating.actions.views import View
from voelgoed.seating.model.layout import Seat
from voelgoed.ticketing.model.faces import OrderFace, TicketFace
from voelgoed.ticketing.model.orders import Order
from voelgoed.ticketing.model.ticket_types import TicketType
from voelgoed.ticketing.model.tickets import Ticket
from voelgoed.ticketing.rules.money import money_text
from voelgoed.ticketing.rules.words import admission_text, moment_text, notes_of, start_of

CANCELLED = "This event was cancelled"


@dataclass(frozen=True)
class Surroundings:
    """What the tickets of one event share."""

    organization_name: str
    event: Event
    venue: Venue
    types: dict[UUID, TicketType]
    view: View | None
    """None for an event without a layout, whose tickets were sold elsewhere."""

    @property
    def timezone(self) -> ZoneInfo:
        return ZoneInfo(self.venue.timezone)


def order_face(
    around: Surroundings, order: Order, faces: list[TicketFace], page: str | None
) -> OrderFace:
    event, refunded = around.event, order.refunded_minor
    pdf = f"{page}/tickets.pdf" if page and any(face.is_valid for face in faces) else ""
    return OrderFace(
        number=order.number,
        organization_name=around.organization_name,
        event_name=event.name,
        venue_name=around.venue.name,
        venue_address=around.venue.address,
        starts_at=moment_text(event.starts_at, around.timezone),
        buyer_name=order.buyer_name,
        buyer_email=order.buyer_email,
        status=order.status,
        total=money_text(order.total_minor, order.currency),
        refunded=money_text(refunded, order.currency) if refunded else "",
        tickets=faces,
        pdf_url=pdf and f"{pdf}?size=a4",
        phone_pdf_url=pdf and f"{pdf}?size=phone",
    )


def ticket_face(
    around: Surroundings,
    ticket: Ticket,
    order: Order | None,
    barcode: str,
    page: str | None = None,
) -> TicketFace:
    event = around.event
    ticket_type = around.types[ticket.ticket_type_id]
    seat, beside = _seat(around.view, ticket.seat_id)
    starts_at = start_of(ticket.days, event.days) or event.starts_at
    is_priced = order is not None or ticket.price_minor > 0
    notes = notes_of(ticket_type, seat, beside)
    file = f"{page}/tickets/{ticket.id}" if page else ""
    return TicketFace(
        organization_name=around.organization_name,
        event_name=event.name,
        venue_name=around.venue.name,
        venue_address=around.venue.address,
        starts_at=moment_text(starts_at, around.timezone),
        admission=admission_text(ticket.days, event.days),
        ticket_type=ticket_type.name,
        zone_name=_zone_name(around.view, ticket.zone_id),
        row=seat and seat.row,
        seat=None if seat is None else str(seat.number),
        seat_label=ticket.seat_label,
        holder_name=ticket.holder_name,
        order_number=order.number if order else "",
        code=ticket.code,
        issue=ticket.issue,
        barcode=barcode,
        price=money_text(ticket.price_minor, ticket_type.currency) if is_priced else "",
        notes=[CANCELLED, *notes] if event.status == "cancelled" else notes,
        status=ticket.status,
        pdf_url=file and f"{file}.pdf?size=a4",
        phone_pdf_url=file and f"{file}.pdf?size=phone",
        qr_url=file and f"{file}.svg",
    )


def _zone_name(view: View | None, zone_id: UUID | None) -> str:
    index = view.plan.zone_index.get(zone_id) if view and zone_id else None
    return "" if view is None or index is None else view.zones[index].zone.name


def _seat(view: View | None, seat_id: UUID | None) -> tuple[Seat | None, list[str]]:
    """With the labels of the other half of its pair, where it is one of a wheelchair place and a
    companion's seat."""
    position = view.plan.by_id.get(seat_id) if view and seat_id else None
    if view is None or position is None:
        return None, []
    plan = view.plan
    beside = [*plan.companions(position), *plan.wheelchairs(position)]
    return plan.seats[position], [plan.seats[each].seat_id for each in beside]
