from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

import structlog
from litestar import Response
from litestar.di import NamedDependency as Given
from litestar.openapi.spec import (
    OpenAPIHeader,
    OpenAPIMediaType,
    OpenAPIResponse,
    OpenAPIType,
    Operation,
    Schema,
)
from litestar.params import FromPath, HeaderParameter, QueryParameter
from litestar.response import Stream

from voelgoed.accounts import access
from voelgoed.accounts.access import Call, bearer_in, headers_in
from voelgoed.events.model import EventNotFound
from voelgoed.infra.compress import choose_encoding
from voelgoed.infra.shapes import Data
from voelgoed.scanning.access import device_get, device_of
from voelgoed.scanning.actions import manifests as actions
from voelgoed.scanning.actions.manifests import ManifestRequest, Manifests
from voelgoed.scanning.api.device_time import DeviceTime, read_device_time
from voelgoed.scanning.metrics import manifest_bytes, manifest_downloads
from voelgoed.scanning.model.devices import VERSION_MAX
from voelgoed.scanning.model.manifests import ManifestStatus
from voelgoed.scanning.model.refusals import DeviceNotAssignedToGate

log = structlog.get_logger()

PIECE_BYTES = 256 * 1024
"""Sends a slow device no more than it takes, so that many of them have room in memory."""

Since = Annotated[
    int | None,
    QueryParameter(
        ge=0,
        le=VERSION_MAX,
        description="The version that the device has: only what changed since.",
    ),
]
IfNoneMatch = Annotated[
    str | None, HeaderParameter(name="If-None-Match", max_length=1_000, description="An ETag.")
]
AcceptEncoding = Annotated[
    str,
    HeaderParameter(
        name="Accept-Encoding", max_length=1_000, description="`zstd`, `br` or `gzip`, or none."
    ),
]


@dataclass
class GivesManifest(Operation):
    """An operation that answers with a document of its own form; see docs/offline.md."""

    def __post_init__(self) -> None:
        answer = (self.responses or {})["200"]
        assert isinstance(answer, OpenAPIResponse)
        assert self.responses is not None
        answer.description = "The manifest, or what changed since; docs/offline.md has its form"
        answer.content = {
            "application/json": OpenAPIMediaType(schema=Schema(type=OpenAPIType.OBJECT))
        }
        text = Schema(type=OpenAPIType.STRING)
        answer.headers = {
            name: OpenAPIHeader(schema=text)
            for name in ("ETag", "X-Signature", "X-Manifest-Version")
        }
        self.responses = {
            "200": answer,
            "304": OpenAPIResponse(description="The device has it already"),
            **{status: each for status, each in self.responses.items() if status != "200"},
        }


@device_get(
    "/api/scanning/events/{event_id:uuid}/manifest",
    EventNotFound,
    DeviceNotAssignedToGate,
    operation_class=GivesManifest,
)
async def read_manifest(
    event_id: FromPath[UUID],
    call: Given[Call],
    since: Since = None,
    if_none_match: IfNoneMatch = None,
    accept_encoding: AcceptEncoding = "",
    device_time: DeviceTime = None,
) -> Response[Any]:
    """Gives a device all that it needs to decide alone, for the event of its gate, signed with its
    key. With `since`, only the changes after that version; the whole manifest where they are not
    known."""
    manifests: Manifests = call.parts.manifests
    proven = device_of(call)
    encoding = choose_encoding(accept_encoding)
    request = ManifestRequest(
        event_id=event_id,
        api_key=bearer_in(headers_in(call.scope)) or "",
        since=since,
        device_time=read_device_time(device_time),
        encoding=encoding,
        known=None if if_none_match is None else lambda tag: _is_among(tag, if_none_match),
    )
    given = await manifests.give(proven, request)
    headers = {
        "ETag": given.tag,
        "X-Manifest-Version": str(given.version),
        "Vary": "Accept-Encoding",
        "Cache-Control": "private, no-store",
    }
    opened = given.opened
    size = 0 if opened is None else len(opened.content) + len(given.end)
    form = "unchanged" if opened is None else "full" if given.since is None else "delta"
    manifest_downloads.labels(form, "none" if opened is None else encoding).inc()
    manifest_bytes.labels(form).inc(size)
    log.info(
        "manifest.download",
        event_id=str(event_id),
        device_id=str(proven.caller.id),
        manifest_version=given.version,
        form=form,
        since=since,
        encoding=encoding,
        bytes=size,
    )
    if opened is None:
        return Response(b"", status_code=304, headers=headers)
    headers |= {
        "Content-Type": "application/json",
        "Content-Length": str(size),
        "X-Signature": given.signature,
    }
    if encoding != "identity":
        headers["Content-Encoding"] = encoding
    return Stream(_pieces(opened.content, given.end), headers=headers)


async def _pieces(content: bytes, end: bytes) -> AsyncIterator[bytes]:
    for begin in range(0, len(content), PIECE_BYTES):
        yield content[begin : begin + PIECE_BYTES]
    yield end


def _is_among(tag: str, given: str) -> bool:
    """The comparison is weak, as RFC 9110 has it."""
    tags = {each.strip().removeprefix("W/") for each in given.split(",")}
    return "*" in tags or tag.removeprefix("W/") in tags


@access.get("/api/scanning/events/{event_id:uuid}/manifest-status", "devices.read", EventNotFound)
async def read_manifest_status(event_id: FromPath[UUID], call: Given[Call]) -> Data[ManifestStatus]:
    """The manifest of this event, by which devices decide alone, and how many devices have which
    version of it."""
    return Data(await actions.read_status(call.database, call.caller, event_id))


ROUTES = [read_manifest, read_manifest_status]
