"""From holds to the lines of an order: what may be sold to whom, and what it costs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from voelgoed.events.model import Event
from voelgoed.infra.refusal import Refusal
from voelgoed.seating.model.event_layout import EventZone
from voelgoed.ticketing.model.holds import SeatHold
from voelgoed.ticketing.model.orders import NewItem, OrderLine
from voelgoed.ticketing.model.refusals import (
    HoldEnded,
    HoldNamedTwice,
    OneCurrencyOnly,
    TicketTypeNotOnSale,
    TicketTypeNotSoldHere,
    TooManyPerType,
)
from voelgoed.ticketing.model.ticket_types import TicketType
from voelgoed.ticketing.rules.prices import days_of, is_sold_to, price_of


@dataclass(frozen=True)
class Basket:
    """What is to be sold, and under which circumstances."""

    event: Event
    zones: Mapping[UUID, EventZone]
    holds: Mapping[UUID, SeatHold]
    types: Mapping[UUID, TicketType]
    labels: Mapping[UUID, str]
    """Of seats."""
    staff: bool
    free: bool
    """Given away by the box office."""


def order_lines(
    basket: Basket, items: Sequence[NewItem], now: datetime
) -> list[OrderLine] | Refusal:
    """Priced by us and by nobody else."""
    refusal = _ended(basket, now) or _miscounted(basket, items) or _too_many(basket, items)
    if refusal is not None:
        return refusal
    lines: list[OrderLine] = []
    for item in items:
        hold, ticket_type = basket.holds[item.hold_id], basket.types[item.ticket_type_id]
        price = price_of(ticket_type, basket.zones[hold.zone_id])
        days = days_of(ticket_type, basket.event)
        if not is_sold_to(ticket_type, staff=basket.staff):
            return TicketTypeNotOnSale(ticket_type_id=str(ticket_type.id))
        if price is None or not days or (hold.days is not None and set(hold.days) != set(days)):
            return TicketTypeNotSoldHere(
                hold_id=str(hold.id),
                ticket_type_id=str(ticket_type.id),
                days=[str(d) for d in days],
            )
        lines += [
            OrderLine(
                line=len(lines) + number,
                hold_id=hold.id,
                ticket_type_id=ticket_type.id,
                zone_id=hold.zone_id,
                seat_id=hold.seat_id,
                seat_label=basket.labels.get(hold.seat_id) if hold.seat_id else None,
                days=days,
                holder_name=item.holder_name,
                price_minor=0 if basket.free else price,
                associated_membership_id=hold.associated_membership_id,
            )
            for number in range(1, item.count + 1)
        ]
    if len({basket.types[line.ticket_type_id].currency for line in lines}) > 1:
        return OneCurrencyOnly()
    return lines


def _ended(basket: Basket, now: datetime) -> Refusal | None:
    ended = [
        hold for hold in basket.holds.values() if hold.status != "active" or hold.held_until <= now
    ]
    return HoldEnded(hold_ids=[str(hold.id) for hold in ended]) if ended else None


def _miscounted(basket: Basket, items: Sequence[NewItem]) -> Refusal | None:
    named: Counter[UUID] = Counter()
    for item in items:
        named[item.hold_id] += item.count
    wrong = [hold for hold in basket.holds.values() if named[hold.id] != hold.places]
    if not wrong:
        return None
    return HoldNamedTwice(
        holds=[
            {"hold_id": str(hold.id), "held": hold.places, "asked": named[hold.id]}
            for hold in wrong
        ]
    )


def _too_many(basket: Basket, items: Sequence[NewItem]) -> Refusal | None:
    for type_id, count in counts_of(items).items():
        most = basket.types[type_id].max_per_order
        if most is not None and count > most:
            return TooManyPerType(ticket_type_id=str(type_id), max_per_order=most, asked=count)
    return None


def counts_of(items: Sequence[NewItem]) -> Counter[UUID]:
    counts: Counter[UUID] = Counter()
    for item in items:
        counts[item.ticket_type_id] += item.count
    return counts
