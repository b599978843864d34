"""How one event is scanned: its duplicate window, and from when on something is suspicious."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta

from voelgoed.infra.shapes import Request, Version

Seconds = Annotated[int, Meta(ge=0, le=86_400)]
Duplicates = Annotated[int, Meta(ge=1, le=1_000)]
ScansPerMinute = Annotated[int, Meta(ge=1, le=10_000)]
Rate = Annotated[float, Meta(ge=0, le=1)]

DEDUP_WINDOW_S = 300
TRAVEL_S = 300
DUPLICATES_PER_HOUR_MAX = 5
GATE_SCANS_PER_MINUTE_MAX = 60
DEVICE_ERROR_RATE_MAX = 0.1


class ScanPolicy(msgspec.Struct, frozen=True, kw_only=True):
    event_id: UUID
    dedup_window_s: Seconds = DEDUP_WINDOW_S
    """The duplicate window: after an entry the same ticket is a duplicate for so long."""
    travel_s: Seconds = TRAVEL_S
    """The least time in which a person can get from one gate to another."""
    duplicates_per_hour_max: Duplicates = DUPLICATES_PER_HOUR_MAX
    """The duplicates of one ticket in an hour that raise no alert."""
    gate_scans_per_minute_max: ScansPerMinute = GATE_SCANS_PER_MINUTE_MAX
    device_error_rate_max: Rate = DEVICE_ERROR_RATE_MAX
    """The share of errors among a device's scans in ten minutes, if there are at least twenty.
    Errors are those of the device, not of the ticket's holder: unknown or unreadable codes, forged
    barcodes, a clock that is off, ids used twice."""
    blocks_devices: bool = False
    """Whether a device that errs more often may scan no more until somebody activates it again."""
    version: int = 1
    updated_at: datetime | None = None
    """None while nobody has changed it."""


class NewScanPolicy(Request):
    """Replaces the present policy; a field that is left out gets its default."""

    version: Version
    dedup_window_s: Seconds = DEDUP_WINDOW_S
    travel_s: Seconds = TRAVEL_S
    duplicates_per_hour_max: Duplicates = DUPLICATES_PER_HOUR_MAX
    gate_scans_per_minute_max: ScansPerMinute = GATE_SCANS_PER_MINUTE_MAX
    device_error_rate_max: Rate = DEVICE_ERROR_RATE_MAX
    blocks_devices: bool = False
