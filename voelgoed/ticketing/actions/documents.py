"""Orders and tickets as people see them: for whom, read together, and drawn off the event loop."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import ParamSpec, TypeVar
from uuid import UUID

from voelgoed.accounts.actions.organizations import organization_of
from voelgoed.accounts.model import Caller
from voelgoed.events.actions.events import event_of
from voelgoed.events.actions.venues import venue_of
from voelgoed.infra.batcher import Overloaded
from voelgoed.infra.cache import Cache
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.master_key import MasterKey
from voelgoed.seating.actions.views import View, see_any
from voelgoed.seating.model.refusals import EventLayoutNotFound
from voelgoed.ticketing.actions.checkout import own_order
from voelgoed.ticketing.actions.faces import Surroundings, order_face, ticket_face
from voelgoed.ticketing.actions.ticket_types import types_of
from voelgoed.ticketing.actions.tickets import barcode_of, barcodes_of, own_ticket
from voelgoed.ticketing.forms.pdf import tickets_pdf
from voelgoed.ticketing.forms.pdf_layouts import Size
from voelgoed.ticketing.model.faces import OrderFace, TicketFace
from voelgoed.ticketing.model.orders import LINES_MAX, Order
from voelgoed.ticketing.model.refusals import (
    BarcodeNotFound,
    OrderNotFound,
    TicketNotFound,
    TicketsNotFound,
)
from voelgoed.ticketing.store import orders, tickets
from voelgoed.ticketing.store.tickets import SignedTicket

P = ParamSpec("P")
T = TypeVar("T")

DRAWN_AT_ONCE_MAX = 4
"""More would only take threads away from who checks passwords."""
ASKED_AT_ONCE_MAX = 200
"""A few seconds' work; who comes later does better to come again."""


class Documents:
    def __init__(self, database: Database, cache: Cache, master_key: MasterKey) -> None:
        self._database = database
        self._cache = cache
        self._master_key = master_key
        self._drawing = asyncio.Semaphore(DRAWN_AT_ONCE_MAX)
        self._asked = 0

    async def own_order(self, caller: Caller, order_id: UUID) -> OrderFace:
        async with self._database.transaction(caller.organization_id) as tx:
            order = await own_order(tx, caller, order_id)
        return await self.order_face(caller.organization_id, order.id)

    async def own_ticket(self, caller: Caller, ticket_id: UUID) -> TicketFace:
        async with self._database.transaction(caller.organization_id) as tx:
            await own_ticket(tx, caller, await tickets.find_ticket(tx, ticket_id))
        return await self.ticket_face(caller.organization_id, ticket_id)

    async def ticket_of(self, organization_id: UUID, order_id: UUID, ticket_id: UUID) -> TicketFace:
        """Of this order and of no other."""
        async with self._database.transaction(organization_id) as tx:
            if (await _ticket(tx, ticket_id)).ticket.order_id != order_id:
                raise TicketNotFound()
        return await self.ticket_face(organization_id, ticket_id)

    async def ticket_face(self, organization_id: UUID, ticket_id: UUID) -> TicketFace:
        """For whoever may see it, which has been asked. One that lets nobody in is not shown."""
        async with self._database.transaction(organization_id) as tx:
            event_id = (await _ticket(tx, ticket_id)).ticket.event_id
        view = await self._view(organization_id, event_id)
        async with self._database.transaction(organization_id) as tx:
            signed = await _ticket(tx, ticket_id)
            around = await _surroundings(tx, event_id, view, [signed])
            order_id = signed.ticket.order_id
            order = None if order_id is None else await _order(tx, order_id)
            barcode = await barcode_of(tx, self._master_key, signed)
        if barcode is None:
            raise BarcodeNotFound(status=signed.ticket.status)
        return ticket_face(around, signed.ticket, order, barcode)

    async def order_face(
        self, organization_id: UUID, order_id: UUID, page: str | None = None
    ) -> OrderFace:
        """For whoever may see it, which has been asked; `page` is where its links lead."""
        async with self._database.transaction(organization_id) as tx:
            event_id = (await _order(tx, order_id)).event_id
        view = await self._view(organization_id, event_id)
        async with self._database.transaction(organization_id) as tx:
            order = await _order(tx, order_id)
            signed = await tickets.list_tickets_of(tx, order_id)
            around = await _surroundings(tx, event_id, view, signed)
            barcodes = await barcodes_of(tx, self._master_key, signed)
        faces = [
            ticket_face(around, ticket, order, barcodes.get(ticket.id, ""), page)
            for ticket in (each.ticket for each in signed)
        ]
        return order_face(around, order, faces, page)

    async def pdf(self, faces: Sequence[TicketFace], size: Size) -> bytes:
        good = [face for face in faces if face.is_valid]
        if not good:
            raise TicketsNotFound()
        assert len(good) <= LINES_MAX, "an order has no more"
        return await self.drawn(tickets_pdf, good, size)

    async def drawn(self, draw: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """In a thread: a QR code takes 10 ms, and an order has up to a hundred of them."""
        if self._asked >= ASKED_AT_ONCE_MAX:
            raise Overloaded()
        self._asked += 1
        try:
            async with self._drawing:
                return await asyncio.to_thread(draw, *args, **kwargs)
        finally:
            self._asked -= 1

    async def _view(self, organization_id: UUID, event_id: UUID) -> View | None:
        """Not inside a transaction, as `see_any` is not."""
        try:
            return await see_any(self._database, self._cache, organization_id, event_id)
        except EventLayoutNotFound:
            return None


async def _order(tx: Transaction, order_id: UUID) -> Order:
    order = await orders.find_order(tx, order_id)
    if order is None:
        raise OrderNotFound()
    return order


async def _ticket(tx: Transaction, ticket_id: UUID) -> SignedTicket:
    signed = await tickets.find_ticket(tx, ticket_id)
    if signed is None:
        raise TicketNotFound()
    return signed


async def _surroundings(
    tx: Transaction, event_id: UUID, view: View | None, signed: Collection[SignedTicket]
) -> Surroundings:
    event = await event_of(tx, event_id)
    return Surroundings(
        organization_name=(await organization_of(tx)).name,
        event=event,
        venue=await venue_of(tx, event.venue_id),
        types=await types_of(tx, event_id, {each.ticket.ticket_type_id for each in signed}),
        view=view,
    )
