from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.infra.database import Transaction
from voelgoed.ticketing.model.event_keys import EventKey


class SealedKey(msgspec.Struct, frozen=True):
    event_id: UUID
    number: int
    public_key: bytes
    sealed_private_key: bytes
    created_at: datetime


async def insert_key(tx: Transaction, key: SealedKey) -> int:
    """0 when somebody else was first; until they have committed, this waits."""
    return await tx.run(
        """
        INSERT INTO event_key (organization_id, event_id, number, public_key, sealed_private_key,
                               created_at)
        VALUES (current_organization(), $1, $2, $3, $4, $5) ON CONFLICT DO NOTHING
        """,
        key.event_id,
        key.number,
        key.public_key,
        key.sealed_private_key,
        key.created_at,
    )


async def find_current(tx: Transaction, event_id: UUID) -> SealedKey | None:
    return await tx.row(
        SealedKey,
        """
        SELECT event_id, number, public_key, sealed_private_key, created_at
          FROM event_key WHERE event_id = $1 AND retired_at IS NULL ORDER BY number DESC LIMIT 1
        """,
        event_id,
    )


async def find_key(tx: Transaction, event_id: UUID, number: int) -> SealedKey | None:
    return await tx.row(
        SealedKey,
        """
        SELECT event_id, number, public_key, sealed_private_key, created_at
          FROM event_key WHERE event_id = $1 AND number = $2
        """,
        event_id,
        number,
    )


async def list_keys(tx: Transaction, event_id: UUID) -> list[EventKey]:
    return await tx.rows(
        EventKey,
        """
        SELECT number, public_key, created_at, retired_at
          FROM event_key WHERE event_id = $1 ORDER BY number
        """,
        event_id,
    )


async def newest_keys(tx: Transaction, limit: int) -> list[SealedKey]:
    return await tx.rows(
        SealedKey,
        """
        SELECT event_id, number, public_key, sealed_private_key, created_at
          FROM event_key WHERE retired_at IS NULL ORDER BY created_at DESC LIMIT $1
        """,
        limit,
    )


async def retire_before(tx: Transaction, event_id: UUID, number: int) -> int:
    return await tx.run(
        """
        UPDATE event_key SET retired_at = $3
         WHERE event_id = $1 AND number < $2 AND retired_at IS NULL
        """,
        event_id,
        number,
        tx.now,
    )
