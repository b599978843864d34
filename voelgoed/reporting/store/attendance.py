"""An event's scans as they stand, counted the way scanning/store/recount.py proves the live counters."""

import datetime as dt
from datetime import datetime
from typing import Literal
from uuid import UUID

import msgspec

from voelgoed.infra.database import Transaction
from voelgoed.scanning.model.decisions import Reason

Part = Literal["total", "day", "gate", "zone", "reason", "bucket", "change", "minute"]


class PassedRow(msgspec.Struct, frozen=True, kw_only=True):
    part: Part
    day: dt.date | None
    gate_id: UUID | None
    gate_name: str | None
    zone_id: UUID | None
    reason: Reason | None
    since: datetime | None
    """Of a bucket, or of a minute. Null: before the span."""
    entries: int
    first_entries: int
    exits: int
    denied: int
    inside: int
    """Of a change: by how much it changed who is inside on that day."""


async def count_scans(
    tx: Transaction,
    event_id: UUID,
    since: datetime | None,
    until: datetime | None,
    bucket_minutes: int,
    origin: datetime,
) -> list[PassedRow]:
    """Altogether and by each of the parts, in one look.

    Who is inside at the end of the span may have come before it, so all that was scanned until then is
    told, and of what was before the span nothing else is counted. Whoever comes in is inside on that
    day, and no longer on the day, nor at the gate, by which they came before. When somebody declares the
    venue empty, whoever came until then leaves.
    """
    await tx.run("SET LOCAL work_mem = '64MB'")  # or the sort of half a million scans goes to disk
    await tx.run("SET LOCAL max_parallel_workers_per_gather = 0")  # the gates need the rest
    return await tx.rows(
        PassedRow,
        """
        WITH ruling AS (
            SELECT DISTINCT ON (scan_id) scan_id, status, reason_denied, day FROM scan_ruling
             WHERE event_id = $1 ORDER BY scan_id, number DESC
        ), resolution AS MATERIALIZED (
            SELECT scan.id, ticket_id, device_id, gate_id, gate_name, zone_id, direction,
                   scanned_at_canonical AS at, coalesce(ruling.day, scan.day) AS day,
                   coalesce(ruling.status, scan.status) AS status,
                   CASE WHEN ruling.scan_id IS NULL THEN scan.reason_denied
                        ELSE ruling.reason_denied END AS reason
              FROM scan LEFT JOIN ruling ON ruling.scan_id = scan.id
             WHERE event_id = $1 AND ($3::timestamptz IS NULL OR scanned_at_canonical < $3)
               AND NOT EXISTS (SELECT 1 FROM scan_annulment
                                WHERE scan_annulment.organization_id = scan.organization_id
                                  AND scan_annulment.scan_id = scan.id)
        ), reset AS MATERIALIZED (
            SELECT at FROM occupancy_reset
             WHERE event_id = $1 AND ($3::timestamptz IS NULL OR at < $3)
        ), admitted AS (
            SELECT *, (SELECT min(reset.at) FROM reset WHERE reset.at >= resolution.at) AS emptied_at
              FROM resolution WHERE status = 'admitted'
        ), passage AS MATERIALIZED (
            SELECT day, gate_id, gate_name, zone_id, at, direction = 'entry' AS is_entry,
                   lag(direction) OVER story = 'entry'
                       AND coalesce(lag(emptied_at) OVER story >= at, true) AS was_inside,
                   lag(day) OVER story AS day_before,
                   lead(direction) OVER story IS NULL AS is_last, emptied_at,
                   direction = 'entry' AND emptied_at IS NOT NULL
                       AND coalesce(emptied_at < lead(at) OVER story, true) AS is_emptied,
                   direction = 'entry' AND 1 = count(*) FILTER (WHERE direction = 'entry') OVER story
                       AS is_first
              FROM admitted
            WINDOW story AS (PARTITION BY ticket_id ORDER BY at,
                             coalesce(device_id, '00000000-0000-0000-0000-000000000000'), id
                             ROWS UNBOUNDED PRECEDING)
        ), told AS (
            SELECT day, gate_id, gate_name, zone_id, NULL AS reason, at, is_entry, is_first,
                   is_entry AND is_last AND NOT is_emptied AS is_inside
              FROM passage
             UNION ALL
            SELECT NULL, gate_id, gate_name, zone_id, reason, at, NULL, NULL, NULL
              FROM resolution WHERE status = 'denied'
        ), placed AS (
            SELECT *, $2::timestamptz IS NULL OR at >= $2 AS is_within,
                   CASE WHEN $2::timestamptz IS NULL OR at >= $2
                        THEN date_bin(make_interval(mins => $4), at, $5::timestamptz) END AS bucket
              FROM told
        )
        SELECT CASE WHEN grouping(day) = 0 THEN 'day'
                    WHEN grouping(gate_id) = 0 THEN 'gate'
                    WHEN grouping(zone_id) = 0 THEN 'zone'
                    WHEN grouping(reason) = 0 THEN 'reason'
                    WHEN grouping(bucket) = 0 THEN 'bucket'
                    ELSE 'total' END AS part,
               day, gate_id, max(gate_name) AS gate_name, zone_id, reason, bucket AS since,
               count(*) FILTER (WHERE is_within AND is_entry) AS entries,
               count(*) FILTER (WHERE is_within AND is_first) AS first_entries,
               count(*) FILTER (WHERE is_within AND NOT is_entry) AS exits,
               count(*) FILTER (WHERE is_within AND is_entry IS NULL) AS denied,
               count(*) FILTER (WHERE is_inside) AS inside
          FROM placed
         GROUP BY GROUPING SETS ((), (day), (gate_id), (zone_id), (reason), (bucket))
         UNION ALL
        SELECT 'change', changed.day, NULL, NULL, NULL, NULL, bucket, 0, 0, 0, 0, sum(step)
          FROM (SELECT CASE WHEN $2::timestamptz IS NULL OR change.at >= $2
                            THEN date_bin(make_interval(mins => $4), change.at, $5::timestamptz)
                       END AS bucket,
                       change.day, change.step
                  FROM passage
                 CROSS JOIN LATERAL (VALUES (day, is_entry::integer, at),
                                            (day_before, -(was_inside::integer), at),
                                            (day, -(is_emptied::integer), emptied_at))
                                 AS change (day, step, at)
                 WHERE change.step <> 0) AS changed
         GROUP BY bucket, changed.day
         UNION ALL
        (SELECT 'minute', NULL, NULL, NULL, NULL, NULL, date_trunc('minute', at) AS minute,
                count(*) AS entries, 0, 0, 0, 0
           FROM passage WHERE is_entry AND ($2::timestamptz IS NULL OR at >= $2)
          GROUP BY minute ORDER BY entries DESC, minute LIMIT 1)
        """,
        event_id,
        since,
        until,
        bucket_minutes,
        origin,
    )


class GateNamed(msgspec.Struct, frozen=True):
    id: UUID
    code: str
    name: str


async def list_gates(tx: Transaction, event_id: UUID) -> list[GateNamed]:
    return await tx.rows(
        GateNamed, "SELECT id, code, name FROM gate WHERE event_id = $1 ORDER BY code", event_id
    )
