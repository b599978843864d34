"""Everything sold and held at an event, as tables and as JSON."""

import csv
import json
from datetime import timedelta
from io import StringIO
from typing import Any

import httpx
import pytest

from tests.seating.api_support import refusal
from tests.support import MovableClock, Tenant
from tests.ticketing.checkout_support import Shop, a_shop
from tests.ticketing.import_support import Desk, a_desk, codes, seated, standing
from tests.ticketing.support import DAYS
from voelgoed.services import Services
from voelgoed.ticketing.actions import exports

TICKET = [
    *("id", "code", "status", "type", "zone", "seat", "name", "email", "days", "price_minor"),
    *("currency", "order_number", "reference", "issue", "scan_count", "scanned_at"),
    *("last_scanned_at", "created_at", "updated_at"),
]


@pytest.fixture
async def desk(services: Services, client: httpx.AsyncClient, tenant: Tenant) -> Desk:
    return await a_desk(services, client, tenant)


@pytest.fixture
async def shop(services: Services, client: httpx.AsyncClient, tenant: Tenant) -> Shop:
    return await a_shop(services, client, tenant)


async def exported(
    client: httpx.AsyncClient, tenant: Tenant, event_path: str, what: str
) -> httpx.Response:
    answer = await client.get(f"{event_path}/exports/{what}", headers=tenant.as_("box_office"))
    assert answer.status_code == 200, answer.text
    return answer


async def both(shop: Shop | Desk, subject: str) -> list[dict[str, Any]]:
    """As JSON, after a look at whether the table says the same."""
    path, tenant = shop.event.path, shop.tenant
    rows = (await exported(shop.client, tenant, path, f"{subject}.json")).json()
    text = (await exported(shop.client, tenant, path, f"{subject}.csv")).text
    table = list(csv.DictReader(StringIO(text, newline="")))
    assert [list(row) for row in table] == [list(row) for row in rows]
    for row, cells in zip(rows, table, strict=True):
        for name, value in row.items():
            if isinstance(value, list):
                assert cells[name] == " ".join(value)
            elif not name.endswith(("_at", "_until")):
                assert cells[name].removeprefix("'") == ("" if value is None else str(value))
    return rows


async def test_tickets_have_all_that_is_known_and_no_barcode(desk: Desk) -> None:
    [code] = codes(1)
    await desk.done(
        seated("A1", code=code, name="Anna", email="a@b.example", price_minor=450),
        standing(reference="ORDER-7", days=DAYS[1]),
    )
    seat, place = await both(desk, "tickets")
    assert list(seat) == TICKET
    assert (seat["code"], seat["status"], seat["type"]) == (code, "active", "Standard")
    assert (seat["zone"], seat["seat"], seat["days"]) == ("Zone 1", "A1", list(map(str, DAYS)))
    assert (seat["name"], seat["email"], seat["price_minor"]) == ("Anna", "a@b.example", 450)
    assert (place["zone"], place["seat"], place["days"]) == ("Pit", None, [str(DAYS[1])])
    assert (place["reference"], place["order_number"]) == ("ORDER-7", None)
    [row, _] = await desk.tickets()
    text = (await exported(desk.client, desk.tenant, desk.event.path, "tickets.json")).text
    assert "VG1" not in text
    assert row["barcode_hash"].hex() not in text


async def test_orders_have_their_payments_and_tickets_but_not_their_secret(shop: Shop) -> None:
    order = await shop.sold("A1 A2", pit=1)
    [row] = await both(shop, "orders")
    assert (row["number"], row["status"]) == (order["order"]["number"], "paid")
    assert (row["tickets"], row["payment_methods"]) == (3, "cash")
    assert (row["total_minor"], row["currency"]) == (
        order["order"]["total_minor"],
        order["order"]["currency"],
    )
    assert row["sold_by"] == "acme box_office"
    [kept] = await shop_table(shop, "SELECT secret FROM ticket_order")
    text = (await exported(shop.client, shop.tenant, shop.event.path, "orders.csv")).text
    assert kept["secret"] not in text
    tickets = await both(shop, "tickets")
    assert {ticket["order_number"] for ticket in tickets} == {row["number"]}


async def test_holds_are_what_they_are_now(shop: Shop, clock: MovableClock) -> None:
    customer = await shop.customer()
    await shop.holds(customer, "A1", pit=2)
    await shop.sold("B1")
    rows = {row["seat"]: row for row in await both(shop, "holds")}
    assert (rows["A1"]["status"], rows["A1"]["zone"]) == ("active", "Zone 1")
    assert (rows[None]["zone"], rows[None]["places"]) == ("Pit", 2)
    assert rows["A1"]["email"] == customer.email
    assert rows["B1"]["status"] == "converted"
    clock.ahead = timedelta(minutes=6)
    rows = {row["seat"]: row for row in await both(shop, "holds")}
    assert rows["A1"]["status"] == "expired", "whether or not it was swept"


async def test_cells_that_would_be_formulas_are_guarded(desk: Desk) -> None:
    evil = ["=1+1", "+1", "-1", "@SUM(A1)", "Anna = Ben", '=HYPERLINK("x")', "O'Neill"]
    await desk.done(*(standing(code=c, name=n) for c, n in zip(codes(5), evil, strict=False)))
    await desk.done(*(standing("Floor", code=c, name=n) for c, n in zip(codes(2, 9), evil[5:])))  # noqa: B905
    text = (await exported(desk.client, desk.tenant, desk.event.path, "tickets.csv")).text
    names = [row["name"] for row in csv.DictReader(StringIO(text, newline=""))]
    assert names == [
        *("'=1+1", "'+1", "'-1", "'@SUM(A1)", "Anna = Ben"),
        *('\'=HYPERLINK("x")', "O'Neill"),
    ]
    rows = (await exported(desk.client, desk.tenant, desk.event.path, "tickets.json")).json()
    assert [row["name"] for row in rows] == evil


async def test_all_of_it_comes_whatever_the_size_of_a_page(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await desk.done(*(seated(f"{row}{n}") for row in "AB" for n in range(1, 11)))
    whole = await both(desk, "tickets")
    for rows in (1, 3, 10, 20, 21):
        monkeypatch.setattr(exports, "PAGE_ROWS", rows)
        assert await both(desk, "tickets") == whole
    assert len(whole) == 20


@pytest.mark.parametrize("subject", ["orders", "tickets", "holds"])
async def test_nothing_is_a_header_or_an_empty_array(desk: Desk, subject: str) -> None:
    table = await exported(desk.client, desk.tenant, desk.event.path, f"{subject}.csv")
    assert table.headers["content-type"] == "text/csv; charset=utf-8"
    assert table.headers["content-disposition"] == (
        f'attachment; filename="{subject}-{desk.event.event_id}.csv"'
    )
    assert table.text.startswith("id,")
    assert table.text.count("\r\n") == 1
    array = await exported(desk.client, desk.tenant, desk.event.path, f"{subject}.json")
    assert array.headers["content-type"] == "application/json"
    assert json.loads(array.content) == []


@pytest.mark.parametrize("what", ["tickets", "tickets.xml", "barcodes.csv", "tickets.csv.json"])
async def test_other_exports_are_not_found(desk: Desk, what: str) -> None:
    answer = await desk.get(f"{desk.event.path}/exports/{what}")
    assert refusal(answer) == (404, "export_not_found")


async def test_only_who_sells_may_export_and_only_their_own(
    desk: Desk, other_tenant: Tenant
) -> None:
    path = f"{desk.event.path}/exports/tickets.csv"
    for role in ("customer", "gate_supervisor"):
        assert refusal(await desk.get(path, by=role)) == (403, "permission_denied")
    answer = await desk.client.get(path, headers=other_tenant.as_("owner"))
    assert refusal(answer) == (404, "event_not_found")
    assert (await desk.client.get(path)).status_code == 401


async def test_an_event_without_a_layout_is_exported_too(desk: Desk) -> None:
    event_id = await desk.event.office.event(desk.event.venue_id)
    answer = await desk.get(f"/api/events/{event_id}/exports/tickets.json")
    assert (answer.status_code, answer.json()) == (200, [])


async def shop_table(shop: Shop, query: str) -> list[dict[str, Any]]:
    async with shop.services.database.transaction(shop.tenant.id) as tx:
        return [dict(row) for row in await tx.connection.fetch(query)]
