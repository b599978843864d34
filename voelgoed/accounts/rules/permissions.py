"""Which role may do what. This table is the only place that says so."""

from typing import Literal, get_args

from voelgoed.accounts.model import Role

Permission = Literal[
    "audit.read",
    "events.read",
    "events.read_unpublished",
    "events.write",
    "gates.read",
    "gates.write",
    "memberships.read",
    "memberships.write",
    "organization.read",
    "organization.write",
    "users.read",
    "users.write",
    "venues.read",
    "venues.write",
    "whitelists.read",
    "whitelists.write",
]

EVERYTHING: frozenset[Permission] = frozenset(get_args(Permission))
_LOOK_AT_EVENTS: frozenset[Permission] = frozenset(
    {"events.read", "events.read_unpublished", "gates.read", "organization.read", "venues.read"}
)
_LOOK_AT_PEOPLE: frozenset[Permission] = frozenset(
    {"memberships.read", "users.read", "whitelists.read"}
)
_ARRANGE_EVENTS: frozenset[Permission] = frozenset(
    {"events.write", "gates.write", "venues.write", "whitelists.write"}
)
_RUN_GATES: frozenset[Permission] = frozenset({"gates.write"})
_VISIT: frozenset[Permission] = frozenset({"events.read", "organization.read", "venues.read"})

PERMISSIONS: dict[Role, frozenset[Permission]] = {
    "owner": EVERYTHING,
    "admin": EVERYTHING,
    "organiser": _LOOK_AT_EVENTS | _LOOK_AT_PEOPLE | _ARRANGE_EVENTS,
    "box_office": _LOOK_AT_EVENTS | _LOOK_AT_PEOPLE,
    "gate_supervisor": _LOOK_AT_EVENTS | _RUN_GATES,
    "customer": _VISIT,
}

MANAGED_BY: dict[Role, frozenset[Role]] = {
    "owner": frozenset(get_args(Role)),
    "admin": frozenset(get_args(Role)) - {"owner"},
    "organiser": frozenset(),
    "box_office": frozenset(),
    "gate_supervisor": frozenset(),
    "customer": frozenset(),
}
"""Whose accounts, and to which roles, a role with `users.write` may change."""


def may(role: Role | None, permission: Permission) -> bool:
    return role is not None and permission in PERMISSIONS[role]


def may_manage(role: Role | None, *roles: Role) -> bool:
    return role is not None and MANAGED_BY[role].issuperset(roles)
