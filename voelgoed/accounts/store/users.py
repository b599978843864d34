from uuid import UUID

import msgspec

from voelgoed.accounts.model import Role, User, UserStatus
from voelgoed.infra.database import Transaction


class Credentials(msgspec.Struct, frozen=True):
    id: UUID
    status: UserStatus
    password_hash: str


async def insert_user(tx: Transaction, user: User, password_hash: str) -> None:
    await tx.run(
        """
        INSERT INTO app_user (organization_id, id, email, name, role, status, password_hash,
                              version, created_at, updated_at)
        VALUES (current_organization(), $1, $2, $3, $4, $5, $6, 1, $7, $7)
        """,
        user.id,
        user.email,
        user.name,
        user.role,
        user.status,
        password_hash,
        user.created_at,
    )


async def find_user(tx: Transaction, user_id: UUID) -> User | None:
    return await tx.row(
        User,
        """
        SELECT id, organization_id, email, name, role, status, version, created_at, updated_at
          FROM app_user WHERE id = $1
        """,
        user_id,
    )


async def list_users(
    tx: Transaction, role: Role | None, after: UUID | None, limit: int
) -> list[User]:
    return await tx.rows(
        User,
        """
        SELECT id, organization_id, email, name, role, status, version, created_at, updated_at
          FROM app_user
         WHERE ($1::text IS NULL OR role = $1) AND ($2::uuid IS NULL OR id > $2)
         ORDER BY id LIMIT $3
        """,
        role,
        after,
        limit,
    )


async def update_user(tx: Transaction, user: User) -> int:
    """Writes the next version of what was read; 0 when somebody else was first."""
    return await tx.run(
        """
        UPDATE app_user SET name = $2, role = $3, status = $4, version = $5, updated_at = $6
         WHERE id = $1 AND version = $5 - 1
        """,
        user.id,
        user.name,
        user.role,
        user.status,
        user.version,
        user.updated_at,
    )


async def lock_active_owners(tx: Transaction) -> list[UUID]:
    """Locked in one order, so that two owners cannot remove each other at the same moment."""
    owners = await tx.rows(
        _Id,
        """
        SELECT id FROM app_user WHERE role = 'owner' AND status = 'active'
         ORDER BY id FOR UPDATE
        """,
    )
    return [owner.id for owner in owners]


async def find_credentials(tx: Transaction, email: str) -> Credentials | None:
    return await tx.row(
        Credentials, "SELECT id, status, password_hash FROM app_user WHERE email = $1", email
    )


async def lock_user_with(tx: Transaction, user_id: UUID, password_hash: str) -> User | None:
    """Locked, and only while the password that was verified is still the password."""
    return await tx.row(
        User,
        """
        SELECT id, organization_id, email, name, role, status, version, created_at, updated_at
          FROM app_user WHERE id = $1 AND password_hash = $2 AND status = 'active' FOR UPDATE
        """,
        user_id,
        password_hash,
    )


async def find_password_hash(tx: Transaction, user_id: UUID) -> str | None:
    return await tx.value(str, "SELECT password_hash FROM app_user WHERE id = $1", user_id)


async def set_password_hash(tx: Transaction, user_id: UUID, password_hash: str) -> int:
    return await tx.run(
        "UPDATE app_user SET password_hash = $2, updated_at = $3 WHERE id = $1",
        user_id,
        password_hash,
        tx.now,
    )


class _Id(msgspec.Struct):
    id: UUID
