"""The fraud watch: it never delays a scan, and forgets nothing that it can still look at."""

import asyncio
from typing import Any
from uuid import uuid4

import asyncpg
import pytest

from tests.scanning.alert_support import UNKNOWN, kinds
from tests.scanning.support import World
from tests.support import Tenant
from voelgoed.infra.embedded import EmbeddedPostgres
from voelgoed.scanning.actions import watch as watch_module
from voelgoed.scanning.actions.watch import WAITING_MAX
from voelgoed.scanning.metrics import scans_unwatched
from voelgoed.scanning.model.admission import DeviceCredential, ScanDecision, ScanRequest
from voelgoed.services import Services


@pytest.fixture
async def admin(postgres: EmbeddedPostgres, database_name: str):
    connection = await asyncpg.connect(postgres.url("postgres", database_name))
    yield connection
    await connection.close()


async def test_scans_do_not_wait_for_a_watch_that_waits(world: World, admin: asyncpg.Connection):
    device = await world.device()
    lock = admin.transaction()
    await lock.start()
    await admin.execute("LOCK TABLE scan_alert IN ACCESS EXCLUSIVE MODE")
    await world.scan(device, UNKNOWN)
    looking = asyncio.create_task(world.services.watch.is_idle())
    await asyncio.sleep(0.2)  # by now it waits for the lock
    for ticket in await world.tickets(10):
        assert await world.verdict(device, ticket.code) == "admitted"
    assert not looking.done()
    await lock.rollback()
    assert await kinds(world) == ["ticket_not_found"]
    await looking


async def test_a_watch_that_fails_harms_no_scan_and_continues(
    world: World, admin: asyncpg.Connection
):
    device, ticket = await world.device(), await world.ticket()
    before = scans_unwatched._value.get()
    await admin.execute("ALTER TABLE scan_alert RENAME TO gone")
    await world.scan(device, UNKNOWN)
    await world.services.watch.is_idle()
    assert scans_unwatched._value.get() == before + 1
    assert await world.verdict(device, ticket.code) == "admitted"
    await admin.execute("ALTER TABLE gone RENAME TO scan_alert")
    await world.scan(device, UNKNOWN)
    assert await kinds(world) == ["ticket_not_found"]


async def test_scans_that_could_not_be_watched_are_watched_when_the_database_is_back(
    world: World, admin: asyncpg.Connection, database_name: str
):
    lock = admin.transaction()
    await lock.start()
    await admin.execute("LOCK TABLE scan_alert IN ACCESS EXCLUSIVE MODE")
    await world.scan(await world.device(), UNKNOWN)
    looking = asyncio.create_task(world.services.watch.is_idle())
    lost: list[Any] = []
    async with asyncio.timeout(10):
        while not lost:
            await asyncio.sleep(0.01)
            lost = await admin.fetch(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE datname = $1 AND wait_event_type = 'Lock'
                """,
                database_name,
            )
    await lock.rollback()
    await looking
    assert await kinds(world) == ["ticket_not_found"]


async def test_scans_beyond_the_queue_limit_are_dropped_and_counted(
    services: Services, tenant: Tenant
):
    watch, before = services.watch, scans_unwatched._value.get()
    for _ in range(3):
        watch.note(tenant.id, [a_decision(services, tenant)] * (WAITING_MAX // 2))
    await watch.is_idle()
    dropped = scans_unwatched._value.get() - before
    assert dropped == WAITING_MAX // 2


def a_decision(services: Services, tenant: Tenant) -> ScanDecision:
    """A decision about a repeated scan, in which the watch has nothing to look at."""
    now = services.clock.now()
    return ScanDecision(
        ScanRequest(
            caller=tenant.caller(),
            by=DeviceCredential(1, uuid4()),
            scan_id=uuid4(),
            sent_id="",
            audit_id=uuid4(),
            text=UNKNOWN,
            presented=None,
            direction="entry",
            scanned_at=now,
            received_at=now,
        )
    )


@pytest.mark.own_database
async def test_the_watch_finishes_its_queue_before_it_stops(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(watch_module, "DRAIN_S", 30.0)  # a busy machine may need so long
    device = await world.device()
    await world.scan(device, UNKNOWN)
    await world.services.watch.stop()
    assert await kinds(world) == ["ticket_not_found"]
    assert await world.verdict(device, (await world.ticket()).code) == "admitted"


@pytest.mark.own_database
async def test_a_watch_that_cannot_reach_the_database_stops_all_the_same(
    world: World, admin: asyncpg.Connection
):
    async with admin.transaction():
        await admin.execute("LOCK TABLE scan_alert IN ACCESS EXCLUSIVE MODE")
        await world.scan(await world.device(), UNKNOWN)
        async with asyncio.timeout(60):
            await world.services.watch.stop()
