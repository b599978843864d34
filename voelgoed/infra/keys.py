"""Names in shared stores. Nobody else builds them, so none can lack the organisation."""

from uuid import UUID


def key(organization_id: UUID, *parts: str | UUID) -> str:
    if not isinstance(organization_id, UUID):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError("the organisation must be a UUID")
    if not parts:
        raise ValueError("a key needs more than the organisation")
    return ":".join(("voelgoed", "org", str(organization_id), *map(str, parts)))
