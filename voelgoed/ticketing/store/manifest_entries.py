"""Tickets as a manifest has them. See docs/offline.md for what an entry says."""

from uuid import UUID

import msgspec

from voelgoed.infra.database import Transaction
from voelgoed.ticketing.model.manifest_entries import Seen


class EntriesPage(msgspec.Struct, frozen=True):
    texts: list[str]
    fingerprint: str
    seen_xid: int


async def list_changed(
    tx: Transaction, event_id: UUID, code_key: bytes, before: Seen | None, after: UUID, limit: int
) -> EntriesPage:
    """Of those tickets that may be otherwise than before; of all, where anything else is.

    PostgreSQL writes their JSON: to look at 200,000 tickets one by one in Python would take many times
    as long, and nobody at a gate could be answered meanwhile. As one text, put together: functions
    that make objects take twice as long. Only what people have typed is not as simple as it looks.

    Rows know which transaction wrote them, in 32 bits; how many ago that was is counted back from the
    end of what this statement sees. Whether a membership is in force depends on the time, so tickets
    with one are always among them. Types and gates are looked up in an object each, because a plan
    that was made while there were few tickets would go through all of them for each ticket.
    """
    found = await tx.row(
        EntriesPage,
        """
        WITH seen AS MATERIALIZED (
            SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS oldest,
                   pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS next
        ), gates AS MATERIALIZED (
            SELECT coalesce(jsonb_object_agg(id, code), '{}') AS codes FROM gate WHERE event_id = $1
        ), kinds AS MATERIALIZED (
            SELECT jsonb_object_agg(id, number) AS numbers,
                   jsonb_object_agg(id, concat(
                       '"gate_ids":', CASE WHEN gate_ids IS NULL THEN 'null' ELSE to_json(ARRAY(
                           SELECT value FROM jsonb_each_text(gates.codes)
                            WHERE key::uuid = ANY(gate_ids) ORDER BY value COLLATE "C")) #>> '{}' END,
                       ',"entry_limit":', coalesce(entry_limit::text, 'null'))) AS limits
              FROM ticket_type, gates WHERE event_id = $1
        ), day AS MATERIALIZED (
            SELECT date, to_char(ends_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS ends_at
              FROM event_day WHERE event_id = $1
        ), mark AS MATERIALIZED (
            SELECT encode(sha256($2::bytea || convert_to(concat(gates.codes, kinds.numbers,
                       kinds.limits, (SELECT json_agg(day ORDER BY date) FROM day)), 'UTF8')), 'hex')
                       AS fingerprint
              FROM gates, kinds
        ), looked_at AS (
            SELECT ticket.* FROM seen, mark, ticket
             WHERE event_id = $1 AND id > $6
               AND ($3::text IS DISTINCT FROM fingerprint OR associated_membership_id IS NOT NULL
                    OR $4::bigint > next  -- of another cluster, from which this was restored
                    OR (next - 1 - ticket.xmin::text::bigint) & 4294967295 < next - $4::bigint)
             ORDER BY id LIMIT $7
        ), written AS (
            SELECT ticket.id, concat(
                '{"ticket_id":"', ticket.id,
                '","barcode_hash":"sha256:', encode(barcode_hash, 'hex'),
                '","zone":', coalesce('"' || zone_id || '"', 'null'),
                ',', kinds.limits ->> ticket_type_id::text,
                ',"is_valid":', CASE WHEN is_valid THEN 'true' ELSE 'false' END,
                ',"expires_at":"', coalesce(
                    (SELECT max(ends_at) FROM day WHERE date = ANY(days)),
                    (SELECT max(ends_at) FROM day)),
                '","code_hash":"',
                encode(substr(sha256($2 || convert_to(code, 'UTF8')), 1, 16), 'hex'),
                '","status":"', status,
                '","issue":', issue,
                ',"type":', kinds.numbers ->> ticket_type_id::text,
                ',"seat":' || to_json(seat_label)::text,
                CASE WHEN days <> '{}' AND NOT days @> ARRAY(SELECT date FROM day)
                     THEN ',"days":' || to_json(days)::text END,
                CASE WHEN associated_membership_id IS NOT NULL
                     THEN ',"membership":' || coalesce((
                         SELECT membership.status = 'active' AND valid_from <= $5
                                AND (valid_to IS NULL OR valid_to > $5)
                           FROM membership WHERE membership.id = associated_membership_id), false) END,
                ',"entries":' || nullif(scan_count, 0),
                ',"day":"' || last_entry_day || '"',
                ',"day_entries":' || nullif(day_entries, 0),
                ',"last_scanned_at":"' || to_char(
                    last_scanned_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || '"',
                ',"last_gate":' || to_json(gates.codes ->> last_gate_id::text)::text,
                CASE WHEN is_inside THEN ',"is_inside":true'
                     ELSE ',"last_exit_at":"' || to_char(
                         last_exit_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || '"' END,
                '}') AS text
              FROM looked_at AS ticket, gates, kinds
        )
        SELECT coalesce(array_agg(text ORDER BY id), '{}') AS texts,
               (SELECT fingerprint FROM mark) AS fingerprint, (SELECT oldest FROM seen) AS seen_xid
          FROM written
        """,
        event_id,
        code_key,
        before and before.fingerprint,
        before and before.seen_xid,
        tx.now,
        after,
        limit,
    )
    assert found is not None
    return found
