"""The load of bench/load.py for a server that closes the connection after every answer.

gunicorn's default workers do, because they expect nginx in front of them, which keeps the
browsers' connections and opens one to gunicorn for every request. We take the part of nginx.
"""

import asyncio
import time
from collections.abc import Iterable, Iterator

import uvloop

from bench.load import Load

ANSWER_S_MAX = 60


def run_each_anew(
    port: int, requests: Iterable[bytes], *, connections: int, wanted: bytes = b" 201 "
) -> Load:
    """Every request once, so many at a time. Opening the connection counts as waiting."""
    return uvloop.run(_run_each(port, iter(requests), connections, wanted))


async def _run_each(port: int, requests: Iterator[bytes], connections: int, wanted: bytes) -> Load:
    load = Load(0, 0.0, [], wrong=0, answer_bytes=0, client_s=0.0)
    begun, cpu_begun = time.perf_counter(), time.process_time()
    async with asyncio.TaskGroup() as callers:
        for _ in range(connections):
            callers.create_task(_call(port, requests, wanted, load))
    load.seconds = time.perf_counter() - begun
    load.client_s = time.process_time() - cpu_begun
    return load


async def _call(port: int, requests: Iterator[bytes], wanted: bytes, load: Load) -> None:
    for request in requests:  # which all callers share
        sent = time.perf_counter()
        try:
            async with asyncio.timeout(ANSWER_S_MAX):
                answer = await _ask(port, request)
        except (OSError, TimeoutError):
            answer = b""
        load.latencies_ms.append((time.perf_counter() - sent) * 1000)
        load.requests += 1
        load.wrong += wanted not in answer[:20]
        load.answer_bytes = len(answer.partition(b"\r\n\r\n")[2])


async def _ask(port: int, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request)
        return await reader.read()
    finally:
        writer.close()
