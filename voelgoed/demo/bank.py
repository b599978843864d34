"""A bank for the demo's customers: it takes no money, and tells the shop that it did, signed as
docs/payments.md has it.

It stands in front of the application only where `voelgoed up` has a demo: nowhere else is there an
address at which tickets are had for nothing. What it is shown must be signed with the demo's secret.
"""

import hmac
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from html import escape
from typing import Any, Literal, get_args
from urllib.parse import parse_qsl

import msgspec
from litestar import Litestar, Request, Response, get, post
from litestar.response import Redirect

from voelgoed.demo.file import Demo
from voelgoed.infra.refusal import Forbidden, Refusal
from voelgoed.infra.web import App, Receive, Scope, Send, status_of
from voelgoed.static import is_below
from voelgoed.ticketing.actions.checkout import Checkout
from voelgoed.ticketing.actions.webhooks import take_notice
from voelgoed.ticketing.forms.page import page, problem_page
from voelgoed.ticketing.rules.money import money_text

PLACE = "/demo-bank"
BODY_BYTES_MAX = 1_000
SIGNATURE = b"&signature="
Status = Literal["succeeded", "failed"]
WORDS: dict[Status, str] = {"succeeded": "Pay {amount}", "failed": "Have the card declined"}
HEADERS = {
    "Cache-Control": "no-store",
    # A form's answer leads back to the shop, which may go by another address: no form-action.
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; "
    "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class NotOfTheDemo(Forbidden):
    """This is not what the demo's shop asked for: begin the payment there again."""


class Asked(msgspec.Struct, frozen=True):
    """What a customer is to pay, as the shop wrote it into the address."""

    payment_id: str
    amount_minor: int
    currency: str
    order: str
    return_url: str


class Bank:
    """Its pages, and the shop behind them."""

    def __init__(self, shop: App, checkout: Checkout, demo: Demo) -> None:
        self._shop = shop
        self._checkout = checkout
        self._demo = demo
        self._pages = Litestar(
            route_handlers=[
                get(PLACE, status_code=200)(self._show),
                post(PLACE, request_max_body_size=BODY_BYTES_MAX)(self._pay),
            ],
            exception_handlers={Refusal: _explain},
            response_headers=HEADERS,
            openapi_config=None,
            logging_config=None,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_ours = scope["type"] == "http" and is_below(scope["path"], PLACE)
        app: Any = self._pages if is_ours else self._shop
        await app(scope, receive, send)

    async def _show(self, request: Request[Any, Any, Any]) -> Response[str]:
        asked = self._read(request)
        amount = money_text(asked.amount_minor, asked.currency)
        return _html(200, _payment_page(asked.order, amount))

    async def _pay(self, request: Request[Any, Any, Any]) -> Redirect:
        asked = self._read(request)
        chosen = (await request.form()).get("status")
        status = next((each for each in get_args(Status) if each == chosen), None)
        if status is None or self._demo.organization_id is None:
            raise NotOfTheDemo()
        body = _notice(asked, status)
        headers = self._signed(body, self._checkout.database.clock.now())
        organization_id = self._demo.organization_id
        await take_notice(self._checkout, organization_id, "paylink", headers, body)
        return Redirect(asked.return_url, status_code=303)

    def _read(self, request: Request[Any, Any, Any]) -> Asked:
        signed, _, signature = request.scope["query_string"].rpartition(SIGNATURE)
        if not hmac.compare_digest(self._sign(signed).encode(), signature):
            raise NotOfTheDemo()
        return msgspec.convert(dict(parse_qsl(signed.decode())), Asked, strict=False)

    def _signed(self, body: bytes, now: datetime) -> Mapping[str, str]:
        at = str(int(now.timestamp()))
        return {"x-signature": f"t={at},v1={self._sign(at.encode() + b'.' + body)}"}

    def _sign(self, text: bytes) -> str:
        return hmac.new(self._demo.bank_secret.encode(), text, sha256).hexdigest()


def _notice(asked: Asked, status: Status) -> bytes:
    """The same for who presses twice, so the second is told what became of the first."""
    return msgspec.json.encode(
        {
            "delivery_id": f"{asked.payment_id}-{status}",
            "payment_id": asked.payment_id,
            "status": status,
            "amount_minor": asked.amount_minor,
            "currency": asked.currency,
            "reference": "demo",
        }
    )


def _payment_page(order: str, amount: str) -> str:
    buttons = "".join(
        f'<button name="status" value="{status}">{escape(words.format(amount=amount))}</button>'
        for status, words in WORDS.items()
    )
    return page(
        f"Pay for {order}",
        "<header><p>A bank that is none</p><h1>Pay for your tickets</h1></header>"
        f'<main><section class="card"><h2>Order {escape(order)}: {escape(amount)}</h2>'
        "<p>This belongs to the demo. No card is asked for, and no money is taken; the shop is told"
        " whatever you choose, as a real payment page would tell it.</p>"
        f'<form method="post" class="links">{buttons}</form></section></main>',
    )


def _explain(_: Request[Any, Any, Any], refusal: Refusal) -> Response[str]:
    return _html(status_of(type(refusal)), problem_page(refusal.message))


def _html(status: int, text: str) -> Response[str]:
    return Response(text, status_code=status, media_type="text/html")
