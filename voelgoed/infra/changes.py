"""What a change request changes: the new value, and old and new for the audit log."""

from datetime import datetime
from typing import TypeVar

import msgspec

from voelgoed.infra.refusal import VersionConflict

T = TypeVar("T", bound=msgspec.Struct)


def changed(current: T, request: msgspec.Struct, now: datetime) -> tuple[T, dict[str, object]]:
    """The next version of `current` with the fields that `request` sets.

    Refuses when the request was made of another version than the current one.
    """
    wanted = {
        field: value
        for field, value in msgspec.structs.asdict(request).items()
        if value is not msgspec.UNSET and field != "version"
    }
    present = msgspec.structs.asdict(current)
    if getattr(request, "version") != present["version"]:  # noqa: B009
        raise VersionConflict(current_version=present["version"])
    differences: dict[str, object] = {
        field: {"from": present[field], "to": value}
        for field, value in wanted.items()
        if present[field] != value
    }
    following = msgspec.structs.replace(
        current, **wanted, version=present["version"] + 1, updated_at=now
    )
    return following, differences
