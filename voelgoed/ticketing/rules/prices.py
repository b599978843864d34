"""What a ticket type costs where, and on which days it lets in."""

import datetime as dt
from collections.abc import Iterable, Sequence

from voelgoed.events.model import Event
from voelgoed.seating.model.event_layout import EventZone
from voelgoed.seating.model.layout import SEATED
from voelgoed.ticketing.model.ticket_types import Offer, TicketType, ZoneOffers


def price_of(ticket_type: TicketType, zone: EventZone) -> int | None:
    """In minor units; None where it is not sold, which is not the same as free."""
    if not _fits(ticket_type, zone):
        return None
    amounts = {price.pricing_rule_id: price.amount_minor for price in ticket_type.prices}
    return amounts.get(zone.pricing_rule_id, amounts.get(None))


def sold_in(ticket_type: TicketType, zones: Iterable[EventZone]) -> list[EventZone]:
    return [zone for zone in zones if price_of(ticket_type, zone) is not None]


def days_of(ticket_type: TicketType, event: Event) -> list[dt.date]:
    """In the event's order, and without days that the event has no longer."""
    days = [day.date for day in event.days]
    if ticket_type.valid_days is None:
        return days
    return [day for day in days if day in ticket_type.valid_days]


def is_sold_to(ticket_type: TicketType, *, staff: bool) -> bool:
    return ticket_type.status == "on_sale" and (staff or ticket_type.sold_by == "anybody")


def left_of(ticket_type: TicketType) -> int | None:
    return None if ticket_type.quota is None else ticket_type.quota - ticket_type.taken


def offers(ticket_types: Sequence[TicketType], zones: Iterable[EventZone]) -> list[ZoneOffers]:
    return [
        ZoneOffers(
            zone_id=zone.zone.zone_id,
            name=zone.zone.name,
            offers=[
                _offer(ticket_type, amount)
                for ticket_type in ticket_types
                if (amount := price_of(ticket_type, zone)) is not None
            ],
        )
        for zone in zones
    ]


def _fits(ticket_type: TicketType, zone: EventZone) -> bool:
    named = ticket_type.zone_ids is None or zone.zone.zone_id in ticket_type.zone_ids
    has_seats = zone.zone.zone_type in SEATED
    return zone.enabled and named and has_seats == (ticket_type.kind == "seated")


def _offer(ticket_type: TicketType, amount_minor: int) -> Offer:
    return Offer(
        ticket_type_id=ticket_type.id,
        name=ticket_type.name,
        currency=ticket_type.currency,
        amount_minor=amount_minor,
        left=left_of(ticket_type),
        max_per_order=ticket_type.max_per_order,
    )
