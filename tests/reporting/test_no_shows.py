"""Who has a valid ticket and did not come."""

from datetime import timedelta
from typing import Any

import httpx
import pytest

from tests.reporting.support import (
    at_the_event,
    log_in_again,
    report,
    require_no_shows_add_up,
    table,
)
from tests.scanning.support import World, a_world
from tests.seating.race_support import DAYS
from tests.support import MovableClock, Tenant
from voelgoed.accounts.model import Role
from voelgoed.reporting.actions import no_shows
from voelgoed.reporting.actions.no_shows import report_no_shows
from voelgoed.services import Services

LISTED = ["id", "code", "type", "zone", "seat", "days", "order_number", "reference"]


@pytest.fixture
async def world(services: Services, client: httpx.AsyncClient, tenant: Tenant) -> World:
    return await a_world(services, client, tenant, is_begun=False)


async def listed(world: World, **params: Any) -> dict[str, Any]:
    path = f"/api/events/{world.event_id}/reports/no-shows/tickets"
    answer = await world.client.get(path, params=params, headers=world.tenant.as_("box_office"))
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_who_came_and_who_did_not_by_type_zone_and_day(
    world: World, clock: MovableClock
) -> None:
    at_the_event(world, clock)
    device = await world.device()
    seated = await world.ticket("A1")
    came, left_out, void = await world.tickets(3)
    await world.sales.void(void.id)
    await world.verdict(device, came.code)
    clock.ahead += timedelta(days=1)
    await world.verdict(device, came.code)
    await world.verdict(device, seated.code)
    await log_in_again(world)
    asked = (world.client, world.tenant, world.event_id, "no-shows")
    found = await report(*asked, by="box_office")
    shares = {"valid": 3, "came": 2, "no_shows": 1, "no_show_percent": 33.33}
    assert found["total"] == shares
    assert found["is_over"] is False
    assert [(each["name"], each["no_shows"]) for each in found["ticket_types"]] == [
        ("Standard", 0),
        ("Standing", 1),
    ]
    assert {each["name"]: each["no_show_percent"] for each in found["zones"]} == {
        "Hall": 0.0,
        "Floor": 50.0,
    }
    days = [(each["day"], each["valid"], each["came"], each["is_over"]) for each in found["days"]]
    assert days == [
        (str(DAYS[0]), 3, 1, True),
        (str(DAYS[1]), 3, 2, False),
        (str(DAYS[2]), 3, 0, False),
    ]
    [row] = await table(*asked, by="box_office")
    [one] = (await listed(world))["data"]
    assert list(row) == list(one) == LISTED
    assert (row["code"], row["type"], row["zone"]) == (left_out.code, "Standing", "Floor")
    assert one["order_number"].startswith("VG-")
    assert "Anna" not in str(row) + str(one), "nobody's name"


async def test_a_ticket_for_one_day_is_missed_on_that_day_only(world: World) -> None:
    one, _, _ = await world.tickets(3)
    async with world.services.database.transaction(world.tenant.id) as tx:
        await tx.run("UPDATE ticket SET days = $1 WHERE id = $2", [DAYS[1]], one.id)
        await tx.run("UPDATE ticket SET days = '{}' WHERE id <> $1", one.id)
    desk, caller = world.services.reports, world.tenant.caller("box_office")
    found = await report_no_shows(desk, caller, world.event_id)
    assert [(each.valid, each.no_shows) for each in found.days] == [(2, 2), (3, 3), (2, 2)]
    require_no_shows_add_up(found)


async def test_the_list_comes_in_pages_and_the_table_has_all_of_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    sold = sorted(str(ticket.id) for ticket in await world.tickets(5))
    seen, after = list[str](), None
    while True:
        page = await listed(world, limit=2, **({"after": after} if after else {}))
        seen += [each["id"] for each in page["data"]]
        if (after := page["next"]) is None:
            break
    assert seen == sold
    for rows in (1, 2, 5, 6):
        monkeypatch.setattr(no_shows, "PAGE_ROWS", rows)
        asked = (world.client, world.tenant, world.event_id, "no-shows")
        assert [row["id"] for row in await table(*asked)] == sold


async def test_an_event_without_tickets_has_nobody_to_miss(world: World) -> None:
    asked = (world.client, world.tenant, world.event_id, "no-shows")
    found = await report(*asked)
    assert found["total"] == {"valid": 0, "came": 0, "no_shows": 0, "no_show_percent": 0.0}
    assert await table(*asked) == []


MAY: dict[str, set[Role]] = {
    "sales": {"owner", "admin", "organiser", "box_office"},
    "no-shows": {"owner", "admin", "organiser", "box_office"},
    "no-shows/tickets": {"owner", "admin", "organiser", "box_office"},
    "funnel": {"owner", "admin", "organiser", "box_office"},
    "attendance": {"owner", "admin", "organiser", "gate_supervisor"},
}


async def test_who_sells_sees_sales_and_who_runs_gates_sees_who_came(
    world: World, other_tenant: Tenant
) -> None:
    names = [*MAY, *(f"{name}.csv" for name in MAY if "/" not in name)]
    for name in names:
        path = f"/api/events/{world.event_id}/reports/{name}"
        allowed = {
            role
            for role in world.tenant.tokens
            if (await world.client.get(path, headers=world.tenant.as_(role))).status_code == 200
        }
        assert allowed == MAY[name.removesuffix(".csv")], name
        answer = await world.client.get(path, headers=other_tenant.as_("owner"))
        assert (answer.status_code, answer.json()["error"]) == (404, "event_not_found")
        assert (await world.client.get(path)).status_code == 401
