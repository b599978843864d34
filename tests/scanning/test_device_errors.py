"""Devices that err too often: noticed, and blocked where that is wanted."""

import asyncio

from tests.scanning.alert_support import UNKNOWN, alerts, forged, kinds, put_policy
from tests.scanning.node_support import socket
from tests.scanning.support import Device, World


async def test_device_malfunction_over_a_tenth_of_twenty(world: World):
    device, other = await world.device(), await world.device(name="another")
    for ticket in (*await world.tickets(10), *await world.tickets(7)):
        assert await world.verdict(device, ticket.code) == "admitted"
    for _ in range(2):
        await world.scan(device, UNKNOWN)
        await world.scan(other, UNKNOWN)  # whose errors are not the first one's
    assert await kinds(world) == ["ticket_not_found", "ticket_not_found"]
    await world.scan(device, UNKNOWN)
    found = {alert["kind"]: alert for alert in await alerts(world)}
    alert = found["device_malfunction"]
    assert (alert["subject_type"], alert["subject_id"]) == ("device", str(device.id))
    assert (alert["details"]["scans"], alert["details"]["errors"]) == (20, 3)


async def test_a_device_is_not_blocked_unless_that_is_wanted(world: World):
    device, ticket = await world.device(), await world.ticket("A9")
    await forged(world, device)
    assert await kinds(world) == ["forged_barcode"]
    assert await world.verdict(device, ticket.code) == "admitted"


async def test_a_device_that_reads_nonsense_is_blocked(world: World):
    await put_policy(world, blocks_devices=True, gate_scans_per_minute_max=1_000)
    device, other, ticket = await world.device(), await world.device(), await world.ticket("A9")
    await world.scan(other, UNKNOWN)
    await forged(world, other)  # which any visitor can print
    async with socket(world, device.headers) as connection:
        async with asyncio.timeout(10):
            await connection.recv()  # it follows its own topic
            for _ in range(20):
                await world.scan(device, UNKNOWN)
            await alerts(world)
            await connection.wait_closed()
        assert (connection.close_code, connection.close_reason) == (4401, "device_inactive")
    answer = await world.scan(device, ticket.code)
    assert (answer.status_code, answer.json()["error"]) == (401, "device_inactive")
    [entry] = await world.rows("SELECT * FROM audit_entry WHERE action = 'device_blocked'")
    assert (entry["actor_kind"], entry["entity_id"]) == ("system", str(device.id))
    assert entry["changes"]["because"] == "device_malfunction"
    assert await world.verdict(other, ticket.code) == "admitted"


async def activate(world: World, device: Device) -> None:
    path = f"/api/scanning/devices/{device.id}"
    version = (await world.ask("GET", path)).json()["data"]["version"]
    answer = await world.ask("PATCH", path, {"version": version, "status": "active"})
    assert answer.status_code == 200, answer.text


async def test_a_blocked_device_that_is_activated_begins_anew(world: World):
    await put_policy(world, blocks_devices=True, gate_scans_per_minute_max=1_000)
    device = await world.device()
    for _ in range(20):
        await world.scan(device, UNKNOWN)
    assert "device_malfunction" in await kinds(world)
    assert (await world.scan(device, UNKNOWN)).json()["error"] == "device_inactive"
    await activate(world, device)
    for _ in range(19):
        assert await world.verdict(device, UNKNOWN) == "ticket_not_found"
        await alerts(world)
    await world.scan(device, UNKNOWN)
    await alerts(world)
    assert (await world.scan(device, UNKNOWN)).json()["error"] == "device_inactive"
    blocked = await world.rows("SELECT 1 FROM audit_entry WHERE action = 'device_blocked'")
    assert len(blocked) == 2
