"""Publishes what waits: many messages of one organisation at a time, the organisations in turn."""

import asyncio
import contextlib
import time
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, Protocol
from uuid import UUID

import msgspec
import structlog

from voelgoed.infra.chunks import RESYNC, pack, pack_dropped
from voelgoed.infra.database import Database, LiveChange, Message, Transaction
from voelgoed.infra.metrics import live_coalesced, live_published

log = structlog.get_logger()

CHANNEL = "voelgoed_live"
WAITING_MAX = 10_000
RESYNCS_MAX = 20
"""In a batch, before its messages: however many of these there are, no topic is forgotten."""
RETRY_S = (0.1, 0.5, 1.0, 2.0, 5.0)
REST_S = 0.02
"""For so long what comes in for an organisation that was just served waits for more."""
REST_PER_PROJECTION = 10.0
"""A publisher that projected rests so many times as long: whatever the crowd does, and however large
the venue is, projections take less than a tenth of a core. What comes in meanwhile is projected
together."""
REST_S_MAX = 0.5


class Projection(Protocol):
    """Makes the messages about changes of one topic, which come in the order of their commits. It is
    called once for all that waited, in the transaction that numbers the messages, with the topic
    locked. None among its messages tells readers to read again."""

    async def __call__(
        self, tx: Transaction, changes: Sequence[Any], /
    ) -> Sequence[dict[str, object] | None]: ...


@dataclass
class _Waiting:
    """What waits for one organisation."""

    messages: deque[Message | LiveChange] = field(default_factory=deque[Message | LiveChange])
    resyncs: dict[str, None] = field(default_factory=dict[str, None])
    """Topics of which too many messages waited."""
    dropped_keys: set[str] = field(default_factory=set[str])

    @property
    def is_empty(self) -> bool:
        return not (self.messages or self.resyncs or self.dropped_keys)


@dataclass
class _Batch:
    organization_id: UUID
    resyncs: list[str]
    messages: list[Message | LiveChange]
    dropped_keys: list[str]

    @property
    def topics(self) -> set[str]:
        return {*self.resyncs, *(message.topic for message in self.messages)}


class Publisher:
    def __init__(
        self,
        database: Database,
        batch_max: int,
        projections: Mapping[str, Projection] = MappingProxyType({}),
    ) -> None:
        """Projections are named by the first word of the topics they are for."""
        self._database = database
        self._batch_max = batch_max
        self._projections = projections
        self._waiting: dict[UUID, _Waiting] = {}
        self._waiting_count = 0
        self._rests_until: dict[UUID, float] = {}
        self._somebody_new = asyncio.Event()
        self.stopping = False
        self.idle = asyncio.Event()
        self.idle.set()

    def post(self, organization_id: UUID, message: Message | LiveChange) -> None:
        waiting = self._waiting_of(organization_id)
        if self._waiting_count >= WAITING_MAX:
            live_coalesced.inc()
            waiting.resyncs[message.topic] = None
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
                projected_s = await self._publish(batch)
                attempt = 0
                if projected_s:
                    await asyncio.sleep(min(REST_S_MAX, REST_PER_PROJECTION * projected_s))
            except Exception as fault:  # whatever it was, publishing must go on
                log.warning("live_publish_failed", reason=repr(fault))
                again = self._waiting_of(batch.organization_id)
                again.resyncs.update(dict.fromkeys(batch.topics))
                again.dropped_keys.update(batch.dropped_keys)
                await asyncio.sleep(RETRY_S[min(attempt, len(RETRY_S) - 1)])
                attempt += 1

    async def _next_batch(self) -> _Batch:
        """That of the organisation that has waited longest and does not rest."""
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
        """In their order, up to the limit. The organisation goes to the end of the row with what is left."""
        waiting = self._waiting.pop(organization_id)
        resyncs = list(waiting.resyncs)[:RESYNCS_MAX]
        for topic in resyncs:
            del waiting.resyncs[topic]
        count = min(len(waiting.messages), self._batch_max - len(resyncs))
        messages = [waiting.messages.popleft() for _ in range(count)]
        self._waiting_count -= count
        dropped_keys, waiting.dropped_keys = list(waiting.dropped_keys), set()
        self._rests_until = {k: until for k, until in self._rests_until.items() if until > now}
        if waiting.is_empty:
            self._rests_until[organization_id] = now + REST_S
        else:
            self._waiting[organization_id] = waiting
        return _Batch(organization_id, resyncs, messages, dropped_keys)

    async def _publish(self, batch: _Batch) -> float:
        """Gives how many seconds the projections took."""
        changes = _changes_by_topic(batch.messages)
        plain = [(topic, RESYNC) for topic in batch.resyncs]
        plain += [
            (message.topic, msgspec.json.encode(message.data))
            for message in batch.messages
            if isinstance(message, Message)
        ]
        if not changes:
            query = "SELECT tell_live($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
            values = _tell_live_values(batch, self._database.clock.now(), plain)
            await self._database.call(dict, query, *values)
            live_published.inc(len(plain))
            return 0.0
        async with self._database.transaction(batch.organization_id) as tx:
            await _lock_topics(tx, sorted(batch.topics))
            begun = time.perf_counter()
            projected = [
                (topic, msgspec.json.encode(data))
                for topic, whats in changes.items()
                for data in await self._projection_of(topic)(tx, whats)
            ]
            projected_s = time.perf_counter() - begun
            values = _tell_live_values(batch, tx.now, plain + projected)
            await tx.run("SELECT tell_live($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)", *values)
        live_published.inc(len(plain) + len(projected))
        return projected_s

    def _projection_of(self, topic: str) -> Projection:
        return self._projections[topic.partition(":")[0]]


def _changes_by_topic(messages: Iterable[Message | LiveChange]) -> dict[str, list[msgspec.Struct]]:
    by_topic: dict[str, list[msgspec.Struct]] = defaultdict(list)
    for message in messages:
        if isinstance(message, LiveChange):
            by_topic[message.topic].append(message.what)
    return by_topic


def _tell_live_values(
    batch: _Batch, at: datetime, messages: Sequence[tuple[str, bytes]]
) -> tuple[object, ...]:
    counts, chunks = pack(messages)
    return (
        batch.organization_id,
        at,
        CHANNEL,
        pack_dropped(batch.organization_id, batch.dropped_keys),
        list(counts),
        list(counts.values()),
        [chunk.payload for chunk in chunks],
        [chunk.topic for chunk in chunks],
        [chunk.first for chunk in chunks],
        [chunk.content for chunk in chunks],
    )


async def _lock_topics(tx: Transaction, topics: Sequence[str]) -> None:
    """Before projecting: messages with later numbers were projected later."""
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
