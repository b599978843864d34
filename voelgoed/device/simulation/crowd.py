"""A crowd at the gates: who comes when, with what, and what the network does meanwhile."""

import asyncio
import random
import ssl
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import httpx
import msgspec

from voelgoed.device.client import Device
from voelgoed.device.clock import DeviceClock
from voelgoed.device.model import DeviceFault, ScanAnswer
from voelgoed.device.scanning import scan
from voelgoed.device.simulation.venue import Gate, Ticket
from voelgoed.device.sync import sync
from voelgoed.scanning.model.decisions import Direction

Kind = Literal["honest", "twice", "forged", "voided", "leaves", "comes back"]
CHEATS: tuple[Kind, ...] = ("twice", "forged", "voided")
SLOTS = 12
"""Into which the time is cut; in each a gate has a network or not."""
LOST_ANSWERS = 0.5
"""The share of outages that begin with a request that arrives and an answer that does not."""
SYNC_EVERY_S = 2.0
BEAT_EVERY_S = 30.0
SOON_S_MAX = 60.0
"""The longest time until another person comes with the same ticket."""


class Options(msgspec.Struct, frozen=True, kw_only=True):
    devices: int
    visitors: int
    seconds: float
    outage: float
    clock_error_s: float
    cheats: float
    seed: int
    leaving: float = 0.0
    """The number of people that leave, of those who are inside at the beginning, as a share of the
    visitors."""
    kinds: tuple[Kind, ...] = CHEATS


class Visit(msgspec.Struct, frozen=True):
    """Somebody shows something at a gate."""

    at_s: float
    post: int
    text: str
    kind: Kind
    direction: Direction = "entry"


class BadLine(httpx.AsyncBaseTransport):
    """A network that is there or not; when it goes, an answer may be lost that was on its way."""

    def __init__(self, luck: random.Random, trusted: ssl.SSLContext) -> None:
        self._inner = httpx.AsyncHTTPTransport(verify=trusted)
        self._luck = luck
        self.is_up = True
        self._loses_next = False
        self.lost = 0

    def turn(self, is_up: bool) -> None:
        if self.is_up and not is_up:
            self._loses_next = self._luck.random() < LOST_ANSWERS
        self.is_up = is_up

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if not self.is_up and not self._loses_next:
            raise httpx.ConnectError("no network")
        loses, self._loses_next = self._loses_next, False
        answer = await self._inner.handle_async_request(request)
        if loses:
            await answer.aclose()
            self.lost += 1
            raise httpx.ReadError("the answer was lost")
        return answer

    async def aclose(self) -> None:
        await self._inner.aclose()


@dataclass
class Post:
    """A gate, the device there and its network."""

    gate: Gate
    device: Device
    line: BadLine
    client: httpx.AsyncClient
    clock_error: timedelta
    visits: list[Visit] = field(default_factory=list[Visit])
    answers: list[tuple[Visit, ScanAnswer]] = field(default_factory=list[tuple[Visit, ScanAnswer]])
    faults: list[str] = field(default_factory=list[str])

    @property
    def is_done(self) -> bool:
        return len(self.answers) + len(self.faults) == len(self.visits)

    async def close(self) -> None:
        self.device.close()
        await self.client.aclose()


def a_post(
    gate: Gate, file: Path, options: Options, luck: random.Random, trusted: ssl.SSLContext
) -> Post:
    error = timedelta(seconds=luck.uniform(-options.clock_error_s, options.clock_error_s))
    line = BadLine(luck, trusted)
    client = httpx.AsyncClient(transport=line)
    clock = DeviceClock(wall=lambda: datetime.now(UTC) + error)
    device = Device(file, client, clock=clock, luck=luck)
    return Post(gate, device, line, client, error)


def plan_visits(
    tickets: Sequence[Ticket], options: Options, luck: random.Random
) -> tuple[list[Visit], list[Ticket]]:
    """In the order of time; and the tickets that are void by then. Whoever comes with somebody else's
    ticket comes to another gate, soon after."""
    visits, voided = list[Visit](), list[Ticket]()
    for ticket in tickets[: options.visitors]:
        at_s, post = luck.uniform(0, options.seconds), luck.randrange(options.devices)
        kind: Kind = luck.choice(options.kinds) if luck.random() < options.cheats else "honest"
        text = forged(ticket.barcode, luck) if kind == "forged" else ticket.barcode
        visits.append(Visit(at_s, post, text, kind))
        if kind == "twice":
            other = (post + luck.randrange(1, max(options.devices, 2))) % options.devices
            late_s = luck.uniform(0, min(options.seconds / 4, SOON_S_MAX))
            soon = min(at_s + late_s, options.seconds)
            visits.append(Visit(soon, other, text, kind))
        if kind == "voided":
            voided.append(ticket)
    return sorted(visits, key=lambda visit: visit.at_s), voided


def plan_leaving(
    inside: Sequence[Ticket], come_back: int, options: Options, luck: random.Random
) -> list[Visit]:
    """Some of those who are inside leave, and so many of them come back: in the first half of the time
    and in the second."""
    leave = max(int(options.visitors * options.leaving), come_back)
    visits: list[Visit] = []
    for number, ticket in enumerate(inside[:leave]):
        post, half = luck.randrange(options.devices), options.seconds / 2
        left = Visit(luck.uniform(0, half), post, ticket.barcode, "leaves", "exit")
        visits.append(left)
        if number < come_back:
            again = Visit(half + luck.uniform(0, half), post, ticket.barcode, "comes back")
            visits.append(again)
    return visits


def forged(barcode: str, luck: random.Random) -> str:
    """One letter of the signature is another."""
    at = luck.randrange(len(barcode) - 80, len(barcode) - 3)
    other = luck.choice([each for each in "0123456789ABCDEF" if each != barcode[at]])
    return barcode[:at] + other + barcode[at + 1 :]


async def let_them_come(posts: Sequence[Post], options: Options, luck: random.Random) -> None:
    """Runs until everybody has come. Every gate works through its own queue."""
    began = asyncio.get_running_loop().time()
    background = [
        *(asyncio.create_task(_weather(post, options, luck)) for post in posts),
        *(asyncio.create_task(_bring(post)) for post in posts),
    ]
    try:
        await asyncio.gather(*(_stand(post, began) for post in posts))
    finally:
        for task in background:
            task.cancel()
        await asyncio.gather(*background, return_exceptions=True)
        for post in posts:
            post.line.turn(True)


async def _stand(post: Post, began: float) -> None:
    for visit in post.visits:
        ahead = began + visit.at_s - asyncio.get_running_loop().time()
        await asyncio.sleep(max(ahead, 0))
        try:
            answer = await scan(post.device, visit.text, visit.direction)
            post.answers.append((visit, answer))
        except DeviceFault as fault:
            post.faults.append(str(fault))


async def _weather(post: Post, options: Options, luck: random.Random) -> None:
    """Switches the network of one gate on and off."""
    while True:
        post.line.turn(luck.random() >= options.outage)
        await asyncio.sleep(options.seconds / SLOTS)


async def _bring(post: Post) -> None:
    """Delivers scans as a device does by itself, whenever there is a network, and sends
    heartbeats."""
    loop = asyncio.get_running_loop()
    beaten = loop.time()
    while True:
        await asyncio.sleep(SYNC_EVERY_S)
        if post.line.is_up and loop.time() - beaten > BEAT_EVERY_S:
            beaten = loop.time()
            with suppress(DeviceFault):  # at the next one then
                await post.device.beat()
        if post.line.is_up and post.device.store.count()["pending"]:
            await sync(post.device)
