from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ticketing.support import DAYS, a_stored_type, an_event_on
from voelgoed.seating.model.layout import Point, Seat, SeatCategory
from voelgoed.ticketing.rules.words import (
    admission_text,
    days_text,
    moment_text,
    notes_of,
    start_of,
)

FRIDAY, SATURDAY, SUNDAY = (date(2026, 12, day) for day in (4, 5, 6))


@pytest.mark.parametrize(
    ("timezone", "text"),
    [
        ("Africa/Johannesburg", "Saturday 5 December 2026, 19:30"),
        ("America/New_York", "Saturday 5 December 2026, 12:30"),
        ("Pacific/Auckland", "Sunday 6 December 2026, 06:30"),
    ],
)
def test_a_moment_is_told_in_the_time_of_the_venue(timezone: str, text: str):
    moment = datetime(2026, 12, 5, 17, 30, tzinfo=UTC)
    assert moment_text(moment, ZoneInfo(timezone)) == text


@pytest.mark.parametrize(
    ("days", "text"),
    [
        ([], ""),
        ([SATURDAY], "Saturday 5 December 2026"),
        ([SUNDAY, SATURDAY], "Saturday 5 and Sunday 6 December 2026"),
        ([FRIDAY, SATURDAY, SUNDAY], "Friday 4 to Sunday 6 December 2026"),
        ([FRIDAY, SUNDAY], "Friday 4 and Sunday 6 December 2026"),
        (
            [FRIDAY, SATURDAY, SUNDAY, date(2026, 12, 13)],
            "Friday 4 to Sunday 6 and Sunday 13 December 2026",
        ),
        (
            [date(2026, 12, 30), date(2026, 12, 31), date(2027, 1, 1)],
            "Wednesday 30 December 2026 to Friday 1 January 2027",
        ),
        (
            [date(2026, 11, 28), SATURDAY],
            "Saturday 28 November 2026 and Saturday 5 December 2026",
        ),
    ],
)
def test_days_are_told_in_as_few_words_as_will_do(days: list[date], text: str):
    assert days_text(days) == text


@given(st.lists(st.dates(date(2026, 1, 1), date(2026, 3, 1)), unique=True, max_size=60))
def test_the_first_and_the_last_day_are_always_named(days: list[date]):
    text = days_text(days)
    for day in (min(days), max(days)) if days else ():
        assert f"{day:%A} {day.day}" in text
        assert f"{day:%B %Y}" in text


def test_a_ticket_for_all_of_one_day_need_not_say_so():
    one, three = an_event_on(DAYS[0]).days, an_event_on(*DAYS).days
    assert admission_text(DAYS[:1], one) == ""
    assert admission_text(DAYS[1:2], three) == "Sunday 2 June 2030 only"
    assert admission_text(DAYS, three) == "Saturday 1 to Monday 3 June 2030"
    assert admission_text(DAYS[:1], an_event_on(DAYS[1]).days) == "Saturday 1 June 2030 only"


def test_a_ticket_begins_when_the_first_of_its_days_does():
    days = an_event_on(*DAYS).days
    assert start_of(DAYS[1:], days) == days[1].starts_at
    assert start_of([date(2031, 1, 1)], days) is None


def a_seat(category: SeatCategory) -> Seat:
    return Seat(seat_id="A-1", row="A", number=1, category=category, coordinates=Point(0, 0))


@pytest.mark.parametrize(
    ("category", "beside", "notes"),
    [
        ("standard", [], []),
        ("aisle", [], []),
        ("restricted_view", [], ["Restricted view"]),
        ("wheelchair", [], ["Wheelchair place"]),
        ("wheelchair", ["A-2"], ["Wheelchair place, companion beside in A-2"]),
        ("wheelchair", ["A-2", "A-4"], ["Wheelchair place, companion beside in A-2 and A-4"]),
        ("companion", [], ["Companion seat"]),
        ("companion", ["A-2"], ["Companion seat, wheelchair place beside in A-2"]),
    ],
)
def test_what_is_odd_about_a_seat_is_noted(
    category: SeatCategory, beside: list[str], notes: list[str]
):
    assert notes_of(a_stored_type(), a_seat(category), beside) == notes


@pytest.mark.parametrize(
    ("terms", "notes"),
    [
        ({}, []),
        (
            {"entitlement": "single_entry", "entry_limit": 1, "reentry": "never"},
            ["Lets in once: whoever leaves cannot come back"],
        ),
        ({"entry_limit": 5}, ["Lets in 5 times in all"]),
        ({"max_daily_entries": 1, "reentry": "after_exit"}, ["Lets in once a day"]),
        ({"max_daily_entries": 3}, ["Lets in 3 times a day"]),
        ({"reentry": "never"}, ["No re-entry"]),
        (
            {"reentry": "after_exit"},
            ["To come back in, have the code scanned on the way out"],
        ),
    ],
)
def test_how_often_it_lets_in_is_noted(terms: dict[str, Any], notes: list[str]):
    assert notes_of(a_stored_type(**terms), None, []) == notes
