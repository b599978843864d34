"""One process of the system: the API, the apps, and, if asked, the jobs."""

import asyncio
import gc
import signal
import socket
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from voelgoed.config import Settings
from voelgoed.http import create_app
from voelgoed.infra.web import App
from voelgoed.protocol import WebSocketProtocol, protocol_for
from voelgoed.services import Services, running

REQUESTS_AT_ONCE_MAX = 2_000
WEBSOCKET_FRAME_BYTES_MAX = 16 * 1024
SHUTDOWN_S = 10
GARBAGE_THRESHOLDS = (20_000, 20, 50)
SWITCH_INTERVAL_S = 0.0005
"""After which a thread that computes gives way to the event loop. By default that is ten times as long, at
each of the turns of the loop that an answer takes: while a delivery is decided, gates would wait for it."""
ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 (what to say instead of it)


class PortError(Exception):
    """The address cannot be listened on; the message says why."""


def listen(host: str, port: int) -> socket.socket:
    """Bound before anything slow starts, so that a busy port is known at once."""
    try:
        [(family, kind, protocol, _, address), *_] = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(2048)
    except (OSError, UnicodeError) as fault:  # a name that is too long to ask for is no OSError
        reason = fault.strerror if isinstance(fault, OSError) else "Name or service not known"
        raise PortError(
            f"{host} port {port} cannot be listened on: {reason}; choose another --port or --host"
        ) from None
    return listener


def url_of(listener: socket.socket, *, scheme: str = "http") -> str:
    """For whoever sits at this machine."""
    host, port = listener.getsockname()[:2]
    return url_at(ANYWHERE.get(str(host), str(host)), port, scheme=scheme)


def url_at(host: str, port: int, *, scheme: str) -> str:
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"


def is_for_others(listener: socket.socket) -> bool:
    return listener.getsockname()[0] in ANYWHERE


async def serve(
    services: Services,
    listener: socket.socket,
    *,
    with_jobs: bool,
    on_ready: Callable[[], None],
    on_stopping: Callable[[], None] = lambda: None,
    certificate: Path | None = None,
    app: App | None = None,
) -> None:
    """With a certificate, over TLS; with an app of the caller's, that instead of ours alone."""
    _collect_garbage_seldom()
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    async with running(services, with_jobs=with_jobs):
        server = _Server(configuration(services, certificate, app), on_ready, on_stopping)
        with _ending_by_signal(server):
            await server.serve(sockets=[listener])


def _collect_garbage_seldom() -> None:
    """What a request makes is gone with its last reference; looking through all that is there for
    circles, a few hundred requests apart, is what makes some answers late."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE_THRESHOLDS)


async def work(services: Services) -> None:
    """Jobs only, until told to stop."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with running(services, with_jobs=True):
        await stop.wait()


class _Server(uvicorn.Server):
    def __init__(
        self,
        config: uvicorn.Config,
        on_ready: Callable[[], None],
        on_stopping: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._on_ready = on_ready
        self._on_stopping = on_stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._on_stopping()
        await super().shutdown(sockets)


def configuration(
    services: Services, certificate: Path | None = None, app: App | None = None
) -> uvicorn.Config:
    settings: Settings = services.settings
    return uvicorn.Config(
        app or create_app(services),  # pyright: ignore[reportArgumentType]
        http=protocol_for(services),  # pyright: ignore[reportArgumentType]
        ws=WebSocketProtocol,
        lifespan="off",
        access_log=False,
        log_config=None,
        server_header=False,
        limit_concurrency=REQUESTS_AT_ONCE_MAX,
        ws_max_size=WEBSOCKET_FRAME_BYTES_MAX,
        timeout_graceful_shutdown=SHUTDOWN_S,
        forwarded_allow_ips=settings.forwarded_allow_ips,
        ssl_certfile=certificate,
    )


@contextmanager
def _ending_by_signal(server: _Server) -> Generator[None]:
    """uvicorn repeats the signal that stopped it; let that not kill us before cleaning up. One
    that comes before uvicorn listens for it is not lost either."""

    def stop(_number: int, _frame: object) -> None:
        server.should_exit = True

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, stop) for number in numbers]
    hang_up = signal.signal(signal.SIGHUP, _terminate)
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
        signal.signal(signal.SIGHUP, hang_up)


def _terminate(_number: int, _frame: object) -> None:
    signal.raise_signal(signal.SIGTERM)
