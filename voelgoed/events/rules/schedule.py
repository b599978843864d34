"""What must hold between the dates of an event. All faults at once, each with its path."""

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise

from voelgoed.events.model import DAYS_MAX, EventDay


def schedule_faults(
    *,
    starts_at: datetime,
    ends_at: datetime,
    sale_start: datetime | None,
    sale_end: datetime | None,
    days: Sequence[EventDay],
) -> list[dict[str, str]]:
    faults: list[dict[str, str]] = []

    def fault(path: str, message: str) -> None:
        faults.append({"path": path, "message": message})

    if ends_at <= starts_at:
        fault("$.ends_at", "must be after starts_at")
    if sale_start and sale_end and sale_end <= sale_start:
        fault("$.sale_end", "must be after sale_start")
    if sale_start and sale_start >= ends_at:
        fault("$.sale_start", "must be before the event ends")
    if len(days) > DAYS_MAX:
        fault("$.days", f"an event has at most {DAYS_MAX} days")
    for number, day in enumerate(days):
        if day.ends_at <= day.starts_at:
            fault(f"$.days[{number}].ends_at", "must be after the day's starts_at")
        if day.starts_at < starts_at or day.ends_at > ends_at:
            fault(f"$.days[{number}]", "must lie between the event's starts_at and ends_at")
    for number, (before, after) in enumerate(pairwise(days), start=1):
        if after.date <= before.date:
            fault(f"$.days[{number}].date", "must be later than the date of the day before it")
        if after.starts_at < before.ends_at:
            fault(f"$.days[{number}].starts_at", "must not overlap the day before it")
    return faults
