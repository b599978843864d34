"""By how much a device's clock is wrong, and what of that the device itself is believed.

A device tells its moments by its own clock, and with signed scans it claims by how much that clock is
wrong. The claim is compared with what the server measured: with the same delivery, or else the last time
before, however long ago that was. Clocks drift, so an old measurement allows for more.
"""

from datetime import datetime, timedelta

import msgspec

from voelgoed.scanning.model.devices import Device
from voelgoed.scanning.model.sync import OFFSET_S_MAX

TOLERANCE_MIN = timedelta(seconds=60)
"""The documents allow for a clock that is wrong by so much."""
DRIFT_PER_HOUR = timedelta(seconds=1)
"""By which the tolerance grows since the last measurement."""
UNMEASURED_MAX = timedelta(hours=24)
"""What a device may claim of a clock that was never measured."""
NO_OFFSET = timedelta()


class ClockMeasurement(msgspec.Struct, frozen=True):
    """What the server measured of a device's clock."""

    offset: timedelta
    """The server's time minus the device's."""
    at: datetime


class DeviceClock(msgspec.Struct, frozen=True, kw_only=True):
    """How the moments that a device sends are read."""

    offset: timedelta
    """The server's time minus the device's."""
    gap: timedelta | None = None
    """The claim minus what is used instead; None where the claim is believed."""
    tolerance: timedelta = TOLERANCE_MIN
    """How far the device's moments may be wrong all the same."""
    is_unmeasured: bool = False
    """The device is believed though it claims more than the tolerance and nobody ever measured it."""


def last_measurement(device: Device) -> ClockMeasurement | None:
    """What was measured with its last heartbeat, manifest or delivery. None where that says nothing."""
    at, offset_s = device.clock_measured_at, device.clock_offset_seconds
    if at is None or offset_s is None or abs(offset_s) > OFFSET_S_MAX:
        return None
    return ClockMeasurement(timedelta(seconds=offset_s), at)


def tolerance_after(age: timedelta) -> timedelta:
    """How far a clock may be from a measurement of that age."""
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
    """Nobody can contradict the device: it is believed within a day, and somebody hears of it."""
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
