"""The error of a device's clock, and how far the device's own claim about it is believed.

A device reads its moments from its own clock, and with signed scans it claims the error of that clock.
The claim is compared with the server's measurement: with the same delivery, or else the last one before,
however long ago that was. Clocks drift, so an old measurement allows for more.
"""

from datetime import datetime, timedelta

import msgspec

from voelgoed.scanning.model.devices import Device
from voelgoed.scanning.model.sync import OFFSET_S_MAX

TOLERANCE_MIN = timedelta(seconds=60)
"""The documents allow for a clock that is wrong by so much."""
DRIFT_PER_HOUR = timedelta(seconds=1)
"""The growth of the tolerance since the last measurement."""
UNMEASURED_MAX = timedelta(hours=24)
"""The largest offset that a device may claim of a clock that was never measured."""
NO_OFFSET = timedelta()


class ClockMeasurement(msgspec.Struct, frozen=True):
    """A measurement of a device's clock by the server."""

    offset: timedelta
    """The server's time minus the device's."""
    at: datetime


class DeviceClock(msgspec.Struct, frozen=True, kw_only=True):
    """The correction of the moments that a device sends."""

    offset: timedelta
    """The server's time minus the device's."""
    gap: timedelta | None = None
    """The claim minus what is used instead; None where the claim is believed."""
    tolerance: timedelta = TOLERANCE_MIN
    """The error that the device's corrected moments may still have."""
    is_unmeasured: bool = False
    """The device is believed though it claims more than the tolerance and nobody ever measured it."""


def last_measurement(device: Device) -> ClockMeasurement | None:
    """The measurement at the last heartbeat, manifest request or delivery. None where there is
    none."""
    at, offset_s = device.clock_measured_at, device.clock_offset_seconds
    if at is None or offset_s is None or abs(offset_s) > OFFSET_S_MAX:
        return None
    return ClockMeasurement(timedelta(seconds=offset_s), at)


def tolerance_after(age: timedelta) -> timedelta:
    """The possible error of a clock after a measurement of that age."""
    return TOLERANCE_MIN + DRIFT_PER_HOUR * (max(age, timedelta()) / timedelta(hours=1))


def clock_of(
    claimed: timedelta | None, measured: ClockMeasurement | None, now: datetime
) -> DeviceClock:
    """The clock by which a delivery is read. `measured` is the last measurement, that of the delivery
    itself where the device told its time with it. A claim within the tolerance is better than the
    measurement, which has the way of the request in it."""
    if measured is None:
        return _unmeasured(claimed)
    tolerance = tolerance_after(now - measured.at)
    if claimed is None:
        return DeviceClock(offset=measured.offset, tolerance=tolerance)
    gap = claimed - measured.offset
    if abs(gap) > tolerance:
        return DeviceClock(offset=measured.offset, gap=gap, tolerance=tolerance)
    return DeviceClock(offset=claimed, tolerance=tolerance)


def _unmeasured(claimed: timedelta | None) -> DeviceClock:
    """Without a measurement a device is believed within a day, and an alert is raised."""
    if claimed is None:
        return DeviceClock(offset=NO_OFFSET)
    if abs(claimed) > UNMEASURED_MAX:
        return DeviceClock(offset=NO_OFFSET, gap=claimed)
    return DeviceClock(offset=claimed, is_unmeasured=abs(claimed) > TOLERANCE_MIN)


def canonical(scanned_at: datetime, clock: DeviceClock) -> datetime:
    """The moment of a scan by the server's clock. It follows from the scan and the clock alone, not from
    when the scan arrives."""
    return scanned_at + clock.offset


def is_from_future(at: datetime, tolerance: timedelta, received_at: datetime) -> bool:
    """Whether a moment by the server's clock is later than the arrival, by more than clocks err."""
    return at > received_at + tolerance
