"""The websocket at /api/live: follow topics, get their messages, know when to read again."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any, Literal
from uuid import UUID

import msgspec
import structlog
from litestar import WebSocket, websocket
from litestar.exceptions import WebSocketDisconnect

from voelgoed.accounts.model import Caller
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.live import Envelope, Live, Subscription, current_seq
from voelgoed.infra.refusal import Invalid, Missing, Refusal, Unauthenticated
from voelgoed.scanning.access import anybody_of, device_in
from voelgoed.scanning.live import (
    may_follow_alerts,
    may_follow_batch,
    may_follow_device,
    may_follow_event,
    may_follow_gate,
    may_follow_occupancy,
    may_follow_seats,
)
from voelgoed.scanning.rules.messages import device_topic

log = structlog.get_logger()

Socket = WebSocket[Any, Any, Any]

TOPICS_MAX = 100
FRAME_BYTES_MAX = 4_096
SEND_TIMEOUT_S = 20.0
RECHECK_S = 25.0
"""How often an open socket proves its session again, and tells the reader it is alive."""
SUBPROTOCOL = "voelgoed"
CLOSE_UNAUTHORIZED = 4401
CLOSE_TRY_LATER = 1013
CLOSE_BAD_FRAME = 4400

TopicRule = Callable[..., Awaitable[None]]
TOPIC_RULES: dict[str, tuple[int, TopicRule]] = {
    "event": (1, may_follow_event),
    "seats": (1, may_follow_seats),
    "occupancy": (2, may_follow_occupancy),
    "gate": (1, may_follow_gate),
    "device": (1, may_follow_device),
    "alerts": (1, may_follow_alerts),
    "batch": (1, may_follow_batch),
}
"""By the word before the first colon: how many ids come after it, and who raises when this
caller may not follow what they name."""


class Frame(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    type: Literal["subscribe", "unsubscribe"]
    topic: str


class UnknownTopic(Missing):
    """There is no such topic."""


class TooManyTopics(Invalid):
    """One connection follows at most 100 topics."""


@websocket("/api/live", opt={"permission": None})
async def live_socket(socket: Socket) -> None:
    database: Database = socket.app.state.database
    live: Live = socket.app.state.live
    offered = socket.headers.get("sec-websocket-protocol", "").split(",")
    is_offered = SUBPROTOCOL in (each.strip() for each in offered)
    await socket.accept(subprotocols=SUBPROTOCOL if is_offered else None)
    try:
        caller = await anybody_of(socket)
    except Unauthenticated as refusal:
        return await _close(socket, CLOSE_UNAUTHORIZED, refusal.code)
    except Refusal as refusal:
        return await _close(socket, CLOSE_TRY_LATER, refusal.code)
    if (device := device_in(socket)) is not None:
        socket.app.state.signs_of_life.note(device)
    connection = _Connection(socket, database, live, caller)
    try:
        await connection.run()
    finally:
        connection.unfollow_all()


class _Connection:
    def __init__(
        self,
        socket: Socket,
        database: Database,
        live: Live,
        caller: Caller,
    ) -> None:
        self._socket = socket
        self._database = database
        self._live = live
        self._caller = caller
        self._wake = asyncio.Event()
        self._followed: dict[str, Subscription] = {}
        self._delivered: set[str] = set()
        """Of those the topics whose follower was told so: first that, then the messages."""
        self._sending = asyncio.Lock()
        self._look_again = asyncio.Event()

    async def run(self) -> None:
        if self._caller.kind == "device" and self._caller.id is not None:
            await self._subscribe(device_topic(self._caller.id))  # to hear of its own revocation
            self._look_again.set()  # which may have come before
        tasks = {
            asyncio.create_task(job()) for job in (self._receive, self._deliver, self._recheck)
        }
        done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
        for task in done:
            fault = task.exception()
            if fault and not isinstance(fault, (WebSocketDisconnect, TimeoutError, OSError)):
                log.error("live_socket_failed", exc_info=fault)
        await _close(self._socket, 1000, "done")

    def unfollow_all(self) -> None:
        for subscription in self._followed.values():
            self._live.unfollow(subscription)
        self._followed.clear()

    def _unfollow(self, topic: str) -> None:
        # By two tasks, the reader's wish and the recheck: whoever comes second finds it gone.
        subscription = self._followed.pop(topic, None)
        self._delivered.discard(topic)
        if subscription is not None:
            self._live.unfollow(subscription)

    async def _receive(self) -> None:
        while True:
            text = await self._socket.receive_text()
            try:
                if len(text) > FRAME_BYTES_MAX:
                    raise msgspec.ValidationError("frame too long")
                frame = msgspec.json.decode(text, type=Frame)
            except msgspec.MsgspecError:
                await _close(self._socket, CLOSE_BAD_FRAME, "bad_frame")
                return
            if frame.type == "subscribe":
                await self._subscribe(frame.topic)
            elif not frame.topic.startswith("device:"):  # whose revocation it is to hear of
                self._unfollow(frame.topic)

    async def _subscribe(self, topic: str) -> None:
        try:
            if topic not in self._followed and len(self._followed) >= TOPICS_MAX:
                raise TooManyTopics()
            async with self._database.transaction(self._caller.organization_id) as tx:
                await _authorize(tx, self._caller, topic)
            seq = await self._follow(topic)
        except Refusal as refusal:
            self._unfollow(topic)
            told = {"error": refusal.code, "message": refusal.message}
            await self._send({"type": "refused", "topic": topic, **told})
        else:
            await self._send({"type": "subscribed", "topic": topic, "seq": seq})
            self._delivered.add(topic)
            self._wake.set()

    async def _follow(self, topic: str) -> int:
        """First, and then ask for the number: what comes in between is not lost, and what the number
        already covers is not sent."""
        subscription = self._followed.get(topic)
        if subscription is None:
            subscription = self._live.follow(self._caller.organization_id, topic, self._wake)
            self._followed[topic] = subscription
        async with self._database.transaction(self._caller.organization_id) as tx:
            seq = await current_seq(tx, topic)
        subscription.discard_up_to(seq)
        return seq

    async def _deliver(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            for topic, subscription in list(self._followed.items()):
                if topic not in self._delivered:
                    continue
                for envelope in subscription.take():
                    if envelope.topic.startswith("device:"):
                        self._look_again.set()
                    await self._send(_frame(envelope))

    async def _recheck(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._look_again.wait(), RECHECK_S)
            self._look_again.clear()
            try:
                self._caller = await anybody_of(self._socket)
                await self._drop_what_is_no_longer_allowed()
            except Unauthenticated as refusal:
                await _close(self._socket, CLOSE_UNAUTHORIZED, refusal.code)
                return
            except Refusal:
                pass  # the database is away; nothing is published meanwhile anyway
            await self._send({"type": "alive"})

    async def _drop_what_is_no_longer_allowed(self) -> None:
        for topic in list(self._followed):
            try:
                async with self._database.transaction(self._caller.organization_id) as tx:
                    await _authorize(tx, self._caller, topic)
            except Missing as refusal:
                self._unfollow(topic)
                told = {"error": refusal.code, "message": refusal.message}
                await self._send({"type": "refused", "topic": topic, **told})

    async def _send(self, frame: dict[str, object]) -> None:
        async with self._sending:
            text = msgspec.json.encode(frame).decode()
            await asyncio.wait_for(self._socket.send_text(text), SEND_TIMEOUT_S)


async def _authorize(tx: Transaction, caller: Caller, topic: str) -> None:
    kind, *names = topic.split(":")
    try:
        (count, rule), ids = TOPIC_RULES[kind], [UUID(name) for name in names]
    except (KeyError, ValueError):
        raise UnknownTopic() from None
    # One spelling, or a follower would listen to nobody.
    if len(ids) != count or names != [str(entity_id) for entity_id in ids]:
        raise UnknownTopic()
    await rule(tx, caller, *ids)


def _frame(envelope: Envelope) -> dict[str, object]:
    if envelope.data is None:
        return {"type": "resync", "topic": envelope.topic, "seq": envelope.seq}
    return {
        "type": "message",
        "topic": envelope.topic,
        "seq": envelope.seq,
        "data": envelope.data,
    }


async def _close(socket: Socket, code: int, reason: str) -> None:
    with contextlib.suppress(Exception):  # it may be gone already
        await socket.close(code=code, reason=reason)
