"""Tells what waits: many messages of one organisation at a time, the organisations in turn."""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

import msgspec
import structlog

from voelgoed.infra.database import Database, Message, Transaction
from voelgoed.infra.metrics import live_coalesced, live_published
from voelgoed.infra.parcels import pack, pack_dropped

log = structlog.get_logger()

CHANNEL = "voelgoed_live"
WAITING_MAX = 10_000
REREADS_MAX = 20
"""In a batch, before its messages: however many of these there are, nobody is forgotten."""
RETRY_S = (0.1, 0.5, 1.0, 2.0, 5.0)
REST_S = 0.02
"""For so long what comes in for an organisation that was just told something waits for more."""
REST_PER_LOOK = 10.0
"""Who had to look rests so many times as long: whatever the crowd does, and however large the house
is, looking takes less than a tenth of a core. What comes in meanwhile is told together, after one look."""
REST_S_MAX = 0.5


@dataclass
class _Waiting:
    """Of one organisation."""

    messages: deque[Message] = field(default_factory=deque[Message])
    reread: dict[str, None] = field(default_factory=dict[str, None])
    """Topics of which too many waited."""
    dropped_keys: set[str] = field(default_factory=set[str])

    @property
    def is_empty(self) -> bool:
        return not (self.messages or self.reread or self.dropped_keys)


@dataclass
class _Batch:
    organization_id: UUID
    messages: list[Message]
    dropped_keys: list[str]


class Publisher:
    def __init__(self, database: Database, batch_max: int) -> None:
        self._database = database
        self._batch_max = batch_max
        self._waiting: dict[UUID, _Waiting] = {}
        self._waiting_count = 0
        self._rests_until: dict[UUID, float] = {}
        self._somebody_new = asyncio.Event()
        self.stopping = False
        self.idle = asyncio.Event()
        self.idle.set()

    def post(self, organization_id: UUID, message: Message) -> None:
        waiting = self._waiting_of(organization_id)
        if self._waiting_count >= WAITING_MAX:
            live_coalesced.inc()
            waiting.reread[message.topic] = None
        else:
            waiting.messages.append(message)
            self._waiting_count += 1

    def post_dropped_keys(self, organization_id: UUID, keys: Iterable[str]) -> None:
        """These do not wait for more: others believe what they remember."""
        self._waiting_of(organization_id).dropped_keys.update(keys)
        self._somebody_new.set()

    def _waiting_of(self, organization_id: UUID) -> _Waiting:
        waiting = self._waiting.get(organization_id)
        if waiting is None:
            waiting = self._waiting[organization_id] = _Waiting()
            self.idle.clear()
            self._somebody_new.set()
        return waiting

    async def run(self) -> None:
        attempt = 0
        while not self.stopping:
            batch = await self._next_batch()
            try:
                looked_s = await self._tell(batch)
                live_published.inc(len(batch.messages))
                attempt = 0
                if looked_s:
                    await asyncio.sleep(min(REST_S_MAX, REST_PER_LOOK * looked_s))
            except Exception as fault:  # whatever it was, publishing must go on
                log.warning("live_publish_failed", reason=repr(fault))
                again = self._waiting_of(batch.organization_id)
                again.reread.update({message.topic: None for message in batch.messages})
                again.dropped_keys.update(batch.dropped_keys)
                await asyncio.sleep(RETRY_S[min(attempt, len(RETRY_S) - 1)])
                attempt += 1

    async def _next_batch(self) -> _Batch:
        """Of whoever has waited longest and does not rest."""
        while True:
            self._somebody_new.clear()
            if not self._waiting:
                self.idle.set()
                await self._somebody_new.wait()
                continue
            now = time.monotonic()
            soonest = min(self._rest_of(each, now) for each in self._waiting)
            for organization_id in self._waiting:
                if self._rest_of(organization_id, now) <= 0:
                    return self._take(organization_id, now)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(soonest):
                    await self._somebody_new.wait()

    def _rest_of(self, organization_id: UUID, now: float) -> float:
        if self._waiting[organization_id].dropped_keys:
            return 0.0
        return self._rests_until.get(organization_id, now) - now

    def _take(self, organization_id: UUID, now: float) -> _Batch:
        """In their order, up to the limit. What is left, or comes in now, is the last in the row."""
        waiting = self._waiting.pop(organization_id)
        topics = list(waiting.reread)[:REREADS_MAX]
        for topic in topics:
            del waiting.reread[topic]
        count = min(len(waiting.messages), self._batch_max - len(topics))
        messages = [Message(topic, None) for topic in topics]
        messages += [waiting.messages.popleft() for _ in range(count)]
        self._waiting_count -= count
        dropped_keys, waiting.dropped_keys = list(waiting.dropped_keys), set()
        self._rests_until = {k: until for k, until in self._rests_until.items() if until > now}
        if waiting.is_empty:
            self._rests_until[organization_id] = now + REST_S
        else:
            self._waiting[organization_id] = waiting
        return _Batch(organization_id, messages, dropped_keys)

    async def _tell(self, batch: _Batch) -> float:
        """Gives how long it took to look."""
        organization_id, messages = batch.organization_id, batch.messages
        dropped = pack_dropped(organization_id, batch.dropped_keys)
        if not any(message.look for message in messages):
            said = [(message.topic, msgspec.json.encode(message.data)) for message in messages]
            told = _told(organization_id, self._database.clock.now(), dropped, said)
            query = "SELECT tell_live($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
            await self._database.call(dict, query, *told)
            return 0.0
        async with self._database.transaction(organization_id) as tx:
            await _lock_topics(tx, sorted({message.topic for message in messages}))
            begun = time.perf_counter()
            said = [(message.topic, await _look(tx, message)) for message in messages]
            looked_s = time.perf_counter() - begun
            told = _told(organization_id, tx.now, dropped, said)
            await tx.run("SELECT tell_live($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)", *told)
        return looked_s


def _told(
    organization_id: UUID, at: datetime, dropped: list[str], said: Sequence[tuple[str, bytes]]
) -> tuple[object, ...]:
    counts, parcels = pack(said)
    return (
        organization_id,
        at,
        CHANNEL,
        dropped,
        list(counts),
        list(counts.values()),
        [parcel.payload for parcel in parcels],
        [parcel.topic for parcel in parcels],
        [parcel.first for parcel in parcels],
        [parcel.content for parcel in parcels],
    )


async def _look(tx: Transaction, message: Message) -> bytes:
    return msgspec.json.encode(message.data if message.look is None else await message.look(tx))


async def _lock_topics(tx: Transaction, topics: Sequence[str]) -> None:
    """Before looking: who numbers later has looked later."""
    await tx.run(
        """
        INSERT INTO live_topic (organization_id, topic, seq, touched_at)
        SELECT current_organization(), topic, 0, $2
          FROM unnest($1::text[]) AS topic ORDER BY topic
        ON CONFLICT (organization_id, topic) DO UPDATE SET touched_at = EXCLUDED.touched_at
        """,
        topics,
        tx.now,
    )
