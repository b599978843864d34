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
    """For so long after an entry the same ticket is a duplicate."""
    travel_s: Seconds = TRAVEL_S
    """Nobody gets from one gate to another in less."""
    duplicates_per_hour_max: Duplicates = DUPLICATES_PER_HOUR_MAX
    """Of one ticket."""
    gate_scans_per_minute_max: ScansPerMinute = GATE_SCANS_PER_MINUTE_MAX
    device_error_rate_max: Rate = DEVICE_ERROR_RATE_MAX
    """Of a device's scans in ten minutes, if they are at least twenty: how many are errors of the device,
    not of whoever holds the ticket: codes that nobody has or nobody can read, forged barcodes, a clock
    that is off, ids used twice."""
    blocks_devices: bool = False
    """Whether a device that errs more often may scan no more until somebody activates it again."""
    version: int = 1
    updated_at: datetime | None = None
    """None: nobody changed it."""


class NewScanPolicy(Request):
    """In place of the present one; what is left out is as usual."""

    version: Version
    dedup_window_s: Seconds = DEDUP_WINDOW_S
    travel_s: Seconds = TRAVEL_S
    duplicates_per_hour_max: Duplicates = DUPLICATES_PER_HOUR_MAX
    gate_scans_per_minute_max: ScansPerMinute = GATE_SCANS_PER_MINUTE_MAX
    device_error_rate_max: Rate = DEVICE_ERROR_RATE_MAX
    blocks_devices: bool = False
