from uuid import UUID

from voelgoed.accounts.model import Membership
from voelgoed.infra.database import Transaction


async def insert_membership(tx: Transaction, membership: Membership) -> None:
    await tx.run(
        """
        INSERT INTO membership (organization_id, id, user_id, tier, status, valid_from, valid_to,
                                version, created_at, updated_at)
        VALUES (current_organization(), $1, $2, $3, $4, $5, $6, 1, $7, $7)
        """,
        membership.id,
        membership.user_id,
        membership.tier,
        membership.status,
        membership.valid_from,
        membership.valid_to,
        membership.created_at,
    )


async def list_memberships(tx: Transaction, user_id: UUID) -> list[Membership]:
    return await tx.rows(
        Membership,
        """
        SELECT id, user_id, tier, status, valid_from, valid_to, version, created_at, updated_at
          FROM membership WHERE user_id = $1 ORDER BY id LIMIT 200
        """,
        user_id,
    )


async def find_membership(tx: Transaction, membership_id: UUID) -> Membership | None:
    return await tx.row(
        Membership,
        """
        SELECT id, user_id, tier, status, valid_from, valid_to, version, created_at, updated_at
          FROM membership WHERE id = $1
        """,
        membership_id,
    )


async def update_membership(tx: Transaction, membership: Membership) -> int:
    """Writes the next version of what was read; 0 when somebody else was first."""
    return await tx.run(
        """
        UPDATE membership SET status = $2, valid_to = $3, version = $4, updated_at = $5
         WHERE id = $1 AND version = $4 - 1
        """,
        membership.id,
        membership.status,
        membership.valid_to,
        membership.version,
        membership.updated_at,
    )
