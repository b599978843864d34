"""How many people one device can let in within a time."""

from datetime import UTC, datetime, timedelta
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from voelgoed.scanning.rules.scan_rate import (
    BURST_FOR,
    BURST_MAX,
    STREAM_FOR,
    STREAM_MAX,
    impossible_rate,
)

NOON = datetime(2026, 6, 5, 12, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)


def every(milliseconds: int, count: int) -> list[datetime]:
    return [NOON + at * milliseconds * MILLISECOND for at in range(count)]


def test_no_entry_and_one_entry_are_possible():
    assert impossible_rate([]) is None
    assert impossible_rate([NOON]) is None


def test_a_hundred_entries_within_fifty_milliseconds_are_impossible():
    moments = [NOON + at * MILLISECOND / 2 for at in range(100)]
    found = impossible_rate(moments)
    assert found is not None
    assert (found.entries, found.since, found.until) == (100, moments[0], moments[-1])


def test_three_within_a_second_are_a_family_and_four_are_impossible():
    assert impossible_rate(every(300, 3)) is None
    found = impossible_rate(every(300, 4))
    assert found is not None
    assert found.entries == 4


def test_entries_a_second_apart_are_not_within_a_second():
    assert impossible_rate([NOON, NOON, NOON, NOON + BURST_FOR]) is None


def test_sixty_within_half_a_minute_are_the_maximum():
    assert impossible_rate(every(490, 60)) is None
    found = impossible_rate(every(490, 61))
    assert found is not None
    assert found.entries == 61


def test_one_a_second_for_hours_is_a_queue():
    assert impossible_rate(every(1_000, 10_000)) is None


@given(st.lists(st.integers(0, 60_000), max_size=80), st.randoms())
def test_the_order_does_not_matter_and_the_bounds_hold(at: list[int], luck: Random):
    moments = [NOON + each * MILLISECOND for each in at]
    found = impossible_rate(moments)
    luck.shuffle(moments)
    assert impossible_rate(moments) == found
    too_many = any(
        sum(each <= other < each + within for other in moments) > most
        for each in moments
        for most, within in ((BURST_MAX, BURST_FOR), (STREAM_MAX, STREAM_FOR))
    )
    assert (found is not None) == too_many
