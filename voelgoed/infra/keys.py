"""Names in shared stores. Nobody else builds them, so none can lack the organisation."""

from functools import lru_cache
from uuid import UUID


def key(organization_id: UUID, *parts: str | UUID) -> str:
    if not parts:
        raise ValueError("a key needs more than the organisation")
    return ":".join((_prefix(organization_id), *map(str, parts)))


@lru_cache(maxsize=10_000)
def _prefix(organization_id: UUID) -> str:
    if not isinstance(organization_id, UUID):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError("the organisation must be a UUID")
    return f"voelgoed:org:{organization_id}"
