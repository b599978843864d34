"""What was recorded of holds and orders as it happened."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from voelgoed.infra.database import Transaction
from voelgoed.reporting.model.funnel import Recorded


async def count_events(
    tx: Transaction,
    event_id: UUID,
    names: Sequence[str],
    since: datetime | None,
    until: datetime | None,
    bucket_minutes: int,
    origin: datetime,
) -> list[Recorded]:
    """By kind and bucket. An event about several places counts them all."""
    return await tx.rows(
        Recorded,
        """
        SELECT name, date_bin(make_interval(mins => $5), at, $6::timestamptz) AS since,
               sum(coalesce((payload->>'places')::integer, 1))::integer AS count
          FROM domain_event
         WHERE event_id = $1 AND name = ANY($2::text[])
           AND ($3::timestamptz IS NULL OR at >= $3) AND ($4::timestamptz IS NULL OR at < $4)
         GROUP BY 1, 2 ORDER BY 2, 1
        """,
        event_id,
        names,
        since,
        until,
        bucket_minutes,
        origin,
    )
