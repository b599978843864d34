"""Who may book and enter a zone, and if not, why."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID

import msgspec

from voelgoed.accounts.model import Membership, Standing
from voelgoed.accounts.rules.memberships import in_force
from voelgoed.seating.model.layout import AccessMode, Zone

NEEDED_BY: Mapping[AccessMode, str] = {
    "membership_tier": "membership_tier",
    "role_based": "allowed_roles",
    "whitelist": "whitelist_id",
}
"""The field without which an access mode means nothing."""
USED_BY: Mapping[AccessMode, frozenset[str]] = {
    "public": frozenset(),
    "membership_tier": frozenset({"membership_tier", "whitelist_id"}),
    "role_based": frozenset({"allowed_roles", "whitelist_id"}),
    "whitelist": frozenset({"whitelist_id"}),
}
"""The fields that an access mode looks at."""

DenialReason = Literal[
    "not_authenticated",
    "membership_required",
    "membership_inactive",
    "membership_not_yet_valid",
    "membership_expired",
    "role_required",
    "not_whitelisted",
]

FOREVER = datetime.max.replace(tzinfo=UTC)


class Granted(msgspec.Struct, frozen=True):
    membership_id: UUID | None = None
    """The membership that opened the door, if one did."""


class Denied(msgspec.Struct, frozen=True):
    reason: DenialReason
    message: str
    """Said to the visitor; dates are in UTC."""
    email: str | None
    """The visitor's, who is somebody unknown without one."""


def zone_access(zone: Zone, visitor: Standing | None, now: datetime) -> Granted | Denied:
    if zone.access_mode == "public":
        return Granted()
    if visitor is None:
        return Denied("not_authenticated", "Log in first: this zone is not open to all.", None)
    if zone.access_mode == "membership_tier":
        membership = _membership_in_force(zone, visitor, now)
        if membership is not None:
            return Granted(membership.id)
    if zone.access_mode == "role_based" and visitor.role in (zone.allowed_roles or ()):
        return Granted()
    if zone.whitelist_id in visitor.whitelist_ids:
        return Granted()
    return _denied(zone, visitor, now)


def party_access(
    zone: Zone, visitors: Sequence[Standing | None], now: datetime
) -> list[Granted] | Denied:
    """All of them or none: a member's friends must qualify too, or be on the zone's whitelist."""
    granted: list[Granted] = []
    for visitor in visitors:
        access = zone_access(zone, visitor, now)
        if isinstance(access, Denied):
            return access
        granted.append(access)
    return granted


def _memberships(zone: Zone, visitor: Standing) -> list[Membership]:
    return [each for each in visitor.memberships if each.tier == zone.membership_tier]


def _membership_in_force(zone: Zone, visitor: Standing, now: datetime) -> Membership | None:
    """The one that lasts longest, so that its ticket does; of equals, the smallest id."""
    candidates = [each for each in _memberships(zone, visitor) if in_force(each, now)]
    candidates.sort(key=lambda each: each.id)
    return max(candidates, key=lambda each: each.valid_to or FOREVER, default=None)


def _denied(zone: Zone, visitor: Standing, now: datetime) -> Denied:
    match zone.access_mode:
        case "membership_tier":
            reason, message = _membership_denial(zone, _memberships(zone, visitor), now)
        case "role_based":
            roles = ", ".join(zone.allowed_roles or ()).replace("_", " ")
            reason, message = "role_required", f"This zone is only for these roles: {roles}."
        case _:
            reason = "not_whitelisted"
            message = "This zone is for people on its whitelist; your address is not on it."
    return Denied(reason, message, visitor.email)


def _membership_denial(
    zone: Zone, memberships: Sequence[Membership], now: datetime
) -> tuple[DenialReason, str]:
    """Of several memberships, the one that is nearest to opening the door is the reason."""
    members = f"This zone is for {zone.membership_tier} members"
    ended = [each.valid_to for each in memberships if each.valid_to and each.valid_to <= now]
    current = [each for each in memberships if not each.valid_to or each.valid_to > now]
    begins = [each.valid_from for each in current if each.status == "active"]
    stopped = {each.status for each in current} - {"active"}
    if begins:
        return (
            "membership_not_yet_valid",
            f"{members}; your membership begins on {_date(min(begins))}.",
        )
    if stopped:
        status = "suspended" if "suspended" in stopped else "cancelled"
        return "membership_inactive", f"{members}; your membership is {status}."
    if ended:
        return "membership_expired", f"{members}; your membership ended on {_date(max(ended))}."
    return "membership_required", f"{members}."


def _date(moment: datetime) -> str:
    day = moment.astimezone(UTC)
    return f"{day.day} {day:%B %Y}"
