from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.accounts.model import Role, Session
from voelgoed.infra.database import Database, Transaction


class LiveSession(msgspec.Struct, frozen=True):
    token_hash: bytes
    id: UUID
    user_id: UUID
    role: Role
    last_seen_at: datetime
    expires_at: datetime


async def insert_session(tx: Transaction, session: Session, token_hash: bytes) -> None:
    await tx.run(
        """
        INSERT INTO session (organization_id, id, user_id, token_hash, ip, user_agent,
                             created_at, last_seen_at, expires_at)
        VALUES (current_organization(), $1, $2, $3, $4, $5, $6, $6, $7)
        """,
        session.id,
        session.user_id,
        token_hash,
        session.ip,
        session.user_agent,
        session.created_at,
        session.expires_at,
    )


async def find_sessions(
    database: Database, organization_id: UUID, token_hashes: Sequence[bytes]
) -> list[LiveSession]:
    return await database.call(
        LiveSession,
        """
        SELECT token_hash, id, user_id, role, last_seen_at, expires_at FROM find_sessions($1, $2)
        """,
        organization_id,
        token_hashes,
    )


async def touch_sessions(tx: Transaction, session_ids: Sequence[UUID]) -> None:
    """All but those that somebody else is touching or ending at this moment."""
    await tx.run(
        """
        UPDATE session SET last_seen_at = $2
         WHERE id = ANY(ARRAY(SELECT id FROM session WHERE id = ANY($1::uuid[])
                                 FOR NO KEY UPDATE SKIP LOCKED))
        """,
        session_ids,
        tx.now,
    )


async def read_session(tx: Transaction, session_id: UUID) -> Session | None:
    return await tx.row(
        Session,
        """
        SELECT id, user_id, ip, user_agent, created_at, last_seen_at, expires_at
          FROM session WHERE id = $1
        """,
        session_id,
    )


async def list_sessions(tx: Transaction, user_id: UUID) -> list[Session]:
    return await tx.rows(
        Session,
        """
        SELECT id, user_id, ip, user_agent, created_at, last_seen_at, expires_at
          FROM session WHERE user_id = $1 ORDER BY id DESC
        """,
        user_id,
    )


async def delete_oldest_sessions(tx: Transaction, user_id: UUID, keep: int) -> int:
    return await tx.run(
        """
        DELETE FROM session WHERE user_id = $1 AND id NOT IN (
            SELECT id FROM session WHERE user_id = $1 ORDER BY id DESC LIMIT $2)
        """,
        user_id,
        keep,
    )


async def delete_session(tx: Transaction, session_id: UUID) -> int:
    return await tx.run("DELETE FROM session WHERE id = $1", session_id)


async def delete_sessions_of(tx: Transaction, user_id: UUID, *, keep: UUID | None = None) -> int:
    return await tx.run(
        "DELETE FROM session WHERE user_id = $1 AND id IS DISTINCT FROM $2", user_id, keep
    )


async def delete_dead_sessions(tx: Transaction, idle_since: datetime) -> int:
    return await tx.run(
        "DELETE FROM session WHERE expires_at <= $1 OR last_seen_at <= $2", tx.now, idle_since
    )
