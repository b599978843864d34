from collections.abc import Sequence
from uuid import UUID

import msgspec

from voelgoed.infra.database import Transaction, json_text
from voelgoed.scanning.model.alerts import (
    Alert,
    AlertKind,
    AlertState,
    DeviceCount,
    DeviceQuestion,
    GateCount,
    GateQuestion,
    Sighting,
    Suspicion,
    TicketCount,
    TicketQuestion,
)

TICKET_SCANS_MAX = 100
"""The newest scans of a ticket that are read: enough for all duplicates to be found."""
SIGHTINGS_MAX = 20
"""The newest sightings of a ticket that are read."""
GATE_SCANS_MAX = 1_000
"""The scans among which those of a device are looked for: at sixty a minute, ten minutes have
600."""
REFUSALS_MAX = 500
"""The newest errors of a device that are read."""


async def write_alerts(
    tx: Transaction,
    suspicions: Sequence[tuple[UUID, Suspicion]],
    listed_kinds: Sequence[AlertKind],
    occasions_max: int,
) -> list[Alert]:
    """Writes each under its id, unless there is an unresolved alert about the same, which then counts
    it, and lists it if it is of a kind that is listed, as long as there is room. No two of them are about the
    same."""
    rows = [{"id": id_, **msgspec.structs.asdict(each)} for id_, each in suspicions]
    return await tx.rows(
        Alert,
        """
        INSERT INTO scan_alert AS alert
               (organization_id, id, event_id, kind, severity, subject_type, subject_id, state,
                occurrences, details, first_at, last_at)
        SELECT current_organization(), id, event_id, kind, severity, subject_type, subject_id, 'open',
               occurrences, details, at, at
          FROM json_to_recordset($1::json)
            AS new (id uuid, event_id uuid, kind text, severity text, subject_type text,
                    subject_id uuid, at timestamptz, details json, occurrences integer)
         ORDER BY event_id, kind, subject_id  -- so that nobody waits in a circle
        ON CONFLICT (organization_id, event_id, kind, subject_id) WHERE state <> 'resolved'
        DO UPDATE SET severity = EXCLUDED.severity,
                      details = CASE WHEN alert.kind = ANY($2::text[])
                                     THEN (EXCLUDED.details::jsonb || jsonb_build_object(
                                         'occasions',
                                         jsonb_path_query_array(
                                             coalesce(alert.details::jsonb->'occasions',
                                                      jsonb_build_array(alert.details))
                                          || coalesce(EXCLUDED.details::jsonb->'occasions',
                                                      jsonb_build_array(EXCLUDED.details)),
                                             '$[0 to $top]',
                                             jsonb_build_object('top', $3::integer - 1))))::json
                                     ELSE EXCLUDED.details END,
                      occurrences = alert.occurrences + EXCLUDED.occurrences,
                      last_at = greatest(alert.last_at, EXCLUDED.last_at)
        RETURNING id, event_id, kind, severity, subject_type, subject_id, state, occurrences, details,
                  first_at, last_at, reviewed_by_id, reviewed_at, note, version
        """,
        json_text(rows),
        list(listed_kinds),
        occasions_max,
    )


async def find_alert(tx: Transaction, alert_id: UUID) -> Alert | None:
    return await tx.row(
        Alert,
        """
        SELECT id, event_id, kind, severity, subject_type, subject_id, state, occurrences, details,
               first_at, last_at, reviewed_by_id, reviewed_at, note, version
          FROM scan_alert WHERE id = $1
        """,
        alert_id,
    )


async def list_alerts(
    tx: Transaction, event_id: UUID, state: AlertState | None, after: UUID | None, limit: int
) -> list[Alert]:
    """The newest first."""
    return await tx.rows(
        Alert,
        """
        SELECT id, event_id, kind, severity, subject_type, subject_id, state, occurrences, details,
               first_at, last_at, reviewed_by_id, reviewed_at, note, version
          FROM scan_alert
         WHERE event_id = $1 AND ($2::text IS NULL OR state = $2) AND ($3::uuid IS NULL OR id < $3)
         ORDER BY id DESC LIMIT $4
        """,
        event_id,
        state,
        after,
        limit,
    )


async def update_alert(tx: Transaction, alert: Alert) -> int:
    """Writes the next version of what was read; 0 when somebody else was first."""
    return await tx.run(
        """
        UPDATE scan_alert
           SET state = $2, note = $3, reviewed_by_id = $4, reviewed_at = $5, version = $6
         WHERE id = $1 AND version = $6 - 1
        """,
        alert.id,
        alert.state,
        alert.note,
        alert.reviewed_by_id,
        alert.reviewed_at,
        alert.version,
    )


async def resolve_double_entries(
    tx: Transaction, ticket_ids: Sequence[UUID], by: UUID | None, note: str
) -> list[Alert]:
    """Resolves the alerts of those of these tickets that have no open conflict."""
    return await tx.rows(
        Alert,
        """
        UPDATE scan_alert
           SET state = 'resolved', note = $4, reviewed_by_id = $2, reviewed_at = $3,
               version = version + 1
         WHERE kind = 'double_entry' AND state <> 'resolved' AND subject_id = ANY($1::uuid[])
           AND NOT EXISTS (SELECT 1 FROM scan_conflict AS conflict
                            WHERE conflict.organization_id = scan_alert.organization_id
                              AND conflict.ticket_id = scan_alert.subject_id
                              AND conflict.event_id = scan_alert.event_id
                              AND conflict.severity = 'critical' AND conflict.state = 'open')
        RETURNING id, event_id, kind, severity, subject_type, subject_id, state, occurrences, details,
                  first_at, last_at, reviewed_by_id, reviewed_at, note, version
        """,
        ticket_ids,
        by,
        tx.now,
        note,
    )


async def count_ticket_scans(tx: Transaction, asked: Sequence[TicketQuestion]) -> list[TicketCount]:
    """The counts of those tickets that have any."""
    return await tx.rows(
        TicketCount,
        """
        SELECT ticket_id, counted.duplicates, counted.is_elsewhere
          FROM json_to_recordset($1::json)
            AS asked (ticket_id uuid, gate_id uuid, hour_since timestamptz, travel_since timestamptz,
                      until timestamptz, enough integer)
         CROSS JOIN LATERAL (
               SELECT count(*) FILTER (WHERE reason_denied = 'already_scanned' AND at > hour_since)
                          AS duplicates,
                      coalesce(bool_or(made.gate_id <> asked.gate_id AND at > travel_since), false)
                          AS is_elsewhere
                 FROM (SELECT gate_id, reason_denied, scanned_at_canonical AS at
                         FROM scan
                        WHERE scan.ticket_id = asked.ticket_id
                          AND scanned_at_canonical > least(hour_since, travel_since)
                          AND scanned_at_canonical <= until
                        ORDER BY scanned_at_canonical DESC LIMIT $2 + enough) AS made) AS counted
         WHERE counted.duplicates >= enough OR counted.is_elsewhere
        """,
        json_text(asked),
        TICKET_SCANS_MAX,
    )


async def find_sightings(tx: Transaction, asked: Sequence[TicketQuestion]) -> list[Sighting]:
    """Annulled admissions are left out: a person whom a turnstile refused may try another."""
    return await tx.rows(
        Sighting,
        """
        SELECT seen.*
          FROM json_to_recordset($1::json)
            AS asked (ticket_id uuid, travel_since timestamptz, until timestamptz)
         CROSS JOIN LATERAL (
               SELECT id, ticket_id, gate_id, gate_name, scanned_at_canonical AS at,
                      reason_denied AS reason, source, entry_number
                 FROM scan
                WHERE scan.ticket_id = asked.ticket_id
                  AND scanned_at_canonical > travel_since AND scanned_at_canonical <= until
                  AND NOT EXISTS (SELECT 1 FROM scan_annulment AS annulled
                                   WHERE annulled.organization_id = scan.organization_id
                                     AND annulled.scan_id = scan.id)
                ORDER BY scanned_at_canonical DESC LIMIT $2) AS seen
        """,
        json_text(asked),
        SIGHTINGS_MAX,
    )


async def count_gate_scans(tx: Transaction, asked: Sequence[GateQuestion]) -> list[GateCount]:
    return await tx.rows(
        GateCount,
        """
        SELECT gate_id, counted.count
          FROM json_to_recordset($1::json)
            AS asked (gate_id uuid, since timestamptz, until timestamptz, enough integer)
         CROSS JOIN LATERAL (
               SELECT count(*) FROM (
                      SELECT 1 FROM scan
                       WHERE scan.gate_id = asked.gate_id
                         AND scanned_at_canonical > since AND scanned_at_canonical <= until
                       LIMIT enough) AS made) AS counted
        """,
        json_text(asked),
    )


async def count_device_errors(
    tx: Transaction,
    asked: Sequence[DeviceQuestion],
    reasons: Sequence[str],
    refusals: Sequence[str],
) -> list[DeviceCount]:
    """Scans that were denied for these reasons, and refused with these. Since somebody last changed the
    device: who activates it again trusts it again, and at another gate it begins anew."""
    return await tx.rows(
        DeviceCount,
        """
        SELECT asked.device_id, made.count + refused.count AS count,
               made.errors + refused.count AS errors
          FROM json_to_recordset($1::json) AS asked (device_id uuid, gate_id uuid, since timestamptz)
          JOIN scan_device AS device ON device.id = asked.device_id
         CROSS JOIN LATERAL (
               SELECT count(*), count(*) FILTER (WHERE reason_denied = ANY($2::text[])) AS errors
                 FROM (SELECT device_id, reason_denied FROM scan
                        WHERE scan.gate_id = asked.gate_id
                          AND scanned_at_canonical > greatest(since, device.updated_at)
                        ORDER BY scanned_at_canonical DESC LIMIT $4) AS newest
                WHERE newest.device_id = asked.device_id) AS made
         CROSS JOIN LATERAL (
               SELECT count(*)
                 FROM (SELECT changes ->> 'error' AS error FROM audit_entry
                        WHERE action = 'scan_refused' AND actor_id = asked.device_id
                          AND at > greatest(since, device.updated_at)
                        ORDER BY at DESC LIMIT $5) AS newest
                WHERE newest.error = ANY($3::text[])) AS refused
        """,
        json_text(asked),
        reasons,
        refusals,
        GATE_SCANS_MAX,
        REFUSALS_MAX,
    )
