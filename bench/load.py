"""A bounded load over keep-alive connections, cheap enough not to be what is measured."""

import asyncio
import os
import re
import statistics
import time
from dataclasses import dataclass
from pathlib import Path

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

    def percentile_ms(self, percent: int) -> float:
        return round(statistics.quantiles(self.latencies_ms, n=100)[percent - 1], 3)


def run_load(port: int, request: bytes, *, connections: int, seconds: float) -> Load:
    return uvloop.run(_run(port, request, connections, seconds))


async def _run(port: int, request: bytes, connections: int, seconds: float) -> Load:
    latencies: list[float] = []
    wrong = answer_bytes = 0
    until = time.perf_counter() + seconds

    async def caller() -> None:
        nonlocal wrong, answer_bytes
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.perf_counter() < until:
            begun = time.perf_counter()
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            length = LENGTH.search(head)
            answer_bytes = int(length[1]) if length else 0
            await reader.readexactly(answer_bytes)
            latencies.append((time.perf_counter() - begun) * 1000)
            wrong += b" 200 " not in head[:20]
        writer.close()

    begun = time.perf_counter()
    await asyncio.gather(*(caller() for _ in range(connections)))
    return Load(len(latencies), time.perf_counter() - begun, latencies, wrong, answer_bytes)


def get(path: str, headers: str = "") -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n".encode()


def cpu_seconds(pid: int) -> float:
    """Of a process and all it has started."""
    own = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    ticks = int(own[11]) + int(own[12]) + int(own[13]) + int(own[14])
    return ticks / TICKS + sum(cpu_seconds(int(child)) for child in children)
