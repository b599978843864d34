from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.infra.database import Transaction
from voelgoed.scanning.model.occupancy import Counted
from voelgoed.scanning.model.recount import ContestedPassage, RecountFacts

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


async def read_counts(tx: Transaction, event_id: UUID) -> RecountFacts:
    """One statement, so one moment of scans and counters: what is written meanwhile is in both, or in
    neither.

    Whoever comes in rightly counts as inside there, and no longer wherever they were before, seen leaving or
    not; so of a ticket's admissions only the last says where its holder is inside, if it was an entry. Tickets
    with irregular entries are few: their passages are given one by one.
    """
    await tx.run("SET LOCAL statement_timeout = '120s'")
    await tx.run("SET LOCAL max_parallel_workers_per_gather = 0")  # the gates need the rest
    record = await tx.connection.fetchrow(
        """
        WITH ruling AS MATERIALIZED (
            SELECT DISTINCT ON (scan_id) scan_id, is_let_in, status, day FROM scan_ruling
             WHERE event_id = $1 ORDER BY scan_id, number DESC
        ), reset AS MATERIALIZED (
            SELECT at FROM occupancy_reset WHERE event_id = $1
        ), passage AS MATERIALIZED (
            SELECT id,
                   CASE WHEN 'wrong_event' IN (stateless_reason, scan.reason_denied) THEN NULL
                        ELSE ticket_id END AS ticket_id,
                   coalesce(ruling.day, scan.day) AS day, gate_id,
                   CASE WHEN 'wrong_event' IN (stateless_reason, scan.reason_denied) THEN NULL
                        ELSE zone_id END AS zone_id,
                   direction, scanned_at_canonical AS at,
                   coalesce(device_id, '00000000-0000-0000-0000-000000000000') AS device_id,
                   coalesce(ruling.status, scan.status) = 'admitted' AS is_admitted
              FROM scan LEFT JOIN ruling ON ruling.scan_id = scan.id
             WHERE event_id = $1
               AND (ruling.scan_id IS NOT NULL OR scan.reason_denied IS DISTINCT FROM 'unverified')
               AND coalesce(ruling.is_let_in,
                            CASE WHEN outcome IS NULL THEN scan.status = 'admitted'
                                 ELSE outcome = 'valid' END)
               AND (coalesce(ruling.status, scan.status) = 'admitted' OR direction = 'entry')
               AND NOT EXISTS (SELECT 1 FROM scan_annulment
                                WHERE scan_annulment.organization_id = scan.organization_id
                                  AND scan_annulment.scan_id = scan.id)
        ), admitted AS (
            SELECT day, gate_id, zone_id, direction, at,
                   row_number() OVER (PARTITION BY ticket_id
                                      ORDER BY at DESC, device_id DESC, id DESC) = 1 AS is_last
              FROM passage WHERE is_admitted
        ), passed AS (
            SELECT day, gate_id, zone_id,
                   count(*) FILTER (WHERE direction = 'entry') AS entries,
                   count(*) FILTER (WHERE direction = 'exit') AS exits,
                   count(*) FILTER (WHERE direction = 'entry' AND is_last
                                      AND at > coalesce((SELECT max(at) FROM reset), '-infinity'))
                       AS inside
              FROM admitted GROUP BY day, gate_id, zone_id
        ), by_scans AS (
            SELECT $1::uuid AS event_id, day, scope, scope_id, sum(entries)::integer AS entries,
                   sum(exits)::integer AS exits, sum(inside)::integer AS inside
              FROM passed
             CROSS JOIN LATERAL (VALUES ('event', $1::uuid), ('gate', gate_id), ('zone', zone_id))
                             AS place (scope, scope_id)
             WHERE scope_id IS NOT NULL
             GROUP BY day, scope, scope_id
        ), contested AS (
            SELECT ticket_id, day, gate_id, zone_id, direction, is_admitted, at,
                   EXISTS (SELECT 1 FROM scan_conflict WHERE scan_id = passage.id) AS is_conflict
              FROM passage
             WHERE ticket_id IS NULL
                OR ticket_id IN (SELECT ticket_id FROM passage WHERE NOT is_admitted)
             ORDER BY at, device_id, id
        ), kept AS (
            SELECT event_id, day, scope, scope_id, entries, exits, inside, irregular
              FROM occupancy WHERE event_id = $1
        )
        SELECT (SELECT coalesce(json_agg(by_scans), '[]') FROM by_scans)::text AS by_scans,
               (SELECT coalesce(json_agg(contested), '[]') FROM contested)::text AS contested,
               (SELECT coalesce(json_agg(at ORDER BY at), '[]') FROM reset)::text AS resets,
               (SELECT coalesce(json_agg(kept), '[]') FROM kept)::text AS kept
        """,
        event_id,
        timeout=RECOUNT_S_MAX,
    )
    assert record is not None
    return RecountFacts(
        event_id=event_id,
        kept=_counts.decode(record["kept"]),
        by_scans=_counts.decode(record["by_scans"]),
        contested=_contested.decode(record["contested"]),
        resets=_moments.decode(record["resets"]),
    )


_counts = msgspec.json.Decoder(list[Counted])
_contested = msgspec.json.Decoder(list[ContestedPassage])
_moments = msgspec.json.Decoder(list[datetime])
