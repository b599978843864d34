"""What was sold and what it earned: tickets and payments must tell the same."""

from datetime import UTC, datetime
from uuid import UUID
from zoneinfo import available_timezones

import httpx
import pytest

from tests.reporting.support import report, require_sales_add_up, sales_report, table
from tests.seating.api_support import a_config
from tests.support import MovableClock, Tenant
from tests.ticketing.checkout_support import Shop, a_shop
from tests.ticketing.import_support import a_desk, codes, seated, standing
from tests.ticketing.sales_support import sales
from tests.ticketing.support import DAYS
from voelgoed.events.actions.venues import TIMEZONES
from voelgoed.services import Services
from voelgoed.ticketing.model.orders import NewPayment

TERMINAL = NewPayment(provider="manual", method="card_terminal")
FREE = NewPayment(provider="manual", method="complimentary")


@pytest.fixture
async def shop(services: Services, client: httpx.AsyncClient, tenant: Tenant) -> Shop:
    return await a_shop(services, client, tenant)


async def test_tickets_and_money_of_one_evening(shop: Shop) -> None:
    cash = await shop.sold("A1 A2", pit=1)
    await shop.sold("B1", method="card_terminal")
    await shop.sold("B2 B3", method="complimentary")
    till = await shop.till()
    [refunded, voided, _] = cash["tickets"]
    path = f"/api/orders/{cash['order']['id']}/refunds"
    body = {"reason": "ill", "ticket_ids": [refunded["id"]]}
    assert (await till.ask("POST", path, body)).status_code < 300
    path = f"/api/tickets/{voided['id']}/void"
    assert (await till.ask("POST", path, {"reason": "stolen"})).status_code < 300

    found = await report(shop.client, shop.tenant, shop.event.event_id, "sales")
    assert found["currency"] == "ZAR"
    counts = ("issued", "sold", "complimentary", "imported", "refunded", "voided", "valid")
    total = found["total"]
    assert [total[name] for name in counts] == [6, 2, 2, 0, 1, 1, 4]
    money = [total[name] for name in ("gross_minor", "refunded_minor", "net_minor")]
    assert money == [53_000, 15_000, 38_000]
    assert (total["capacity"], total["percent_sold"]) == (400, 1.0)
    assert found["orders"] | {"paid": 2, "partially_refunded": 1, "placed": 3} == found["orders"]
    assert [(each["name"], each["valid"]) for each in found["ticket_types"]] == [
        ("Standard", 3),
        ("Standing", 1),
    ]
    zones = {each["name"]: each for each in found["zones"]}
    assert (zones["Zone 1"]["valid"], zones["Zone 1"]["capacity"]) == (3, 20)
    assert (zones["Pit"]["percent_sold"], zones["Floor"]["issued"]) == (10.0, 0)
    methods = {each["method"]: each for each in found["methods"]}
    assert list(methods) == ["card_terminal", "cash", "complimentary"]
    assert (methods["cash"]["gross_minor"], methods["complimentary"]["gross_minor"]) == (38_000, 0)
    payments = {each["method"]: each for each in found["payments"]}
    assert payments["cash"] == {
        "provider": "manual",
        "method": "cash",
        "currency": "ZAR",
        "payments": 1,
        "received_minor": 38_000,
        "refunded_minor": 15_000,
        "refund_due_minor": 0,
        "kept_minor": 23_000,
    }


async def test_the_table_says_the_same_as_the_report(shop: Shop) -> None:
    await shop.sold("A1 A2", pit=1)
    found = await report(shop.client, shop.tenant, shop.event.event_id, "sales")
    rows = await table(shop.client, shop.tenant, shop.event.event_id, "sales")
    parts = [
        [found["total"]],
        *(found[name] for name in ("ticket_types", "zones", "methods", "days", "payments")),
    ]
    told = [each for part in parts for each in part]
    assert len(rows) == len(told)
    for row, each in zip(rows, told, strict=True):
        for name in set(row) & set(each) - {"name"}:
            assert row[name] == ("" if each[name] is None else str(each[name]))
    assert [row["part"] for row in rows[:2]] == ["total", "ticket_type"]


async def test_what_was_sold_elsewhere_is_told_apart_and_earned_nothing_here(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
) -> None:
    desk = await a_desk(services, client, tenant)
    first, second, third = codes(3)
    await desk.done(
        seated("A1", code=first, price_minor=450),
        standing(code=second, days=DAYS[0], price_minor=100),
        standing(code=third, days=DAYS[1], price_minor=100),
    )
    found = await report(client, tenant, desk.event.event_id, "sales")
    total = found["total"]
    assert (total["imported"], total["sold"], total["imported_minor"]) == (3, 0, 650)
    assert (total["gross_minor"], total["net_minor"]) == (0, 0)
    assert [(each["provider"], each["valid"]) for each in found["methods"]] == [("import", 3)]
    pit = next(each for each in found["zones"] if each["name"] == "Pit")
    assert (pit["valid"], pit["percent_sold"]) == (2, 20.0), "one of five places on either day"


async def test_a_day_of_sale_is_a_day_at_the_venue(
    services: Services, tenant: Tenant, clock: MovableClock
) -> None:
    """Berlin puts its clocks forward on the last Sunday of March 2030, and is one hour ahead before,
    two after that."""
    sold = await sales(services, tenant)
    async with services.database.transaction(tenant.id) as tx:
        await tx.run("UPDATE venue SET timezone = 'Europe/Berlin'")
    for moment in (
        datetime(2030, 3, 30, 22, 59, tzinfo=UTC),
        datetime(2030, 3, 30, 23, 1, tzinfo=UTC),
        datetime(2030, 3, 31, 21, 59, tzinfo=UTC),
        datetime(2030, 3, 31, 22, 1, tzinfo=UTC),
    ):
        clock.ahead = moment - (clock.now() - clock.ahead)
        await sold.sell(floor=1)
    found = await sales_report(sold)
    assert found.timezone == "Europe/Berlin"
    assert [(str(each.day), each.sold) for each in found.days] == [
        ("2030-03-30", 1),
        ("2030-03-31", 2),
        ("2030-04-01", 1),
    ]
    require_sales_add_up(found)


async def test_postgresql_knows_the_time_zone_of_every_venue(
    services: Services, tenant: Tenant
) -> None:
    assert available_timezones() >= TIMEZONES
    async with services.database.transaction(tenant.id) as tx:
        for name in sorted(TIMEZONES):
            await tx.connection.fetchval("SELECT now() AT TIME ZONE $1", name)


async def test_money_that_bought_nothing_is_due_and_earned_nothing(
    services: Services, tenant: Tenant
) -> None:
    sold = await sales(services, tenant)
    order = await sold.pending("A1")
    await sold.pay(order)
    assert await sold.tell(order) == "refund_due"
    foreign = await sold.pending("A3")
    assert await sold.tell(foreign, currency="EUR", amount_minor=99) == "refund_due"
    found = await sales_report(sold)
    require_sales_add_up(found)
    assert (found.total.sold, found.total.net_minor) == (1, 15_000)
    due = {each.currency: each.refund_due_minor for each in found.payments if each.refund_due_minor}
    assert due == {"ZAR": 15_000, "EUR": 99}
    [method] = found.methods
    assert method.method == "cash"


async def test_an_event_without_anything_has_a_report_of_nothing(shop: Shop) -> None:
    event_id = UUID(await shop.event.office.event(shop.event.venue_id))
    found = await report(shop.client, shop.tenant, event_id, "sales")
    assert (found["currency"], found["total"]["issued"], found["zones"]) == (None, 0, [])
    [row] = await table(shop.client, shop.tenant, event_id, "sales")
    assert (row["part"], row["issued"], row["capacity"]) == ("total", "0", "400")


async def test_names_that_would_be_formulas_are_guarded(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
) -> None:
    desk = await a_desk(services, client, tenant, a_config(places={"=Pit": 5}))
    rows = await table(client, tenant, desk.event.event_id, "sales")
    assert "'=Pit" in [row["name"] for row in rows]
