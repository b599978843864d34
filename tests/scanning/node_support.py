"""Helpers: a second node on the same database, and sockets of staff and of devices."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
import websockets
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tests.conftest import MASTER_KEY, serving
from tests.scanning.support import World
from tests.seating.race_support import a_node
from tests.support import MovableClock, a_client
from voelgoed.infra.master_key import MasterKey


@contextlib.asynccontextmanager
async def another_node(
    world: World,
    database_url: str,
    clock: MovableClock,
    master_key: MasterKey = MASTER_KEY,
    redis_url: str | None = None,
) -> AsyncIterator[World]:
    """The same event, as another process sees it."""
    async with (
        a_node(database_url, clock, redis_url, master_key=master_key) as services,
        serving(services) as url,
        a_client(url) as client,
    ):
        yield replace(world, services=services, client=client, sales=world.sales.on(services))


async def eventually(is_so: Callable[[], bool]) -> None:
    """Waits until one node has learned from another what `is_so` asks."""
    async with asyncio.timeout(10):
        while not is_so():
            await asyncio.sleep(0.005)


@contextlib.asynccontextmanager
async def socket(
    world: World,
    headers: dict[str, str] | None = None,
    subprotocols: Sequence[str] | None = None,
    **more: Any,
) -> AsyncIterator[ClientConnection]:
    address = str(world.client.base_url).replace("http://", "ws://").rstrip("/") + "/api/live"
    offered = None if subprotocols is None else [Subprotocol(each) for each in subprotocols]
    async with connect(
        address, additional_headers=headers, subprotocols=offered, **more
    ) as connection:
        yield connection


async def hear(connection: ClientConnection, topic: str) -> dict[str, Any]:
    """The next message about this topic."""
    async with asyncio.timeout(10):
        while True:
            frame = json.loads(await connection.recv())
            if frame.get("topic") == topic:
                return frame


async def subscribe(connection: ClientConnection, topic: str) -> dict[str, Any]:
    await connection.send(json.dumps({"type": "subscribe", "topic": topic}))
    return await hear(connection, topic)


async def unsubscribe(connection: ClientConnection, topic: str) -> None:
    """Unsubscribes, and waits until the server has read it."""
    await connection.send(json.dumps({"type": "unsubscribe", "topic": topic}))
    await subscribe(connection, "nothing")


async def closed_with(connection: ClientConnection) -> int:
    """The code with which the server closed the connection, once it has."""
    with pytest.raises(websockets.ConnectionClosed) as closed:
        async with asyncio.timeout(10):
            while True:
                await connection.recv()
    assert closed.value.rcvd is not None
    return closed.value.rcvd.code
