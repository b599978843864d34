from uuid import UUID

import msgspec
from litestar.di import NamedDependency as Given
from litestar.params import FromPath, JSONBody

from voelgoed.accounts import access
from voelgoed.accounts.access import Call
from voelgoed.accounts.actions import memberships as actions
from voelgoed.accounts.model import (
    InvalidMembershipPeriod,
    Membership,
    MembershipChange,
    MembershipNotFound,
    NewMembership,
    UserNotFound,
)
from voelgoed.accounts.rules.memberships import in_force
from voelgoed.infra.clock import Clock
from voelgoed.infra.idempotency import IdempotencyKeyReused
from voelgoed.infra.refusal import VersionConflict
from voelgoed.infra.shapes import Data
from voelgoed.infra.web import IdempotencyKey


class MembershipView(msgspec.Struct, frozen=True):
    membership: Membership
    in_force: bool
    """Whether it opens doors at this moment."""


@access.get("/api/users/{user_id:uuid}/memberships", "memberships.read", UserNotFound)
async def list_memberships(
    user_id: FromPath[UUID], call: Given[Call]
) -> Data[list[MembershipView]]:
    memberships = await actions.list_memberships(call.database, call.caller, user_id)
    return Data([_view(membership, call.clock) for membership in memberships])


@access.post(
    "/api/users/{user_id:uuid}/memberships",
    "memberships.write",
    UserNotFound,
    InvalidMembershipPeriod,
    IdempotencyKeyReused,
)
async def grant_membership(
    user_id: FromPath[UUID],
    data: JSONBody[NewMembership],
    call: Given[Call],
    idempotency_key: IdempotencyKey = None,
) -> Data[MembershipView]:
    key = access.once_for(call.caller, idempotency_key, "grant_membership", user_id, data)
    membership = await actions.grant_membership(call.database, call.caller, user_id, data, key)
    return Data(_view(membership, call.clock))


@access.patch(
    "/api/memberships/{membership_id:uuid}",
    "memberships.write",
    MembershipNotFound,
    InvalidMembershipPeriod,
    VersionConflict,
)
async def change_membership(
    membership_id: FromPath[UUID],
    data: JSONBody[MembershipChange],
    call: Given[Call],
) -> Data[MembershipView]:
    membership = await actions.change_membership(call.database, call.caller, membership_id, data)
    return Data(_view(membership, call.clock))


def _view(membership: Membership, clock: Clock) -> MembershipView:
    return MembershipView(membership, in_force(membership, clock.now()))


ROUTES = [list_memberships, grant_membership, change_membership]
