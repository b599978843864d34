from collections.abc import Sequence
from uuid import UUID

import msgspec

from voelgoed.accounts.model import Membership, Role
from voelgoed.infra.database import Transaction


class Person(msgspec.Struct, frozen=True, kw_only=True):
    email: str
    user_id: UUID | None
    role: Role | None
    whitelist_ids: list[UUID]


# Both go through `whitelist`, because the entries' key begins with it: as many lookups as there
# are lists, however long the lists are.


async def find_people(tx: Transaction, emails: Sequence[str]) -> list[Person]:
    """One for each address, in their order; a disabled user is nobody."""
    return await tx.rows(
        Person,
        """
        SELECT wanted.email, app_user.id AS user_id, app_user.role,
               ARRAY(SELECT whitelist.id
                       FROM whitelist
                       JOIN whitelist_entry
                         ON whitelist_entry.organization_id = whitelist.organization_id
                        AND whitelist_entry.whitelist_id = whitelist.id
                      WHERE whitelist_entry.email = wanted.email) AS whitelist_ids
          FROM unnest($1::text[]) WITH ORDINALITY AS wanted (email, position)
          LEFT JOIN app_user ON app_user.email = wanted.email AND app_user.status = 'active'
         ORDER BY wanted.position
        """,
        emails,
    )


async def find_person(tx: Transaction, user_id: UUID) -> Person | None:
    return await tx.row(
        Person,
        """
        SELECT app_user.email, app_user.id AS user_id, app_user.role,
               ARRAY(SELECT whitelist.id
                       FROM whitelist
                       JOIN whitelist_entry
                         ON whitelist_entry.organization_id = whitelist.organization_id
                        AND whitelist_entry.whitelist_id = whitelist.id
                      WHERE whitelist_entry.email = app_user.email) AS whitelist_ids
          FROM app_user WHERE app_user.id = $1 AND app_user.status = 'active'
        """,
        user_id,
    )


async def list_memberships_of(tx: Transaction, user_ids: Sequence[UUID]) -> list[Membership]:
    """All of them: to leave one out could shut out a member."""
    return await tx.rows(
        Membership,
        """
        SELECT id, user_id, tier, status, valid_from, valid_to, version, created_at, updated_at
          FROM membership WHERE user_id = ANY($1::uuid[]) ORDER BY id
        """,
        user_ids,
    )
