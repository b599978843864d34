"""Live messages: hints that something changed, numbered per topic, to every process.

After a commit its messages go, many at a time, through PostgreSQL NOTIFY to every
process and from there to the websockets that follow the topic. Nothing depends on
them: a reader that sees a gap in the numbers, or is told `reread`, reads again.
"""

import asyncio
import contextlib
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from datetime import timedelta
from uuid import UUID

import msgspec
import structlog

from voelgoed.infra.database import Database, Message, Transaction
from voelgoed.infra.metrics import (
    live_coalesced,
    live_missed,
    live_published,
    live_subscriptions,
)

log = structlog.get_logger()

CHANNEL = "voelgoed_live"
PAYLOAD_BYTES_MAX = 7_900  # NOTIFY carries just under 8,000
BATCH_MAX = 200
WAITING_MAX = 10_000
SUBSCRIPTION_QUEUE_MAX = 256
RECONNECT_S = (0.1, 0.5, 1.0, 2.0, 5.0)
DRAIN_S = 1.0
TOPIC_IDLE_MAX = timedelta(days=1)


class Envelope(msgspec.Struct, frozen=True, array_like=True):
    """What goes through NOTIFY: a message, or cache keys that every process must forget."""

    organization_id: UUID
    topic: str
    seq: int
    data: dict[str, object] | None = None
    """None: read again (the message was too large, or too many waited)."""
    dropped_keys: list[str] = []


class Subscription:
    """One reader of one topic. A slow one loses messages and is told so; it never blocks."""

    def __init__(self, organization_id: UUID, topic: str, wake: asyncio.Event) -> None:
        self.organization_id = organization_id
        self.topic = topic
        self._queue: deque[Envelope] = deque()
        self._wake = wake

    def deliver(self, envelope: Envelope) -> None:
        if len(self._queue) >= SUBSCRIPTION_QUEUE_MAX:
            self._queue.clear()
            live_missed.inc()
            envelope = Envelope(envelope.organization_id, envelope.topic, envelope.seq)
        self._queue.append(envelope)
        self._wake.set()

    def discard_up_to(self, seq: int) -> None:
        """What came in before the reader knew its number. Later ones are never held against it:
        numbers go back after a crash or a long silence, and to hear something twice is harmless."""
        self._queue = deque(envelope for envelope in self._queue if envelope.seq > seq)

    def take(self) -> list[Envelope]:
        taken = list(self._queue)
        self._queue.clear()
        return taken


class Live:
    def __init__(
        self,
        database: Database,
        forget: Callable[[Iterable[str]], None],
        forget_all: Callable[[], None] = lambda: None,
    ) -> None:
        self._database = database
        self._forget = forget
        self._forget_all = forget_all
        self._readers: dict[tuple[UUID, str], set[Subscription]] = defaultdict(set)
        self._waiting: deque[tuple[UUID, Message]] = deque()
        self._drops: dict[UUID, set[str]] = defaultdict(set)
        self._reread: dict[tuple[UUID, str], None] = {}
        self._something = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._listening = asyncio.Event()
        self._stopping = False
        self._idle = asyncio.Event()
        self._idle.set()

    async def start(self) -> None:
        self._tasks = [
            asyncio.create_task(self._listen_forever(), name="live-listen"),
            asyncio.create_task(self._publish_forever(), name="live-publish"),
        ]
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._listening.wait(), 5)

    async def stop(self) -> None:
        with contextlib.suppress(TimeoutError):  # what is committed should still be told
            await asyncio.wait_for(self._idle.wait(), DRAIN_S)
        # A task whose connection is just being lost may miss its cancellation.
        self._stopping = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def post(self, organization_id: UUID, messages: Iterable[Message]) -> None:
        """Called after a commit; returns at once."""
        for message in messages:
            if len(self._waiting) >= WAITING_MAX:
                live_coalesced.inc()
                self._reread[organization_id, message.topic] = None
            else:
                self._waiting.append((organization_id, message))
            self._wake_up()

    def post_dropped_keys(self, organization_id: UUID, keys: Iterable[str]) -> None:
        self._drops[organization_id].update(keys)
        self._wake_up()

    def _wake_up(self) -> None:
        self._idle.clear()
        self._something.set()

    def follow(self, organization_id: UUID, topic: str, wake: asyncio.Event) -> Subscription:
        subscription = Subscription(organization_id, topic, wake)
        self._readers[organization_id, topic].add(subscription)
        live_subscriptions.inc()
        return subscription

    def unfollow(self, subscription: Subscription) -> None:
        readers = self._readers[subscription.organization_id, subscription.topic]
        if subscription in readers:
            readers.remove(subscription)
            live_subscriptions.dec()
        if not readers:
            del self._readers[subscription.organization_id, subscription.topic]

    async def _listen_forever(self) -> None:
        attempt = 0
        while not self._stopping:
            try:
                await self._listen_until_lost()
                attempt = 0
            except Exception as fault:  # whatever it was, listening must go on
                log.warning("live_listener_lost", reason=repr(fault))
            await asyncio.sleep(RECONNECT_S[min(attempt, len(RECONNECT_S) - 1)])
            attempt += 1

    async def _listen_until_lost(self) -> None:
        lost = asyncio.Event()
        connection = await self._database.connect()
        try:
            connection.add_termination_listener(lambda _: lost.set())
            await connection.add_listener(CHANNEL, self._on_notify)
            self._listening.set()
            self._forget_all()  # who knows what was missed before
            self._everyone_rereads()
            await lost.wait()
        finally:
            self._listening.clear()
            await connection.close(timeout=1)

    def _on_notify(self, _connection: object, _pid: int, _channel: str, payload: object) -> None:
        envelope = msgspec.json.decode(str(payload), type=Envelope)
        if envelope.dropped_keys:
            self._forget(envelope.dropped_keys)
        for reader in self._readers.get((envelope.organization_id, envelope.topic), ()):
            reader.deliver(envelope)

    def _everyone_rereads(self) -> None:
        for (organization_id, topic), readers in self._readers.items():
            for reader in readers:
                reader.deliver(Envelope(organization_id, topic, 0))

    async def _publish_forever(self) -> None:
        attempt = 0
        while not self._stopping:
            await self._something.wait()
            batch = self._next_batch()
            if batch is None:
                self._something.clear()
                self._idle.set()
                continue
            organization_id, messages, dropped_keys = batch
            try:
                async with self._database.transaction(organization_id) as tx:
                    await _send(tx, messages, dropped_keys)
                live_published.inc(len(messages))
                attempt = 0
            except Exception as fault:  # whatever it was, publishing must go on
                log.warning("live_publish_failed", reason=repr(fault))
                self._reread.update({(organization_id, m.topic): None for m in messages})
                self._drops[organization_id].update(dropped_keys)
                await asyncio.sleep(RECONNECT_S[min(attempt, len(RECONNECT_S) - 1)])
                attempt += 1

    def _next_batch(self) -> tuple[UUID, list[Message], list[str]] | None:
        """The oldest waiting organisation's messages, in order, up to the limit."""
        if self._waiting:
            organization_id = self._waiting[0][0]
        elif self._reread:
            organization_id = next(iter(self._reread))[0]
        elif self._drops:
            organization_id = next(iter(self._drops))
        else:
            return None
        mine: list[Message] = []
        others: deque[tuple[UUID, Message]] = deque()
        while self._waiting and len(mine) < BATCH_MAX:
            owner, message = self._waiting.popleft()
            if owner == organization_id:
                mine.append(message)
            else:
                others.append((owner, message))
        self._waiting.extendleft(reversed(others))
        if len(mine) < BATCH_MAX:
            for owner, topic in [k for k in self._reread if k[0] == organization_id][:BATCH_MAX]:
                del self._reread[owner, topic]
                mine.append(Message(topic, None))
        return organization_id, mine, list(self._drops.pop(organization_id, ()))


async def current_seq(tx: Transaction, topic: str) -> int:
    return await tx.value(int, "SELECT seq FROM live_topic WHERE topic = $1", topic) or 0


async def purge(tx: Transaction) -> int:
    return await tx.run("DELETE FROM live_topic WHERE touched_at < $1", tx.now - TOPIC_IDLE_MAX)


async def _send(tx: Transaction, messages: list[Message], dropped_keys: list[str]) -> None:
    # A lost hint is harmless, so this commit need not wait for the disk.
    await tx.run("SET LOCAL synchronous_commit = off")
    counts: dict[str, int] = defaultdict(int)
    for message in messages:
        counts[message.topic] += 1
    # The row lock makes numbers and NOTIFY order agree between processes; topics are
    # sorted so that two batches lock in one order.
    lasts = await tx.rows(
        _LastSeq,
        """
        INSERT INTO live_topic (organization_id, topic, seq, touched_at)
        SELECT current_organization(), topic, added, $3
          FROM unnest($1::text[], $2::bigint[]) AS new (topic, added) ORDER BY topic
        ON CONFLICT (organization_id, topic) DO UPDATE
            SET seq = live_topic.seq + EXCLUDED.seq, touched_at = EXCLUDED.touched_at
        RETURNING topic, seq
        """,
        list(counts),
        list(counts.values()),
        tx.now,
    )
    seqs = {last.topic: last.seq - counts[last.topic] for last in lasts}
    # Keys first: who is told to read again must not find what was.
    payloads = [
        msgspec.json.encode(Envelope(tx.organization_id, "", 0, None, dropped_keys[at : at + 40]))
        for at in range(0, len(dropped_keys), 40)
    ]
    for message in messages:
        data = message.data if message.look is None else await message.look(tx)
        payloads.append(_payload(tx.organization_id, message.topic, data, seqs))
    await tx.run(
        "SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload",
        CHANNEL,
        [payload.decode() for payload in payloads],
    )


class _LastSeq(msgspec.Struct):
    topic: str
    seq: int


def _payload(
    organization_id: UUID, topic: str, data: dict[str, object] | None, seqs: dict[str, int]
) -> bytes:
    seqs[topic] += 1
    payload = msgspec.json.encode(Envelope(organization_id, topic, seqs[topic], data))
    if len(payload) > PAYLOAD_BYTES_MAX:
        payload = msgspec.json.encode(Envelope(organization_id, topic, seqs[topic], None))
    return payload
