"""What all HTTP routes share: the shape of an error, its status, paging, retry keys."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Annotated, Any, TypeVar

import msgspec
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import HeaderParameter, QueryParameter

from voelgoed.infra.refusal import (
    Conflict,
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
)
from voelgoed.infra.shapes import Page

T = TypeVar("T")

BODY_BYTES_MAX = 64 * 1024
BODY_S = 30.0
PAGE_MAX = 200


class InvalidJson(Malformed):
    """The body is not valid JSON."""


class BodyTooLarge(Malformed):
    """The body is larger than this address accepts."""


class BodyTooSlow(Malformed):
    """The body did not arrive in time."""


class UnsupportedMediaType(Malformed):
    """Send the body as application/json."""


class MethodNotAllowed(Malformed):
    """This address does not know that method."""


STATUS: dict[type[Refusal], int] = {
    BodyTooLarge: 413,
    BodyTooSlow: 408,
    UnsupportedMediaType: 415,
    MethodNotAllowed: 405,
    Malformed: 400,
    Unauthenticated: 401,
    Forbidden: 403,
    Missing: 404,
    Conflict: 409,
    Invalid: 422,
    TooMany: 429,
    Unavailable: 503,
}
"""The one table from refusal to status: a class, or else the nearest kind above it."""

ALWAYS_POSSIBLE: tuple[type[Refusal], ...] = (InvalidRequest, StorageUnavailable)
WITH_A_BODY: tuple[type[Refusal], ...] = (
    InvalidJson,
    BodyTooSlow,
    BodyTooLarge,
    UnsupportedMediaType,
)


class ErrorBody(msgspec.Struct, frozen=True):
    """The shape of every error."""

    error: str
    """A code for programs."""
    message: str
    """A sentence for a person."""
    details: dict[str, Any]


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
