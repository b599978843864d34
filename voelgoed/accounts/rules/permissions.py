"""Which role may do what. This table is the only place that says so."""

from typing import Literal, get_args

from voelgoed.accounts.model import Role

Permission = Literal[
    "admissions.read",
    "admissions.write",
    "audit.read",
    "devices.read",
    "devices.write",
    "events.read",
    "events.read_unpublished",
    "events.write",
    "event_keys.read",
    "event_keys.write",
    "gates.read",
    "gates.write",
    "holds.read",
    "holds.write",
    "layouts.read",
    "layouts.write",
    "memberships.read",
    "memberships.write",
    "orders.read",
    "orders.write",
    "organization.read",
    "organization.write",
    "payment_accounts.write",
    "sales.read",
    "sales.write",
    "seating_policy.read",
    "seating_policy.write",
    "seats.block",
    "seats.read",
    "seats.sell_withheld",
    "ticket_types.read",
    "ticket_types.write",
    "tickets.import",
    "users.read",
    "users.write",
    "venues.read",
    "venues.write",
    "whitelists.read",
    "whitelists.write",
]

EVERYTHING: frozenset[Permission] = frozenset(get_args(Permission))
_LOOK_AT_EVENTS: frozenset[Permission] = frozenset(
    {
        "devices.read",
        "events.read",
        "events.read_unpublished",
        "event_keys.read",
        "gates.read",
        "layouts.read",
        "organization.read",
        "seating_policy.read",
        "seats.read",
        "ticket_types.read",
        "venues.read",
    }
)
_LOOK_AT_PEOPLE: frozenset[Permission] = frozenset(
    {"memberships.read", "users.read", "whitelists.read"}
)
_ARRANGE_EVENTS: frozenset[Permission] = frozenset(
    {
        "devices.write",
        "events.write",
        "event_keys.write",
        "gates.write",
        "layouts.write",
        "seats.block",
        "ticket_types.write",
        "tickets.import",
        "venues.write",
        "whitelists.write",
    }
)
_BUY: frozenset[Permission] = frozenset(
    {"holds.read", "holds.write", "orders.read", "orders.write"}
)
_SELL: frozenset[Permission] = frozenset(
    {*_BUY, "sales.read", "sales.write", "seats.block", "seats.sell_withheld"}
)
_RUN_GATES: frozenset[Permission] = frozenset(
    {"admissions.read", "admissions.write", "devices.write", "gates.write"}
)
_VISIT: frozenset[Permission] = frozenset(
    {
        *_BUY,
        "events.read",
        "organization.read",
        "seats.read",
        "ticket_types.read",
        "venues.read",
    }
)

PERMISSIONS: dict[Role, frozenset[Permission]] = {
    "owner": EVERYTHING,
    "admin": EVERYTHING,
    "organiser": _LOOK_AT_EVENTS | _LOOK_AT_PEOPLE | _ARRANGE_EVENTS | _SELL | _RUN_GATES,
    "box_office": _LOOK_AT_EVENTS | _LOOK_AT_PEOPLE | _SELL,
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
