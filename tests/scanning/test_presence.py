"""The people who are present now, from the counts of each day."""

import datetime as dt
from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from voelgoed.events.model import EventDay
from voelgoed.scanning.model.occupancy import Counted, CountedHead, Heads, OccupancyFacts, Scope
from voelgoed.scanning.rules.occupancy import at_gate, presence_at, taken_out

EVENT, LIMITED, OPEN, ZONE = (UUID(int=number) for number in range(1, 5))
DATES = [dt.date(2026, 6, day) for day in (5, 6, 7)]
NOON = dt.time(12, tzinfo=UTC)


def at(day: int) -> datetime:
    return datetime.combine(DATES[day], NOON)


DAYS = [
    EventDay(date=date, starts_at=at(number), ends_at=at(number) + timedelta(hours=11))
    for number, date in enumerate(DATES)
]


def counted(day: int, scope: Scope, scope_id: UUID, inside: int, irregular: int = 0) -> Counted:
    return Counted(
        event_id=EVENT,
        day=DATES[day],
        scope=scope,
        scope_id=scope_id,
        entries=inside,
        exits=0,
        inside=inside,
        irregular=irregular,
    )


def facts(*counts: Counted) -> OccupancyFacts:
    return OccupancyFacts(days=DAYS, counts=list(counts), limited_gates=frozenset({LIMITED}))


def heads(inside: int, irregular: int = 0) -> Heads:
    return Heads(inside=inside, irregular=irregular)


def test_at_a_gate_with_a_hard_limit_people_stay_counted_overnight():
    found = presence_at(
        facts(counted(0, "gate", LIMITED, 7, 2), counted(1, "gate", LIMITED, 1)), at(1)
    )
    assert at_gate(found, LIMITED) == heads(8, 2)


def test_at_any_other_gate_the_day_starts_at_zero():
    found = presence_at(facts(counted(0, "gate", OPEN, 7), counted(1, "gate", OPEN, 1, 1)), at(1))
    assert at_gate(found, OPEN) == heads(1, 1)


def test_the_event_has_todays_people_and_those_that_limited_gates_carry_over():
    found = presence_at(
        facts(
            counted(0, "event", EVENT, 12, 3),
            counted(0, "gate", LIMITED, 7, 2),
            counted(0, "gate", OPEN, 5, 1),
            counted(1, "event", EVENT, 4),
            counted(1, "gate", LIMITED, 1),
            counted(1, "gate", OPEN, 3),
        ),
        at(1),
    )
    assert found.event == heads(11, 2)


def test_zones_start_the_day_at_zero():
    found = presence_at(facts(counted(0, "zone", ZONE, 5), counted(1, "zone", ZONE, 2)), at(1))
    assert found.zones == {ZONE: heads(2)}


def test_a_moment_between_two_days_belongs_to_the_later_one():
    found = presence_at(facts(counted(0, "event", EVENT, 5)), DAYS[0].ends_at)
    assert (found.today, found.event) == (DATES[1], heads(0))


def test_an_event_without_days_has_nobody_present():
    found = presence_at(OccupancyFacts(days=[], counts=[], limited_gates=frozenset()), at(0))
    assert (found.today, found.event, at_gate(found, OPEN)) == (None, heads(0), heads(0))


HEADS = st.lists(
    st.builds(
        CountedHead,
        gate_id=st.sampled_from([LIMITED, OPEN]),
        zone_id=st.sampled_from([None, ZONE]),
        day=st.sampled_from(DATES),
        is_irregular=st.booleans(),
    ),
    max_size=40,
)


def counts_of(those: list[CountedHead]) -> list[Counted]:
    """The counts when exactly these people came in and nobody left."""
    return [
        Counted(
            event_id=each.event_id,
            day=each.day,
            scope=each.scope,
            scope_id=each.scope_id,
            entries=-each.inside,
            exits=0,
            inside=-each.inside,
            irregular=-each.irregular,
        )
        for each in taken_out(EVENT, those)
    ]


@given(those=HEADS, today=st.integers(0, 2))
def test_all_are_present_who_came_today_or_earlier_by_a_limited_gate(
    those: list[CountedHead], today: int
):
    def number(people: list[CountedHead]) -> Heads:
        return heads(len(people), sum(each.is_irregular for each in people))

    found = presence_at(facts(*counts_of(those)), at(today))
    now = [each for each in those if each.day == DATES[today]]
    stayed = [each for each in those if each.day < DATES[today] and each.gate_id == LIMITED]
    assert found.event == number([*now, *stayed])
    assert at_gate(found, OPEN) == number([each for each in now if each.gate_id == OPEN])
    assert at_gate(found, LIMITED) == number(
        [*stayed, *(each for each in now if each.gate_id == LIMITED)]
    )
    assert found.zones.get(ZONE, heads(0)) == number([each for each in now if each.zone_id])


@given(those=HEADS, gone=HEADS, today=st.integers(0, 2))
def test_people_who_were_taken_out_count_as_if_they_had_never_come(
    those: list[CountedHead], gone: list[CountedHead], today: int
):
    before = counts_of([*those, *gone])
    lowered = {(each.day, each.scope_id): each for each in taken_out(EVENT, gone)}
    after = [counted_less(each, lowered.get((each.day, each.scope_id))) for each in before]
    assert (
        presence_at(facts(*after), at(today)).event
        == presence_at(facts(*counts_of(those)), at(today)).event
    )


def counted_less(before: Counted, change: Counted | None) -> Counted:
    if change is None:
        return before
    day = DATES.index(before.day)
    inside, irregular = before.inside + change.inside, before.irregular + change.irregular
    return counted(day, before.scope, before.scope_id, inside, irregular)
