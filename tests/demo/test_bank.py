"""The demo's customers pay at a bank that takes no money; nobody else's do."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.conftest import MASTER_KEY, serving
from tests.demo.support import look
from tests.support import Tenant, a_client
from tests.ticketing.checkout_support import SECRET, Shop, a_shop, require_sound
from voelgoed.config import Settings
from voelgoed.demo.bank import PLACE, Bank
from voelgoed.demo.file import new_demo
from voelgoed.demo.seed import ensure_demo
from voelgoed.http import create_app
from voelgoed.infra.data_directory import DataDirectory
from voelgoed.infra.embedded import EmbeddedPostgres
from voelgoed.services import Services, build_services, running

pytestmark = pytest.mark.own_database

SHOP_URL = "http://shop.example"


@pytest.fixture
async def services(database_url: str) -> AsyncIterator[Services]:
    """Of a shop that knows its own address, as whoever runs `up` does."""
    settings = Settings(database_connections_max=10, public_url=SHOP_URL)
    services = build_services(settings, database_url, master_key=MASTER_KEY)
    async with running(services, with_jobs=False):
        yield services


@pytest.fixture
async def client(services: Services, tenant: Tenant) -> AsyncIterator[httpx.AsyncClient]:
    demo = new_demo(SHOP_URL, services.clock.now())
    demo.organization_id, demo.bank_secret = tenant.id, SECRET
    bank = Bank(create_app(services), services.checkout, demo)
    async with serving(services, app=bank) as url, a_client(url) as client:
        yield client


@pytest.fixture
async def shop(services: Services, client: httpx.AsyncClient, tenant: Tenant) -> Shop:
    shop = await a_shop(services, client, tenant)
    await shop.payment_page()
    return shop


async def ordered(shop: Shop) -> tuple[dict[str, Any], str]:
    """Two seats, and where they are paid."""
    placed = await shop.pending(await shop.customer(), "A1 A2")
    return placed["order"], f"{PLACE}?{urlsplit(placed['redirect_url']).query}"


async def choose(shop: Shop, address: str, status: str = "succeeded") -> httpx.Response:
    return await shop.client.post(address, data={"status": status})


async def status_of(shop: Shop, order: dict[str, Any]) -> tuple[str, int]:
    answer = await shop.client.get(f"/api/orders/{order['id']}", headers=shop.tenant.as_("owner"))
    found = answer.json()["data"]
    return found["order"]["status"], len(found["tickets"])


async def test_a_customer_sees_what_to_pay_pays_and_is_led_back_to_the_tickets(shop: Shop):
    order, address = await ordered(shop)
    page = await shop.client.get(address)
    assert page.status_code == 200
    assert "R 300.00" in page.text
    assert order["number"] in page.text
    assert "no money is taken" in page.text
    assert "script-src" not in page.headers["content-security-policy"]
    back = await choose(shop, address)
    assert back.status_code == 303
    assert back.headers["location"] == f"{SHOP_URL}/box-office/#/orders/{order['id']}"
    assert await status_of(shop, order) == ("paid", 2)
    await require_sound(shop.services, shop.tenant)


async def test_who_presses_twice_has_paid_once(shop: Shop):
    order, address = await ordered(shop)
    assert {(await choose(shop, address)).status_code for _ in range(3)} == {303}
    assert await status_of(shop, order) == ("paid", 2)
    await require_sound(shop.services, shop.tenant)


async def test_a_card_that_is_declined_leaves_the_order_to_be_paid(shop: Shop):
    order, address = await ordered(shop)
    assert (await choose(shop, address, "failed")).status_code == 303
    assert await status_of(shop, order) == ("pending", 0)


async def test_only_what_the_shop_signed_is_paid(shop: Shop):
    order, address = await ordered(shop)
    signed, _, signature = address.rpartition("&signature=")
    for wrong in (
        PLACE,
        f"{PLACE}?signature=",
        signed,
        f"{signed}&signature=",
        f"{signed}&signature={signature[:-1]}é",
        address.replace("amount_minor=30000", "amount_minor=1"),
        f"{signed}&amount_minor=1&signature={signature}",
        address.replace("shop.example", "evil.example"),
    ):
        assert (await shop.client.get(wrong)).status_code == 403, wrong
        answer = await choose(shop, wrong)
        assert answer.status_code == 403, wrong
        assert "begin the payment there again" in answer.text
    assert await status_of(shop, order) == ("pending", 0)


async def test_what_is_not_to_be_chosen_changes_nothing(shop: Shop):
    order, address = await ordered(shop)
    for status in ("", "refunded", "SUCCEEDED", "x" * 900):
        assert (await choose(shop, address, status)).status_code == 403
    assert (await choose(shop, address, "x" * 2_000)).status_code == 413
    assert await status_of(shop, order) == ("pending", 0)


async def test_the_shop_behind_it_is_as_it_was(shop: Shop):
    assert (await shop.client.get("/health/ready")).status_code == 200
    assert (await shop.client.get(f"{PLACE}s")).status_code == 404
    assert (await shop.client.get(f"/api{PLACE}")).status_code == 404


async def test_without_a_demo_there_is_no_bank(services: Services):
    async with serving(services) as url, a_client(url) as client:
        assert (await client.get(PLACE)).status_code == 404
        assert (await client.post(PLACE, data={"status": "succeeded"})).status_code in (404, 415)


async def test_the_demo_tells_its_shop_where_the_bank_is_whenever_that_changes(
    postgres: EmbeddedPostgres, database_name: str, database_url: str, tmp_path: Path
):
    settings = Settings(database_connections_max=10)
    claimed = DataDirectory.claim(tmp_path)
    versions = iter((1, 1, 2))
    for url in (SHOP_URL, SHOP_URL, "http://moved.example"):
        demo = await ensure_demo(settings, database_url, MASTER_KEY, claimed, url, lambda _: None)
        assert demo is not None
        assert demo.bank_url == f"{url}{PLACE}"
        [(told, version)] = await look(
            postgres, database_name, "SELECT page_url, version FROM payment_account"
        )
        assert (told, version) == (demo.bank_url, next(versions))
    claimed.release()
