"""Paying elsewhere: where to, what we are told, and what comes of it when it comes late."""

import asyncio
import hmac
import json
from datetime import timedelta
from hashlib import sha256
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import httpx
import msgspec
import pytest

from tests.seating.api_support import refusal
from tests.support import MovableClock, Tenant
from tests.ticketing.checkout_support import PAYMENT_PAGE, Shop, a_shop, require_sound
from tests.ticketing.hold_support import table
from voelgoed.services import Services
from voelgoed.ticketing.actions.hold_changes import sweep_all
from voelgoed.ticketing.actions.order_expiry import expire_orders
from voelgoed.ticketing.actions.providers import Account, Paylink
from voelgoed.ticketing.model.orders import OrderDetails


@pytest.fixture
async def shop(services: Services, client: httpx.AsyncClient, tenant: Tenant) -> Shop:
    shop = await a_shop(services, client, tenant)
    await shop.payment_page()
    return shop


async def sweep(shop: Shop) -> None:
    services = shop.services
    await sweep_all(services.database, services.cache, services.holds.registry)
    await expire_orders(services.database)


async def test_the_customer_is_sent_to_the_payment_page_with_what_to_pay(shop: Shop):
    order = await shop.pending(await shop.customer(), "A1 A2")
    assert order["redirect_url"].startswith(PAYMENT_PAGE)
    asked = parse_qs(urlsplit(order["redirect_url"]).query)
    assert asked["amount_minor"] == ["30000"]
    assert asked["payment_id"] == [order["payments"][0]["id"]]
    assert len(asked["signature"][0]) == 64


async def test_whoever_has_an_address_of_their_own_is_come_back_to(shop: Shop):
    order = msgspec.convert(await shop.pending(await shop.customer(), "A1"), OrderDetails)
    account = Account(page_url="https://pay.example/?shop=7", secret=b"sixteen or longer")
    paylink = Paylink("https://tickets.example/")
    asked = urlsplit(await paylink.begin(account, order.payments[0], order)).query
    signed, _, signature = asked.rpartition("&signature=")
    [back] = parse_qs(asked)["return_url"]
    assert back == f"https://tickets.example/box-office/#/orders/{order.order.id}"
    told = signed.removeprefix("shop=7&").encode()
    assert signature == hmac.new(account.secret, told, sha256).hexdigest()


async def test_a_payment_in_time_makes_tickets(shop: Shop):
    order = await shop.pending(await shop.customer(), "A1 A2", pit=1)
    answer = await shop.tell(order)
    assert (answer.status_code, answer.json()["data"]["outcome"]) == (200, "paid")
    paid = await shop.read(order)
    assert (paid["order"]["status"], len(paid["tickets"])) == ("paid", 3)
    await require_sound(shop.services, shop.tenant)


async def test_telling_it_twice_is_telling_it_once(shop: Shop):
    order = await shop.pending(await shop.customer(), "A1 A2")
    for _ in range(3):
        answer = await shop.tell(order, delivery_id="one")
        assert answer.json()["data"]["outcome"] == "paid"
    assert (await shop.tell(order)).json()["data"]["outcome"] == "nothing"
    assert len((await shop.read(order))["tickets"]) == 2
    other = await shop.tell(order, delivery_id="one", amount_minor=1)
    assert refusal(other) == (409, "delivery_id_reused")


@pytest.mark.parametrize("secret", ["", "another secret of mine"])
async def test_what_is_not_signed_is_not_believed(shop: Shop, secret: str):
    order = await shop.pending(await shop.customer(), "A1 A2")
    assert refusal(await shop.tell(order, secret=secret)) == (401, "webhook_signature_wrong")
    body = json.dumps({"nonsense": 1}).encode()
    assert refusal(await shop.tell_raw(body, at=12345)) == (401, "webhook_signature_wrong")
    assert refusal(await shop.tell_raw(body)) == (422, "invalid_request")
    path = f"/api/payment-notices/paylink/{uuid4()}"
    assert refusal(await shop.client.post(path, json={})) == (401, "webhook_signature_wrong")
    assert (await shop.read(order))["order"]["status"] == "pending"


@pytest.mark.own_database
async def test_a_payment_after_expiry_takes_the_seats_again_if_they_are_free(
    shop: Shop, clock: MovableClock
):
    for swept in (False, True):
        seats = "B1 B2" if swept else "A1 A2"
        order = await shop.pending(await shop.customer(), seats, pit=2)
        clock.ahead += timedelta(minutes=6)
        if swept:
            await sweep(shop)
            assert (await shop.read(order))["order"]["status"] == "expired"
        answer = await shop.tell(order)
        assert answer.json()["data"]["outcome"] == "paid_late"
        paid = await shop.read(order)
        assert (paid["order"]["status"], len(paid["tickets"])) == ("paid", 4)
        await require_sound(shop.services, shop.tenant)
    assert await shop.event.seats("sold") == "A1 A2 B1 B2"


async def test_a_payment_after_somebody_else_has_the_seats_is_to_be_given_back(
    shop: Shop, clock: MovableClock
):
    order = await shop.pending(await shop.customer(), "A1 A2", pit=2)
    clock.ahead = timedelta(minutes=6)
    await shop.sold("A1 A2")
    answer = await shop.tell(order, delivery_id="late")
    assert answer.json()["data"]["outcome"] == "refund_due"
    after = await shop.read(order)
    assert (after["order"]["status"], after["tickets"]) == ("refund_due", [])
    [payment] = after["payments"]
    assert (payment["status"], payment["refund_due_minor"]) == ("refund_due", 46_000)
    assert (await shop.tell(order, delivery_id="late")).json()["data"]["outcome"] == "refund_due"
    assert (await shop.event.zone(after["lines"][-1]["zone_id"]))["sold"] == 0
    await require_sound(shop.services, shop.tenant)
    answer = await shop.tell(order, "refunded")
    assert answer.json()["data"]["outcome"] == "refunded"
    [payment] = (await shop.read(order))["payments"]
    assert (payment["status"], payment["refund_due_minor"]) == ("refunded", 0)


@pytest.mark.parametrize("more", [{"amount_minor": 1}, {"currency": "USD"}])
async def test_another_amount_buys_nothing(shop: Shop, more: dict[str, object]):
    order = await shop.pending(await shop.customer(), "A1 A2")
    assert (await shop.tell(order, **more)).json()["data"]["outcome"] == "refund_due"
    await require_sound(shop.services, shop.tenant)


@pytest.mark.parametrize("received", [1, 29_999, 30_001, 90_000])
async def test_of_another_amount_just_what_came_is_given_back_and_the_order_can_still_be_paid(
    shop: Shop, received: int
):
    anna, till = await shop.customer(), await shop.till()
    order = await shop.pending(anna, "A1 A2")
    await shop.tell(order, amount_minor=received)
    [wrong] = (await shop.read(order))["payments"]
    assert (wrong["amount_minor"], wrong["refund_due_minor"]) == (received, received)
    path = f"/api/orders/{order['order']['id']}"
    paid = await till.ask("POST", f"{path}/payments", {"provider": "manual", "method": "cash"})
    assert paid.json()["data"]["order"]["status"] == "paid"
    refunded = (await till.ask("POST", f"{path}/refunds", {"reason": "ill"})).json()["data"]
    assert refunded["order"]["refunded_minor"] == 30_000, "what the tickets cost, and no more"
    by_provider = {payment["provider"]: payment for payment in refunded["payments"]}
    assert by_provider["paylink"]["refund_due_minor"] == received, "is due as before"
    assert by_provider["manual"]["refunded_minor"] == 30_000
    for told in (received * 2, 1):  # more than is due gives nothing more back
        await shop.tell({"payments": [by_provider["paylink"]]}, "refunded", amount_minor=told)
    after = {payment["provider"]: payment for payment in (await shop.read(order))["payments"]}
    assert after["paylink"]["refunded_minor"] == received
    assert after["paylink"]["refund_due_minor"] == 0
    assert after["paylink"]["status"] == "refunded"
    await require_sound(shop.services, shop.tenant)


async def test_one_delivery_at_once_for_two_orders_is_believed_of_one(shop: Shop):
    """A mistake of the provider's: one is told 409, nothing of it stays, and it can be told anew."""
    for number in range(1, 5):
        mine = await shop.pending(await shop.customer(), f"A{number}")
        yours = await shop.pending(await shop.customer(), f"B{number}")
        name = str(uuid4())
        answers = await asyncio.gather(
            *(shop.tell(order, delivery_id=name) for order in (mine, yours))
        )
        assert sorted(answer.status_code for answer in answers) == [200, 409]
        refused = [mine, yours][[answer.status_code for answer in answers].index(409)]
        left = await shop.read(refused)
        assert (left["order"]["status"], left["tickets"]) == ("pending", [])
        assert (await shop.tell(refused)).json()["data"]["outcome"] == "paid"
    await require_sound(shop.services, shop.tenant)


async def test_a_payment_for_a_cancelled_order_is_to_be_given_back(shop: Shop):
    anna, till = await shop.customer(), await shop.till()
    order = await shop.pending(anna, "A1 A2")
    await anna.ask("POST", f"/api/orders/{order['order']['id']}/cancellation")
    assert (await shop.tell(order)).json()["data"]["outcome"] == "refund_due"
    payment_id = order["payments"][0]["id"]
    path = f"/api/payments/{payment_id}/refund-settlement"
    assert (await anna.ask("POST", path, {"reason": "x"})).status_code == 403
    answer = await till.ask("POST", path, {"reason": "bank transfer 12"})
    assert answer.json()["data"]["status"] == "refunded"
    assert (await shop.read(order))["order"]["status"] == "cancelled"


async def test_a_failed_payment_can_be_tried_again(shop: Shop):
    anna = await shop.customer()
    order = await shop.pending(anna, "A1 A2")
    assert (await shop.tell(order, "failed")).json()["data"]["outcome"] == "failed"
    path = f"/api/orders/{order['order']['id']}/payments"
    again = (await anna.ask("POST", path, {"provider": "paylink"})).json()["data"]
    assert again["redirect_url"]
    assert (await shop.tell(again)).json()["data"]["outcome"] == "paid"
    await require_sound(shop.services, shop.tenant)


async def test_two_payments_for_one_order_buy_it_once(shop: Shop):
    anna = await shop.customer()
    order = await shop.pending(anna, "A1 A2")
    path = f"/api/orders/{order['order']['id']}/payments"
    again = (await anna.ask("POST", path, {"provider": "paylink"})).json()["data"]
    assert (await shop.tell(order)).json()["data"]["outcome"] == "paid"
    assert (await shop.tell(again)).json()["data"]["outcome"] == "refund_due"
    after = await shop.read(order)
    assert (after["order"]["status"], len(after["tickets"])) == ("paid", 2)
    await require_sound(shop.services, shop.tenant)


async def test_a_refund_of_what_was_paid_elsewhere_is_due_there(shop: Shop):
    till = await shop.till()
    order = await shop.pending(await shop.customer(), "A1 A2")
    await shop.tell(order)
    path = f"/api/orders/{order['order']['id']}/refunds"
    answer = await till.ask("POST", path, {"reason": "ill"})
    [payment] = answer.json()["data"]["payments"]
    assert (payment["status"], payment["refund_due_minor"]) == ("refund_due", 30_000)


async def test_without_an_account_nobody_is_sent_anywhere(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
):
    shop = await a_shop(services, client, tenant)
    anna = await shop.customer()
    holds = await shop.holds(anna, "A1 A2")
    answer = await shop.order(anna, holds, payment={"provider": "paylink"})
    assert refusal(answer) == (404, "payment_account_not_found")
    assert await table(services, tenant, "SELECT id FROM ticket_order") == []


async def test_the_secret_is_sealed_and_never_told(shop: Shop):
    [row] = await table(shop.services, shop.tenant, "SELECT sealed_secret FROM payment_account")
    assert b"a-secret-of-both-of-us" not in row["sealed_secret"]
    entries = await shop.event.office.audit("payment_account_set")
    assert "a-secret-of-both-of-us" not in str(entries)
