"""Tickets by e-mail: from an order through the job queue to a real SMTP server."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from io import BytesIO
from typing import Any
from uuid import uuid4

import httpx
import pytest
from aiosmtpd.smtp import Envelope
from prometheus_client import REGISTRY
from pypdf import PdfReader

from tests.conftest import MASTER_KEY, serving
from tests.infra.test_mail import SENDER, Postbox, a_server
from tests.seating.api_support import refusal
from tests.support import PATIENCE_S, MovableClock, Tenant, a_client, a_tenant, free_port
from tests.ticketing.checkout_support import Shop, a_shop
from tests.ticketing.document_support import refunded, reissued, sale
from tests.ticketing.hold_support import Customer, table
from voelgoed.config import Settings
from voelgoed.infra import jobs
from voelgoed.infra.jobs import Patience
from voelgoed.services import Services, build_services, running
from voelgoed.ticketing import jobs as ticketing_jobs
from voelgoed.ticketing.actions.issuing import LETTER
from voelgoed.ticketing.actions.letters import AGAIN_PER_ORDER

pytestmark = pytest.mark.own_database

PUBLIC_URL = "https://tickets.example/"
ANNA = "anna@example.com"


@dataclass(frozen=True)
class Post:
    """A shop whose server sends letters, and where they arrive."""

    shop: Shop
    postbox: Postbox

    @property
    def services(self) -> Services:
        return self.shop.services

    async def sale(self, seats: str = "A1 A2", **more: Any) -> dict[str, Any]:
        return await sale(self.shop, seats, **{"buyer_email": ANNA, **more})

    async def arrived(self, count: int) -> list[EmailMessage]:
        async with asyncio.timeout(PATIENCE_S):
            while len(self.postbox.envelopes) < count:
                await asyncio.sleep(0.02)
        return [letter_in(envelope) for envelope in self.postbox.envelopes]

    async def recorded(self, action: str, count: int = 1) -> list[dict[str, Any]]:
        async with asyncio.timeout(PATIENCE_S):
            while len(found := await self.shop.event.office.audit(action)) < count:
                await asyncio.sleep(0.02)
        return found

    async def waiting(self) -> list[dict[str, Any]]:
        query = "SELECT entrypoint, status FROM pgqueuer WHERE entrypoint = $1"
        return await table(self.services, self.shop.tenant, query, LETTER)

    async def send_again(
        self, order: dict[str, Any], who: Customer | None = None, key: str | None = None
    ) -> httpx.Response:
        who = who or await self.shop.till()
        headers = {"Idempotency-Key": key} if key else {}
        return await who.ask("POST", f"/api/orders/{order['order']['id']}/letters", **headers)


def letter_in(envelope: Envelope) -> EmailMessage:
    assert isinstance(envelope.content, bytes)
    letter = message_from_bytes(envelope.content, policy=policy.default)
    assert isinstance(letter, EmailMessage)
    return letter


@asynccontextmanager
async def a_post(
    database_url: str, clock: MovableClock, port: int, postbox: Postbox, *, with_jobs: bool
) -> AsyncIterator[Post]:
    settings = Settings(
        database_connections_max=10,
        smtp_url=f"smtp://127.0.0.1:{port}",
        mail_from=SENDER,
        public_url=PUBLIC_URL,
    )
    services = build_services(settings, database_url, clock, MASTER_KEY)
    async with (
        running(services, with_jobs=with_jobs),
        serving(services) as url,
        a_client(url) as client,
    ):
        tenant = await a_tenant(services, "acme")
        yield Post(await a_shop(services, client, tenant), postbox)


@pytest.fixture
async def post(database_url: str, clock: MovableClock) -> AsyncIterator[Post]:
    postbox = Postbox()
    async with (
        a_server(postbox) as port,
        a_post(database_url, clock, port, postbox, with_jobs=True) as post,
    ):
        yield post


async def test_whoever_paid_gets_the_tickets_by_mail(post: Post):
    order = await post.sale(buyer_name="Zoë Botha")
    [letter] = await post.arrived(1)
    assert letter["To"] == f"Zoë Botha <{ANNA}>"
    assert letter["From"] == f"Acme <{SENDER}>"
    assert letter["Subject"] == "Your tickets: Concert"
    body = letter.get_body(("plain",))
    assert body
    text = body.get_content()
    for ticket in order["tickets"]:
        assert ticket["code"] in text
    link = f"https://tickets.example{order['page']}"
    assert link in text.splitlines()
    assert (await post.shop.client.get(order["page"])).status_code == 200
    [attached] = letter.iter_attachments()
    assert isinstance(attached, EmailMessage)
    assert attached.get_filename() == f"tickets-{order['order']['number']}.pdf"
    assert len(PdfReader(BytesIO(attached.get_content())).pages) == 2
    [sent] = await post.recorded("order_letter_sent")
    assert (sent["actor_kind"], sent["entity_id"]) == ("system", order["order"]["id"])
    assert sent["changes"] == {"number": order["order"]["number"], "to": ANNA}
    await nothing_waits(post)


async def happens(what: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not what():
            await asyncio.sleep(0.02)


def failures() -> float:
    labels = {"name": LETTER, "outcome": "failed"}
    return REGISTRY.get_sample_value("voelgoed_jobs_total", labels) or 0.0


async def nothing_waits(post: Post) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while await post.waiting():
            await asyncio.sleep(0.02)


async def test_whoever_gave_no_address_gets_no_letter(post: Post):
    await post.sale(buyer_email=None)
    await post.sale("B1 B2")
    await post.arrived(1)
    await nothing_waits(post)
    assert len(post.postbox.envelopes) == 1


async def test_an_order_that_was_not_paid_is_not_mailed(post: Post):
    anna = await post.shop.customer()
    holds = await post.shop.holds(anna, "A1 A2")
    await post.shop.order(anna, holds, buyer_email=ANNA)
    assert await post.waiting() == []


async def test_without_a_mail_server_nothing_is_queued(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
):
    shop = await a_shop(services, client, tenant)
    order = await sale(shop, "A1", buyer_email=ANNA)
    assert (
        await table(services, tenant, "SELECT * FROM pgqueuer WHERE entrypoint = $1", LETTER) == []
    )
    till = await shop.till()
    answer = await till.ask("POST", f"/api/orders/{order['order']['id']}/letters")
    assert refusal(answer) == (409, "mail_is_off")


def impatient(monkeypatch: pytest.MonkeyPatch, retries: int = 5) -> None:
    pause = timedelta(milliseconds=10)
    monkeypatch.setattr(ticketing_jobs, "PATIENCE", Patience(retries, pause, pause))
    monkeypatch.setattr(jobs, "POLL", timedelta(milliseconds=50))


async def test_a_server_that_is_busy_is_asked_again(
    database_url: str, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
):
    impatient(monkeypatch, retries=1_000)
    postbox = Postbox(rcpt="450 Try again later")
    async with (
        a_server(postbox) as port,
        a_post(database_url, clock, port, postbox, with_jobs=True) as post,
    ):
        await post.sale()
        await happens(lambda: postbox.asked >= 3)
        assert postbox.envelopes == []
        assert len(await post.waiting()) == 1
        del postbox.answers["rcpt"]
        await post.arrived(1)
        await post.recorded("order_letter_sent")
        assert await post.shop.event.office.audit("order_letter_refused") == []


async def test_a_server_that_is_away_for_a_while_gets_the_letter_later(
    database_url: str, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
):
    impatient(monkeypatch, retries=1_000)
    postbox, port = Postbox(), free_port()
    async with a_post(database_url, clock, port, postbox, with_jobs=True) as post:
        before = failures()
        await post.sale()
        await happens(lambda: failures() >= before + 3)
        assert len(await post.waiting()) == 1
        async with a_server(postbox, at=port):
            await post.arrived(1)
            await post.recorded("order_letter_sent")


async def test_what_a_server_will_never_take_is_recorded_and_not_tried_again(
    database_url: str, clock: MovableClock
):
    postbox = Postbox(rcpt="550 Nobody of that name")
    async with (
        a_server(postbox) as port,
        a_post(database_url, clock, port, postbox, with_jobs=True) as post,
    ):
        order = await post.sale()
        [refused] = await post.recorded("order_letter_refused")
        assert refused["entity_id"] == order["order"]["id"]
        assert refused["changes"]["to"] == ANNA
        assert "550 Nobody of that name" in refused["changes"]["reason"]
        await nothing_waits(post)
        assert await post.shop.event.office.audit("order_letter_sent") == []


async def test_an_address_that_is_none_is_recorded_and_not_tried_again(post: Post):
    await post.sale(buyer_email="a..b@example.com")
    [refused] = await post.recorded("order_letter_refused")
    assert "a..b@example.com" in refused["changes"]["reason"]
    await nothing_waits(post)


async def test_a_letter_is_not_lost_with_the_process_that_was_to_send_it(
    database_url: str, clock: MovableClock
):
    postbox = Postbox()
    async with a_server(postbox) as port:
        async with a_post(database_url, clock, port, postbox, with_jobs=False) as post:
            order = await post.sale()
        settings = post.services.settings
        again = build_services(settings, database_url, clock, MASTER_KEY)
        async with running(again, with_jobs=True):
            [letter] = await post.arrived(1)
        assert order["tickets"][0]["code"] in letter.as_string()


async def test_a_crash_after_sending_sends_it_once_more(
    database_url: str, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
):
    """Twice is better than never."""
    impatient(monkeypatch)
    postbox, crashes = Postbox(), [ZeroDivisionError()]
    async with (
        a_server(postbox) as port,
        a_post(database_url, clock, port, postbox, with_jobs=True) as post,
    ):
        letters, record = post.services.letters, post.services.letters._record

        async def recording(*what: Any) -> None:
            if crashes:
                raise crashes.pop()
            await record(*what)

        monkeypatch.setattr(letters, "_record", recording)
        await post.sale()
        first, second = await post.arrived(2)
        assert first["Subject"] == second["Subject"]
        assert len(await post.recorded("order_letter_sent")) == 1


async def test_the_box_office_sends_them_again_with_what_is_good_now(post: Post):
    order = await post.sale()
    await post.arrived(1)
    await reissued(post.shop, order["tickets"][0], holder_name="Ben Cele")
    answer = await post.send_again(order)
    assert answer.status_code == 202, answer.text
    assert answer.json() == {"data": {"to": ANNA}}
    _, letter = await post.arrived(2)
    body = letter.get_body(("plain",))
    assert body
    assert "Ben Cele" in body.get_content()
    [asked] = await post.shop.event.office.audit("order_letter_asked_for")
    assert asked["actor_id"] == str(post.shop.tenant.users["box_office"])
    assert len(await post.recorded("order_letter_sent", 2)) == 2


async def test_an_order_that_was_refunded_is_told_so(post: Post):
    order = await post.sale()
    await post.arrived(1)
    await refunded(post.shop, order)
    await post.send_again(order)
    _, letter = await post.arrived(2)
    assert "refunded" in letter["Subject"]
    assert list(letter.iter_attachments()) == []


async def test_asking_twice_with_one_key_sends_one_letter(post: Post):
    order = await post.sale()
    await post.arrived(1)
    for _ in range(2):
        assert (await post.send_again(order, key="once")).status_code == 202
    await post.arrived(2)
    await nothing_waits(post)
    assert len(post.postbox.envelopes) == 2


async def test_nobody_is_flooded_with_letters(post: Post, clock: MovableClock):
    order, other = await post.sale(), await post.sale("B1 B2")
    for _ in range(AGAIN_PER_ORDER.count):
        assert (await post.send_again(order)).status_code == 202
    answer = await post.send_again(order)
    assert refusal(answer) == (429, "rate_limited")
    assert int(answer.headers["retry-after"]) <= 3600
    assert (await post.send_again(other)).status_code == 202
    clock.ahead += timedelta(hours=1, seconds=1)
    assert (await post.send_again(order)).status_code == 202


async def test_customers_send_their_own_orders_again_and_no_others(post: Post):
    anna, ben = await post.shop.customer(), await post.shop.customer()
    holds = await post.shop.holds(anna, "A1 A2")
    order = (await post.shop.order(anna, holds, buyer_email=ANNA)).json()["data"]
    assert (await post.send_again(order, anna)).status_code == 202
    assert refusal(await post.send_again(order, ben)) == (404, "order_not_found")
    gates = await post.shop.till("gate_supervisor")
    assert refusal(await post.send_again(order, gates)) == (403, "permission_denied")


async def test_another_organisation_sends_nothing(post: Post):
    order, rival = await post.sale(), await a_tenant(post.services, "rival")
    answer = await post.shop.client.post(
        f"/api/orders/{order['order']['id']}/letters", headers=rival.as_("owner")
    )
    assert refusal(answer) == (404, "order_not_found")
    till = await post.shop.till()
    answer = await till.ask("POST", f"/api/orders/{uuid4()}/letters")
    assert refusal(answer) == (404, "order_not_found")


async def test_an_order_without_an_address_cannot_be_sent(post: Post):
    order = await post.sale(buyer_email=None)
    assert refusal(await post.send_again(order)) == (409, "buyer_address_missing")
