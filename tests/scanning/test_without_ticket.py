"""People whom devices alone let in with what is no ticket of the event: a ticket of another event, or a code that
nobody has. They are inside all the same, and each beyond the first with one ticket is a conflict."""

from datetime import timedelta
from typing import Any

import httpx
import pytest

from tests.scanning.alert_support import UNKNOWN
from tests.scanning.support import World, a_world
from tests.scanning.sync_support import (
    conflicts,
    deliver,
    offline,
    offline_batch,
    send_queue,
    signed,
    sync,
)
from tests.scanning.test_gate_findings import alerts_of, heads, resolutions, review
from tests.support import MovableClock, Tenant
from voelgoed.scanning.actions.recount import recount_event
from voelgoed.services import Services

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
NOBODY = {"inside": 0, "irregular": 0, "entries": 0}
ONE_IRREGULAR = {"inside": 1, "irregular": 1, "entries": 0}


@pytest.fixture
async def elsewhere(services: Services, client: httpx.AsyncClient, tenant: Tenant) -> World:
    """Another event of the organisation."""
    return await a_world(services, client, tenant)


async def annul(world: World, scan_id: str) -> httpx.Response:
    return await world.ask("POST", f"/api/scanning/scans/{scan_id}/annulment", {"reason": "left"})


async def require_counts(*worlds: World) -> None:
    """The counters say what the scans say."""
    for world in worlds:
        assert await recount_event(world.services.database, world.tenant.id, world.event_id) == []


async def empty(world: World) -> dict[str, Any]:
    path = f"/api/scanning/events/{world.event_id}/occupancy/resets"
    answer = await world.ask("POST", path, {"reason": "closed"})
    assert answer.status_code == 201, answer.text
    return answer.json()["data"]


# A ticket of another event.


async def test_of_two_let_in_with_a_ticket_of_another_event_one_is_a_conflict(
    world: World, elsewhere: World, clock: MovableClock
):
    device, [ticket] = await world.device(), await elsewhere.tickets(1)
    clock.ahead += HOUR
    first, second = [await signed(world, device, ticket, ago * MINUTE) for ago in (30, 10)]
    await sync(world, device, second)
    assert await conflicts(world) == []
    await sync(world, device, first)
    [found] = await conflicts(world)
    assert (found["scan"]["id"], found["winner"]["id"]) == (second["scan_id"], first["scan_id"])
    assert await heads(world) == {"inside": 2, "irregular": 2, "entries": 0}
    [told] = await alerts_of(world, "invalid_admission")
    assert (told["subject_id"], told["occurrences"]) == (str(ticket.id), 2)
    await require_counts(world, elsewhere)


async def test_a_ticket_that_was_used_at_home_lets_in_nobody_else_elsewhere_without_a_conflict(
    world: World, elsewhere: World, clock: MovableClock
):
    device, guard = await world.device(), await elsewhere.device()
    [ticket] = await elsewhere.tickets(1)
    clock.ahead += HOUR
    at_home = await signed(elsewhere, guard, ticket, 30 * MINUTE)
    away = [await signed(world, device, ticket, ago * MINUTE) for ago in (20, 19)]
    await sync(world, device, *away)
    await sync(elsewhere, guard, at_home)
    pairs = {(each["scan"]["id"], each["winner"]["id"]) for each in await conflicts(world)}
    assert pairs == {
        (away[0]["scan_id"], at_home["scan_id"]),
        (away[1]["scan_id"], away[0]["scan_id"]),
    }
    assert await conflicts(elsewhere) == []
    assert await heads(elsewhere) == {"inside": 1, "irregular": 0, "entries": 1}
    assert await heads(world) == {"inside": 2, "irregular": 2, "entries": 0}
    await require_counts(world, elsewhere)


async def test_who_comes_in_at_home_online_too_soon_after_somebody_elsewhere_is_the_second(
    world: World, elsewhere: World
):
    device, guard = await world.device(), await elsewhere.device()
    [ticket] = await elsewhere.tickets(1)
    away = await signed(world, device, ticket, MINUTE)
    await sync(world, device, away)
    assert await elsewhere.verdict(guard, ticket.code) == "admitted"
    await world.services.scans.is_idle()
    [found] = await conflicts(world)
    assert found["scan"]["id"] == away["scan_id"]
    assert await heads(elsewhere) == {"inside": 1, "irregular": 0, "entries": 1}
    await require_counts(world, elsewhere)


async def test_a_ticket_that_is_made_new_at_home_takes_nobody_out_elsewhere(
    world: World, elsewhere: World
):
    device, guard = await world.device(), await elsewhere.device()
    [ticket] = await elsewhere.tickets(1)
    assert await elsewhere.verdict(guard, ticket.code) == "admitted"
    await sync(world, device, await signed(world, device, ticket, MINUTE))
    path = f"/api/scanning/tickets/{ticket.id}/transitions"
    answer = await world.ask("POST", path, {"to": "active", "reason": "by mistake"})
    assert answer.status_code < 300, answer.text
    assert await heads(elsewhere) == NOBODY
    assert await heads(world) == ONE_IRREGULAR
    await require_counts(world, elsewhere)


# What the server had answered, and the device did not hear.


async def test_a_code_that_nobody_has_counts_though_the_server_had_said_so(world: World):
    device = await world.device()
    scan = offline(world, UNKNOWN, timedelta())
    answer = await world.scan(device, UNKNOWN, scan_id=scan["offline_id"])
    assert answer.status_code == 404
    await world.services.watch.is_idle()
    for _ in range(2):
        await deliver(world, device, scan)
        assert await heads(world) == ONE_IRREGULAR
    [told] = await alerts_of(world, "ticket_not_found")
    assert (told["details"]["scans"], told["occurrences"]) == (1, 2)
    await require_counts(world)


async def test_a_ticket_of_another_event_counts_though_the_server_had_said_so(
    world: World, elsewhere: World
):
    device, [ticket] = await world.device(), await elsewhere.tickets(1)
    scan = await signed(world, device, ticket, timedelta())
    more = {"scan_id": scan["scan_id"], "scanned_at": scan["scanned_at"]}
    assert await world.verdict(device, ticket.code, **more) == "wrong_event"
    for _ in range(2):
        await sync(world, device, scan)
        assert await heads(world) == ONE_IRREGULAR
    [told] = await alerts_of(world, "invalid_admission")
    assert (told["subject_id"], told["details"]["reason"]) == (str(ticket.id), "wrong_event")
    await sync(world, device, await signed(world, device, ticket, timedelta()))
    assert len(await conflicts(world)) == 1
    await require_counts(world, elsewhere)
    assert (await empty(world))["inside"] == 2
    assert await heads(world) == NOBODY
    await require_counts(world, elsewhere)


# Taken back.


@pytest.mark.parametrize("is_asked_first", [False, True])
async def test_an_annulment_takes_out_who_came_in_with_a_code_that_nobody_has(
    world: World, is_asked_first: bool
):
    device = await world.device()
    scan = offline(world, UNKNOWN, timedelta())
    if is_asked_first:
        await world.scan(device, UNKNOWN, scan_id=scan["offline_id"])
    await deliver(world, device, scan)
    for _ in range(2):
        assert (await annul(world, scan["offline_id"])).status_code < 300
        assert await heads(world) == NOBODY
        await require_counts(world)
    assert (await empty(world))["inside"] == 0
    await deliver(world, device, scan)
    assert await heads(world) == NOBODY
    await require_counts(world)


async def test_an_annulment_after_the_venue_was_declared_empty_takes_out_nobody_else(world: World):
    device, one, other = await world.device(), offline(world, UNKNOWN), offline(world, UNKNOWN)
    await deliver(world, device, one)
    await empty(world)
    await deliver(world, device, offline(world, UNKNOWN, -MINUTE / 2) | {"offline_id": "later"})
    assert (await annul(world, one["offline_id"])).status_code < 300
    assert await heads(world) == ONE_IRREGULAR
    assert (await annul(world, other["offline_id"])).status_code == 404
    await require_counts(world)


async def test_an_annulment_takes_out_who_came_in_with_a_ticket_of_another_event(
    world: World, elsewhere: World, clock: MovableClock
):
    device, [ticket] = await world.device(), await elsewhere.tickets(1)
    clock.ahead += HOUR
    first, second = [await signed(world, device, ticket, ago * MINUTE) for ago in (30, 10)]
    await sync(world, device, first, second)
    assert (await annul(world, first["scan_id"])).status_code < 300
    assert await heads(world) == ONE_IRREGULAR
    assert await conflicts(world) == []
    await require_counts(world, elsewhere)
    assert (await annul(world, second["scan_id"])).status_code < 300
    assert await heads(world) == NOBODY
    await require_counts(world, elsewhere)


async def test_who_was_turned_away_with_a_code_that_nobody_has_cannot_be_annulled(world: World):
    device, scan = await world.device(), offline(world, UNKNOWN, outcome="invalid")
    await deliver(world, device, scan)
    assert (await annul(world, scan["offline_id"])).status_code == 409


async def test_a_full_gate_lets_in_again_once_an_unknown_code_is_annulled(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
):
    world = await a_world(services, client, tenant, gate={"hard_capacity_limit": 1})
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = offline(world, UNKNOWN)
    await deliver(world, device, scan)
    assert await world.verdict(device, ticket.code) == "gate_at_capacity"
    await annul(world, scan["offline_id"])
    assert await world.verdict(device, ticket.code) == "admitted"


# Reviewed.


async def test_reviewed_scans_with_a_ticket_of_another_event_are_in_its_history(
    world: World, elsewhere: World, clock: MovableClock
):
    """A device brings them for a gate of an event at which it is not."""
    away, [ticket] = await world.device(), await world.tickets(1)
    gate_id = str(elsewhere.gates[0].id)
    body = offline_batch(
        world,
        away,
        offline(world, ticket.code, 10 * MINUTE, gate_id=gate_id),
        offline(world, ticket.code, 9 * MINUTE, gate_id=gate_id),
    )
    assert (await send_queue(world, away, body)).status_code == 200
    assert await heads(elsewhere) == NOBODY
    assert (await review(world, body["batch_id"])).status_code == 200
    assert await heads(elsewhere) == {"inside": 2, "irregular": 2, "entries": 0}
    assert len(await conflicts(elsewhere)) == 1
    assert set((await resolutions(world, ticket)).values()) == {("denied", "wrong_event")}
    [told] = await alerts_of(elsewhere, "invalid_admission")
    assert told["occurrences"] == 2
    await require_counts(world, elsewhere)
