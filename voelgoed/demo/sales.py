"""What was bought in the weeks before: by customers, at the box office, and elsewhere."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from random import Random

import msgspec

from voelgoed.accounts.model import Caller
from voelgoed.demo.parties import Party
from voelgoed.demo.story import Chapter, Customer, Story
from voelgoed.demo.venues import House
from voelgoed.ticketing.actions.checkout import read_order
from voelgoed.ticketing.actions.import_batch import Context
from voelgoed.ticketing.actions.import_run import run_import
from voelgoed.ticketing.actions.imports import ImportJob, Upload, receive_file
from voelgoed.ticketing.actions.refunds import refund
from voelgoed.ticketing.model.holds import Hold, NewBooking, PlacesWish
from voelgoed.ticketing.model.orders import (
    ManualMethod,
    NewItem,
    NewOrder,
    NewPayment,
    NewRefund,
    OrderDetails,
)
from voelgoed.ticketing.model.refusals import NothingToRefund, OrderNotPending
from voelgoed.ticketing.model.ticket_types import TicketType

BY_CUSTOMERS = 0.3
METHODS: tuple[ManualMethod, ...] = ("card_terminal", "card_terminal", "cash")
REFUNDED = 0.05
RETURNED = timedelta(hours=20)
"""Before the present."""
Wish = tuple[Party, Sequence[TicketType]]
"""Who comes, and what they may choose from."""


class Sale(msgspec.Struct, frozen=True, kw_only=True):
    party: Party
    type: TicketType
    customer: Customer | None = None
    """Or else the box office sells to somebody who is but a name."""
    method: ManualMethod = "card_terminal"
    refund: int = 0
    """So many of its tickets, later."""

    @property
    def buyer(self) -> str:
        return self.customer.name if self.customer else self.party.name


def wish_of(party: Party, *types: TicketType) -> Wish:
    return party, types


def plan_sales(story: Story, wishes: Sequence[Wish], luck: Random) -> list[Sale]:
    """No customer buys twice at one moment: there is a limit on that."""
    free = list(story.customers)
    luck.shuffle(free)
    sales: list[Sale] = []
    for party, types in wishes:
        size = len(party.seats) or party.places
        customer = free.pop() if free and luck.random() < BY_CUSTOMERS else None
        sale = Sale(
            party=party,
            type=luck.choice(types),
            customer=customer,
            method=luck.choice(METHODS),
            refund=luck.randint(1, size) if luck.random() < REFUNDED else 0,
        )
        sales.append(sale)
    return sales


def chapters_of(
    story: Story, house: House, moments: Iterable[tuple[datetime, Sequence[Sale]]]
) -> list[Chapter]:
    """And at last what somebody returned: a seat that is free again in between would be in the way of
    those who come after."""
    returned: list[tuple[OrderDetails, int]] = []

    async def sell(name: str, sales: Sequence[Sale]) -> None:
        orders = await asyncio.gather(
            *(_sell(story, house, sale, f"{name}-{number}") for number, sale in enumerate(sales))
        )
        pairs = zip(orders, sales, strict=True)
        returned.extend((order, sale.refund) for order, sale in pairs if sale.refund)

    async def take_back() -> None:
        for order, count in returned:
            await _refund(story, order, count)

    chapters = [
        Chapter(moment, partial(sell, f"{house.event.id}-{number}", sales))
        for number, (moment, sales) in enumerate(moments)
    ]
    return [*chapters, Chapter(story.present - RETURNED, take_back)]


async def _sell(story: Story, house: House, sale: Sale, name: str) -> OrderDetails:
    clerk = story.staff["box_office"]
    by = sale.customer.caller if sale.customer else clerk
    booking, _ = await story.services.holds.book(
        by, house.event.id, _booking(sale), story.step(f"hold-{name}", by)
    )
    payment = None if sale.customer else NewPayment(method=sale.method)
    new = NewOrder(
        items=[_item(hold, sale) for hold in booking.holds],
        buyer_name=sale.buyer,
        buyer_email=sale.customer.email if sale.customer else None,
        payment=payment,
    )
    order = await story.services.checkout.place(by, new, story.step(f"order-{name}", by))
    if sale.customer:
        await _pay_at_the_counter(story, clerk, order, sale.method)
    return order


def _booking(sale: Sale) -> NewBooking:
    party, valid_days = sale.party, sale.type.valid_days
    if party.zone_id is None:
        return NewBooking(seat_ids=list(party.seats))
    return NewBooking(
        places=[PlacesWish(zone_id=party.zone_id, count=party.places, days=valid_days)]
    )


def _item(hold: Hold, sale: Sale) -> NewItem:
    return NewItem(
        hold_id=hold.hold_id,
        ticket_type_id=sale.type.id,
        count=hold.places,
        holder_name=sale.buyer,
    )


async def _pay_at_the_counter(
    story: Story, clerk: Caller, order: OrderDetails, method: ManualMethod
) -> None:
    with suppress(OrderNotPending):  # paid before an earlier start was cut off
        await story.services.checkout.pay(clerk, order.order.id, NewPayment(method=method))


async def _refund(story: Story, order: OrderDetails, count: int) -> None:
    details = await read_order(story.services.database, story.owner, order.order.id)
    tickets = sorted(ticket.id for ticket in details.tickets)[:count]
    with suppress(NothingToRefund):  # refunded before an earlier start was cut off
        new = NewRefund(reason="Could not come", ticket_ids=tickets)
        await refund(story.services.checkout, story.staff["box_office"], order.order.id, new)


def chapter_of_import(
    story: Story, house: House, moment: datetime, file_name: str, lines: Sequence[str]
) -> Chapter:
    """What was sold elsewhere, as a file brings it."""
    services, owner = story.services, story.owner

    async def pieces() -> AsyncIterator[bytes]:
        yield "\n".join([*lines, ""]).encode()

    async def load() -> None:
        upload = Upload(
            event_id=house.event.id,
            file_name=file_name,
            dry_run=False,
            key=f"demo-{file_name}",
            by_job=False,
        )
        received = await receive_file(services.database, owner, upload, pieces())
        context = Context(services.database, services.cache, services.master_key)
        await run_import(context, ImportJob(owner.organization_id, received.id))

    return Chapter(moment, load)
