from uuid import UUID

from voelgoed.infra.database import Transaction
from voelgoed.scanning.model.event_scans import EventScan


async def list_event_scans(
    tx: Transaction, event_id: UUID, after: UUID | None, limit: int
) -> list[EventScan]:
    """The newest first, as they stand; those before `after`."""
    return await tx.rows(
        EventScan,
        """
        SELECT scan.id, scan.event_id, scan.ticket_id, device_id, device_name, gate_id, gate_name,
               direction,
               coalesce(ruling.status, scan.status) AS status,
               CASE WHEN ruling.number IS NULL THEN scan.reason_denied ELSE ruling.reason_denied END
                   AS reason_denied,
               outcome, scanned_at, scanned_at_canonical, scan.created_at, source,
               conflict.kind IS NOT NULL AS conflict, conflict.kind AS conflict_reason
          FROM scan
          LEFT JOIN scan_conflict AS conflict
            ON conflict.organization_id = scan.organization_id AND conflict.scan_id = scan.id
          LEFT JOIN LATERAL (SELECT number, status, reason_denied FROM scan_ruling
                              WHERE scan_ruling.organization_id = scan.organization_id
                                AND scan_ruling.scan_id = scan.id
                              ORDER BY number DESC LIMIT 1) AS ruling ON true
         WHERE scan.event_id = $1
           AND ($2::uuid IS NULL OR (scanned_at_canonical, scan.id) < (
                SELECT last.scanned_at_canonical, last.id FROM scan AS last
                 WHERE last.organization_id = scan.organization_id AND last.id = $2))
         ORDER BY scanned_at_canonical DESC, scan.id DESC LIMIT $3
        """,
        event_id,
        after,
        limit,
    )
