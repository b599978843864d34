from typing import Any
from uuid import UUID

from litestar import Request, post
from litestar.di import NamedDependency as Given
from litestar.params import FromPath, FromQuery, JSONBody

from voelgoed.accounts import access
from voelgoed.accounts.access import Call, once_for
from voelgoed.infra.idempotency import IdempotencyKeyReused
from voelgoed.infra.shapes import Data, Page
from voelgoed.infra.web import (
    ALWAYS_POSSIBLE,
    BodyTooLarge,
    BodyTooSlow,
    IdempotencyKey,
    Limit,
    documented,
    page,
)
from voelgoed.seating.model.refusals import BookingRefused, HoldGone
from voelgoed.ticketing.actions import orders as actions
from voelgoed.ticketing.actions import refunds, tickets
from voelgoed.ticketing.actions.checkout import Checkout, read_order
from voelgoed.ticketing.actions.tickets import TicketWithBarcode
from voelgoed.ticketing.actions.webhooks import DeliveryIdReused, Outcome, take_notice
from voelgoed.ticketing.model.orders import (
    Because,
    NewOrder,
    NewPayment,
    NewPaymentAccount,
    NewRefund,
    Order,
    OrderDetails,
    OrderStatus,
    Payment,
    PaymentAccount,
    Reissue,
)
from voelgoed.ticketing.model.refusals import (
    EventNotAvailable,
    EventSalesClosed,
    EventUnavailable,
    HoldEnded,
    HoldNamedTwice,
    HoldNotFound,
    HoldsOfSeveralEvents,
    NothingToRefund,
    OneCurrencyOnly,
    OrderExpired,
    OrderHasPrice,
    OrderNotFound,
    OrderNotPending,
    PaymentAccountNotFound,
    PaymentMethodMissing,
    PaymentNotAllowed,
    PaymentNotFound,
    TicketNotFound,
    TicketNotValid,
    TicketTypeNotFound,
    TicketTypeNotOnSale,
    TicketTypeNotSoldHere,
    TicketTypeSoldOut,
    TooManyPerType,
    WebhookSignatureWrong,
)

PAYING = (PaymentNotAllowed, PaymentMethodMissing, PaymentAccountNotFound, HoldGone)
NOTICE_BYTES_MAX = 16 * 1024


def _checkout(call: Call) -> Checkout:
    return call.parts.checkout


@access.post(
    "/api/orders",
    "orders.write",
    HoldNotFound,
    HoldEnded,
    HoldNamedTwice,
    HoldsOfSeveralEvents,
    EventNotAvailable,
    EventUnavailable,
    EventSalesClosed,
    TicketTypeNotFound,
    TicketTypeNotOnSale,
    TicketTypeNotSoldHere,
    TicketTypeSoldOut,
    TooManyPerType,
    OneCurrencyOnly,
    BookingRefused,
    IdempotencyKeyReused,
    *PAYING,
)
async def place_order(
    data: JSONBody[NewOrder], call: Given[Call], idempotency_key: IdempotencyKey = None
) -> Data[OrderDetails]:
    """Turn holds into an order, priced by us. With a payment by hand it is paid at once, and the
    tickets are in the answer; with one elsewhere, `redirect_url` says where to pay."""
    once = once_for(call.caller, idempotency_key, "place_order", data)
    return Data(await _checkout(call).place(call.caller, data, once))


@access.get("/api/orders", "orders.read")
async def list_orders(
    call: Given[Call],
    event_id: FromQuery[UUID | None] = None,
    status: FromQuery[OrderStatus | None] = None,
    number: FromQuery[str | None] = None,
    email: FromQuery[str | None] = None,
    after: FromQuery[UUID | None] = None,
    limit: Limit = 50,
) -> Page[Order]:
    """The newest first: one's own, or, for who sells, everybody's."""
    found = await actions.list_orders(
        call.database, call.caller, event_id, status, number, email, after, limit + 1
    )
    return page(found, limit, lambda order: order.id)


@access.get("/api/orders/{order_id:uuid}", "orders.read", OrderNotFound)
async def read_one_order(order_id: FromPath[UUID], call: Given[Call]) -> Data[OrderDetails]:
    return Data(await read_order(call.database, call.caller, order_id))


@access.post(
    "/api/orders/{order_id:uuid}/payments",
    "orders.write",
    OrderNotFound,
    OrderHasPrice,
    OrderNotPending,
    OrderExpired,
    *PAYING,
)
async def pay_order(
    order_id: FromPath[UUID], data: JSONBody[NewPayment], call: Given[Call]
) -> Data[OrderDetails]:
    """Take the money for an order that waits, or begin to elsewhere."""
    return Data(await _checkout(call).pay(call.caller, order_id, data))


@access.post(
    "/api/orders/{order_id:uuid}/cancellation",
    "orders.write",
    OrderNotFound,
    OrderNotPending,
    status=200,
)
async def cancel_order(order_id: FromPath[UUID], call: Given[Call]) -> Data[OrderDetails]:
    """Of an order that waits to be paid; its seats are free again."""
    return Data(await refunds.cancel(_checkout(call), call.caller, order_id))


@access.post("/api/orders/{order_id:uuid}/refunds", "sales.write", OrderNotFound, NothingToRefund)
async def refund_order(
    order_id: FromPath[UUID], data: JSONBody[NewRefund], call: Given[Call]
) -> Data[OrderDetails]:
    """All tickets or some: their seats are free again, and gates hear of it."""
    return Data(await refunds.refund(_checkout(call), call.caller, order_id, data))


@access.post(
    "/api/payments/{payment_id:uuid}/refund-settlement", "sales.write", PaymentNotFound, status=200
)
async def settle_refund(
    payment_id: FromPath[UUID], data: JSONBody[Because], call: Given[Call]
) -> Data[Payment]:
    """What was to be given back elsewhere has been."""
    return Data(await refunds.settle_refund(_checkout(call), call.caller, payment_id, data))


@access.get("/api/tickets/{ticket_id:uuid}", "orders.read", TicketNotFound)
async def read_ticket(ticket_id: FromPath[UUID], call: Given[Call]) -> Data[TicketWithBarcode]:
    return Data(await tickets.read_ticket(call.database, call.master_key, call.caller, ticket_id))


@access.post(
    "/api/tickets/{ticket_id:uuid}/void", "sales.write", TicketNotFound, TicketNotValid, status=200
)
async def void_ticket(
    ticket_id: FromPath[UUID], data: JSONBody[Because], call: Given[Call]
) -> Data[TicketWithBarcode]:
    """It lets nobody in any more, and its seat is free again."""
    voided = await refunds.void_ticket(_checkout(call), call.caller, ticket_id, data)
    return Data(TicketWithBarcode(ticket=voided.ticket, barcode=None))


@access.post(
    "/api/tickets/{ticket_id:uuid}/reissues", "orders.write", TicketNotFound, TicketNotValid
)
async def reissue_ticket(
    ticket_id: FromPath[UUID], data: JSONBody[Reissue], call: Given[Call]
) -> Data[TicketWithBarcode]:
    """A new barcode, and with a new holder a transfer; the old one is worthless from now on."""
    return Data(await tickets.reissue(call.database, call.master_key, call.caller, ticket_id, data))


@access.put(
    "/api/payment-accounts/{provider:str}",
    "payment_accounts.write",
    PaymentAccountNotFound,
    status=200,
)
async def put_payment_account(
    provider: FromPath[str], data: JSONBody[NewPaymentAccount], call: Given[Call]
) -> Data[PaymentAccount]:
    """Where this organisation takes payments, and the secret that signs what is told of them."""
    checkout = _checkout(call)
    return Data(await checkout.providers.put_account(call.database, call.caller, provider, data))


CANNOT_BE_NOTED = (
    BodyTooLarge,
    BodyTooSlow,
    WebhookSignatureWrong,
    PaymentNotFound,
    DeliveryIdReused,
)


@post(
    "/api/payment-notices/{provider:str}/{organization_id:uuid}",
    responses=documented((*ALWAYS_POSSIBLE, *CANNOT_BE_NOTED)),
    security=[{}],
    opt={"public": True},
    status_code=200,
    request_max_body_size=NOTICE_BYTES_MAX,
)
async def take_payment_notice(
    provider: FromPath[str],
    organization_id: FromPath[UUID],
    request: Request[Any, Any, Any],
) -> Data[Outcome]:
    """For payment providers: what became of a payment, signed. Telling it twice is telling it once."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    body = await request.body()
    checkout: Checkout = request.app.state.checkout
    return Data(await take_notice(checkout, organization_id, provider, headers, body))


ROUTES = [
    place_order,
    list_orders,
    read_one_order,
    pay_order,
    cancel_order,
    refund_order,
    settle_refund,
    read_ticket,
    void_ticket,
    reissue_ticket,
    put_payment_account,
    take_payment_notice,
]
