"""What online scans are decided from, and what is written of them: three statements, each a transaction
by itself. What seldom changes is read by the first, and only when it changed.

They read or write tables of other domains (`ticket`, `audit_entry`, `gate`, `event`): it is the price of
one round trip (docs/decisions/0021).
"""

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.infra.database import ChangedMeanwhile, Transaction, json_text, refusing
from voelgoed.scanning.model.admission import (
    AdmissionFacts,
    AdmissionPlan,
    KnownScan,
    LastEntry,
    ScanRequest,
)
from voelgoed.scanning.model.occupancy import Counted
from voelgoed.scanning.model.stations import Stations, WantedStations
from voelgoed.ticketing.model.admissions import ScannedTicket


class _Read(msgspec.Struct, frozen=True):
    """The columns that change from scan to scan."""

    version: UUID | None
    tickets: Mapping[str, ScannedTicket]
    known: Mapping[UUID, KnownScan]
    inside: Mapping[UUID, Mapping[dt.date, int]]


class _CountChange(msgspec.Struct, frozen=True):
    """The change of a count, and the condition that must hold afterwards."""

    event_id: UUID
    day: dt.date
    scope: str
    scope_id: UUID
    entries: int
    exits: int
    inside: int
    irregular: int
    inside_max: int | None
    """The largest number of people inside by the gate then; None where nobody was admitted by that
    limit."""
    first_at: datetime | None
    """The first admission at the event: if the venue was declared empty since, the plan is void."""


_stations = msgspec.json.Decoder(Stations)
_read = msgspec.json.Decoder(_Read)
_counts = msgspec.json.Decoder(list[Counted])


async def read_stations(tx: Transaction, wanted: WantedStations) -> Stations:
    text = await tx.statement(
        """
        WITH device AS (
            SELECT id, name, status, key_version, deleted_at IS NOT NULL AS is_revoked,
                   rotation_demanded_at IS NOT NULL AS is_rotation_demanded, gate_id
              FROM scan_device WHERE id = ANY($2::uuid[])
        ), at_gate AS (
            SELECT gate.id, gate.name, gate.status, gate.allowed_zones, gate.capacity,
                   gate.hard_capacity_limit, event.id AS event_id, event.status AS event_status,
                   event.ends_at AS event_ends_at, event.capacity AS event_capacity,
                   layout.id AS layout_id, layout.lineage_id, scan_policy.dedup_window_s,
                   scan_policy.travel_s
              FROM gate
              JOIN event ON event.organization_id = gate.organization_id AND event.id = gate.event_id
              LEFT JOIN event_layout ON event_layout.organization_id = gate.organization_id
                                    AND event_layout.event_id = gate.event_id
              LEFT JOIN layout ON layout.organization_id = gate.organization_id
                              AND layout.id = event_layout.layout_id
              LEFT JOIN scan_policy ON scan_policy.organization_id = gate.organization_id
                                   AND scan_policy.event_id = gate.event_id
             WHERE gate.id = ANY(ARRAY(SELECT gate_id FROM device UNION SELECT unnest($3::uuid[])))
        ), event_days AS (
            SELECT event_id, json_agg(json_build_object('date', date, 'starts_at', starts_at,
                                                        'ends_at', ends_at) ORDER BY date) AS days
              FROM event_day
             WHERE event_id = ANY(ARRAY(SELECT event_id FROM at_gate)) GROUP BY event_id
        ), limited AS (
            SELECT gate.id, gate.event_id FROM gate
             WHERE gate.event_id = ANY(ARRAY(SELECT event_id FROM at_gate))
               AND gate.hard_capacity_limit IS NOT NULL
        ), emptied AS (
            SELECT event_id, max(at) AS at FROM occupancy_reset
             WHERE event_id = ANY(ARRAY(SELECT event_id FROM at_gate)) GROUP BY event_id
        ), signing AS (
            SELECT event_id, json_object_agg(number, encode(public_key, 'base64')) AS keys
              FROM event_key
             WHERE event_id = ANY(ARRAY(SELECT event_id FROM at_gate UNION SELECT unnest($4::uuid[])))
             GROUP BY event_id
        )
        SELECT json_build_object(
            'version', (SELECT version FROM station_version),
            'devices', coalesce((SELECT json_object_agg(id, device) FROM device), '{}'),
            'gates', coalesce((SELECT json_object_agg(id, at_gate) FROM at_gate), '{}'),
            'days', coalesce((SELECT json_object_agg(event_id, days) FROM event_days), '{}'),
            'limited_gates', coalesce((SELECT json_object_agg(id, event_id) FROM limited), '{}'),
            'resets', coalesce((SELECT json_object_agg(event_id, at) FROM emptied), '{}'),
            'event_keys', coalesce((SELECT json_object_agg(event_id, keys) FROM signing), '{}')
        )::text
         WHERE CASE WHEN current_organization() <> $1
                    THEN abort('VG002', 'the connection is set to another organisation')
                    ELSE true END
        """,
        list(wanted.device_ids),
        list(wanted.gate_ids),
        list(wanted.event_ids),
    )
    return _stations.decode(text)


async def read_facts(
    tx: Transaction,
    requests: Sequence[ScanRequest],
    hints: Mapping[str, LastEntry],
    stations: Stations,
    limited: Mapping[UUID, UUID],
) -> AdmissionFacts | None:
    """All that the requests are decided from, at one moment; of tickets with a hint only the hint. Who is inside
    is read for the gates in `limited`, which names their events. None where the stations changed since they
    were read."""
    shown = {
        each.presented.code
        for each in requests
        if each.presented is not None and each.presented.code not in hints
    }
    text = await tx.statement(
        """
        WITH known AS (
            SELECT scan.id, scan.event_id, scan.ticket_id, ticket_code, device_id, scan.actor_id, gate_id,
                   direction, scan.status, reason_denied, scan.scanned_at, scanned_at_canonical, day,
                   scan.zone_id, entry_number, gate_current, event_current, gate_name, device_name,
                   source, details, outcome, annulled.scan_id IS NOT NULL AS is_annulled,
                   CASE WHEN ticket.id IS NOT NULL THEN json_build_object(
                       'id', ticket.id, 'zone_id', ticket.zone_id, 'seat_id', ticket.seat_id,
                       'seat_label', ticket.seat_label) END AS place
              FROM scan
              LEFT JOIN ticket ON ticket.organization_id = scan.organization_id
                              AND ticket.id = scan.ticket_id
              LEFT JOIN scan_annulment AS annulled
                     ON annulled.organization_id = scan.organization_id
                    AND annulled.scan_id = scan.id
             WHERE scan.id = ANY($2::uuid[])
        ), inside AS (
            SELECT scope_id AS gate_id, json_object_agg(day, inside) AS days
              FROM occupancy
             WHERE event_id = ANY($3::uuid[]) AND scope = 'gate' AND scope_id = ANY($4::uuid[])
             GROUP BY scope_id
        ), shown_ticket AS (
            SELECT ticket.id, ticket.event_id, ticket.code, ticket.issue,
                   encode(ticket.barcode_hash, 'hex') AS barcode_hash, ticket.status,
                   ticket.zone_id, ticket.seat_id, ticket.seat_label, ticket.days,
                   ticket.scan_count, ticket.day_entries, ticket.last_entry_day, ticket.scanned_at,
                   ticket.last_scanned_at, ticket.last_exit_at, ticket.last_gate_id,
                   ticket.is_inside, ticket.irregular, ticket.status_since,
                   ticket.xmin::text AS seen, kind.entry_limit,
                   kind.max_daily_entries, kind.gate_ids, kind.reentry,
                   (SELECT gate.name FROM gate WHERE gate.id = ticket.last_gate_id)
                       AS last_gate_name,
                   CASE WHEN ticket.associated_membership_id IS NOT NULL THEN coalesce((
                       SELECT membership.status = 'active' AND membership.valid_from <= $6
                              AND (membership.valid_to IS NULL OR membership.valid_to > $6)
                         FROM membership
                        WHERE membership.id = ticket.associated_membership_id), false)
                   END AS is_membership_active
              FROM unnest($5::text[]) AS shown (code)
              JOIN ticket ON ticket.code = shown.code
              JOIN ticket_type AS kind ON kind.organization_id = ticket.organization_id
                                      AND kind.id = ticket.ticket_type_id
        )
        SELECT json_build_object(
            'version', (SELECT version FROM station_version),
            'tickets', coalesce((SELECT json_object_agg(code, shown_ticket) FROM shown_ticket), '{}'),
            'known', coalesce((SELECT json_object_agg(id, known) FROM known), '{}'),
            'inside', coalesce((SELECT json_object_agg(gate_id, days) FROM inside), '{}')
        )::text
         WHERE CASE WHEN current_organization() <> $1
                    THEN abort('VG002', 'the connection is set to another organisation')
                    ELSE true END
        """,
        [each.scan_id for each in requests],
        list(set(limited.values())),
        list(limited),
        list(shown),
        tx.now,
    )
    read = _read.decode(text)
    if read.version != stations.version:
        return None
    return AdmissionFacts(
        devices=stations.devices,
        gates=stations.gates,
        inside=read.inside,
        carried=_by_event(read.inside, limited),
        resets=stations.resets,
        tickets=read.tickets,
        known=read.known,
        event_keys=stations.event_keys,
        days=stations.days,
        hints=hints,
    )


def _by_event(
    inside: Mapping[UUID, Mapping[dt.date, int]], limited: Mapping[UUID, UUID]
) -> dict[UUID, Mapping[dt.date, int]]:
    """The people inside by all gates with a hard limit of an event, on each day."""
    found: dict[UUID, Counter[dt.date]] = {}
    for gate_id, days in inside.items():
        found.setdefault(limited[gate_id], Counter()).update(days)
    return dict(found)


async def write_plan(tx: Transaction, plan: AdmissionPlan) -> list[Counted] | None:
    """Gives the counts that changed, as they are then. None, and nothing is written, where meanwhile a
    ticket was changed, an id was used, the venue was declared empty, or a gate became too full for
    somebody whom the rule let in."""
    try:
        with refusing("scan_pkey", ChangedMeanwhile):
            text = await tx.statement(
                """
                WITH moved AS (
                    UPDATE ticket
                       SET status = new.status, scanned_at = new.scanned_at,
                           last_scanned_at = new.last_scanned_at, last_exit_at = new.last_exit_at,
                           last_gate_id = new.last_gate_id, last_entry_day = new.last_entry_day,
                           day_entries = new.day_entries, is_inside = new.is_inside,
                           scan_count = new.scan_count, irregular = new.irregular,
                           updated_at = $8
                      FROM json_to_recordset($2::json)
                        AS new (id uuid, status text, scanned_at timestamptz,
                                last_scanned_at timestamptz, last_exit_at timestamptz,
                                last_gate_id uuid, last_entry_day date, day_entries integer,
                                is_inside boolean, scan_count integer, irregular json, seen xid)
                     WHERE ticket.organization_id = current_organization() AND ticket.id = new.id
                       AND (new.seen IS NULL OR ticket.xmin = new.seen)
                    RETURNING 1
                ), change AS (
                    SELECT *
                      FROM json_to_recordset($4::json)
                        AS new (event_id uuid, day date, scope text, scope_id uuid,
                                entries integer, exits integer, inside integer,
                                irregular integer, inside_max integer, first_at timestamptz)
                ), counted AS (
                    INSERT INTO occupancy AS held
                           (organization_id, event_id, day, scope, scope_id, entries, exits, inside,
                            irregular)
                    SELECT current_organization(), event_id, day, scope, scope_id, entries, exits,
                           inside, irregular
                      FROM change
                     -- Tickets are locked before counts, so that nobody waits in a circle.
                     WHERE CASE WHEN (SELECT count(*) FROM moved) < $3::integer
                                THEN abort('VG001', 'a ticket was changed meanwhile')
                                ELSE true END
                    ON CONFLICT (organization_id, event_id, day, scope, scope_id) DO UPDATE
                       SET entries = held.entries + EXCLUDED.entries,
                           exits = held.exits + EXCLUDED.exits,
                           inside = held.inside + EXCLUDED.inside,
                           irregular = held.irregular + EXCLUDED.irregular
                    RETURNING event_id, day, scope, scope_id, entries, exits, inside, irregular,
                              emptied_at
                ), written AS (
                    INSERT INTO scan (organization_id, id, event_id, ticket_id, ticket_code,
                                      device_id, actor_id, gate_id, direction, status,
                                      reason_denied, scanned_at, scanned_at_canonical, day, zone_id,
                                      entry_number, gate_name, device_name, source, details,
                                      gate_current, event_current, created_at)
                    SELECT current_organization(), new.id, new.event_id, new.ticket_id,
                           new.ticket_code, new.device_id, new.actor_id, new.gate_id, new.direction,
                           new.status, new.reason_denied, new.scanned_at, new.scanned_at_canonical,
                           new.day, new.zone_id, new.entry_number, new.gate_name, new.device_name,
                           new.source, new.details, greatest(gate.inside - new.at_gate, 0),
                           greatest(event.inside - new.at_event, 0), $8
                      FROM ROWS FROM (
                               json_to_recordset($5::json)
                                   AS (id uuid, event_id uuid, ticket_id uuid, ticket_code text,
                                       device_id uuid, actor_id uuid, gate_id uuid, direction text,
                                       status text, reason_denied text, scanned_at timestamptz,
                                       scanned_at_canonical timestamptz, day date, zone_id uuid,
                                       entry_number integer, gate_name text, device_name text,
                                       source text, details json),
                               json_to_recordset($6::json) AS (at_gate integer, at_event integer)
                           ) AS new
                      LEFT JOIN counted AS gate
                             ON gate.scope = 'gate' AND gate.scope_id = new.gate_id
                            AND gate.event_id = new.event_id AND gate.day = new.day
                      LEFT JOIN counted AS event
                             ON event.scope = 'event' AND event.scope_id = new.event_id
                            AND event.event_id = new.event_id AND event.day = new.day
                ), recorded AS (
                    INSERT INTO audit_entry (organization_id, id, actor_kind, actor_id, action,
                                             entity_type, entity_id, changes, ip, user_agent, at)
                    SELECT current_organization(), id, actor_kind, actor_id, action, 'Scan',
                           entity_id, changes, ip, user_agent, $8
                      FROM json_to_recordset($7::json)
                        AS new (id uuid, actor_kind text, actor_id uuid, action text, entity_id text,
                                changes jsonb, ip text, user_agent text)
                )
                SELECT (
                    SELECT coalesce(json_agg(counted), '[]')
                      FROM counted JOIN change USING (event_id, day, scope, scope_id)
                     WHERE CASE WHEN counted.inside > change.inside_max
                                THEN abort('VG001', 'a gate became full meanwhile')
                                WHEN counted.emptied_at >= change.first_at
                                THEN abort('VG001', 'the venue was declared empty meanwhile')
                                ELSE true END)::text
                 WHERE CASE WHEN current_organization() <> $1
                            THEN abort('VG002', 'the connection is set to another organisation')
                            ELSE true END
                """,
                # In one order each, so that nobody waits in a circle.
                json_text(sorted(plan.attendance, key=lambda each: each.id)),
                len(plan.attendance),
                json_text(_count_changes(plan)),
                json_text(plan.scans),
                json_text(plan.ahead),
                json_text(plan.audit),
                tx.now,
            )
    except ChangedMeanwhile:
        return None
    return _counts.decode(text)


def _count_changes(plan: AdmissionPlan) -> list[_CountChange]:
    inside_max = {(check.gate_id, check.day): check.most for check in plan.capacity}
    first_at = {each.event_id: each.at for each in plan.earliest}
    return [
        _CountChange(
            each.event_id,
            each.day,
            each.scope,
            each.scope_id,
            each.entries,
            each.exits,
            each.inside,
            each.irregular,
            inside_max.get((each.scope_id, each.day)) if each.scope == "gate" else None,
            first_at.get(each.event_id),
        )
        for each in sorted(plan.counts)
    ]
