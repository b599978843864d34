"""Routes for devices. Their key proves who they are; whether they may, each action asks."""

from typing import Any

import litestar
from litestar.handlers import BaseRouteHandler
from litestar.openapi.spec import Operation

from voelgoed.accounts.access import (
    Call,
    Connection,
    Decorator,
    bearer_in,
    caller_of,
    headers_in,
    origin_of,
)
from voelgoed.accounts.model import Caller
from voelgoed.infra.refusal import Refusal
from voelgoed.infra.web import (
    ALWAYS_POSSIBLE,
    BODY_BYTES_MAX,
    PACKED,
    WITH_A_BODY,
    documented,
)
from voelgoed.scanning.actions.own_device import DeviceCaller, prove, require_usable
from voelgoed.scanning.model.refusals import (
    BatchMalformed,
    DeviceInactive,
    InvalidDeviceToken,
)
from voelgoed.scanning.rules.device_keys import PREFIX

POSSIBLE = (*ALWAYS_POSSIBLE, InvalidDeviceToken, DeviceInactive)
SECURITY: list[dict[str, list[str]]] = [{"device": []}]


def device_get(
    path: str, *refusals: type[Refusal], operation_class: type[Operation] = Operation
) -> Decorator:
    return litestar.get(
        path,
        guards=[_requires_device],
        opt={"device": True},
        responses=documented((*POSSIBLE, *refusals)),
        security=SECURITY,
        operation_class=operation_class,
    )


def device_post(
    path: str,
    *refusals: type[Refusal],
    status: int = 200,
    operation_class: type[Operation] = Operation,
    body_bytes_max: int = BODY_BYTES_MAX,
    opt: dict[str, object] | None = None,
) -> Decorator:
    return litestar.post(
        path,
        guards=[_requires_device],
        opt={"device": True, **(opt or {})},
        responses=documented((*POSSIBLE, *WITH_A_BODY, *refusals)),
        security=SECURITY,
        status_code=status,
        request_max_body_size=body_bytes_max,
        operation_class=operation_class,
    )


def device_batch(path: str, *refusals: type[Refusal], body_bytes_max: int) -> Decorator:
    """Takes what a device brings later, which may be compressed; what cannot be read counts as a
    failed sync."""
    return device_post(
        path,
        *PACKED,
        *refusals,
        body_bytes_max=body_bytes_max,
        opt={"unpacks": body_bytes_max, "faults_are": BatchMalformed, "on_fault": _note_fault},
    )


async def _note_fault(connection: Connection, refusal: Refusal) -> None:
    found: Any = connection.scope["user"]
    await connection.app.state.syncs.fail(found, refusal)


async def _requires_device(connection: Connection, _: BaseRouteHandler) -> None:
    key = bearer_in(headers_in(connection.scope))  # pyright: ignore[reportArgumentType]
    proven = prove(connection.app.state.master_key, key, origin_of(connection))
    connection.app.state.signs_of_life.note(proven)
    connection.scope["user"] = proven


async def anybody_of(connection: Connection) -> Caller:
    """A user or a device that may scan."""
    proven = device_in(connection)
    if proven is None:
        return await caller_of(connection)
    return await require_usable(connection.app.state.database, proven)


def device_in(connection: Connection) -> DeviceCaller | None:
    """The device whose key came with a connection; None where none did. A browser cannot send a header
    with a websocket, so the key may also stand among the subprotocols that it offers."""
    headers = headers_in(connection.scope)  # pyright: ignore[reportArgumentType]
    key = bearer_in(headers) or ""
    for offered in headers.get(b"sec-websocket-protocol", b"").decode("latin-1").split(","):
        if offered.strip().startswith(PREFIX):
            key = offered.strip()
    if not key.startswith(PREFIX):
        return None
    return prove(connection.app.state.master_key, key, origin_of(connection))


def device_of(call: Call) -> DeviceCaller:
    found: Any = call.scope["user"]
    assert isinstance(found, DeviceCaller)
    return found
