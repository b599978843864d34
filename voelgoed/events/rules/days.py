"""Which day it is at an event. A concert that ends at two in the morning is one day."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from voelgoed.events.model import DAYS_MAX, Event, EventDay

DAY_BREAK = time(6, 0)
"""Before this, at the venue, it is still the evening before."""


def days_between(starts_at: datetime, ends_at: datetime, timezone: ZoneInfo) -> list[EventDay]:
    """The event's days when the organiser names none: cut at every day break in between."""
    days: list[EventDay] = []
    begin = starts_at
    while begin < ends_at and len(days) <= DAYS_MAX:
        day = _date_at(begin, timezone)
        end = min(_day_break(day + timedelta(days=1), timezone), ends_at)
        days.append(EventDay(day, begin, end))
        begin = end
    return days


def days_after_move(before: Event, after: Event, timezone: ZoneInfo) -> Sequence[EventDay]:
    """Days that followed from start and end follow again; days the organiser named stay."""
    if before.days == days_between(before.starts_at, before.ends_at, timezone):
        return days_between(after.starts_at, after.ends_at, timezone)
    return after.days


def misdated_days(days: Sequence[EventDay], timezone: ZoneInfo) -> list[dict[str, str]]:
    """A day is named by the date it began on at the venue, and by no other."""
    return [
        {
            "path": f"$.days[{number}].date",
            "message": f"must be {_date_at(day.starts_at, timezone)}",
        }
        for number, day in enumerate(days)
        if day.date != _date_at(day.starts_at, timezone)
    ]


def day_at(days: Sequence[EventDay], moment: datetime) -> date | None:
    """None before, between and after the days."""
    return next((day.date for day in days if day.starts_at <= moment < day.ends_at), None)


def _date_at(moment: datetime, timezone: ZoneInfo) -> date:
    local = moment.astimezone(timezone)
    midnight_to_break = local.time() < DAY_BREAK
    return local.date() - timedelta(days=1) if midnight_to_break else local.date()


def _day_break(day: date, timezone: ZoneInfo) -> datetime:
    return datetime.combine(day, DAY_BREAK, timezone).astimezone(UTC)
