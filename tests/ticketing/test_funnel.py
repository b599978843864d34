"""Who held, who bought, who left: counted from what was recorded as it happened."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import httpx
import pytest

from tests.seating.api_support import refusal
from tests.support import MovableClock, Tenant
from tests.ticketing.checkout_support import Shop, a_shop
from voelgoed.services import Services
from voelgoed.ticketing.actions.hold_changes import sweep_all
from voelgoed.ticketing.actions.order_expiry import expire_orders
from voelgoed.ticketing.model.funnel import Recorded
from voelgoed.ticketing.rules.funnel import funnel

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
        Recorded("OrderExpired", NOON, 3),
    ]
    found = funnel(UUID(int=1), None, None, recorded)
    assert (found.conversion_percent, found.abandonment_percent) == (50.0, 50.0)
    assert found.checkout_percent == 25.0
    assert [(step.since.hour, step.held, step.expired) for step in found.steps] == [
        (12, 10, 0),
        (13, 0, 2),
    ]


def test_nothing_recorded_is_no_share_of_anything() -> None:
    found = funnel(UUID(int=1), None, None, [])
    assert (found.held, found.conversion_percent, found.steps) == (0, 0.0, [])


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
    till = await shop.till()
    answer = await till.ask("GET", f"{shop.event.path}/sales-funnel")
    data = answer.json()["data"]
    counts = {name: data[name] for name in ("held", "released", "expired", "converted")}
    assert counts == {"held": 7, "released": 1, "expired": 2, "converted": 4}
    orders = [data[name] for name in ("orders_placed", "orders_paid", "orders_expired")]
    assert orders == [2, 1, 1]
    assert data["conversion_percent"] == pytest.approx(57.14)
    later = (clock.now() + timedelta(minutes=1)).isoformat()
    answer = await till.ask("GET", f"{shop.event.path}/sales-funnel?since={later[:19]}Z")
    assert answer.json()["data"]["held"] == 0


async def test_customers_and_other_organisations_see_nothing(shop: Shop, other_tenant: Tenant):
    anna = await shop.customer()
    path = f"{shop.event.path}/sales-funnel"
    assert refusal(await anna.ask("GET", path)) == (403, "permission_denied")
    answer = await shop.client.get(path, headers=other_tenant.as_("owner"))
    assert refusal(answer) == (404, "event_not_found")
