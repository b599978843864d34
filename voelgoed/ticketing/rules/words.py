"""What a ticket says in words: when, on which days, how often, and what is odd about its seat."""

import datetime as dt
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from voelgoed.events.model import EventDay
from voelgoed.seating.model.layout import Seat
from voelgoed.ticketing.model.ticket_types import TicketType

RUN_MIN = 3
"""From so many days in a row on it is "Friday 4 to Sunday 6"."""


def moment_text(moment: datetime, timezone: ZoneInfo) -> str:
    local = moment.astimezone(timezone)
    return f"{_day(local.date())} {_month(local.date())}, {local:%H:%M}"


def start_of(days: Collection[dt.date], event_days: Sequence[EventDay]) -> datetime | None:
    """Of the first of these days, if the event still has one of them."""
    return min((day.starts_at for day in event_days if day.date in days), default=None)


def admission_text(days: Collection[dt.date], event_days: Sequence[EventDay]) -> str:
    """Nothing where there is nothing to choose from: an event of one day, which is this one."""
    if {day.date for day in event_days} == set(days) and len(days) == 1:
        return ""
    only = " only" if len(set(days)) == 1 else ""
    return days_text(days) + only


def days_text(days: Iterable[dt.date]) -> str:
    """`Friday 4 to Sunday 6 and Sunday 13 December 2026`; month and year where they change."""
    runs = [part for run in _runs(sorted(set(days))) for part in _parts(run)]
    texts: list[str] = []
    for number, run in enumerate(runs):
        following = runs[number + 1][0] if number + 1 < len(runs) else None
        texts.append(_run_text(run, following))
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} and {texts[-1]}"


def notes_of(ticket_type: TicketType, seat: Seat | None, beside: Sequence[str]) -> list[str]:
    """Whoever lets them in and whoever comes need to know; `beside` is the other half of a pair."""
    return [*seat_notes(seat, beside), *_entry_notes(ticket_type)]


def seat_notes(seat: Seat | None, beside: Sequence[str]) -> list[str]:
    category = seat.category if seat else "standard"
    others = f" in {' and '.join(beside)}" if beside else ""
    if category == "wheelchair":
        return [f"Wheelchair place, companion beside{others}" if beside else "Wheelchair place"]
    if category == "companion":
        return [f"Companion seat, wheelchair place beside{others}" if beside else "Companion seat"]
    return ["Restricted view"] if category == "restricted_view" else []


def _entry_notes(ticket_type: TicketType) -> list[str]:
    if ticket_type.entry_limit == 1:
        return ["Lets in once: whoever leaves cannot come back"]
    notes: list[str] = []
    if ticket_type.entry_limit is not None:
        notes.append(f"Lets in {ticket_type.entry_limit} times in all")
    if ticket_type.max_daily_entries is not None:
        often = ticket_type.max_daily_entries
        notes.append("Lets in once a day" if often == 1 else f"Lets in {often} times a day")
    if ticket_type.reentry == "never":
        notes.append("No re-entry")
    if ticket_type.reentry == "after_exit" and ticket_type.max_daily_entries != 1:
        notes.append("To come back in, have the code scanned on the way out")
    return notes


def _runs(days: Sequence[dt.date]) -> list[list[dt.date]]:
    runs: list[list[dt.date]] = []
    for day in days:
        if runs and day - runs[-1][-1] == timedelta(days=1):
            runs[-1].append(day)
        else:
            runs.append([day])
    return runs


def _parts(run: Sequence[dt.date]) -> list[Sequence[dt.date]]:
    return [run] if len(run) >= RUN_MIN else [[day] for day in run]


def _run_text(run: Sequence[dt.date], following: dt.date | None) -> str:
    first, last = run[0], run[-1]
    text = _day(last) if _same_month(last, following) else f"{_day(last)} {_month(last)}"
    if len(run) == 1:
        return text
    opening = _day(first) if _same_month(first, last) else f"{_day(first)} {_month(first)}"
    return f"{opening} to {text}"


def _same_month(one: dt.date, other: dt.date | None) -> bool:
    return other is not None and (one.year, one.month) == (other.year, other.month)


def _day(date: dt.date) -> str:
    return f"{date:%A} {date.day}"


def _month(date: dt.date) -> str:
    return f"{date:%B %Y}"
