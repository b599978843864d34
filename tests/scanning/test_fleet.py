"""Devices at work: which may scan and where, what their heartbeats say, and who sees it."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx

from tests.scanning.support import LATER, Device, World, a_world
from tests.support import MovableClock, Tenant
from voelgoed.services import Services

DEVICES, HEARTBEAT = "/api/scanning/devices", "/api/scanning/heartbeat"
SILENCE = timedelta(minutes=5)


async def beat(world: World, device: Device, **more: Any) -> httpx.Response:
    body = {"device_time": world.now.isoformat(), **more}
    return await world.client.post(HEARTBEAT, json=body, headers=device.headers)


async def shown(world: World, device: Device) -> dict[str, Any]:
    answer = await world.ask("GET", f"{DEVICES}/{device.id}")
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


async def change(world: World, device: Device, **changes: Any) -> dict[str, Any]:
    version = (await shown(world, device))["version"]
    body = {"version": version, **changes}
    answer = await world.ask("PATCH", f"{DEVICES}/{device.id}", body)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


def error(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]


async def test_an_inactive_device_scans_nothing_until_it_is_active_again(world: World):
    device, ticket = await world.device(), await world.ticket()
    assert (await change(world, device, status="inactive"))["status"] == "inactive"
    answer = await world.scan(device, ticket.code)
    assert error(answer) == (401, "device_inactive")
    assert answer.json()["details"]["status"] == "inactive"
    assert (await beat(world, device)).status_code == 401
    assert await world.rows("SELECT 1 FROM scan") == []
    await change(world, device, status="active")
    assert await world.verdict(device, ticket.code) == "admitted", "with the key it had"


async def test_a_device_without_a_gate_scans_nothing(world: World):
    device, ticket = await world.device(), await world.ticket()
    unassigned = await change(world, device, gate_id=None)
    assert (unassigned["gate_id"], unassigned["gate_name"]) == (None, None)
    answer = await world.scan(device, ticket.code)
    assert error(answer) == (403, "device_not_assigned_to_gate")
    station = (await beat(world, device)).json()["data"]
    assert (station["gate_id"], station["event_id"]) == (None, None)
    [entry] = await world.rows("SELECT * FROM audit_entry WHERE action = 'scan_refused'")
    assert entry["changes"]["error"] == "device_not_assigned_to_gate"


async def test_a_device_that_names_another_is_refused(world: World):
    device, beside = await world.device(), await world.device()
    ticket = await world.ticket()
    for named in (beside.id, uuid4()):
        answer = await world.scan(device, ticket.code, device_id=str(named))
        assert error(answer) == (403, "device_mismatch")
    assert await world.rows("SELECT 1 FROM scan") == []


async def test_a_heartbeat_reports_the_device_and_is_answered_with_its_station(world: World):
    device, beside = await world.device(), await world.device(world.gates[1])
    for each, ticket in zip((device, beside), await world.tickets(2), strict=True):
        await world.verdict(each, ticket.code)
    event = (await world.ask("GET", f"/api/events/{world.event_id}")).json()["data"]
    slow = (world.now - timedelta(seconds=90)).isoformat()
    answer = await beat(
        world,
        device,
        device_time=slow,
        battery_percent=34,
        queue_length=7,
        app_version="1.4.2",
        manifest_version=12,
    )
    assert answer.status_code == 200, answer.text
    station = answer.json()["data"]
    assert 90 <= station.pop("offset_seconds") < 120
    station.pop("server_time")
    assert station == {
        "device_id": str(device.id),
        "name": "iPad-Gate-1",
        "organization_id": str(world.tenant.id),
        "gate_id": str(world.gates[0].id),
        "gate_name": "Gate 0",
        "gate_status": "open",
        "event_id": str(world.event_id),
        "event_name": "Festival",
        "event_status": "live",
        "gate_inside": 1,
        "event_inside": 2,
        "event_capacity": event["capacity"],
        "manifest_version": None,
    }
    listed = (await world.ask("GET", DEVICES)).json()["data"]
    [seen] = [each for each in listed if each["id"] == str(device.id)]
    assert 90 <= seen["clock_offset_seconds"] < 120
    reported = ("battery_percent", "queue_length", "app_version", "manifest_version")
    assert [seen[each] for each in reported] == [34, 7, "1.4.2", 12]
    assert seen["status"] == "active"
    assert (seen["gate_name"], seen["event_id"]) == ("Gate 0", str(world.event_id))
    ahead = (world.now + timedelta(hours=2)).isoformat()
    offset = (await beat(world, device, device_time=ahead)).json()["data"]["offset_seconds"]
    assert -7_200 <= offset < -7_100
    assert (await shown(world, device))["app_version"] == "1.4.2", "said once is known"


async def test_a_heartbeat_that_makes_no_sense_is_refused(world: World):
    device = await world.device()
    for wrong in (
        {"device_time": "yesterday"},
        {"device_time": "2026-01-01T00:00:00"},  # no UTC offset
        {"battery_percent": 101},
        {"battery_percent": -1},
        {"queue_length": -1},
        {"app_version": "x" * 64},
        {"app_version": "a\x00b"},
        {"manifest_version": 2**60},
    ):
        assert (await beat(world, device, **wrong)).status_code == 422, wrong
    answer = await beat(world, device, device_time="1970-01-01T00:00:00Z")
    assert answer.status_code == 200, "a tablet whose battery was empty has to be told the time"


async def test_a_device_is_offline_after_five_minutes_of_silence(world: World, clock: MovableClock):
    device = await world.device()
    paired = await shown(world, device)
    assert paired["status"] == "active", "its pairing was a sign of life"
    assert (paired["last_seen_at"], paired["last_heartbeat"]) == (paired["paired_at"], None)
    clock.ahead += SILENCE + timedelta(seconds=1)
    assert (await shown(world, device))["status"] == "offline"
    await beat(world, device)
    assert (await shown(world, device))["status"] == "active"
    clock.ahead += SILENCE - timedelta(seconds=30)
    assert (await shown(world, device))["status"] == "active"
    clock.ahead += timedelta(seconds=31)
    silent = await shown(world, device)
    assert silent["status"] == "offline"
    assert silent["silent_seconds"] >= 300


async def test_a_heartbeat_makes_no_new_version_of_the_device(world: World):
    device = await world.device()
    before = await shown(world, device)
    await beat(world, device, battery_percent=50)
    body = {"version": before["version"], "name": "Renamed"}
    answer = await world.ask("PATCH", f"{DEVICES}/{device.id}", body)
    assert answer.status_code == 200
    assert answer.json()["data"]["battery_percent"] == 50
    stale = await world.ask("PATCH", f"{DEVICES}/{device.id}", body)
    assert error(stale) == (409, "version_conflict")


async def test_the_scans_of_a_moved_device_count_at_its_new_gate(world: World, clock: MovableClock):
    device, ticket = await world.device(), await world.ticket()
    assert await world.verdict(device, ticket.code) == "admitted"
    moved = await change(world, device, gate_id=str(world.gates[1].id))
    assert moved["gate_name"] == "Gate 1"
    clock.ahead += LATER
    answer = (await world.scan(device, ticket.code)).json()
    assert answer["gate"] == {"gate_id": str(world.gates[1].id), "gate_name": "Gate 1"}
    assert answer["occupancy"]["gate_current"] == 1
    inside = await world.inside()
    assert (inside["gate-0"], inside["gate-1"], inside["event"]) == (0, 1, 1)
    [entry] = await world.rows("SELECT * FROM audit_entry WHERE action = 'device_changed'")
    gates = [str(gate.id) for gate in world.gates]
    assert entry["changes"] == {"gate_id": {"from": gates[0], "to": gates[1]}}
    assert entry["actor_id"] == world.tenant.users["gate_supervisor"]


async def test_the_fleet_is_listed_by_event_without_the_revoked_and_in_pages(world: World):
    devices = [await world.device(name=f"iPad {number}") for number in range(3)]
    await world.ask("DELETE", f"{DEVICES}/{devices[0].id}")
    await change(world, devices[1], gate_id=None)

    async def names(**query: Any) -> list[str]:
        headers = world.tenant.as_("gate_supervisor")
        found = await world.client.get(DEVICES, params=query, headers=headers)
        assert found.status_code == 200, found.text
        return [each["name"] for each in found.json()["data"]]

    assert await names() == ["iPad 1", "iPad 2"]
    assert await names(with_revoked=True) == ["iPad 0", "iPad 1", "iPad 2"]
    assert await names(event_id=str(world.event_id)) == ["iPad 2"]
    assert await names(limit=1) == ["iPad 1"]
    assert await names(after=str(devices[1].id)) == ["iPad 2"]
    revoked = await world.ask("PATCH", f"{DEVICES}/{devices[0].id}", {"version": 2, "name": "x"})
    assert error(revoked) == (404, "device_not_found")


async def test_the_fleet_of_an_unknown_event_is_not_found(world: World):
    answer = await world.ask("GET", f"{DEVICES}?event_id={uuid4()}")
    assert error(answer) == (404, "event_not_found")


async def test_another_organisation_sees_and_changes_nothing(
    world: World, services: Services, client: httpx.AsyncClient, other_tenant: Tenant
):
    rival = await a_world(services, client, other_tenant)
    device, ticket = await world.device(), await world.ticket()
    before = await world.rows("SELECT * FROM scan_device")
    path = f"{DEVICES}/{device.id}"
    for method, body in (("GET", None), ("PATCH", {"version": 1, "name": "x"}), ("DELETE", None)):
        assert error(await rival.ask(method, path, body)) == (404, "device_not_found")
    assert (await rival.ask("GET", DEVICES)).json()["data"] == []
    theirs = await rival.device()
    body = {"version": 1, "gate_id": str(world.gates[0].id)}
    answer = await rival.ask("PATCH", f"{DEVICES}/{theirs.id}", body)
    assert error(answer) == (404, "gate_not_found")
    pairing = {"gate_id": str(world.gates[0].id), "name": "x"}
    answer = await rival.ask("POST", "/api/scanning/pairings", pairing)
    assert error(answer) == (404, "gate_not_found")
    assert await rival.verdict(theirs, ticket.code) == "ticket_not_found"
    assert await rival.verdict(theirs, await world.barcode(ticket)) == "ticket_not_found"
    answer = await rival.scan(theirs, ticket.code, device_id=str(device.id))
    assert error(answer) == (403, "device_mismatch")
    assert await world.rows("SELECT * FROM scan_device") == before
    assert await world.rows("SELECT 1 FROM scan") == []
    assert await world.verdict(device, ticket.code) == "admitted"
