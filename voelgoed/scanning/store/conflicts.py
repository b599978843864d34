from collections.abc import Sequence
from uuid import UUID

from voelgoed.infra.database import Transaction
from voelgoed.scanning.model.conflicts import Conflict, ConflictingScan, ConflictState


async def find_conflict(tx: Transaction, conflict_id: UUID) -> Conflict | None:
    return await tx.row(
        Conflict,
        """
        SELECT id, event_id, ticket_id, kind, severity, scan_id, winner_scan_id, state, detected_at,
               reviewed_by_id, reviewed_at, note, version
          FROM scan_conflict WHERE id = $1
        """,
        conflict_id,
    )


async def list_conflicts(
    tx: Transaction, event_id: UUID, state: ConflictState | None, after: UUID | None, limit: int
) -> list[Conflict]:
    """The newest first."""
    return await tx.rows(
        Conflict,
        """
        SELECT id, event_id, ticket_id, kind, severity, scan_id, winner_scan_id, state, detected_at,
               reviewed_by_id, reviewed_at, note, version
          FROM scan_conflict
         WHERE event_id = $1 AND ($2::text IS NULL OR state = $2) AND ($3::uuid IS NULL OR id < $3)
         ORDER BY id DESC LIMIT $4
        """,
        event_id,
        state,
        after,
        limit,
    )


async def find_conflicting_scans(
    tx: Transaction, scan_ids: Sequence[UUID]
) -> list[ConflictingScan]:
    return await tx.rows(
        ConflictingScan,
        """
        SELECT scan.id, ticket_code, device_id, device_name, gate_id, gate_name, direction, outcome,
               source, scanned_at, scanned_at_canonical, created_at AS received_at,
               coalesce(ruling.status, scan.status) AS status,
               CASE WHEN ruling.number IS NULL THEN scan.reason_denied ELSE ruling.reason_denied END
                   AS reason_denied
          FROM scan
          LEFT JOIN LATERAL (SELECT number, status, reason_denied FROM scan_ruling
                              WHERE scan_ruling.organization_id = scan.organization_id
                                AND scan_ruling.scan_id = scan.id
                              ORDER BY number DESC LIMIT 1) AS ruling ON true
         WHERE scan.id = ANY($1::uuid[])
        """,
        scan_ids,
    )


async def update_conflict(tx: Transaction, conflict: Conflict) -> int:
    """Writes the next version of what was read; 0 when somebody else was first."""
    return await tx.run(
        """
        UPDATE scan_conflict
           SET state = $2, note = $3, reviewed_by_id = $4, reviewed_at = $5, version = $6
         WHERE id = $1 AND version = $6 - 1
        """,
        conflict.id,
        conflict.state,
        conflict.note,
        conflict.reviewed_by_id,
        conflict.reviewed_at,
        conflict.version,
    )
