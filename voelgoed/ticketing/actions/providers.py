"""Who takes the money. docs/payments.md shows how another one is added.

A provider never decides anything: it says where to pay, and turns what it is told into a `Notice`
if that was signed as agreed. What a notice means for an order is decided by us, in one place.
"""

import hmac
from collections.abc import Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Protocol
from urllib.parse import urlencode
from uuid import UUID

import msgspec

from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.model import Caller
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.master_key import MasterKey
from voelgoed.infra.refusal import InvalidRequest
from voelgoed.ticketing.model.orders import (
    NewPaymentAccount,
    Notice,
    OrderDetails,
    Payment,
    PaymentAccount,
)
from voelgoed.ticketing.model.refusals import PaymentAccountNotFound, WebhookSignatureWrong
from voelgoed.ticketing.store import payments as store

PURPOSE = "payment-account"
NOTICE_AGE_MAX = timedelta(minutes=5)
"""Of a signature; what is delivered later is signed anew."""


class Account(msgspec.Struct, frozen=True):
    """Of an organisation at a provider, with its secret opened."""

    page_url: str
    secret: bytes


class Provider(Protocol):
    """Where customers pay elsewhere."""

    async def begin(self, account: Account, payment: Payment, order: OrderDetails) -> str:
        """Where to send the customer. Outside of any transaction: it may ask the network."""
        ...

    def read(
        self, account: Account, headers: Mapping[str, str], body: bytes, now: datetime
    ) -> Notice:
        """What was told, or WebhookSignatureWrong."""
        ...


class Paylink:
    """A payment page that takes its order in the address and tells us by a signed webhook.

    The address has `payment_id`, `amount_minor`, `currency`, `order`, `return_url` where ours is
    known, and `signature`, the HMAC-SHA256 of the others as sent. A notice is JSON with the header
    `X-Signature: t=<unix seconds>,v1=<hex>`, the HMAC-SHA256 of `<seconds>.<body>`.
    """

    def __init__(self, public_url: str | None) -> None:
        self._public_url = public_url and public_url.rstrip("/")

    async def begin(self, account: Account, payment: Payment, order: OrderDetails) -> str:
        asked = {
            "payment_id": str(payment.id),
            "amount_minor": str(payment.amount_minor),
            "currency": payment.currency,
            "order": order.order.number,
        }
        if self._public_url:
            asked["return_url"] = f"{self._public_url}/box-office/#/orders/{order.order.id}"
        query = urlencode(asked)
        signature = hmac.new(account.secret, query.encode(), sha256).hexdigest()
        joint = "&" if "?" in account.page_url else "?"
        return f"{account.page_url}{joint}{query}&signature={signature}"

    def read(
        self, account: Account, headers: Mapping[str, str], body: bytes, now: datetime
    ) -> Notice:
        parts: dict[str, str] = {}
        for part in headers.get("x-signature", "").split(","):
            name, _, value = part.strip().partition("=")
            parts[name] = value
        at, given = parts.get("t", ""), parts.get("v1", "")
        right = hmac.new(account.secret, at.encode() + b"." + body, sha256).hexdigest()
        is_right = hmac.compare_digest(right.encode(), given.lower().encode())
        if not (at.isascii() and at.isdecimal() and is_right):
            raise WebhookSignatureWrong()
        if abs(now.timestamp() - int(at[:12])) > NOTICE_AGE_MAX.total_seconds():
            raise WebhookSignatureWrong("This signature is too old, or of a clock that is wrong.")
        try:
            return msgspec.json.decode(body, type=Notice)
        except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
            raise InvalidRequest(faults=[{"path": "$", "message": str(fault)}]) from None


class Providers:
    def __init__(self, master_key: MasterKey, public_url: str | None = None) -> None:
        self._master_key = master_key
        self._known: dict[str, Provider] = {"paylink": Paylink(public_url)}

    async def require(self, tx: Transaction, name: str) -> None:
        await self._account(tx, name)

    async def begun(self, database: Database, caller: Caller, order: OrderDetails) -> OrderDetails:
        """With where to pay, if a payment elsewhere was just begun."""
        payment = order.payments[-1] if order.payments else None
        if payment is None or payment.status != "pending" or payment.provider == "manual":
            return order
        async with database.transaction(caller.organization_id) as tx:
            account = await self._account(tx, payment.provider)
        url = await self._known[payment.provider].begin(account, payment, order)
        return msgspec.structs.replace(order, redirect_url=url)

    async def read(
        self,
        database: Database,
        organization_id: UUID,
        name: str,
        headers: Mapping[str, str],
        body: bytes,
    ) -> Notice:
        async with database.transaction(organization_id) as tx:
            try:
                account = await self._account(tx, name)
            except PaymentAccountNotFound:
                raise WebhookSignatureWrong() from None
        return self._known[name].read(account, headers, body, database.clock.now())

    async def put_account(
        self, database: Database, caller: Caller, name: str, new: NewPaymentAccount
    ) -> PaymentAccount:
        if name not in self._known:
            raise PaymentAccountNotFound()
        context = caller.organization_id.bytes + name.encode()
        sealed = self._master_key.seal(PURPOSE, new.secret.encode(), context)
        async with database.transaction(caller.organization_id) as tx:
            account = await store.put_account(tx, name, new.page_url, sealed)
            changes: dict[str, object] = {"page_url": new.page_url}
            await record(tx, caller, "payment_account_set", "PaymentAccount", name, changes)
        return account.opened()

    async def _account(self, tx: Transaction, name: str) -> Account:
        found = await store.find_account(tx, name) if name in self._known else None
        if found is None:
            raise PaymentAccountNotFound()
        context = tx.organization_id.bytes + name.encode()
        secret = self._master_key.open(PURPOSE, found.sealed_secret, context)
        return Account(found.page_url, secret)
