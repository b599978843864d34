"""The capacity of a gate, counted by one batch while others count too, without a database."""

import datetime as dt
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from voelgoed.scanning.rules.tally import GateCapacity, Move, Tally

EVENT, GATE, ELSEWHERE = UUID(int=1), UUID(int=2), UUID(int=3)
DAY = dt.date(2030, 6, 1)
steps = st.lists(
    st.sampled_from(["by rule", "by hand", "again by hand", "out", "in elsewhere"]), max_size=12
)


@given(steps, st.integers(1, 6), st.integers(0, 6), st.integers(-3, 3))
def test_a_gate_is_too_full_when_it_was_too_full_for_somebody_whom_the_rule_admitted(
    steps: list[str], most: int, read: int, meanwhile: int
):
    """`read` people were inside when the batch was decided; `meanwhile` more or fewer are when it is
    written."""
    tally = Tally()
    rooms = GateCapacity(tally)
    here = tally.presence(EVENT, DAY, GATE, None)
    there = tally.presence(EVENT, DAY, ELSEWHERE, None)
    moves = {
        "by rule": Move(here, (), True),
        "by hand": Move(here, (), True),
        "again by hand": Move(here, here, True),
        "out": Move(here, here, False),
        "in elsewhere": Move(there, here, True),
    }
    truth = read + meanwhile
    was_too_full = False
    for step in steps:
        if step == "by rule":
            if read + tally.inside(EVENT, GATE, DAY) >= most:
                continue
            was_too_full |= truth + tally.inside(EVENT, GATE, DAY) >= most
        tally.add(moves[step])
        if step == "by rule":
            rooms.let_in(EVENT, GATE, DAY, most)
    afterwards = truth + tally.inside(EVENT, GATE, DAY)
    assert any(afterwards > room.most for room in rooms.afterwards()) == was_too_full


def test_a_gate_where_the_rule_admitted_nobody_is_not_checked():
    assert GateCapacity(Tally()).afterwards() == []
