"""Numbered hints to every process. Two `Live` on one database stand for two processes."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import asyncpg
import msgspec
import pytest

from tests.support import MovableClock, Tenant
from voelgoed.infra import live as module
from voelgoed.infra import publisher
from voelgoed.infra.database import Database, LiveChange, Message, Transaction
from voelgoed.infra.embedded import EmbeddedPostgres
from voelgoed.infra.live import Envelope, Live, Subscription, current_seq
from voelgoed.infra.publisher import Projection
from voelgoed.services import Services

pytestmark = pytest.mark.own_database

TOPIC = "event:1"


class Happened(msgspec.Struct, frozen=True):
    text: str


@pytest.fixture
def database(services: Services) -> Database:
    return services.database


@pytest.fixture
async def elsewhere(database_url: str, clock: MovableClock) -> AsyncIterator[Live]:
    database = Database(database_url, clock=clock, connections_max=4)
    await database.open()
    live = Live(database, lambda keys: None)
    await live.start()
    yield live
    await live.stop()
    await database.close()


@asynccontextmanager
async def following(live: Live, tenant: Tenant, topic: str = TOPIC):
    reader = Reader(live, tenant, topic)
    try:
        yield reader
    finally:
        live.unfollow(reader.subscription)


class Reader:
    def __init__(self, live: Live, tenant: Tenant, topic: str) -> None:
        self.wake = asyncio.Event()
        self.subscription: Subscription = live.follow(tenant.id, topic, self.wake)
        self.received: list[Envelope] = []

    async def until(self, count: int) -> list[Envelope]:
        async with asyncio.timeout(60):
            while len(self.received) < count:
                await self.wake.wait()
                self.wake.clear()
                self.received += self.subscription.take()
        return self.received


async def say(database: Database, tenant: Tenant, *texts: str, topic: str = TOPIC) -> None:
    async with database.transaction(tenant.id) as tx:
        for text in texts:
            tx.publish(topic, {"text": text})


async def test_every_process_hears_in_order_and_numbered(
    services: Services, elsewhere: Live, tenant: Tenant
):
    async with following(services.live, tenant) as here, following(elsewhere, tenant) as there:
        for number in range(50):
            await say(services.database, tenant, f"{number}a", f"{number}b")
        for reader in (here, there):
            received = await reader.until(100)
            assert [message.seq for message in received] == list(range(1, 101))
            texts = [message.data and message.data["text"] for message in received]
            assert texts == [f"{number}{half}" for number in range(50) for half in "ab"]


async def test_numbers_are_without_gaps_when_two_processes_publish_at_once(
    services: Services, elsewhere: Live, tenant: Tenant
):
    async with following(services.live, tenant) as here, following(elsewhere, tenant) as there:
        for number in range(100):
            message = Message(TOPIC, {"text": str(number)})
            (services.live if number % 2 else elsewhere).post(tenant.id, [message])
            if number % 10 == 0:
                await asyncio.sleep(0)
        first, second = await here.until(100), await there.until(100)
        assert [message.seq for message in first] == list(range(1, 101))
        assert first == second


async def test_topics_and_organisations_are_numbered_apart_and_never_mixed(
    services: Services, tenant: Tenant, other_tenant: Tenant
):
    async with (
        following(services.live, tenant) as mine,
        following(services.live, other_tenant) as theirs,
        following(services.live, tenant, "event:2") as second,
    ):
        await say(services.database, tenant, "mine")
        await say(services.database, other_tenant, "theirs")
        await say(services.database, tenant, "second", topic="event:2")
        for reader, text in ((mine, "mine"), (theirs, "theirs"), (second, "second")):
            [message] = await reader.until(1)
            assert (message.seq, message.data) == (1, {"text": text})


async def test_nothing_is_said_of_what_was_rolled_back(services: Services, tenant: Tenant):
    async with following(services.live, tenant) as reader:
        with pytest.raises(ZeroDivisionError):
            async with services.database.transaction(tenant.id) as tx:
                tx.publish(TOPIC, {"text": "never"})
                raise ZeroDivisionError
        await say(services.database, tenant, "after")
        [message] = await reader.until(1)
        assert message == Envelope(tenant.id, TOPIC, 1, {"text": "after"})


async def test_a_message_too_large_for_notify_becomes_read_again(
    services: Services, tenant: Tenant
):
    async with following(services.live, tenant) as reader:
        await say(services.database, tenant, "x" * 10_000, "small")
        large, small = await reader.until(2)
        assert (large.seq, large.data) == (1, None)
        assert (small.seq, small.data) == (2, {"text": "small"})


async def test_a_slow_reader_loses_messages_and_is_told_so(services: Services, tenant: Tenant):
    async with following(services.live, tenant) as slow, following(services.live, tenant) as quick:
        for number in range(400):
            await say(services.database, tenant, str(number))
        await quick.until(1)
        while len(quick.received) < 400 and quick.received[-1].seq < 400:
            await quick.until(len(quick.received) + 1)
        missed = slow.subscription.take()
        assert len(missed) <= module.SUBSCRIPTION_QUEUE_MAX
        assert missed[0].data is None, "the first thing it hears is: read again"
        assert missed[-1].seq == 400


async def test_too_many_waiting_messages_become_one_read_again_a_topic(
    services: Services, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(publisher, "WAITING_MAX", 10)
    async with following(services.live, tenant) as reader:
        services.live.post(tenant.id, [Message(TOPIC, {"text": str(n)}) for n in range(100)])
        received = await reader.until(11)
        assert [message.seq for message in received] == list(range(1, 12))
        assert [message.data for message in received].count(None) == 1


async def test_a_lost_connection_is_made_again_and_readers_read_again(
    services: Services, tenant: Tenant, postgres: EmbeddedPostgres, database_name: str
):
    async with following(services.live, tenant) as reader:
        admin = await asyncpg.connect(postgres.url("postgres", "postgres"))
        await admin.execute(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = $1 AND application_name = 'voelgoed-listener'
            """,
            database_name,
        )
        await admin.close()
        [again] = await reader.until(1)
        assert (again.seq, again.data) == (0, None)
        await say(services.database, tenant, "back")
        _, back = await reader.until(2)
        assert back.data == {"text": "back"}


async def test_dropped_cache_keys_reach_every_process(
    database_url: str, services: Services, clock: MovableClock, tenant: Tenant
):
    forgotten: set[str] = set()
    everything = asyncio.Event()

    def forget(keys) -> None:
        forgotten.update(keys)
        if len(forgotten) == 100:
            everything.set()

    database = Database(database_url, clock=clock, connections_max=2)
    await database.open()
    live = Live(database, forget)
    await live.start()
    async with services.database.transaction(tenant.id) as tx:
        tx.drop(*(f"key{number}" for number in range(100)))
    async with asyncio.timeout(60):
        await everything.wait()
    await live.stop()
    await database.close()


async def test_the_current_number_is_known_to_who_asks(services: Services, tenant: Tenant):
    async with following(services.live, tenant) as reader:
        await say(services.database, tenant, "one", "two")
        await reader.until(2)
    async with services.database.transaction(tenant.id) as tx:
        assert await current_seq(tx, TOPIC) == 2
        assert await current_seq(tx, "event:other") == 0


async def test_topics_nobody_spoke_in_for_long_are_forgotten(
    services: Services, tenant: Tenant, clock: MovableClock
):
    async with following(services.live, tenant) as reader:
        await say(services.database, tenant, "one")
        await reader.until(1)
    clock.ahead += module.TOPIC_IDLE_MAX * 2
    async with services.database.transaction(tenant.id) as tx:
        assert await module.purge(tx) == 1


async def test_what_is_committed_is_still_told_when_the_process_stops(
    services: Services, elsewhere: Live, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "DRAIN_S", 30.0)  # as long as a busy machine needs
    async with following(elsewhere, tenant) as reader:
        await say(services.database, tenant, "last words")
        await services.live.stop()
        [message] = await reader.until(1)
        assert message.data == {"text": "last words"}


# Changes have a publisher of their own, because their projections take time.

Projected = Sequence[dict[str, object] | None]


def register(services: Services, projection: Projection) -> None:
    """For topics that begin with `event`."""
    services.live._of_changes._projections = {"event": projection}


async def change(database: Database, tenant: Tenant, *texts: str, topic: str = TOPIC) -> None:
    async with database.transaction(tenant.id) as tx:
        for text in texts:
            tx.publish_change(topic, Happened(text))


class Slow:
    """A projection that waits until it may go on."""

    def __init__(self) -> None:
        self.begun, self.go_on = asyncio.Event(), asyncio.Event()

    async def __call__(self, _tx: Transaction, changes: Sequence[Happened], /) -> Projected:
        self.begun.set()
        await self.go_on.wait()
        return [{"text": change.text} for change in changes]


async def one_by_one(_tx: Transaction, changes: Sequence[Happened], /) -> Projected:
    return [{"text": change.text} for change in changes]


async def merged(_tx: Transaction, changes: Sequence[Happened], /) -> Projected:
    return [{"text": " ".join(change.text for change in changes)}]


async def test_messages_and_drops_do_not_wait_for_projections(services: Services, tenant: Tenant):
    projection = Slow()
    register(services, projection)
    services.cache.put_hot("a", 1, ttl_s=60)
    async with (
        following(services.live, tenant) as slow,
        following(services.live, tenant, "event:2") as quick,
    ):
        await change(services.database, tenant, "projected")
        await projection.begun.wait()
        await say(services.database, tenant, "published", topic="event:2")
        services.live.post_dropped_keys(tenant.id, ["a"])
        assert [message.data for message in await quick.until(1)] == [{"text": "published"}]
        async with asyncio.timeout(60):
            while services.cache.hot("a", int) is not None:
                await asyncio.sleep(0.005)
        assert slow.received == []
        projection.go_on.set()
        assert [message.data for message in await slow.until(1)] == [{"text": "projected"}]


async def test_messages_and_changes_of_one_topic_are_numbered_without_gaps(
    services: Services, tenant: Tenant
):
    register(services, one_by_one)
    async with following(services.live, tenant) as reader:
        for _ in range(20):
            await say(services.database, tenant, "published")
            await change(services.database, tenant, "projected")
        received = await reader.until(40)
        assert [message.seq for message in received] == list(range(1, 41))
        texts = [message.data and message.data["text"] for message in received]
        assert sorted(map(str, texts)) == ["projected"] * 20 + ["published"] * 20


async def test_changes_that_waited_together_are_projected_together(
    services: Services, tenant: Tenant
):
    """Each topic by itself, in the order of the commits; one message takes one number."""
    register(services, merged)
    async with (
        following(services.live, tenant) as one,
        following(services.live, tenant, "event:2") as two,
    ):
        changes = [
            LiveChange(topic, Happened(text)) for text in "abc" for topic in (TOPIC, "event:2")
        ]
        services.live.post(tenant.id, changes)
        for reader in (one, two):
            [message] = await reader.until(1)
            assert (message.seq, message.data) == (1, {"text": "a b c"})
        await change(services.database, tenant, "d")
        assert [message.seq for message in await one.until(2)] == [1, 2]


async def test_a_projection_that_has_nothing_to_say_takes_no_number(
    services: Services, tenant: Tenant
):
    async def silent(_tx: Transaction, changes: Sequence[Happened], /) -> Projected:
        return [{"text": each.text} for each in changes if each.text]

    register(services, silent)
    async with following(services.live, tenant) as reader:
        await change(services.database, tenant, "")
        await services.live.is_idle()
        await change(services.database, tenant, "heard")
        [message] = await reader.until(1)
        assert (message.seq, message.data) == (1, {"text": "heard"})


async def test_a_projection_sees_what_is_so_when_its_message_is_numbered(
    services: Services, tenant: Tenant
):
    async def count(tx: Transaction, changes: Sequence[Happened], /) -> Projected:
        lists = await tx.value(int, "SELECT count(*) FROM whitelist")
        return [{"lists": lists} for _ in changes]

    register(services, count)
    async with following(services.live, tenant) as reader:
        for number in range(3):
            async with services.database.transaction(tenant.id) as tx:
                await tx.run(
                    "INSERT INTO whitelist (organization_id, id, name, created_at)"
                    " VALUES (current_organization(), gen_random_uuid(), $1, now())",
                    str(number),
                )
                tx.publish_change(TOPIC, Happened(str(number)))
        published = [message.data for message in await reader.until(3)]
        numbers = [data["lists"] for data in published if data is not None]
        assert numbers[-1] == 3
        assert numbers == sorted(numbers), "a later number is never older news"
        assert all(number >= at for at, number in enumerate(numbers, start=1))


async def test_after_a_projection_that_failed_readers_read_again_and_it_goes_on(
    services: Services, tenant: Tenant
):
    async def fail(_tx: Transaction, _changes: Sequence[Happened], /) -> Projected:
        raise ZeroDivisionError

    register(services, fail)
    async with following(services.live, tenant) as reader:
        await change(services.database, tenant, "lost")
        [read_again] = await reader.until(1)
        assert read_again.data is None
        register(services, one_by_one)
        await change(services.database, tenant, "heard")
        assert [message.data for message in await reader.until(2)] == [None, {"text": "heard"}]


async def test_it_is_idle_when_all_its_publishers_are(services: Services, tenant: Tenant):
    projection = Slow()
    register(services, projection)
    await change(services.database, tenant, "projected")
    await projection.begun.wait()
    waiting = asyncio.create_task(services.live.is_idle())
    async with following(services.live, tenant, "event:3") as reader:
        await say(services.database, tenant, "published", topic="event:3")
        await reader.until(1)
    assert not waiting.done()
    projection.go_on.set()
    async with asyncio.timeout(60):
        await waiting


async def test_many_organisations_are_told_without_waiting_for_each_other(
    services: Services, tenant: Tenant, other_tenant: Tenant, monkeypatch: pytest.MonkeyPatch
):
    """One that was just told something waits for more; the other need not."""
    monkeypatch.setattr(publisher, "REST_S", 600.0)
    async with (
        following(services.live, tenant) as one,
        following(services.live, other_tenant) as two,
    ):
        await say(services.database, tenant, "first")
        await one.until(1)
        await say(services.database, tenant, "waits")
        await say(services.database, other_tenant, "at once")
        [heard] = await two.until(1)
        assert heard.data == {"text": "at once"}
        assert len(one.received) == 1
        # Who must forget something before reading again does not wait; what waited goes with it.
        services.live.post(tenant.id, [Message(TOPIC, {"text": "now"})], ["a key"])
        heard = [each.data for each in await one.until(3)]
        assert heard == [{"text": "first"}, {"text": "waits"}, {"text": "now"}]
        monkeypatch.setattr(publisher, "REST_S", 0.0)


async def test_who_is_to_read_again_is_told_so_however_many_messages_there_are(
    services: Services, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(publisher, "WAITING_MAX", 1_000)
    published, publish = list[set[str]](), services.live._of_messages._publish

    async def noting(batch: publisher._Batch) -> float:
        published.append(batch.topics)
        return await publish(batch)

    monkeypatch.setattr(services.live._of_messages, "_publish", noting)
    async with following(services.live, tenant, "quiet") as reader:
        flood = [Message("loud", {"n": n}) for n in range(1_000)]
        services.live.post(tenant.id, [*flood, Message("quiet", {"text": "lost"})])
        services.live.post(tenant.id, flood)
        [heard] = await reader.until(1)
        assert (heard.seq, heard.data) == (1, None)
        assert "quiet" in published[0], "before the flood is over"
        await services.live.is_idle()
        assert published[-1] == {"loud"}


async def test_what_others_must_forget_does_not_wait_for_a_projection(
    services: Services, tenant: Tenant, other_tenant: Tenant
):
    """It holds the lock of the topic that a message is for."""
    forgotten: list[str] = []
    services.live._forget = forgotten.extend
    await say(services.database, tenant, "so that there is a row")
    await services.live.is_idle()
    async with services.database.transaction(tenant.id) as tx:
        await tx.run("SELECT 1 FROM live_topic WHERE topic = $1 FOR UPDATE", TOPIC)
        services.live.post(tenant.id, [Message(TOPIC, {"text": "waits"})])
        services.live.post_dropped_keys(other_tenant.id, ["a key"])
        async with asyncio.timeout(60):
            while forgotten != ["a key"]:
                await asyncio.sleep(0.01)
        assert not services.live._of_messages.idle.is_set()
