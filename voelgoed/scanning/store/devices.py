from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.infra.database import Database, Transaction, json_text
from voelgoed.infra.ids import new_id
from voelgoed.scanning.model.devices import ClockPeriod, Device, DeviceAssignment


async def insert_device(tx: Transaction, device: Device) -> int:
    """Its assignment begins with it. 0 when there is one by that id already."""
    inserted = await tx.run(
        """
        INSERT INTO scan_device (organization_id, id, name, device_type, gate_id, status, key_version,
                                 key_rotated_at, paired_at, paired_by_id, app_version, version,
                                 created_at, updated_at)
        VALUES (current_organization(), $1, $2, $3, $4, $5, $6, $7, $7, $8, $9, 1, $7, $7)
        ON CONFLICT DO NOTHING
        """,
        device.id,
        device.name,
        device.device_type,
        device.gate_id,
        device.status,
        device.key_version,
        device.paired_at,
        device.paired_by_id,
        device.app_version,
    )
    if inserted:
        await _record_assignment(tx, device)
    return inserted


def _device(clock_periods: list[object], **columns: object) -> Device:
    periods = msgspec.convert(clock_periods, list[ClockPeriod])
    return Device(clock_periods=periods, **columns)  # pyright: ignore[reportArgumentType]


async def find_device(tx: Transaction, device_id: UUID) -> Device | None:
    return await tx.row(
        _device,
        """
        SELECT id, name, device_type, gate_id, status, key_version, key_rotated_at,
               rotation_demanded_at, rotation_id, paired_at, paired_by_id, deleted_at, last_heartbeat,
               last_seen_at, battery_percent, queue_length, app_version, manifest_version, clock_offset_seconds,
               clock_measured_at, clock_periods, last_sync_at, version, created_at, updated_at
          FROM scan_device WHERE id = $1
        """,
        device_id,
    )


async def lock_device(tx: Transaction, device_id: UUID) -> Device | None:
    return await tx.row(
        _device,
        """
        SELECT id, name, device_type, gate_id, status, key_version, key_rotated_at,
               rotation_demanded_at, rotation_id, paired_at, paired_by_id, deleted_at, last_heartbeat,
               last_seen_at, battery_percent, queue_length, app_version, manifest_version, clock_offset_seconds,
               clock_measured_at, clock_periods, last_sync_at, version, created_at, updated_at
          FROM scan_device WHERE id = $1 FOR NO KEY UPDATE
        """,
        device_id,
    )


async def count_devices(tx: Transaction) -> int:
    count = await tx.value(int, "SELECT count(*) FROM scan_device WHERE deleted_at IS NULL")
    return count or 0


async def update_device(tx: Transaction, device: Device) -> int:
    """Writes the next version of what was read, and where it is assigned from now on; 0 when somebody
    else was first."""
    updated = await tx.run(
        """
        UPDATE scan_device
           SET name = $2, device_type = $3, gate_id = $4, status = $5, key_version = $6,
               key_rotated_at = $7, paired_at = $8, paired_by_id = $9, deleted_at = $10,
               app_version = $11, rotation_demanded_at = $12, rotation_id = $13, version = $14,
               updated_at = $15
         WHERE id = $1 AND version = $14 - 1
        """,
        device.id,
        device.name,
        device.device_type,
        device.gate_id,
        device.status,
        device.key_version,
        device.key_rotated_at,
        device.paired_at,
        device.paired_by_id,
        device.deleted_at,
        device.app_version,
        device.rotation_demanded_at,
        device.rotation_id,
        device.version,
        device.updated_at,
    )
    if updated:
        await _record_assignment(tx, device)
    return updated


async def _record_assignment(tx: Transaction, device: Device) -> None:
    """Ends the assignment that the device does not have any more and begins the one that it has, where
    they differ. The caller has just written the device's row, so no two of these run at once."""
    is_assigned = device.status == "active" and device.deleted_at is None
    await tx.run(
        """
        UPDATE device_assignment SET until_at = greatest(from_at, $3)
         WHERE device_id = $1 AND until_at IS NULL AND gate_id IS DISTINCT FROM $2
        """,
        device.id,
        device.gate_id if is_assigned else None,
        tx.now,
    )
    await tx.run(
        """
        INSERT INTO device_assignment (organization_id, id, device_id, gate_id, event_id, from_at)
        SELECT current_organization(), $1, $2, gate.id, gate.event_id,
               greatest($4, (SELECT max(until_at) FROM device_assignment WHERE device_id = $2))
          FROM gate
         WHERE gate.id = $3
           AND NOT EXISTS (SELECT 1 FROM device_assignment WHERE device_id = $2 AND until_at IS NULL)
        """,
        new_id(),
        device.id,
        device.gate_id if is_assigned else None,
        tx.now,
    )


async def find_assignments(tx: Transaction, device_ids: Sequence[UUID]) -> list[DeviceAssignment]:
    """All that these devices ever had, each device's in order of time."""
    return await tx.rows(
        DeviceAssignment,
        """
        SELECT device_id, gate_id, event_id, from_at, until_at
          FROM device_assignment WHERE device_id = ANY($1::uuid[])
         ORDER BY device_id, from_at, until_at
        """,
        device_ids,
    )


async def note_heartbeat(
    tx: Transaction, device: Device, periods: Sequence[ClockPeriod] | None
) -> None:
    """Writes a heartbeat, which keeps the device's version, because nobody decided on a change.
    `periods` are those of its clock, where they have changed."""
    await tx.run(
        """
        UPDATE scan_device
           SET last_heartbeat = $2, battery_percent = $3, queue_length = $4,
               app_version = coalesce($5, app_version), manifest_version = $6,
               clock_offset_seconds = $7, clock_measured_at = $2,
               clock_periods = coalesce($8, clock_periods)
         WHERE id = $1
        """,
        device.id,
        device.last_heartbeat,
        device.battery_percent,
        device.queue_length,
        device.app_version,
        device.manifest_version,
        device.clock_offset_seconds,
        periods,
    )


class SignOfLife(msgspec.Struct, frozen=True, kw_only=True):
    device_id: UUID
    key_version: int
    seen_at: datetime


async def note_seen(tx: Transaction, signs: Sequence[SignOfLife]) -> int:
    """Writes signs of life of our devices with this version of their key, where the known moment is
    older by more than a few seconds: a device that scans all the time is not written all the
    time."""
    return await tx.run(
        """
        WITH sign AS (
            SELECT device_id, key_version, seen_at
              FROM json_to_recordset($1::json)
                AS new (device_id uuid, key_version integer, seen_at timestamptz)
        ), locked AS (
            SELECT device.id, sign.seen_at
              FROM scan_device AS device
              JOIN sign ON sign.device_id = device.id AND sign.key_version = device.key_version
             WHERE device.deleted_at IS NULL
               AND (device.last_seen_at IS NULL
                    OR device.last_seen_at < sign.seen_at - interval '10 seconds')
             ORDER BY device.id FOR NO KEY UPDATE OF device  -- so that nobody waits in a circle
        )
        UPDATE scan_device SET last_seen_at = greatest(last_seen_at, locked.seen_at)
          FROM locked
         WHERE scan_device.organization_id = current_organization() AND scan_device.id = locked.id
        """,
        json_text(signs),
    )


async def note_clock(
    tx: Transaction,
    device_id: UUID,
    offset_seconds: float,
    periods: Sequence[ClockPeriod] | None,
) -> None:
    """`periods` are those of its clock, where they have changed."""
    await tx.run(
        """
        UPDATE scan_device
           SET clock_offset_seconds = $2, clock_measured_at = $3,
               clock_periods = coalesce($4, clock_periods)
         WHERE id = $1
        """,
        device_id,
        offset_seconds,
        tx.now,
        periods,
    )


class DeviceAtGate(msgspec.Struct, frozen=True, kw_only=True):
    device: Device
    gate_name: str | None
    event_id: UUID | None


def _at_gate(gate_name: str | None, event_id: UUID | None, **columns: object) -> DeviceAtGate:
    device = _device(**columns)  # pyright: ignore[reportArgumentType]
    return DeviceAtGate(device=device, gate_name=gate_name, event_id=event_id)


async def list_devices(
    tx: Transaction, event_id: UUID | None, with_revoked: bool, after: UUID | None, limit: int
) -> list[DeviceAtGate]:
    return await tx.rows(
        _at_gate,
        """
        SELECT device.id, device.name, device_type, gate_id, device.status, key_version,
               key_rotated_at, rotation_demanded_at, rotation_id, paired_at, paired_by_id, deleted_at,
               last_heartbeat, last_seen_at, battery_percent, queue_length, app_version,
               manifest_version, clock_offset_seconds, clock_measured_at, clock_periods, last_sync_at,
               device.version, device.created_at,
               device.updated_at, gate.name AS gate_name, gate.event_id
          FROM scan_device AS device
          LEFT JOIN gate ON gate.organization_id = device.organization_id AND gate.id = gate_id
         WHERE ($1::uuid IS NULL OR gate.event_id = $1)
           AND (deleted_at IS NULL OR $2)
           AND ($3::uuid IS NULL OR device.id > $3)
         ORDER BY device.id LIMIT $4
        """,
        event_id,
        with_revoked,
        after,
        limit,
    )


class PairingRow(msgspec.Struct, frozen=True, kw_only=True):
    token_hash: bytes
    gate_id: UUID
    event_id: UUID
    name: str
    device_type: str
    created_by_id: UUID
    replaces_device_id: UUID | None
    expires_at: datetime


async def insert_pairing(tx: Transaction, pairing: PairingRow) -> None:
    await tx.run(
        """
        INSERT INTO device_pairing (organization_id, token_hash, gate_id, name, device_type,
                                    created_by_id, replaces_device_id, created_at, expires_at)
        VALUES (current_organization(), $1, $2, $3, $4, $5, $6, $7, $8)
        """,
        pairing.token_hash,
        pairing.gate_id,
        pairing.name,
        pairing.device_type,
        pairing.created_by_id,
        pairing.replaces_device_id,
        tx.now,
        pairing.expires_at,
    )


class PairingOwner(msgspec.Struct, frozen=True):
    organization_id: UUID | None
    """None for a token that nobody can use."""


async def find_pairing_owner(database: Database, token_hash: bytes) -> UUID | None:
    """The organisation that a device with this token will belong to. The token is all that the
    device knows, so nobody can say yet whose rows to look at."""
    [owner] = await database.call(
        PairingOwner,
        "SELECT organization_of_pairing($1, $2) AS organization_id",
        token_hash,
        database.clock.now(),
    )
    return owner.organization_id


async def use_pairing(tx: Transaction, token_hash: bytes, device_id: UUID) -> PairingRow | None:
    """None where the token was used already, or at the same moment. The device is the one that the pairing
    names, else the one given."""
    return await tx.row(
        PairingRow,
        """
        UPDATE device_pairing AS pairing
           SET used_at = $3, device_id = coalesce(replaces_device_id, $2)
          FROM gate
         WHERE token_hash = $1 AND used_at IS NULL AND expires_at > $3
           AND gate.organization_id = pairing.organization_id AND gate.id = pairing.gate_id
        RETURNING token_hash, gate_id, gate.event_id, pairing.name, device_type, created_by_id,
                  replaces_device_id, expires_at
        """,
        token_hash,
        device_id,
        tx.now,
    )


async def delete_old_pairings(tx: Transaction, before: datetime) -> int:
    return await tx.run("DELETE FROM device_pairing WHERE expires_at < $1", before)
