"""Doing it twice is doing it once: the answer to a command is kept under the caller's key."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar
from uuid import UUID

import msgspec

from voelgoed.infra.database import Transaction
from voelgoed.infra.refusal import Conflict

T = TypeVar("T")
KEPT = timedelta(days=7)


class IdempotencyKeyReused(Conflict):
    """This Idempotency-Key was used before, for a different request."""


class Once(msgspec.Struct, frozen=True):
    """A caller's key, and what it was sent with."""

    actor_id: UUID
    key: str
    fingerprint: bytes


class _Kept(msgspec.Struct):
    fingerprint: bytes
    answer: bytes


async def once(
    tx: Transaction, key: Once | None, shape: type[T], work: Callable[[], Awaitable[T]]
) -> T:
    if key is None:
        return await work()
    # A second request with this key waits here until the first has committed or rolled back.
    first = await tx.run(
        """
        INSERT INTO idempotency_key (organization_id, actor_id, key, fingerprint, created_at)
        VALUES (current_organization(), $1, $2, $3, $4) ON CONFLICT DO NOTHING
        """,
        key.actor_id,
        key.key,
        key.fingerprint,
        tx.now,
    )
    if first:
        answer = await work()
        await tx.run(
            "UPDATE idempotency_key SET answer = $3 WHERE actor_id = $1 AND key = $2",
            key.actor_id,
            key.key,
            msgspec.json.encode(answer),
        )
        return answer
    kept = await tx.row(
        _Kept,
        "SELECT fingerprint, answer FROM idempotency_key WHERE actor_id = $1 AND key = $2",
        key.actor_id,
        key.key,
    )
    if kept is None or kept.fingerprint != key.fingerprint:
        raise IdempotencyKeyReused()
    try:
        return msgspec.json.decode(kept.answer, type=shape)
    except msgspec.MsgspecError:
        raise IdempotencyKeyReused() from None  # kept by an older version of this program


async def purge(tx: Transaction) -> int:
    return await tx.run("DELETE FROM idempotency_key WHERE created_at < $1", tx.now - KEPT)
