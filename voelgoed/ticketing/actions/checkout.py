"""From holds to an order, and from an order to tickets.

Placing an order and paying it is one transaction when the money is there; otherwise the order waits,
and whoever brings the money completes it. Rows are locked in one order everywhere: the order, its
holds, the event's layout, seats, places, the event's key, ticket types.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar
from uuid import UUID

import asyncpg

from voelgoed.accounts.actions.audit import record_all
from voelgoed.accounts.model import Caller
from voelgoed.accounts.rules.permissions import may
from voelgoed.infra.batcher import Batcher
from voelgoed.infra.cache import Cache
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.idempotency import IdempotencyKey
from voelgoed.infra.master_key import MasterKey
from voelgoed.infra.refusal import Refusal
from voelgoed.seating.actions.seats import retrying
from voelgoed.seating.actions.view_cache import Views
from voelgoed.seating.actions.views import View, require_same_view
from voelgoed.seating.model.refusals import SeatsChangedMeanwhile
from voelgoed.ticketing.actions import ticket_types
from voelgoed.ticketing.actions.issuing import (
    convert_holds,
    issue_tickets,
    mail_tickets,
    paid_deed,
    paid_events,
)
from voelgoed.ticketing.actions.order_batch import (
    Means,
    OrderBatch,
    Placing,
    begin_payment,
    payment_deed,
)
from voelgoed.ticketing.actions.order_views import details
from voelgoed.ticketing.actions.providers import Providers
from voelgoed.ticketing.model.holds import SeatHold
from voelgoed.ticketing.model.orders import (
    NewOrder,
    NewPayment,
    Order,
    OrderDetails,
    OrderLine,
)
from voelgoed.ticketing.model.refusals import (
    HoldNotFound,
    HoldsOfSeveralEvents,
    OrderExpired,
    OrderHasPrice,
    OrderNotFound,
    OrderNotPending,
    PaymentMethodMissing,
    PaymentNotAllowed,
)
from voelgoed.ticketing.store import holds as hold_store
from voelgoed.ticketing.store import orders as store
from voelgoed.ticketing.store import payments as payment_store
from voelgoed.ticketing.store.domain_events import insert_domain_events
from voelgoed.ticketing.store.tickets import list_tickets_of

T = TypeVar("T")
TOGETHER_MAX = 50
IN_FLIGHT_MAX = 2
"""Batches of orders of one event that this process writes at the same time; the others wait here,
where it costs nothing. In the database all share the rows of the event and its ticket types."""
ASKED_TOGETHER_MAX = 200


class Checkout:
    def __init__(
        self,
        database: Database,
        cache: Cache,
        master_key: MasterKey,
        providers: Providers,
        *,
        mails: bool,
    ) -> None:
        self.database = database
        self.master_key = master_key
        self.providers = providers
        self.views = Views(database, cache)
        self._means = Means(master_key, providers, mails)
        self._desk = Batcher[tuple[UUID, UUID], Placing, OrderDetails](
            "orders", self._place, together_max=TOGETHER_MAX, in_flight_max=IN_FLIGHT_MAX
        )
        self._events = Batcher[UUID, frozenset[UUID], UUID](
            "holds_of_orders", self._events_of, together_max=ASKED_TOGETHER_MAX, in_flight_max=2
        )

    async def place(
        self, caller: Caller, new: NewOrder, key: IdempotencyKey | None
    ) -> OrderDetails:
        if new.payment is not None:
            _require_may_pay(caller, new.payment)
        hold_ids = frozenset(item.hold_id for item in new.items)
        event_id = await self._events.submit(caller.organization_id, hold_ids)
        placing = Placing(caller, new, key)
        placed = await self._desk.submit((caller.organization_id, event_id), placing)
        return await self.providers.begun(self.database, caller, placed)

    async def _events_of(
        self, organization_id: UUID, wanted: Sequence[frozenset[UUID]]
    ) -> list[UUID | Exception]:
        """To which event the holds of each order belong."""
        async with self.database.transaction(organization_id) as tx:
            holds = await hold_store.find_holds(tx, list(frozenset[UUID]().union(*wanted)))
        events = {hold.id: hold.event_id for hold in holds}
        return [_one_event([events.get(hold_id) for hold_id in ids]) for ids in wanted]

    async def _place(
        self, key: tuple[UUID, UUID], placings: Sequence[Placing]
    ) -> Sequence[OrderDetails | Exception]:
        """Who comes twice under one Idempotency-Key waits for their own first request."""
        first: dict[object, int] = {}
        for at, placing in enumerate(placings):
            first.setdefault(_name(placing) or at, at)
        at_once = sorted(first.values())
        found = await self._place_together(key, [placings[at] for at in at_once])
        answers: dict[int, OrderDetails | Exception] = dict(zip(at_once, found, strict=True))
        for at, placing in enumerate(placings):
            if at not in answers:
                answers[at] = await self._place_after(key, placing)
        return [answers[at] for at in range(len(placings))]

    async def _place_after(
        self, key: tuple[UUID, UUID], placing: Placing
    ) -> OrderDetails | Exception:
        """What goes wrong here concerns nobody whose order is placed by now."""
        try:
            [answer] = await self._place_together(key, [placing])
        except Exception as fault:
            return fault
        return answer

    async def _place_together(
        self, key: tuple[UUID, UUID], placings: Sequence[Placing]
    ) -> list[OrderDetails | Refusal]:
        async def work(tx: Transaction, view: View) -> list[OrderDetails | Refusal]:
            return await OrderBatch(tx, view, placings, self._means).place()

        return await self.in_view(*key, work)

    async def pay(self, caller: Caller, order_id: UUID, new: NewPayment) -> OrderDetails:
        """By hand, or by beginning to elsewhere."""
        _require_may_pay(caller, new)
        async with self.database.transaction(caller.organization_id) as tx:
            event_id = (await own_order(tx, caller, order_id)).event_id

        async def work(tx: Transaction, view: View) -> OrderDetails:
            order = await store.lock_order(tx, order_id)
            assert order is not None
            if order.status != "pending":
                raise OrderNotPending(status=order.status)
            if new.method == "complimentary" and order.total_minor > 0:
                raise OrderHasPrice(total_minor=order.total_minor)
            payment = await begin_payment(tx, self.providers, caller, order, new)
            await payment_store.insert_payments(tx, [payment])
            if payment.status == "succeeded":
                lines = await store.list_lines(tx, order_id)
                await self.complete(tx, view, caller, order, lines)
            await record_all(tx, [payment_deed(caller, payment)])
            return await read_details(tx, order_id)

        paid = await self.in_view(caller.organization_id, event_id, work)
        return await self.providers.begun(self.database, caller, paid)

    async def in_view(
        self,
        organization_id: UUID,
        event_id: UUID,
        work: Callable[[Transaction, View], Awaitable[T]],
    ) -> T:
        """Again from the start when the event was changed meanwhile, or a number was taken."""

        async def attempt() -> T:
            view = await self.views.of(organization_id, event_id)
            try:
                async with self.database.transaction(organization_id) as tx:
                    return await work(tx, view)
            except SeatsChangedMeanwhile:
                self.views.forget(organization_id, event_id)
                raise
            except asyncpg.UniqueViolationError as fault:
                if fault.constraint_name in ("ticket_order_number_taken", "ticket_code_taken"):
                    raise SeatsChangedMeanwhile() from None
                raise

        return await retrying(attempt)

    async def complete(
        self,
        tx: Transaction,
        view: View,
        caller: Caller,
        order: Order,
        lines: Sequence[OrderLine],
    ) -> None:
        """The order, which is locked, is paid: everything becomes theirs, or it raises."""
        holds = await hold_store.lock_holds(tx, list({line.hold_id for line in lines}))
        if any(hold.status != "active" or hold.held_until <= tx.now for hold in holds):
            raise OrderExpired(order_id=str(order.id))
        await require_same_view(tx, view)
        await convert_holds(tx, view, holds, lines)
        await self.issue(tx, view, caller, order, lines, holds)

    async def issue(
        self,
        tx: Transaction,
        view: View,
        caller: Caller,
        order: Order,
        lines: Sequence[OrderLine],
        holds: Sequence[SeatHold],
    ) -> None:
        """Seats and places are sold to the order; now the tickets."""
        types = await ticket_types.types_of(
            tx, order.event_id, {line.ticket_type_id for line in lines}
        )
        tickets = await issue_tickets(tx, self.master_key, view, order, lines, types)
        await insert_domain_events(tx, paid_events(tx, caller, order, tickets, holds))
        await store.update_order(tx, order.id, "paid", 0)
        await record_all(tx, [paid_deed(caller, order, tickets, types)])
        await mail_tickets(tx, order, mails=self._means.mails)


def _name(placing: Placing) -> tuple[UUID, str] | None:
    """Under which an order is placed once."""
    return placing.once and (placing.once.actor_id, placing.once.key)


def _one_event(event_ids: Sequence[UUID | None]) -> UUID | Refusal:
    found = {event_id for event_id in event_ids if event_id is not None}
    if None in event_ids or not found:
        return HoldNotFound()
    return found.pop() if len(found) == 1 else HoldsOfSeveralEvents()


def _require_may_pay(caller: Caller, new: NewPayment) -> None:
    if new.provider != "manual":
        return
    if not may(caller.role, "sales.write"):
        raise PaymentNotAllowed()
    if new.method is None:
        raise PaymentMethodMissing()


async def own_order(tx: Transaction, caller: Caller, order_id: UUID) -> Order:
    """Somebody else's does not exist for who does not sell."""
    order = await store.find_order(tx, order_id)
    if order is None or (order.user_id != caller.id and not may(caller.role, "sales.read")):
        raise OrderNotFound()
    return order


async def read_order(database: Database, caller: Caller, order_id: UUID) -> OrderDetails:
    async with database.transaction(caller.organization_id) as tx:
        await own_order(tx, caller, order_id)
        return await read_details(tx, order_id)


async def read_details(tx: Transaction, order_id: UUID) -> OrderDetails:
    order, secret = await store.find_order(tx, order_id), await store.find_secret(tx, order_id)
    assert order is not None
    assert secret is not None
    lines = await store.list_lines(tx, order_id)
    payments = await payment_store.list_payments(tx, order_id)
    tickets = [each.ticket for each in await list_tickets_of(tx, order_id)]
    return details(tx.organization_id, order, lines, payments, tickets, secret)
