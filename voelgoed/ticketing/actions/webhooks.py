"""What payment providers tell us, each thing once, whenever it comes."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from hashlib import sha256
from uuid import UUID

import msgspec
import structlog

from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.model import Caller
from voelgoed.infra.database import Transaction
from voelgoed.infra.refusal import Conflict, Refusal, Unavailable
from voelgoed.seating.actions import places, seats
from voelgoed.seating.actions.places import Places
from voelgoed.seating.actions.views import View, require_same_view
from voelgoed.ticketing.actions import ticket_types
from voelgoed.ticketing.actions.checkout import Checkout
from voelgoed.ticketing.actions.issuing import convert_holds
from voelgoed.ticketing.model.holds import SeatHold
from voelgoed.ticketing.model.orders import Notice, Order, OrderLine, Payment
from voelgoed.ticketing.model.refusals import EventNotAvailable, PaymentNotFound
from voelgoed.ticketing.rules.payments import meaning_of
from voelgoed.ticketing.store import holds as hold_store
from voelgoed.ticketing.store import orders, payments

log = structlog.get_logger()


class DeliveryIdReused(Conflict):
    """This delivery id was used before, for something else."""


class Outcome(msgspec.Struct, frozen=True):
    outcome: str
    """paid, paid_late, refund_due, refunded, failed, or nothing to do."""


class _Told(msgspec.Struct, frozen=True):
    provider: str
    notice: Notice
    body_hash: bytes


async def take_notice(
    checkout: Checkout,
    organization_id: UUID,
    provider: str,
    headers: Mapping[str, str],
    body: bytes,
) -> Outcome:
    notice = await checkout.providers.read(
        checkout.database, organization_id, provider, headers, body
    )
    told = _Told(provider, notice, sha256(body).digest())
    caller = Caller(kind="system", id=None, organization_id=organization_id)
    # In time; or else whatever is still free; or else the money goes back. Each is a transaction of
    # its own, so that one that fails leaves nothing behind for the next.
    for attempt in (_in_time, _late, _not_at_all):
        try:
            return await _deal_with(checkout, caller, told, attempt)
        except Refusal as refusal:
            if attempt is _not_at_all or isinstance(refusal, _FINAL):
                raise
            log.warning("payment_came_late", payment_id=str(notice.payment_id), reason=refusal.code)
    raise AssertionError("the last attempt answers or raises")


_FINAL = (DeliveryIdReused, PaymentNotFound, Unavailable)

_Attempt = Callable[
    [Checkout, Transaction, View, Caller, Order, Sequence[OrderLine], Payment], Awaitable[str]
]


async def _deal_with(
    checkout: Checkout, caller: Caller, told: _Told, complete: _Attempt
) -> Outcome:
    notice = told.notice
    async with checkout.database.transaction(caller.organization_id) as tx:
        payment = await payments.find_payment(tx, notice.payment_id)
        if payment is None or payment.provider != told.provider:
            raise PaymentNotFound()
        order = await orders.find_order(tx, payment.order_id)
        assert order is not None

    async def work(tx: Transaction, view: View) -> Outcome:
        return await _within(checkout, tx, view, caller, told, order.id, complete)

    return await checkout.in_view(caller.organization_id, order.event_id, work)


async def _within(
    checkout: Checkout,
    tx: Transaction,
    view: View,
    caller: Caller,
    told: _Told,
    order_id: UUID,
    complete: _Attempt,
) -> Outcome:
    order = await orders.lock_order(tx, order_id)
    payment = await payments.find_payment(tx, told.notice.payment_id)
    assert order is not None
    assert payment is not None
    before = await payments.find_delivery(tx, told.provider, told.notice.delivery_id)
    if before is not None:
        if before.body_hash != told.body_hash:
            raise DeliveryIdReused()
        return Outcome(before.outcome)
    notice, meaning = told.notice, meaning_of(order, payment, told.notice)
    if meaning == "complete":
        lines = await orders.list_lines(tx, order_id)
        outcome = await complete(checkout, tx, view, caller, order, lines, payment)
    elif meaning == "give_back":
        outcome = await _give_back(tx, payment, notice.amount_minor, notice.currency)
    elif meaning == "given_back":
        outcome = await _given_back(tx, payment, notice.amount_minor)
    elif meaning == "failed":
        await payments.update_payment(tx, msgspec.structs.replace(payment, status="failed"))
        outcome = "failed"
    else:
        outcome = "nothing"
    if not await payments.insert_delivery(
        tx, told.provider, notice.delivery_id, payment.id, told.body_hash, outcome
    ):
        raise DeliveryIdReused()  # for another order, at this moment
    changes: dict[str, object] = {
        "order_id": order_id,
        "delivery_id": notice.delivery_id,
        "status": notice.status,
        "amount_minor": notice.amount_minor,
        "outcome": outcome,
    }
    await record(tx, caller, "payment_notice", "Payment", payment.id, changes)
    return Outcome(outcome)


async def _in_time(
    checkout: Checkout,
    tx: Transaction,
    view: View,
    caller: Caller,
    order: Order,
    lines: Sequence[OrderLine],
    payment: Payment,
) -> str:
    await payments.update_payment(tx, msgspec.structs.replace(payment, status="succeeded"))
    await checkout.complete(tx, view, caller, order, lines)
    return "paid"


async def _late(
    checkout: Checkout,
    tx: Transaction,
    view: View,
    caller: Caller,
    order: Order,
    lines: Sequence[OrderLine],
    payment: Payment,
) -> str:
    """The holds have ended, the seats may still be free: then they are taken again, and sold."""
    holds = await hold_store.lock_holds(tx, list({line.hold_id for line in lines}))
    await require_same_view(tx, view)
    if view.event.status not in ("published", "live"):
        raise EventNotAvailable(status=view.event.status)
    await _reclaim(tx, view, caller, holds)
    await payments.update_payment(tx, msgspec.structs.replace(payment, status="succeeded"))
    await convert_holds(tx, view, holds, lines)
    if order.status == "expired":  # what it had of the quota was given back
        await ticket_types.take(tx, ticket_types.counts_of_lines(lines))
    await checkout.issue(tx, view, caller, order, lines, holds)
    return "paid_late"


async def _reclaim(tx: Transaction, view: View, caller: Caller, holds: Sequence[SeatHold]) -> None:
    """In the order in which everybody locks: seats by their positions, then zones."""
    until, by_id = tx.now + view.hold_ttl, view.plan.by_id
    seated = [hold for hold in holds if hold.seat_id is not None]
    standing = [hold for hold in holds if hold.seat_id is None]
    seated.sort(key=lambda hold: by_id[hold.seat_id])  # pyright: ignore[reportArgumentType]
    standing.sort(key=lambda hold: hold.zone_id)
    for hold in [*seated, *standing]:
        if hold.status == "active" and hold.held_until > tx.now:
            continue
        if hold.seat_id is not None:
            by = seats.SeatHold(hold.id, hold.user_id, until)
            await seats.hold(tx, caller, view, [by_id[hold.seat_id]], by)
        else:
            await places.release_places(tx, view, [hold.id])
            wanted = [Places(hold.zone_id, hold.places, hold.days or [])]
            await places.hold_places(tx, view, wanted, hold.id, until)


async def _not_at_all(
    checkout: Checkout,
    tx: Transaction,
    view: View,
    caller: Caller,
    order: Order,
    lines: Sequence[OrderLine],
    payment: Payment,
) -> str:
    """Somebody else has the seats by now."""
    if order.status == "pending":
        await ticket_types.give_back(tx, ticket_types.counts_of_lines(lines))
    await orders.update_order(tx, order.id, "refund_due", 0)
    return await _give_back(tx, payment, payment.amount_minor, payment.currency)


async def _give_back(tx: Transaction, payment: Payment, amount_minor: int, currency: str) -> str:
    """All that came, whatever was asked for. The order may still be paid otherwise, if it waits for
    that; nothing more can ever be given back of this."""
    asked = f"{payment.amount_minor} {payment.currency} asked for"
    due = msgspec.structs.replace(
        payment,
        status="refund_due",
        amount_minor=amount_minor,
        currency=currency,
        refund_due_minor=amount_minor,
        note=f"{asked}, {amount_minor} {currency} received, and to be given back",
    )
    await payments.update_payment(tx, due)
    return "refund_due"


async def _given_back(tx: Transaction, payment: Payment, amount_minor: int) -> str:
    given = min(amount_minor, payment.refund_due_minor)
    after = msgspec.structs.replace(
        payment,
        refunded_minor=payment.refunded_minor + given,
        refund_due_minor=payment.refund_due_minor - given,
    )
    is_all = after.refunded_minor == payment.amount_minor
    status = "refunded" if is_all else "partially_refunded"
    await payments.update_payment(tx, msgspec.structs.replace(after, status=status))
    return "refunded"
