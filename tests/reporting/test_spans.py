"""Spans and buckets, without a database."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ticketing.support import DAYS, an_event_on
from voelgoed.reporting.model.about import BUCKETS_MAX
from voelgoed.reporting.rules.spans import buckets_refusal, full_hour, limit_refusal, span_refusal

NOON = datetime(2030, 6, 1, 12, tzinfo=UTC)
EVENING = an_event_on(*DAYS).days
"""Three evenings of five hours."""


def code(refusal: object) -> str | None:
    return getattr(refusal, "code", None)


def test_a_span_begins_before_it_ends() -> None:
    assert span_refusal(NOON, NOON + timedelta(seconds=1)) is None
    assert code(span_refusal(NOON, NOON)) == "empty_span"
    assert code(span_refusal(NOON, NOON - timedelta(days=1))) == "empty_span"


def test_a_span_may_be_open_at_either_end() -> None:
    assert span_refusal(None, None) is span_refusal(NOON, None) is span_refusal(None, NOON) is None


def test_a_moment_without_an_offset_is_no_moment() -> None:
    assert code(span_refusal(NOON.replace(tzinfo=None), NOON)) == "invalid_request"


@pytest.mark.parametrize("year", [1, 1899, 9999])
def test_a_moment_far_away_is_out_of_range(year: int) -> None:
    far = datetime(year, 6, 1, tzinfo=UTC)
    assert code(span_refusal(far, None)) == code(span_refusal(None, far)) == "invalid_request"


def test_as_many_buckets_as_the_days_within_the_span_have_minutes() -> None:
    assert buckets_refusal(EVENING, None, None, 1) is None
    year = [
        day for number in range(60) for day in an_event_on(DAYS[0] + timedelta(days=number)).days
    ]
    refusal = buckets_refusal(year, None, None, 1)
    assert refusal is not None
    assert refusal.details == {"buckets": 60 * 5 * 60, "buckets_max": BUCKETS_MAX}
    assert buckets_refusal(year, None, None, 5) is None
    assert buckets_refusal(year, None, year[30].starts_at, 1) is None
    assert buckets_refusal(year, year[30].ends_at, None, 1) is None
    assert code(buckets_refusal(year, year[1].starts_at, None, 1)) == "too_many_buckets"


def test_the_limit_itself_is_allowed() -> None:
    assert limit_refusal(BUCKETS_MAX) is None
    assert code(limit_refusal(BUCKETS_MAX + 1)) == "too_many_buckets"


@given(
    st.datetimes(datetime(1950, 1, 1), datetime(2080, 1, 1)),
    st.sampled_from(["Africa/Johannesburg", "Asia/Kathmandu", "Europe/Berlin", "Asia/Kolkata"]),
)
def test_buckets_begin_when_clocks_at_the_venue_show_a_full_hour(
    moment: datetime, timezone: str
) -> None:
    at, zone = moment.replace(tzinfo=UTC), ZoneInfo(timezone)
    hour = full_hour(at, zone)
    assert timedelta() <= at - hour < timedelta(hours=1)
    local = hour.astimezone(zone)
    assert (local.minute, local.second, local.microsecond) == (0, 0, 0)
