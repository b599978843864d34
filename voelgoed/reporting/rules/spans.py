"""Spans of time and the buckets they are cut into."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from voelgoed.events.model import EventDay
from voelgoed.infra.refusal import Refusal
from voelgoed.infra.shapes import moments_refusal
from voelgoed.reporting.model.about import (
    BUCKETS_MAX,
    BucketMinutes,
    EmptySpan,
    TooManyBuckets,
)


def span_refusal(since: datetime | None, until: datetime | None) -> Refusal | None:
    if (refusal := moments_refusal(since=since, until=until)) is not None:
        return refusal
    if since is not None and until is not None and since >= until:
        return EmptySpan()
    return None


def buckets_refusal(
    days: Sequence[EventDay],
    since: datetime | None,
    until: datetime | None,
    bucket_minutes: BucketMinutes,
) -> Refusal | None:
    """Before anything is counted: people are scanned on the event's days, so those of them that lie in
    the span say how many buckets there can be."""
    begun = [max(day.starts_at, since) if since else day.starts_at for day in days]
    ended = [min(day.ends_at, until) if until else day.ends_at for day in days]
    length = sum(
        (max(end - begin, timedelta()) for begin, end in zip(begun, ended, strict=True)),
        timedelta(),
    )
    return limit_refusal(int(length / timedelta(minutes=bucket_minutes)))


def limit_refusal(buckets: int) -> Refusal | None:
    if buckets <= BUCKETS_MAX:
        return None
    return TooManyBuckets(buckets=buckets, buckets_max=BUCKETS_MAX)


def full_hour(moment: datetime, timezone: ZoneInfo) -> datetime:
    """At the venue, at or before this moment: buckets begin when its clocks say so, also where they are
    half an hour off."""
    local = moment.astimezone(timezone)
    past = timedelta(minutes=local.minute, seconds=local.second, microseconds=local.microsecond)
    return (moment - past).astimezone(UTC)
