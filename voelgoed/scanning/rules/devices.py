"""Whether a device may scan or be taken over, which key it gets next, and when it counts as silent."""

from datetime import datetime, timedelta
from uuid import UUID

import msgspec

from voelgoed.scanning.model.devices import Device, FleetDevice, ShownStatus
from voelgoed.scanning.model.refusals import (
    ROTATION_DEMANDED,
    DeviceAlreadyPaired,
    DeviceInactive,
    PairingForAnotherDevice,
)
from voelgoed.scanning.model.stations import ScanningDevice

SILENT_MAX = timedelta(minutes=5)
"""A device that is silent for longer is offline: to the API, to the apps and to the operators."""
PAIRING_TTL = timedelta(minutes=5)
ROTATION_GRACE = timedelta(minutes=5)
"""The time in which a device may ask again for a new key that it did not receive."""


def rotated(device: Device, key_version: int, rotation_id: UUID, now: datetime) -> Device | None:
    """With the key that the caller may have next: another, or the one that was given under this id, which
    perhaps never arrived, and is given again to the old key and to itself. None: neither. Who copied the old
    key does not know the id, so of all who have it one gets the next, and the others find that they do not."""
    is_repeated = (
        device.rotation_id == rotation_id and now - device.key_rotated_at <= ROTATION_GRACE
    )
    if is_repeated and device.key_version in (key_version, key_version + 1):
        return device
    if device.key_version != key_version:
        return None
    # Its `updated_at` stays: since then its errors are counted, and it may not forget them itself.
    return msgspec.structs.replace(
        device,
        key_version=key_version + 1,
        key_rotated_at=now,
        rotation_demanded_at=None,
        rotation_id=rotation_id,
        version=device.version + 1,
    )


def refusal_to_scan(device: Device | ScanningDevice, key_version: int) -> DeviceInactive | None:
    """Why the device may not scan, or bring scans, with this version of its key; None where it may.
    Online scans, deliveries and everything else that a device asks for are decided here."""
    if device.is_revoked:
        return DeviceInactive(status="revoked")
    if device.status != "active":
        return DeviceInactive(status=device.status)
    if device.key_version != key_version:
        return DeviceInactive(status="key_rotated")
    if device.is_rotation_demanded:
        return DeviceInactive(
            "This device must change its key: ask for the next one, and then again.",
            status=ROTATION_DEMANDED,
        )
    return None


def refusal_to_pair(
    asked_id: UUID | None, is_known: bool, replaces_id: UUID | None
) -> DeviceAlreadyPaired | PairingForAnotherDevice | None:
    """Why a device that says to be `asked_id` may not use a pairing; None where it may. `is_known`: the
    organisation has such a device, revoked or not. Only the pairing that names a device takes it over,
    and it does nothing else."""
    if replaces_id is not None:
        is_meant = asked_id in (None, replaces_id)
        return None if is_meant else PairingForAnotherDevice()
    return DeviceAlreadyPaired() if is_known else None


def last_heard(device: Device) -> datetime:
    """The last sign of life: a heartbeat, any other request, or its pairing."""
    moments = (device.paired_at, device.last_heartbeat, device.last_seen_at)
    return max(moment for moment in moments if moment is not None)


def silence(device: Device, now: datetime) -> timedelta:
    return max(now - last_heard(device), timedelta())


def shown_status(device: Device, now: datetime) -> ShownStatus:
    """The one rule for when a device is offline."""
    if device.status != "active" or device.is_revoked:
        return "inactive"
    return "active" if silence(device, now) <= SILENT_MAX else "offline"


def fleet_device(
    device: Device, gate_name: str | None, event_id: UUID | None, now: datetime
) -> FleetDevice:
    return FleetDevice(
        id=device.id,
        name=device.name,
        device_type=device.device_type,
        status=shown_status(device, now),
        gate_id=device.gate_id,
        gate_name=gate_name,
        event_id=event_id,
        last_heartbeat=device.last_heartbeat,
        last_seen_at=last_heard(device),
        silent_seconds=int(silence(device, now).total_seconds()),
        battery_percent=device.battery_percent,
        queue_length=device.queue_length,
        app_version=device.app_version,
        manifest_version=device.manifest_version,
        clock_offset_seconds=device.clock_offset_seconds,
        last_sync_at=device.last_sync_at,
        paired_at=device.paired_at,
        key_rotated_at=device.key_rotated_at,
        rotation_demanded_at=device.rotation_demanded_at,
        is_revoked=device.is_revoked,
        version=device.version,
    )
