from uuid import UUID

from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.model import (
    Caller,
    EmailTaken,
    LastOwner,
    NewUser,
    OwnPassword,
    PasswordReset,
    Role,
    RoleNotAllowed,
    User,
    UserChange,
    UserNotFound,
)
from voelgoed.accounts.rules.permissions import may_manage
from voelgoed.accounts.store import sessions, users
from voelgoed.infra.changes import changed
from voelgoed.infra.database import Database, Transaction, refusing
from voelgoed.infra.idempotency import IdempotencyKey, once
from voelgoed.infra.ids import new_id
from voelgoed.infra.passwords import hash_password
from voelgoed.infra.refusal import VersionConflict


async def create_user(
    database: Database, caller: Caller, new: NewUser, key: IdempotencyKey | None
) -> User:
    if not may_manage(caller.role, new.role):
        raise RoleNotAllowed()
    password_hash = await hash_password(new.password)  # slow on purpose, so not in a transaction
    async with database.transaction(caller.organization_id) as tx:
        return await once(tx, key, User, lambda: add_user(tx, caller, new, password_hash))


async def add_user(tx: Transaction, caller: Caller, new: NewUser, password_hash: str) -> User:
    user = User(
        id=new_id(),
        organization_id=tx.organization_id,
        email=new.email.lower(),
        name=new.name,
        role=new.role,
        status="active",
        version=1,
        created_at=tx.now,
        updated_at=tx.now,
    )
    with refusing("app_user_email_taken", EmailTaken):
        await users.insert_user(tx, user, password_hash)
    changes: dict[str, object] = {"email": user.email, "role": user.role}
    await record(tx, caller, "user_created", "User", user.id, changes)
    return user


async def read_user(database: Database, caller: Caller, user_id: UUID) -> User:
    async with database.transaction(caller.organization_id) as tx:
        return _found(await users.find_user(tx, user_id))


async def list_users(
    database: Database, caller: Caller, role: Role | None, after: UUID | None, limit: int
) -> list[User]:
    async with database.transaction(caller.organization_id) as tx:
        return await users.list_users(tx, role, after, limit)


async def change_user(
    database: Database, caller: Caller, user_id: UUID, change: UserChange
) -> User:
    async with database.transaction(caller.organization_id) as tx:
        owners = await users.lock_active_owners(tx)
        before = _found(await users.find_user(tx, user_id))
        after, differences = changed(before, change, tx.now)
        if not may_manage(caller.role, before.role, after.role):
            raise RoleNotAllowed()
        if owners == [user_id] and (after.role, after.status) != ("owner", "active"):
            raise LastOwner()
        if not await users.update_user(tx, after):
            raise VersionConflict()
        if after.status == "disabled" or after.role != before.role:
            await sessions.delete_sessions_of(tx, user_id)
        await record(tx, caller, "user_changed", "User", user_id, differences)
        return after


async def reset_password(
    database: Database, caller: Caller, user_id: UUID, reset: PasswordReset
) -> None:
    """For somebody else, who is logged out everywhere by it."""
    if user_id == caller.id:
        raise OwnPassword()
    password_hash = await hash_password(reset.new_password)
    async with database.transaction(caller.organization_id) as tx:
        user = _found(await users.find_user(tx, user_id))
        if not may_manage(caller.role, user.role):
            raise RoleNotAllowed()
        await users.set_password_hash(tx, user_id, password_hash)
        await sessions.delete_sessions_of(tx, user_id)
        await record(tx, caller, "password_reset", "User", user_id)


def _found(user: User | None) -> User:
    if user is None:
        raise UserNotFound()
    return user
