"""The facts that the rule needs, from the rows of the tables."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from voelgoed.scanning.rules.facts import blank, come_in, history_of, later, leave

NOON = datetime(2030, 6, 1, 12, tzinfo=UTC)
GATE = UUID(int=1)
clocks = st.integers(-20, 20).map(lambda seconds: NOON + timedelta(seconds=seconds))


@given(st.lists(clocks, min_size=1, max_size=12))
def test_a_move_is_after_the_previous_one_whatever_the_clocks_of_the_nodes_show(
    said: list[datetime],
):
    """Entry and exit, each decided by another node."""
    attendance, moments = blank(UUID(int=2), "active"), list[datetime]()
    for number, clock in enumerate(said):
        at = later(clock, attendance)
        moments.append(at)
        if number % 2:
            attendance = leave(attendance, at)
        else:
            attendance = come_in(attendance, at, GATE, at.date())
    assert moments == sorted(set(moments))
    assert all(at >= clock for at, clock in zip(moments, said, strict=True))


def test_a_ticket_without_scans_takes_the_moment_of_the_clock():
    attendance = blank(UUID(int=2), "active")
    assert later(NOON, attendance) == later(NOON, None) == NOON
    past = msgspec.structs.replace(attendance, last_exit_at=NOON - timedelta(seconds=1))
    assert later(NOON, past) == NOON


def test_a_person_outside_has_left_at_the_last_known_exit():
    entered = come_in(blank(UUID(int=2), "active"), NOON, GATE, NOON.date())
    left = leave(entered, NOON + timedelta(minutes=1))
    back = come_in(left, NOON + timedelta(minutes=10), GATE, NOON.date())
    histories = [history_of(each) for each in (entered, left, back)]
    assert [each.left_at for each in histories] == [None, NOON + timedelta(minutes=1), None]
