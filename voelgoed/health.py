"""Is it alive, is it ready, what does it count."""

from typing import Any, Literal

import msgspec
from litestar import Request, Response, get
from litestar.di import NamedDependency as Given
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from voelgoed.accounts.access import Call
from voelgoed.accounts.model import Unauthorized
from voelgoed.infra.refusal import StorageUnavailable
from voelgoed.infra.supervisor import PostgresSupervisor
from voelgoed.infra.web import documented

THIS_MACHINE = ("127.0.0.1", "::1")


class Health(msgspec.Struct, frozen=True):
    status: Literal["ok"]


@get("/health/live", opt={"public": True}, security=[{}])
async def live() -> Health:
    """The process answers."""
    return Health("ok")


@get(
    "/health/ready",
    opt={"public": True},
    security=[{}],
    responses=documented([StorageUnavailable]),
)
async def ready(call: Given[Call]) -> Health:
    """The process answers and reaches its database."""
    try:
        await call.database.ping()
    except StorageUnavailable as refusal:
        supervisor: PostgresSupervisor | None = call.parts.supervisor
        if supervisor is not None:
            refusal.details["postgres"] = supervisor.state
        raise
    return Health("ok")


@get("/metrics", opt={"public": True}, include_in_schema=False)
async def metrics(request: Request[Any, Any, Any], call: Given[Call]) -> Response[bytes]:
    here = request.client is not None and request.client.host in THIS_MACHINE
    if call.settings.metrics_token is None:
        allowed = here
    else:
        allowed = request.headers.get("authorization") == f"Bearer {call.settings.metrics_token}"
    if not allowed:
        raise Unauthorized("Metrics are for this machine, or for who has the metrics token.")
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)


ROUTES = [live, ready, metrics]
