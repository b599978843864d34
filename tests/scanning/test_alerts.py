"""The alerts that real scans raise."""

from datetime import timedelta

import httpx

from tests.scanning.alert_support import UNKNOWN, alerts, forged, put_policy
from tests.scanning.node_support import another_node
from tests.scanning.support import LATER, World, a_world
from tests.support import MovableClock, Tenant
from voelgoed.services import Services


async def test_a_quiet_evening_raises_nothing(world: World, clock: MovableClock):
    here, there = await world.device(), await world.device(world.gates[1])
    tickets = await world.tickets(5)
    for ticket in tickets:
        assert await world.verdict(here, ticket.code) == "admitted"
    clock.ahead += LATER
    assert await world.verdict(there, tickets[0].code) == "admitted"
    assert await alerts(world) == []


async def test_impossible_travel(world: World):
    ticket = await world.ticket()
    assert await world.verdict(await world.device(), ticket.code) == "admitted"
    there = await world.device(world.gates[1])
    assert await world.verdict(there, ticket.code) == "already_scanned"
    [alert] = await alerts(world)
    assert alert["kind"] == "impossible_travel"
    assert (alert["severity"], alert["state"], alert["occurrences"]) == ("high", "open", 1)
    assert (alert["subject_type"], alert["subject_id"]) == ("ticket", str(ticket.id))
    assert alert["event_id"] == str(world.event_id)
    assert alert["details"] == {
        "ticket_code": ticket.code,
        "from_gate": "Gate 0",
        "to_gate": "Gate 1",
        "seconds": 0,
    }
    assert alert["first_at"] == alert["last_at"]


async def test_impossible_travel_between_two_nodes(
    world: World, database_url: str, clock: MovableClock
):
    ticket, device = await world.ticket(), await world.device()
    there = await world.device(world.gates[1])
    async with another_node(world, database_url, clock) as other:
        assert await world.verdict(device, ticket.code) == "admitted"
        assert await other.verdict(there, ticket.code) == "already_scanned"
        assert [alert["kind"] for alert in await alerts(other)] == ["impossible_travel"]


async def test_travel_after_an_annulled_admission_is_possible(world: World):
    ticket, here, there = (
        await world.ticket(),
        await world.device(),
        await world.device(world.gates[1]),
    )
    scan = (await world.scan(here, ticket.code)).json()
    path = f"/api/scanning/scans/{scan['scan_id']}/annulment"
    assert (await world.ask("POST", path, {"reason": "turnstile"})).status_code == 204
    await world.services.live.is_idle()
    assert await world.verdict(there, ticket.code) == "admitted"
    assert await world.verdict(there, ticket.code) == "already_scanned"
    assert await alerts(world) == []


async def test_repeated_duplicates_from_the_sixth_on(world: World):
    ticket, device = await world.ticket(), await world.device()
    for _ in range(1 + 5):
        await world.scan(device, ticket.code)
    assert await alerts(world) == []
    await world.scan(device, ticket.code)
    [alert] = await alerts(world)
    assert (alert["kind"], alert["subject_id"]) == ("repeated_duplicates", str(ticket.id))


async def test_duplicates_from_hours_ago_do_not_count(world: World, clock: MovableClock):
    await put_policy(world, dedup_window_s=86_400)
    ticket, device = await world.ticket(), await world.device()
    for _ in range(1 + 5):
        await world.scan(device, ticket.code)
    clock.ahead += timedelta(hours=1, seconds=1)
    for _ in range(5):
        assert await world.verdict(device, ticket.code) == "already_scanned"
    assert await alerts(world) == []


async def test_high_velocity_when_a_minute_has_more_scans_than_allowed(
    world: World, clock: MovableClock
):
    await put_policy(world, gate_scans_per_minute_max=4)
    device, tickets = await world.device(), await world.tickets(9)
    for ticket in tickets[:4]:
        await world.scan(device, ticket.code)
    clock.ahead += timedelta(seconds=61)
    for ticket in tickets[4:8]:
        await world.scan(device, ticket.code)
    assert await alerts(world) == []
    await world.scan(device, tickets[8].code)
    [alert] = await alerts(world)
    assert (alert["kind"], alert["severity"]) == ("high_velocity", "low")
    assert (alert["subject_type"], alert["subject_id"]) == ("gate", str(device.gate.id))


async def test_an_unknown_ticket_raises_an_alert(world: World):
    device = await world.device()
    assert await world.verdict(device, UNKNOWN) == "ticket_not_found"
    [alert] = await alerts(world)
    assert (alert["kind"], alert["subject_id"]) == ("ticket_not_found", str(device.id))
    assert alert["details"]["ticket_code"] == UNKNOWN


async def test_a_forged_barcode_is_critical(world: World):
    device = await world.device()
    await forged(world, device)
    [alert] = await alerts(world)
    assert (alert["kind"], alert["severity"]) == ("forged_barcode", "critical")
    assert alert["subject_id"] == str(device.id)


async def test_a_wrong_clock_raises_an_alert(world: World):
    device, ticket = await world.device(), await world.ticket()
    off = (world.now - timedelta(seconds=400)).isoformat()
    answer = await world.scan(device, ticket.code, scanned_at=off)
    assert answer.json()["error"] == "timestamp_out_of_range"
    [alert] = await alerts(world)
    assert (alert["kind"], alert["subject_id"]) == ("clock_skew", str(device.id))
    assert alert["details"]["diff_seconds"] == 400


async def test_a_gate_near_capacity(services: Services, client: httpx.AsyncClient, tenant: Tenant):
    world = await a_world(services, client, tenant, gate={"capacity": 10})
    device, tickets = await world.device(), await world.tickets(9)
    for ticket in tickets[:8]:
        await world.scan(device, ticket.code)
    assert await alerts(world) == []
    await world.scan(device, tickets[8].code)
    [alert] = await alerts(world)
    assert (alert["kind"], alert["subject_id"]) == ("gate_near_capacity", str(device.gate.id))
    assert (alert["details"]["current"], alert["details"]["capacity"]) == (9, 10)
