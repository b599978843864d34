"""What is kept of a delivery for people to read: the audit log, and what waits for review."""

from datetime import timedelta
from typing import Any

import httpx

from tests.scanning.recovery_support import PATH
from tests.scanning.support import World, a_world
from tests.scanning.sync_support import deliver, offline, signed, sync
from tests.scanning.test_gate_findings import review
from tests.support import Tenant
from voelgoed.services import Services

MINUTE = timedelta(minutes=1)


async def audit_of(world: World, scan_id: str) -> dict[str, Any]:
    [row] = await world.rows(
        "SELECT action, changes FROM audit_entry WHERE entity_type = 'Scan' AND entity_id = $1",
        scan_id,
    )
    return {"action": row["action"], **row["changes"]}


async def test_a_delivered_scan_is_on_record_like_one_that_was_made_online(world: World):
    device, [one, other] = await world.device(), await world.tickets(2)
    online = (await world.scan(device, one.code)).json()["scan_id"]
    scan = await signed(world, device, other, MINUTE)
    second = await signed(world, device, other, MINUTE / 2)
    await sync(world, device, scan, second)
    asked, brought = await audit_of(world, online), await audit_of(world, scan["scan_id"])
    assert asked.keys() <= brought.keys()
    for name in ("action", "gate_id", "gate_name", "device_id", "device_name", "scan_count"):
        assert brought[name] == asked[name], name
    denied = await audit_of(world, second["scan_id"])
    assert (denied["action"], denied["device_id"]) == ("ticket_scan_denied", str(device.id))


async def test_an_exit_that_was_delivered_says_how_often_the_ticket_had_come(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    assert await world.verdict(device, ticket.code) == "admitted"
    leaving = await signed(world, device, ticket, timedelta(), direction="exit")
    await sync(world, device, leaving)
    assert (await audit_of(world, leaving["scan_id"]))["scan_count"] == 1


async def test_what_waits_is_listed_at_the_devices_event_and_at_that_of_the_gate(
    world: World, services: Services, client: httpx.AsyncClient, tenant: Tenant
):
    elsewhere, third = [await a_world(services, client, tenant) for _ in range(2)]
    device, [ticket, own] = await world.device(), await elsewhere.tickets(2)
    away = offline(world, ticket.code, gate_id=str(elsewhere.gates[0].id))
    await deliver(world, device, away, offline(world, own.code))
    listed: list[str] = []
    for at in (world, elsewhere):
        answer = await at.ask("GET", f"/api/scanning/events/{at.event_id}/recoveries")
        [waiting] = answer.json()["data"]
        assert (waiting["state"], waiting["event_id"]) == ("unverified", str(world.event_id))
        listed.append(waiting["batch_id"])
    answer = await third.ask("GET", f"/api/scanning/events/{third.event_id}/recoveries")
    assert answer.json()["data"] == []
    assert listed[0] == listed[1]
    assert (await review(elsewhere, listed[0])).status_code == 200
    assert (await elsewhere.ask("GET", f"{PATH}/{listed[0]}")).json()["data"]["recovery"][
        "state"
    ] == ("accepted")
