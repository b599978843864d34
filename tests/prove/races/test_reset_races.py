"""The venue is declared empty while gates scan and devices deliver their scans."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import httpx
import pytest

from tests.prove.length import rounds
from tests.scanning.node_support import another_node
from tests.scanning.support import Device, World, a_world
from tests.scanning.sync_support import send, signed, signed_batch
from tests.support import MovableClock, Tenant
from voelgoed.scanning.actions import history_commit, occupancy_resets, sync_pipeline
from voelgoed.scanning.actions.occupancy_resets import declare_empty
from voelgoed.scanning.actions.recount import recount_event
from voelgoed.scanning.model.occupancy import OccupancyReset
from voelgoed.scanning.model.supervision import NewOccupancyReset
from voelgoed.services import Services
from voelgoed.ticketing.model.tickets import Ticket

pytestmark = pytest.mark.own_database

ROUNDS = rounds(short=2, full=20)
TICKETS = 12
MOMENT = timedelta(milliseconds=1)
LONG_AGO = timedelta(minutes=1)


@pytest.fixture
async def world(services: Services, client: httpx.AsyncClient, tenant: Tenant) -> World:
    return await a_world(services, client, tenant, gates=2)


@pytest.fixture
async def nodes(
    world: World, database_url: str, clock: MovableClock
) -> AsyncIterator[tuple[World, World]]:
    async with another_node(world, database_url, clock) as second:
        yield world, second


async def empty(world: World) -> OccupancyReset:
    caller = world.tenant.caller("gate_supervisor")
    new = NewOccupancyReset(reason="Sweep")
    return await declare_empty(world.services.database, caller, world.event_id, new, None)


async def deliver(
    world: World, device: Device, *tickets: Ticket | None, ago: timedelta = MOMENT
) -> None:
    """Delivers a scan that let somebody in a moment ago."""
    scans = [await signed(world, device, ticket, ago) for ticket in tickets]
    answer = await send(world, device, signed_batch(device, *scans))
    assert answer.status_code == 200, answer.text


async def differences(world: World) -> list[Any]:
    return list(await recount_event(world.services.database, world.tenant.id, world.event_id))


async def inside_by_tickets(world: World) -> int:
    [row] = await world.rows(
        "SELECT sum(is_inside::integer + json_array_length(irregular)) AS heads FROM ticket"
    )
    return row["heads"]


@pytest.mark.parametrize("attempt", range(ROUNDS))
async def test_after_simultaneous_scans_and_resets_the_counts_agree_with_the_scans(
    nodes: tuple[World, World], attempt: int
):
    world, other = nodes
    north, south = await world.device(world.gates[0]), await world.device(world.gates[1])
    tickets = await world.tickets(TICKETS)
    for ticket in tickets[:4]:
        assert await world.verdict(north, ticket.code) == "admitted"
    resets = await asyncio.gather(
        *(world.verdict(north, ticket.code) for ticket in tickets[4:8]),
        empty(world),
        *(other.verdict(south, ticket.code, direction="exit") for ticket in tickets[:2]),
        deliver(other, south, *tickets[6:10], None),
        empty(other),
        *(other.verdict(south, ticket.code) for ticket in tickets[8:]),
        deliver(world, north, *tickets[2:5], None),
    )
    assert sum(isinstance(each, OccupancyReset) for each in resets) == 2
    assert await differences(world) == []
    last = await empty(world)
    assert await differences(world) == []
    assert await inside_by_tickets(world) == 0
    assert set((await world.inside()).values()) == {0}
    assert last.inside >= last.irregular


async def a_delivery_that_is_overtaken(
    world: World, device: Device, monkeypatch: pytest.MonkeyPatch, *tickets: Ticket | None
) -> None:
    """The venue is declared empty after a delivery was decided, before it is written."""
    commit, is_first = sync_pipeline.commit_history, True

    async def late(*given: Any, **more: Any) -> Any:
        nonlocal is_first
        if is_first:
            is_first = False
            await empty(world)
        return await commit(*given, **more)

    monkeypatch.setattr(sync_pipeline, "commit_history", late)
    await deliver(world, device, *tickets)


async def test_a_delivery_that_a_reset_overtakes_is_decided_again(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    device, [ticket] = await world.device(), await world.tickets(1)
    await a_delivery_that_is_overtaken(world, device, monkeypatch, ticket, None)
    assert await inside_by_tickets(world) == 0
    assert (await world.inside())["event"] == 0
    assert await differences(world) == []


async def test_control_without_the_check_for_a_reset_they_would_stay_inside(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    """The control of the test above."""
    write = history_commit.offline.write_plan

    async def knowing_all(tx: Any, rows: Any) -> Any:
        await tx.connection.execute("UPDATE occupancy SET emptied_at = NULL")
        return await write(tx, rows)

    monkeypatch.setattr(history_commit.offline, "write_plan", knowing_all)
    device, [ticket] = await world.device(), await world.tickets(1)
    await a_delivery_that_is_overtaken(world, device, monkeypatch, ticket, None)
    assert (await world.inside())["event"] == 2
    assert await differences(world) != []


async def a_scan_between_tickets_and_counts(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> OccupancyReset:
    """A device delivers a scan from before the reset, after its tickets were locked and before its
    counts."""
    device, [ticket] = await world.device(), await world.tickets(1)
    lock, is_first = occupancy_resets.store.lock_counts, True

    async def late(*given: Any) -> None:
        nonlocal is_first
        if is_first:
            is_first = False
            await deliver(world, device, ticket, ago=LONG_AGO)
        await lock(*given)

    monkeypatch.setattr(occupancy_resets.store, "lock_counts", late)
    return await empty(world)


async def test_a_scan_that_arrives_between_tickets_and_counts_is_not_missed(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    reset = await a_scan_between_tickets_and_counts(world, monkeypatch)
    assert reset.inside == 1
    assert await inside_by_tickets(world) == 0
    assert await differences(world) == []


async def test_control_without_the_second_look_a_scan_would_be_missed(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    """The control of the test above."""

    async def nobody(*_: object) -> bool:
        return False

    monkeypatch.setattr(occupancy_resets.store, "has_somebody_left_inside", nobody)
    reset = await a_scan_between_tickets_and_counts(world, monkeypatch)
    assert reset.inside == 0
    assert await inside_by_tickets(world) == 1
    assert await differences(world) != []
