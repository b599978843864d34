"""A network between devices and their server that fails on demand: a real TCP proxy."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

Fault = Literal["down", "answer_lost", "answer_cut", "request_cut", "bit_flipped", "answer_flipped"]
PIECE_BYTES = 64 * 1024


@dataclass(frozen=True)
class Answer:
    """An answer of the server, whether or not it arrived."""

    path: str
    api_key: str
    status: int
    retry_after_s: int | None


class Network:
    """Each connection uses up one fault; without a fault the network only forwards."""

    def __init__(self, server_url: str) -> None:
        self.lead_to(server_url)
        self._faults: list[Fault] = []
        self.is_down = False
        self.flip_at = 0
        """The position of a byte in a body that gets one wrong bit; positions beyond the end wrap
        around."""
        self.flip_bit = 0
        self.url = ""
        self.happened: list[Fault] = []
        self.answers: list[Answer] = []
        self._tasks: set[asyncio.Task[None]] = set()

    def lead_to(self, server_url: str) -> None:
        where = urlsplit(server_url)
        self._server = where.hostname or "", where.port or 0

    def will(self, *faults: Fault) -> None:
        self._faults += faults

    def clear(self) -> None:
        self._faults.clear()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._run_batch(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _run_batch(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forwards one request and its answer; for another request the client opens a connection."""
        fault: Fault | None = "down" if self.is_down else None
        if self.is_down:
            return
        head = await reader.readuntil(b"\r\n\r\n")
        body = await reader.readexactly(_length(head))
        if self._faults:
            fault = self._faults.pop(0)
            self.happened.append(fault)
        if fault == "down":
            return
        if fault == "request_cut":
            body = body[: len(body) // 2]
        elif fault == "bit_flipped":
            body = self._flipped(body)
        answer = await self._ask(_closing(head) + body, is_cut=fault == "request_cut")
        if answer:
            self.answers.append(_read(head, answer))
        if fault == "answer_lost":
            return
        if fault == "answer_flipped":
            headers, _, content = answer.partition(b"\r\n\r\n")
            answer = headers + b"\r\n\r\n" + self._flipped(content)
        writer.write(answer[: len(answer) - 20] if fault == "answer_cut" else answer)
        await writer.drain()

    def _flipped(self, body: bytes) -> bytes:
        spoilt = bytearray(body)
        spoilt[self.flip_at % len(body)] ^= 1 << self.flip_bit
        return bytes(spoilt)

    async def _ask(self, request: bytes, *, is_cut: bool) -> bytes:
        reader, writer = await asyncio.open_connection(*self._server)
        try:
            writer.write(request)
            if is_cut:
                writer.write_eof()
            answer = b""
            while piece := await reader.read(PIECE_BYTES):
                answer += piece
            return answer
        finally:
            writer.close()

    async def stop(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _length(head: bytes) -> int:
    return int(_header(head, "content-length") or 0)


def _header(head: bytes, name: str) -> str | None:
    for line in head.decode("latin-1").split("\r\n"):
        found, _, value = line.partition(":")
        if found.lower() == name:
            return value.strip()
    return None


def _read(head: bytes, answer: bytes) -> Answer:
    headers, _, _ = answer.partition(b"\r\n\r\n")
    retry_after_s = _header(headers, "retry-after")
    return Answer(
        path=head.split(b" ", 2)[1].decode(),
        api_key=(_header(head, "authorization") or "").removeprefix("Bearer "),
        status=int(headers.split(b" ", 2)[1]),
        retry_after_s=None if retry_after_s is None else int(retry_after_s),
    )


def _closing(head: bytes) -> bytes:
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"connection:")]
    return b"\r\n".join([*lines[:-2], b"connection: close", b"", b""])


@asynccontextmanager
async def a_network(server_url: str) -> AsyncIterator[Network]:
    network = Network(server_url)
    listening = await asyncio.start_server(network.carry, "127.0.0.1", 0)
    network.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield network
    finally:
        listening.close()
        await network.stop()
        with contextlib.suppress(OSError):
            await listening.wait_closed()
