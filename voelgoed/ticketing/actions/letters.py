"""Tickets by e-mail. A letter may arrive twice, when a server dies at the wrong moment; it is never
lost: a job sends it, and tries for two days."""

from datetime import timedelta
from uuid import UUID

import structlog

from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.model import Caller
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.idempotency import IdempotencyKey, once
from voelgoed.infra.jobs import Patience, enqueue
from voelgoed.infra.mail import Mail, MailNotSent, MailRefused
from voelgoed.infra.rate_limit import Limit, take
from voelgoed.ticketing.actions.checkout import own_order
from voelgoed.ticketing.actions.documents import Documents
from voelgoed.ticketing.actions.issuing import LETTER, Letter
from voelgoed.ticketing.actions.order_views import PAGE, order_link
from voelgoed.ticketing.forms.letters import AddressUnusable, order_letter
from voelgoed.ticketing.model.letters import Posting
from voelgoed.ticketing.model.refusals import BuyerAddressMissing, MailIsOff, OrderNotFound
from voelgoed.ticketing.store.orders import find_secret

log = structlog.get_logger()

AGAIN_PER_ORDER = Limit(5, timedelta(hours=1))
PATIENCE = Patience(20, first_pause=timedelta(minutes=1), longest_pause=timedelta(hours=4))
"""Two days. Servers that have not seen us before want to be asked again after some minutes."""
SENT_AT_ONCE_MAX = 8
REASON_CHARACTERS_MAX = 500


class Letters:
    def __init__(
        self, database: Database, documents: Documents, mail: Mail, public_url: str | None
    ) -> None:
        self._database = database
        self._documents = documents
        self._mail = mail
        self._public_url = (public_url or "").rstrip("/")

    async def send(self, letter: Letter) -> None:
        """Not to be asked again if the server will never take it."""
        face = await self._documents.order_face(letter.organization_id, letter.order_id)
        link = await self._link(letter)
        done: dict[str, object] = {"number": face.number, "to": face.buyer_email}
        try:
            message = await self._documents.drawn(order_letter, face, link, self._mail.sender)
            await self._mail.send(message)
        except (MailRefused, AddressUnusable) as fault:
            log.warning("order_letter_refused", order_id=str(letter.order_id))
            reason = str(fault)[:REASON_CHARACTERS_MAX]
            await self._record(letter, "order_letter_refused", {**done, "reason": reason})
        except MailNotSent as fault:
            log.warning("order_letter_not_sent", order_id=str(letter.order_id), reason=str(fault))
            raise
        else:
            await self._record(letter, "order_letter_sent", done)

    async def send_again(
        self, caller: Caller, order_id: UUID, key: IdempotencyKey | None
    ) -> Posting:
        async with self._database.transaction(caller.organization_id) as tx:
            return await once(tx, key, Posting, lambda: self._enqueue(tx, caller, order_id))

    async def _enqueue(self, tx: Transaction, caller: Caller, order_id: UUID) -> Posting:
        order = await own_order(tx, caller, order_id)
        if not self._mail.enabled:
            raise MailIsOff()
        if order.buyer_email is None:
            raise BuyerAddressMissing()
        await take(tx, f"letter:{order_id}", AGAIN_PER_ORDER)
        await enqueue(tx, LETTER, Letter(tx.organization_id, order_id))
        asked: dict[str, object] = {"number": order.number, "to": order.buyer_email}
        await record(tx, caller, "order_letter_asked_for", "Order", order_id, asked)
        return Posting(to=order.buyer_email)

    async def _link(self, letter: Letter) -> str:
        async with self._database.transaction(letter.organization_id) as tx:
            secret = await find_secret(tx, letter.order_id)
        if secret is None:
            raise OrderNotFound()
        path = PAGE + order_link(letter.organization_id, letter.order_id, secret)
        return self._public_url + path

    async def _record(self, letter: Letter, action: str, changes: dict[str, object]) -> None:
        nobody = Caller(kind="system", id=None, organization_id=letter.organization_id)
        async with self._database.transaction(letter.organization_id) as tx:
            await record(tx, nobody, action, "Order", letter.order_id, changes)
