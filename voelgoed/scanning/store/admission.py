"""What online scans are decided from, and what is written of them: two statements, each a transaction
by itself.

Both read or write tables of other domains (`ticket`, `audit_entry`, `gate`, `event`): it is the price of
one round trip (docs/decisions/0021).
"""

from collections.abc import Mapping, Sequence

import msgspec

from voelgoed.infra.database import ChangedMeanwhile, Transaction, json_text, refusing
from voelgoed.scanning.model.admission import (
    AdmissionFacts,
    AdmissionPlan,
    LastEntry,
    Override,
    ScanRequest,
)
from voelgoed.scanning.model.occupancy import WrittenCounts

_facts = msgspec.json.Decoder(AdmissionFacts)
_counts = msgspec.json.Decoder(WrittenCounts)


async def read_facts(
    tx: Transaction, requests: Sequence[ScanRequest], hints: Mapping[str, LastEntry]
) -> AdmissionFacts:
    """All that PostgreSQL knows of them, at one moment; of tickets with a hint only the hint."""
    device_ids = {each.caller.id for each in requests if not isinstance(each.by, Override)}
    gate_ids = {each.by.gate_id for each in requests if isinstance(each.by, Override)}
    gate_ids.update(hint.gate_id for hint in hints.values())
    shown = {
        (each.presented.code, each.presented.barcode_hash)
        for each in requests
        if each.presented is not None and each.presented.code not in hints
    }
    text = await tx.statement(
        """
        WITH device AS (
            SELECT id, name, status, key_version, deleted_at IS NOT NULL AS is_revoked,
                   rotation_demanded_at IS NOT NULL AS is_rotation_demanded, gate_id
              FROM scan_device WHERE id = ANY($2::uuid[])
        ), known AS (
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
             WHERE scan.id = ANY($4::uuid[])
        ), at_gate AS (
            SELECT gate.id, gate.name, gate.status, gate.allowed_zones, gate.capacity,
                   gate.hard_capacity_limit, event.id AS event_id, event.status AS event_status,
                   event.ends_at AS event_ends_at, event.capacity AS event_capacity,
                   event.version AS event_version, layout.id AS layout_id, layout.lineage_id,
                   scan_policy.dedup_window_s, scan_policy.travel_s
              FROM gate
              JOIN event ON event.organization_id = gate.organization_id AND event.id = gate.event_id
              LEFT JOIN event_layout ON event_layout.organization_id = gate.organization_id
                                    AND event_layout.event_id = gate.event_id
              LEFT JOIN layout ON layout.organization_id = gate.organization_id
                              AND layout.id = event_layout.layout_id
              LEFT JOIN scan_policy ON scan_policy.organization_id = gate.organization_id
                                   AND scan_policy.event_id = gate.event_id
             WHERE gate.id = ANY(ARRAY(SELECT gate_id FROM device
                                       UNION SELECT gate_id FROM known
                                       UNION SELECT unnest($3::uuid[])))
        ), limited AS (
            SELECT gate.event_id, gate.id AS gate_id, occupancy.day, occupancy.inside
              FROM gate
              JOIN occupancy ON occupancy.event_id = gate.event_id
                            AND scope = 'gate' AND scope_id = gate.id
             WHERE gate.event_id = ANY(ARRAY(SELECT event_id FROM at_gate))
               AND gate.hard_capacity_limit IS NOT NULL
        ), inside AS (
            SELECT gate_id, json_object_agg(day, inside) AS days FROM limited GROUP BY gate_id
        ), carried AS (
            SELECT event_id, json_object_agg(day, inside) AS days
              FROM (SELECT event_id, day, sum(inside) AS inside
                      FROM limited GROUP BY event_id, day) AS by_day
             GROUP BY event_id
        ), emptied AS (
            SELECT event_id, max(at) AS at FROM occupancy_reset
             WHERE event_id = ANY(ARRAY(SELECT event_id FROM at_gate)) GROUP BY event_id
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
                       SELECT membership.status = 'active' AND membership.valid_from <= $7
                              AND (membership.valid_to IS NULL OR membership.valid_to > $7)
                         FROM membership
                        WHERE membership.id = ticket.associated_membership_id), false)
                   END AS is_membership_active,
                   ticket.barcode_hash <> decode(shown.barcode_hash, 'hex') AS is_other_barcode
              FROM unnest($5::text[], $6::text[]) AS shown (code, barcode_hash)
              JOIN ticket ON ticket.code = shown.code
              JOIN ticket_type AS kind ON kind.organization_id = ticket.organization_id
                                      AND kind.id = ticket.ticket_type_id
        ), signing AS (
            SELECT event_id, json_object_agg(number, encode(public_key, 'base64')) AS keys
              FROM event_key
             WHERE event_id = ANY(ARRAY(SELECT event_id FROM shown_ticket WHERE is_other_barcode
                                        UNION SELECT event_id FROM at_gate WHERE $8))
             GROUP BY event_id
        )
        SELECT json_build_object(
            'devices', coalesce((SELECT json_object_agg(id, device) FROM device), '{}'),
            'gates', coalesce((SELECT json_object_agg(id, at_gate) FROM at_gate), '{}'),
            'inside', coalesce((SELECT json_object_agg(gate_id, days) FROM inside), '{}'),
            'carried', coalesce((SELECT json_object_agg(event_id, days) FROM carried), '{}'),
            'resets', coalesce((SELECT json_object_agg(event_id, at) FROM emptied), '{}'),
            'tickets', coalesce((SELECT json_object_agg(code, shown_ticket) FROM shown_ticket), '{}'),
            'known', coalesce((SELECT json_object_agg(id, known) FROM known), '{}'),
            'event_keys', coalesce((SELECT json_object_agg(event_id, keys) FROM signing), '{}')
        )::text
         WHERE CASE WHEN current_organization() <> $1
                    THEN abort('VG002', 'the connection is set to another organisation')
                    ELSE true END
        """,
        list(device_ids),
        list(gate_ids),
        [each.scan_id for each in requests],
        [code for code, _ in shown],
        [barcode_hash for _, barcode_hash in shown],
        tx.now,
        # Redis remembers too little of an entry: a barcode that is genuine must say the rest.
        any(hint.tier == "warm" for hint in hints.values()),
    )
    return _facts.decode(text)


async def write_plan(
    tx: Transaction, plan: AdmissionPlan, *, with_levels: bool
) -> WrittenCounts | None:
    """Gives the counts as they are then; on request, also how full all gates are. None, and nothing is written, where meanwhile a ticket was
    changed, an id was used, or a gate became too full for somebody whom the rule let in."""
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
                ), counted AS (
                    INSERT INTO occupancy AS held
                           (organization_id, event_id, day, scope, scope_id, entries, exits, inside,
                            irregular)
                    SELECT current_organization(), event_id, day, scope, scope_id, entries, exits,
                           inside, irregular
                      FROM json_to_recordset($4::json)
                        AS new (event_id uuid, day date, scope text, scope_id uuid,
                                entries integer, exits integer, inside integer,
                                irregular integer)
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
                ), level AS (
                    -- What this statement itself counts, the snapshot that it reads does not show.
                    SELECT gate.event_id, of_event.day,
                           json_agg(json_build_object(
                               'gate_id', gate.id, 'occupancy', present.inside,
                               'capacity', present.capacity,
                               'percent', 100 * present.inside / present.capacity)
                               ORDER BY gate.id) AS gates
                      FROM counted AS of_event
                      JOIN gate ON gate.event_id = of_event.event_id
                      LEFT JOIN counted AS changed
                             ON changed.scope = 'gate' AND changed.scope_id = gate.id
                            AND changed.day = of_event.day
                      LEFT JOIN occupancy AS held
                             ON held.event_id = gate.event_id AND held.day = of_event.day
                            AND held.scope = 'gate' AND held.scope_id = gate.id
                     CROSS JOIN LATERAL (
                           SELECT greatest(
                                      coalesce(changed.inside, held.inside, 0)
                                      + CASE WHEN gate.hard_capacity_limit IS NULL THEN 0 ELSE coalesce((
                                          SELECT sum(before.inside) FROM occupancy AS before
                                           WHERE before.event_id = gate.event_id
                                             AND before.scope = 'gate' AND before.scope_id = gate.id
                                             AND before.day < of_event.day), 0) END, 0) AS inside,
                                  least(gate.capacity, gate.hard_capacity_limit) AS capacity
                           ) AS present
                     WHERE $10 AND of_event.scope = 'event'
                     GROUP BY gate.event_id, of_event.day
                )
                SELECT json_build_object('counts', (
                    SELECT coalesce(json_agg(counted), '[]') FROM counted
                     WHERE CASE WHEN EXISTS (
                               SELECT 1
                                 FROM json_to_recordset($9::json)
                                   AS checked (gate_id uuid, day date, most integer)
                                WHERE counted.scope = 'gate' AND counted.scope_id = checked.gate_id
                                  AND counted.day = checked.day AND counted.inside > checked.most)
                           THEN abort('VG001', 'a gate became full meanwhile')
                           WHEN EXISTS (
                               SELECT 1
                                 FROM json_to_recordset($11::json)
                                   AS first (event_id uuid, at timestamptz)
                                WHERE first.event_id = counted.event_id
                                  AND first.at <= counted.emptied_at)
                           THEN abort('VG001', 'the venue was declared empty meanwhile')
                           ELSE true END
                ), 'levels', (SELECT coalesce(json_agg(level), '[]') FROM level))::text
                 WHERE CASE WHEN current_organization() <> $1
                            THEN abort('VG002', 'the connection is set to another organisation')
                            ELSE true END
                """,
                # In one order each, so that nobody waits in a circle.
                json_text(sorted(plan.attendance, key=lambda each: each.id)),
                len(plan.attendance),
                json_text(sorted(plan.counts)),
                json_text(plan.scans),
                json_text(plan.ahead),
                json_text(plan.audit),
                tx.now,
                json_text(plan.capacity),
                with_levels,
                json_text(plan.earliest),
            )
    except ChangedMeanwhile:
        return None
    return _counts.decode(text)
