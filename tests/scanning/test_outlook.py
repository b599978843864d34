"""The outlook of a gate: tickets that are still expected, and scans and conflicts that wait for a
decision."""

from typing import Any
from uuid import UUID, uuid4

import httpx

from tests.scanning.alert_support import UNKNOWN, alerts, moved
from tests.scanning.support import LATER, World, a_world
from tests.support import MovableClock, Tenant
from voelgoed.services import Services


async def outlook(world: World) -> dict[str, Any]:
    answer = await world.ask("GET", path(world.event_id))
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


def path(event_id: UUID) -> str:
    return f"/api/scanning/events/{event_id}/outlook"


async def test_a_ticket_that_came_in_is_no_longer_expected(world: World, clock: MovableClock):
    device, tickets = await world.device(), await world.tickets(3)
    assert (await outlook(world))["to_come"] == 3
    assert await world.verdict(device, tickets[0].code) == "admitted"
    assert (await outlook(world))["to_come"] == 2
    assert await world.verdict(device, tickets[0].code, direction="exit") == "admitted"
    clock.ahead += LATER
    assert await world.verdict(device, tickets[0].code) == "admitted"
    assert (await outlook(world))["to_come"] == 2, "who left and came again was here"


async def test_an_invalid_ticket_is_not_expected(world: World):
    first, _ = await world.tickets(2)
    await world.rows("UPDATE ticket SET status = 'voided' WHERE id = $1", first.id)
    assert (await outlook(world))["to_come"] == 1


async def test_a_ticket_for_one_entry_is_not_expected_on_another_day(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
):
    world = await a_world(services, client, tenant, entry_limit=1)
    device, ticket = await world.device(), await world.ticket()
    assert await world.verdict(device, ticket.code) == "admitted"
    await world.rows("UPDATE ticket SET last_entry_day = last_entry_day - 1")
    assert (await outlook(world))["to_come"] == 0


async def test_a_ticket_without_re_entry_is_not_expected_on_another_day(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
):
    world = await a_world(services, client, tenant, reentry="never")
    device, (ticket, _) = await world.device(), await world.tickets(2)
    assert await world.verdict(device, ticket.code) == "admitted"
    await world.rows(
        "UPDATE ticket SET last_entry_day = last_entry_day - 1 WHERE id = $1", ticket.id
    )
    assert (await outlook(world))["to_come"] == 1


async def test_open_matters_are_counted_until_somebody_reviewed_them(world: World):
    nothing = {"alerts": 0, "critical_alerts": 0, "conflicts": 0, "recoveries": 0}
    assert (await outlook(world))["open"] == nothing
    await world.scan(await world.device(), UNKNOWN)
    [alert] = await alerts(world)
    assert (await outlook(world))["open"] == nothing | {"alerts": 1}
    await moved(world, alert, "acknowledged")
    assert (await outlook(world))["open"] == nothing


async def test_a_foreign_event_has_no_outlook(world: World, other_tenant: Tenant):
    assert (await world.ask("GET", path(uuid4()))).status_code == 404
    theirs = await world.client.get(path(world.event_id), headers=other_tenant.as_("owner"))
    assert theirs.status_code == 404
    assert (await world.ask("GET", path(world.event_id), by="customer")).status_code == 403
