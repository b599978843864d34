"""What all HTTP routes share: the shape of an error, its status, paging, retry keys."""

import random
import zlib
from collections import defaultdict
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Mapping,
    MutableMapping,
    Sequence,
)
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeVar

import msgspec
import zstandard
from litestar import Response
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import (
    OpenAPIMediaType,
    OpenAPIResponse,
    OpenAPIType,
    Operation,
    RequestBody,
    Schema,
)
from litestar.params import HeaderParameter, QueryParameter
from litestar.response import Stream

from voelgoed.infra.refusal import (
    Conflict,
    Failed,
    Forbidden,
    Invalid,
    InvalidRequest,
    Malformed,
    Missing,
    Refusal,
    StorageUnavailable,
    TooMany,
    Unauthenticated,
    Unavailable,
    Untimely,
)
from voelgoed.infra.shapes import Page

T = TypeVar("T")

BODY_BYTES_MAX = 64 * 1024
AGAIN_S = (1, 5)
"""After an outage, so that not all who wait come back at the same moment."""
BODY_S = 30.0
ZSTD_WINDOW_MAX = 8 * 1024 * 1024
"""Bytes that somebody can make us keep for a body."""
PAGE_MAX = 200


class InvalidJson(Malformed):
    """The body is not valid JSON."""


class BodyTooLarge(Malformed):
    """The body is larger than this address accepts."""


class BodyTooSlow(Malformed):
    """The body did not arrive in time."""


class UnsupportedMediaType(Malformed):
    """Send the body as application/json."""


class UnsupportedEncoding(Malformed):
    """Send the body as it is, or with Content-Encoding gzip or zstd."""


class InvalidEncoding(Malformed):
    """The body is not what its Content-Encoding says, or was cut short."""


class InvalidDigest(Malformed):
    """The body is not what its Content-Digest says: it was changed on its way."""


class MethodNotAllowed(Malformed):
    """This address does not know that method."""


STATUS: dict[type[Refusal], int] = {
    BodyTooLarge: 413,
    BodyTooSlow: 408,
    UnsupportedMediaType: 415,
    UnsupportedEncoding: 415,
    MethodNotAllowed: 405,
    Malformed: 400,
    Untimely: 400,
    Unauthenticated: 401,
    Forbidden: 403,
    Missing: 404,
    Conflict: 409,
    Invalid: 422,
    TooMany: 429,
    Failed: 500,
    Unavailable: 503,
}
"""The one table from refusal to status: a class, or else the nearest kind above it."""

ALWAYS_POSSIBLE: tuple[type[Refusal], ...] = (InvalidRequest, StorageUnavailable)
PACKED: tuple[type[Refusal], ...] = (UnsupportedEncoding, InvalidEncoding, InvalidDigest)
TOO_MUCH_OF_A_BODY: tuple[type[Refusal], ...] = (BodyTooSlow, BodyTooLarge, UnsupportedMediaType)
WITH_A_BODY: tuple[type[Refusal], ...] = (InvalidJson, *TOO_MUCH_OF_A_BODY)


class ErrorBody(msgspec.Struct, frozen=True):
    """The shape of every error."""

    error: str
    """A code for programs."""
    message: str
    """A sentence for a person."""
    details: dict[str, Any]


Headers = Mapping[bytes, bytes]
"""Of a request, by name in small letters."""
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def headers_of(refusal: Refusal) -> dict[str, str]:
    status, headers = status_of(type(refusal)), dict[str, str]()
    if "retry_after_seconds" in refusal.details:
        headers["Retry-After"] = str(refusal.details["retry_after_seconds"])
    elif status == 503:
        headers["Retry-After"] = str(random.randint(*AGAIN_S))  # noqa: S311
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return headers


class Asked(msgspec.Struct, frozen=True):
    """A request, all of it, for a route that is answered without the framework."""

    headers: Headers
    host: str
    """Where it came from."""
    named: Mapping[str, str]
    """Parts of the path."""
    body: bytes


class Reply(msgspec.Struct, frozen=True):
    status: int
    body: bytes
    headers: Sequence[tuple[bytes, bytes]] = ()
    """Besides those of its kind and length."""


def reply_with(status: int, body: object) -> Reply:
    return Reply(status, msgspec.json.encode(body))


def response_refusing(refusal: Refusal, body: object) -> Response[Any]:
    """A refusal with a body of its own, from a route's handler."""
    headers = headers_of(refusal)
    return Response(body, status_code=status_of(type(refusal)), headers=headers)


def reply_refusing(refusal: Refusal) -> Reply:
    body = ErrorBody(refusal.code, refusal.message, refusal.details)
    headers = [
        (name.lower().encode(), value.encode()) for name, value in headers_of(refusal).items()
    ]
    return Reply(status_of(type(refusal)), msgspec.json.encode(body), headers)


def reply_of(response: Response[Any]) -> Reply:
    """What a route's handler gave, for the short way."""
    headers = [(name.lower().encode(), value.encode()) for name, value in response.headers.items()]
    return Reply(response.status_code or 200, msgspec.json.encode(response.content), headers)


def read_json(
    body: bytes,
    decoder: msgspec.json.Decoder[T],
    faults_are: type[Refusal] = InvalidRequest,
    malformed_is: type[Refusal] = InvalidJson,
) -> T:
    """The body as exactly the declared shape: "5" is no number, 5 no time."""
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as fault:
        message, _, path = str(fault).partition(" - at `")
        raise faults_are(faults=[{"path": path.rstrip("`") or "$", "message": message}]) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        if malformed_is is InvalidJson:
            raise InvalidJson() from None
        raise malformed_is(faults=[{"path": "$", "message": str(fault)}]) from None


async def send_reply(send: Send, reply: Reply) -> None:
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(reply.body)),
        *reply.headers,
    ]
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": reply.body})


async def read_body(receive: Receive, bytes_max: int = BODY_BYTES_MAX) -> bytes:
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise BodyTooSlow()
        body += message.get("body", b"")
        if len(body) > bytes_max:
            raise BodyTooLarge()
        if not message.get("more_body"):
            return body


def unpacked(body: bytes, encoding: str | None, bytes_max: int) -> bytes:
    """As it was before it was compressed; no more of it than is allowed is ever made."""
    encoding = (encoding or "identity").strip().lower()
    if encoding == "identity":
        return body
    if encoding not in ("gzip", "zstd"):
        raise UnsupportedEncoding()
    try:
        if encoding == "gzip":
            unpacking = zlib.decompressobj(wbits=31)
            plain = unpacking.decompress(body, bytes_max + 1)
        else:
            kit = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW_MAX)
            with kit.stream_reader(body) as reader:  # which stops in time, and does not tell an end
                plain = reader.read(bytes_max + 1)
            unpacking = kit.decompressobj()
            if len(plain) <= bytes_max:
                unpacking.decompress(body)
    except (zlib.error, zstandard.ZstdError):
        raise InvalidEncoding() from None
    if len(plain) > bytes_max:
        raise BodyTooLarge()
    if not unpacking.eof or unpacking.unused_data:
        raise InvalidEncoding()
    return plain


async def stream_body(
    receive: Receive, bytes_max: int, announced: str | None = None
) -> AsyncIterator[bytes]:
    """Like `read_body`, as it comes in."""
    if announced is not None and announced.isdecimal() and int(announced) > bytes_max:
        raise BodyTooLarge()
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise BodyTooSlow()
        piece = message.get("body", b"")
        size += len(piece)
        if size > bytes_max:
            raise BodyTooLarge()
        yield piece
        more = message.get("more_body", False)


def status_of(refusal: type[Refusal]) -> int:
    return next(STATUS[kind] for kind in refusal.__mro__ if kind in STATUS)


def documented(refusals: Iterable[type[Refusal]]) -> dict[int, ResponseSpec]:
    """For the OpenAPI document: the errors of one route, by status."""
    by_status: dict[int, list[type[Refusal]]] = defaultdict(list)
    for refusal in sorted(set(refusals), key=lambda refusal: refusal.code):
        by_status[status_of(refusal)].append(refusal)
    return {
        status: ResponseSpec(
            data_container=ErrorBody,
            generate_examples=False,
            description="; ".join(
                f"`{r.code}`: {' '.join((r.__doc__ or '').split())}" for r in refusals
            ),
        )
        for status, refusals in sorted(by_status.items())
    }


CSV = "text/csv"


def table_file(content: bytes, name: str) -> Response[bytes]:
    """To be saved under this name."""
    return Response(content, media_type=CSV, headers=_saved_as(name))  # which adds the charset


def table_stream(content: AsyncIterator[bytes], name: str) -> Stream:
    """Like `table_file`, as it is made."""
    return Stream(content, media_type=f"{CSV}; charset=utf-8", headers=_saved_as(name))


def _saved_as(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}


@dataclass
class TakesTable(Operation):
    """An operation whose body is a file, for the OpenAPI document."""

    def __post_init__(self) -> None:
        table = OpenAPIMediaType(schema=Schema(type=OpenAPIType.STRING))
        self.request_body = RequestBody(content={CSV: table}, required=True)


@dataclass
class GivesAgain(Operation):
    """An operation that answers 200 instead of 201 with what was there already."""

    def __post_init__(self) -> None:
        assert self.responses is not None
        made = self.responses["201"]
        assert isinstance(made, OpenAPIResponse)
        self.responses = {
            "200": replace(made, description="What was there already"),
            **self.responses,
        }


@dataclass
class AnswersMissing(Operation):
    """An operation whose answer about what there is not has its own shape, and the status 404."""

    def __post_init__(self) -> None:
        assert self.responses is not None
        answer = self.responses["200"]
        assert isinstance(answer, OpenAPIResponse)
        self.responses["404"] = replace(answer, description="There is none, and what follows")


@dataclass
class GivesTable(Operation):
    """An operation that answers with a file, of rows separated by commas or an array of objects."""

    def __post_init__(self) -> None:
        answer = (self.responses or {})["200"]
        assert isinstance(answer, OpenAPIResponse)
        rows = Schema(type=OpenAPIType.ARRAY, items=Schema(type=OpenAPIType.OBJECT))
        answer.content = {
            CSV: OpenAPIMediaType(schema=Schema(type=OpenAPIType.STRING)),
            "application/json": OpenAPIMediaType(schema=rows),
        }


Limit = Annotated[int, QueryParameter(ge=1, le=PAGE_MAX, description="How many at most.")]

IdempotencyKey = Annotated[
    str | None,
    HeaderParameter(
        name="Idempotency-Key",
        min_length=1,
        max_length=200,
        pattern=r"^[!-~]+$",
        description="A text of your own, new for every new command. Repeating a request with "
        "the same key gives the first answer again instead of doing it twice.",
    ),
]


def page(rows: list[T], limit: int, cursor: Callable[[T], object]) -> Page[T]:
    """`rows` was read with `limit + 1`: one more than wanted tells that there is more."""
    more = len(rows) > limit
    return Page(rows[:limit], str(cursor(rows[limit - 1])) if more else None)
