"""Orders as those see them who may: with a link that needs no log-in."""

import base64
from collections.abc import Sequence
from uuid import UUID

from voelgoed.ticketing.model.orders import Order, OrderDetails, OrderLine, Payment
from voelgoed.ticketing.model.tickets import Ticket

PAGE = "/orders/"


def details(
    organization_id: UUID,
    order: Order,
    lines: Sequence[OrderLine],
    payments: Sequence[Payment],
    tickets: Sequence[Ticket],
    secret: str,
) -> OrderDetails:
    return OrderDetails(
        order=order,
        lines=list(lines),
        payments=list(payments),
        tickets=list(tickets),
        page=PAGE + order_link(organization_id, order.id, secret),
    )


def order_link(organization_id: UUID, order_id: UUID, secret: str) -> str:
    """It carries the organisation, as a session's token does: there is nobody else to say it."""
    return _text(organization_id.bytes + order_id.bytes) + "." + secret


def read_order_link(link: str) -> tuple[UUID, UUID, str] | None:
    head, _, secret = link.partition(".")
    try:
        both = base64.urlsafe_b64decode(head + "=" * (-len(head) % 4))
    except ValueError:
        return None
    if len(both) != 32 or _text(both) != head or not secret:
        return None
    return UUID(bytes=both[:16]), UUID(bytes=both[16:]), secret


def _text(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()
