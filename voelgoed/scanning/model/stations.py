"""The device that scans, and the gate where it does, as they are at this moment."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.events.model import EventDay, EventStatus, GateStatus
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
    layout_id: UUID | None
    lineage_id: UUID | None
    dedup_window_s: int | None
    """None where the event has the default window."""
    travel_s: int | None


class WantedStations(msgspec.Struct, frozen=True):
    """The ids of the stations that a decision needs."""

    device_ids: frozenset[UUID] = frozenset()
    gate_ids: frozenset[UUID] = frozenset()
    """Besides the gates where these devices are."""
    event_ids: frozenset[UUID] = frozenset()
    """Events whose keys are needed, besides those of these gates."""


class Stations(msgspec.Struct, frozen=True, kw_only=True):
    """Facts that scans need and that seldom change: devices, gates, and their events."""

    version: UUID | None
    """Another as soon as anything of this changes; None where nothing ever did."""
    devices: Mapping[UUID, ScanningDevice]
    gates: Mapping[UUID, ScanningGate]
    """The gates where the devices are, and those that were asked for."""
    days: Mapping[UUID, Sequence[EventDay]]
    """The days of the events of these gates, in their order."""
    limited_gates: Mapping[UUID, UUID]
    """All gates with a hard limit at the events of these gates, with their events."""
    resets: Mapping[UUID, datetime]
    """The moment at which somebody last declared the venue empty, by event."""
    event_keys: Mapping[UUID, Mapping[int, bytes]]
    """The public keys of the events of these gates, and of those that were asked for, by number."""
