from collections.abc import Sequence
from uuid import UUID

import msgspec

from voelgoed.infra.database import ChangedMeanwhile, Transaction, json_text, refusing
from voelgoed.scanning.model.occupancy import CapacityCheck, Counted
from voelgoed.scanning.model.scans import Scan
from voelgoed.scanning.model.supervision import PastScan


class Annulled(msgspec.Struct, frozen=True):
    actor_id: UUID
    reason: str


class Passing(msgspec.Struct, frozen=True):
    """Of a scan that lets somebody through: how many more come in after it in the same write."""

    at_gate: int | None = None
    at_event: int | None = None


async def write_scans(
    tx: Transaction,
    scans: Sequence[Scan],
    passing: Sequence[Passing],
    changes: Sequence[Counted],
    rooms: Sequence[CapacityCheck],
) -> list[Counted]:
    """With the counts that they change; gives what these are then. Where somebody else used one of
    the ids, or the room, meanwhile, or declared the venue empty, nothing is written."""
    with refusing("scan_pkey", ChangedMeanwhile):
        return await tx.rows(
            Counted,
            """
            WITH counted AS (
                INSERT INTO occupancy AS held
                       (organization_id, event_id, day, scope, scope_id, entries, exits, inside)
                SELECT current_organization(), event_id, day, scope, scope_id, entries, exits, inside
                  FROM json_to_recordset($3::json)
                    AS new (event_id uuid, day date, scope text, scope_id uuid, entries integer,
                            exits integer, inside integer)
                ON CONFLICT (organization_id, event_id, day, scope, scope_id) DO UPDATE
                   SET entries = held.entries + EXCLUDED.entries,
                       exits = held.exits + EXCLUDED.exits,
                       inside = held.inside + EXCLUDED.inside
                RETURNING event_id, day, scope, scope_id, entries, exits, inside, emptied_at
            ), written AS (
                INSERT INTO scan (organization_id, id, event_id, ticket_id, ticket_code, device_id,
                                  actor_id, gate_id, direction, status, reason_denied, scanned_at,
                                  scanned_at_canonical, day, zone_id, entry_number, gate_name,
                                  device_name, source, details, gate_current, event_current, created_at)
                SELECT current_organization(), new.id, new.event_id, new.ticket_id, new.ticket_code,
                       new.device_id, new.actor_id, new.gate_id, new.direction, new.status,
                       new.reason_denied, new.scanned_at, new.scanned_at_canonical, new.day, new.zone_id,
                       new.entry_number, new.gate_name, new.device_name, new.source, new.details,
                       greatest(gate.inside - new.at_gate, 0), greatest(event.inside - new.at_event, 0),
                       $5
                  FROM ROWS FROM (
                           json_to_recordset($1::json)
                               AS (id uuid, event_id uuid, ticket_id uuid, ticket_code text,
                                   device_id uuid, actor_id uuid, gate_id uuid, direction text,
                                   status text, reason_denied text, scanned_at timestamptz,
                                   scanned_at_canonical timestamptz, day date, zone_id uuid,
                                   entry_number integer, gate_name text, device_name text, source text,
                                   details json),
                           json_to_recordset($2::json) AS (at_gate integer, at_event integer)
                       ) AS new
                  LEFT JOIN counted AS gate
                         ON gate.scope = 'gate' AND gate.scope_id = new.gate_id
                        AND gate.event_id = new.event_id AND gate.day = new.day
                  LEFT JOIN counted AS event
                         ON event.scope = 'event' AND event.scope_id = new.event_id
                        AND event.event_id = new.event_id AND event.day = new.day
            )
            SELECT event_id, day, scope, scope_id, entries, exits, inside FROM counted
             WHERE CASE WHEN EXISTS (
                       SELECT 1
                         FROM json_to_recordset($4::json) AS room (gate_id uuid, day date, most integer)
                        WHERE counted.scope = 'gate' AND counted.scope_id = room.gate_id
                          AND counted.day = room.day AND counted.inside > room.most
                   ) THEN abort('VG001', 'the room at a gate was taken meanwhile')
                   WHEN counted.emptied_at >= (
                       SELECT min(scanned_at_canonical)
                         FROM json_to_recordset($1::json)
                           AS new (event_id uuid, status text, scanned_at_canonical timestamptz)
                        WHERE new.event_id = counted.event_id AND status = 'admitted'
                   ) THEN abort('VG001', 'the venue was declared empty meanwhile')
                   ELSE true END
            """,
            json_text(scans),
            json_text(passing),
            # In one order, so that nobody waits in a circle.
            json_text(sorted(changes)),
            json_text(rooms),
            tx.now,
        )


async def find_scans(tx: Transaction, scan_ids: Sequence[UUID]) -> list[Scan]:
    return await tx.rows(
        Scan,
        """
        SELECT id, event_id, ticket_id, ticket_code, device_id, actor_id, gate_id, direction, status,
               reason_denied, scanned_at, scanned_at_canonical, day, zone_id, entry_number,
               gate_current, event_current, gate_name, device_name, source, details, outcome
          FROM scan WHERE id = ANY($1::uuid[])
        """,
        scan_ids,
    )


class _Id(msgspec.Struct, frozen=True):
    id: UUID


async def find_annulled(tx: Transaction, scan_ids: Sequence[UUID]) -> list[UUID]:
    found = await tx.rows(
        _Id, "SELECT scan_id AS id FROM scan_annulment WHERE scan_id = ANY($1::uuid[])", scan_ids
    )
    return [each.id for each in found]


async def insert_annulments(
    tx: Transaction, scan_ids: Sequence[UUID], ticket_id: UUID, event_id: UUID, annulled: Annulled
) -> int:
    """Of those that were not annulled before."""
    return await tx.run(
        """
        INSERT INTO scan_annulment (organization_id, scan_id, event_id, ticket_id, reason, actor_id,
                                    at)
        SELECT current_organization(), scan_id, $2, $3, $4, $5, $6
          FROM unnest($1::uuid[]) AS scan_id
        ON CONFLICT DO NOTHING
        """,
        scan_ids,
        event_id,
        ticket_id,
        annulled.reason,
        annulled.actor_id,
        tx.now,
    )


async def list_scans_of(tx: Transaction, ticket_id: UUID, limit: int) -> list[PastScan]:
    """As they stand."""
    return await tx.rows(
        PastScan,
        """
        SELECT scan.id, scan.event_id, gate_id, gate_name, device_name, direction,
               coalesce(ruling.status, scan.status) AS status,
               CASE WHEN ruling.number IS NULL THEN scan.reason_denied ELSE ruling.reason_denied END
                   AS reason_denied,
               scanned_at, scanned_at_canonical, scan.created_at,
               CASE WHEN ruling.number IS NULL THEN scan.entry_number ELSE ruling.entry_number END
                   AS entry_number,
               source, outcome, scan.status AS status_at_first,
               conflict.kind IS NOT NULL AS conflict, conflict.kind AS conflict_reason,
               annulled.at AS annulled_at, annulled.reason AS annulled_reason
          FROM scan
          LEFT JOIN scan_conflict AS conflict
            ON conflict.organization_id = scan.organization_id AND conflict.scan_id = scan.id
          LEFT JOIN scan_annulment AS annulled
            ON annulled.organization_id = scan.organization_id AND annulled.scan_id = scan.id
          LEFT JOIN LATERAL (SELECT number, status, reason_denied, entry_number FROM scan_ruling
                              WHERE scan_ruling.organization_id = scan.organization_id
                                AND scan_ruling.scan_id = scan.id
                              ORDER BY number DESC LIMIT 1) AS ruling ON true
         WHERE scan.ticket_id = $1 ORDER BY scanned_at_canonical DESC LIMIT $2
        """,
        ticket_id,
        limit,
    )
