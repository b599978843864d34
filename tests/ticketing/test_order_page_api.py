"""The page of an order through HTTP: for whoever has the link, and for nobody who guesses."""

import asyncio
import re
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from structlog.testing import capture_logs

from tests.seating.api_support import a_config, a_seated_event
from tests.support import MovableClock, Tenant
from tests.ticketing.checkout_support import Shop, a_shop
from tests.ticketing.document_support import (
    EVIL,
    barcode,
    expect_kept_by_nobody,
    pages,
    refunded,
    sale,
    voided,
)
from tests.ticketing.hold_support import table
from tests.ticketing.support import made
from tests.ticketing.test_order_page import Page, expect_harmless
from voelgoed.services import Services
from voelgoed.ticketing.actions.order_links import WRONG_LINKS_PER_IP
from voelgoed.ticketing.actions.order_views import order_link, read_order_link
from voelgoed.ticketing.forms.page import STYLE_FILE, STYLE_URL
from voelgoed.ticketing.forms.qr import qr_svg

LOST = "There is no order at this address"


@pytest.fixture
async def shop(services: Services, client: httpx.AsyncClient, tenant: Tenant) -> Shop:
    return await a_shop(services, client, tenant)


async def test_whoever_has_the_link_sees_the_order_without_logging_in(shop: Shop):
    order = await sale(shop, "A1 A2", holder_name="Zoë")
    answer = await shop.client.get(order["page"])
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    page = Page(answer.text)
    for part in (
        f"Order {order['order']['number']}",
        "Acme",
        "Concert",
        "Saturday 1 June 2030, 18:00",
        "Hall",
        "Anna Botha",
        "R 300.00",
        "2 tickets",
        "Zoë",
    ):
        assert part in page.text, part
    for ticket in order["tickets"]:
        picture = qr_svg(await barcode(shop, ticket), f"QR code of ticket {ticket['code']}")
        assert picture.decode() in answer.text


async def test_every_link_of_the_page_leads_to_a_file(shop: Shop):
    order = await sale(shop, "A1 A2")
    links = Page((await shop.client.get(order["page"])).text).values("a", "href")
    assert len(links) == 2 + 3 * 2
    for link in links:
        assert link
        assert link.startswith(f"{order['page']}/tickets")
        answer = await shop.client.get(link)
        expect_kept_by_nobody(answer)
        if ".pdf" in link:
            of_one = "/tickets/" in link
            assert len(pages(answer)) == (1 if of_one else 2)
            name = answer.headers["content-disposition"]
            assert re.fullmatch(r'attachment; filename="tickets?-[A-Z0-9-]+\.pdf"', name)
        else:
            assert answer.headers["content-type"] == "image/svg+xml"
            assert answer.content.startswith(b"<svg")


async def test_the_page_is_kept_by_nobody_framed_by_nobody_and_runs_nothing(shop: Shop):
    order = await sale(shop, "A1")
    for address in (order["page"], "/orders/nothing"):
        answer = await shop.client.get(address)
        expect_kept_by_nobody(answer)
        policy = answer.headers["content-security-policy"]
        assert "style-src 'self'" in policy
        assert "form-action 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["referrer-policy"] == "same-origin"
        page = Page(answer.text)
        assert ("meta", "content", "noindex") in page.attributes
        assert ("meta", "content", "no-referrer") in page.attributes
        assert "script" not in page.tags


async def test_its_style_is_served_beside_it(client: httpx.AsyncClient):
    answer = await client.get(STYLE_URL)
    assert answer.headers["content-type"].startswith("text/css")
    assert answer.text == STYLE_FILE.read_text()
    assert answer.headers["cache-control"] == "max-age=3600, public"


async def test_names_on_the_page_stay_names(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
):
    config = a_config()
    config["zones"][0]["name"] = EVIL
    event = await a_seated_event(client, tenant, config, name=EVIL)
    seated = await made(event, name=EVIL)
    shop = Shop(services, event, seated["id"], seated["id"])
    long = "Wolfeschlegelsteinhausenbergerdorff" * 5
    order = await sale(shop, "A1", buyer_name=EVIL, holder_name=long)
    page = Page((await client.get(order["page"])).text)
    expect_harmless(page)
    assert page.text.count(EVIL) >= 4
    assert long in page.text
    assert len(pages(await client.get(f"{order['page']}/tickets.pdf"))) == 1


async def test_a_void_ticket_is_struck_out_and_cannot_be_had(shop: Shop):
    order = await sale(shop, "A1 A2")
    gone, good = order["tickets"]
    await voided(shop, gone)
    html = (await shop.client.get(order["page"])).text
    assert Page(html).tags.count("svg") == 1
    assert re.search(rf"<del>.*{gone['code']}.*</del>", html)
    for kind in ("svg", "pdf"):
        answer = await shop.client.get(f"{order['page']}/tickets/{gone['id']}.{kind}")
        assert answer.status_code == 404
        assert "lets nobody in" in Page(answer.text).text
    [text] = pages(await shop.client.get(f"{order['page']}/tickets.pdf"))
    assert good["code"] in text


async def test_a_refunded_order_says_so_and_has_no_file(shop: Shop):
    order = await sale(shop, "A1 A2")
    await refunded(shop, order)
    page = Page((await shop.client.get(order["page"])).text)
    assert "Refunded" in page.text
    assert "R 300.00" in page.text
    assert page.values("a", "href") == []
    answer = await shop.client.get(f"{order['page']}/tickets.pdf")
    assert answer.status_code == 404
    assert "no tickets that are good" in Page(answer.text).text


async def test_an_order_that_waits_says_so(shop: Shop):
    anna = await shop.customer()
    order = (await shop.order(anna, await shop.holds(anna, "A1 A2"))).json()["data"]
    page = Page((await shop.client.get(order["page"])).text)
    assert "Not paid yet" in page.text
    assert page.values("a", "href") == []


def links_near(order: dict[str, Any], other: dict[str, Any], stranger: UUID) -> dict[str, str]:
    """Links that are almost right, by what is wrong with them."""
    link = order["page"].removeprefix("/orders/")
    named, elsewhere = read_order_link(link), read_order_link(other["page"][len("/orders/") :])
    assert named
    assert elsewhere
    organization_id, order_id, secret = named
    return {
        "another secret": order_link(organization_id, order_id, "x" * len(secret)),
        "the secret of another order": order_link(organization_id, order_id, elsewhere[2]),
        "a part of the secret": link[:-1],
        "more than the secret": link + "A",
        "the secret in capitals": order_link(organization_id, order_id, secret.swapcase()),
        "no secret": link.partition(".")[0],
        "an empty secret": link.partition(".")[0] + ".",
        "an unknown order": order_link(organization_id, uuid4(), secret),
        "another organisation": order_link(stranger, order_id, secret),
        "an unknown organisation": order_link(uuid4(), order_id, secret),
        "letters outside of ASCII": link[:-1] + "é",
        "not base64": f"{'!' * 43}.{secret}",
        "padding": link.replace(".", "=."),
        "nothing": "x",
        "an id": str(order_id),
        "much": "A" * 1_900,
        "all but the beginning": "",
    }


async def test_a_link_that_is_almost_right_leads_nowhere(shop: Shop, other_tenant: Tenant):
    order, other = await sale(shop, "A1"), await sale(shop, "B1")
    ticket = order["tickets"][0]["id"]
    files = ("", "/tickets.pdf", f"/tickets/{ticket}.svg", f"/tickets/{ticket}.pdf")
    for what, link in links_near(order, other, other_tenant.id).items():
        for rest in files if link else files[:1]:
            answer = await shop.client.get(f"/orders/{link}{rest}")
            assert answer.status_code == 404, what
            assert LOST in Page(answer.text).text, what
            await forget_guesses(shop)
    assert (await shop.client.get(order["page"])).status_code == 200


async def forget_guesses(shop: Shop) -> None:
    async with shop.services.database.transaction(shop.tenant.id) as tx:
        await tx.connection.execute("DELETE FROM rate_limit WHERE key LIKE 'order-link-from:%'")


async def test_a_ticket_of_another_order_is_not_shown_with_this_link(shop: Shop):
    order, other = await sale(shop, "A1"), await sale(shop, "B1")
    for name in (
        f"{other['tickets'][0]['id']}.svg",
        f"{other['tickets'][0]['id']}.pdf",
        f"{uuid4()}.svg",
        f"{order['tickets'][0]['id']}.exe",
        order["tickets"][0]["id"],
        "x.svg",
    ):
        answer = await shop.client.get(f"{order['page']}/tickets/{name}")
        assert answer.status_code == 404, name
        assert "There is no such ticket." in Page(answer.text).text


async def test_who_guesses_must_wait_and_then_may_look_again(shop: Shop, clock: MovableClock):
    order = await sale(shop, "A1")
    wrong = order["page"][:-4] + "AAAA"
    for _ in range(WRONG_LINKS_PER_IP.count):
        assert (await shop.client.get(wrong)).status_code == 404
    answer = await shop.client.get(wrong)
    assert answer.status_code == 429
    assert "Too many attempts" in Page(answer.text).text
    assert 1 <= int(answer.headers["retry-after"]) <= 60
    answer = await shop.client.get(order["page"])
    assert answer.status_code == 429, "or the right one could be guessed on"
    clock.ahead += timedelta(seconds=61)
    assert (await shop.client.get(order["page"])).status_code == 200


async def test_looking_at_ones_own_page_is_no_guess(shop: Shop):
    order = await sale(shop, "A1")
    for _ in range(WRONG_LINKS_PER_IP.count + 5):
        assert (await shop.client.get(order["page"])).status_code == 200
    query = "SELECT * FROM rate_limit WHERE key LIKE 'order-link-from:%'"
    assert await table(shop.services, shop.tenant, query) == []


async def test_guesses_at_once_are_counted_too(shop: Shop):
    order = await sale(shop, "A1")
    wrong = order["page"][:-4] + "AAAA"
    count = 3 * WRONG_LINKS_PER_IP.count
    answers = await asyncio.gather(*(shop.client.get(wrong) for _ in range(count)))
    found = [answer.status_code for answer in answers]
    assert set(found) == {404, 429}
    assert found.count(404) <= WRONG_LINKS_PER_IP.count


async def test_guesses_at_organisations_that_do_not_exist_leave_nothing_behind(shop: Shop):
    nobody = uuid4()
    for _ in range(3):
        answer = await shop.client.get("/orders/" + order_link(nobody, uuid4(), "guess"))
        assert answer.status_code == 404
    async with shop.services.database.transaction(nobody) as tx:
        assert await tx.connection.fetch("SELECT * FROM rate_limit") == []


async def test_when_something_breaks_the_log_does_not_tell_the_link(shop: Shop):
    order = await sale(shop, "A1")
    async with shop.services.database.transaction(shop.tenant.id) as tx:
        await tx.connection.execute("UPDATE ticket SET barcode_hash = $1", b"another")
    with capture_logs() as lines:
        answer = await shop.client.get(order["page"])
    assert answer.status_code == 500
    [line] = [line for line in lines if line["event"] == "request_failed"]
    assert line["path"] == "/orders"
    assert order["page"].rpartition(".")[2] not in str(lines) + answer.text
