from uuid import UUID

from voelgoed.accounts.model import Whitelist, WhitelistEntry
from voelgoed.infra.database import Transaction


async def insert_whitelist(tx: Transaction, whitelist: Whitelist) -> None:
    await tx.run(
        """
        INSERT INTO whitelist (organization_id, id, name, created_at)
        VALUES (current_organization(), $1, $2, $3)
        """,
        whitelist.id,
        whitelist.name,
        whitelist.created_at,
    )


async def list_whitelists(tx: Transaction, after: UUID | None, limit: int) -> list[Whitelist]:
    return await tx.rows(
        Whitelist,
        """
        SELECT id, name, created_at FROM whitelist
         WHERE $1::uuid IS NULL OR id > $1 ORDER BY id LIMIT $2
        """,
        after,
        limit,
    )


async def find_whitelist(tx: Transaction, whitelist_id: UUID) -> Whitelist | None:
    return await tx.row(
        Whitelist, "SELECT id, name, created_at FROM whitelist WHERE id = $1", whitelist_id
    )


async def find_existing(tx: Transaction, wanted: list[UUID]) -> list[UUID]:
    return await tx.rows(
        _id, "SELECT id AS found FROM whitelist WHERE id = ANY($1::uuid[])", wanted
    )


def _id(found: UUID) -> UUID:
    return found


async def delete_whitelist(tx: Transaction, whitelist_id: UUID) -> int:
    return await tx.run("DELETE FROM whitelist WHERE id = $1", whitelist_id)


async def upsert_entry(
    tx: Transaction, whitelist_id: UUID, email: str, note: str
) -> WhitelistEntry | None:
    return await tx.row(
        WhitelistEntry,
        """
        INSERT INTO whitelist_entry (organization_id, whitelist_id, email, note, created_at)
        VALUES (current_organization(), $1, $2, $3, $4)
        ON CONFLICT (organization_id, whitelist_id, email) DO UPDATE SET note = EXCLUDED.note
        RETURNING email, note, created_at
        """,
        whitelist_id,
        email,
        note,
        tx.now,
    )


async def list_entries(
    tx: Transaction, whitelist_id: UUID, after: str | None, limit: int
) -> list[WhitelistEntry]:
    return await tx.rows(
        WhitelistEntry,
        """
        SELECT email, note, created_at FROM whitelist_entry
         WHERE whitelist_id = $1 AND ($2::text IS NULL OR email > $2) ORDER BY email LIMIT $3
        """,
        whitelist_id,
        after,
        limit,
    )


async def delete_entry(tx: Transaction, whitelist_id: UUID, email: str) -> int:
    return await tx.run(
        "DELETE FROM whitelist_entry WHERE whitelist_id = $1 AND email = $2", whitelist_id, email
    )
