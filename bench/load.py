"""A bounded load over keep-alive connections, cheap enough not to be what is measured."""

import asyncio
import os
import re
import statistics
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import uvloop

LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Load:
    requests: int
    seconds: float
    latencies_ms: list[float]
    wrong: int
    answer_bytes: int
    """Of the last body, as it was sent."""
    client_s: float
    """Of the processors, for asking."""

    def percentile_ms(self, percent: int) -> float:
        return round(statistics.quantiles(self.latencies_ms, n=100)[percent - 1], 3)


def run_load(port: int, request: bytes, *, connections: int, seconds: float) -> Load:
    """The same request, again and again."""
    until = time.perf_counter() + seconds

    def requests() -> Iterator[bytes]:
        while time.perf_counter() < until:
            yield request

    return run_each(port, requests(), connections=connections, wanted=b" 200 ")


def run_each(
    port: int,
    requests: Iterable[bytes],
    *,
    connections: int,
    wanted: bytes = b" 201 ",
    per_s: float | None = None,
) -> Load:
    """Every request once, by whichever connection is free. With `per_s`, so many a second whether
    or not the earlier ones were answered; their time counts from when they were due."""
    return uvloop.run(_run_each(port, iter(requests), connections, wanted, per_s))


async def _run_each(
    port: int, requests: Iterator[bytes], connections: int, wanted: bytes, per_s: float | None
) -> Load:
    loop = asyncio.get_running_loop()
    begun, cpu_begun = time.perf_counter(), time.process_time()
    crowd = _Crowd(enumerate(requests), wanted, begun, per_s)
    for _ in range(connections):
        await loop.create_connection(lambda: _Caller(crowd), "127.0.0.1", port)
    await crowd.gone.wait()
    return Load(
        len(crowd.latencies_ms),
        time.perf_counter() - begun,
        crowd.latencies_ms,
        crowd.wrong,
        crowd.answer_bytes,
        time.process_time() - cpu_begun,
    )


class _Crowd:
    """What all connections of a load share."""

    def __init__(
        self,
        requests: Iterator[tuple[int, bytes]],
        wanted: bytes,
        begun: float,
        per_s: float | None,
    ) -> None:
        self.requests = requests
        self.wanted = wanted
        self.begun = begun
        self.per_s = per_s
        self.latencies_ms: list[float] = []
        self.wrong = self.answer_bytes = self.callers = 0
        self.gone = asyncio.Event()


class _Caller(asyncio.Protocol):
    """Sends, waits for the whole answer, sends again. Streams would take three times as long, and
    that of the processors that the server shares with us."""

    def __init__(self, crowd: _Crowd) -> None:
        self._crowd = crowd
        self._answer = b""
        self._length = 0
        self._sent = 0.0
        self._waits = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._crowd.callers += 1
        self._send_next()

    def _send_next(self) -> None:
        number, request = next(self._crowd.requests, (0, b""))
        if not request:
            self._transport.close()
            return
        self._sent, self._waits = time.perf_counter(), True
        if self._crowd.per_s is None:
            self._transport.write(request)
        else:
            early, self._sent = self._sent, self._crowd.begun + number / self._crowd.per_s
            loop = asyncio.get_running_loop()
            loop.call_later(max(0.0, self._sent - early), self._transport.write, request)

    def data_received(self, data: bytes) -> None:
        self._answer = answer = self._answer + data
        if not self._length:
            body = answer.find(b"\r\n\r\n") + 4
            if body < 4:
                return
            length = LENGTH.search(answer, 0, body)
            self._length = body + (int(length[1]) if length else 0)
            self._crowd.answer_bytes = self._length - body
        if len(answer) >= self._length:
            self._crowd.latencies_ms.append((time.perf_counter() - self._sent) * 1000)
            self._crowd.wrong += self._crowd.wanted not in answer[:20]
            self._answer, self._length, self._waits = b"", 0, False
            self._send_next()

    def connection_lost(self, exc: Exception | None) -> None:
        self._crowd.callers -= 1
        self._crowd.wrong += self._waits
        if not self._crowd.callers:
            self._crowd.gone.set()


def post(path: str, headers: str, body: bytes = b"{}") -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{headers}"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def get(path: str, headers: str = "") -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n".encode()


def cpu_seconds(pid: int) -> float:
    """Of a process and all it has started."""
    try:
        own = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:  # it has just ended, and counts with its parent's from then on
        return 0.0
    ticks = int(own[11]) + int(own[12]) + int(own[13]) + int(own[14])
    return ticks / TICKS + sum(cpu_seconds(int(child)) for child in children)
