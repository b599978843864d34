"""Several orders of one event, decided one after the other and written together.

In one transaction: lock the holds, read what they are sold as, price and judge each order after those
before it, write everything at once. Each order is whole or refused. What only the writing can find
out, a seat or a quota that was gone by then, concerns all: they are then tried one by one.
"""

from collections import Counter
from collections.abc import Sequence
from secrets import token_bytes, token_urlsafe
from uuid import UUID

import msgspec

from voelgoed.accounts.actions.audit import record_all
from voelgoed.accounts.model import Caller, NewAuditEntry, Unauthorized
from voelgoed.accounts.rules.permissions import may
from voelgoed.infra.database import Transaction
from voelgoed.infra.idempotency import IdempotencyKey, keep_answers, kept_answers
from voelgoed.infra.ids import new_id
from voelgoed.infra.master_key import MasterKey
from voelgoed.infra.refusal import Refusal
from voelgoed.seating.actions.bookings import judge_selection
from voelgoed.seating.actions.views import View, require_same_view, snapshot_in
from voelgoed.seating.model.refusals import SeatsChangedMeanwhile
from voelgoed.seating.model.seats import Snapshot
from voelgoed.ticketing.actions import ticket_types
from voelgoed.ticketing.actions.domain_events import happened
from voelgoed.ticketing.actions.event_keys import signer_for
from voelgoed.ticketing.actions.issuing import (
    drop_holds,
    mail_tickets,
    paid_deed,
    paid_events,
    sell_holds,
    sign_tickets,
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
    Payment,
)
from voelgoed.ticketing.model.refusals import HoldNotFound
from voelgoed.ticketing.model.ticket_types import TicketType
from voelgoed.ticketing.rules.checkout import Basket, order_lines
from voelgoed.ticketing.rules.codes import order_number_from
from voelgoed.ticketing.rules.holds import sale_refusal
from voelgoed.ticketing.store import holds as hold_store
from voelgoed.ticketing.store import orders as store
from voelgoed.ticketing.store.domain_events import DomainEvent, insert_domain_events
from voelgoed.ticketing.store.payments import insert_payments
from voelgoed.ticketing.store.tickets import NewTicket, insert_tickets

ORDER_NUMBER_BYTES = 5
SECRET_BYTES = 16
NOTHING_TO_PAY = NewPayment(provider="manual", method="complimentary", note="nothing to pay")


class Means(msgspec.Struct, frozen=True):
    """What orders are made with beyond the database."""

    master_key: MasterKey
    providers: Providers
    mails: bool


class Placing(msgspec.Struct, frozen=True):
    """What somebody wants to order."""

    caller: Caller
    new: NewOrder
    once: IdempotencyKey | None


class Sale(msgspec.Struct, kw_only=True):
    """An order that is about to be written, with what it is made from."""

    caller: Caller
    order: Order
    lines: list[OrderLine]
    holds: list[SeatHold]
    payment: Payment | None
    secret: str
    tickets: list[NewTicket] = []

    @property
    def is_paid(self) -> bool:
        return self.order.status == "paid"


Answer = Sale | OrderDetails | Refusal
"""To one who places an order; details if it was placed before, under the same key."""


class OrderBatch:
    def __init__(
        self, tx: Transaction, view: View, placings: Sequence[Placing], means: Means
    ) -> None:
        """No two of them under one key."""
        self._tx = tx
        self._view = view
        self._placings = placings
        self._means = means
        self._answers: list[Answer | None] = [None] * len(placings)
        self._holds: dict[UUID, SeatHold] = {}
        self._types: dict[UUID, TicketType] = {}
        self._snapshot: Snapshot | None = None

    async def place(self) -> list[OrderDetails | Refusal]:
        await self._answer_again(range(len(self._placings)))
        open_ = [at for at, answer in enumerate(self._answers) if answer is None]
        if open_:
            await self._read([self._placings[at].new for at in open_])
        for at in open_:
            try:
                self._answers[at] = await self._sale(self._placings[at])
            except Refusal as refusal:
                self._answers[at] = refusal
        # Perhaps because of the same request through another batch, of a moment ago.
        await self._answer_again([at for at in open_ if isinstance(self._answers[at], Refusal)])
        await self._write([sale for sale in self._answers if isinstance(sale, Sale)])
        answers = [self._details(answer) for answer in self._answers if answer is not None]
        await self._keep(answers)
        return answers

    async def _answer_again(self, which: Sequence[int]) -> None:
        """Who asks again under the same key gets what was answered then."""
        keys = {at: once for at in which if (once := self._placings[at].once) is not None}
        kept = await kept_answers(self._tx, list(keys.values()), OrderDetails)
        for at, once in keys.items():
            self._answers[at] = kept.get(once, self._answers[at])

    async def _read(self, orders: Sequence[NewOrder]) -> None:
        items = [item for new in orders for item in new.items]
        holds = await hold_store.lock_holds(self._tx, list({item.hold_id for item in items}))
        self._holds = {hold.id: hold for hold in holds}
        await require_same_view(self._tx, self._view)
        wanted = {item.ticket_type_id for item in items}
        self._types = await ticket_types.find_types(self._tx, self._view.event.id, wanted)

    async def _sale(self, placing: Placing) -> Sale:
        tx, view, caller, new = self._tx, self._view, placing.caller, placing.new
        holds = self._own_holds(caller, {item.hold_id for item in new.items})
        if (refusal := sale_refusal(view.event, tx.now)) is not None:
            raise refusal
        ticket_types.require_all({item.ticket_type_id for item in new.items}, self._types)
        lines = order_lines(self._basket(caller, holds, new), new.items, tx.now)
        if not isinstance(lines, list):
            raise lines
        ticket_types.require_left(self._types, lines)
        if (refusal := await self._judgement(caller, holds)) is not None:
            raise refusal
        order = _order(tx, view, caller, new, holds, lines, self._types)
        payment = new.payment or (NOTHING_TO_PAY if order.total_minor == 0 else None)
        begun = payment and await begin_payment(tx, self._means.providers, caller, order, payment)
        if begun and begun.status == "succeeded":
            order = msgspec.structs.replace(order, status="paid")
        secret = token_urlsafe(SECRET_BYTES)
        sale = Sale(
            caller=caller, order=order, lines=lines, holds=holds, payment=begun, secret=secret
        )
        self._spend(sale)
        return sale

    def _own_holds(self, caller: Caller, wanted: set[UUID]) -> list[SeatHold]:
        """Somebody else's do not exist for who does not sell."""
        if caller.id is None:
            raise Unauthorized()
        holds = [self._holds[each] for each in sorted(wanted) if each in self._holds]
        sells = may(caller.role, "sales.write")
        if len(holds) != len(wanted) or any(h.user_id != caller.id and not sells for h in holds):
            raise HoldNotFound()
        return holds

    def _spend(self, sale: Sale) -> None:
        """From now on it is gone for those who come after."""
        if sale.is_paid:
            for hold in sale.holds:
                self._holds[hold.id] = msgspec.structs.replace(hold, status="converted")
        for type_id, count in ticket_types.counts_of_lines(sale.lines).items():
            before = self._types[type_id]
            self._types[type_id] = msgspec.structs.replace(before, taken=before.taken + count)

    def _basket(self, caller: Caller, holds: Sequence[SeatHold], new: NewOrder) -> Basket:
        plan = self._view.plan
        return Basket(
            event=self._view.event,
            zones={zone.zone.zone_id: zone for zone in self._view.zones},
            holds={hold.id: hold for hold in holds},
            types=self._types,
            labels={
                hold.seat_id: plan.seats[plan.by_id[hold.seat_id]].seat_id
                for hold in holds
                # Of a hold that has ended the seat may be gone too.
                if hold.seat_id is not None and hold.seat_id in plan.by_id
            },
            staff=may(caller.role, "sales.write"),
            free=new.payment is not None and new.payment.method == "complimentary",
        )

    async def _judgement(self, caller: Caller, holds: Sequence[SeatHold]) -> Refusal | None:
        """Seats that were taken one by one are judged as a whole now. Nothing that this batch sells
        was free: all are judged by what was there before."""
        if all(hold.is_judged for hold in holds) or may(caller.role, "sales.write"):
            return None
        if self._snapshot is None:
            self._snapshot = await snapshot_in(self._tx, self._view.event.id)
        by_id = self._view.plan.by_id
        positions = [by_id[hold.seat_id] for hold in holds if hold.seat_id is not None]
        return judge_selection(self._view, self._snapshot, positions, self._tx.now)

    async def _write(self, sales: Sequence[Sale]) -> None:
        tx, paid = self._tx, [sale for sale in sales if sale.is_paid]
        if not sales:
            return
        holds = [hold for sale in paid for hold in sale.holds]
        lines = [line for sale in paid for line in sale.lines]
        counts = Counter[UUID]()
        for sale in sales:
            counts += ticket_types.counts_of_lines(sale.lines)
        await sell_holds(tx, self._view, holds, lines)
        await self._sign(paid)
        await tx.gather(
            hold_store.mark_converted(tx, [hold.id for hold in holds]),
            store.insert_orders(tx, [(sale.order, sale.secret) for sale in sales]),
            store.insert_lines(
                tx, [(sale.order.id, line) for sale in sales for line in sale.lines]
            ),
            insert_tickets(tx, [ticket for sale in paid for ticket in sale.tickets]),
            insert_payments(tx, [sale.payment for sale in sales if sale.payment]),
            insert_domain_events(tx, [each for sale in sales for each in self._events(sale)]),
            record_all(tx, [entry for sale in sales for entry in self._audit_entries(sale)]),
        )
        drop_holds(tx, holds)
        for sale in paid:
            await mail_tickets(tx, sale.order, mails=self._means.mails)
        # The last of the locks but for the keys of this batch: everybody waits for these rows.
        await ticket_types.take(tx, counts)

    async def _sign(self, paid: Sequence[Sale]) -> None:
        if not paid:
            return
        signer = await signer_for(self._tx, self._means.master_key, self._view.event.id)
        for sale in paid:
            sale.tickets = sign_tickets(self._view, signer, sale.order, sale.lines, self._types)

    def _events(self, sale: Sale) -> list[DomainEvent]:
        order = sale.order
        about = {"order_id": order.id, **_summary(sale)}
        placed = happened(self._tx, "OrderPlaced", order.event_id, order.id, about)
        if not sale.is_paid:
            return [placed]
        return [placed, *paid_events(self._tx, sale.caller, order, sale.tickets, sale.holds)]

    def _audit_entries(self, sale: Sale) -> list[NewAuditEntry]:
        caller, order = sale.caller, sale.order
        entries = [NewAuditEntry(caller, "order_placed", "Order", order.id, _summary(sale))]
        if sale.is_paid:
            entries.append(paid_deed(caller, order, sale.tickets, self._types))
        if sale.payment is not None:
            entries.append(payment_deed(caller, sale.payment))
        return entries

    def _details(self, answer: Answer) -> OrderDetails | Refusal:
        if not isinstance(answer, Sale):
            return answer
        payments = [] if answer.payment is None else [answer.payment]
        tickets = [ticket.written(self._tx.now) for ticket in answer.tickets]
        organization_id = self._tx.organization_id
        return details(
            organization_id, answer.order, answer.lines, payments, tickets, answer.secret
        )

    async def _keep(self, answers: Sequence[OrderDetails | Refusal]) -> None:
        new = {
            placing.once: answer
            for placing, was, answer in zip(self._placings, self._answers, answers, strict=True)
            if placing.once is not None and isinstance(was, Sale)
        }
        if await keep_answers(self._tx, new):
            raise SeatsChangedMeanwhile()  # the same key at the same moment; it is answered by now


async def begin_payment(
    tx: Transaction, providers: Providers, caller: Caller, order: Order, new: NewPayment
) -> Payment:
    """Taken by hand, or begun elsewhere."""
    if new.provider != "manual":
        await providers.require(tx, new.provider)
    return Payment(
        id=new_id(),
        order_id=order.id,
        provider=new.provider,
        method=new.method or new.provider,
        status="succeeded" if new.provider == "manual" else "pending",
        amount_minor=order.total_minor,
        refunded_minor=0,
        refund_due_minor=0,
        currency=order.currency,
        reference=None,
        actor_id=caller.id,
        note=new.note,
        created_at=tx.now,
        updated_at=tx.now,
    )


def payment_deed(caller: Caller, payment: Payment) -> NewAuditEntry:
    action = "payment_taken" if payment.status == "succeeded" else "payment_begun"
    changes: dict[str, object] = {
        "order_id": payment.order_id,
        "method": payment.method,
        "amount_minor": payment.amount_minor,
        "note": payment.note,
    }
    return NewAuditEntry(caller, action, "Payment", payment.id, changes)


def _summary(sale: Sale) -> dict[str, object]:
    return {
        "number": sale.order.number,
        "total_minor": sale.order.total_minor,
        "currency": sale.order.currency,
        "tickets": len(sale.lines),
    }


def _order(
    tx: Transaction,
    view: View,
    caller: Caller,
    new: NewOrder,
    holds: Sequence[SeatHold],
    lines: Sequence[OrderLine],
    types: dict[UUID, TicketType],
) -> Order:
    sells = may(caller.role, "sales.write")
    return Order(
        id=new_id(),
        number=order_number_from(token_bytes(ORDER_NUMBER_BYTES)),
        event_id=view.event.id,
        user_id=None if sells else caller.id,
        sold_by_id=caller.id if sells else None,
        buyer_name=new.buyer_name,
        buyer_email=new.buyer_email,
        status="pending",
        currency=types[lines[0].ticket_type_id].currency,
        total_minor=sum(line.price_minor for line in lines),
        refunded_minor=0,
        held_until=min(hold.held_until for hold in holds),
        note=new.note,
        version=1,
        created_at=tx.now,
        updated_at=tx.now,
    )
