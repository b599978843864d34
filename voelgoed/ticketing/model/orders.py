"""Orders, their lines and payments."""

import datetime as dt
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from voelgoed.infra.shapes import Email, Name, Note, Request
from voelgoed.seating.model.seats import Reason
from voelgoed.ticketing.model.ticket_types import Amount
from voelgoed.ticketing.model.tickets import Ticket

OrderStatus = Literal[
    "pending", "paid", "cancelled", "expired", "refund_due", "partially_refunded", "refunded"
]
PaymentStatus = Literal[
    "pending", "succeeded", "failed", "refund_due", "partially_refunded", "refunded"
]
ManualMethod = Literal["cash", "card_terminal", "complimentary"]

LINES_MAX = 100


class Order(msgspec.Struct, frozen=True, kw_only=True):
    id: UUID
    number: str
    """What people say and write."""
    event_id: UUID
    user_id: UUID | None
    """Whose account; null for a sale to somebody without one."""
    sold_by_id: UUID | None
    buyer_name: str
    buyer_email: str | None
    status: OrderStatus
    currency: str
    total_minor: int
    refunded_minor: int
    held_until: datetime
    """Until when a pending order can be paid."""
    note: str
    version: int
    created_at: datetime
    updated_at: datetime


class OrderLine(msgspec.Struct, frozen=True, kw_only=True):
    """One ticket to be."""

    line: int
    hold_id: UUID
    ticket_type_id: UUID
    zone_id: UUID
    seat_id: UUID | None
    seat_label: str | None
    days: list[dt.date]
    holder_name: str
    price_minor: int
    associated_membership_id: UUID | None


class Payment(msgspec.Struct, frozen=True, kw_only=True):
    id: UUID
    order_id: UUID
    provider: str
    method: str
    status: PaymentStatus
    amount_minor: int
    refunded_minor: int
    refund_due_minor: int
    currency: str
    reference: str | None
    """The provider's own."""
    actor_id: UUID | None
    note: str
    created_at: datetime
    updated_at: datetime


class OrderDetails(msgspec.Struct, frozen=True, kw_only=True):
    order: Order
    lines: list[OrderLine]
    payments: list[Payment]
    tickets: list[Ticket]
    page: str
    """Where whoever has this link sees the order and its tickets."""
    redirect_url: str | None = None
    """Where to pay, if that is elsewhere."""


class NewItem(Request):
    """What becomes of one hold. Places can become tickets of several types: name the hold again."""

    hold_id: UUID
    ticket_type_id: UUID
    count: Annotated[int, Meta(ge=1, le=LINES_MAX)] = 1
    holder_name: Annotated[str, Meta(max_length=200, pattern=r"^[^\x00]*$")] = ""


class NewPayment(Request):
    """`manual` is what the box office takes: cash, a card at the terminal, or nothing."""

    provider: Literal["manual", "paylink"] = "manual"
    method: ManualMethod | None = None
    """Of a manual payment."""
    note: Note = ""


class NewOrder(Request):
    items: Annotated[list[NewItem], Meta(min_length=1, max_length=LINES_MAX)]
    buyer_name: Name
    buyer_email: Email | None = None
    payment: NewPayment | None = None
    """Left out, the order waits to be paid; one that costs nothing is paid at once."""
    note: Note = ""


class NewRefund(Request):
    reason: Reason
    ticket_ids: Annotated[list[UUID], Meta(min_length=1, max_length=LINES_MAX)] | None = None
    """Left out, all that can be."""


class Because(Request):
    reason: Reason


class Reissue(Request):
    """A new barcode; with a new holder it is a transfer."""

    reason: Reason
    holder_name: Name | None = None
    holder_email: Email | None = None


class Notice(Request):
    """What a payment provider tells us."""

    delivery_id: Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^[!-~]+$")]
    payment_id: UUID
    status: Literal["succeeded", "failed", "refunded"]
    amount_minor: Amount
    currency: str
    reference: Annotated[str, Meta(max_length=200, pattern=r"^[^\x00]*$")] = ""


class NewPaymentAccount(Request):
    page_url: Annotated[str, Meta(max_length=500, pattern=r"^https?://[^\s\x00]+$(?!\n)")]
    secret: Annotated[str, Meta(min_length=16, max_length=200, pattern=r"^[!-~]+$")]


class PaymentAccount(msgspec.Struct, frozen=True, kw_only=True):
    """How an organisation uses a provider; its secret is never told."""

    provider: str
    page_url: str
    version: int
    created_at: datetime
    updated_at: datetime
