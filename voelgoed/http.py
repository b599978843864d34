"""The application: every route, and what stands around all of them."""

import asyncio
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, cast

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
from voelgoed.accounts.access import is_cross_site, provide_call
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
    UnsupportedMediaType,
    status_of,
)
from voelgoed.seating import api as seating_api
from voelgoed.services import Services

log = structlog.get_logger()

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


PATH_CHARACTERS_MAX = 2_000
API_ROUTES = [
    *health.ROUTES,
    *accounts_api.ROUTES,
    *events_api.ROUTES,
    *seating_api.ROUTES,
]
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
    return Front(app, services.settings.public_url)


def refuse(_: Request[Any, Any, Any], refusal: Refusal) -> Response[ErrorBody]:
    headers: dict[str, str] = {}
    if "retry_after_seconds" in refusal.details:
        headers["Retry-After"] = str(refusal.details["retry_after_seconds"])
    status = status_of(type(refusal))
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if status == 503:
        headers["Retry-After"] = "1"
    return Response(
        ErrorBody(refusal.code, refusal.message, refusal.details),
        status_code=status,
        headers=headers,
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
    log.warning("value_not_storable", path=request.scope["path"], reason=repr(fault))
    faults = [{"path": "$", "message": "contains a value that cannot be stored"}]
    return refuse(request, InvalidRequest(faults=faults))


def apologise(request: Request[Any, Any, Any], fault: Exception) -> Response[ErrorBody]:
    log.error("request_failed", path=request.scope["path"], exc_info=fault)
    body = ErrorBody("internal_error", "Something went wrong here; it has been noted.", {})
    return Response(body, status_code=500, media_type="application/json")


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

    def __init__(self, app: Litestar, public_url: str | None) -> None:
        self.app = app
        self.public_url = public_url

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
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError:
                raise BodyTooSlow() from None
            if not message.get("more_body"):
                arrived.set()
            return message

        arrived, deadline = asyncio.Event(), asyncio.get_running_loop().time() + BODY_S
        if "\0" in scope["path"] or len(scope["path"]) > PATH_CHARACTERS_MAX:
            await _answer(sending, NotFound())
        elif is_cross_site(scope, self.public_url):
            await _answer(sending, CrossSiteRequest())
        elif _has_foreign_body(scope):
            await _answer(sending, UnsupportedMediaType())
        else:
            await self.app(scope, receiving, sending)  # pyright: ignore[reportArgumentType]
        route = scope.get("path_template") or "none"
        http_requests.labels(scope["method"], route, status).observe(time.perf_counter() - begun)


def _has_foreign_body(scope: Scope) -> bool:
    if scope["method"] not in ("POST", "PUT", "PATCH"):
        return False
    headers = dict(scope["headers"])
    kind = headers.get(b"content-type", b"").split(b";")[0].strip().lower()
    has_body = headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers
    return has_body and kind != b"application/json"


async def _answer(send: Send, refusal: Refusal) -> None:
    body = msgspec.json.encode(ErrorBody(refusal.code, refusal.message, refusal.details))
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send(
        {
            "type": "http.response.start",
            "status": status_of(type(refusal)),
            "headers": headers,
        }
    )
    await send({"type": "http.response.body", "body": body})


def _add_headers(headers: list[tuple[bytes, bytes]], path: str) -> None:
    headers += [
        (b"content-security-policy", static.policy_of(path)),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"same-origin"),
        (b"cross-origin-opener-policy", b"same-origin"),
    ]
    if all(name != b"cache-control" for name, _ in headers):
        headers.append((b"cache-control", b"no-store"))
