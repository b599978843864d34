"""How far the server believes what a device says about its clock."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scanning.offline_builders import a_device
from voelgoed.scanning.model.devices import Device
from voelgoed.scanning.rules.device_clock import (
    PERIODS_MAX,
    ClockMeasurement,
    DeviceClock,
    canonical,
    clock_change,
    clock_of,
    is_contradicted,
    is_from_future,
    read_clock,
    tolerance_after,
)

NOW = datetime(2026, 11, 16, 20, tzinfo=UTC)
HOUR, SECOND = timedelta(hours=1), timedelta(seconds=1)


def measured(offset_s: float, ago: timedelta = timedelta()) -> ClockMeasurement:
    return ClockMeasurement(offset_s * SECOND, NOW - ago)


@pytest.mark.parametrize(
    ("hours", "claimed_s", "is_believed"),
    [
        (0, 60, True),
        (0, 61, False),
        (0, -7_200, False),
        (1, 61, True),
        (1, 62, False),
        (0.1, -7_200, False),
        (24, 84, True),
        (24, -85, False),
        (24 * 30, 780, True),
        (24 * 30, -7_200, False),
    ],
)
def test_a_claim_is_compared_with_the_last_measurement_however_old(
    hours: float, claimed_s: float, is_believed: bool
):
    clock = clock_of(claimed_s * SECOND, measured(0, hours * HOUR), NOW)
    assert clock.offset == (claimed_s * SECOND if is_believed else timedelta())
    assert clock.gap == (None if is_believed else claimed_s * SECOND)
    assert not clock.is_unmeasured


def test_a_claim_is_compared_with_the_measurement_and_not_with_zero():
    assert clock_of(3_590 * SECOND, measured(3_600), NOW).offset == 3_590 * SECOND
    assert clock_of(timedelta(), measured(3_600), NOW).gap == -HOUR


def test_without_a_claim_the_measurement_is_used():
    assert clock_of(None, measured(3_600, 9 * HOUR), NOW).offset == HOUR
    assert clock_of(None, None, NOW) == DeviceClock(offset=timedelta())


@pytest.mark.parametrize(
    ("claimed", "used", "is_unmeasured"),
    [
        (timedelta(), timedelta(), False),
        (60 * SECOND, 60 * SECOND, False),
        (61 * SECOND, 61 * SECOND, True),
        (-24 * HOUR, -24 * HOUR, True),
        (-24 * HOUR - SECOND, timedelta(), False),
    ],
)
def test_a_device_that_was_never_measured_is_believed_within_a_day(
    claimed: timedelta, used: timedelta, is_unmeasured: bool
):
    clock = clock_of(claimed, None, NOW)
    assert (clock.offset, clock.is_unmeasured) == (used, is_unmeasured)
    assert clock.gap == (None if claimed == used else claimed)


@given(
    st.floats(-100_000, 100_000), st.floats(-100_000, 100_000), st.integers(0, 10_000), st.data()
)
def test_no_claim_moves_a_scan_further_than_the_tolerance(
    claimed_s: float, offset_s: float, hours: int, data: st.DataObject
):
    clock = clock_of(claimed_s * SECOND, measured(offset_s, hours * HOUR), NOW)
    assert abs(clock.offset - offset_s * SECOND) <= tolerance_after(hours * HOUR)
    scanned_at = NOW - data.draw(st.integers(0, 1_000)) * SECOND
    assert abs(canonical(scanned_at, clock) - scanned_at - offset_s * SECOND) <= clock.tolerance


def test_the_tolerance_has_a_minimum_also_for_a_measurement_from_a_node_that_is_ahead():
    assert tolerance_after(-HOUR) == 60 * SECOND


def test_a_moment_is_from_the_future_where_no_clock_error_explains_it():
    assert not is_from_future(NOW + 60 * SECOND, 60 * SECOND, NOW)
    assert is_from_future(NOW + 61 * SECOND, 60 * SECOND, NOW)
    assert not is_from_future(NOW + 61 * SECOND, 84 * SECOND, NOW)


def a_measured_device(*measurements: tuple[timedelta, float]) -> Device:
    """Its clock was measured so long ago, one time after the other."""
    device = a_device(UUID(int=1))
    for ago, offset_s in measurements:
        found = ClockMeasurement(offset_s * SECOND, NOW - ago)
        change = clock_change(device, found)
        device = msgspec.structs.replace(
            device,
            clock_offset_seconds=offset_s,
            clock_measured_at=found.at,
            clock_periods=change.periods if change else device.clock_periods,
        )
    return device


def waits(device: Device, ago: timedelta, *, claimed_s: float, measured_s: float | None = None):
    """Whether a scan waits that by the claimed clock was made so long ago."""
    told = None if measured_s is None else measured_s * SECOND
    clock = read_clock(device, claimed_s * SECOND, told, NOW)
    return is_contradicted(NOW - ago, clock)


def test_a_clock_that_is_as_it_was_contradicts_nothing():
    device = a_measured_device((9 * HOUR, 0), (3 * HOUR, 5), (HOUR, -5))
    assert len(device.clock_periods) == 1
    assert not waits(device, 8 * HOUR, claimed_s=0)
    assert not waits(device, 10 * HOUR, claimed_s=0, measured_s=2)
    assert not waits(a_device(UUID(int=1)), HOUR, claimed_s=0, measured_s=7_200)


def test_what_a_clock_says_of_the_time_before_it_was_changed_waits():
    honest = a_measured_device((3 * HOUR, 0))
    assert waits(honest, HOUR, claimed_s=-7_200, measured_s=-7_200)
    poisoned = a_measured_device((3 * HOUR, 0), (HOUR, -7_200))
    assert waits(poisoned, 2 * HOUR, claimed_s=-7_200)
    assert not waits(poisoned, HOUR / 2, claimed_s=-7_200)


def test_what_was_read_by_the_clock_from_before_a_change_counts_where_it_is_from_before():
    device = a_measured_device((9 * HOUR, 0), (3 * HOUR, 600))
    assert not waits(device, 5 * HOUR, claimed_s=0, measured_s=0)
    assert waits(device, 2 * HOUR, claimed_s=0, measured_s=0)


def test_many_small_steps_are_a_jump():
    device = a_device(UUID(int=1))
    jumps = list[timedelta | None]()
    for step in range(10):
        found = ClockMeasurement(20 * step * SECOND, NOW + step * SECOND)
        change = clock_change(device, found)
        if change:
            jumps.append(change.jump)
            device = msgspec.structs.replace(device, clock_periods=change.periods)
    assert jumps == [None, 80 * SECOND, 80 * SECOND]


@given(st.lists(st.floats(-10_000, 10_000), max_size=60))
def test_the_first_and_the_newest_periods_of_a_clock_are_kept(offsets: list[float]):
    measured = [(timedelta(hours=-n), offset) for n, offset in enumerate(offsets)]
    periods = a_measured_device(*measured).clock_periods
    assert len(periods) <= PERIODS_MAX
    if offsets:
        assert periods[0].offset_s == pytest.approx(offsets[0], abs=0.001)
        assert periods[-1].offset_s == pytest.approx(offsets[-1], abs=60 + len(offsets))
    assert list(periods) == sorted(periods, key=lambda each: each.since)


def test_a_device_from_before_periods_were_kept_has_its_last_measurement():
    device = msgspec.structs.replace(
        a_device(UUID(int=1)), clock_offset_seconds=0.0, clock_measured_at=NOW - HOUR
    )
    assert waits(device, HOUR / 2, claimed_s=-7_200, measured_s=-7_200)
    assert not waits(device, HOUR / 2, claimed_s=0, measured_s=1)


def test_a_measurement_of_another_century_says_nothing():
    device = a_measured_device((HOUR, 0))
    assert clock_change(device, ClockMeasurement(timedelta(days=80_000), NOW)) is None
