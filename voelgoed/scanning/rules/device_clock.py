"""The error of a device's clock, and how far the device's own claim about it is believed.

A device reads its moments from its own clock, and with signed scans it claims the error of that clock.
The claim is compared with the server's measurement: with the same delivery, or else the last one before,
however long ago that was. Clocks drift, so an old measurement allows for more.

A measurement is no more than what the device says of its clock at that moment. One that contradicts those
before it is believed from then on, somebody hears of it, and what the device scanned before it by such a clock
waits for review: nobody can know when the clock was changed, or whether it was.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise

import msgspec

from voelgoed.scanning.model.devices import ClockPeriod, Device
from voelgoed.scanning.model.sync import OFFSET_S_MAX

TOLERANCE_MIN = timedelta(seconds=60)
"""The documents allow for a clock that is wrong by so much."""
DRIFT_PER_HOUR = timedelta(seconds=1)
"""The growth of the tolerance since the last measurement."""
UNMEASURED_MAX = timedelta(hours=24)
"""The largest offset that a device may claim of a clock that was never measured."""
NO_OFFSET = timedelta()
PERIODS_MAX = 20
"""How many periods of a device's clock are kept: the first, and the newest."""


class ClockMeasurement(msgspec.Struct, frozen=True):
    """A measurement of a device's clock by the server."""

    offset: timedelta
    """The server's time minus the device's."""
    at: datetime


class ClockChange(msgspec.Struct, frozen=True):
    """What a measurement adds to what was known of a device's clock."""

    periods: Sequence[ClockPeriod]
    """All of them, the new one last."""
    jump: timedelta | None
    """By how much the clock was changed; None where nothing was known of it before."""


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
    periods: Sequence[ClockPeriod] = ()
    """What was measured of it until now. The offset is that of the last one."""
    change: ClockChange | None = None
    """What the delivery itself adds to that; None where it adds nothing."""


def last_measurement(device: Device) -> ClockMeasurement | None:
    """The measurement at the last heartbeat, manifest request or delivery. None where there is
    none."""
    at, offset_s = device.clock_measured_at, device.clock_offset_seconds
    if at is None or offset_s is None or abs(offset_s) > OFFSET_S_MAX:
        return None
    return ClockMeasurement(timedelta(seconds=offset_s), at)


def clock_change(device: Device, measured: ClockMeasurement) -> ClockChange | None:
    """None where the clock is as it was. It is compared with the measurement with which its period began, and
    not with the last one: else many small steps would lead anywhere."""
    if abs(measured.offset.total_seconds()) > OFFSET_S_MAX:
        return None
    new = ClockPeriod(since=measured.at, offset_s=measured.offset.total_seconds())
    periods = periods_of(device)
    if not periods:
        return ClockChange((new,), None)
    jump = measured.offset - _offset(periods[-1])
    if abs(jump) <= tolerance_after(measured.at - periods[-1].since):
        return None if device.clock_periods else ClockChange(periods, None)
    kept = periods if len(periods) < PERIODS_MAX else (periods[0], *periods[2:])
    return ClockChange((*kept, new), jump)


def jump_details(change: ClockChange | None) -> dict[str, object] | None:
    """What an alert says of it; None where the clock did not jump."""
    if change is None or change.jump is None:
        return None
    return {
        "diff_seconds": round(change.jump.total_seconds()),
        "offset_seconds": round(change.periods[-1].offset_s),
    }


def periods_of(device: Device) -> Sequence[ClockPeriod]:
    """What was measured of its clock; of a device from before periods were kept, the last measurement."""
    last = last_measurement(device)
    if device.clock_periods or last is None:
        return device.clock_periods
    return (ClockPeriod(since=last.at, offset_s=last.offset.total_seconds()),)


def _offset(period: ClockPeriod) -> timedelta:
    return timedelta(seconds=period.offset_s)


def tolerance_after(age: timedelta) -> timedelta:
    """The possible error of a clock after a measurement of that age."""
    return TOLERANCE_MIN + DRIFT_PER_HOUR * (max(age, timedelta()) / timedelta(hours=1))


def read_clock(
    device: Device, claimed: timedelta | None, measured: timedelta | None, now: datetime
) -> DeviceClock:
    """The clock by which a delivery is read. `measured` is what the delivery itself tells of it."""
    if measured is None:
        last = last_measurement(device)
        return msgspec.structs.replace(clock_of(claimed, last, now), periods=periods_of(device))
    measurement = ClockMeasurement(measured, now)
    change = clock_change(device, measurement)
    return msgspec.structs.replace(
        clock_of(claimed, measurement, now),
        periods=change.periods if change else periods_of(device),
        change=change,
    )


def clock_of(
    claimed: timedelta | None, measured: ClockMeasurement | None, now: datetime
) -> DeviceClock:
    """What is believed of a claim. `measured` is the last measurement, that of the delivery
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


def is_contradicted(at: datetime, clock: DeviceClock) -> bool:
    """Whether the clock was another at that moment, as far as it was measured. Until a change is measured the
    clock counts as unchanged."""
    if len(clock.periods) < 2 or at >= clock.periods[-1].since - clock.tolerance:
        return False
    last = clock.periods[-1]
    for number, (period, next_one) in enumerate(pairwise(clock.periods)):
        begins = number == 0 or at >= period.since - clock.tolerance
        is_then = begins and at < next_one.since + clock.tolerance
        difference = abs(_offset(period) - _offset(last))
        if is_then and difference <= tolerance_after(last.since - period.since):
            return False
    return True


def is_from_future(at: datetime, tolerance: timedelta, received_at: datetime) -> bool:
    """Whether a moment by the server's clock is later than the arrival, by more than clocks err."""
    return at > received_at + tolerance
