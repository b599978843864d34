"""What a provider's word means for an order. Money and seats never disagree: what was paid is either
sold, or marked to be given back."""

from typing import Literal

from voelgoed.ticketing.model.orders import Notice, Order, Payment

Meaning = Literal["complete", "give_back", "failed", "given_back", "nothing"]


def meaning_of(order: Order, payment: Payment, notice: Notice) -> Meaning:
    if notice.status == "refunded":
        return "given_back" if payment.refund_due_minor > 0 else "nothing"
    if payment.status not in ("pending", "failed"):
        return "nothing"  # told twice, under two names
    if notice.status == "failed":
        return "failed" if payment.status == "pending" else "nothing"
    is_right = (notice.amount_minor, notice.currency) == (payment.amount_minor, payment.currency)
    # Another amount than asked for buys nothing; what was cancelled is not wanted any more; and an
    # order that somebody else paid need not be paid twice.
    if is_right and order.status in ("pending", "expired"):
        return "complete"
    return "give_back"
