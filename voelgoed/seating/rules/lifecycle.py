"""The states of a layout version and the ways between them."""

from voelgoed.seating.model.layout import LayoutStatus

NEXT: dict[LayoutStatus, frozenset[LayoutStatus]] = {
    "draft": frozenset({"active", "archived"}),
    "active": frozenset({"archived"}),
    "archived": frozenset(),
}


def may_become(status: LayoutStatus, wanted: LayoutStatus) -> bool:
    return wanted in NEXT[status]
