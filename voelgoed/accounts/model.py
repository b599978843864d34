"""Organisations, the people in them, and why they are refused."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import msgspec

from voelgoed.infra.refusal import Conflict, Forbidden, Invalid, Missing, Unauthenticated
from voelgoed.infra.shapes import Email, Moment, Name, Note, Request, Slug, Version

Role = Literal["owner", "admin", "organiser", "box_office", "gate_supervisor", "customer"]
UserStatus = Literal["active", "disabled"]
MembershipStatus = Literal["active", "suspended", "cancelled"]

NewPassword = Annotated[str, msgspec.Meta(min_length=10, max_length=200)]
GivenPassword = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Tier = Annotated[str, msgspec.Meta(max_length=63, pattern=r"^[a-z0-9]+([_-][a-z0-9]+)*$(?!\n)")]


class Organization(msgspec.Struct, frozen=True):
    id: UUID
    slug: str
    name: str


class User(msgspec.Struct, frozen=True, kw_only=True):
    id: UUID
    organization_id: UUID
    email: str
    name: str
    role: Role
    status: UserStatus
    version: int
    created_at: datetime
    updated_at: datetime


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks, proven by a credential, and from where."""

    kind: Literal["user", "device", "system"]
    id: UUID | None
    organization_id: UUID
    role: Role | None = None
    session_id: UUID | None = None
    ip: str | None = None
    user_agent: str | None = None


class Origin(msgspec.Struct, frozen=True):
    """Where a request came from, before anyone has said who they are."""

    ip: str
    user_agent: str


class Session(msgspec.Struct, frozen=True, kw_only=True):
    id: UUID
    user_id: UUID
    ip: str
    user_agent: str
    created_at: datetime
    last_seen_at: datetime
    expires_at: datetime


class Membership(msgspec.Struct, frozen=True, kw_only=True):
    id: UUID
    user_id: UUID
    tier: str
    status: MembershipStatus
    valid_from: datetime
    valid_to: datetime | None
    version: int
    created_at: datetime
    updated_at: datetime


class Whitelist(msgspec.Struct, frozen=True):
    id: UUID
    name: str
    created_at: datetime


class WhitelistEntry(msgspec.Struct, frozen=True):
    email: str
    note: str
    created_at: datetime


class NewAuditEntry(msgspec.Struct, frozen=True):
    """What somebody did, or tried to do, to something."""

    caller: Caller
    action: str
    entity_type: str
    entity_id: UUID | str
    changes: dict[str, object] | msgspec.Struct
    metadata: dict[str, object] | None = None
    """What is to be said of how it came, besides what the caller says. None where that is all."""


class AuditRow(msgspec.Struct, frozen=True, kw_only=True):
    """An entry as it is kept. `ip` and `user_agent` become part of the metadata when it is read."""

    id: UUID
    actor_kind: str
    actor_id: UUID | None
    action: str
    entity_type: str
    entity_id: str
    changes: dict[str, object]
    ip: str | None
    user_agent: str | None
    metadata: dict[str, object] | None
    at: datetime


class AuditEntry(msgspec.Struct, frozen=True, kw_only=True):
    id: UUID
    actor_kind: Literal["user", "device", "system"]
    actor_id: UUID | None
    action: str
    entity_type: str
    entity_id: str
    changes: dict[str, object]
    metadata: dict[str, object]
    """How it came: `device_id` and `device_name` of a device, `ip_address`, `user_agent`, and what an
    action adds. What is not known is not there."""
    at: datetime


class NewUser(Request):
    email: Email
    name: Name
    role: Role
    password: NewPassword


class UserChange(Request):
    version: Version
    name: Name | msgspec.UnsetType = msgspec.UNSET
    role: Role | msgspec.UnsetType = msgspec.UNSET
    status: UserStatus | msgspec.UnsetType = msgspec.UNSET


class LogIn(Request):
    organization: Slug
    email: Email
    password: GivenPassword


class Registration(Request):
    organization: Slug
    email: Email
    name: Name
    password: NewPassword


class NewMembership(Request):
    tier: Tier
    valid_from: Moment
    valid_to: Moment | None = None
    status: MembershipStatus = "active"


class MembershipChange(Request):
    version: Version
    status: MembershipStatus | msgspec.UnsetType = msgspec.UNSET
    valid_to: Moment | None | msgspec.UnsetType = msgspec.UNSET


class NewWhitelist(Request):
    name: Name


class NewWhitelistEntry(Request):
    email: Email
    note: Note = ""


class OrganizationChange(Request):
    name: Name


class PasswordChange(Request):
    current_password: GivenPassword
    new_password: NewPassword


class PasswordReset(Request):
    new_password: NewPassword


class Unauthorized(Unauthenticated):
    """Log in first: this needs a valid session."""


class InvalidCredentials(Unauthenticated):
    """Organisation, e-mail address or password is wrong."""


class RoleNotAllowed(Forbidden):
    """Your role may not give, take or change that role."""


class CrossSiteRequest(Forbidden):
    """This request came from another web site."""


class WrongPassword(Forbidden):
    """The current password is wrong."""


class UserNotFound(Missing):
    """There is no such user."""


class MembershipNotFound(Missing):
    """There is no such membership."""


class WhitelistNotFound(Missing):
    """There is no such whitelist."""


class WhitelistEntryNotFound(Missing):
    """That address is not on this whitelist."""


class EmailTaken(Conflict):
    """There is an account with this e-mail address already."""


class SlugTaken(Conflict):
    """There is an organisation with this short name already."""


class WhitelistNameTaken(Conflict):
    """There is a whitelist with this name already."""


class LastOwner(Conflict):
    """An organisation needs at least one active owner."""


class OwnPassword(Conflict):
    """Change your own password with PUT /api/session/password, which asks for the present one."""


class InvalidMembershipPeriod(Invalid):
    """A membership must end after it begins."""


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """What opens doors to whoever has this e-mail address, with an account or without."""

    email: str
    user_id: UUID | None
    role: Role | None
    memberships: list[Membership]
    """All of them, whether in force or not, so that one can say why a door stays shut."""
    whitelist_ids: frozenset[UUID]
