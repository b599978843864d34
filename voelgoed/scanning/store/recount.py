from uuid import UUID

import msgspec

from voelgoed.infra.database import Transaction
from voelgoed.scanning.model.recount import Difference

RECOUNT_S_MAX = 130.0
"""A little longer than PostgreSQL is given. A million scans take it three seconds."""


class LiveEvent(msgspec.Struct, frozen=True):
    id: UUID
    capacity: int


async def find_live_events(tx: Transaction) -> list[LiveEvent]:
    """The one that began last is the first."""
    return await tx.rows(
        LiveEvent,
        "SELECT id, capacity FROM event WHERE status = 'live' ORDER BY starts_at DESC, id",
    )


async def lock_repairs(tx: Transaction, event_id: UUID) -> None:
    """One at a time: two that found the same would both add what is missing."""
    await tx.run(
        "SELECT pg_advisory_xact_lock(hashtextextended($1::uuid || ':recount', 0))", event_id
    )


async def find_differences(tx: Transaction, event_id: UUID) -> list[Difference]:
    """One statement, so one look at scans and counters: what is written meanwhile is in both, or in
    neither.

    A ticket's admissions are told in the order of rules/replay.py. Whoever comes in counts as inside
    there, and no longer wherever it was before, seen leaving or not; so of a whole story only its
    last admission says where somebody is inside, if it was an entry.
    """
    await tx.run("SET LOCAL statement_timeout = '120s'")
    await tx.run("SET LOCAL max_parallel_workers_per_gather = 0")  # the gates need the rest
    records = await tx.connection.fetch(
        """
        WITH ruling AS (
            SELECT DISTINCT ON (scan_id) scan_id, status, day FROM scan_ruling
             WHERE event_id = $1 ORDER BY scan_id, number DESC
        ), passage AS (
            SELECT coalesce(ruling.day, scan.day) AS day, gate_id, zone_id, direction,
                   row_number() OVER (
                       PARTITION BY ticket_id
                       ORDER BY scanned_at_canonical DESC,
                                coalesce(device_id, '00000000-0000-0000-0000-000000000000') DESC,
                                id DESC
                   ) = 1 AS is_last
              FROM scan LEFT JOIN ruling ON ruling.scan_id = scan.id
             WHERE event_id = $1 AND coalesce(ruling.status, scan.status) = 'admitted'
               AND NOT EXISTS (SELECT 1 FROM scan_annulment
                                WHERE scan_annulment.organization_id = scan.organization_id
                                  AND scan_annulment.scan_id = scan.id)
        ), passed AS (
            SELECT day, gate_id, zone_id,
                   count(*) FILTER (WHERE direction = 'entry') AS entries,
                   count(*) FILTER (WHERE direction = 'exit') AS exits,
                   count(*) FILTER (WHERE direction = 'entry' AND is_last) AS inside
              FROM passage GROUP BY day, gate_id, zone_id
        ), told AS (
            SELECT day, scope, scope_id, sum(entries)::integer AS entries,
                   sum(exits)::integer AS exits, sum(inside)::integer AS inside
              FROM passed
             CROSS JOIN LATERAL (VALUES ('event', $1), ('gate', gate_id), ('zone', zone_id))
                             AS place (scope, scope_id)
             WHERE scope_id IS NOT NULL
             GROUP BY day, scope, scope_id
        ), kept AS (
            SELECT day, scope, scope_id, entries, exits, inside
              FROM occupancy WHERE event_id = $1
        )
        SELECT $1 AS event_id, day, scope, scope_id,
               coalesce(kept.entries, 0) AS entries,
               coalesce(kept.exits, 0) AS exits,
               coalesce(kept.inside, 0) AS inside,
               coalesce(told.entries, 0) AS entries_by_scans,
               coalesce(told.exits, 0) AS exits_by_scans,
               coalesce(told.inside, 0) AS inside_by_scans
          FROM told FULL JOIN kept USING (day, scope, scope_id)
         WHERE (coalesce(kept.entries, 0), coalesce(kept.exits, 0), coalesce(kept.inside, 0))
            <> (coalesce(told.entries, 0), coalesce(told.exits, 0), coalesce(told.inside, 0))
         ORDER BY day, scope, scope_id
        """,
        event_id,
        timeout=RECOUNT_S_MAX,
    )
    return [Difference(**record) for record in records]
