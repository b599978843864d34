from collections.abc import Sequence
from uuid import UUID

from voelgoed.infra.database import Transaction, json_text
from voelgoed.scanning.model.scans import Scan


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
