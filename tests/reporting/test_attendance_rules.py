"""Who is inside at the end of each bucket, against a model that goes through the doors one by one."""

import datetime as dt
from collections import defaultdict
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from voelgoed.reporting.model.attendance import Bucket
from voelgoed.reporting.rules.attendance import Change, Counts, buckets_of, fullest_of

START = datetime(2030, 6, 1, 16, tzinfo=UTC)
SATURDAY, SUNDAY = dt.date(2030, 6, 1), dt.date(2030, 6, 2)


def at(minutes: int) -> datetime:
    return START + timedelta(minutes=minutes)


def a_bucket(minutes: int, inside: int) -> Bucket:
    zeros = dict.fromkeys(("entries", "first_entries", "reentries", "exits", "denied"), 0)
    return Bucket(since=at(minutes), inside=inside, **zeros)


def test_who_was_inside_before_the_span_is_inside_in_it() -> None:
    changes = [Change(None, SATURDAY, 5), Change(at(0), SATURDAY, -2)]
    [bucket] = buckets_of([Counts(since=at(0), exits=2)], changes)
    assert (bucket.inside, bucket.exits) == (3, 2)


def test_who_stayed_unseen_is_not_inside_on_the_next_day() -> None:
    changes = [
        Change(at(0), SATURDAY, 3),
        Change(at(900), SUNDAY, 1),
        Change(at(900), SATURDAY, -1),
    ]
    counted = [
        Counts(since=at(0), entries=3, first_entries=3),
        Counts(since=at(600), denied=1),
        Counts(since=at(900), entries=1),
    ]
    assert [each.inside for each in buckets_of(counted, changes)] == [3, 3, 1]


def test_a_bucket_in_which_the_venue_was_only_declared_empty_is_one_too() -> None:
    changes = [Change(at(0), SATURDAY, 3), Change(at(60), SATURDAY, -3)]
    found = buckets_of([Counts(since=at(0), entries=3), Counts(since=at(90), denied=1)], changes)
    assert [(each.since, each.inside) for each in found] == [(at(0), 3), (at(60), 0), (at(90), 0)]


def test_entries_are_first_ones_and_others() -> None:
    [bucket] = buckets_of([Counts(since=at(0), entries=5, first_entries=2)], [])
    assert (bucket.entries, bucket.first_entries, bucket.reentries) == (5, 2, 3)


def test_nothing_is_fullest_where_nobody_was() -> None:
    assert fullest_of([]) is None
    assert fullest_of([a_bucket(0, inside=0)]) is None
    found = fullest_of([a_bucket(n, inside) for n, inside in enumerate([1, 3, 3])])
    assert found is not None
    assert (found.since, found.inside) == (at(1), 3)


passages = st.lists(
    st.tuples(st.integers(0, 200), st.integers(0, 4), st.sampled_from(["entry", "exit"])),
    max_size=60,
)


@given(passages, st.sampled_from([1, 5, 15, 60]))
def test_on_one_day_inside_is_whose_last_passage_was_an_entry(
    story: list[tuple[int, int, str]], minutes: int
) -> None:
    """The changes are made as PostgreSQL makes them: by what each ticket did before."""
    story = sorted(story, key=lambda each: each[0])
    was, counted = dict[int, str](), defaultdict[datetime, int](int)
    changed, expected = defaultdict[datetime, int](int), dict[datetime, int]()
    for minute, ticket, way in story:
        since = at(minute - minute % minutes)
        counted[since] += way == "entry"
        changed[since] += (way == "entry") - (was.get(ticket) == "entry")
        was[ticket] = way
        expected[since] = sum(each == "entry" for each in was.values())
    found = buckets_of(
        [Counts(since=since, entries=entries) for since, entries in counted.items()],
        [Change(since, SATURDAY, change) for since, change in changed.items() if change],
    )
    assert {each.since: each.inside for each in found} == expected
