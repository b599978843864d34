from collections.abc import Sequence
from uuid import UUID

from voelgoed.infra.database import Transaction
from voelgoed.scanning.model.policies import ScanPolicy


async def find_policies(tx: Transaction, event_ids: Sequence[UUID]) -> list[ScanPolicy]:
    """The policies of those events that have one."""
    return await tx.rows(
        ScanPolicy,
        """
        SELECT event_id, dedup_window_s, travel_s, duplicates_per_hour_max,
               gate_scans_per_minute_max, device_error_rate_max, blocks_devices, version, updated_at
          FROM scan_policy WHERE event_id = ANY($1::uuid[])
        """,
        event_ids,
    )


async def write_policy(tx: Transaction, policy: ScanPolicy) -> int:
    """Writes the next version of what was read; 0 when somebody else was first."""
    return await tx.run(
        """
        INSERT INTO scan_policy AS policy (
            organization_id, event_id, dedup_window_s, travel_s, duplicates_per_hour_max,
            gate_scans_per_minute_max, device_error_rate_max, blocks_devices, version, updated_at)
        VALUES (current_organization(), $1, $2, $3, $4, $5, $6, $7, $8, $9)
        ON CONFLICT (organization_id, event_id) DO UPDATE SET
            dedup_window_s = $2, travel_s = $3, duplicates_per_hour_max = $4,
            gate_scans_per_minute_max = $5, device_error_rate_max = $6, blocks_devices = $7,
            version = $8, updated_at = $9
        WHERE policy.version = $8 - 1
        """,
        policy.event_id,
        policy.dedup_window_s,
        policy.travel_s,
        policy.duplicates_per_hour_max,
        policy.gate_scans_per_minute_max,
        policy.device_error_rate_max,
        policy.blocks_devices,
        policy.version,
        policy.updated_at,
    )
