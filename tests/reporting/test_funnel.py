"""Who held, who bought, who left: counted from what was recorded as it happened."""

from datetime import UTC, datetime, timedelta

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reporting.support import report, require_sums, table
from tests.seating.api_support import refusal
from tests.support import MovableClock, Tenant
from tests.ticketing.checkout_support import Shop, a_shop
from voelgoed.reporting.model.funnel import Recorded
from voelgoed.reporting.rules.funnel import FIELDS, funnel_buckets, funnel_total
from voelgoed.services import Services
from voelgoed.ticketing.actions.hold_changes import sweep_all
from voelgoed.ticketing.actions.order_expiry import expire_orders

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
async def shop(services: Services, client: httpx.AsyncClient, tenant: Tenant) -> Shop:
    return await a_shop(services, client, tenant)


def test_shares_are_of_what_ended_one_way_or_the_other() -> None:
    recorded = [
        Recorded("SeatReserved", NOON, 10),
        Recorded("SeatHoldConverted", NOON, 3),
        Recorded("SeatReleased", NOON, 1),
        Recorded("SeatHoldExpired", NOON + timedelta(hours=1), 2),
        Recorded("OrderPlaced", NOON, 4),
        Recorded("OrderPaid", NOON, 1),
        Recorded("OrderExpired", NOON, 2),
        Recorded("OrderCancelled", NOON, 1),
    ]
    found = funnel_total(recorded)
    assert (found.conversion_percent, found.abandonment_percent) == (50.0, 50.0)
    assert found.checkout_percent == 25.0
    buckets = funnel_buckets(recorded)
    assert [(each.since.hour, each.held, each.expired) for each in buckets] == [
        (12, 10, 0),
        (13, 0, 2),
    ]


def test_nothing_recorded_is_no_share_of_anything() -> None:
    found = funnel_total([])
    assert (found.held, found.conversion_percent, funnel_buckets([])) == (0, 0.0, [])


@given(
    st.dictionaries(
        st.tuples(st.sampled_from(sorted(FIELDS)), st.integers(0, 5)), st.integers(1, 1_000)
    )
)
def test_buckets_add_up_to_the_total(counts: dict[tuple[str, int], int]) -> None:
    recorded = [
        Recorded(name, NOON + timedelta(hours=hour), count)
        for (name, hour), count in counts.items()
    ]
    require_sums(funnel_total(recorded), funnel_buckets(recorded), FIELDS.values())


@pytest.mark.own_database
async def test_what_people_did_is_counted(shop: Shop, clock: MovableClock):
    await shop.sold("A1 A2", pit=2)
    anna = await shop.customer()
    [hold] = await shop.holds(anna, "B1")
    await anna.release(hold["hold_id"])
    await shop.order(anna, await shop.holds(anna, "B1 B2"))
    clock.ahead = timedelta(minutes=6)
    services = shop.services
    await sweep_all(services.database, services.cache, services.holds.registry)
    await expire_orders(services.database)
    asked = (shop.client, shop.tenant, shop.event.event_id, "funnel")
    data = await report(*asked)
    total = data["total"]
    counts = {name: total[name] for name in ("held", "released", "expired", "converted")}
    assert counts == {"held": 7, "released": 1, "expired": 2, "converted": 4}
    orders = [total[name] for name in ("orders_placed", "orders_paid", "orders_expired")]
    assert orders == [2, 1, 1]
    assert total["conversion_percent"] == pytest.approx(57.14)
    rows = await table(*asked)
    assert [row["part"] for row in rows] == ["total", *["bucket"] * len(data["buckets"])]
    assert sum(int(row["held"]) for row in rows[1:]) == int(rows[0]["held"]) == 7
    later = (clock.now() + timedelta(minutes=1)).isoformat()
    assert (await report(*asked, since=f"{later[:19]}Z"))["total"]["held"] == 0


async def test_an_order_that_was_cancelled_ended_unpaid(shop: Shop):
    await shop.sold("A1 A2")
    anna = await shop.customer()
    order = (await shop.order(anna, await shop.holds(anna, "B1 B2"))).json()["data"]
    for _ in range(2):  # twice is once
        await anna.ask("POST", f"/api/orders/{order['order']['id']}/cancellation")
    total = (await report(shop.client, shop.tenant, shop.event.event_id, "funnel"))["total"]
    assert (total["orders_paid"], total["orders_cancelled"]) == (1, 1)
    assert total["checkout_percent"] == 50.0


async def test_customers_and_other_organisations_see_nothing(shop: Shop, other_tenant: Tenant):
    anna = await shop.customer()
    path = f"{shop.event.path}/reports/funnel"
    assert refusal(await anna.ask("GET", path)) == (403, "permission_denied")
    answer = await shop.client.get(path, headers=other_tenant.as_("owner"))
    assert refusal(answer) == (404, "event_not_found")
