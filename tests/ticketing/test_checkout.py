"""From holds to tickets, through HTTP."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import httpx
import pytest

from tests.seating.api_support import refusal
from tests.support import MovableClock, Tenant
from tests.ticketing.checkout_support import Shop, a_shop, require_sound
from tests.ticketing.hold_support import customers, table
from tests.ticketing.support import a_ticket_type
from voelgoed.services import Services
from voelgoed.ticketing.actions.order_expiry import expire_orders
from voelgoed.ticketing.rules.barcode import read_barcode

CASH = {"provider": "manual", "method": "cash"}


@pytest.fixture
async def shop(services: Services, client: httpx.AsyncClient, tenant: Tenant) -> Shop:
    return await a_shop(services, client, tenant)


async def test_the_box_office_sells_seats_and_places_in_one_go(shop: Shop):
    sale = await shop.sold("A1 A2", pit=1, floor=2)
    assert sale["order"]["status"] == "paid"
    assert sale["order"]["total_minor"] == 2 * 15_000 + 3 * 8_000
    assert sale["order"]["number"].startswith("VG-")
    assert [ticket["seat_label"] for ticket in sale["tickets"]] == ["A1", "A2", None, None, None]
    assert {ticket["status"] for ticket in sale["tickets"]} == {"active"}
    [payment] = sale["payments"]
    assert (payment["method"], payment["status"]) == ("cash", "succeeded")
    assert await shop.event.seats("sold") == "A1 A2"
    await require_sound(shop.services, shop.tenant)
    holds = await table(shop.services, shop.tenant, "SELECT status FROM seat_hold")
    assert {hold["status"] for hold in holds} == {"converted"}


async def test_a_ticket_has_a_code_and_a_signed_barcode(shop: Shop):
    sale = await shop.sold("A1")
    till = await shop.till()
    answer = await till.ask("GET", f"/api/tickets/{sale['tickets'][0]['id']}")
    data = answer.json()["data"]
    barcode = read_barcode(data["barcode"])
    assert barcode is not None
    assert str(barcode.fields.ticket_id) == data["ticket"]["id"]
    assert barcode.fields.seat_label == "A1"
    assert len(data["ticket"]["code"]) == 14


async def test_a_customer_cannot_name_a_price_nor_pay_by_hand(shop: Shop):
    anna = await shop.customer()
    holds = await shop.holds(anna, "A1 A2")
    answer = await shop.order(anna, holds, total_minor=1)
    assert refusal(answer) == (422, "invalid_request")
    answer = await shop.order(anna, holds, payment=CASH)
    assert refusal(answer) == (403, "payment_not_allowed")


async def test_an_order_waits_to_be_paid_and_the_box_office_takes_the_money(shop: Shop):
    anna, till = await shop.customer(), await shop.till()
    order = (await shop.order(anna, await shop.holds(anna, "A1 A2"))).json()["data"]
    assert (order["order"]["status"], order["tickets"]) == ("pending", [])
    path = f"/api/orders/{order['order']['id']}/payments"
    assert refusal(await anna.ask("POST", path, CASH)) == (403, "payment_not_allowed")
    answer = await till.ask("POST", path, {"provider": "manual"})
    assert refusal(answer) == (422, "payment_method_missing")
    answer = await till.ask("POST", path, {**CASH, "note": "till 3"})
    assert answer.status_code == 201, answer.text
    assert answer.json()["data"]["order"]["status"] == "paid"
    assert len(answer.json()["data"]["tickets"]) == 2
    assert refusal(await till.ask("POST", path, CASH)) == (409, "order_not_pending")
    await require_sound(shop.services, shop.tenant)


async def test_what_costs_nothing_is_paid_at_once(shop: Shop):
    free = a_ticket_type(name="Free", prices=[{"amount_minor": 0}])
    made = await shop.event.office.make(f"{shop.event.path}/ticket-types", free)
    anna = await shop.customer()
    [hold] = await shop.holds(anna, "A1")
    items = [{"hold_id": hold["hold_id"], "ticket_type_id": made["id"]}]
    answer = await shop.order(anna, [], items=items)
    assert answer.json()["data"]["order"]["status"] == "paid"


async def test_complimentary_tickets_cost_nothing_and_are_on_record(shop: Shop):
    sale = await shop.sold("A1", method="complimentary")
    assert sale["order"]["total_minor"] == 0
    [entry] = await shop.event.office.audit("payment_taken")
    assert entry["changes"]["method"] == "complimentary"


async def test_what_has_a_price_is_not_given_away_by_saying_that_it_was_paid(shop: Shop):
    anna, till = await shop.customer(), await shop.till()
    order = (await shop.order(anna, await shop.holds(anna, "A1"))).json()["data"]["order"]
    path = f"/api/orders/{order['id']}/payments"
    free = {"provider": "manual", "method": "complimentary"}
    assert refusal(await till.ask("POST", path, free)) == (409, "order_has_price")
    assert (await till.ask("POST", path, CASH)).status_code == 201


async def test_edge_hold_expires_during_checkout(shop: Shop, clock: MovableClock):
    anna, till = await shop.customer(), await shop.till()
    holds = await shop.holds(anna, "A1 A2")
    order = (await shop.order(anna, holds)).json()["data"]
    clock.ahead = timedelta(minutes=5)
    path = f"/api/orders/{order['order']['id']}/payments"
    answer = await till.ask("POST", path, CASH)
    assert refusal(answer) == (409, "order_expired")
    assert "choose your seats again" in answer.json()["message"]
    assert refusal(await shop.order(anna, holds)) == (409, "hold_ended")
    assert await shop.event.seats("sold") == ""
    await require_sound(shop.services, shop.tenant)


async def test_a_second_order_of_the_same_holds_sells_nothing_twice(shop: Shop):
    till = await shop.till()
    holds = await shop.holds(till, "A1 A2")
    answers = await asyncio.gather(*(shop.order(till, holds, payment=CASH) for _ in range(5)))
    codes = sorted(answer.status_code for answer in answers)
    assert codes == [201, 409, 409, 409, 409], [answer.text for answer in answers]
    await require_sound(shop.services, shop.tenant)


async def test_the_same_key_gives_the_same_order(shop: Shop):
    till = await shop.till()
    holds = await shop.holds(till, "A1 A2")
    answers = [await shop.order(till, holds, key="k", payment=CASH) for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    other = await shop.order(till, holds, key="k", payment={**CASH, "note": "another"})
    assert refusal(other) == (409, "idempotency_key_reused")


async def test_somebody_elses_holds_and_orders_do_not_exist(shop: Shop, other_tenant: Tenant):
    anna, ben = await shop.customer(), await shop.customer()
    holds = await shop.holds(anna, "A1 A2")
    assert refusal(await shop.order(ben, holds)) == (404, "hold_not_found")
    order = (await shop.order(anna, holds)).json()["data"]["order"]
    for who in (ben, (await customers(shop.services, shop.client, other_tenant, 1))[0]):
        path = f"/api/orders/{order['id']}"
        assert refusal(await who.ask("GET", path)) == (404, "order_not_found")
        cancelled = await who.ask("POST", f"{path}/cancellation")
        assert refusal(cancelled) == (404, "order_not_found")
        assert (await who.ask("GET", "/api/orders")).json()["data"] == []
    assert len((await anna.ask("GET", "/api/orders")).json()["data"]) == 1


async def test_places_must_become_as_many_tickets_as_were_held(shop: Shop):
    till = await shop.till()
    holds = await shop.holds(till, pit=3)
    [item] = shop.items(holds)
    answer = await shop.order(till, [], items=[{**item, "count": 2}])
    assert refusal(answer) == (422, "hold_named_twice")
    answer = await shop.order(till, [], items=[{**item, "count": 2}, {**item, "count": 1}])
    assert answer.status_code == 201, answer.text


async def test_a_type_is_sold_where_it_has_a_price(shop: Shop):
    till = await shop.till()
    [hold] = await shop.holds(till, "A1")
    items = [{"hold_id": hold["hold_id"], "ticket_type_id": shop.standing}]
    answer = await shop.order(till, [], items=items)
    assert refusal(answer) == (409, "ticket_type_not_sold_here")
    items[0]["ticket_type_id"] = str(uuid4())
    assert refusal(await shop.order(till, [], items=items)) == (404, "ticket_type_not_found")


async def test_quotas_and_limits_per_order_hold(shop: Shop):
    rare = a_ticket_type(name="Rare", quota=2, max_per_order=1)
    made = await shop.event.office.make(f"{shop.event.path}/ticket-types", rare)
    till = await shop.till()

    async def buy(seats: str) -> httpx.Response:
        holds = await shop.holds(till, seats)
        items = [{"hold_id": h["hold_id"], "ticket_type_id": made["id"]} for h in holds]
        return await shop.order(till, [], items=items, payment=CASH)

    assert refusal(await buy("A1 A2")) == (409, "too_many_per_type")
    assert (await buy("A3")).status_code == 201
    assert (await buy("A4")).status_code == 201
    assert refusal(await buy("A5")) == (409, "ticket_type_sold_out")
    await require_sound(shop.services, shop.tenant)


async def test_seats_taken_one_by_one_are_judged_when_they_are_bought(shop: Shop):
    anna = await shop.customer()
    hold = await anna.held(shop.event, "A2")
    answer = await shop.order(anna, [hold])
    assert refusal(answer) == (409, "booking_refused")
    assert answer.json()["details"]["problems"][0]["code"] == "would_orphan_seats"
    both = [hold, await anna.held(shop.event, "A1")]
    assert (await shop.order(anna, both)).status_code == 201


async def test_a_cancelled_order_gives_everything_back(shop: Shop):
    anna = await shop.customer()
    holds = await shop.holds(anna, "A1 A2", pit=2)
    order = (await shop.order(anna, holds)).json()["data"]["order"]
    for _ in range(2):
        answer = await anna.ask("POST", f"/api/orders/{order['id']}/cancellation")
        assert (answer.status_code, answer.json()["data"]["order"]["status"]) == (200, "cancelled")
    assert await shop.event.seats("held") == ""
    assert (await shop.event.zone(holds[-1]["zone_id"]))["held"] == 0
    await require_sound(shop.services, shop.tenant)


@pytest.mark.own_database
async def test_an_order_that_nobody_pays_expires(shop: Shop, clock: MovableClock):
    anna = await shop.customer()
    order = (await shop.order(anna, await shop.holds(anna, "A1 A2"))).json()["data"]
    assert await expire_orders(shop.services.database) == 0
    clock.ahead = timedelta(minutes=5, seconds=11)
    assert await expire_orders(shop.services.database) == 1
    assert await expire_orders(shop.services.database) == 0
    assert (await shop.read(order))["order"]["status"] == "expired"


@pytest.mark.own_database
async def test_an_extended_hold_keeps_its_order_alive(shop: Shop, clock: MovableClock):
    anna, till = await shop.customer(), await shop.till()
    holds = await shop.holds(anna, "A1 A2")
    order = (await shop.order(anna, holds)).json()["data"]
    clock.ahead = timedelta(minutes=4)
    assert (await anna.extend(holds[0]["hold_id"])).status_code == 200
    clock.ahead = timedelta(minutes=5, seconds=30)
    assert await expire_orders(shop.services.database) == 0
    answer = await till.ask("POST", f"/api/orders/{order['order']['id']}/payments", CASH)
    assert answer.status_code == 201, answer.text


# Refunds, voids, new barcodes.


async def test_a_refund_gives_seats_and_money_back_and_tells_the_gates(shop: Shop):
    sale, till = await shop.sold("A1 A2", pit=2), await shop.till()
    path = f"/api/orders/{sale['order']['id']}/refunds"
    one = [sale["tickets"][0]["id"], sale["tickets"][2]["id"]]
    answer = await till.ask("POST", path, {"reason": "ill", "ticket_ids": one})
    assert answer.status_code == 201, answer.text
    part = answer.json()["data"]
    assert part["order"]["status"] == "partially_refunded"
    assert part["order"]["refunded_minor"] == 23_000
    assert [ticket["status"] for ticket in part["tickets"]] == [
        "refunded",
        "active",
        "refunded",
        "active",
    ]
    assert await shop.event.seats("sold") == "A2"
    await require_sound(shop.services, shop.tenant)
    answer = await till.ask("POST", path, {"reason": "all ill"})
    assert answer.json()["data"]["order"]["status"] == "refunded"
    [payment] = answer.json()["data"]["payments"]
    assert (payment["status"], payment["refunded_minor"]) == ("refunded", 46_000)
    assert refusal(await till.ask("POST", path, {"reason": "x"})) == (409, "nothing_to_refund")
    revoked = await table(shop.services, shop.tenant, "SELECT * FROM ticket_revocation")
    assert len(revoked) == 4
    await require_sound(shop.services, shop.tenant)
    assert (await shop.sold("A1 A2"))["order"]["status"] == "paid"


async def test_who_was_let_in_is_not_refunded(shop: Shop):
    sale, till = await shop.sold("A1"), await shop.till()
    async with shop.services.database.transaction(shop.tenant.id) as tx:
        await tx.connection.execute("UPDATE ticket SET status = 'scanned'")
    path = f"/api/orders/{sale['order']['id']}/refunds"
    assert refusal(await till.ask("POST", path, {"reason": "x"})) == (409, "nothing_to_refund")


async def test_a_void_ticket_lets_nobody_in_and_frees_its_seat(shop: Shop):
    sale, till = await shop.sold("A1"), await shop.till()
    path = f"/api/tickets/{sale['tickets'][0]['id']}/void"
    for _ in range(2):
        answer = await till.ask("POST", path, {"reason": "stolen"})
        assert answer.json()["data"]["ticket"]["status"] == "voided"
        assert answer.json()["data"]["barcode"] is None
    assert await shop.event.seats("sold") == ""
    anna = await shop.customer()
    assert refusal(await anna.ask("POST", path, {"reason": "x"})) == (403, "permission_denied")


async def test_a_reissued_ticket_has_another_barcode_and_the_old_one_is_revoked(shop: Shop):
    sale, till = await shop.sold("A1"), await shop.till()
    path = f"/api/tickets/{sale['tickets'][0]['id']}"
    before = (await till.ask("GET", path)).json()["data"]
    answer = await till.ask("POST", f"{path}/reissues", {"reason": "lost", "holder_name": "Ben"})
    assert answer.status_code == 201, answer.text
    after = (await till.ask("GET", path)).json()["data"]
    assert after["barcode"] == answer.json()["data"]["barcode"] != before["barcode"]
    assert (after["ticket"]["issue"], after["ticket"]["holder_name"]) == (2, "Ben")
    [revoked] = await table(shop.services, shop.tenant, "SELECT * FROM ticket_revocation")
    assert (revoked["issue"], revoked["reason"]) == (1, "reissued")
    [entry] = await shop.event.office.audit("ticket_transferred")
    assert entry["changes"]["reason"] == "lost"


async def test_a_rotated_key_leaves_old_barcodes_as_they_are(shop: Shop):
    first, till = await shop.sold("A1"), await shop.till()
    path = f"/api/tickets/{first['tickets'][0]['id']}"
    before = (await till.ask("GET", path)).json()["data"]["barcode"]
    organiser = await shop.till("organiser")
    await organiser.ask("POST", f"{shop.event.path}/keys")
    assert (await till.ask("GET", path)).json()["data"]["barcode"] == before
    second = await shop.sold("B1 B2")
    assert second["tickets"][0]["key_number"] == 2
