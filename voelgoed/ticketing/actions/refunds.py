"""Tickets that are no longer good: refunded, or void. Their seats are free again, gates hear of it."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, TypeVar
from uuid import UUID

import msgspec

from voelgoed.accounts.actions.audit import record, record_all
from voelgoed.accounts.model import Caller, NewAuditEntry
from voelgoed.events.rules.messages import event_topic
from voelgoed.infra.database import Transaction
from voelgoed.infra.ids import new_id
from voelgoed.seating.actions import places, seats
from voelgoed.seating.actions.places import Places
from voelgoed.seating.actions.views import View
from voelgoed.ticketing.actions import hold_changes, ticket_types
from voelgoed.ticketing.actions.admissions import last_scan_key
from voelgoed.ticketing.actions.checkout import Checkout, own_order, read_details
from voelgoed.ticketing.actions.domain_events import happened
from voelgoed.ticketing.model.orders import (
    Because,
    NewRefund,
    Order,
    OrderDetails,
    OrderStatus,
    Payment,
)
from voelgoed.ticketing.model.refusals import (
    NothingToRefund,
    OrderNotPending,
    PaymentNotFound,
    TicketNotFound,
    TicketNotValid,
)
from voelgoed.ticketing.model.tickets import VALID, Ticket
from voelgoed.ticketing.store import holds as hold_store
from voelgoed.ticketing.store import orders, payments, tickets
from voelgoed.ticketing.store.domain_events import insert_domain_events
from voelgoed.ticketing.store.tickets import Revocation, SignedTicket

T = TypeVar("T")


async def refund(
    checkout: Checkout, caller: Caller, order_id: UUID, new: NewRefund
) -> OrderDetails:
    """The whole order or some of its tickets. Who was let in already is not refunded."""

    async def work(tx: Transaction, view: View) -> OrderDetails:
        order = await orders.lock_order(tx, order_id)
        assert order is not None
        wanted = [
            each
            for each in await tickets.lock_tickets_of(tx, order_id)
            if each.ticket.status == "active"
            and (new.ticket_ids is None or each.ticket.id in new.ticket_ids)
        ]
        if not wanted or (new.ticket_ids is not None and len(wanted) != len(set(new.ticket_ids))):
            raise NothingToRefund(status=order.status)
        amount = sum(each.ticket.price_minor for each in wanted)
        await _give_money_back(tx, caller, order, amount)
        await _end(tx, view, caller, wanted, "refunded", new.reason)
        refunded = order.refunded_minor + amount
        left = [
            each
            for each in await tickets.list_tickets_of(tx, order_id)
            if each.ticket.status in VALID
        ]
        status: OrderStatus = "partially_refunded" if left else "refunded"
        await orders.update_order(tx, order_id, status, refunded)
        changes: dict[str, object] = {
            "tickets": [each.ticket.id for each in wanted],
            "amount_minor": amount,
            "reason": new.reason,
        }
        await record(tx, caller, "order_refunded", "Order", order_id, changes)
        event = happened(tx, "OrderRefunded", order.event_id, order_id, changes)
        await insert_domain_events(tx, [event])
        return await read_details(tx, order_id)

    return await _in_view_of_order(checkout, caller, order_id, work)


async def _give_money_back(tx: Transaction, caller: Caller, order: Order, amount: int) -> None:
    """What was taken by hand is given back by hand, now; elsewhere it is to be given back, and the
    provider, or who did it, says when it was."""
    for payment in await payments.list_payments(tx, order.id):
        room = payment.amount_minor - payment.refunded_minor - payment.refund_due_minor
        # What bought nothing has no room: all that came is due, or was given back.
        if payment.status not in ("pending", "failed") and room > 0 and amount > 0:
            part = min(room, amount)
            amount -= part
            await payments.update_payment(tx, _less(payment, part))


def _less(payment: Payment, part: int) -> Payment:
    if payment.provider != "manual":
        due = payment.refund_due_minor + part
        return msgspec.structs.replace(payment, status="refund_due", refund_due_minor=due)
    refunded = payment.refunded_minor + part
    status = "refunded" if refunded == payment.amount_minor else "partially_refunded"
    return msgspec.structs.replace(payment, status=status, refunded_minor=refunded)


async def settle_refund(
    checkout: Checkout, caller: Caller, payment_id: UUID, because: Because
) -> Payment:
    """Somebody gave the money back where it was taken, and says so."""
    async with checkout.database.transaction(caller.organization_id) as tx:
        payment = await payments.find_payment(tx, payment_id)
        if payment is None:
            raise PaymentNotFound()
        await orders.lock_order(tx, payment.order_id)
        payment = await payments.find_payment(tx, payment_id)
        assert payment is not None
        if payment.refund_due_minor == 0:
            return payment
        refunded = payment.refunded_minor + payment.refund_due_minor
        status = "refunded" if refunded == payment.amount_minor else "partially_refunded"
        after = msgspec.structs.replace(
            payment, status=status, refunded_minor=refunded, refund_due_minor=0
        )
        await payments.update_payment(tx, after)
        changes: dict[str, object] = {
            "amount_minor": payment.refund_due_minor,
            "reason": because.reason,
        }
        await record(tx, caller, "refund_settled", "Payment", payment_id, changes)
        return after


async def cancel(checkout: Checkout, caller: Caller, order_id: UUID) -> OrderDetails:
    """An order that waits to be paid; its seats are free again. Twice is once."""

    async def work(tx: Transaction, view: View) -> OrderDetails:
        order = await orders.lock_order(tx, order_id)
        assert order is not None
        if order.status == "cancelled":
            return await read_details(tx, order_id)
        if order.status != "pending":
            raise OrderNotPending(status=order.status)
        lines = await orders.list_lines(tx, order_id)
        holds = await hold_store.lock_holds(tx, list({line.hold_id for line in lines}))
        await hold_changes.end_holds(tx, caller, view, holds)
        await ticket_types.give_back(tx, ticket_types.counts_of_lines(lines))
        await orders.update_order(tx, order_id, "cancelled", 0)
        await record(tx, caller, "order_cancelled", "Order", order_id, {"number": order.number})
        event = happened(tx, "OrderCancelled", order.event_id, order_id, {"order_id": order_id})
        await insert_domain_events(tx, [event])
        return await read_details(tx, order_id)

    return await _in_view_of_order(checkout, caller, order_id, work)


async def void_ticket(
    checkout: Checkout, caller: Caller, ticket_id: UUID, because: Because
) -> SignedTicket:
    """It lets nobody in any more, and its seat is free; money is another matter. Twice is once."""
    async with checkout.database.transaction(caller.organization_id) as tx:
        found = await tickets.find_ticket(tx, ticket_id)
    if found is None:
        raise TicketNotFound()

    async def work(tx: Transaction, view: View) -> SignedTicket:
        if found.ticket.order_id is not None:
            await orders.lock_order(tx, found.ticket.order_id)
        signed = await tickets.lock_ticket(tx, ticket_id)
        assert signed is not None
        if signed.ticket.status == "voided":
            return signed
        if signed.ticket.status not in VALID:
            raise TicketNotValid(status=signed.ticket.status)
        await _end(tx, view, caller, [signed], "voided", because.reason)
        after = await tickets.find_ticket(tx, ticket_id)
        assert after is not None
        return after

    return await checkout.in_view(caller.organization_id, found.ticket.event_id, work)


async def _end(
    tx: Transaction,
    view: View,
    caller: Caller,
    wanted: Sequence[SignedTicket],
    status: Literal["refunded", "voided"],
    reason: str,
) -> None:
    """Valid tickets, which are locked."""
    ended = [each.ticket for each in wanted]
    seated = [each for each in wanted if each.ticket.seat_id is not None]
    by_id = view.plan.by_id
    positions = [
        by_id[each.ticket.seat_id]
        for each in seated
        if each.ticket.seat_id and each.ticket.seat_id in by_id
    ]
    if positions:
        await seats.give_back(
            tx, view, positions, [each.hold_id for each in seated if each.hold_id]
        )
    sold = [
        Places(ticket.zone_id, 1, ticket.days)
        for ticket in ended
        if ticket.seat_id is None and ticket.zone_id is not None
    ]
    if sold:
        await places.give_places_back(tx, view, sold)
    ids = [ticket.id for ticket in ended]
    await tickets.end_tickets(tx, ids, status, reason)
    await tickets.insert_revocations(
        tx,
        [
            Revocation(
                id=new_id(),
                event_id=view.event.id,
                ticket_id=each,
                issue=None,
                barcode_hash=None,
                reason=status,
            )
            for each in ids
        ],
    )
    await ticket_types.give_back(tx, Counter(ticket.ticket_type_id for ticket in ended))
    tell_gates(tx, ended)
    changes: dict[str, object] = {"status": status, "reason": reason}
    await record_all(
        tx, [NewAuditEntry(caller, f"ticket_{status}", "Ticket", each, changes) for each in ids]
    )


def tell_gates(tx: Transaction, tickets: Sequence[Ticket]) -> None:
    """So that they ask what was revoked, and no cache says anything else of it."""
    tx.drop(*(last_scan_key(tx.organization_id, ticket.code) for ticket in tickets))
    event_id, ids = tickets[0].event_id, [ticket.id for ticket in tickets[:100]]
    told: dict[str, object] = {"event": "tickets_revoked", "event_id": event_id}
    tx.publish(event_topic(event_id), {**told, "ticket_ids": ids})


async def _in_view_of_order(
    checkout: Checkout,
    caller: Caller,
    order_id: UUID,
    work: Callable[[Transaction, View], Awaitable[T]],
) -> T:
    async with checkout.database.transaction(caller.organization_id) as tx:
        event_id = (await own_order(tx, caller, order_id)).event_id
    return await checkout.in_view(caller.organization_id, event_id, work)
