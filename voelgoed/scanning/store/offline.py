"""The offline core's two statements: what decisions about deliveries are made from, and what they become.

Both read or write tickets, gates and events besides the scans, though these belong to other domains: one
statement is one moment and one round trip (docs/decisions/0023).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import TypeVar
from uuid import UUID

import msgspec

from voelgoed.accounts.model import AuditRow
from voelgoed.infra.database import ChangedMeanwhile, Transaction, json_text, refusing
from voelgoed.infra.shapes import EARLIEST
from voelgoed.scanning.model.conflicts import Conflict
from voelgoed.scanning.model.decisions import REASONS_THAT_PASS, EventFacts
from voelgoed.scanning.model.devices import DeviceAssignment
from voelgoed.scanning.model.occupancy import Counted, KnownReset
from voelgoed.scanning.model.policies import DEDUP_WINDOW_S
from voelgoed.scanning.model.scan_history import HistoryScan, HistoryState, Ruling
from voelgoed.scanning.model.stations import ScanningDevice, ScanningGate
from voelgoed.scanning.model.sync_facts import (
    DeliveryOrigin,
    KeptAnswer,
    NewBatch,
    RecordedScan,
    SyncedScan,
    SyncFacts,
    SyncQuestion,
    SyncSuccess,
)
from voelgoed.ticketing.model.admissions import Attendance, Reissued, ScannedTicket

T = TypeVar("T")
NOBODY = UUID(int=0)
NEARBY_MAX = 200
"""Entries of each gate that are read to find how fast a device scanned."""


class _Facts(msgspec.Struct, frozen=True):
    """Each field is a JSON array, or None where there is nothing."""

    devices: str | None
    assignments: str | None
    answers: str | None
    gates: str | None
    gate_codes: str | None
    events: str | None
    manifests: str | None
    tickets: str | None
    reissues: str | None
    keys: str | None
    known: str | None
    annulled: str | None
    unreviewed: str | None
    histories: str | None
    conflicts: str | None
    checkpoints: str | None
    nearby: str | None


class _GateCode(msgspec.Struct, frozen=True):
    event_id: UUID
    code: str
    id: UUID


class _ManifestVersion(msgspec.Struct, frozen=True):
    event_id: UUID
    version: int


class _Key(msgspec.Struct, frozen=True):
    event_id: UUID
    number: int
    public_key: str
    """The public key in hex."""


class HistoryCheckpoint(msgspec.Struct, frozen=True, kw_only=True):
    ticket_id: UUID
    state: HistoryState


class _Nearby(msgspec.Struct, frozen=True):
    device_id: UUID
    at: datetime


async def read_facts(tx: Transaction, question: SyncQuestion) -> SyncFacts:
    """Reads everything at one moment; a later change is noticed when the plan is written."""
    found = await tx.row(
        _Facts,
        """
        WITH device AS MATERIALIZED (
            SELECT id, name, status, key_version, deleted_at IS NOT NULL AS is_revoked,
                   rotation_demanded_at IS NOT NULL AS is_rotation_demanded, gate_id
              FROM scan_device WHERE id = ANY($2::uuid[])
        ), assignment AS MATERIALIZED (
            SELECT device_id, gate_id, event_id, from_at, until_at
              FROM device_assignment WHERE device_id = ANY($2::uuid[]) ORDER BY from_at
        ), known AS MATERIALIZED (
            SELECT scan.id, scan.event_id, ticket_id, ticket_code, device_id, actor_id, gate_id,
                   direction, scan.status, scan.reason_denied, scanned_at, scanned_at_canonical,
                   coalesce(ruling.day, scan.day) AS day, zone_id, scan.entry_number, gate_current, event_current, gate_name,
                   device_name, source, details, outcome, stateless_reason,
                   coalesce(ruling.is_let_in, CASE WHEN outcome IS NULL THEN scan.status = 'admitted'
                                                   ELSE outcome = 'valid' END) AS is_let_in,
                   json_build_object(
                       'status', coalesce(ruling.status, scan.status),
                       'reason', CASE WHEN ruling.number IS NULL THEN scan.reason_denied
                                      ELSE ruling.reason_denied END,
                       'entry_number', CASE WHEN ruling.number IS NULL THEN scan.entry_number
                                            ELSE ruling.entry_number END) AS resolution,
                   scan.reason_denied IS NOT DISTINCT FROM 'unverified' AND ruling.number IS NULL
                   AND EXISTS (SELECT 1 FROM batch_sync AS batch
                                WHERE batch.organization_id = scan.organization_id
                                  AND batch.batch_id = scan.batch_id
                                  AND batch.state <> 'rejected') AS is_waiting
              FROM scan
              LEFT JOIN LATERAL (SELECT number, is_let_in, status, reason_denied, entry_number, day
                                   FROM scan_ruling
                                  WHERE scan_ruling.organization_id = scan.organization_id
                                    AND scan_ruling.scan_id = scan.id
                                  ORDER BY number DESC LIMIT 1) AS ruling ON true
             WHERE scan.id = ANY($3::uuid[])
        ), gate_code AS MATERIALIZED (
            SELECT event_id, code, id FROM gate
             WHERE code = ANY($8::text[])
               AND event_id IN (SELECT event_id FROM assignment
                                UNION SELECT event_id FROM gate WHERE id IN (SELECT gate_id FROM device))
        ), station AS MATERIALIZED (
            SELECT gate.id, gate.name, gate.status, gate.allowed_zones, gate.capacity,
                   gate.hard_capacity_limit, event.id AS event_id, event.status AS event_status,
                   event.ends_at AS event_ends_at, event.capacity AS event_capacity,
                   layout.id AS layout_id, layout.lineage_id,
                   scan_policy.dedup_window_s, scan_policy.travel_s
              FROM gate
              JOIN event ON event.organization_id = gate.organization_id AND event.id = gate.event_id
              LEFT JOIN event_layout ON event_layout.organization_id = gate.organization_id
                                    AND event_layout.event_id = gate.event_id
              LEFT JOIN layout ON layout.organization_id = gate.organization_id
                              AND layout.id = event_layout.layout_id
              LEFT JOIN scan_policy ON scan_policy.organization_id = gate.organization_id
                                   AND scan_policy.event_id = gate.event_id
             WHERE gate.id IN (SELECT unnest($7::uuid[])
                               UNION SELECT gate_id FROM device
                               UNION SELECT gate_id FROM assignment
                               UNION SELECT id FROM gate_code
                               UNION SELECT gate_id FROM known)
        ), named AS MATERIALIZED (
            SELECT id FROM ticket WHERE id = ANY($4::uuid[])
             UNION SELECT id FROM ticket WHERE code = ANY($5::text[])
             UNION SELECT id FROM ticket
                    WHERE barcode_hash = ANY(ARRAY(SELECT decode(hash, 'hex') FROM unnest($6::text[]) AS hash))
             UNION SELECT ticket_id FROM ticket_revocation
                    WHERE barcode_hash = ANY(ARRAY(SELECT decode(hash, 'hex') FROM unnest($6::text[]) AS hash))
             UNION SELECT ticket_id FROM known WHERE ticket_id IS NOT NULL
        ), shown AS MATERIALIZED (
            SELECT ticket.id, ticket.event_id, ticket.code, ticket.issue,
                   encode(ticket.barcode_hash, 'hex') AS barcode_hash, ticket.status, ticket.zone_id,
                   ticket.seat_id, ticket.seat_label, ticket.days, ticket.scan_count,
                   ticket.day_entries, ticket.last_entry_day, ticket.scanned_at,
                   ticket.last_scanned_at, ticket.last_exit_at, ticket.last_gate_id,
                   ticket.is_inside, ticket.irregular, ticket.status_since,
                   ticket.xmin::text AS seen, kind.entry_limit, kind.max_daily_entries, kind.gate_ids,
                   kind.reentry, NULL AS last_gate_name,
                   CASE WHEN ticket.associated_membership_id IS NOT NULL THEN coalesce((
                       SELECT membership.status = 'active' AND membership.valid_from <= $11
                              AND (membership.valid_to IS NULL OR membership.valid_to > $11)
                         FROM membership
                        WHERE membership.id = ticket.associated_membership_id), false)
                   END AS is_membership_active
              FROM ticket JOIN ticket_type AS kind
                ON kind.organization_id = ticket.organization_id AND kind.id = ticket.ticket_type_id
             WHERE ticket.id = ANY(ARRAY(SELECT id FROM named))
        ), checkpoint AS MATERIALIZED (
            SELECT ticket_id, state, last_at, last_device_id, last_scan_id
              FROM scan_history_checkpoint
             WHERE ticket_id = ANY(ARRAY(SELECT id FROM named))
        ), history AS MATERIALIZED (
            SELECT scan.id, scan.event_id, scan.ticket_id, scan.gate_id, scan.zone_id, scan.device_id,
                   scan.direction, scan.scanned_at_canonical, coalesce(ruling.day, scan.day) AS day,
                   scan.source, true AS is_let_in,
                   CASE WHEN scan.outcome IS NOT NULL THEN scan.stateless_reason
                        WHEN scan.reason_denied <> ALL($12::text[]) THEN scan.reason_denied
                   END AS stateless_reason,
                   CASE WHEN scan.outcome IS NOT NULL THEN 'valid' END AS outcome,
                   CASE WHEN scan.scanned_at_canonical >= scan.created_at
                        THEN (scan.details->>'issue')::integer END AS issue,
                   json_build_object(
                       'status', coalesce(ruling.status, scan.status),
                       'reason', CASE WHEN ruling.number IS NULL THEN scan.reason_denied
                                      ELSE ruling.reason_denied END,
                       'entry_number', CASE WHEN ruling.number IS NULL THEN scan.entry_number
                                            ELSE ruling.entry_number END) AS resolution
              FROM scan
              LEFT JOIN LATERAL (SELECT number, is_let_in, status, reason_denied, entry_number, day
                                   FROM scan_ruling
                                  WHERE scan_ruling.organization_id = scan.organization_id
                                    AND scan_ruling.scan_id = scan.id
                                  ORDER BY number DESC LIMIT 1) AS ruling ON true
              LEFT JOIN checkpoint ON checkpoint.ticket_id = scan.ticket_id AND NOT $15::boolean
             WHERE scan.ticket_id = ANY(ARRAY(SELECT id FROM named))
               AND (checkpoint.ticket_id IS NULL
                    OR (scan.scanned_at_canonical,
                        coalesce(scan.device_id, '00000000-0000-0000-0000-000000000000'), scan.id)
                     > (checkpoint.last_at, checkpoint.last_device_id, checkpoint.last_scan_id))
               AND coalesce(ruling.is_let_in, CASE WHEN scan.outcome IS NULL
                                                   THEN scan.status = 'admitted'
                                                   ELSE scan.outcome = 'valid' END)
               AND (scan.reason_denied IS DISTINCT FROM 'unverified' OR ruling.number IS NOT NULL)
               AND NOT EXISTS (SELECT 1 FROM scan_annulment AS annulled
                                WHERE annulled.organization_id = scan.organization_id
                                  AND annulled.scan_id = scan.id)
        ), unreviewed AS MATERIALIZED (
            SELECT scan.id, scan.event_id, ticket_id, gate_id, zone_id, scan.device_id, direction,
                   scanned_at_canonical, day, scan.source, outcome, outcome = 'valid' AS is_let_in,
                   stateless_reason, (scan.details->>'issue')::integer AS issue,
                   json_build_object('status', scan.status, 'reason', reason_denied) AS resolution
              FROM scan JOIN batch_sync AS batch
                ON batch.organization_id = scan.organization_id AND batch.batch_id = scan.batch_id
             WHERE scan.id = ANY($3::uuid[]) AND reason_denied = 'unverified'
               AND batch.state <> 'rejected'
               AND ticket_id IS NOT NULL
               AND NOT EXISTS (SELECT 1 FROM scan_ruling
                                WHERE scan_ruling.organization_id = scan.organization_id
                                  AND scan_ruling.scan_id = scan.id)
        ), fact AS MATERIALIZED (
            SELECT event.id, event.status, event.ends_at,
                   coalesce(scan_policy.dedup_window_s, $13) AS dedup_window_s,
                   (SELECT json_agg(json_build_object('date', date, 'starts_at', starts_at,
                                                      'ends_at', ends_at) ORDER BY date)
                      FROM event_day WHERE event_day.event_id = event.id) AS days,
                   (SELECT coalesce(json_agg(at ORDER BY at), '[]')
                      FROM occupancy_reset AS reset WHERE reset.event_id = event.id) AS resets
              FROM event
              LEFT JOIN scan_policy ON scan_policy.organization_id = event.organization_id
                                   AND scan_policy.event_id = event.id
             WHERE event.id IN (SELECT event_id FROM station UNION SELECT event_id FROM shown)
        ), nearby AS MATERIALIZED (
            SELECT entry.device_id, entry.at
              FROM station CROSS JOIN LATERAL (
                       SELECT device_id, scanned_at_canonical AS at FROM scan
                        WHERE scan.gate_id = station.id
                          AND scanned_at_canonical BETWEEN $9 AND $10
                          AND direction = 'entry' AND source = 'offline_sync' AND outcome = 'valid'
                          AND device_id = ANY($2::uuid[]) AND id <> ALL($3::uuid[])
                        ORDER BY scanned_at_canonical DESC LIMIT $14) AS entry
        )
        SELECT (SELECT json_agg(device) FROM device)::text AS devices,
               (SELECT json_agg(assignment) FROM assignment)::text AS assignments,
               (SELECT json_agg(json_build_object('batch_id', batch_id, 'fingerprint', fingerprint,
                                                  'answer', answer))
                  FROM batch_sync WHERE batch_id = ANY($1::uuid[]))::text AS answers,
               (SELECT json_agg(station) FROM station)::text AS gates,
               (SELECT json_agg(gate_code) FROM gate_code)::text AS gate_codes,
               (SELECT json_agg(fact) FROM fact)::text AS events,
               (SELECT json_agg(json_build_object('event_id', event_id, 'version', version))
                  FROM manifest WHERE event_id IN (SELECT id FROM fact))::text AS manifests,
               (SELECT json_agg(shown) FROM shown)::text AS tickets,
               (SELECT json_agg(json_build_object('ticket_id', ticket_id, 'issue', issue, 'at', at,
                                                  'barcode_hash', encode(barcode_hash, 'hex')))
                  FROM ticket_revocation
                 WHERE ticket_id = ANY(ARRAY(SELECT id FROM shown WHERE issue > 1))
                   AND issue IS NOT NULL)::text AS reissues,
               (SELECT json_agg(json_build_object('event_id', event_id, 'number', number,
                                                  'public_key', encode(public_key, 'hex')))
                  FROM event_key WHERE event_id IN (SELECT id FROM fact))::text AS keys,
               (SELECT json_agg(known) FROM known)::text AS known,
               (SELECT json_agg(scan_id) FROM scan_annulment
                 WHERE scan_id = ANY($3::uuid[]))::text AS annulled,
               (SELECT json_agg(unreviewed) FROM unreviewed)::text AS unreviewed,
               (SELECT json_agg(history) FROM history)::text AS histories,
               (SELECT json_agg(json_build_object(
                           'id', id, 'event_id', event_id, 'ticket_id', ticket_id, 'kind', kind,
                           'severity', severity, 'scan_id', scan_id, 'winner_scan_id', winner_scan_id,
                           'state', state, 'detected_at', detected_at,
                           'reviewed_by_id', reviewed_by_id, 'reviewed_at', reviewed_at,
                           'note', note, 'version', version))
                  FROM scan_conflict
                 WHERE scan_id = ANY(ARRAY(SELECT id FROM history)))::text AS conflicts,
               (SELECT json_agg(json_build_object('ticket_id', ticket_id, 'state', state))
                  FROM checkpoint)::text AS checkpoints,
               (SELECT json_agg(nearby) FROM nearby)::text AS nearby
        """,
        question.batch_ids,
        question.device_ids,
        question.scan_ids,
        question.ticket_ids,
        question.codes,
        question.barcode_hashes,
        question.gate_ids,
        question.gate_codes,
        question.oldest,
        question.newest,
        tx.now,
        list(REASONS_THAT_PASS),
        DEDUP_WINDOW_S,
        NEARBY_MAX,
        question.is_whole,
    )
    assert found is not None
    known = _rows(RecordedScan, found.known)
    keys: dict[UUID, dict[int, bytes]] = {}
    for key in _rows(_Key, found.keys):
        keys.setdefault(key.event_id, {})[key.number] = bytes.fromhex(key.public_key)
    nearby: dict[UUID, list[datetime]] = {}
    for entry in _rows(_Nearby, found.nearby):
        nearby.setdefault(entry.device_id, []).append(entry.at)
    manifests = _rows(_ManifestVersion, found.manifests)
    codes = _rows(_GateCode, found.gate_codes)
    marked = _rows(HistoryCheckpoint, found.checkpoints)
    checkpoints = {each.ticket_id: each.state for each in marked}
    return SyncFacts(
        devices={each.id: each for each in _rows(ScanningDevice, found.devices)},
        assignments=_by(_rows(DeviceAssignment, found.assignments), lambda each: each.device_id),
        answers={each.batch_id: each for each in _rows(KeptAnswer, found.answers)},
        gates={each.id: each for each in _rows(ScanningGate, found.gates)},
        gate_codes={(each.event_id, each.code): each.id for each in codes},
        events={each.id: each for each in _rows(EventFacts, found.events)},
        manifest_versions={each.event_id: each.version for each in manifests},
        tickets=_rows(ScannedTicket, found.tickets),
        reissues=_by(_rows(Reissued, found.reissues), lambda each: each.ticket_id),
        keys=keys,
        known={each.id: each for each in known},
        annulled=frozenset(_rows(UUID, found.annulled)),
        unreviewed={each.id: each for each in _rows(HistoryScan, found.unreviewed)},
        histories=_by(_rows(HistoryScan, found.histories), lambda each: each.ticket_id),
        conflicts=_rows(Conflict, found.conflicts),
        checkpoints={} if question.is_whole else checkpoints,
        checkpointed=frozenset(checkpoints),
        nearby_entries=nearby,
    )


class _CheckpointRow(msgspec.Struct, frozen=True, kw_only=True):
    ticket_id: UUID
    last_at: datetime
    last_device_id: UUID
    last_scan_id: UUID
    state: HistoryState


class SyncRows(msgspec.Struct, frozen=True, kw_only=True):
    """All that is written for a plan, in one statement."""

    attendance: Sequence[Attendance] = ()
    scans: Sequence[SyncedScan] = ()
    rulings: Sequence[Ruling] = ()
    conflicts: Sequence[Conflict] = ()
    withdrawn: Sequence[UUID] = ()
    """Ids of conflicts that are none any more."""
    batches: Sequence[NewBatch] = ()
    successes: Sequence[SyncSuccess] = ()
    audit: Sequence[AuditRow] = ()
    origins: Sequence[DeliveryOrigin] = ()
    """Of the deliveries whose scans get an audit entry each."""
    counts: Sequence[Counted] = ()
    """The changes of the counts."""
    checkpoints: Sequence[HistoryCheckpoint] = ()
    resets: Sequence[KnownReset] = ()
    """The moments at which venues were declared empty, as far as the plan knows."""


class _Written(msgspec.Struct, frozen=True):
    tickets: int
    scans: int
    rulings: int
    withdrawn: int
    conflicts: int
    batches: int
    devices: int
    audit: int
    checkpoints: int
    counts: str | None


async def write_plan(tx: Transaction, rows: SyncRows) -> list[Counted]:
    """Gives the counts that changed, as they are then. Raises `ChangedMeanwhile`, and nothing is written,
    where a ticket is not as it was seen, one of the ids was used meanwhile, a device may not deliver any
    more, or the venue was declared empty meanwhile. The parts are carried out in the order in which they are named at the end: tickets first, counts
    last, so that nobody waits in a circle, and everybody at the event waits for the counts only briefly."""
    with (
        refusing("scan_pkey", ChangedMeanwhile),
        refusing("batch_sync_pkey", ChangedMeanwhile),
        refusing("scan_ruling_pkey", ChangedMeanwhile),
    ):
        written = await tx.row(
            _Written,
            """
            WITH moved AS (
                UPDATE ticket
                   SET status = new.status, scanned_at = new.scanned_at,
                       last_scanned_at = new.last_scanned_at, last_exit_at = new.last_exit_at,
                       last_gate_id = new.last_gate_id, last_entry_day = new.last_entry_day,
                       day_entries = new.day_entries, is_inside = new.is_inside,
                       scan_count = new.scan_count, irregular = new.irregular,
                       status_since = CASE WHEN ticket.status = new.status THEN ticket.status_since
                                           WHEN new.status = 'used' THEN $10 END,
                       updated_at = $10
                  FROM json_to_recordset($1::json)
                    AS new (id uuid, status text, scanned_at timestamptz, last_scanned_at timestamptz,
                            last_exit_at timestamptz, last_gate_id uuid, last_entry_day date,
                            day_entries integer, is_inside boolean, scan_count integer,
                            irregular json, seen xid)
                 WHERE ticket.organization_id = current_organization() AND ticket.id = new.id
                   AND (new.seen IS NULL OR ticket.xmin = new.seen)
                RETURNING 1
            ), scanned AS (
                INSERT INTO scan (organization_id, id, event_id, ticket_id, ticket_code, device_id,
                                  gate_id, direction, status, reason_denied, scanned_at,
                                  scanned_at_canonical, day, zone_id, entry_number, gate_name,
                                  device_name, source, details, outcome, stateless_reason, batch_id,
                                  created_at)
                SELECT current_organization(), id, event_id, ticket_id, ticket_code, device_id, gate_id,
                       direction, status, reason_denied, scanned_at, scanned_at_canonical, day, zone_id,
                       entry_number, gate_name, device_name, source, details, outcome,
                       stateless_reason, batch_id, $10
                  FROM json_to_recordset($2::json)
                    AS new (id uuid, event_id uuid, ticket_id uuid, ticket_code text, device_id uuid,
                            gate_id uuid, direction text, status text, reason_denied text,
                            scanned_at timestamptz, scanned_at_canonical timestamptz, day date,
                            zone_id uuid, entry_number integer, gate_name text, device_name text,
                            source text, details json, outcome text, stateless_reason text,
                            batch_id uuid)
                RETURNING id, ticket_id, ticket_code, device_id, gate_id, gate_name, direction, status,
                          reason_denied, entry_number, device_name, outcome, batch_id
            ), ruled AS (
                INSERT INTO scan_ruling (organization_id, scan_id, number, event_id, is_let_in, status,
                                         reason_denied, entry_number, day, at)
                SELECT current_organization(), scan_id,
                       1 + coalesce((SELECT max(number) FROM scan_ruling AS before
                                      WHERE before.scan_id = new.scan_id), 0),
                       event_id, is_let_in, status, reason_denied, entry_number, day, $10
                  FROM json_to_recordset($3::json)
                    AS new (scan_id uuid, event_id uuid, is_let_in boolean, status text,
                            reason_denied text, entry_number integer, day date)
                RETURNING 1
            ), withdrawn AS (
                DELETE FROM scan_conflict WHERE id = ANY($5::uuid[]) RETURNING 1
            ), contradicted AS (
                INSERT INTO scan_conflict AS held
                       (organization_id, id, event_id, ticket_id, kind, severity, scan_id,
                        winner_scan_id, state, detected_at)
                SELECT current_organization(), id, event_id, ticket_id, kind, severity, scan_id,
                       winner_scan_id, 'open', $10
                  FROM json_to_recordset($4::json)
                    AS new (id uuid, event_id uuid, ticket_id uuid, kind text, severity text,
                            scan_id uuid, winner_scan_id uuid)
                ON CONFLICT ON CONSTRAINT scan_conflict_of_scan DO UPDATE
                   SET winner_scan_id = EXCLUDED.winner_scan_id, state = 'open',
                       reviewed_by_id = NULL, reviewed_at = NULL, note = '',
                       version = held.version + 1
                RETURNING 1
            ), delivered AS (
                INSERT INTO batch_sync (organization_id, id, batch_id, source, device_id, event_id,
                                        status, batch_size, processed_count, error_count,
                                        offset_seconds, processed_scan_ids, waiting_elsewhere,
                                        state, synced_at, created_at, fingerprint, answer)
                SELECT current_organization(), id, batch_id, source, device_id, event_id, status,
                       batch_size, processed_count, error_count, offset_seconds, processed_scan_ids,
                       waiting_elsewhere, state, synced_at, synced_at, fingerprint, answer
                  FROM json_to_recordset($6::json)
                    AS new (id uuid, batch_id uuid, source text, device_id uuid, event_id uuid,
                            status text, batch_size integer, processed_count integer,
                            error_count integer, offset_seconds double precision,
                            processed_scan_ids uuid[], waiting_elsewhere uuid[], state text, synced_at timestamptz,
                            fingerprint text, answer text)
                 ORDER BY batch_id
                RETURNING 1
            ), success AS (
                SELECT device_id, key_version, offset_s, periods
                  FROM json_to_recordset($7::json)
                    AS new (device_id uuid, key_version integer, offset_s double precision,
                            periods json)
            ), locked AS (
                SELECT id FROM scan_device WHERE id IN (SELECT device_id FROM success)
                 ORDER BY id FOR NO KEY UPDATE
            ), heard AS (
                UPDATE scan_device
                   SET last_sync_at = greatest(last_sync_at, $10), sync_failures = 0,
                       clock_offset_seconds = coalesce(success.offset_s, clock_offset_seconds),
                       clock_measured_at = CASE WHEN success.offset_s IS NULL THEN clock_measured_at
                                                ELSE $10 END,
                       clock_periods = coalesce(success.periods, clock_periods)
                  FROM success
                 WHERE scan_device.organization_id = current_organization()
                   AND scan_device.id = success.device_id
                   AND scan_device.id IN (SELECT id FROM locked)
                   AND scan_device.key_version = success.key_version
                   AND status = 'active' AND deleted_at IS NULL AND rotation_demanded_at IS NULL
                RETURNING 1
            ), recorded AS (
                INSERT INTO audit_entry (organization_id, id, actor_kind, actor_id, action, entity_type,
                                         entity_id, changes, ip, user_agent, metadata, at)
                SELECT current_organization(), id, actor_kind, actor_id, action, entity_type, entity_id,
                       changes, ip, user_agent, metadata, at
                  FROM json_to_recordset($8::json)
                    AS new (id uuid, actor_kind text, actor_id uuid, action text, entity_type text,
                            entity_id text, changes jsonb, ip text, user_agent text, metadata jsonb,
                            at timestamptz)
                RETURNING 1
            ), delivery AS (
                SELECT batch_id, ip, user_agent
                  FROM json_to_recordset($15::json) AS new (batch_id uuid, ip text, user_agent text)
            ), noted AS (
                INSERT INTO audit_entry (organization_id, id, actor_kind, actor_id, action, entity_type,
                                         entity_id, changes, ip, user_agent, at)
                SELECT current_organization(), uuidv7(), 'device', device_id,
                       CASE status WHEN 'admitted' THEN 'ticket_scanned' ELSE 'ticket_scan_denied' END,
                       'Scan', id::text,
                       jsonb_build_object(
                           'ticket_id', ticket_id, 'ticket_code', ticket_code, 'gate_id', gate_id,
                           'gate_name', gate_name, 'device_id', device_id,
                           'device_name', device_name, 'direction', direction, 'status', status,
                           'outcome', outcome, 'batch_id', batch_id)
                       || CASE WHEN status = 'denied'
                               THEN jsonb_build_object('reason', reason_denied)
                               ELSE jsonb_build_object('scan_count', coalesce(
                                   entry_number, (SELECT scan_count FROM ticket
                                                   WHERE ticket.id = scanned.ticket_id))) END,
                       ip, user_agent, $10
                  FROM scanned JOIN delivery USING (batch_id)
                RETURNING 1
            ), marked AS (
                INSERT INTO scan_history_checkpoint AS held
                       (organization_id, ticket_id, last_at, last_device_id, last_scan_id, state)
                SELECT current_organization(), ticket_id, last_at, last_device_id, last_scan_id, state
                  FROM json_to_recordset($13::json)
                    AS new (ticket_id uuid, last_at timestamptz, last_device_id uuid,
                            last_scan_id uuid, state json)
                ON CONFLICT (organization_id, ticket_id) DO UPDATE
                   SET last_at = EXCLUDED.last_at, last_device_id = EXCLUDED.last_device_id,
                       last_scan_id = EXCLUDED.last_scan_id, state = EXCLUDED.state
                RETURNING 1
            ), counted AS (
                INSERT INTO occupancy AS held
                       (organization_id, event_id, day, scope, scope_id, entries, exits, inside,
                        irregular)
                SELECT current_organization(), event_id, day, scope, scope_id, entries, exits, inside,
                       irregular
                  FROM json_to_recordset($9::json)
                    AS new (event_id uuid, day date, scope text, scope_id uuid, entries integer,
                            exits integer, inside integer, irregular integer)
                ON CONFLICT (organization_id, event_id, day, scope, scope_id) DO UPDATE
                   SET entries = held.entries + EXCLUDED.entries,
                       exits = held.exits + EXCLUDED.exits,
                       inside = held.inside + EXCLUDED.inside,
                       irregular = held.irregular + EXCLUDED.irregular
                RETURNING event_id, day, scope, scope_id, entries, exits, inside, irregular,
                          emptied_at
            )
            SELECT (SELECT CASE WHEN count(*) < $11::integer
                                THEN abort('VG001', 'a ticket was changed meanwhile')::text::integer
                                ELSE count(*) END FROM moved) AS tickets,
                   (SELECT count(*) FROM scanned) AS scans,
                   (SELECT count(*) FROM ruled) AS rulings,
                   (SELECT count(*) FROM withdrawn) AS withdrawn,
                   (SELECT count(*) FROM contradicted) AS conflicts,
                   (SELECT count(*) FROM delivered) AS batches,
                   (SELECT CASE WHEN count(*) < $12::integer
                                THEN abort('VG001', 'a device was changed meanwhile')::text::integer
                                ELSE count(*) END FROM heard) AS devices,
                   (SELECT count(*) FROM recorded) + (SELECT count(*) FROM noted) AS audit,
                   (SELECT count(*) FROM marked) AS checkpoints,
                   (SELECT json_agg(counted) FROM counted
                     WHERE CASE WHEN emptied_at > coalesce(
                                    (SELECT known.at FROM json_to_recordset($14::json)
                                                       AS known (event_id uuid, at timestamptz)
                                      WHERE known.event_id = counted.event_id), '-infinity')
                                THEN abort('VG001', 'the venue was declared empty meanwhile')
                                ELSE true END)::text AS counts
            """,
            json_text(sorted(rows.attendance, key=lambda each: each.id)),
            json_text(rows.scans),
            json_text(rows.rulings),
            json_text(rows.conflicts),
            list(rows.withdrawn),
            json_text(rows.batches),
            json_text(rows.successes),
            json_text(rows.audit),
            json_text(sorted(rows.counts)),
            tx.now,
            len(rows.attendance),
            len(rows.successes),
            json_text([_checkpoint_row(each) for each in rows.checkpoints]),
            json_text(rows.resets),
            json_text(rows.origins),
        )
    return _rows(Counted, written.counts if written else None)


def _checkpoint_row(checkpoint: HistoryCheckpoint) -> _CheckpointRow:
    last = checkpoint.state.last_scan
    return _CheckpointRow(
        ticket_id=checkpoint.ticket_id,
        # A ticket of which every scan was annulled has none: everything comes after that.
        last_at=last.scanned_at_canonical if last else EARLIEST,
        last_device_id=(last and last.device_id) or NOBODY,
        last_scan_id=last.id if last else NOBODY,
        state=checkpoint.state,
    )


@cache
def _decoder(shape: type[T]) -> "msgspec.json.Decoder[list[T]]":
    return msgspec.json.Decoder(list[shape], strict=False)


def _rows(shape: type[T], text: str | None) -> list[T]:
    return [] if text is None else _decoder(shape).decode(text)


def _by(rows: Iterable[T], key: Callable[[T], UUID]) -> Mapping[UUID, Sequence[T]]:
    found: dict[UUID, list[T]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found
