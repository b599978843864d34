from collections.abc import Sequence
from uuid import UUID

import msgspec

from voelgoed.infra.database import Transaction, json_text
from voelgoed.scanning.model.occupancy import Passage
from voelgoed.scanning.model.scans import Scan
from voelgoed.scanning.model.supervision import PastScan


class Annulled(msgspec.Struct, frozen=True):
    actor_id: UUID
    reason: str


async def insert_scans(tx: Transaction, scans: Sequence[Scan]) -> int:
    """Fewer than these where somebody else used an id meanwhile."""
    return await tx.run(
        """
        INSERT INTO scan (organization_id, id, event_id, ticket_id, ticket_code, device_id, actor_id,
                          gate_id, direction, status, reason_denied, scanned_at,
                          scanned_at_canonical, day, zone_id, entry_number, gate_name, device_name,
                          source, details, created_at)
        SELECT current_organization(), id, event_id, ticket_id, ticket_code, device_id, actor_id,
               gate_id, direction, status, reason_denied, scanned_at, scanned_at_canonical, day,
               zone_id, entry_number, gate_name, device_name, source, details, $2
          FROM json_to_recordset($1::json)
            AS new (id uuid, event_id uuid, ticket_id uuid, ticket_code text, device_id uuid,
                    actor_id uuid, gate_id uuid, direction text, status text, reason_denied text,
                    scanned_at timestamptz, scanned_at_canonical timestamptz, day date, zone_id uuid,
                    entry_number integer, gate_name text, device_name text, source text,
                    details json)
        ON CONFLICT (organization_id, id) DO NOTHING
        """,
        json_text(scans),
        tx.now,
    )


async def find_scans(tx: Transaction, scan_ids: Sequence[UUID]) -> list[Scan]:
    return await tx.rows(
        Scan,
        """
        SELECT id, event_id, ticket_id, ticket_code, device_id, actor_id, gate_id, direction, status,
               reason_denied, scanned_at, scanned_at_canonical, day, zone_id, entry_number,
               gate_name, device_name, source, details
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


async def find_passages(tx: Transaction, ticket_id: UUID) -> list[Passage]:
    """Of a ticket that is locked: its admissions that were not annulled."""
    return await tx.rows(
        Passage,
        """
        SELECT id, event_id, gate_id, zone_id, device_id, direction, scanned_at_canonical, day
          FROM scan
         WHERE ticket_id = $1 AND status = 'admitted'
           AND NOT EXISTS (SELECT 1 FROM scan_annulment WHERE scan_id = scan.id)
        """,
        ticket_id,
    )


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
    return await tx.rows(
        PastScan,
        """
        SELECT scan.id, gate_id, gate_name, device_name, direction, status, reason_denied, scanned_at,
               scanned_at_canonical, entry_number, source, annulled.at AS annulled_at,
               annulled.reason AS annulled_reason
          FROM scan LEFT JOIN scan_annulment AS annulled
            ON annulled.organization_id = scan.organization_id AND annulled.scan_id = scan.id
         WHERE scan.ticket_id = $1 ORDER BY scanned_at_canonical DESC LIMIT $2
        """,
        ticket_id,
        limit,
    )
