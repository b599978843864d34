"""A hard limit at the end of an event day: people who did not leave are still counted."""

from datetime import timedelta

import httpx
import pytest

from tests.scanning.manifest_support import a_reader
from tests.scanning.support import World, a_world
from tests.support import SOON, MovableClock, Tenant
from voelgoed.scanning.actions.occupancy_resets import declare_empty
from voelgoed.scanning.actions.supervision import read_occupancy
from voelgoed.scanning.model.supervision import EventOccupancy, NewOccupancyReset
from voelgoed.services import Services

pytestmark = pytest.mark.own_database

LIMIT = 8


@pytest.fixture
async def world(services: Services, client: httpx.AsyncClient, tenant: Tenant) -> World:
    return await a_world(services, client, tenant, gate={"hard_capacity_limit": LIMIT})


async def occupancy(world: World) -> EventOccupancy:
    """Reads the occupancy without HTTP, because the event is years ahead and no session lasts so long."""
    caller = world.tenant.caller("gate_supervisor")
    return await read_occupancy(world.services.database, caller, world.event_id)


async def seven_stay_overnight(world: World, clock: MovableClock) -> None:
    clock.ahead = SOON - (world.now - clock.ahead)
    device = await world.device()
    for ticket in await world.tickets(7):
        assert await world.verdict(device, ticket.code) == "admitted"
    clock.ahead += timedelta(days=1)


async def test_a_limit_of_eight_with_seven_inside_admits_one_more_on_the_next_day(
    world: World, clock: MovableClock
):
    await seven_stay_overnight(world, clock)
    [device] = world.devices
    one, another = await world.tickets(2)
    assert await world.verdict(device, one.code) == "admitted"
    assert await world.verdict(device, another.code) == "gate_at_capacity"


async def test_people_who_stayed_overnight_make_room_by_leaving(world: World, clock: MovableClock):
    await seven_stay_overnight(world, clock)
    [device] = world.devices
    [inside, *_] = await world.rows("SELECT code FROM ticket WHERE is_inside ORDER BY code")
    one, another, third = await world.tickets(3)
    assert await world.verdict(device, one.code) == "admitted"
    assert await world.verdict(device, inside["code"], direction="exit") == "admitted"
    assert await world.verdict(device, another.code) == "admitted"
    assert await world.verdict(device, third.code) == "gate_at_capacity"


async def test_after_the_venue_was_declared_empty_eight_are_admitted(
    world: World, clock: MovableClock
):
    await seven_stay_overnight(world, clock)
    [device] = world.devices
    database, caller = world.services.database, world.tenant.caller("gate_supervisor")
    new = NewOccupancyReset(reason="Sweep")
    assert (await declare_empty(database, caller, world.event_id, new, None)).inside == 7
    verdicts = [await world.verdict(device, ticket.code) for ticket in await world.tickets(9)]
    assert verdicts == ["admitted"] * LIMIT + ["gate_at_capacity"]


async def test_people_who_stayed_overnight_are_shown_as_present(world: World, clock: MovableClock):
    await seven_stay_overnight(world, clock)
    found = await occupancy(world)
    assert found.current == 7
    [gate] = found.gates
    assert (gate.inside, gate.is_limited) == (7, True)
    station = await world.client.get("/api/scanning/station", headers=world.devices[0].headers)
    assert (station.json()["data"]["gate_inside"], station.json()["data"]["event_inside"]) == (7, 7)


async def test_a_manifest_of_the_next_day_counts_people_who_stayed_overnight(
    world: World, clock: MovableClock
):
    await seven_stay_overnight(world, clock)
    reader = await a_reader(world, world.devices[0])
    assert reader.manifest["occupancy"] == [{"gate_id": world.gates[0].code, "inside": 7}]


async def test_without_a_limit_the_day_starts_at_zero(
    services: Services, client: httpx.AsyncClient, tenant: Tenant, clock: MovableClock
):
    world = await a_world(services, client, tenant)
    await seven_stay_overnight(world, clock)
    found = await occupancy(world)
    assert found.current == 0
    assert [each.inside for each in found.gates] == [0]
