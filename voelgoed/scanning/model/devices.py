"""The devices at the gates, how they become ours, and what they say of themselves."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from voelgoed.infra.shapes import DeviceRequest, Moment, Name, Request, Version

DeviceType = Literal["ipad", "phone", "desktop"]
DeviceStatus = Literal["active", "inactive"]
"""The status that somebody gave the device."""
ShownStatus = Literal["active", "inactive", "offline"]
"""`offline`: active, and silent for too long; `rules/devices.py` says for how long that is."""

PairingToken = Annotated[str, Meta(min_length=12, max_length=200, pattern=r"^[ -~]+$(?!\n)")]
Challenge = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$(?!\n)")]
AppVersion = Annotated[str, Meta(max_length=63, pattern=r"^[^\x00]*$")]
QueueLength = Annotated[int, Meta(ge=0, le=1_000_000)]
Percent = Annotated[int, Meta(ge=0, le=100)]
VERSION_MAX = 2**53
"""The largest integer that every client language represents exactly."""
ManifestVersion = Annotated[int, Meta(ge=0, le=VERSION_MAX)]


class ClockPeriod(msgspec.Struct, frozen=True, kw_only=True):
    """A time during which a device's clock was wrong by the same."""

    since: datetime
    """When that was measured first."""
    offset_s: float
    """The server's time minus the device's."""


class Device(msgspec.Struct, frozen=True, kw_only=True):
    """A device as it is kept. Its key is not kept: see rules/device_keys.py."""

    id: UUID
    name: str
    device_type: DeviceType
    gate_id: UUID | None
    status: DeviceStatus
    key_version: int
    key_rotated_at: datetime
    rotation_demanded_at: datetime | None
    """The moment at which somebody demanded a rotation that has not happened yet; None where nobody
    did."""
    rotation_id: UUID | None
    """The id with which the device asked for its present key; None where that key came by pairing."""
    paired_at: datetime
    paired_by_id: UUID
    deleted_at: datetime | None
    last_heartbeat: datetime | None
    last_seen_at: datetime | None
    """The moment of its last request of any kind, to within half a minute; None before the first."""
    battery_percent: int | None
    queue_length: int | None
    app_version: str | None
    manifest_version: int | None
    clock_offset_seconds: float | None
    clock_measured_at: datetime | None
    clock_periods: Sequence[ClockPeriod] = ()
    """What was measured of its clock since it was paired, from one jump to the next."""
    last_sync_at: datetime | None
    version: int
    created_at: datetime
    updated_at: datetime

    @property
    def is_revoked(self) -> bool:
        return self.deleted_at is not None

    @property
    def is_rotation_demanded(self) -> bool:
        return self.rotation_demanded_at is not None


class DeviceAssignment(msgspec.Struct, frozen=True, kw_only=True):
    """The time during which an active device was assigned to one gate."""

    device_id: UUID
    gate_id: UUID
    event_id: UUID
    from_at: datetime
    until_at: datetime | None
    """None while it is assigned there."""


class FleetDevice(msgspec.Struct, frozen=True, kw_only=True):
    """A device as those see it who look after all of them."""

    id: UUID
    name: str
    device_type: DeviceType
    status: ShownStatus
    gate_id: UUID | None
    gate_name: str | None
    event_id: UUID | None
    last_heartbeat: datetime | None
    last_seen_at: datetime
    """The moment of its last request: any request is a sign of life, its pairing the first."""
    silent_seconds: int
    """Since then."""
    battery_percent: int | None
    queue_length: int | None
    app_version: str | None
    manifest_version: int | None
    clock_offset_seconds: float | None
    """The server's time minus the device's, as measured."""
    last_sync_at: datetime | None
    paired_at: datetime
    key_rotated_at: datetime
    """Since when it has the key that it has."""
    rotation_demanded_at: datetime | None
    """Somebody wants it to change its key, and it has not yet: until then it can do nothing else."""
    is_revoked: bool
    version: int


class NewPairing(Request):
    """Pairs one device, within five minutes."""

    gate_id: UUID
    name: Name
    device_type: DeviceType = "phone"
    challenge: Challenge | None = None
    """What the device shows as its QR code: the SHA-256, in hex, of a token that it made and keeps to
    itself. Left out, a token is made here, for the device to scan or for somebody to type."""
    replaces_device_id: UUID | None = None
    """The device that is paired again: it keeps its id, and its present key is worthless from then on.
    Left out, no existing device can be taken over by this pairing."""


class Pairing(msgspec.Struct, frozen=True, kw_only=True):
    pairing_token: str | None
    """Told once; null where the device made its own."""
    gate_id: UUID
    name: str
    device_type: DeviceType
    replaces_device_id: UUID | None
    expires_at: datetime


class Pair(DeviceRequest):
    pairing_token: PairingToken
    device_id: UUID | None = None
    """Of a device that was ours before, or that chose its own. One that exists is taken over only by a
    pairing that names it; where the pairing names a device, this one may be left out."""
    device_type: DeviceType | None = None
    app_version: AppVersion | None = None


class Paired(msgspec.Struct, frozen=True, kw_only=True):
    device_id: UUID
    api_key: str
    """Told once."""
    organization_id: UUID
    organization_name: str
    name: str
    gate_id: UUID
    event_id: UUID


class KeyRotation(DeviceRequest):
    rotation_id: UUID
    """Random, made for this rotation and told nobody else. Whoever hears no answer sends the same one
    again: it leads to the key that was given, for five minutes. Another one does not."""


class NewKey(msgspec.Struct, frozen=True, kw_only=True):
    device_id: UUID
    api_key: str
    key_version: int


class DeviceChange(Request):
    version: Version
    name: Name | UnsetType = UNSET
    device_type: DeviceType | UnsetType = UNSET
    gate_id: UUID | None | UnsetType = UNSET
    status: DeviceStatus | UnsetType = UNSET


class Heartbeat(DeviceRequest):
    device_time: Moment
    battery_percent: Percent | None = None
    queue_length: QueueLength | None = None
    app_version: AppVersion | None = None
    manifest_version: ManifestVersion | None = None


class Station(msgspec.Struct, frozen=True, kw_only=True):
    """The station of a device, as the device itself receives it."""

    device_id: UUID
    name: str
    organization_id: UUID
    gate_id: UUID | None
    gate_name: str | None
    gate_status: str | None
    event_id: UUID | None
    event_name: str | None
    event_status: str | None
    gate_inside: int | None
    """The number of people who came in there today and have not left."""
    event_inside: int | None
    """The same, by whatever gate."""
    event_capacity: int | None
    manifest_version: int | None
    """Of that event, as far as is known: whoever has another one asks for what changed. Null where
    nobody has asked for one yet."""
    server_time: datetime
    offset_seconds: float | None
    """The offset that is to be added to the device's clock; null where it did not send its time."""
