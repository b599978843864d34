"""A ticket's story, and what many of them make of the counts, without any database."""

import datetime as dt
from datetime import UTC, datetime, timedelta
from random import Random
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from voelgoed.scanning.model.occupancy import Counted, Passage
from voelgoed.scanning.rules.replay import replay
from voelgoed.scanning.rules.tally import Move, Tally

EVENT, ZONE, TICKET = UUID(int=1), UUID(int=2), UUID(int=3)
START = datetime(2030, 6, 1, 16, tzinfo=UTC)
DAYS = [dt.date(2030, 6, 1), dt.date(2030, 6, 2)]

passages = st.lists(
    st.builds(
        lambda number, gate, second, direction, device: Passage(
            id=UUID(int=100 + number),
            event_id=EVENT,
            gate_id=UUID(int=10 + gate),
            zone_id=ZONE,
            device_id=UUID(int=50 + device),
            direction=direction,
            scanned_at_canonical=START + timedelta(seconds=second),
            day=DAYS[second >= 30],
        ),
        st.integers(0, 10_000),
        st.integers(0, 2),
        st.integers(0, 60),
        st.sampled_from(["entry", "entry", "exit"]),
        st.integers(0, 2),
    ),
    max_size=12,
    unique_by=lambda passage: passage.id,
)


def counts_of(story: list[Passage]) -> list[Counted]:
    tally = Tally()
    for move in replay(tally, TICKET, "scanned", story)[1]:
        tally.add(move)
    return sorted(tally.changes())


@given(passages, st.integers())
def test_the_order_in_which_it_became_known_does_not_matter(story: list[Passage], seed: int):
    mixed = list(story)
    Random(seed).shuffle(mixed)
    assert (
        replay(Tally(), TICKET, "scanned", mixed)[0] == replay(Tally(), TICKET, "scanned", story)[0]
    )
    assert counts_of(mixed) == counts_of(story)


@given(passages)
def test_a_ticket_is_inside_once_or_not_at_all(story: list[Passage]):
    attendance, _ = replay(Tally(), TICKET, "scanned", story)
    counts = counts_of(story)
    for scope in ("event", "gate", "zone"):
        inside = [counted.inside for counted in counts if counted.scope == scope]
        assert sorted(each for each in inside if each) == [1] * attendance.is_inside
    entries = sum(passage.direction == "entry" for passage in story)
    assert attendance.scan_count == entries
    event = [counted for counted in counts if counted.scope == "event"]
    assert sum(counted.entries for counted in event) == entries
    assert sum(counted.exits for counted in event) == len(story) - entries
    assert attendance.status == ("scanned" if entries else "active")


@given(passages, st.data())
def test_taking_one_back_leaves_what_it_would_be_without_it(
    story: list[Passage], data: st.DataObject
):
    if not story:
        return
    gone = data.draw(st.sampled_from(story))
    left = [passage for passage in story if passage is not gone]
    tally = Tally()
    _, before = replay(tally, TICKET, "scanned", story)
    _, after = replay(tally, TICKET, "scanned", left)
    for move in before:
        tally.take_back(move)
    for move in after:
        tally.add(move)
    sums: dict[object, list[int]] = {}
    for counted in [*counts_of(story), *tally.changes()]:
        place = (counted.day, counted.scope, counted.scope_id)
        total = sums.setdefault(place, [0, 0, 0])
        for at, number in enumerate((counted.entries, counted.exits, counted.inside)):
            total[at] += number
    wanted = {
        (counted.day, counted.scope, counted.scope_id): [
            counted.entries,
            counted.exits,
            counted.inside,
        ]
        for counted in counts_of(left)
    }
    assert {place: total for place, total in sums.items() if any(total)} == wanted


@given(passages, st.integers(0, 40))
def test_the_numbers_told_one_by_one_are_those_of_counting_one_by_one(
    story: list[Passage], before: int
):
    tally = Tally()
    moves = replay(tally, TICKET, "scanned", story)[1]
    for move in moves:
        tally.add(move)
    final = {
        (each.scope, each.scope_id, each.day): before + each.inside for each in tally.changes()
    }
    told = [
        (
            final.get(("gate", move.at[1].scope_id, move.at[1].day), before) - at_gate,
            final.get(("event", move.at[0].scope_id, move.at[0].day), before) - at_event,
        )
        for move, (at_gate, at_event) in zip(moves, tally.ahead(), strict=True)
    ]
    inside: dict[tuple[str, UUID, dt.date], int] = {}
    for move, (at_gate, at_event) in zip(moves, told, strict=True):
        for place in move.at:
            key = (place.scope, place.scope_id, place.day)
            inside[key] = inside.get(key, before) + move.is_entry
        for place in move.before:
            key = (place.scope, place.scope_id, place.day)
            inside[key] = inside.get(key, before) - 1
        event, gate = move.at[:2]
        assert at_gate == inside["gate", gate.scope_id, gate.day]
        assert at_event == inside["event", event.scope_id, event.day]


def test_events_that_share_a_layout_share_its_zones_and_are_counted_apart():
    tally, others = Tally(), UUID(int=9)
    for event_id, gate_id in ((EVENT, UUID(int=10)), (others, UUID(int=20))):
        tally.add(Move(tally.presence(event_id, DAYS[0], gate_id, ZONE), (), True))
    zones = {each.event_id: each.inside for each in tally.changes() if each.scope == "zone"}
    assert zones == {EVENT: 1, others: 1}
    assert tally.ahead() == [(0, 0), (0, 0)]
