from collections.abc import Sequence
from uuid import UUID

import msgspec

from voelgoed.infra.database import Transaction
from voelgoed.scanning.model.recoveries import RecoveredScan, Recovery
from voelgoed.scanning.model.sync import RecoveryState


async def find_recovery(tx: Transaction, batch_id: UUID) -> Recovery | None:
    return await tx.row(
        Recovery,
        """
        SELECT batch.batch_id, batch.id, device_id, device.name AS device_name, event_id,
               batch.source, batch_size AS total, cardinality(processed_scan_ids) AS kept,
               CASE batch.source WHEN 'recovered' THEN error_count ELSE 0 END AS rejected,
               synced_at AS imported_at, state, reviewed_by_id, reviewed_at, note
          FROM batch_sync AS batch JOIN scan_device AS device
            ON device.organization_id = batch.organization_id AND device.id = batch.device_id
         WHERE batch.batch_id = $1 AND state IS NOT NULL
        """,
        batch_id,
    )


async def list_recoveries(
    tx: Transaction, event_id: UUID, state: RecoveryState | None, after: UUID | None, limit: int
) -> list[Recovery]:
    """Those of the event's devices, and those with scans for its gates. The newest first."""
    return await tx.rows(
        Recovery,
        """
        SELECT batch.batch_id, batch.id, device_id, device.name AS device_name, event_id,
               batch.source, batch_size AS total, cardinality(processed_scan_ids) AS kept,
               CASE batch.source WHEN 'recovered' THEN error_count ELSE 0 END AS rejected,
               synced_at AS imported_at, state, reviewed_by_id, reviewed_at, note
          FROM batch_sync AS batch JOIN scan_device AS device
            ON device.organization_id = batch.organization_id AND device.id = batch.device_id
         WHERE (event_id = $1 OR $1 = ANY(waiting_elsewhere)) AND state IS NOT NULL AND ($2::text IS NULL OR state = $2)
           AND ($3::uuid IS NULL OR batch.id < $3)
         ORDER BY batch.id DESC LIMIT $4
        """,
        event_id,
        state,
        after,
        limit,
    )


async def find_answer(tx: Transaction, batch_id: UUID) -> str | None:
    return await tx.value(str, "SELECT answer FROM batch_sync WHERE batch_id = $1", batch_id)


class _Kept(msgspec.Struct, frozen=True):
    ids: list[UUID]


async def find_kept_ids(tx: Transaction, batch_id: UUID) -> list[UUID]:
    found = await tx.row(
        _Kept, "SELECT processed_scan_ids AS ids FROM batch_sync WHERE batch_id = $1", batch_id
    )
    return found.ids if found else []


async def list_scans(
    tx: Transaction, scan_ids: Sequence[UUID], after: UUID | None, limit: int
) -> list[RecoveredScan]:
    """The scans of an import, as they stand now."""
    return await tx.rows(
        RecoveredScan,
        """
        SELECT scan.id, ticket_id, ticket_code, gate_id, gate_name, direction, outcome, scanned_at,
               scanned_at_canonical, coalesce(ruling.status, scan.status) AS status,
               CASE WHEN ruling.number IS NULL THEN scan.reason_denied ELSE ruling.reason_denied END
                   AS reason_denied,
               coalesce((details ->> 'is_signed')::boolean, source <> 'recovered') AS signature_valid,
               coalesce(details -> 'doubts', '[]'::json) AS doubts,
               details ->> 'unverified' AS unverified
          FROM scan
          LEFT JOIN LATERAL (SELECT number, status, reason_denied FROM scan_ruling
                              WHERE scan_ruling.organization_id = scan.organization_id
                                AND scan_ruling.scan_id = scan.id
                              ORDER BY number DESC LIMIT 1) AS ruling ON true
         WHERE scan.id = ANY($1::uuid[]) AND ($2::uuid IS NULL OR scan.id > $2)
         ORDER BY scan.id LIMIT $3
        """,
        scan_ids,
        after,
        limit,
    )


async def review(
    tx: Transaction, batch_id: UUID, state: RecoveryState, by: UUID | None, note: str
) -> int:
    """0 when somebody else was first."""
    return await tx.run(
        """
        UPDATE batch_sync SET state = $2, reviewed_by_id = $3, reviewed_at = $4, note = $5
         WHERE batch_id = $1 AND state = 'unverified'
        """,
        batch_id,
        state,
        by,
        tx.now,
        note,
    )
