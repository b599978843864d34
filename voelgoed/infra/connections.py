"""The few connections that scans and holds share: taken and given back without a task, a timer or a reset, which
take asyncpg's pool a tenth of the time of a lone scan."""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import asyncpg

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]

CLOSE_S = 2.0
IDLE_S = 300.0
"""A connection that nobody used for longer may have been forgotten by something between us and PostgreSQL."""


class ConnectionStack:
    """The connection that was given back last is taken first; more are opened only when all are in use."""

    def __init__(self, connect: Callable[[], Awaitable["Connection"]], size_max: int) -> None:
        self._connect = connect
        self._size_max = size_max
        self._count = 0
        self._idle: list[tuple[Connection, float]] = []
        """Each connection has the moment at which it was given back."""
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._closing: set[asyncio.Task[None]] = set()
        self._all: set[Connection] = set()

    async def acquire(self, *, timeout: float) -> "Connection":
        while True:
            while self._idle:
                connection, since = self._idle.pop()
                if connection.is_closed():
                    self._forget(connection)
                elif time.monotonic() - since > IDLE_S:
                    self._close_behind(connection)
                else:
                    return connection
            if self._count < self._size_max:
                return await self._open()
            async with asyncio.timeout(timeout):
                await self._until_one_is_free()

    def release(self, connection: "Connection", *, is_sound: bool) -> None:
        """A connection is not sound where a statement that was given up may still be going on, or where the
        server has ended it."""
        if connection.is_closed():
            self._forget(connection)
        elif is_sound:
            self._idle.append((connection, time.monotonic()))
        else:
            self._close_behind(connection)
        self._wake_one()

    def terminate(self) -> None:
        for connection in list(self._all):
            self._forget(connection)
            connection.terminate()

    async def _open(self) -> "Connection":
        self._count += 1
        try:
            connection = await self._connect()
        except BaseException:
            self._count -= 1
            self._wake_one()
            raise
        self._all.add(connection)
        return connection

    def _close_behind(self, connection: "Connection") -> None:
        """It counts as one of ours until it is closed: a server that is slow is not asked for more and more."""
        task = asyncio.create_task(self._close(connection))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _close(self, connection: "Connection") -> None:
        try:
            await connection.close(timeout=CLOSE_S)
        except (
            OSError,
            TimeoutError,
            asyncpg.PostgresError,
            asyncpg.InterfaceError,
            asyncpg.InternalClientError,
        ):
            connection.terminate()
        finally:
            self._forget(connection)
            self._wake_one()

    def _forget(self, connection: "Connection") -> None:
        if connection in self._all:
            self._all.discard(connection)
            self._count -= 1

    async def _until_one_is_free(self) -> None:
        free = asyncio.get_running_loop().create_future()
        self._waiting.append(free)
        try:
            await free
        except asyncio.CancelledError:
            with contextlib.suppress(ValueError):
                self._waiting.remove(free)
            if free.done() and not free.cancelled():
                self._wake_one()  # somebody else may have what was meant for us
            raise

    def _wake_one(self) -> None:
        while self._waiting:
            free = self._waiting.popleft()
            if not free.done():
                free.set_result(None)
                return
