"""The application: every route, and what stands context all of them."""

import asyncio
import time
import types
from collections.abc import Awaitable, Callable, Generator, Mapping, MutableMapping
from copy import copy
from functools import cache, lru_cache
from typing import Any, NamedTuple, TypeVar, cast

import asyncpg
import msgspec
import structlog
from litestar import Litestar, Request, Response
from litestar.datastructures import State
from litestar.di import Provide
from litestar.exceptions import (
    HTTPException,
    MethodNotAllowedException,
    NotFoundException,
    ValidationException,
)
from litestar.status_codes import HTTP_404_NOT_FOUND, HTTP_413_REQUEST_ENTITY_TOO_LARGE

from voelgoed import health, live, static
from voelgoed.accounts import api as accounts_api
from voelgoed.accounts.access import (
    SAFE_METHODS,
    headers_in,
    host_in,
    is_cross_site,
    note_arrival,
    provide_call,
)
from voelgoed.accounts.model import CrossSiteRequest
from voelgoed.events import api as events_api
from voelgoed.infra.digest import is_of
from voelgoed.infra.metrics import http_requests
from voelgoed.infra.refusal import InvalidRequest, Malformed, NotFound, Refusal
from voelgoed.infra.web import (
    BODY_BYTES_MAX,
    BODY_S,
    Asked,
    BodyTooLarge,
    BodyTooSlow,
    ErrorBody,
    Headers,
    InvalidDigest,
    InvalidJson,
    MethodNotAllowed,
    Receive,
    Reply,
    Scope,
    Send,
    UnsupportedMediaType,
    headers_of,
    read_body,
    read_json,
    reply_refusing,
    reply_with,
    send_reply,
    status_of,
    unpacked,
)
from voelgoed.reporting import api as reporting_api
from voelgoed.scanning import api as scanning_api
from voelgoed.seating import api as seating_api
from voelgoed.services import Services
from voelgoed.ticketing import api as ticketing_api
from voelgoed.ticketing.forms.page import nowhere_page

log = structlog.get_logger()
T = TypeVar("T")

PATH_CHARACTERS_MAX = 2_000
CSV = b"text/csv"
API_ROUTES = [
    *health.ROUTES,
    *accounts_api.ROUTES,
    *events_api.ROUTES,
    *seating_api.ROUTES,
    *ticketing_api.ROUTES,
    *scanning_api.ROUTES,
    *reporting_api.ROUTES,
]
APOLOGY = ErrorBody("internal_error", "Something went wrong here; it has been noted.", {})
IS_MISSING = {"path": "$", "message": "is missing"}
DEPENDENCIES = {"call": Provide(provide_call, sync_to_thread=False)}


def create_app(services: Services) -> "Front":
    app = copy(_routes())
    app.state = State(vars(services))
    return Front(app, services)


@cache
def _routes() -> Litestar:
    """Looked through once a process: that takes a quarter of a second, and tests make many apps."""
    return Litestar(
        route_handlers=[*API_ROUTES, live.live_socket, static.contract, *static.pages()],
        dependencies=DEPENDENCIES,
        exception_handlers={
            Refusal: refuse,
            HTTPException: refuse_http,
            asyncpg.DataError: refuse_unstorable,
            UnicodeError: refuse_unstorable,
            OverflowError: refuse_unstorable,
            Exception: apologise,
        },
        request_class=StrictRequest,
        request_max_body_size=BODY_BYTES_MAX,
        openapi_config=None,  # see voelgoed/openapi.py
        logging_config=None,
    )


def refuse(_: Request[Any, Any, Any], refusal: Refusal) -> Response[ErrorBody]:
    return Response(
        ErrorBody(refusal.code, refusal.message, refusal.details),
        status_code=status_of(type(refusal)),
        headers=headers_of(refusal),
        media_type="application/json",
    )


def refuse_http(
    request: Request[Any, Any, Any], fault: HTTPException
) -> Response[ErrorBody] | Response[str]:
    """What the framework refuses, in our words."""
    if fault.status_code == HTTP_404_NOT_FOUND and _is_for_a_person(request):
        return Response(nowhere_page(), status_code=HTTP_404_NOT_FOUND, media_type="text/html")
    if fault.status_code < 500:
        return refuse(request, _in_our_words(request, fault))
    if static.is_page(request.scope["path"]):  # a name that the file system cannot have
        return refuse(request, NotFound())
    return apologise(request, fault)


def _is_for_a_person(request: Request[Any, Any, Any]) -> bool:
    """Who typed an address, and not a program that calls one."""
    is_api = static.is_below(request.scope["path"], "/api")
    return not is_api and "text/html" in request.headers.get("accept", "")


def refuse_unstorable(request: Request[Any, Any, Any], fault: Exception) -> Response[ErrorBody]:
    """A text or number of a right type that PostgreSQL has no room for."""
    log.warning("value_not_storable", path=_logged(request), reason=repr(fault))
    faults = [{"path": "$", "message": "contains a value that cannot be stored"}]
    return refuse(request, InvalidRequest(faults=faults))


def apologise(request: Request[Any, Any, Any], fault: Exception) -> Response[ErrorBody]:
    log.error("request_failed", path=_logged(request), exc_info=fault)
    return Response(APOLOGY, status_code=500, media_type="application/json")


def _logged(request: Request[Any, Any, Any]) -> str:
    """The link to an order is a secret."""
    path = request.scope["path"]
    return static.ORDERS if static.is_below(path, static.ORDERS) else path


def _in_our_words(request: Request[Any, Any, Any], fault: HTTPException) -> Refusal:
    if isinstance(fault, ValidationException):
        opt, faults = request.route_handler.opt, _faults(fault)
        if "empty_is" in opt and faults == [IS_MISSING]:
            return opt["empty_is"]()
        return opt.get("faults_are", InvalidRequest)(faults=faults)
    if isinstance(fault, MethodNotAllowedException):
        return MethodNotAllowed()
    if isinstance(fault, NotFoundException):
        return NotFound()
    if fault.status_code == HTTP_413_REQUEST_ENTITY_TOO_LARGE:
        return BodyTooLarge()
    return Malformed(fault.detail)


def _faults(fault: ValidationException) -> list[dict[str, str]]:
    """Each with the parameter that it is about."""
    extra: Any = fault.extra
    if not isinstance(extra, list):
        return [{"path": "$", "message": fault.detail}]
    return [
        IS_MISSING  # only an empty body gets as far as this
        if item.get("key") == "data"
        else {"path": item.get("key", "$"), "message": item.get("message", "is wrong")}
        for item in cast(list[dict[str, str]], extra)
    ]


class StrictRequest(Request[Any, Any, Any]):
    """Reads a body as exactly the shape its route declares: "5" is no number, 5 no time."""

    async def json(self) -> Any:
        opt = self.route_handler.opt
        try:
            body = await self.body()
            if (bytes_max := opt.get("unpacks")) is not None:
                if not is_of(self.headers.get("content-digest", ""), body):
                    raise InvalidDigest()
                body = unpacked(body, self.headers.get("content-encoding"), bytes_max)
            faults_are = opt.get("faults_are", InvalidRequest)
            return read_json(
                body, self._decoder(), faults_are, opt.get("malformed_is", InvalidJson)
            )
        except Refusal as refusal:
            if (on_fault := opt.get("on_fault")) is not None:
                await on_fault(self, refusal)
            raise

    def _decoder(self) -> msgspec.json.Decoder[Any]:
        declared = self.route_handler.parsed_data_field
        if declared is None:
            raise TypeError("this route declares no body")
        return _decoder_of(declared.annotation)


@cache
def _decoder_of(shape: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(shape)


class Front:
    """Before and after every route: where the request came from, its kind, headers, time taken."""

    def __init__(self, app: Litestar, services: Services) -> None:
        self.app = app
        self.services = services
        self.public_url = services.settings.public_url

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and is_cross_site(headers_in(scope), self.public_url):
            await send({"type": "websocket.close", "code": 4403})
        elif scope["type"] != "http":
            await self.app(scope, receive, send)  # pyright: ignore[reportArgumentType]
        else:
            await self._answer_http(scope, receive, send)

    async def _answer_http(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = time.perf_counter()
        note_arrival(scope, self.services.clock.now())
        status = 500

        async def sending(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _add_headers(message["headers"], path)
            await send(message)

        async def receiving() -> MutableMapping[str, Any]:
            if arrived.is_set():  # all of it; what follows is the client's leaving
                return await receive()
            message = await _in_time(receive(), deadline)
            if not message.get("more_body"):
                arrived.set()
            return message

        method, path, headers = scope["method"], scope["path"], headers_in(scope)
        body_s = ticketing_api.UPLOAD_S if _is_upload(path) else BODY_S
        arrived, deadline = asyncio.Event(), asyncio.get_running_loop().time() + body_s
        if (refusal := refusal_before(method, path, headers, self.public_url)) is not None:
            await send_reply(sending, reply_refusing(refusal))
        elif (hot := hot_route(method, path)) is not None:
            scope["path_template"] = hot.template
            await send_reply(sending, await self._reply(hot, scope, receiving))
        else:
            if (
                packed := static.packed_path(path, headers.get(b"accept-encoding", b""))
            ) is not None:
                scope["path"], scope["raw_path"] = packed, packed.encode()
            await self.app(scope, receiving, sending)  # pyright: ignore[reportArgumentType]
        route = scope.get("path_template") or "none"
        observer(method, route, status).observe(time.perf_counter() - begun)

    async def _reply(self, hot: "Hot", scope: Scope, receive: Receive) -> Reply:
        try:
            body = await read_body(receive)
        except Refusal as refusal:
            return reply_refusing(refusal)
        asked = Asked(headers_in(scope), host_in(scope), hot.named, body)
        return await answer_hot(hot, asked, self.services)


async def answer_hot(hot: "Hot", asked: Asked, services: Services) -> Reply:
    try:
        return await hot.answer(asked, services)
    except Refusal as refusal:
        return reply_refusing(refusal)
    except Exception as fault:
        log.error("request_failed", path=hot.path, exc_info=fault)
        return reply_with(500, APOLOGY)


async def _in_time(asked: Awaitable[T], deadline: float) -> T:
    """What is there already is taken without a timer, which costs more than all the rest of it."""
    begun = asked.__await__()
    try:
        waits_for = next(begun)
    except StopIteration as done:
        return done.value
    try:
        async with asyncio.timeout_at(deadline):
            return await _rest_of(begun, waits_for)
    except TimeoutError:
        raise BodyTooSlow() from None


@types.coroutine
def _rest_of(begun: Generator[Any, Any, T], waits_for: object) -> Generator[Any, Any, T]:
    yield waits_for
    return (yield from begun)


@lru_cache(maxsize=2_000)
def observer(method: str, route: str, status: int) -> Any:
    """Looked up once."""
    return http_requests.labels(method, route, status)


class Hot(NamedTuple):
    """A route that is asked so often that its handler is called without the framework, which takes
    twice as long as the rest of it; and, but for odd cases, without ASGI (see protocol.py)."""

    template: str
    path: str
    named: Mapping[str, str]
    answer: Callable[[Asked, Services], Awaitable[Reply]]
    """Does what guards and decoders do for the framework, and calls the declared handler."""


SCANS = Hot(scanning_api.SCANS_TEMPLATE, scanning_api.SCANS_TEMPLATE, {}, scanning_api.answer_scan)


def hot_route(method: str, path: str) -> Hot | None:
    if method != "POST":
        return None
    if scanning_api.SCANS.match(path):
        return SCANS
    if (named := ticketing_api.RESERVE.match(path)) is not None:
        template, answer = ticketing_api.RESERVE_TEMPLATE, ticketing_api.answer_reserve
        return Hot(template, path, named.groupdict(), answer)
    return None


def refusal_before(
    method: str, path: str, headers: Headers, public_url: str | None
) -> Refusal | None:
    """What is wrong with a request, whatever it is about."""
    if "\0" in path or len(path) > PATH_CHARACTERS_MAX:
        return NotFound()
    if method not in SAFE_METHODS and is_cross_site(headers, public_url):
        return CrossSiteRequest()
    return UnsupportedMediaType() if _has_foreign_body(method, path, headers) else None


def _has_foreign_body(method: str, path: str, headers: Headers) -> bool:
    if method not in ("POST", "PUT", "PATCH"):
        return False
    kind = headers.get(b"content-type", b"").split(b";")[0].strip().lower()
    has_body = headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers
    return has_body and kind != b"application/json" and not (kind == CSV and _is_upload(path))


def _is_upload(path: str) -> bool:
    return ticketing_api.UPLOAD.fullmatch(path) is not None


def headers_around(path: str) -> list[tuple[bytes, bytes]]:
    """Of every answer."""
    return [
        (b"content-security-policy", static.policy_of(path)),
        (b"permissions-policy", static.permissions_of(path)),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"same-origin"),
        (b"cross-origin-opener-policy", b"same-origin"),
    ]


NOT_KEPT = (b"cache-control", b"no-store")


def _add_headers(headers: list[tuple[bytes, bytes]], path: str) -> None:
    headers += headers_around(path)
    if path in static.PACKED:
        headers.append((b"vary", b"accept-encoding"))
    if all(name != b"cache-control" for name, _ in headers):
        headers.append(NOT_KEPT)
