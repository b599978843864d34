from collections.abc import Sequence
from uuid import UUID

from voelgoed.infra.database import Transaction
from voelgoed.scanning.model.stations import ScanningDevice, ScanningGate


async def find_devices(tx: Transaction, device_ids: Sequence[UUID]) -> list[ScanningDevice]:
    return await tx.rows(
        ScanningDevice,
        """
        SELECT id, name, status, key_version, deleted_at IS NOT NULL AS is_revoked,
               rotation_demanded_at IS NOT NULL AS is_rotation_demanded, gate_id
          FROM scan_device WHERE id = ANY($1::uuid[])
        """,
        device_ids,
    )


async def find_gates(
    tx: Transaction, device_ids: Sequence[UUID], gate_ids: Sequence[UUID] = ()
) -> list[ScanningGate]:
    """The gates where the devices are, and the gates given."""
    return await tx.rows(
        ScanningGate,
        """
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
         WHERE gate.id IN (SELECT gate_id FROM scan_device WHERE id = ANY($1::uuid[])
                            UNION SELECT unnest($2::uuid[]))
        """,
        device_ids,
        gate_ids,
    )
