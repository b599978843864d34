"""Devices with too many errors: they are noticed, and blocked where the event wants that."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

from tests.scanning.alert_support import UNKNOWN, alerts, forged, kinds, put_policy
from tests.scanning.node_support import socket
from tests.scanning.support import Device, World
from tests.support import MovableClock
from voelgoed.scanning.metrics import scans_unwatched


async def test_device_malfunction_over_a_tenth_of_twenty(world: World):
    device, other = await world.device(), await world.device(name="another")
    for ticket in (*await world.tickets(10), *await world.tickets(7)):
        assert await world.verdict(device, ticket.code) == "admitted"
    for _ in range(2):
        await world.scan(device, UNKNOWN)
        await world.scan(other, UNKNOWN)  # errors of another device do not count
    assert await kinds(world) == ["ticket_not_found", "ticket_not_found"]
    await world.scan(device, UNKNOWN)
    found = {alert["kind"]: alert for alert in await alerts(world)}
    alert = found["device_malfunction"]
    assert (alert["subject_type"], alert["subject_id"]) == ("device", str(device.id))
    assert (alert["details"]["scans"], alert["details"]["errors"]) == (20, 3)


async def malfunctions(world: World) -> list[dict[str, Any]]:
    return [alert for alert in await alerts(world) if alert["kind"] == "device_malfunction"]


async def refused(world: World, device: Device, code: str, error: str, **more: Any) -> None:
    answer = await world.scan(device, code, **more)
    assert answer.json()["error"] == error, answer.text


async def test_a_refused_request_counts_as_an_error_though_it_is_no_scan(world: World):
    device, beside = await world.device(), await world.device(name="another")
    tickets, scan_id = await world.tickets(17), str(uuid4())
    await world.scan(device, tickets[0].code, scan_id=scan_id)
    for ticket in tickets[1:]:
        assert await world.verdict(device, ticket.code) == "admitted"
    off = (world.now + timedelta(hours=1)).isoformat()
    await refused(world, device, "no ticket!", "invalid_ticket_code_length")
    await refused(world, device, tickets[0].code, "timestamp_out_of_range", scanned_at=off)
    await refused(world, beside, "no ticket!", "invalid_ticket_code_length")
    assert await malfunctions(world) == []
    await refused(world, device, tickets[1].code, "scan_id_reused", scan_id=scan_id)
    [alert] = await malfunctions(world)
    assert (alert["subject_id"], alert["event_id"]) == (str(device.id), str(world.event_id))
    assert (alert["details"]["scans"], alert["details"]["errors"]) == (20, 3)
    assert (alert["details"]["device_name"], alert["details"]["gate_name"]) == (
        "iPad-Gate-1",
        "Gate 0",
    )


async def test_a_device_that_sends_only_nonsense_is_noticed_too(world: World):
    device, beside = await world.device(), await world.device(name="another")
    for _ in range(19):
        await refused(world, device, UNKNOWN, "device_mismatch", device_id=str(beside.id))
    assert await alerts(world) == []
    await refused(world, device, UNKNOWN, "device_mismatch", device_id=str(beside.id))
    [alert] = await alerts(world)
    assert (alert["kind"], alert["subject_id"]) == ("device_malfunction", str(device.id))
    assert (alert["details"]["scans"], alert["details"]["errors"]) == (20, 20)


async def test_mistakes_of_visitors_are_no_errors_of_the_device(world: World):
    await put_policy(world, gate_scans_per_minute_max=1_000, device_error_rate_max=0)
    device, ticket = await world.device(), await world.ticket()
    path = f"/api/events/{world.event_id}/gates/{device.gate.id}"
    closed = await world.ask("PATCH", path, {"version": device.gate.version, "status": "closed"})
    assert closed.status_code == 200, closed.text
    for _ in range(30):
        assert await world.verdict(device, ticket.code) == "gate_closed"
    assert await alerts(world) == []
    await world.scan(device, UNKNOWN)  # one in 31 would exceed a rate of none
    [alert] = await malfunctions(world)
    assert (alert["details"]["scans"], alert["details"]["errors"]) == (31, 1)


async def test_requests_of_others_in_its_name_are_no_errors_of_the_device(world: World):
    await put_policy(world, device_error_rate_max=0)
    device, ticket, scan_id = await world.device(), await world.ticket(), str(uuid4())
    await world.scan(device, ticket.code, scan_id=scan_id)
    path = f"/api/scanning/scans/{scan_id}/annulment"
    assert (await world.ask("POST", path, {"reason": "turnstile"})).status_code == 204
    for _ in range(20):
        await refused(world, device, ticket.code, "scan_annulled", scan_id=scan_id)
    path = f"/api/scanning/devices/{device.id}"
    await world.ask("PATCH", path, {"version": 1, "gate_id": None})
    for _ in range(20):
        await refused(world, device, ticket.code, "device_not_assigned_to_gate")
    assert await alerts(world) == []


async def test_a_device_without_a_gate_raises_no_alert_at_any_event(world: World):
    await put_policy(world, device_error_rate_max=0)
    device, unwatched = await world.device(), scans_unwatched._value.get()
    path = f"/api/scanning/devices/{device.id}"
    await world.ask("PATCH", path, {"version": 1, "gate_id": None})
    for _ in range(20):
        await refused(world, device, UNKNOWN, "device_mismatch", device_id=str(uuid4()))
    assert await alerts(world) == []
    assert scans_unwatched._value.get() == unwatched


async def test_old_errors_are_forgotten(world: World, clock: MovableClock):
    device = await world.device()
    for _ in range(19):
        await refused(world, device, "no ticket!", "invalid_ticket_code_length")
    clock.ahead += timedelta(minutes=10, seconds=1)
    await refused(world, device, "no ticket!", "invalid_ticket_code_length")
    assert await alerts(world) == []


async def test_the_errors_of_a_device_stay_its_own_after_a_key_rotation(world: World):
    device = await world.device()
    for _ in range(19):
        await refused(world, device, "no ticket!", "invalid_ticket_code_length")
    body = {"rotation_id": str(uuid4())}
    path = "/api/scanning/key-rotations"
    answer = await world.client.post(path, json=body, headers=device.headers)
    renewed = Device(device.id, answer.json()["data"]["api_key"], device.gate)
    await refused(world, renewed, "no ticket!", "invalid_ticket_code_length")
    assert len(await malfunctions(world)) == 1


async def test_requests_without_the_key_cannot_make_a_device_look_faulty(world: World):
    device, revoked = await world.device(), await world.device()
    await world.ask("DELETE", f"/api/scanning/devices/{revoked.id}")
    for key in (revoked.api_key, "vgd_" + "A" * 91):
        stranger = Device(device.id, key, device.gate)
        for _ in range(20):
            assert (await world.scan(stranger, "no ticket!")).status_code == 401
    assert await alerts(world) == []


async def test_a_device_is_not_blocked_unless_the_event_wants_it(world: World):
    device, ticket = await world.device(), await world.ticket("A9")
    await forged(world, device)
    assert await kinds(world) == ["forged_barcode"]
    assert await world.verdict(device, ticket.code) == "admitted"


async def test_a_device_that_reads_nonsense_is_blocked(world: World):
    await put_policy(world, blocks_devices=True, gate_scans_per_minute_max=1_000)
    device, other, ticket = await world.device(), await world.device(), await world.ticket("A9")
    await world.scan(other, UNKNOWN)
    await forged(world, other)  # any visitor can print such a code
    async with socket(world, device.headers) as connection:
        async with asyncio.timeout(60):
            await connection.recv()  # the device follows its own topic
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


async def test_a_blocked_device_starts_without_errors_after_its_activation(world: World):
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
