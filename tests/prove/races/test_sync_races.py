"""Devices that deliver scans of the same tickets at the same moment, and gates that are online
meanwhile."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import httpx
import pytest

from tests.prove.length import rounds
from tests.scanning.node_support import another_node
from tests.scanning.support import World, a_world
from tests.scanning.sync_support import (
    conflicts,
    iso,
    offline,
    offline_batch,
    send,
    send_queue,
    signed,
    signed_batch,
)
from tests.support import MovableClock, Tenant
from voelgoed.scanning.actions import sync_pipeline
from voelgoed.scanning.actions.recount import recount_event
from voelgoed.scanning.rules.history_plan import HistoryPlanner
from voelgoed.services import Services
from voelgoed.ticketing.model.tickets import Ticket

pytestmark = pytest.mark.own_database

ROUNDS = rounds(short=2, full=20)
MINUTE = timedelta(minutes=1)


@pytest.fixture
async def world(services: Services, client: httpx.AsyncClient, tenant: Tenant) -> World:
    return await a_world(services, client, tenant, gates=2)


@pytest.fixture
async def nodes(
    world: World, database_url: str, clock: MovableClock
) -> AsyncIterator[tuple[World, World]]:
    """Deliveries that reach one node at the same moment share a batch there; only two nodes race."""
    async with another_node(world, database_url, clock) as second:
        yield world, second


class ReadBarrier:
    """Nobody writes before all have read, at the first attempt."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, parties: int) -> None:
        self._barrier = asyncio.Barrier(parties)
        self._left = parties
        commit = sync_pipeline.commit_history

        async def waiting(*given: Any, **more: Any) -> Any:
            if self._left:
                self._left -= 1
                await asyncio.wait_for(self._barrier.wait(), 10)
            return await commit(*given, **more)

        monkeypatch.setattr(sync_pipeline, "commit_history", waiting)


async def deliver_at_once(
    nodes: tuple[World, World], monkeypatch: pytest.MonkeyPatch
) -> tuple[Ticket, list[dict[str, Any]]]:
    """Two devices let somebody in with the same ticket, and deliver that at the same moment."""
    world = nodes[0]
    [ticket] = await world.tickets(1)
    scans = [
        await signed(world, device, ticket, (10 - number) * MINUTE / 2)
        for number, device in enumerate(world.devices)
    ]
    ReadBarrier(monkeypatch, len(world.devices))
    answers = await asyncio.gather(
        *(
            send(node, device, signed_batch(device, scan))
            for node, device, scan in zip(nodes, world.devices, scans, strict=True)
        )
    )
    assert [answer.status_code for answer in answers] == [200] * len(answers)
    return ticket, scans


async def differences(world: World) -> list[Any]:
    database = world.services.database
    return list(await recount_event(database, world.tenant.id, world.event_id))


@pytest.mark.parametrize("attempt", range(ROUNDS))
async def test_of_two_simultaneous_deliveries_the_earlier_scan_counts(
    nodes: tuple[World, World], monkeypatch: pytest.MonkeyPatch, attempt: int
):
    world = nodes[0]
    await world.device(world.gates[0]), await world.device(world.gates[1])
    ticket, (earlier, later) = await deliver_at_once(nodes, monkeypatch)
    [found] = await conflicts(world)
    assert found["winner"]["id"] == earlier["scan_id"]
    assert found["scan"]["id"] == later["scan_id"]
    assert found["conflict"]["kind"] == "double_entry"
    [kept] = await world.rows("SELECT scan_count FROM ticket WHERE id = $1", ticket.id)
    assert kept["scan_count"] == 1
    assert (await world.inside())["event"] == 2
    assert await differences(world) == []


async def test_control_without_the_check_for_changed_tickets_both_would_count(
    nodes: tuple[World, World], monkeypatch: pytest.MonkeyPatch
):
    """The control of the test above."""
    world = nodes[0]
    change = HistoryPlanner.change

    def unseen(self: HistoryPlanner, *given: Any, **more: Any) -> Any:
        return change(self, *given, **more | {"is_locked": True})

    monkeypatch.setattr(HistoryPlanner, "change", unseen)
    await world.device(world.gates[0]), await world.device(world.gates[1])
    await deliver_at_once(nodes, monkeypatch)
    assert await conflicts(world) == []
    assert (await world.inside())["event"] == 2


@pytest.mark.parametrize("attempt", range(ROUNDS))
async def test_an_online_scan_and_a_delivery_of_the_same_ticket_at_the_same_moment(
    world: World, monkeypatch: pytest.MonkeyPatch, attempt: int
):
    """Either the server knew of the delivered scan and denied the second, or it did not and there is a
    conflict."""
    north, south = await world.device(world.gates[0]), await world.device(world.gates[1])
    [ticket] = await world.tickets(1)
    scan = await signed(world, north, ticket, MINUTE)
    entered = asyncio.Event()
    commit = sync_pipeline.commit_history

    async def late(*given: Any, **more: Any) -> Any:
        if not entered.is_set():
            assert await world.verdict(south, ticket.code) == "admitted"
            entered.set()
        return await commit(*given, **more)

    monkeypatch.setattr(sync_pipeline, "commit_history", late)
    answer = await send(world, north, signed_batch(north, scan))
    assert answer.json()["processed"] == [scan["scan_id"]]
    [found] = await conflicts(world)
    assert (found["winner"]["id"], found["scan"]["source"]) == (scan["scan_id"], "online")
    assert await world.verdict(south, ticket.code) == "already_scanned"
    assert (await world.inside())["event"] == 2
    assert await differences(world) == []


@pytest.mark.parametrize("attempt", range(ROUNDS))
async def test_the_same_batch_at_two_nodes_is_stored_once(
    nodes: tuple[World, World], monkeypatch: pytest.MonkeyPatch, attempt: int
):
    world, second = nodes
    device, [ticket] = await world.device(), await world.tickets(1)
    ReadBarrier(monkeypatch, 2)
    body = signed_batch(device, await signed(world, device, ticket))
    answers = await asyncio.gather(send(world, device, body), send(second, device, body))
    replies = [answer.json() for answer in answers]
    assert sorted("message" in each for each in replies) == [False, True]
    for each in replies:
        each.pop("message", None), each.pop("server_time")
    assert replies[0] == replies[1]
    [kept] = await world.rows("SELECT count(*) FROM scan")
    assert kept["count"] == 1


@pytest.mark.parametrize("attempt", range(ROUNDS))
async def test_the_same_scan_in_two_simultaneous_batches_is_stored_once(
    nodes: tuple[World, World], monkeypatch: pytest.MonkeyPatch, attempt: int
):
    world = nodes[0]
    device, [ticket] = await world.device(), await world.tickets(1)
    ReadBarrier(monkeypatch, 2)
    scan = await signed(world, device, ticket)
    answers = await asyncio.gather(
        *(send(node, device, signed_batch(device, scan)) for node in nodes)
    )
    assert [answer.json()["processed"] for answer in answers] == [[scan["scan_id"]]] * 2
    assert (await world.inside())["event"] == 1


async def test_simultaneous_whole_queues_signed_batches_and_online_scans(world: World):
    """Nothing is lost, nothing counts twice, and one entry of each ticket is admitted."""
    tickets = await world.tickets(20)
    devices = [await world.device(world.gates[n % 2], name=f"Device {n}") for n in range(6)]
    queues = [
        offline_batch(
            world, device, *(offline(world, each.code, (n + 1) * MINUTE / 4) for each in tickets)
        )
        for n, device in enumerate(devices[:3])
    ]
    batches = [
        signed_batch(
            device,
            *[await signed(world, device, each, (n + 5) * MINUTE / 4) for each in tickets],
        )
        for n, device in enumerate(devices[3:])
    ]
    answers = await asyncio.gather(
        *(send_queue(world, d, q) for d, q in zip(devices[:3], queues, strict=True)),
        *(send(world, d, b) for d, b in zip(devices[3:], batches, strict=True)),
        *(world.scan(devices[n % 6], each.code) for n, each in enumerate(tickets)),
    )
    assert [answer.status_code for answer in answers] == [200] * len(answers)
    [kept] = await world.rows("SELECT count(*) FROM scan")
    assert kept["count"] == 7 * len(tickets)
    rows = await world.rows("SELECT scan_count, scanned_at FROM ticket")
    assert {row["scan_count"] for row in rows} == {1}
    first = {iso(row["scanned_at"])[:19] for row in rows}
    assert first <= {each["scanned_at"][:19] for each in batches[-1]["scans"]}
    [let_in] = await world.rows(
        "SELECT count(*) FROM scan WHERE outcome = 'valid' OR outcome IS NULL AND status = 'admitted'"
    )
    assert (await world.inside())["event"] == let_in["count"], "every head counts"
    assert await differences(world) == []


async def test_simultaneous_deliveries_share_a_batch_and_each_gets_its_own_answer(world: World):
    """Ten deliveries with scans of the same tickets: one batch twice, one that is refused, one bad scan."""
    tickets = await world.tickets(5)
    devices = [await world.device(world.gates[n % 2], name=f"Device {n}") for n in range(8)]
    bodies = [
        signed_batch(
            device, *[await signed(world, device, each, (n + 1) * MINUTE / 4) for each in tickets]
        )
        for n, device in enumerate(devices)
    ]
    bodies[3]["device_id"] = str(devices[4].id)
    bodies[5]["scans"][2]["signature"] = "HMAC-SHA256=" + "0" * 64
    sent = [*zip(devices, bodies, strict=True), (devices[0], bodies[0])]
    answers = await asyncio.gather(*(send(world, device, body) for device, body in sent))
    assert [answer.status_code for answer in answers] == [
        200,
        200,
        200,
        403,
        200,
        200,
        200,
        200,
        200,
    ]
    replies = [answer.json() for answer in answers if answer.status_code == 200]
    for each, (_, body) in zip(
        replies, (pair for pair in sent if pair[1] is not bodies[3]), strict=True
    ):
        ids = {scan["scan_id"] for scan in body["scans"]}
        assert {*each["processed"], *(a["scan_id"] for a in each["rejected"])} == ids
        assert all({a["scan_id"], a["winner_scan_id"]} & ids for a in each["conflicts"])
    assert [len(each["rejected"]) for each in replies] == [0, 0, 0, 0, 1, 0, 0, 0]
    [kept] = await world.rows("SELECT count(*) FROM scan")
    assert kept["count"] == 7 * 5 - 1
    assert (await world.inside())["event"] == 34
    winners = {each["winner"]["id"] for each in await conflicts(world)}
    assert winners == {scan["scan_id"] for scan in bodies[7]["scans"]}
    assert await differences(world) == []
