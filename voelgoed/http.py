"""The application: every route, and what stands around all of them."""

import asyncio
import time
import types
from collections.abc import Awaitable, Callable, Generator, MutableMapping
from functools import lru_cache
from typing import Any, TypeVar, cast

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
from litestar.status_codes import HTTP_413_REQUEST_ENTITY_TOO_LARGE

from voelgoed import health, live, static
from voelgoed.accounts import api as accounts_api
from voelgoed.accounts.access import headers_in, is_cross_site, provide_call
from voelgoed.accounts.model import CrossSiteRequest
from voelgoed.events import api as events_api
from voelgoed.infra.metrics import http_requests
from voelgoed.infra.refusal import InvalidRequest, Malformed, NotFound, Refusal
from voelgoed.infra.web import (
    BODY_BYTES_MAX,
    BODY_S,
    BodyTooLarge,
    BodyTooSlow,
    ErrorBody,
    InvalidJson,
    MethodNotAllowed,
    Receive,
    Scope,
    Send,
    UnsupportedMediaType,
    headers_of,
    send_json,
    send_refusal,
    status_of,
)
from voelgoed.scanning import api as scanning_api
from voelgoed.seating import api as seating_api
from voelgoed.services import Services
from voelgoed.ticketing import api as ticketing_api

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
]
APOLOGY = ErrorBody("internal_error", "Something went wrong here; it has been noted.", {})
HotRoute = Callable[[Scope, Receive, Send, Services], Awaitable[None]]
DEPENDENCIES = {"call": Provide(provide_call, sync_to_thread=False)}


def create_app(services: Services) -> "Front":
    app = Litestar(
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
        state=State(vars(services)),
        logging_config=None,
    )
    return Front(app, services)


def refuse(_: Request[Any, Any, Any], refusal: Refusal) -> Response[ErrorBody]:
    return Response(
        ErrorBody(refusal.code, refusal.message, refusal.details),
        status_code=status_of(type(refusal)),
        headers=headers_of(refusal),
        media_type="application/json",
    )


def refuse_http(request: Request[Any, Any, Any], fault: HTTPException) -> Response[ErrorBody]:
    """What the framework refuses, in our words."""
    if fault.status_code < 500:
        return refuse(request, _in_our_words(fault))
    if static.is_page(request.scope["path"]):  # a name that the file system cannot have
        return refuse(request, NotFound())
    return apologise(request, fault)


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


def _in_our_words(fault: HTTPException) -> Refusal:
    if isinstance(fault, ValidationException):
        return InvalidRequest(faults=_faults(fault))
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
        {"path": "$", "message": "is missing"}  # only an empty body gets as far as this
        if item.get("key") == "data"
        else {"path": item.get("key", "$"), "message": item.get("message", "is wrong")}
        for item in cast(list[dict[str, str]], extra)
    ]


class StrictRequest(Request[Any, Any, Any]):
    """Reads a body as exactly the shape its route declares: "5" is no number, 5 no time."""

    async def json(self) -> Any:
        body = await self.body()
        declared = self.route_handler.parsed_data_field
        if declared is None:
            raise TypeError("this route declares no body")
        try:
            return msgspec.json.decode(body, type=declared.annotation)
        except msgspec.ValidationError as fault:
            message, _, path = str(fault).partition(" - at `")
            faults = [{"path": path.rstrip("`") or "$", "message": message}]
            raise InvalidRequest(faults=faults) from None
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise InvalidJson() from None


class Front:
    """Before and after every route: where the request came from, its kind, headers, time taken."""

    def __init__(self, app: Litestar, services: Services) -> None:
        self.app = app
        self.services = services
        self.public_url = services.settings.public_url

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and is_cross_site(scope, self.public_url):
            await send({"type": "websocket.close", "code": 4403})
        elif scope["type"] != "http":
            await self.app(scope, receive, send)  # pyright: ignore[reportArgumentType]
        else:
            await self._answer_http(scope, receive, send)

    async def _answer_http(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = time.perf_counter()
        status = 500

        async def sending(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _add_headers(message["headers"], scope["path"])
            await send(message)

        async def receiving() -> MutableMapping[str, Any]:
            if arrived.is_set():  # all of it; what follows is the client's leaving
                return await receive()
            message = await _in_time(receive(), deadline)
            if not message.get("more_body"):
                arrived.set()
            return message

        body_s = ticketing_api.UPLOAD_S if _is_upload(scope) else BODY_S
        arrived, deadline = asyncio.Event(), asyncio.get_running_loop().time() + body_s
        if "\0" in scope["path"] or len(scope["path"]) > PATH_CHARACTERS_MAX:
            await send_refusal(sending, NotFound())
        elif is_cross_site(scope, self.public_url):
            await send_refusal(sending, CrossSiteRequest())
        elif _has_foreign_body(scope):
            await send_refusal(sending, UnsupportedMediaType())
        elif (hot := hot_route(scope)) is not None:
            await self._answer_hot(hot, scope, receiving, sending)
        else:
            await self.app(scope, receiving, sending)  # pyright: ignore[reportArgumentType]
        route = scope.get("path_template") or "none"
        _observer(scope["method"], route, status).observe(time.perf_counter() - begun)

    async def _answer_hot(self, hot: HotRoute, scope: Scope, receive: Receive, send: Send) -> None:
        """Without the framework, which takes twice as long as the rest of it."""
        try:
            await hot(scope, receive, send, self.services)
        except Refusal as refusal:
            await send_refusal(send, refusal)
        except Exception as fault:
            log.error("request_failed", path=scope["path"], exc_info=fault)
            await send_json(send, 500, APOLOGY)


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
def _observer(method: str, route: str, status: int) -> Any:
    """Looked up once."""
    return http_requests.labels(method, route, status)


def hot_route(scope: Scope) -> HotRoute | None:
    if scope["method"] != "POST":
        return None
    if scanning_api.SCANS.match(scope["path"]):
        scope["path_template"] = scanning_api.SCANS_TEMPLATE
        return scanning_api.answer_scan
    if (named := ticketing_api.RESERVE.match(scope["path"])) is not None:
        scope["path_params"] = named.groupdict()
        scope["path_template"] = ticketing_api.RESERVE_TEMPLATE
        return ticketing_api.answer_reserve
    return None


def _has_foreign_body(scope: Scope) -> bool:
    if scope["method"] not in ("POST", "PUT", "PATCH"):
        return False
    headers = headers_in(scope)
    kind = headers.get(b"content-type", b"").split(b";")[0].strip().lower()
    has_body = headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers
    return has_body and kind != b"application/json" and not (kind == CSV and _is_upload(scope))


def _is_upload(scope: Scope) -> bool:
    return ticketing_api.UPLOAD.fullmatch(scope["path"]) is not None


def _add_headers(headers: list[tuple[bytes, bytes]], path: str) -> None:
    headers += [
        (b"content-security-policy", static.policy_of(path)),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"same-origin"),
        (b"cross-origin-opener-policy", b"same-origin"),
    ]
    if all(name != b"cache-control" for name, _ in headers):
        headers.append((b"cache-control", b"no-store"))
