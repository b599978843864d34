"""HTTP as uvicorn speaks it, with a short way for the hot routes.

A scan or a seat hold that arrives whole, as they do, goes from the parser to its handler and is
answered in one write. Whatever is out of the ordinary about a request, such as a body in pieces or
a second request before the first is answered, goes the long way, through ASGI, to the same handler.
"""

import asyncio
import time
import urllib.parse
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

from uvicorn.config import Config
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidState

from voelgoed.http import (
    NOT_KEPT,
    SCANS,
    Hot,
    answer_hot,
    headers_around,
    hot_route,
    observer,
    refusal_before,
)
from voelgoed.infra.refusal import Refusal
from voelgoed.infra.web import (
    BODY_BYTES_MAX,
    Asked,
    BodyTooLarge,
    Headers,
    Reply,
    reply_refusing,
)
from voelgoed.services import Services

FORWARDED = b"x-forwarded-for"


def protocol_for(services: Services) -> Callable[..., "Protocol"]:
    return partial(Protocol, services)


class WebSocketProtocol(WebSocketsSansIOProtocol):
    def shutdown(self) -> None:
        """uvicorn also sends a close frame to a client that has sent its own: that raises, and the
        server would stop closing the others."""
        try:
            super().shutdown()
        except InvalidState:
            self.transport.close()


class _Cycle:
    """One request on the short way, with what uvicorn looks at until it is answered."""

    message_event = asyncio.Event()
    """Nobody waits for it: all of the message is here."""

    def __init__(self, *, keep_alive: bool) -> None:
        self.keep_alive = keep_alive
        self.disconnected = False
        self.response_complete = False


class Protocol(HttpToolsProtocol):
    def __init__(self, services: Services, config: Config, *rest: Any, **more: Any) -> None:
        super().__init__(config, *rest, **more)
        self._services = services
        self._public_url = services.settings.public_url
        app: Any = vars(config)["loaded_app"]  # of a type that uvicorn does not tell
        self._proxies = app.trusted_hosts if isinstance(app, ProxyHeadersMiddleware) else None
        self._hot: Hot | None = None
        """What the request asks for that is being read, if it may go the short way."""
        self._body = b""

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._hot is not None:  # not all of it is here
            self._go_the_long_way()

    def on_headers_complete(self) -> None:
        self._hot = self._find_hot()
        self._body = b""
        if self._hot is None:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if self._hot is None:
            super().on_body(body)
        else:
            self._body += body

    def on_message_complete(self) -> None:
        if self._hot is None:
            super().on_message_complete()
        else:
            self._begin(self._hot)
            self._hot = None

    def _go_the_long_way(self) -> None:
        self._hot = None
        if self.transport.is_closing():  # what was read is no HTTP, and was answered
            return
        super().on_headers_complete()
        if self._body:
            super().on_body(self._body)

    def _find_hot(self) -> Hot | None:
        parser: Any = self.parser
        waiting: Any = self.cycle
        if (
            parser.get_method() != b"POST"
            or parser.get_http_version() != "1.1"
            or parser.should_upgrade()
            or self.expect_100_continue
            or (waiting is not None and not waiting.response_complete)
            or self._is_overloaded()
        ):
            return None
        return _hot_route(self.url)

    def _is_overloaded(self) -> bool:
        limit = self.limit_concurrency
        return limit is not None and max(len(self.connections), len(self.tasks)) >= limit

    def _begin(self, hot: Hot) -> None:
        asked = Asked(dict(self.headers), self._host(), hot.named, self._body)
        parser: Any = self.parser
        self.cycle: Any = _Cycle(keep_alive=parser.should_keep_alive())
        task = self.loop.create_task(self._answer(hot, asked, self.cycle))
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)

    def _host(self) -> str:
        """As a proxy says that uvicorn is told to trust."""
        host, proxies = self.client[0] if self.client else "", self._proxies
        forwarded = [value for name, value in self.headers if name == FORWARDED]
        if forwarded and proxies is not None and host in proxies:
            said = b", ".join(forwarded).decode("latin-1")
            host = proxies.get_trusted_client_address(said)[0] or host
        return host

    async def _answer(self, hot: Hot, asked: Asked, cycle: _Cycle) -> None:
        begun = time.perf_counter()
        try:
            refusal = self._refusal_of(hot, asked.headers, asked.body)
            if refusal is None:
                reply = await answer_hot(hot, asked, self._services)
            else:
                reply = reply_refusing(refusal)
            if self.flow.write_paused and not cycle.disconnected:
                await self.flow.drain()
            self._write(reply, cycle, hot)
            observer("POST", hot.template, reply.status).observe(time.perf_counter() - begun)
        finally:
            if not cycle.response_complete:  # nobody may be left waiting for ever
                cycle.response_complete = True
                self.transport.close()

    def _refusal_of(self, hot: Hot, headers: Headers, body: bytes) -> Refusal | None:
        refusal = refusal_before("POST", hot.path, headers, self._public_url)
        return BodyTooLarge() if refusal is None and len(body) > BODY_BYTES_MAX else refusal

    def _write(self, reply: Reply, cycle: _Cycle, hot: Hot) -> None:
        cycle.response_complete = True
        if cycle.disconnected:
            return
        close = [] if cycle.keep_alive else [(b"connection", b"close")]
        changing = [
            *self.server_state.default_headers,
            (b"content-length", b"%d" % len(reply.body)),
            *reply.headers,
            *close,
        ]
        self.transport.write(
            b"%b%b%b\r\n%b"
            % (STATUS_LINE[reply.status], _constant(hot.template), _lines(changing), reply.body)
        )
        if close:
            self.transport.close()
        self.on_response_complete()


def _hot_route(url: bytes) -> Hot | None:
    if url == SCANS_URL:
        return SCANS
    path = url.partition(b"?")[0].decode("latin-1")
    return hot_route("POST", urllib.parse.unquote(path))


SCANS_URL = SCANS.path.encode()


@lru_cache
def _constant(template: str) -> bytes:
    return _lines([(b"content-type", b"application/json"), *headers_around(template), NOT_KEPT])


def _lines(headers: list[tuple[bytes, bytes]]) -> bytes:
    return b"".join([b"%b: %b\r\n" % header for header in headers])
