"""Tickets as PDF, SVG and PNG: for whose they are, and for who sells."""

import asyncio
import re
import threading
from datetime import timedelta
from io import BytesIO
from typing import Any
from uuid import uuid4

import httpx
import pytest
from PIL import Image

from tests.seating.api_support import PIT, a_config, a_seated_event, refusal
from tests.support import SOON, Tenant
from tests.ticketing.checkout_support import Shop, a_shop
from tests.ticketing.document_support import (
    CASH,
    EVIL,
    barcode,
    expect_kept_by_nobody,
    pages,
    refunded,
    reissued,
    sale,
    voided,
)
from tests.ticketing.support import THREE_DAYS, made
from voelgoed.accounts.model import Role
from voelgoed.infra.batcher import Overloaded
from voelgoed.services import Services
from voelgoed.ticketing.actions import documents as module
from voelgoed.ticketing.forms.qr import qr_png, qr_svg

FILES = ["qr.svg", "qr.png", "ticket.pdf"]


@pytest.fixture
async def shop(services: Services, client: httpx.AsyncClient, tenant: Tenant) -> Shop:
    return await a_shop(services, client, tenant)


async def ask(shop: Shop, path: str, role: Role = "box_office") -> httpx.Response:
    return await (await shop.till(role)).ask("GET", path)


async def words(shop: Shop, ticket: dict[str, str], size: str = "a4") -> str:
    [page] = pages(await ask(shop, f"/api/tickets/{ticket['id']}/ticket.pdf?size={size}"))
    return page


async def test_the_barcode_is_a_picture_of_any_kind(shop: Shop):
    order = await sale(shop, "A1")
    [ticket] = order["tickets"]
    text = await barcode(shop, ticket)
    answer = await ask(shop, f"/api/tickets/{ticket['id']}/qr.svg")
    assert answer.headers["content-type"] == "image/svg+xml"
    assert answer.content == qr_svg(text, f"QR code of ticket {ticket['code']}")
    answer = await ask(shop, f"/api/tickets/{ticket['id']}/qr.png?pixels=333")
    assert answer.headers["content-type"] == "image/png"
    assert answer.content == qr_png(text, 333)
    assert Image.open(BytesIO(answer.content)).size == (333, 333)


@pytest.mark.parametrize("pixels", ["0", "49", "2001", "-5", "many", "9" * 40])
async def test_a_picture_has_a_size_that_one_can_look_at(shop: Shop, pixels: str):
    [ticket] = (await sale(shop, "A1"))["tickets"]
    answer = await ask(shop, f"/api/tickets/{ticket['id']}/qr.png?pixels={pixels}")
    assert refusal(answer) == (422, "invalid_request")


@pytest.mark.parametrize("size", ["a4", "phone"])
async def test_a_ticket_says_all_that_it_is_good_for(shop: Shop, size: str):
    order = await sale(shop, "A3", holder_name="Zoë Škvorecký")
    [ticket] = order["tickets"]
    text = await words(shop, ticket, size)
    for part in (
        "Acme",
        "Concert",
        "Hall",
        "Saturday 1 June 2030, 18:00",  # in Johannesburg, where it is
        "Zone 1",
        "Row A Seat 3",
        "Standard R 150.00",
        "Zoë Škvorecký",
        order["order"]["number"],
        ticket["code"],
    ):
        assert part in text, part


async def test_all_tickets_of_an_order_are_in_one_file(shop: Shop):
    order = await sale(shop, "A1 A2", pit=2)
    for size in ("a4", "phone"):
        texts = pages(await ask(shop, f"{order_pdf(order)}?size={size}"))
        assert len(texts) == 4
        for text, ticket in zip(texts, order["tickets"], strict=True):
            assert ticket["code"] in text
        assert "Pit" in texts[2]
        assert "no numbered seat" in texts[2]
    assert refusal(await ask(shop, f"{order_pdf(order)}?size=a3")) == (422, "invalid_request")


async def test_an_order_as_large_as_can_be_is_still_one_file(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
):
    event = await a_seated_event(client, tenant, a_config(places={"Pit": 200}))
    standing = await made(event, kind="ga", entitlement="ga_standing")
    shop = Shop(services, event, standing["id"], standing["id"])
    till = await shop.till()
    holds = [hold for _ in range(10) for hold in await shop.holds(till, pit=10)]
    order = (await shop.order(till, holds, payment=CASH)).json()["data"]
    assert len(order["tickets"]) == 100
    headers = tenant.as_("box_office")
    answer = await client.get(order_pdf(order), headers=headers, timeout=60)  # shared machines
    assert len(pages(answer)) == 100


@pytest.mark.parametrize("file", FILES)
async def test_files_are_kept_by_nobody_and_have_names_of_letters(shop: Shop, file: str):
    order = await sale(shop, "A1")
    [ticket] = order["tickets"]
    answer = await ask(shop, f"/api/tickets/{ticket['id']}/{file}")
    expect_kept_by_nobody(answer)
    how, kind = ("attachment" if file.endswith("pdf") else "inline"), file[-3:]
    named = f'{how}; filename="ticket-{ticket["code"]}.{kind}"'
    assert answer.headers["content-disposition"] == named
    answer = await ask(shop, order_pdf(order))
    expect_kept_by_nobody(answer)
    named = f'attachment; filename="tickets-{order["order"]["number"]}.pdf"'
    assert answer.headers["content-disposition"] == named
    assert re.fullmatch(r'attachment; filename="[A-Za-z0-9.-]+"', named)


@pytest.mark.parametrize("end", [voided, None])
async def test_a_ticket_that_lets_nobody_in_has_nothing_to_show(shop: Shop, end: object):
    order = await sale(shop, "A1 A2")
    gone, good = order["tickets"]
    if end is None:
        await refunded(shop, order)
    else:
        await voided(shop, gone)
    for file in FILES:
        answer = await ask(shop, f"/api/tickets/{gone['id']}/{file}")
        assert refusal(answer) == (404, "barcode_not_found"), file
        assert "lets nobody in" in answer.json()["message"]
    answer = await ask(shop, order_pdf(order))
    if end is None:
        assert refusal(answer) == (404, "tickets_not_found")
    else:
        [text] = pages(answer)
        assert good["code"] in text


async def test_an_order_that_waits_to_be_paid_has_no_tickets_yet(shop: Shop):
    anna = await shop.customer()
    order = (await shop.order(anna, await shop.holds(anna, "A1 A2"))).json()["data"]
    answer = await anna.ask("GET", order_pdf(order))
    assert refusal(answer) == (404, "tickets_not_found")


async def test_a_reissued_ticket_shows_its_new_barcode_and_holder(shop: Shop):
    [ticket] = (await sale(shop, "A1"))["tickets"]
    before = await barcode(shop, ticket)
    after = await reissued(shop, ticket, holder_name="Ben Cele")
    assert before != after
    answer = await ask(shop, f"/api/tickets/{ticket['id']}/qr.svg")
    assert answer.content == qr_svg(after, f"QR code of ticket {ticket['code']}")
    text = await words(shop, ticket)
    assert "Ben Cele" in text
    assert "Issue 2; earlier ones are void" in text


def paths_of(order: dict[str, Any]) -> list[str]:
    ticket = f"/api/tickets/{order['tickets'][0]['id']}"
    return [*(f"{ticket}/{file}" for file in FILES), order_pdf(order)]


def order_pdf(order: dict[str, Any]) -> str:
    return f"/api/orders/{order['order']['id']}/tickets.pdf"


async def test_customers_get_their_own_tickets_and_nobody_elses(shop: Shop):
    anna, ben = await shop.customer(), await shop.customer()
    order = (await shop.order(anna, await shop.holds(anna, "A1 A2"))).json()["data"]
    path = f"/api/orders/{order['order']['id']}/payments"
    paid = await (await shop.till()).ask("POST", path, CASH)
    for address in paths_of(paid.json()["data"]):
        assert (await anna.ask("GET", address)).status_code == 200
        answer = await ben.ask("GET", address)
        what = "order" if address.startswith("/api/orders") else "ticket"
        assert refusal(answer) == (404, f"{what}_not_found")


async def test_another_organisation_finds_nothing(shop: Shop, other_tenant: Tenant):
    order = await sale(shop, "A1")
    for address in paths_of(order):
        answer = await shop.client.get(address, headers=other_tenant.as_("owner"))
        assert answer.status_code == 404
        assert answer.json()["error"].endswith("not_found")


async def test_gate_supervisors_and_strangers_get_no_tickets(shop: Shop):
    order = await sale(shop, "A1")
    for address in paths_of(order):
        answer = await ask(shop, address, "gate_supervisor")
        assert refusal(answer) == (403, "permission_denied")
        assert refusal(await shop.client.get(address)) == (401, "unauthorized")


async def test_what_is_not_there_is_not_found(shop: Shop):
    for file in FILES:
        answer = await ask(shop, f"/api/tickets/{uuid4()}/{file}")
        assert refusal(answer) == (404, "ticket_not_found")
    answer = await ask(shop, f"/api/orders/{uuid4()}/tickets.pdf")
    assert refusal(answer) == (404, "order_not_found")


async def test_long_names_and_markup_are_printed_as_they_are(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
):
    long = "Wolfeschlegelsteinhausenbergerdorff " * 5
    event = await a_seated_event(client, tenant, name=long)
    seated = await made(event, name=EVIL)
    shop = Shop(services, event, seated["id"], seated["id"])
    [ticket] = (await sale(shop, "A1", holder_name=long, buyer_name=EVIL))["tickets"]
    for size in ("a4", "phone"):
        text = await words(shop, ticket, size)
        assert "Wolfeschlegelsteinhausenbergerdorff" in text
        assert "<script>alert(1)" in text


async def a_festival(
    services: Services, client: httpx.AsyncClient, tenant: Tenant, **ticket_type: object
) -> Shop:
    event = await a_seated_event(client, tenant, a_config(places={"Pit": 9}), **THREE_DAYS)
    kind = {"kind": "ga", "entitlement": "ga_standing"} | ticket_type
    standing = await made(event, **kind)
    return Shop(services, event, standing["id"], standing["id"])


async def test_a_pass_names_its_days(services: Services, client: httpx.AsyncClient, tenant: Tenant):
    shop = await a_festival(services, client, tenant)
    [ticket] = (await sale(shop, pit=1))["tickets"]
    text = await words(shop, ticket)
    assert "Saturday 1 to Monday 3 June 2030" in text
    assert "Saturday 1 June 2030, 18:00" in text


async def test_a_ticket_of_one_day_begins_on_that_day(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
):
    sunday = (SOON + timedelta(days=1)).date().isoformat()
    shop = await a_festival(services, client, tenant, valid_days=[sunday])
    till = await shop.till()
    wish = {"zone_id": PIT, "count": 1, "days": [sunday]}
    holds = (await till.book(shop.event, places=[wish])).json()["data"]["holds"]
    order = await shop.order(till, holds, payment=CASH)
    [ticket] = order.json()["data"]["tickets"]
    text = await words(shop, ticket)
    assert "Sunday 2 June 2030, 06:00" in text
    assert "Sunday 2 June 2030 only" in text


async def test_a_wheelchair_place_and_its_companion_name_each_other(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
):
    config = a_config(["..wc.."], links={"A3": "A4"})
    event = await a_seated_event(client, tenant, config)
    once = await made(event, entitlement="single_entry")
    shop = Shop(services, event, once["id"], once["id"])
    wheelchair, companion = (await sale(shop, "A3 A4"))["tickets"]
    text = await words(shop, wheelchair)
    assert "Wheelchair place, companion beside in A4" in text
    assert "Lets in once" in text
    assert "Companion seat, wheelchair place beside in A3" in await words(shop, companion)


async def test_a_ticket_of_a_cancelled_event_says_so(shop: Shop):
    [ticket] = (await sale(shop, "A1"))["tickets"]
    await shop.event.office.make(f"{shop.event.path}/transitions", {"to": "cancelled"})
    assert "This event was cancelled" in await words(shop, ticket)


async def test_other_currencies_have_their_own_decimals(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
):
    event = await a_seated_event(client, tenant)
    yen = await made(event, currency="JPY", prices=[{"amount_minor": 12_500}])
    shop = Shop(services, event, yen["id"], yen["id"])
    [ticket] = (await sale(shop, "A1"))["tickets"]
    assert "JPY 12,500" in await words(shop, ticket)


async def test_a_renamed_event_is_on_the_next_copy(shop: Shop):
    [ticket] = (await sale(shop, "A1"))["tickets"]
    assert "Concert" in await words(shop, ticket)
    version = (await ask(shop, shop.event.path)).json()["data"]["version"]
    body = {"version": version, "name": "Recital"}
    assert (await shop.event.office.ask("PATCH", shop.event.path, body)).status_code == 200
    assert "Recital" in await words(shop, ticket)


async def test_who_comes_when_too_many_wait_is_asked_to_come_again(
    services: Services, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "ASKED_AT_ONCE_MAX", 6)
    gate = threading.Event()
    waiting = [asyncio.create_task(services.documents.drawn(gate.wait)) for _ in range(6)]
    await asyncio.sleep(0)
    with pytest.raises(Overloaded):
        await services.documents.drawn(gate.wait)
    gate.set()
    assert await asyncio.gather(*waiting) == [True] * 6
    assert await services.documents.drawn(gate.wait)
