"""Doing it twice is doing it once: the answer to a command is kept under the caller's key."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
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


class IdempotencyKey(msgspec.Struct, frozen=True):
    """A caller's key, and what it was sent with."""

    actor_id: UUID
    key: str
    fingerprint: bytes


class _Kept(msgspec.Struct):
    fingerprint: bytes
    answer: bytes


class _KeptFor(msgspec.Struct):
    actor_id: UUID
    key: str
    fingerprint: bytes
    answer: bytes | None


async def once(
    tx: Transaction, key: IdempotencyKey | None, shape: type[T], work: Callable[[], Awaitable[T]]
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


async def kept_answers(
    tx: Transaction, keys: Sequence[IdempotencyKey], shape: type[T]
) -> dict[IdempotencyKey, T | IdempotencyKeyReused]:
    """Of those that were used before, for this or for another request."""
    if not keys:
        return {}
    found = await tx.rows(
        _KeptFor,
        """
        SELECT actor_id, key, fingerprint, answer FROM idempotency_key
         WHERE (actor_id, key) IN (SELECT * FROM unnest($1::uuid[], $2::text[]))
        """,
        [key.actor_id for key in keys],
        [key.key for key in keys],
    )
    by_key = {(kept.actor_id, kept.key): kept for kept in found}
    answers: dict[IdempotencyKey, T | IdempotencyKeyReused] = {}
    for key in keys:
        kept = by_key.get((key.actor_id, key.key))
        if kept is None:
            continue
        if kept.fingerprint == key.fingerprint and kept.answer is not None:
            answers[key] = _answer(kept.answer, shape)
        else:
            answers[key] = IdempotencyKeyReused()
    return answers


def _answer(kept: bytes, shape: type[T]) -> T | IdempotencyKeyReused:
    try:
        return msgspec.json.decode(kept, type=shape)
    except msgspec.MsgspecError:
        return IdempotencyKeyReused()  # kept by an older version of this program


async def keep_answers(
    tx: Transaction, answers: Mapping[IdempotencyKey, object]
) -> list[IdempotencyKey]:
    """Gives those that were used before, or are being used at this moment, by another request."""
    keys = sorted(answers, key=lambda key: (key.actor_id, key.key))
    if not keys:
        return []
    kept = await tx.rows(
        _key,
        """
        INSERT INTO idempotency_key (organization_id, actor_id, key, fingerprint, answer, created_at)
        SELECT current_organization(), actor_id, key, fingerprint, answer, $5
          FROM unnest($1::uuid[], $2::text[], $3::bytea[], $4::bytea[])
            AS new (actor_id, key, fingerprint, answer)
        ON CONFLICT DO NOTHING RETURNING actor_id, key
        """,
        [key.actor_id for key in keys],
        [key.key for key in keys],
        [key.fingerprint for key in keys],
        [msgspec.json.encode(answers[key]) for key in keys],
        tx.now,
    )
    left = set(kept)
    used: list[IdempotencyKey] = []
    for key in keys:  # of two under one key, the first was kept
        if (key.actor_id, key.key) in left:
            left.remove((key.actor_id, key.key))
        else:
            used.append(key)
    return used


def _key(actor_id: UUID, key: str) -> tuple[UUID, str]:
    return actor_id, key


async def purge(tx: Transaction) -> int:
    return await tx.run("DELETE FROM idempotency_key WHERE created_at < $1", tx.now - KEPT)
