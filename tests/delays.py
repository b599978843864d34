"""Every wait takes a little longer: `pytest -p tests.delays`, to find the tests that hang on luck.

Whatever arrives from PostgreSQL, Redis, a client or a server is read up to DELAY_MS milliseconds
late, and so is the result of a thread: who was first by a hair is second. DELAY_SEED says how.
"""

import asyncio
import os
import time
from asyncio import selector_events
from collections.abc import Callable
from random import Random
from typing import Any

MS_MAX = float(os.environ.get("DELAY_MS", "5"))
SEED = os.environ.get("DELAY_SEED", "1")
_luck = Random(SEED)
_Transport: Any = selector_events._SelectorSocketTransport  # type: ignore[attr-defined]
_read_at_once = _Transport._read_ready
_run_at_once: Any = asyncio.BaseEventLoop.run_in_executor


def pytest_configure() -> None:
    _Transport._read_ready = _read_later
    asyncio.BaseEventLoop.run_in_executor = _run_later  # type: ignore[method-assign]


def pytest_report_header() -> str:
    return f"every wait takes up to {MS_MAX} ms longer, seed {SEED}"


def _delay_s() -> float:
    return _luck.uniform(0, MS_MAX) / 1000


def _read_later(transport: Any) -> None:
    loop = transport._loop
    loop._remove_reader(transport._sock_fd)
    loop.call_later(_delay_s(), _read_now, transport)


def _read_now(transport: Any) -> None:
    if transport.is_closing() or not transport.is_reading():
        return  # whoever goes on reading waits for it anew
    transport._add_reader(transport._sock_fd, transport._read_ready)
    _read_at_once(transport)


def _run_later(loop: Any, executor: Any, work: Callable[..., Any], *values: Any) -> Any:
    delay_s = _delay_s()

    def late() -> Any:
        time.sleep(delay_s)
        return work(*values)

    return _run_at_once(loop, executor, late)
