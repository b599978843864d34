from uuid import UUID

from litestar.di import NamedDependency as Given
from litestar.params import FromPath, FromQuery, JSONBody

from voelgoed.accounts import access
from voelgoed.accounts.access import Call
from voelgoed.accounts.actions import users as actions
from voelgoed.accounts.model import (
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
from voelgoed.infra.idempotency import IdempotencyKeyReused
from voelgoed.infra.refusal import VersionConflict
from voelgoed.infra.shapes import Data, Page
from voelgoed.infra.web import IdempotencyKey, Limit, page


@access.get("/api/users", "users.read")
async def list_users(
    call: Given[Call],
    role: FromQuery[Role | None] = None,
    after: FromQuery[UUID | None] = None,
    limit: Limit = 50,
) -> Page[User]:
    """Everybody with an account, oldest first."""
    users = await actions.list_users(call.database, call.caller, role, after, limit + 1)
    return page(users, limit, lambda user: user.id)


@access.post("/api/users", "users.write", RoleNotAllowed, EmailTaken, IdempotencyKeyReused)
async def create_user(
    data: JSONBody[NewUser],
    call: Given[Call],
    idempotency_key: IdempotencyKey = None,
) -> Data[User]:
    """Open an account for somebody."""
    # Without the password: its quick hash beside the slow one would undo the slow one.
    fingerprint = (data.email, data.name, data.role)
    key = access.once_for(call.caller, idempotency_key, "create_user", fingerprint)
    return Data(await actions.create_user(call.database, call.caller, data, key))


@access.get("/api/users/{user_id:uuid}", "users.read", UserNotFound)
async def read_user(user_id: FromPath[UUID], call: Given[Call]) -> Data[User]:
    return Data(await actions.read_user(call.database, call.caller, user_id))


@access.patch(
    "/api/users/{user_id:uuid}",
    "users.write",
    UserNotFound,
    RoleNotAllowed,
    LastOwner,
    VersionConflict,
)
async def change_user(
    user_id: FromPath[UUID],
    data: JSONBody[UserChange],
    call: Given[Call],
) -> Data[User]:
    """Change name, role or status. A new role or a disabled account ends its sessions."""
    return Data(await actions.change_user(call.database, call.caller, user_id, data))


@access.put(
    "/api/users/{user_id:uuid}/password", "users.write", UserNotFound, RoleNotAllowed, OwnPassword
)
async def reset_password(
    user_id: FromPath[UUID],
    data: JSONBody[PasswordReset],
    call: Given[Call],
) -> None:
    """Give somebody a new password and log them out everywhere."""
    await actions.reset_password(call.database, call.caller, user_id, data)


ROUTES = [list_users, create_user, read_user, change_user, reset_password]
