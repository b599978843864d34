"""How far the server believes what a device says about its clock."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voelgoed.scanning.rules.device_clock import (
    ClockMeasurement,
    DeviceClock,
    canonical,
    clock_of,
    is_from_future,
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
