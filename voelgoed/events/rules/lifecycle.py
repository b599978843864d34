"""The states of an event and the ways between them."""

from voelgoed.events.model import EventStatus

NEXT: dict[EventStatus, frozenset[EventStatus]] = {
    "draft": frozenset({"published", "cancelled"}),
    "published": frozenset({"live", "cancelled"}),
    "live": frozenset({"ended", "cancelled"}),
    "ended": frozenset({"archived"}),
    "cancelled": frozenset(),
    "archived": frozenset(),
}

PUBLIC: frozenset[EventStatus] = frozenset({"published", "live"})
"""What customers may see."""

CHANGEABLE: frozenset[EventStatus] = frozenset({"draft", "published", "live"})


def may_become(status: EventStatus, wanted: EventStatus) -> bool:
    return wanted in NEXT[status]
