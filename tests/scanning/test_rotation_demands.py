"""An administrator demands that a device rotates its key: until it does, the old key is good for nothing
else, and afterwards the device need not be paired again."""

import asyncio
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.scanning.node_support import another_node, closed_with, hear, socket
from tests.scanning.recovery_support import recover
from tests.scanning.support import Device, World
from tests.scanning.sync_support import (
    offline,
    offline_batch,
    send,
    send_queue,
    signed,
    signed_batch,
    sync,
)
from tests.support import MovableClock
from voelgoed.accounts.model import Role
from voelgoed.scanning.model.stations import ScanningDevice

DEVICES, STATION = "/api/scanning/devices", "/api/scanning/station"
HEARTBEAT, SCANS = "/api/scanning/heartbeat", "/api/scans"


async def demand(world: World, device: Device, by: Role = "gate_supervisor") -> httpx.Response:
    return await world.ask("POST", f"{DEVICES}/{device.id}/key-rotations", by=by)


async def demanded(world: World, device: Device) -> dict[str, Any]:
    answer = await demand(world, device)
    assert answer.status_code == 202, answer.text
    return answer.json()["data"]


async def is_due(world: World, device: Device) -> bool:
    """Whether the server tells the device to ask for its next key before anything else."""
    answer = await world.client.get(STATION, headers=device.headers)
    if answer.status_code == 200:
        return False
    assert is_told_to_rotate(answer), answer.text
    return True


def is_told_to_rotate(answer: httpx.Response) -> bool:
    body = answer.json()
    said = (answer.status_code, body.get("error"), body.get("details", {}).get("status"))
    return said == (401, "device_inactive", "rotation_demanded")


async def rotate(world: World, device: Device) -> Device:
    body = {"rotation_id": str(uuid4())}
    path = "/api/scanning/key-rotations"
    answer = await world.client.post(path, json=body, headers=device.headers)
    assert answer.status_code == 201, answer.text
    return Device(device.id, answer.json()["data"]["api_key"], device.gate)


async def shown(world: World, device: Device) -> dict[str, Any]:
    return (await world.ask("GET", f"{DEVICES}/{device.id}")).json()["data"]


async def test_a_device_rotates_its_key_on_demand(world: World):
    device, tickets = await world.device(), await world.tickets(2)
    assert not await is_due(world, device)
    before = await shown(world, device)
    wanted = await demanded(world, device)
    assert wanted["rotation_demanded_at"] is not None
    assert wanted["version"] == before["version"] + 1
    assert is_told_to_rotate(await world.scan(device, tickets[0].code))
    renewed = await rotate(world, device)
    assert not await is_due(world, renewed)
    after = await shown(world, device)
    assert after["rotation_demanded_at"] is None
    assert after["key_rotated_at"] > before["key_rotated_at"]
    assert (await world.scan(device, tickets[1].code)).status_code == 401
    assert await world.verdict(renewed, tickets[1].code) == "admitted"
    assert await world.verdict(renewed, tickets[0].code) == "admitted", "nobody had been let in"


async def test_after_the_demand_the_old_key_is_good_for_the_rotation_only(
    world: World, database_url: str, clock: MovableClock
):
    device, first, second = await world.device(), await world.ticket("A1"), await world.ticket("A2")
    known = world.body(device, first.code)
    assert (await world.client.post(SCANS, json=known, headers=device.headers)).is_success
    made_before = await signed(world, device, second)
    await demanded(world, device)
    async with another_node(world, database_url, clock) as beside:
        for node in (world, beside):
            beat = {"device_time": world.now.isoformat()}
            manifest = f"/api/scanning/events/{world.event_id}/manifest"
            queue = offline_batch(world, device, offline(world, second.code))
            for answer in (
                await node.scan(device, second.code),
                await node.client.post(SCANS, json=known, headers=device.headers),
                await send_queue(node, device, queue),
                await send(node, device, signed_batch(device, made_before)),
                await node.client.post(HEARTBEAT, json=beat, headers=device.headers),
                await node.client.get(manifest, headers=device.headers),
                await node.client.get(STATION, headers=device.headers),
            ):
                assert is_told_to_rotate(answer), (answer.request.url, answer.text)
            async with socket(node, device.headers) as connection:
                assert await closed_with(connection) == 4401
    assert len(await world.rows("SELECT 1 FROM scan")) == 1
    assert await world.rows("SELECT 1 FROM scan_alert") == [], (
        "nothing that somebody has to look at"
    )
    [kept] = await world.rows("SELECT sync_failures FROM scan_device")
    assert kept["sync_failures"] == 0
    renewed = await rotate(world, device)
    await sync(world, renewed, await signed(world, renewed, second))
    assert len(await world.rows("SELECT 1 FROM scan")) == 2


async def test_what_was_signed_with_the_old_key_is_imported_after_the_rotation(world: World):
    """A device signs waiting scans again; a file that it exported before keeps its signatures."""
    device, ticket = await world.device(), await world.ticket()
    before = await signed(world, device, ticket)
    await demanded(world, device)
    await rotate(world, device)
    imported = await recover(world, device, before)
    assert [each["signature_valid"] for each in imported["results"]] == [True]


ROUNDS = 12


async def refused_and_let_in(world: World) -> tuple[int, int]:
    """Scans are on their way when a rotation is demanded: how many were refused, and how many admitted. The
    answers agree with the stored scans, and a scan that begins after the answer to the demand is
    refused."""
    refused = let_in = late = 0
    for number in range(ROUNDS):
        device, tickets = await world.device(name=f"iPad {number}"), await world.tickets(4)
        *answers, asked = await asyncio.gather(
            *(world.scan(device, each.code) for each in tickets[:3]), demand(world, device)
        )
        assert asked.status_code == 202
        late += (await world.scan(device, tickets[3].code)).is_success
        refused += sum(is_told_to_rotate(each) for each in answers)
        let_in += sum(each.is_success for each in answers)
        kept = await world.rows("SELECT 1 FROM scan WHERE device_id = $1", device.id)
        assert len(kept) == sum(each.is_success for each in answers) + late
        if late:
            break
    assert late == 0
    return refused, let_in


async def test_a_scan_in_flight_when_a_rotation_is_demanded_is_admitted_or_refused_and_never_both(
    world: World,
):
    refused, let_in = await refused_and_let_in(world)
    assert refused + let_in == 3 * ROUNDS


async def test_a_delivery_in_flight_when_a_rotation_is_demanded_is_kept_whole_or_refused_whole(
    world: World,
):
    for number in range(ROUNDS):
        device, tickets = await world.device(name=f"iPad {number}"), await world.tickets(4)
        scans = [await signed(world, device, each) for each in tickets]
        batches = [signed_batch(device, *scans[:2]), signed_batch(device, *scans[2:])]
        *answers, asked = await asyncio.gather(
            *(send(world, device, each) for each in batches), demand(world, device)
        )
        assert asked.status_code == 202
        assert all(each.is_success or is_told_to_rotate(each) for each in answers)
        kept = await world.rows("SELECT 1 FROM scan WHERE device_id = $1", device.id)
        assert len(kept) == 2 * sum(each.is_success for each in answers)
        assert is_told_to_rotate(await send(world, device, signed_batch(device, *scans)))


async def test_without_the_rule_the_old_key_would_go_on_scanning(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    """The control of the race above."""
    monkeypatch.setattr(ScanningDevice, "is_rotation_demanded", False)
    with pytest.raises(AssertionError):
        await refused_and_let_in(world)


async def test_a_demand_and_its_rotation_are_recorded(world: World):
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


async def test_demanding_twice_is_demanding_once(world: World):
    device = await world.device()
    answers = await asyncio.gather(*(demand(world, device) for _ in range(4)))
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["data"]["rotation_demanded_at"] for answer in answers}) == 1
    asked = "SELECT 1 FROM audit_entry WHERE action = 'device_rotation_demanded'"
    assert len(await world.rows(asked)) == 1
    renewed = await rotate(world, device)
    await demanded(world, device)
    assert await is_due(world, renewed), "and afterwards it is another demand"


async def test_a_device_that_listens_receives_the_demand_at_once_on_every_node(
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
    body = {
        "gate_id": str(device.gate.id),
        "name": "Again",
        "replaces_device_id": str(device.id),
    }
    made = await world.ask("POST", "/api/scanning/pairings", body)
    token = made.json()["data"]["pairing_token"]
    body = {"pairing_token": token, "device_id": str(device.id)}
    paired = (await world.client.post("/api/scanning/pair", json=body)).json()
    assert not await is_due(world, Device(device.id, paired["api_key"], device.gate))


async def test_an_inactive_device_learns_of_the_demand_when_it_is_active_again(world: World):
    device = await world.device()
    path = f"{DEVICES}/{device.id}"
    await world.ask("PATCH", path, {"version": 1, "status": "inactive"})
    wanted = await demanded(world, device)
    answer = await world.ask("PATCH", path, {"version": wanted["version"], "status": "active"})
    assert answer.json()["data"]["rotation_demanded_at"] == wanted["rotation_demanded_at"]
    assert await is_due(world, device)


async def test_no_rotation_can_be_demanded_of_a_revoked_device(world: World):
    device = await world.device()
    await world.ask("DELETE", f"{DEVICES}/{device.id}")
    answer = await demand(world, device)
    assert (answer.status_code, answer.json()["error"]) == (404, "device_not_found")
    nobody = Device(uuid4(), "", device.gate)
    assert (await demand(world, nobody)).json()["error"] == "device_not_found"


@pytest.mark.parametrize("role", ["customer", "box_office"])
async def test_only_staff_who_may_revoke_may_demand(world: World, role: Role):
    device = await world.device()
    assert (await demand(world, device, by=role)).status_code == 403
    assert not await is_due(world, device)
