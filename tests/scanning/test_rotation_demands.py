"""An administrator wants a device to change its key: it hears of it, and does, and nobody pairs it."""

import asyncio
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.scanning.node_support import another_node, closed_with, hear, socket
from tests.scanning.support import Device, World
from tests.support import MovableClock
from voelgoed.accounts.model import Role

DEVICES, STATION = "/api/scanning/devices", "/api/scanning/station"


async def demand(world: World, device: Device, by: Role = "gate_supervisor") -> httpx.Response:
    return await world.ask("POST", f"{DEVICES}/{device.id}/key-rotations", by=by)


async def demanded(world: World, device: Device) -> dict[str, Any]:
    answer = await demand(world, device)
    assert answer.status_code == 202, answer.text
    return answer.json()["data"]


async def is_due(world: World, device: Device) -> bool:
    answer = await world.client.get(STATION, headers=device.headers)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]["is_rotation_due"]


async def rotate(world: World, device: Device) -> Device:
    body = {"rotation_id": str(uuid4())}
    path = "/api/scanning/key-rotations"
    answer = await world.client.post(path, json=body, headers=device.headers)
    assert answer.status_code == 201, answer.text
    return Device(device.id, answer.json()["data"]["api_key"], device.gate)


async def shown(world: World, device: Device) -> dict[str, Any]:
    return (await world.ask("GET", f"{DEVICES}/{device.id}")).json()["data"]


async def test_a_device_changes_its_key_because_somebody_wants_it(world: World):
    device, tickets = await world.device(), await world.tickets(2)
    assert not await is_due(world, device)
    before = await shown(world, device)
    wanted = await demanded(world, device)
    assert wanted["rotation_demanded_at"] is not None
    assert wanted["version"] == before["version"] + 1
    assert await is_due(world, device)
    beat = {"device_time": world.now.isoformat()}
    told = await world.client.post("/api/scanning/heartbeat", json=beat, headers=device.headers)
    assert told.json()["data"]["is_rotation_due"] is True
    assert await world.verdict(device, tickets[0].code) == "admitted", "until it has the next key"
    renewed = await rotate(world, device)
    assert not await is_due(world, renewed)
    after = await shown(world, device)
    assert after["rotation_demanded_at"] is None
    assert after["key_rotated_at"] > before["key_rotated_at"]
    assert (await world.scan(device, tickets[1].code)).status_code == 401
    assert await world.verdict(renewed, tickets[1].code) == "admitted"


async def test_a_demand_and_what_came_of_it_are_on_record(world: World):
    device = await world.device()
    wanted = await demanded(world, device)
    await rotate(world, device)
    [asked, done] = await world.rows(
        "SELECT * FROM audit_entry WHERE action LIKE 'device%rot%' ORDER BY id"
    )
    assert (asked["action"], asked["entity_id"]) == ("device_rotation_demanded", str(device.id))
    assert asked["actor_id"] == world.tenant.users["gate_supervisor"]
    assert asked["changes"] == {"key_version": 1}
    assert (done["action"], done["actor_id"]) == ("device_key_rotated", device.id)
    at = wanted["rotation_demanded_at"]
    assert done["changes"] == {"key_version": 2, "demanded_at": at}


async def test_to_demand_it_twice_is_to_demand_it_once(world: World):
    device = await world.device()
    answers = await asyncio.gather(*(demand(world, device) for _ in range(4)))
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["data"]["rotation_demanded_at"] for answer in answers}) == 1
    asked = "SELECT 1 FROM audit_entry WHERE action = 'device_rotation_demanded'"
    assert len(await world.rows(asked)) == 1
    renewed = await rotate(world, device)
    await demanded(world, device)
    assert await is_due(world, renewed), "and afterwards it is another demand"


async def test_a_device_that_listens_hears_of_it_at_once_on_every_node(
    world: World, database_url: str, clock: MovableClock
):
    device = await world.device()
    topic = f"device:{device.id}"
    async with (
        another_node(world, database_url, clock) as beside,
        socket(beside, device.headers) as connection,
    ):
        assert (await hear(connection, topic))["type"] == "subscribed"
        await demanded(world, device)
        heard = await hear(connection, topic)
        assert heard["data"] == {"event": "device_changed", "device_id": str(device.id)}
        assert await is_due(beside, device)
        await rotate(beside, device)
        assert await closed_with(connection) == 4401, "what was opened with the old key"


async def test_a_device_that_was_paired_again_owes_no_rotation(world: World):
    device = await world.device()
    await demanded(world, device)
    body = {"gate_id": str(device.gate.id), "name": "Again"}
    made = await world.ask("POST", "/api/scanning/pairings", body)
    token = made.json()["data"]["pairing_token"]
    body = {"pairing_token": token, "device_id": str(device.id)}
    paired = (await world.client.post("/api/scanning/pair", json=body)).json()
    assert not await is_due(world, Device(device.id, paired["api_key"], device.gate))


async def test_a_device_that_is_inactive_hears_of_it_when_it_is_active_again(world: World):
    device = await world.device()
    path = f"{DEVICES}/{device.id}"
    await world.ask("PATCH", path, {"version": 1, "status": "inactive"})
    wanted = await demanded(world, device)
    answer = await world.ask("PATCH", path, {"version": wanted["version"], "status": "active"})
    assert answer.json()["data"]["rotation_demanded_at"] == wanted["rotation_demanded_at"]
    assert await is_due(world, device)


async def test_of_a_device_that_was_revoked_nothing_is_demanded(world: World):
    device = await world.device()
    await world.ask("DELETE", f"{DEVICES}/{device.id}")
    answer = await demand(world, device)
    assert (answer.status_code, answer.json()["error"]) == (404, "device_not_found")
    nobody = Device(uuid4(), "", device.gate)
    assert (await demand(world, nobody)).json()["error"] == "device_not_found"


@pytest.mark.parametrize("role", ["customer", "box_office"])
async def test_only_who_may_revoke_may_demand(world: World, role: Role):
    device = await world.device()
    assert (await demand(world, device, by=role)).status_code == 403
    assert not await is_due(world, device)
