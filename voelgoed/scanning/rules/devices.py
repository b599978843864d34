"""How a device is shown to those who look after it."""

from datetime import datetime, timedelta
from uuid import UUID

from voelgoed.scanning.model.devices import Device, FleetDevice, ShownStatus

SILENT_MAX = timedelta(minutes=5)
"""Who is silent for longer is offline."""
PAIRING_TTL = timedelta(minutes=5)
ROTATION_GRACE = timedelta(minutes=5)
"""For so long a device may ask again for the new key that it did not get."""


def shown_status(device: Device, now: datetime) -> ShownStatus:
    if device.status != "active" or device.deleted_at is not None:
        return "inactive"
    heard = device.last_heartbeat
    return "active" if heard is not None and now - heard <= SILENT_MAX else "offline"


def fleet_device(
    device: Device, gate_name: str | None, event_id: UUID | None, now: datetime
) -> FleetDevice:
    heard = device.last_heartbeat
    return FleetDevice(
        id=device.id,
        name=device.name,
        device_type=device.device_type,
        status=shown_status(device, now),
        gate_id=device.gate_id,
        gate_name=gate_name,
        event_id=event_id,
        last_heartbeat=heard,
        silent_seconds=None if heard is None else max(0, int((now - heard).total_seconds())),
        battery_percent=device.battery_percent,
        queue_length=device.queue_length,
        app_version=device.app_version,
        manifest_version=device.manifest_version,
        clock_offset_seconds=device.clock_offset_seconds,
        last_sync_at=device.last_sync_at,
        paired_at=device.paired_at,
        is_revoked=device.deleted_at is not None,
        version=device.version,
    )
