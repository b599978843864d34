"""So many per so long, counted in PostgreSQL: exact over all processes, with or without Redis."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import msgspec

from voelgoed.infra.database import Transaction
from voelgoed.infra.refusal import RateLimited


class Limit(msgspec.Struct, frozen=True):
    count: int
    period: timedelta


async def take(tx: Transaction, key: str, limit: Limit, cost: int = 1) -> None:
    """Count `cost` against the window that opened with its first use, or refuse."""
    granted = await tx.value(
        int,
        """
        INSERT INTO rate_limit AS held (organization_id, key, window_started_at, window_ends_at, used)
        VALUES (current_organization(), $1, $2, $3, $4)
        ON CONFLICT (organization_id, key) DO UPDATE SET
            used = CASE WHEN held.window_ends_at <= $2 THEN $4 ELSE held.used + $4 END,
            window_started_at =
                CASE WHEN held.window_ends_at <= $2 THEN $2 ELSE held.window_started_at END,
            window_ends_at = CASE WHEN held.window_ends_at <= $2 THEN $3 ELSE held.window_ends_at END
        WHERE held.window_ends_at <= $2 OR held.used + $4 <= $5
        RETURNING used
        """,
        key,
        tx.now,
        tx.now + limit.period,
        cost,
        limit.count,
    )
    if granted is None or granted > limit.count:
        raise RateLimited(retry_after_seconds=await _seconds_left(tx, key, limit))


class Window(msgspec.Struct, frozen=True):
    key: str
    used: int
    ends_at: datetime


async def windows(tx: Transaction, keys: Sequence[str]) -> dict[str, Window]:
    """Those of these that are open."""
    found = await tx.rows(
        Window,
        """
        SELECT key, used, window_ends_at AS ends_at FROM rate_limit
         WHERE key = ANY($1::text[]) AND window_ends_at > $2
        """,
        keys,
        tx.now,
    )
    return {window.key: window for window in found}


async def take_all(tx: Transaction, costs: Mapping[str, int], limits: Mapping[str, Limit]) -> bool:
    """Like `take`, for many keys in one statement. False when one of them has not that much left:
    then nothing of this transaction may stay."""
    keys = sorted(costs)  # in one order, so that nobody waits in a circle
    granted = await tx.run(
        """
        INSERT INTO rate_limit AS held (organization_id, key, window_started_at, window_ends_at, used)
        SELECT current_organization(), key, $2, ends_at, cost
          FROM unnest($1::text[], $3::timestamptz[], $4::integer[], $5::integer[])
            AS new (key, ends_at, cost, most)
         WHERE cost <= most
        ON CONFLICT (organization_id, key) DO UPDATE SET
            used = CASE WHEN held.window_ends_at <= $2 THEN EXCLUDED.used
                        ELSE held.used + EXCLUDED.used END,
            window_started_at =
                CASE WHEN held.window_ends_at <= $2 THEN $2 ELSE held.window_started_at END,
            window_ends_at = CASE WHEN held.window_ends_at <= $2 THEN EXCLUDED.window_ends_at
                                  ELSE held.window_ends_at END
        WHERE held.window_ends_at <= $2 OR held.used + EXCLUDED.used <=
              ($5::integer[])[array_position($1::text[], held.key)]
        """,
        keys,
        tx.now,
        [tx.now + limits[key].period for key in keys],
        [costs[key] for key in keys],
        [limits[key].count for key in keys],
    )
    return granted == len(keys)


async def give_back(tx: Transaction, key: str) -> None:
    """Forget what was used, for instance after the right password."""
    await tx.run("DELETE FROM rate_limit WHERE key = $1", key)


async def purge(tx: Transaction) -> int:
    return await tx.run("DELETE FROM rate_limit WHERE window_ends_at < $1", tx.now)


async def _seconds_left(tx: Transaction, key: str, limit: Limit) -> int:
    left = await tx.value(
        timedelta, "SELECT window_ends_at - $2 FROM rate_limit WHERE key = $1", key, tx.now
    )
    return max(1, math.ceil((left or limit.period).total_seconds()))
