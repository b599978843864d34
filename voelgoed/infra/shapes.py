"""Building blocks of request bodies: every text has a length, every number a range."""

from datetime import UTC, datetime
from typing import Annotated, Generic, TypeVar

from msgspec import Meta, Struct
from msgspec.structs import force_setattr

from voelgoed.infra.refusal import InvalidRequest

T = TypeVar("T")

EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
LATEST = datetime(9000, 1, 1, tzinfo=UTC)

# PostgreSQL stores no zero bytes; a name of blanks only is no name.
Name = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^[^\x00]*[^\s\x00][^\x00]*$")]
Text = Annotated[str, Meta(max_length=5_000, pattern=r"^[^\x00]*$")]
Note = Annotated[str, Meta(max_length=500, pattern=r"^[^\x00]*$")]
Slug = Annotated[str, Meta(min_length=2, max_length=63, pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$(?!\n)")]
Email = Annotated[
    str, Meta(min_length=3, max_length=254, pattern=r"^[^@\s\x00]+@[^@\s\x00]+$(?!\n)")
]
Moment = Annotated[datetime, Meta(tz=True)]
SentId = Annotated[str, Meta(pattern=r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$(?!\n)")]
"""A UUID as the text that somebody sent, which is echoed as it was sent."""
Count = Annotated[int, Meta(ge=1, le=10_000_000)]
Version = Annotated[int, Meta(ge=1, le=2_147_483_647)]


def in_utc(given: Struct) -> None:
    """Moments are kept, compared and answered in UTC, whatever offset they came with."""
    for name in given.__struct_fields__:
        value = getattr(given, name)
        if isinstance(value, datetime):
            if not EARLIEST <= value <= LATEST:
                raise ValueError(f"`{name}` is out of range")
            force_setattr(given, name, value.astimezone(UTC))


def moments_refusal(**asked: datetime | None) -> InvalidRequest | None:
    """Of moments in an address, whose `Meta` nobody looks at: one without an offset would mean whatever
    the clock of the server is set to."""
    for name, moment in asked.items():
        if moment is not None and moment.tzinfo is None:
            return InvalidRequest(faults=[{"path": name, "message": "needs an offset from UTC"}])
        if moment is not None and not EARLIEST <= moment <= LATEST:
            return InvalidRequest(faults=[{"path": name, "message": "is out of range"}])
    return None


class Request(Struct, forbid_unknown_fields=True, kw_only=True):
    """A request body. A field we do not know is a mistake we name, not one we ignore."""

    def __post_init__(self) -> None:
        in_utc(self)


class DeviceRequest(Struct, kw_only=True):
    """A request body of a device. Devices are updated later than servers, and other people build them:
    a field that we do not know is ignored."""

    def __post_init__(self) -> None:
        in_utc(self)


class Data(Struct, Generic[T], frozen=True):
    data: T


class Page(Struct, Generic[T], frozen=True):
    data: list[T]
    next: str | None
    """Give this as `after` to read on; null at the end."""
