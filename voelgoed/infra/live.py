"""Live messages: hints that something changed, numbered per topic, to every process.

After a commit its messages go, many at a time, through PostgreSQL NOTIFY to every
process and from there to the websockets that follow the topic. Nothing depends on
them: a reader that sees a gap in the numbers, or is told to `resync`, reads again.
"""

import asyncio
import contextlib
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType
from uuid import UUID

import msgspec
import structlog

from voelgoed.infra.chunks import Chunk, read_payload
from voelgoed.infra.database import Database, LiveChange, Message, Transaction
from voelgoed.infra.metrics import live_missed, live_subscriptions
from voelgoed.infra.publisher import CHANNEL, Projection, Publisher

log = structlog.get_logger()

BATCH_MAX = 200
CHANGES_BATCH_MAX = 2_000
"""Changes that are projected together."""
SUBSCRIPTION_QUEUE_MAX = 256
PING_S, PING_TIMEOUT_S = 10.0, 5.0
"""A connection that something between us and PostgreSQL forgot gives no sign that it is lost."""
RECONNECT_S = (0.1, 0.5, 1.0, 2.0, 5.0)
DRAIN_S = 1.0
TOPIC_IDLE_MAX = timedelta(days=1)


class Envelope(msgspec.Struct, frozen=True):
    """A message as a reader gets it."""

    organization_id: UUID
    topic: str
    seq: int
    data: dict[str, object] | None = None
    """None tells the reader to read again: the message was too large, or too many waited."""


_data = msgspec.json.Decoder(dict[str, object] | None)


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
        projections: Mapping[str, Projection] = MappingProxyType({}),
    ) -> None:
        self._database = database
        self._forget = forget
        self._forget_all = forget_all
        self._readers: dict[tuple[UUID, str], set[Subscription]] = defaultdict(set)
        # Three, because a projection takes a while, locks its topic meanwhile, and rests afterwards.
        # What other processes must forget waits for neither messages nor projections.
        self._of_drops = Publisher(database, BATCH_MAX)
        self._of_messages = Publisher(database, BATCH_MAX)
        self._of_changes = Publisher(database, CHANGES_BATCH_MAX, projections)
        self._publishers = (self._of_drops, self._of_messages, self._of_changes)
        self._tasks: list[asyncio.Task[None]] = []
        self._listening = asyncio.Event()
        self._stopping = False

    async def start(self) -> None:
        self._tasks = [
            asyncio.create_task(self._listen_forever(), name="live-listen"),
            *(asyncio.create_task(each.run(), name="live-publish") for each in self._publishers),
        ]
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._listening.wait(), 5)

    async def stop(self) -> None:
        with contextlib.suppress(TimeoutError):  # what is committed should still be published
            await asyncio.wait_for(self.is_idle(), DRAIN_S)
        # A task whose connection is just being lost may miss its cancellation.
        self._stopping = True
        for publisher in self._publishers:
            publisher.stopping = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def is_idle(self) -> None:
        """Returns when nothing waits to be published."""
        await asyncio.gather(*(each.idle.wait() for each in self._publishers))

    def post(
        self,
        organization_id: UUID,
        messages: Iterable[Message | LiveChange],
        keys: Sequence[str] = (),
    ) -> None:
        """Called after a commit; returns at once. `keys` were dropped by it, and posted already; they
        are posted again with the messages, which may be published first."""
        for message in messages:
            publisher = self._of_changes if isinstance(message, LiveChange) else self._of_messages
            if keys:
                publisher.post_dropped_keys(organization_id, keys)
            publisher.post(organization_id, message)

    def post_dropped_keys(self, organization_id: UUID, keys: Iterable[str]) -> None:
        self._of_drops.post_dropped_keys(organization_id, keys)

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
            self._resync_everyone()
            while not lost.is_set():
                await connection.fetchval("SELECT 1", timeout=PING_TIMEOUT_S)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(lost.wait(), PING_S)
        finally:
            self._listening.clear()
            await connection.close(timeout=1)

    def _on_notify(self, _connection: object, _pid: int, _channel: str, payload: object) -> None:
        for chunk in read_payload(str(payload)):
            if chunk.dropped_keys:
                self._forget(chunk.dropped_keys)
            readers = self._readers.get((chunk.organization_id, chunk.topic))
            for envelope in _unpacked(chunk) if readers else ():
                for reader in readers or ():
                    reader.deliver(envelope)

    def _resync_everyone(self) -> None:
        for (organization_id, topic), readers in self._readers.items():
            for reader in readers:
                reader.deliver(Envelope(organization_id, topic, 0))


async def current_seq(tx: Transaction, topic: str) -> int:
    return await tx.value(int, "SELECT seq FROM live_topic WHERE topic = $1", topic) or 0


async def purge(tx: Transaction) -> int:
    return await tx.run("DELETE FROM live_topic WHERE touched_at < $1", tx.now - TOPIC_IDLE_MAX)


def _unpacked(chunk: Chunk) -> list[Envelope]:
    return [
        Envelope(chunk.organization_id, chunk.topic, seq, _data.decode(raw))
        for seq, raw in enumerate(chunk.data or (), start=chunk.seq)
    ]
