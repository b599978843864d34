"""What of a given layout has the right shape, and in words for a person what has not."""

from collections.abc import Iterable, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import FieldInfo

from voelgoed.accounts.model import Tier
from voelgoed.infra.shapes import Name
from voelgoed.seating.model.layout import (
    CAPACITY_MAX,
    COORDINATE_MAX,
    METADATA_BYTES_MAX,
    Capacity,
    Coordinate,
    Fault,
    Metadata,
    Point,
    RowName,
    SeatId,
    SeatNumber,
)

FAULTS_MAX = 1_000
METADATA_LEVELS_MAX = 20
UNKNOWN_NAME_CHARACTERS_MAX = 100

WORDS: dict[Any, str] = {
    SeatId: "must be text of 1 to 63 characters without blanks",
    RowName: "must be text of 1 to 20 characters on one line",
    SeatNumber: "must be a whole number from 0 to 1000000",
    Coordinate: f"must be a number from -{COORDINATE_MAX} to {COORDINATE_MAX}",
    Capacity: f"must be a whole number from 1 to {CAPACITY_MAX}",
    Name: "must be text of 1 to 200 characters, not only blanks",
    Tier: "must be lower-case letters and digits, in words joined by - or _, at most 63 characters",
    UUID: "must be a UUID, such as 6f1c1c0e-3b7a-4c59-9a53-0f3c7a1f7d10",
    Metadata: f"must be an object of at most {METADATA_LEVELS_MAX} levels",
}


class Faults:
    """Collects faults up to a limit: nobody reads more, and a layout can have 100,000."""

    def __init__(self) -> None:
        self.found: list[Fault] = []

    @property
    def full(self) -> bool:
        return len(self.found) >= FAULTS_MAX

    def add(self, path: str, message: str) -> None:
        if not self.full:
            self.found.append(Fault(path, message))


def salvage(given: object, kind: Any, path: str, faults: Faults) -> Any:
    """`given` as `kind`. What is not sound is a fault, and UNSET in its place."""
    if faults.full:
        return UNSET
    try:
        return msgspec.convert(given, kind)
    except (msgspec.ValidationError, RecursionError):
        return _salvage_parts(given, _not_null(kind), path, faults)


def _not_null(kind: Any) -> Any:
    if get_origin(kind) in {Union, UnionType}:
        (kind,) = (each for each in get_args(kind) if each is not NoneType)
    return kind


def _salvage_parts(given: object, kind: Any, path: str, faults: Faults) -> Any:
    plain, meta = get_args(kind) if get_origin(kind) is Annotated else (kind, Meta())
    if get_origin(plain) is list and isinstance(given, list):
        items = cast(list[object], given)
        _check_length(items, meta, path, faults)
        (item_kind,) = get_args(plain)
        if not _is_struct(
            item_kind
        ):  # millions of names would each be looked at; zones hang together
            items = items[: meta.max_length]
        return [salvage(each, item_kind, f"{path}[{n}]", faults) for n, each in enumerate(items)]
    if _is_struct(plain) and isinstance(given, dict):
        return _salvage_fields(cast(dict[object, object], given), plain, path, faults)
    faults.add(path, _in_words(kind, plain))
    return UNSET


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Struct)


def _check_length(items: Sequence[object], meta: Meta, path: str, faults: Faults) -> None:
    if meta.min_length is not None and len(items) < meta.min_length:
        faults.add(path, f"must have {meta.min_length} or more entries")
    if meta.max_length is not None and len(items) > meta.max_length:
        faults.add(path, f"must have at most {meta.max_length} entries, and has {len(items)}")


@cache
def _fields_of(kind: type[Struct]) -> tuple[FieldInfo, ...]:
    return msgspec.structs.fields(kind)


def _salvage_fields(
    given: dict[object, object], kind: type[Struct], path: str, faults: Faults
) -> Struct | UnsetType:
    _check_names(given, kind, path, faults)
    sound: dict[str, Any] = {}
    for field in _fields_of(kind):
        if field.name in given:
            place = f"{path}.{field.name}"
            sound[field.name] = salvage(given[field.name], field.type, place, faults)
        elif field.required:
            sound[field.name] = UNSET
            faults.add(f"{path}.{field.name}", "is missing")
    half_a_point = kind is Point and UNSET in sound.values()
    return UNSET if half_a_point else kind(**sound)


def _check_names(
    given: dict[object, object], kind: type[Struct], path: str, faults: Faults
) -> None:
    known = {field.name for field in _fields_of(kind)}
    for name in given:
        if not isinstance(name, str):
            faults.add(path, "has a field whose name is not text")
        elif name not in known:
            faults.add(f"{path}.{name[:UNKNOWN_NAME_CHARACTERS_MAX]}", "is not a known field")


def _in_words(kind: Any, plain: Any) -> str:
    if get_origin(plain) is Literal:
        return f"must be one of {', '.join(get_args(plain))}"
    if get_origin(plain) is list:
        return "must be a list"
    return WORDS.get(kind, "must be an object")


def check_metadata(metadata: Metadata | UnsetType, path: str, faults: Faults) -> None:
    if metadata is UNSET or not metadata:
        return
    try:
        encoded = msgspec.json.encode(metadata)
    except RecursionError:
        faults.add(path, WORDS[Metadata])
        return
    except (TypeError, ValueError):
        faults.add(path, "cannot be written as JSON")
        return
    if len(encoded) > METADATA_BYTES_MAX:
        faults.add(path, f"must be at most {METADATA_BYTES_MAX} bytes, and is {len(encoded)}")
    elif _levels(metadata) > METADATA_LEVELS_MAX:
        faults.add(path, WORDS[Metadata])
    # PostgreSQL stores no zero characters. An escaped backslash before u0000 makes none.
    if b"\\u0000" in encoded.replace(b"\\\\", b""):
        faults.add(path, "must not contain the character zero")


def _levels(value: object) -> int:
    levels = 0
    level = [value]
    while level:
        levels += 1
        level = [inner for outer in level for inner in _containers_in(outer)]
    return levels


def _containers_in(value: object) -> list[object]:
    if isinstance(value, dict):
        value = cast(dict[str, object], value).values()
    return [each for each in cast(Iterable[object], value) if isinstance(each, dict | list)]
