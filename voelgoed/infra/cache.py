"""Reads through three tiers: hot (this process), warm (Redis), cold (the loader given).

Caches inform; they never grant. Redis missing, slow or dying costs time, not truth: it
is skipped for a moment and asked again later. A value loaded before a change can never
be stored after it: storing needs a lease, and dropping a key ends every lease on it.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar, cast
from uuid import uuid4

import msgspec
import structlog
from cachetools import LRUCache, TLRUCache, TTLCache
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from voelgoed.infra.metrics import cache_reads, warm_tier_up

T = TypeVar("T")
Command = tuple[str | bytes | int | float, ...]
log = structlog.get_logger()

HOT_ENTRIES_MAX = 100_000
KEPT_WEIGHT_MAX = 500_000
"""Of what is made from immutable things. The weight of a layout is its seats: 320 MB at most."""
WARM_TIMEOUT_S = 0.1
WARM_PAUSE_S = 1.0
"""After a failure the warm tier is left alone this long, so that it delays one request, not all."""
LEASE_MS = 5_000
FORGOTTEN_S = 30.0
"""For so long it is known that a key was dropped: longer than any transaction takes."""
MISSED_DROPS_MAX = 10_000
LEASE_MARK = b"\0lease:"  # JSON never starts with a zero byte

_HOT_READS = {hit: cache_reads.labels("hot", hit) for hit in (True, False)}

_FILL = """
if redis.call('GET', KEYS[1]) == ARGV[1] then
    return redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
end
"""


class _Hot(msgspec.Struct, frozen=True):
    value: object
    ttl_s: float


class _Kept(msgspec.Struct, frozen=True):
    value: object
    weight: int


class Cache:
    def __init__(self, redis_url: str | None) -> None:
        self._kept: LRUCache[str, _Kept] = LRUCache(
            KEPT_WEIGHT_MAX, getsizeof=lambda kept: kept.weight
        )
        self._making = asyncio.Lock()
        self._hot: TLRUCache[str, _Hot] = TLRUCache(
            HOT_ENTRIES_MAX, ttu=lambda _, entry, now: now + entry.ttl_s, timer=time.monotonic
        )
        self._forgotten: TTLCache[str, float, float] = TTLCache(
            HOT_ENTRIES_MAX, FORGOTTEN_S, timer=time.monotonic
        )
        self._loading: dict[str, asyncio.Future[object]] = {}
        self._warm = _Warm(redis_url) if redis_url else None

    async def close(self) -> None:
        if self._warm:
            await self._warm.close()

    async def read(
        self, key: str, shape: type[T], load: Callable[[], Awaitable[T]], *, ttl_s: float
    ) -> T:
        entry = self._hot.get(key)
        _HOT_READS[entry is not None].inc()
        if entry is not None:
            return msgspec.convert(entry.value, shape)
        if key in self._loading:  # ten requests for one missing key are one load
            loading = self._loading[key]
            await asyncio.wait([loading])
            if loading.cancelled():  # whoever loaded it went away; that is not our end
                return await self.read(key, shape, load, ttl_s=ttl_s)
            return msgspec.convert(loading.result(), shape)
        loading = asyncio.get_running_loop().create_future()
        loading.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._loading[key] = loading
        try:
            value = await self._read_below(key, shape, load, ttl_s)
        except asyncio.CancelledError:
            loading.cancel()
            raise
        except BaseException as fault:
            loading.set_exception(fault)
            raise
        else:
            loading.set_result(value)
            if self._loading.get(key) is loading:  # not dropped meanwhile
                self._hot[key] = _Hot(value, ttl_s)
            return value
        finally:
            if self._loading.get(key) is loading:
                del self._loading[key]

    async def _read_below(
        self, key: str, shape: type[T], load: Callable[[], Awaitable[T]], ttl_s: float
    ) -> T:
        if self._warm is None:
            return await load()
        found, lease = await self._warm.get_or_lease(key)
        cache_reads.labels("warm", found is not None).inc()
        if found is not None:
            try:
                return msgspec.json.decode(found, type=shape)
            except msgspec.MsgspecError:
                await self._warm.drop([key])  # written by another version of this program
        value = await load()
        if lease is not None:
            await self._warm.fill(key, lease, msgspec.json.encode(value), ttl_s)
        return value

    async def keep(
        self,
        key: str,
        kind: type[T],
        make: Callable[[], Awaitable[T]],
        *,
        weight: Callable[[T], int],
    ) -> T:
        """In this process only, and for as long as there is room: for what can never change."""
        kept = self._kept.get(key)
        if kept is None:
            async with self._making:  # one at a time: they are large, and many want the same
                kept = self._kept.get(key)
                if kept is None:
                    value = await make()
                    kept = _Kept(value, min(weight(value), KEPT_WEIGHT_MAX))
                    self._kept[key] = kept
        assert isinstance(kept.value, kind)
        return kept.value

    async def read_text(
        self, key: str, load: Callable[[], Awaitable[bytes]], *, ttl_s: float
    ) -> bytes:
        """From Redis or the loader, as it is; for large values that `keep` makes something of."""
        if self._warm is None:
            return await load()
        found, lease = await self._warm.get_or_lease(key)
        cache_reads.labels("warm", found is not None).inc()
        if found is not None:
            return found
        value = await load()
        if lease is not None:
            await self._warm.fill(key, lease, value, ttl_s)
        return value

    def hot(self, key: str, shape: type[T]) -> T | None:
        """What this process put there, if it still holds."""
        entry = self._hot.get(key)
        _HOT_READS[entry is not None].inc()
        return entry.value if entry is not None and isinstance(entry.value, shape) else None

    def was_forgotten(self, key: str, *, since: float) -> bool:
        """By `time.monotonic`. What was made of something older must not be put there."""
        return self._forgotten.get(key, since) > since

    def put_hot(self, key: str, value: object, *, ttl_s: float) -> None:
        self._hot[key] = _Hot(value, ttl_s)

    @property
    def has_warm(self) -> bool:
        return self._warm is not None

    async def warm(self, keys: Sequence[str]) -> list[bytes | None]:
        """What any process told Redis; None where there is nothing, or no Redis."""
        if self._warm is None or not keys:
            return [None] * len(keys)
        found = await self._warm.get_all(keys)
        for value in found:
            cache_reads.labels("warm", value is not None).inc()
        return found

    async def ask_warm(self, *command: str | int) -> object | None:
        """Redis's answer as its client reads it; None when it is away, or there is no Redis."""
        return None if self._warm is None else await self._warm.ask(command)

    async def tell_warm(self, commands: Sequence[Command]) -> None:
        """All in one round trip. Redis away: they are not made up for, so they must be such that
        nothing is wrong without them for longer than until they are put right."""
        if self._warm is not None and commands:
            await self._warm.run(commands)

    async def drop(self, keys: Iterable[str]) -> None:
        """After the change has committed. Other processes hear of it through `Live`."""
        keys = list(keys)
        self.forget(keys)
        if self._warm:
            await self._warm.drop(keys)

    def forget(self, keys: Iterable[str]) -> None:
        """Drop from this process only."""
        for key in keys:
            self._forgotten[key] = time.monotonic()
            self._hot.pop(key, None)
            self._loading.pop(key, None)

    def distrust(self, keys: Iterable[str]) -> None:
        """Another process changed these, and perhaps could not tell Redis."""
        keys = list(keys)
        self.forget(keys)
        if self._warm:
            self._warm.drop_later(keys)

    def forget_kept(self) -> None:
        """For measurements: what is kept can never be wrong."""
        self._kept.clear()

    def forget_all(self) -> None:
        """Who knows what other processes changed while we did not hear them."""
        self._hot.clear()
        self._loading.clear()


class _Warm:
    """Redis behind a short timeout. Every method works, a little poorer, without it."""

    def __init__(self, url: str) -> None:
        self._redis: Redis = Redis.from_url(  # pyright: ignore[reportUnknownMemberType]
            url,
            socket_timeout=WARM_TIMEOUT_S,
            socket_connect_timeout=WARM_TIMEOUT_S,
            retry=Retry(NoBackoff(), 1),  # a connection may be of before Redis was restarted
        )
        self._fill = self._redis.register_script(_FILL)
        self._paused_until = 0.0
        self._missed: dict[str, object] = {}
        """With a token each, because one that is deleted may be missed again meanwhile."""

    async def close(self) -> None:
        await self._redis.aclose()

    async def get_or_lease(self, key: str) -> tuple[bytes | None, bytes | None]:
        lease = LEASE_MARK + uuid4().bytes
        command = ("SET", key, lease, "NX", "GET", "PX", LEASE_MS)
        execute = cast(Callable[..., Awaitable[bytes | None]], self._redis.execute_command)  # pyright: ignore[reportUnknownMemberType]
        answer = await self._try(lambda: execute(*command, get=True), b"")
        if answer is None:
            return None, lease
        if answer == b"" or answer.startswith(LEASE_MARK):
            return None, None  # Redis is away, or somebody else is loading this key
        return answer, None

    async def fill(self, key: str, lease: bytes, value: bytes, ttl_s: float) -> None:
        await self._try(
            lambda: self._fill(keys=[key], args=[lease, value, int(ttl_s * 1000)]), None
        )

    async def get_all(self, keys: Sequence[str]) -> list[bytes | None]:
        ask = cast(Callable[..., Awaitable[list[bytes | None]]], self._redis.mget)
        found = await self._try(lambda: ask(keys), [])
        values = found or [None] * len(keys)
        return [None if value and value.startswith(LEASE_MARK) else value for value in values]

    async def ask(self, command: Command) -> object | None:
        execute = cast(Callable[..., Awaitable[object | None]], self._redis.execute_command)  # pyright: ignore[reportUnknownMemberType]
        return await self._try(lambda: execute(*command), None)

    async def run(self, commands: Sequence[Command]) -> None:
        async def send() -> None:
            pipeline = self._redis.pipeline(transaction=False)
            for command in commands:
                pipeline.execute_command(*command)  # pyright: ignore[reportUnknownMemberType]
            await pipeline.execute()

        await self._try(send, None)

    async def drop(self, keys: list[str]) -> None:
        if await self._try(lambda: self._redis.delete(*keys), -1) == -1:
            self.drop_later(keys)

    def drop_later(self, keys: Iterable[str]) -> None:
        """Before anything else is asked of Redis."""
        self._missed.update({key: object() for key in keys})

    async def _try(self, ask: Callable[[], Awaitable[T]], otherwise: T) -> T:
        if time.monotonic() < self._paused_until:
            return otherwise
        try:
            answer = await asyncio.wait_for(self._after_missed_drops(ask), WARM_TIMEOUT_S)
        except (RedisError, OSError, TimeoutError) as fault:
            self._pause(fault)
            return otherwise
        warm_tier_up.set(1)
        return answer

    async def _after_missed_drops(self, ask: Callable[[], Awaitable[T]]) -> T:
        if missed := dict(self._missed):
            await self._redis.delete(*missed)
            for key, token in missed.items():
                if self._missed.get(key) is token:
                    del self._missed[key]
        return await ask()

    def _pause(self, fault: BaseException) -> None:
        self._paused_until = time.monotonic() + WARM_PAUSE_S
        warm_tier_up.set(0)
        log.warning("warm_tier_skipped", reason=type(fault).__name__, pause_s=WARM_PAUSE_S)
        if len(self._missed) > MISSED_DROPS_MAX:
            # Forgetting which keys are stale is worse than remembering too many; entries
            # expire by themselves, so stop using the tier until the longest of them has.
            self._missed.clear()
            self._paused_until = time.monotonic() + 24 * 3600
