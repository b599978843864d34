"""Somebody declares the venue empty: all who came in until then have left, and the scans agree."""

from datetime import timedelta
from typing import Any

import httpx
import pytest

from tests.scanning.node_support import hear, socket, subscribe
from tests.scanning.support import LATER, World, a_world
from tests.scanning.sync_support import signed, sync
from tests.support import MovableClock, Tenant
from voelgoed.scanning.actions.recount import recount_event
from voelgoed.services import Services

pytestmark = pytest.mark.own_database

MINUTE = timedelta(minutes=1)


def path(world: World) -> str:
    return f"/api/scanning/events/{world.event_id}/occupancy"


async def declare_empty(world: World, reason: str = "Sweep at closing time") -> dict[str, Any]:
    answer = await world.ask("POST", f"{path(world)}/resets", {"reason": reason})
    assert answer.status_code == 201, answer.text
    return answer.json()["data"]


async def occupancy(world: World) -> dict[str, Any]:
    answer = await world.ask("GET", path(world))
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


async def differences(world: World) -> list[Any]:
    return list(await recount_event(world.services.database, world.tenant.id, world.event_id))


async def test_the_duplicate_window_goes_on_afterwards(world: World):
    device, ticket = await world.device(), await world.ticket()
    assert await world.verdict(device, ticket.code) == "admitted"
    await declare_empty(world)
    assert await world.verdict(device, ticket.code) == "already_scanned"


async def test_nobody_is_inside_afterwards_and_the_audit_log_has_the_person(world: World):
    here, there = [await world.device(gate) for gate in world.gates]
    seated, *standing = await world.ticket("A1"), *await world.tickets(3)
    for ticket in (seated, *standing):
        assert await world.verdict(here, ticket.code) == "admitted"
    assert await world.verdict(there, standing[0].code, direction="exit") == "admitted"
    reset = await declare_empty(world)
    assert (reset["inside"], reset["irregular"]) == (3, 0)
    assert set((await world.inside()).values()) == {0}
    assert not await world.rows("SELECT 1 FROM ticket WHERE is_inside")
    [entry] = await world.rows("SELECT * FROM audit_entry WHERE action = 'occupancy_reset'")
    assert entry["entity_id"] == str(world.event_id)
    assert entry["changes"]["reason"] == "Sweep at closing time"
    assert entry["changes"]["inside"] == 3
    found = await occupancy(world)
    assert (found["current"], found["emptied_at"]) == (0, reset["at"])
    assert found["emptied_by_id"] == str(entry["actor_id"])
    assert await differences(world) == []


async def test_counted_entries_and_exits_stay(world: World):
    device, ticket = await world.device(), await world.ticket()
    await world.verdict(device, ticket.code)
    await declare_empty(world)
    found = (await occupancy(world))["counts"]
    assert {
        (each["entries"], each["exits"], each["inside"]) for each in found if each["entries"]
    } == {(1, 0, 0)}


async def test_later_visitors_are_inside_and_earlier_ones_may_come_again(
    services: Services, client: httpx.AsyncClient, tenant: Tenant, clock: MovableClock
):
    world = await a_world(services, client, tenant, reentry="after_exit")
    device = await world.device()
    first, second = await world.tickets(2)
    assert await world.verdict(device, first.code) == "admitted"
    clock.ahead += LATER
    assert await world.verdict(device, first.code) == "exit_required"
    await declare_empty(world)
    assert await world.verdict(device, first.code) == "admitted"
    assert await world.verdict(device, second.code) == "admitted"
    assert (await occupancy(world))["current"] == 2
    assert await differences(world) == []


async def test_irregular_heads_leave_with_the_others(world: World):
    north, south = [await world.device(gate) for gate in world.gates]
    [ticket] = await world.tickets(1)
    await sync(world, north, await signed(world, north, ticket, 9 * MINUTE))
    await sync(world, south, await signed(world, south, ticket, 8 * MINUTE))
    found = await occupancy(world)
    assert (found["current"], found["irregular"]) == (2, 1)
    assert {each["gate_id"]: each["irregular"] for each in found["gates"]} == {
        str(north.gate.id): 0,
        str(south.gate.id): 1,
    }
    reset = await declare_empty(world)
    assert (reset["inside"], reset["irregular"]) == (2, 1)
    [kept] = await world.rows("SELECT is_inside, irregular FROM ticket WHERE id = $1", ticket.id)
    assert (kept["is_inside"], kept["irregular"]) == (False, [])
    found = await occupancy(world)
    assert (found["current"], found["irregular"]) == (0, 0)
    assert await differences(world) == []


async def test_a_person_who_came_in_without_a_ticket_leaves_once(world: World, clock: MovableClock):
    device = await world.device()
    await sync(world, device, await signed(world, device, None, 5 * MINUTE))
    assert (await occupancy(world))["irregular"] == 1
    assert (await declare_empty(world))["irregular"] == 1
    assert (await declare_empty(world))["inside"] == 0
    assert (await occupancy(world))["current"] == 0
    clock.ahead += MINUTE
    await sync(world, device, await signed(world, device, None, timedelta(seconds=1)))
    assert (await occupancy(world))["current"] == 1
    assert await differences(world) == []
    assert (await declare_empty(world))["inside"] == 1
    assert await differences(world) == []


async def test_scans_that_arrive_later_count_if_they_were_made_after_it(
    world: World, clock: MovableClock
):
    north, south = [await world.device(gate) for gate in world.gates]
    before, after, both = await world.tickets(3)
    await declare_empty(world)
    clock.ahead += 10 * MINUTE
    long_ago, lately = 15 * MINUTE, 5 * MINUTE
    await sync(
        world,
        north,
        await signed(world, north, before, long_ago),
        await signed(world, north, after, lately),
        await signed(world, north, None, long_ago),
        await signed(world, north, None, lately),
        await signed(world, north, both, long_ago),
    )
    await sync(world, south, await signed(world, south, both, lately))
    rows = await world.rows("SELECT id FROM ticket WHERE is_inside")
    assert {row["id"] for row in rows} == {after.id, both.id}
    found = await occupancy(world)
    assert (found["current"], found["irregular"]) == (3, 1)
    assert await differences(world) == []


async def test_irregular_scans_that_arrive_later_count_if_they_were_made_after_it(
    world: World, clock: MovableClock
):
    north, south = [await world.device(gate) for gate in world.gates]
    [ticket] = await world.tickets(1)
    await sync(world, north, await signed(world, north, ticket, 2 * MINUTE))
    await declare_empty(world)
    clock.ahead += MINUTE
    await sync(
        world,
        south,
        await signed(world, south, ticket, MINUTE * 1.5),
        await signed(world, south, ticket, MINUTE * 0.5),
    )
    found = await occupancy(world)
    assert (found["current"], found["irregular"]) == (1, 1)
    assert await differences(world) == []


async def test_an_admission_that_is_annulled_afterwards_changes_nothing_more(world: World):
    device, ticket = await world.device(), await world.ticket()
    scan = (await world.scan(device, ticket.code)).json()
    await declare_empty(world)
    annulment = f"/api/scanning/scans/{scan['scan_id']}/annulment"
    answer = await world.ask("POST", annulment, {"reason": "turnstile"})
    assert answer.status_code == 204, answer.text
    assert (await occupancy(world))["current"] == 0
    assert await differences(world) == []


async def test_two_requests_with_one_idempotency_key_are_one_reset(world: World):
    device, ticket = await world.device(), await world.ticket()
    await world.verdict(device, ticket.code)
    headers = world.tenant.as_("gate_supervisor") | {"Idempotency-Key": "closing-1"}
    url, body = f"{path(world)}/resets", {"reason": "Sweep"}
    answers = [await world.client.post(url, json=body, headers=headers) for _ in range(2)]
    assert answers[0].status_code == answers[1].status_code == 201
    assert answers[0].json() == answers[1].json()
    assert len(await world.rows("SELECT 1 FROM occupancy_reset")) == 1


async def test_followers_of_the_occupancy_are_told_to_resync(world: World):
    topic = f"occupancy:{world.tenant.id}:{world.event_id}"
    async with socket(world, world.tenant.as_("gate_supervisor")) as staff:
        assert (await subscribe(staff, topic))["type"] == "subscribed"
        await declare_empty(world)
        frame = await hear(staff, topic)
    assert frame["data"] == {"event": "occupancy_corrected", "event_id": str(world.event_id)}


async def test_a_reason_is_needed_and_the_right_to_admit(world: World, other_tenant: Tenant):
    url = f"{path(world)}/resets"
    assert (await world.ask("POST", url, {"reason": " "})).status_code == 422
    assert (await world.ask("POST", url, {"reason": "x"}, by="box_office")).status_code == 403
    headers = other_tenant.as_("owner")
    answer = await world.client.post(url, json={"reason": "x"}, headers=headers)
    assert answer.status_code == 404
    assert not await world.rows("SELECT 1 FROM occupancy_reset")
