"""Which day it is at an event, in every timezone and through every change of the clocks."""

from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from voelgoed.events.model import DAYS_MAX, EventDay
from voelgoed.events.rules.days import DAY_BREAK, day_at, days_between

JOHANNESBURG = ZoneInfo("Africa/Johannesburg")
BERLIN = ZoneInfo("Europe/Berlin")
APIA = ZoneInfo("Pacific/Apia")
LORD_HOWE = ZoneInfo("Australia/Lord_Howe")

timezones = st.sampled_from(sorted(available_timezones())).map(ZoneInfo)
moments = st.datetimes(datetime(2000, 1, 1), datetime(2038, 1, 1), timezones=st.just(UTC))
lengths = st.timedeltas(timedelta(microseconds=1), timedelta(days=10))


def at(timezone: ZoneInfo, *moment: int) -> datetime:
    return datetime(*moment, tzinfo=timezone)  # type: ignore[arg-type]


# Berlin's clocks skip an hour, then repeat one; Lord Howe's move by half an hour; Apia
# skipped the whole 30th of December 2011.
@given(timezones, moments, lengths)
@example(BERLIN, datetime(2030, 3, 29, 12, tzinfo=UTC), timedelta(days=4))
@example(BERLIN, datetime(2030, 10, 25, 12, tzinfo=UTC), timedelta(days=4))
@example(BERLIN, datetime(2030, 10, 27, 0, 30, tzinfo=UTC), timedelta(hours=1))
@example(LORD_HOWE, datetime(2030, 4, 5, 12, tzinfo=UTC), timedelta(days=4))
@example(APIA, datetime(2011, 12, 28, 12, tzinfo=UTC), timedelta(days=5))
def test_days_cover_the_event_exactly_one_after_the_other(
    timezone: ZoneInfo, starts_at: datetime, length: timedelta
) -> None:
    days = days_between(starts_at, starts_at + length, timezone)
    assert days[0].starts_at == starts_at
    assert days[-1].ends_at == starts_at + length
    assert all(day.starts_at < day.ends_at for day in days)
    for before, after in pairwise(days):
        assert before.ends_at == after.starts_at
        assert before.date < after.date


@given(timezones, moments, lengths)
def test_every_moment_of_an_event_is_in_exactly_one_of_its_days(
    timezone: ZoneInfo, starts_at: datetime, length: timedelta
) -> None:
    days = days_between(starts_at, starts_at + length, timezone)
    for day in days:
        middle = day.starts_at + (day.ends_at - day.starts_at) / 2
        assert day_at(days, day.starts_at) == day_at(days, middle) == day.date
    assert day_at(days, starts_at + length) is None
    assert day_at(days, starts_at - timedelta(microseconds=1)) is None


@given(timezones, moments)
def test_a_day_bears_the_date_of_the_morning_before_it(
    timezone: ZoneInfo, starts_at: datetime
) -> None:
    [day, *_] = days_between(starts_at, starts_at + timedelta(minutes=1), timezone)
    there = starts_at.astimezone(timezone)
    is_night = there.time() < DAY_BREAK
    assert day.date == there.date() - timedelta(days=is_night)


def test_an_evening_past_midnight_is_one_day() -> None:
    starts_at, ends_at = at(JOHANNESBURG, 2030, 6, 1, 20), at(JOHANNESBURG, 2030, 6, 2, 2)
    assert days_between(starts_at, ends_at, JOHANNESBURG) == [
        EventDay(date(2030, 6, 1), starts_at, ends_at)
    ]


@given(
    timezones,
    st.dates(date(2012, 1, 2), date(2037, 12, 1)),
    st.times(time(7), time(23)),
    st.times(time(0), time(5, 59)),
)
def test_whatever_ends_before_the_next_morning_is_one_day(
    timezone: ZoneInfo, day: date, begins: time, ends: time
) -> None:
    starts_at = datetime.combine(day, begins, timezone).astimezone(UTC)
    ends_at = datetime.combine(day + timedelta(days=1), ends, timezone).astimezone(UTC)
    [only] = days_between(starts_at, ends_at, timezone)
    assert only.date == day


def test_a_festival_is_cut_at_six_every_morning() -> None:
    starts_at, ends_at = at(JOHANNESBURG, 2030, 6, 1, 14), at(JOHANNESBURG, 2030, 6, 4, 1)
    first, second, third = days_between(starts_at, ends_at, JOHANNESBURG)
    assert [day.date for day in (first, second, third)] == [
        date(2030, 6, 1),
        date(2030, 6, 2),
        date(2030, 6, 3),
    ]
    assert first.ends_at == at(JOHANNESBURG, 2030, 6, 2, 6)
    assert second.ends_at == at(JOHANNESBURG, 2030, 6, 3, 6)
    assert third.ends_at == ends_at


def test_the_venue_decides_which_day_it_is() -> None:
    starts_at, ends_at = datetime(2030, 6, 1, 20, tzinfo=UTC), datetime(2030, 6, 1, 23, tzinfo=UTC)
    [here] = days_between(starts_at, ends_at, JOHANNESBURG)
    [there, *_] = days_between(starts_at, ends_at, ZoneInfo("Pacific/Auckland"))
    assert (here.date, there.date) == (date(2030, 6, 1), date(2030, 6, 2))


@pytest.mark.parametrize(
    ("date_of_change", "hours"), [(date(2030, 3, 31), 23), (date(2030, 10, 27), 25)]
)
def test_a_day_is_shorter_or_longer_where_the_clocks_change(
    date_of_change: date, hours: int
) -> None:
    evening = datetime.combine(date_of_change - timedelta(days=2), time(20), BERLIN)
    days = days_between(evening, evening + timedelta(days=4), BERLIN)
    # The clocks change in the night, which belongs to the day before.
    night = next(day for day in days if day.date == date_of_change - timedelta(days=1))
    assert night.ends_at.astimezone(UTC) - night.starts_at.astimezone(UTC) == timedelta(hours=hours)


def test_a_date_that_a_timezone_skipped_is_no_day() -> None:
    days = days_between(at(APIA, 2011, 12, 29, 12), at(APIA, 2011, 12, 31, 12), APIA)
    assert [day.date for day in days] == [date(2011, 12, 29), date(2011, 12, 31)]


def test_starting_exactly_at_the_day_break_is_a_new_day() -> None:
    morning = at(JOHANNESBURG, 2030, 6, 2, 6)
    tick = timedelta(microseconds=1)
    [day] = days_between(morning, morning + tick, JOHANNESBURG)
    [night] = days_between(morning - tick, morning, JOHANNESBURG)
    assert (night.date, day.date) == (date(2030, 6, 1), date(2030, 6, 2))


def test_an_event_without_end_has_a_bounded_number_of_days() -> None:
    starts_at = at(JOHANNESBURG, 2030, 6, 1, 12)
    endless = days_between(starts_at, starts_at + timedelta(days=10_000), JOHANNESBURG)
    assert len(endless) == DAYS_MAX + 1  # enough to know that there are too many


def test_an_event_that_ends_before_it_starts_has_no_days() -> None:
    starts_at = at(JOHANNESBURG, 2030, 6, 1, 12)
    assert days_between(starts_at, starts_at, JOHANNESBURG) == []
    assert days_between(starts_at, starts_at - timedelta(hours=1), JOHANNESBURG) == []


def test_between_two_days_it_is_no_day() -> None:
    hour = timedelta(hours=1)
    noon, next_noon = at(JOHANNESBURG, 2030, 6, 1, 12), at(JOHANNESBURG, 2030, 6, 2, 12)
    days = [
        EventDay(date(2030, 6, 1), noon, noon + hour),
        EventDay(date(2030, 6, 2), next_noon, next_noon + hour),
    ]
    assert day_at(days, noon) == date(2030, 6, 1)
    assert day_at(days, noon + hour) is None
    assert day_at(days, next_noon - hour) is None
    assert day_at(days, next_noon) == date(2030, 6, 2)
    assert day_at([], noon) is None
