"""Routes and who may use them.

A route names the permission it needs; the check runs before its body is read. The
organisation comes from the credential and from nowhere else.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from ipaddress import ip_address
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import litestar
import msgspec
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler
from litestar.handlers.http_handlers import HTTPRouteHandler
from litestar.openapi.spec import Operation

from voelgoed.accounts.actions.sessions import SessionLookup, authenticate
from voelgoed.accounts.model import Caller, CrossSiteRequest, Origin, Unauthorized
from voelgoed.accounts.rules.permissions import Permission, may
from voelgoed.config import Settings
from voelgoed.infra.cache import Cache
from voelgoed.infra.clock import Clock
from voelgoed.infra.database import Database
from voelgoed.infra.idempotency import IdempotencyKey
from voelgoed.infra.master_key import MasterKey
from voelgoed.infra.refusal import Forbidden, Refusal
from voelgoed.infra.web import (
    ALWAYS_POSSIBLE,
    BODY_BYTES_MAX,
    PACKED,
    TOO_MUCH_OF_A_BODY,
    WITH_A_BODY,
    Headers,
    Scope,
    TakesTable,
    documented,
)

Connection = ASGIConnection[Any, Any, Any, Any]
Guard = Callable[[Connection, BaseRouteHandler], Any]
Decorator = Callable[..., HTTPRouteHandler]

COOKIE = "voelgoed_session"
ARRIVED_AT = "voelgoed.arrived_at"
WITH_BODY_LIMIT = (litestar.post, litestar.put, litestar.patch)
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
USER_AGENT_CHARACTERS_MAX = 300


class PermissionDenied(Forbidden):
    """Your role does not allow this."""


def get(
    path: str,
    permission: Permission | None,
    *refusals: type[Refusal],
    media_type: str = "application/json",
    operation_class: type[Operation] = Operation,
) -> Decorator:
    """A route for logged-in callers; `None` means any of them."""
    return _route(
        litestar.get,
        path,
        permission,
        refusals,
        media_type=media_type,
        operation_class=operation_class,
    )


def post(
    path: str,
    permission: Permission | None,
    *refusals: type[Refusal],
    status: int = 201,
    body_bytes_max: int = BODY_BYTES_MAX,
    operation_class: type[Operation] = Operation,
    is_packed: bool = False,
    faults_are: type[Refusal] | None = None,
) -> Decorator:
    """`is_packed`: its body may be compressed. `faults_are`: how a request is refused that is not of
    the declared shape, where the usual refusals do not do."""
    refusals = (*WITH_A_BODY, *(PACKED if is_packed else ()), *refusals)
    opt: dict[str, object] = {"unpacks": body_bytes_max} if is_packed else {}
    if faults_are is not None:
        opt |= {"faults_are": faults_are, "malformed_is": faults_are}
    return _route(
        litestar.post,
        path,
        permission,
        refusals,
        status,
        body_bytes_max,
        operation_class=operation_class,
        opt=opt,
    )


def upload(
    path: str, permission: Permission, *refusals: type[Refusal], body_bytes_max: int
) -> Decorator:
    """A route that takes a table, to be worked on afterwards."""
    refusals = (*TOO_MUCH_OF_A_BODY, *refusals)
    return _route(
        litestar.post, path, permission, refusals, 202, body_bytes_max, operation_class=TakesTable
    )


def put(
    path: str,
    permission: Permission | None,
    *refusals: type[Refusal],
    status: int = 204,
    body_bytes_max: int = BODY_BYTES_MAX,
) -> Decorator:
    return _route(litestar.put, path, permission, (*WITH_A_BODY, *refusals), status, body_bytes_max)


def patch(path: str, permission: Permission | None, *refusals: type[Refusal]) -> Decorator:
    return _route(litestar.patch, path, permission, (*WITH_A_BODY, *refusals))


def delete(path: str, permission: Permission | None, *refusals: type[Refusal]) -> Decorator:
    return _route(litestar.delete, path, permission, refusals, 204)


def public_post(path: str, *refusals: type[Refusal], status: int = 201) -> Decorator:
    """A route that anybody may use, logged in or not."""
    return litestar.post(
        path,
        status_code=status,
        responses=documented((*ALWAYS_POSSIBLE, *WITH_A_BODY, CrossSiteRequest, *refusals)),
        security=[{}],
        opt={"public": True},
    )


def _route(
    method: Callable[..., Any],
    path: str,
    permission: Permission | None,
    refusals: tuple[type[Refusal], ...],
    status: int = 200,
    body_bytes_max: int = BODY_BYTES_MAX,
    media_type: str = "application/json",
    operation_class: type[Operation] = Operation,
    opt: Mapping[str, object] = MappingProxyType({}),
) -> Decorator:
    possible = (*ALWAYS_POSSIBLE, Unauthorized, CrossSiteRequest, *refusals)
    return method(
        path,
        guards=[requires(permission)],
        opt={"permission": permission, **opt},
        responses=documented((*possible, PermissionDenied) if permission else possible),
        status_code=status,
        media_type=media_type,
        operation_class=operation_class,
        **({"request_max_body_size": body_bytes_max} if method in WITH_BODY_LIMIT else {}),
    )


def requires(permission: Permission | None) -> Guard:
    async def guard(connection: Connection, _: BaseRouteHandler) -> None:
        caller = await caller_of(connection)
        if permission is not None:
            require(caller, permission)
        connection.scope["user"] = caller

    return guard


async def caller_of(connection: Connection) -> Caller:
    headers = headers_in(connection.scope)  # pyright: ignore[reportArgumentType]
    return await caller_by(headers, origin_of(connection), connection.app.state.session_lookup)


async def caller_by(headers: Headers, origin: Origin, session_lookup: SessionLookup) -> Caller:
    token = bearer_in(headers) or _cookie(headers)
    if not token:
        raise Unauthorized()
    return await authenticate(session_lookup, token, origin)


def require(caller: Caller, permission: Permission) -> None:
    if not may(caller.role, permission):
        raise PermissionDenied(permission=permission)


class Call:
    """One request as its route sees it: who asks, from where, and what there is to answer with.

    One object, because the framework starts a task for each dependency where there are several.
    """

    def __init__(self, parts: Any, scope: Scope) -> None:
        self.parts = parts
        """Of the process; later domains find theirs here."""
        self.scope = scope
        """Where guards leave what they found out. On the short way of a hot route it has the user
        and nothing else."""
        self.database: Database = parts.database
        self.cache: Cache = parts.cache
        self.clock: Clock = parts.clock
        self.settings: Settings = parts.settings
        self.master_key: MasterKey = parts.master_key

    @property
    def caller(self) -> Caller:
        return self.scope["user"]

    @property
    def origin(self) -> Origin:
        return origin_in(self.scope)

    @property
    def arrived_at(self) -> datetime:
        """When the request began to; its body may have taken long."""
        return self.scope[ARRIVED_AT]


def provide_call(request: litestar.Request[Any, Any, Any]) -> Call:
    return Call(request.app.state, request.scope)  # pyright: ignore[reportArgumentType]


def origin_of(connection: Connection) -> Origin:
    return origin_in(connection.scope)  # pyright: ignore[reportArgumentType]


def origin_in(scope: Scope) -> Origin:
    return origin_by(headers_in(scope), host_in(scope))


def origin_by(headers: Headers, host: str) -> Origin:
    agent = headers.get(b"user-agent", b"").decode("latin-1")
    return Origin(_checked_address(host), agent[:USER_AGENT_CHARACTERS_MAX])


def note_arrival(scope: Scope, now: datetime) -> None:
    scope[ARRIVED_AT] = now


def headers_in(scope: Scope) -> Headers:
    """By name; made once for each request."""
    headers: Headers | None = scope.get("voelgoed.headers")
    if headers is None:
        headers = scope["voelgoed.headers"] = dict(scope["headers"])
    return headers


def host_in(scope: Scope) -> str:
    """A proxy's word for it may be anything."""
    client: tuple[str, int] | None = scope.get("client")
    return client[0] if client else ""


@lru_cache(maxsize=10_000)
def _checked_address(host: str) -> str:
    try:
        return str(ip_address(host))
    except ValueError:
        return "unknown"


def is_cross_site(headers: Headers, public_url: str | None) -> bool:
    """A page of another site may not act with our cookie, nor log anyone in.

    Browsers say where a request came from; who says nothing is not a browser and has no
    cookie to steal. A bearer token is proof enough: other sites cannot know it.
    """
    if headers.get(b"authorization", b"").lower().startswith(b"bearer "):
        return False
    site = headers.get(b"sec-fetch-site")
    if site is not None:
        return site not in (b"same-origin", b"none")
    origin = headers.get(b"origin")
    if origin is None:
        return False
    ours = {headers.get(b"host", b"").decode("latin-1")}
    if public_url is not None:
        ours.add(_host(public_url))
    return _host(origin.decode("latin-1")) not in ours


def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc
    except ValueError:
        return "not a host"


def bearer_in(headers: Headers) -> str | None:
    scheme, _, token = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def _cookie(headers: Headers) -> str | None:
    for part in headers.get(b"cookie", b"").decode("latin-1").split(";"):
        name, _, value = part.strip().partition("=")
        if name == COOKIE:
            return value.strip('"')
    return None


def once_for(caller: Caller, key: str | None, *request: object) -> IdempotencyKey | None:
    """The caller's Idempotency-Key with what it was sent for."""
    if key is None or caller.id is None:
        return None
    return IdempotencyKey(caller.id, key, sha256(msgspec.json.encode(request)).digest())
