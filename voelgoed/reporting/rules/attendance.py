"""From counted scans to who was there when."""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec

from voelgoed.reporting.model.attendance import Bucket, Fullest


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """Of one bucket, before it is known who is inside."""

    since: datetime
    entries: int = 0
    first_entries: int = 0
    exits: int = 0
    denied: int = 0


class Change(msgspec.Struct, frozen=True):
    """By how much a bucket changed who is inside on a day of the event."""

    since: datetime | None
    """None: before the span, all of it."""
    day: dt.date
    inside: int


def buckets_of(counted: Iterable[Counts], changes: Sequence[Change]) -> list[Bucket]:
    """In their order. Who stayed over night unseen is not inside on the next day: from its first entry
    on, only who came on that day is."""
    inside, today = Counter[dt.date](), dt.date.min
    by_bucket = defaultdict[datetime | None, list[Change]](list)
    for change in changes:
        by_bucket[change.since].append(change)

    def pass_on(since: datetime | None) -> None:
        nonlocal today
        for change in by_bucket[since]:
            inside[change.day] += change.inside
            today = max(today, change.day)

    pass_on(None)
    buckets: list[Bucket] = []
    known = {each.since: each for each in counted}
    # When the venue was declared empty, nobody need have been scanned.
    for since in by_bucket:
        if since is not None:
            known.setdefault(since, Counts(since=since))
    for _, each in sorted(known.items()):
        pass_on(each.since)
        buckets.append(
            Bucket(
                since=each.since,
                entries=each.entries,
                first_entries=each.first_entries,
                reentries=each.entries - each.first_entries,
                exits=each.exits,
                denied=each.denied,
                inside=inside[today],
            )
        )
    return buckets


def fullest_of(buckets: Sequence[Bucket]) -> Fullest | None:
    """The first of those that are equally full."""
    found = max(buckets, key=lambda each: each.inside, default=None)
    return Fullest(found.since, found.inside) if found is not None and found.inside > 0 else None
