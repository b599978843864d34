from typing import Annotated
from uuid import UUID

from litestar import Response
from litestar.di import NamedDependency as Given
from litestar.params import FromPath, FromQuery, HeaderParameter, JSONBody

from voelgoed.accounts import access
from voelgoed.accounts.access import Call
from voelgoed.events.model import VenueNotFound
from voelgoed.infra.idempotency import IdempotencyKeyReused
from voelgoed.infra.refusal import VersionConflict
from voelgoed.infra.shapes import Data, Page
from voelgoed.infra.web import IdempotencyKey, Limit, page
from voelgoed.seating.actions import layouts as actions
from voelgoed.seating.actions.views import load_layout
from voelgoed.seating.model.layout import (
    Fault,
    Layout,
    LayoutCheck,
    LayoutConfig,
    LayoutDiff,
    LayoutReading,
    LayoutText,
    LayoutTransition,
    NewLayout,
)
from voelgoed.seating.model.refusals import (
    InvalidLayout,
    InvalidLayoutTransition,
    LayoutNotDraft,
    LayoutNotFound,
    PolicyForbids,
)

LAYOUT_BYTES_MAX = 24 * 1024 * 1024
"""Of the largest layout there may be, spelt out and indented."""
FOREVER = "private, max-age=31536000, immutable"

IfNoneMatch = Annotated[
    str | None, HeaderParameter(name="If-None-Match", max_length=1_000, description="An ETag.")
]
AcceptEncoding = Annotated[
    str, HeaderParameter(name="Accept-Encoding", max_length=1_000, description="`gzip` or not.")
]


@access.get("/api/venues/{venue_id:uuid}/layouts", "layouts.read", VenueNotFound)
async def list_layouts(
    venue_id: FromPath[UUID],
    call: Given[Call],
    after: FromQuery[UUID | None] = None,
    limit: Limit = 50,
) -> Page[Layout]:
    """Every version of every layout of this venue."""
    layouts = await actions.list_layouts(call.database, call.caller, venue_id, after, limit + 1)
    return page(layouts, limit, lambda layout: layout.id)


@access.post(
    "/api/venues/{venue_id:uuid}/layouts",
    "layouts.write",
    VenueNotFound,
    InvalidLayout,
    PolicyForbids,
    IdempotencyKeyReused,
    body_bytes_max=LAYOUT_BYTES_MAX,
)
async def create_layout(
    venue_id: FromPath[UUID],
    data: JSONBody[NewLayout],
    call: Given[Call],
    idempotency_key: IdempotencyKey = None,
) -> Data[Layout]:
    """Version 1 of a layout. `config` is a LayoutConfig; all its faults are named at once."""
    key = access.once_for(call.caller, idempotency_key, "create_layout", venue_id, data)
    return Data(await actions.create_layout(call.database, call.caller, venue_id, data, key))


@access.post("/api/layout-checks", "layouts.write", status=200, body_bytes_max=LAYOUT_BYTES_MAX)
async def check_layout(data: JSONBody[LayoutCheck], call: Given[Call]) -> Data[list[Fault]]:
    """Every fault that a layout of this config would be refused for; stores nothing."""
    return Data(await actions.check_layout(call.database, call.caller, data.config))


@access.post("/api/layout-readings", "layouts.write", status=200, body_bytes_max=LAYOUT_BYTES_MAX)
async def read_layout_text(data: JSONBody[LayoutText], call: Given[Call]) -> Data[LayoutReading]:
    """A layout written as text or as a table, as a config, and its faults by line; stores
    nothing. Of a faulty one, `config` is what could be read of it."""
    return Data(await actions.read_text(call.database, call.caller, data))


@access.get("/api/layouts/{layout_id:uuid}", "layouts.read", LayoutNotFound)
async def read_layout(layout_id: FromPath[UUID], call: Given[Call]) -> Data[Layout]:
    return Data(await actions.read_layout(call.database, call.caller, layout_id))


@access.get("/api/layouts/{layout_id:uuid}/config", "seats.read", LayoutNotFound)
async def read_layout_config(
    layout_id: FromPath[UUID],
    call: Given[Call],
    if_none_match: IfNoneMatch = None,
    accept_encoding: AcceptEncoding = "",
) -> Response[LayoutConfig]:
    """Immutable: keep it for ever. Maps of seat states follow its order."""
    layout = await actions.read_layout(call.database, call.caller, layout_id)
    headers = {
        "ETag": f'"{layout.config_hash}"',
        "Cache-Control": FOREVER,
        "Vary": "Accept-Encoding",
    }
    if if_none_match is not None and layout.config_hash in if_none_match:
        return _bytes(b"", 304, headers)
    loaded = await load_layout(
        call.database, call.cache, call.caller.organization_id, layout.id, layout.lineage_id
    )
    if "gzip" not in accept_encoding.lower():
        return _bytes(loaded.text, 200, headers)
    return _bytes(loaded.compressed, 200, headers | {"Content-Encoding": "gzip"})


def _bytes(body: bytes, status: int, headers: dict[str, str]) -> Response[LayoutConfig]:
    return Response(  # pyright: ignore[reportReturnType]
        body, status_code=status, headers=headers, media_type="application/json"
    )


@access.post(
    "/api/layouts/{layout_id:uuid}/versions",
    "layouts.write",
    LayoutNotFound,
    InvalidLayout,
    PolicyForbids,
    IdempotencyKeyReused,
    body_bytes_max=LAYOUT_BYTES_MAX,
)
async def create_layout_version(
    layout_id: FromPath[UUID],
    data: JSONBody[NewLayout],
    call: Given[Call],
    idempotency_key: IdempotencyKey = None,
) -> Data[Layout]:
    """The next version; events stay with theirs. An active one archives the one before."""
    key = access.once_for(call.caller, idempotency_key, "create_layout_version", layout_id, data)
    return Data(await actions.create_version(call.database, call.caller, layout_id, data, key))


@access.post(
    "/api/layouts/{layout_id:uuid}/transitions",
    "layouts.write",
    LayoutNotFound,
    InvalidLayoutTransition,
    VersionConflict,
    status=200,
)
async def move_layout(
    layout_id: FromPath[UUID], data: JSONBody[LayoutTransition], call: Given[Call]
) -> Data[Layout]:
    """Activate a draft, or archive a layout that no new event should use."""
    return Data(await actions.move_layout(call.database, call.caller, layout_id, data))


@access.get("/api/layouts/{layout_id:uuid}/diff/{other_id:uuid}", "layouts.read", LayoutNotFound)
async def compare_layouts(
    layout_id: FromPath[UUID], other_id: FromPath[UUID], call: Given[Call]
) -> Data[LayoutDiff]:
    """What became different from the first to the second."""
    return Data(await actions.compare_layouts(call.database, call.caller, layout_id, other_id))


@access.delete("/api/layouts/{layout_id:uuid}", "layouts.write", LayoutNotFound, LayoutNotDraft)
async def delete_layout(layout_id: FromPath[UUID], call: Given[Call]) -> None:
    """A draft only."""
    await actions.delete_layout(call.database, call.caller, layout_id)


ROUTES = [
    list_layouts,
    create_layout,
    check_layout,
    read_layout_text,
    read_layout,
    read_layout_config,
    create_layout_version,
    move_layout,
    compare_layouts,
    delete_layout,
]
