"""The device that scans, and the gate where it does, as they are at this moment."""

from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.events.model import EventStatus, GateStatus
from voelgoed.scanning.model.devices import DeviceStatus


class ScanningDevice(msgspec.Struct, frozen=True, kw_only=True):
    id: UUID
    name: str
    status: DeviceStatus
    key_version: int
    is_revoked: bool
    is_rotation_demanded: bool
    gate_id: UUID | None


class ScanningGate(msgspec.Struct, frozen=True, kw_only=True):
    """A gate, with what a decision needs to know of its event."""

    id: UUID
    name: str
    status: GateStatus
    allowed_zones: list[UUID] | None
    capacity: int | None
    hard_capacity_limit: int | None
    event_id: UUID
    event_status: EventStatus
    event_ends_at: datetime
    event_capacity: int
    event_version: int
    layout_id: UUID | None
    lineage_id: UUID | None
    dedup_window_s: int | None
    """None where the event has the default window."""
    travel_s: int | None
