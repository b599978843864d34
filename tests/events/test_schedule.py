"""What must hold between the dates of an event: all faults at once, each with its path."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from voelgoed.events.model import DAYS_MAX, EventDay
from voelgoed.events.rules.schedule import schedule_faults

START = datetime(2030, 6, 1, 10, tzinfo=UTC)
END = datetime(2030, 6, 3, 22, tzinfo=UTC)
HOUR = timedelta(hours=1)
TICK = timedelta(microseconds=1)


def a_day(day: int, begins: int = 10, ends: int = 22) -> EventDay:
    return EventDay(
        date(2030, 6, day),
        datetime(2030, 6, day, begins, tzinfo=UTC),
        datetime(2030, 6, day, ends, tzinfo=UTC),
    )


def paths(**changes: Any) -> list[str]:
    """The places of all faults in a good schedule with these changes."""
    good: dict[str, Any] = {
        "starts_at": START,
        "ends_at": END,
        "sale_start": START - timedelta(days=30),
        "sale_end": START,
        "days": [a_day(1), a_day(2), a_day(3)],
    }
    return [fault["path"] for fault in schedule_faults(**(good | changes))]


def test_a_good_schedule_has_no_faults() -> None:
    assert paths() == []


def test_a_sale_window_is_optional_on_either_side() -> None:
    assert paths(sale_start=None) == paths(sale_end=None) == []
    assert paths(sale_start=None, sale_end=None) == []


@pytest.mark.parametrize("ends_at", [START, START - HOUR])
def test_an_event_ends_after_it_starts(ends_at: datetime) -> None:
    assert paths(ends_at=ends_at, days=[]) == ["$.ends_at"]
    assert paths(ends_at=START + TICK, days=[]) == []


@pytest.mark.parametrize("sale_end", [START - HOUR, START - 2 * HOUR])
def test_a_sale_ends_after_it_starts(sale_end: datetime) -> None:
    assert paths(sale_start=START - HOUR, sale_end=sale_end) == ["$.sale_end"]


@pytest.mark.parametrize("sale_start", [END, END + HOUR])
def test_a_sale_starts_before_the_event_ends(sale_start: datetime) -> None:
    assert paths(sale_start=sale_start, sale_end=None) == ["$.sale_start"]
    assert paths(sale_start=END - TICK, sale_end=None) == []


def test_a_sale_may_go_on_during_the_event_and_beyond() -> None:
    assert paths(sale_end=END + HOUR) == []


def test_an_event_has_at_most_so_many_days() -> None:
    def days(count: int) -> list[EventDay]:
        first = date(2030, 6, 1)
        return [
            EventDay(first + timedelta(days=n), START + n * HOUR, START + (n + 1) * HOUR)
            for n in range(count)
        ]

    long = {"ends_at": START + timedelta(days=100)}
    assert paths(days=days(DAYS_MAX), **long) == []
    assert paths(days=days(DAYS_MAX + 1), **long) == ["$.days"]


@pytest.mark.parametrize("ends", [10, 9])
def test_a_day_ends_after_it_starts(ends: int) -> None:
    assert paths(days=[a_day(1), a_day(2, 10, ends)]) == ["$.days[1].ends_at"]


@pytest.mark.parametrize("day", [a_day(1, 9, 22), a_day(3, 10, 23)])
def test_a_day_lies_within_the_event(day: EventDay) -> None:
    assert paths(days=[day]) == ["$.days[0]"]


@pytest.mark.parametrize("second", [date(2030, 6, 1), date(2030, 5, 31)])
def test_dates_go_forward(second: date) -> None:
    later = EventDay(second, a_day(2).starts_at, a_day(2).ends_at)
    assert paths(days=[a_day(1), later]) == ["$.days[1].date"]


def test_days_do_not_overlap() -> None:
    overlapping = EventDay(date(2030, 6, 2), a_day(1).ends_at - TICK, a_day(2).ends_at)
    touching = EventDay(date(2030, 6, 2), a_day(1).ends_at, a_day(2).ends_at)
    assert paths(days=[a_day(1), overlapping]) == ["$.days[1].starts_at"]
    assert paths(days=[a_day(1), touching]) == []


def test_days_may_leave_gaps() -> None:
    assert paths(days=[a_day(1), a_day(3)]) == []


def test_all_faults_are_told_at_once() -> None:
    found = paths(
        ends_at=START,
        sale_start=END,
        sale_end=END,
        days=[a_day(2, 10, 9), a_day(1)],
    )
    assert found == [
        "$.ends_at",
        "$.sale_end",
        "$.sale_start",
        "$.days[0].ends_at",
        "$.days[0]",
        "$.days[1]",
        "$.days[1].date",
        "$.days[1].starts_at",
    ]


def test_every_fault_says_in_words_what_is_wrong() -> None:
    [fault] = schedule_faults(
        starts_at=START, ends_at=START, sale_start=None, sale_end=None, days=[]
    )
    assert fault == {"path": "$.ends_at", "message": "must be after starts_at"}
