from collections.abc import Sequence
from uuid import UUID

import msgspec

from voelgoed.infra.database import Transaction
from voelgoed.scanning.model.scans import Scan
from voelgoed.scanning.model.supervision import PastScan


class Annulled(msgspec.Struct, frozen=True):
    actor_id: UUID
    reason: str


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


async def insert_annulments(
    tx: Transaction,
    scan_ids: Sequence[UUID],
    ticket_id: UUID | None,
    event_id: UUID,
    annulled: Annulled,
) -> int:
    """Annuls those scans, all of one ticket and one event, that were not annulled before. `ticket_id` is None
    where it was no ticket of ours."""
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
    """The scans of a ticket, as they stand now."""
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
