from uuid import UUID

from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.model import (
    Caller,
    InvalidMembershipPeriod,
    Membership,
    MembershipChange,
    MembershipNotFound,
    NewMembership,
    UserNotFound,
)
from voelgoed.accounts.store import memberships as store
from voelgoed.accounts.store.users import find_user
from voelgoed.infra.changes import changed
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.idempotency import IdempotencyKey, once
from voelgoed.infra.ids import new_id
from voelgoed.infra.refusal import VersionConflict


async def grant_membership(
    database: Database,
    caller: Caller,
    user_id: UUID,
    new: NewMembership,
    key: IdempotencyKey | None,
) -> Membership:
    async with database.transaction(caller.organization_id) as tx:
        return await once(tx, key, Membership, lambda: _grant(tx, caller, user_id, new))


async def _grant(tx: Transaction, caller: Caller, user_id: UUID, new: NewMembership) -> Membership:
    if await find_user(tx, user_id) is None:
        raise UserNotFound()
    membership = Membership(
        id=new_id(),
        user_id=user_id,
        tier=new.tier,
        status=new.status,
        valid_from=new.valid_from,
        valid_to=new.valid_to,
        version=1,
        created_at=tx.now,
        updated_at=tx.now,
    )
    _check_period(membership)
    await store.insert_membership(tx, membership)
    await record(tx, caller, "membership_granted", "Membership", membership.id, new)
    return membership


async def list_memberships(database: Database, caller: Caller, user_id: UUID) -> list[Membership]:
    async with database.transaction(caller.organization_id) as tx:
        if await find_user(tx, user_id) is None:
            raise UserNotFound()
        return await store.list_memberships(tx, user_id)


async def change_membership(
    database: Database, caller: Caller, membership_id: UUID, change: MembershipChange
) -> Membership:
    async with database.transaction(caller.organization_id) as tx:
        before = await store.find_membership(tx, membership_id)
        if before is None:
            raise MembershipNotFound()
        after, differences = changed(before, change, tx.now)
        _check_period(after)
        if not await store.update_membership(tx, after):
            raise VersionConflict()
        await record(tx, caller, "membership_changed", "Membership", membership_id, differences)
        return after


def _check_period(membership: Membership) -> None:
    if membership.valid_to is not None and membership.valid_to <= membership.valid_from:
        raise InvalidMembershipPeriod()
