from collections.abc import Sequence
from uuid import UUID

import msgspec

from voelgoed.infra.database import ChangedMeanwhile, Transaction, json_text, refusing
from voelgoed.scanning.model.decisions import Reason
from voelgoed.scanning.model.scans import Scan
from voelgoed.scanning.model.sync import BatchSync


class SyncedScan(Scan, frozen=True, kw_only=True):
    reason_apart: Reason | None
    batch_id: UUID


async def insert_scans(tx: Transaction, scans: Sequence[SyncedScan]) -> None:
    """Where somebody else used one of the ids meanwhile, nothing is written."""
    if not scans:
        return
    with refusing("scan_pkey", ChangedMeanwhile):
        await tx.run(
            """
            INSERT INTO scan (organization_id, id, event_id, ticket_id, ticket_code, device_id, gate_id,
                              direction, status, reason_denied, scanned_at, scanned_at_canonical, day,
                              zone_id, entry_number, gate_name, device_name, source, details, outcome,
                              reason_apart, batch_id, created_at)
            SELECT current_organization(), id, event_id, ticket_id, ticket_code, device_id, gate_id,
                   direction, status, reason_denied, scanned_at, scanned_at_canonical, day, zone_id,
                   entry_number, gate_name, device_name, source, details, outcome, reason_apart,
                   batch_id, $2
              FROM json_to_recordset($1::json)
                AS new (id uuid, event_id uuid, ticket_id uuid, ticket_code text, device_id uuid,
                        gate_id uuid, direction text, status text, reason_denied text,
                        scanned_at timestamptz, scanned_at_canonical timestamptz, day date,
                        zone_id uuid, entry_number integer, gate_name text, device_name text,
                        source text, details json, outcome text, reason_apart text, batch_id uuid)
            """,
            json_text(scans),
            tx.now,
        )


class KeptAnswer(msgspec.Struct, frozen=True):
    batch_id: UUID
    fingerprint: str
    answer: str


async def find_answers(tx: Transaction, batch_ids: Sequence[UUID]) -> list[KeptAnswer]:
    """To those of these that were brought before."""
    return await tx.rows(
        KeptAnswer,
        "SELECT batch_id, fingerprint, answer FROM batch_sync WHERE batch_id = ANY($1::uuid[])",
        batch_ids,
    )


class NewBatch(BatchSync, frozen=True, kw_only=True):
    fingerprint: str
    """Of what was sent."""
    answer: str


async def insert_batches(tx: Transaction, batches: Sequence[NewBatch]) -> None:
    """Where the same is brought twice at the same time, one of them finds the other's answer."""
    with refusing("batch_sync_pkey", ChangedMeanwhile):
        await tx.run(
            """
            INSERT INTO batch_sync (organization_id, id, batch_id, source, device_id, event_id, status,
                                    batch_size, processed_count, error_count, offset_seconds,
                                    processed_scan_ids, state, synced_at, created_at, fingerprint,
                                    answer)
            SELECT current_organization(), id, batch_id, source, device_id, event_id, status,
                   batch_size, processed_count, error_count, offset_seconds, processed_scan_ids, state,
                   synced_at, synced_at, fingerprint, answer
              FROM json_to_recordset($1::json)
                AS new (id uuid, batch_id uuid, source text, device_id uuid, event_id uuid, status text,
                        batch_size integer, processed_count integer, error_count integer,
                        offset_seconds double precision, processed_scan_ids uuid[], state text,
                        synced_at timestamptz, fingerprint text, answer text)
             ORDER BY batch_id
            """,
            json_text(batches),
        )


class Success(msgspec.Struct, frozen=True, kw_only=True):
    device_id: UUID
    key_version: int
    offset_s: float | None
    """Of its clock, as measured with what it brought."""


class _Count(msgspec.Struct, frozen=True):
    count: int


async def note_successes(tx: Transaction, successes: Sequence[Success]) -> int:
    """Of how many: not of those that may not scan any more."""
    [noted] = await tx.rows(
        _Count,
        """
        WITH told AS (
            SELECT device_id, key_version, offset_s
              FROM json_to_recordset($1::json)
                AS new (device_id uuid, key_version integer, offset_s double precision)
        ), locked AS (
            SELECT id FROM scan_device WHERE id IN (SELECT device_id FROM told)
             ORDER BY id FOR NO KEY UPDATE  -- so that nobody waits in a circle
        ), noted AS (
            UPDATE scan_device
               SET last_sync_at = greatest(last_sync_at, $2), sync_failures = 0,
                   clock_offset_seconds = coalesce(told.offset_s, clock_offset_seconds),
                   clock_measured_at = CASE WHEN told.offset_s IS NULL THEN clock_measured_at
                                            ELSE $2 END
              FROM told
             WHERE scan_device.organization_id = current_organization()
               AND scan_device.id = told.device_id
               AND scan_device.id IN (SELECT id FROM locked)
               AND scan_device.key_version = told.key_version
               AND status = 'active' AND deleted_at IS NULL AND rotation_demanded_at IS NULL
            RETURNING 1
        )
        SELECT count(*) FROM noted
        """,
        json_text(successes),
        tx.now,
    )
    return noted.count


async def note_failure(tx: Transaction, device_id: UUID) -> int:
    """Gives how many there were in a row; 0 where there is no such device."""
    failures = await tx.value(
        int,
        """
        UPDATE scan_device SET sync_failures = sync_failures + 1 WHERE id = $1
        RETURNING sync_failures
        """,
        device_id,
    )
    return failures or 0
