import msgspec


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What entries were last made from, by which those that may have changed are found."""

    fingerprint: str
    """Of all that is not of a single ticket: types, gates, days, the key of typed codes."""
    seen_xid: int
    """The oldest transaction that was not over: what it or a later one writes was not seen."""


class Entries(msgspec.Struct, frozen=True, kw_only=True):
    texts: list[str]
    """By ticket."""
    is_all: bool
    """Of all of the event's tickets, not only of those that may have changed."""
    seen: Seen
