"""Plain bookings are seen from a few seats only; whatever is called plain must be fine to the
rules that look at the whole house. In random little houses, party after party."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

import numpy as np
from hypothesis import event, given, settings
from hypothesis import strategies as st

from tests.prove.length import rounds
from tests.seating.support import (
    NOW,
    ROW_NAMES,
    a_group,
    a_house,
    a_plan,
    a_policy,
    as_drawn,
    event_zones,
)
from voelgoed.seating.model.layout import SeatGroup
from voelgoed.seating.model.policy import SeatingPolicy
from voelgoed.seating.model.seats import SeatState, SeatStatus, Snapshot
from voelgoed.seating.rules.board import AROUND, Board, around, with_held
from voelgoed.seating.rules.house import House, house, microseconds
from voelgoed.seating.rules.plan import Plan
from voelgoed.seating.rules.selection import Booker, check_selection

UNTIL = NOW + timedelta(minutes=5)
NEIGHBOURLY = frozenset({"would_orphan_seats", "seats_not_together"})
MIXTURES = ["......Xr", "....X|r", "...|", "..XXhb|r", "..XXX|", "..XXXX", "...WwCc.X", "........"]


@dataclass(frozen=True)
class Case:
    """All that makes a house and those who want seats in it; prints as one would type it."""

    zones: list[list[str]]
    parties: list[list[int]]
    """By their positions, one after the other."""
    policy: dict[str, Any]
    groups: list[SeatGroup] = field(default_factory=list)
    blocked: list[str] = field(default_factory=list)
    """By the event's layout."""
    ended: list[int] = field(default_factory=list)
    """Positions of seats whose holds have ended, if they are drawn as held."""


def a_case(random: Random) -> Case:
    mixture = random.choice(MIXTURES)
    zones = [
        [_row(random, mixture) for _ in range(random.choice([1, 2, 4]))]
        for _ in range(random.choice([1, 1, 2]))
    ]
    names = [
        f"{name}{number}"
        for name, row in zip(ROW_NAMES, (row for rows in zones for row in rows), strict=False)
        for number in range(1, len(re.sub("[| ]", "", row)) + 1)
    ]
    policy = {
        "orphan_avoidance_strict": random.random() < 0.7,
        "group_adjacency_strict": random.random() < 0.1,
        "prefer_clustering_over_selection": random.random() < 0.05,
        "enforce_accessibility_rules": random.random() < 0.9,
        "companion_release_occupancy_threshold": random.choice([0, 40, 85]),
        "max_seats_per_booking": random.choice([2, 6, 10]),
    }
    parties = [_party(random, len(names)) for _ in range(random.randint(1, 6))]
    return Case(
        zones,
        parties,
        policy,
        list(_groups(random, zones)),
        random.sample(names, min(len(names), random.choice([0, 0, 1, 3]))),
        [at for at in range(len(names)) if random.random() < 0.5],
    )


def _row(random: Random, mixture: str) -> str:
    return "".join(random.choices(mixture, k=random.choice([3, 7, 11, 15]))).strip("|") or "X"


def _party(random: Random, seats: int) -> list[int]:
    """Mostly side by side, sometimes anywhere."""
    size = min(seats, random.choice([1, 1, 2, 2, 3, 4, 7]))
    if random.random() < 0.3:
        return random.sample(range(seats), size)
    first = random.randint(0, seats - size)
    return list(range(first, first + size))


def _groups(random: Random, zones: list[list[str]]) -> Iterator[SeatGroup]:
    """In some rows: a table, a whole table, a family block, seats that are kept back."""
    for name, row in zip(ROW_NAMES, (row for rows in zones for row in rows), strict=False):
        seats = re.sub("[| ]", "", row)
        if not seats or set(seats.lower()) & set("wc"):
            continue
        begin = random.randint(1, len(seats))
        end = min(begin + random.randint(1, 6), len(seats) + 1)
        names = " ".join(f"{name}{number}" for number in range(begin, end))
        match random.choice([*"------", "table", "whole", "family", "reserved"]):
            case "family":
                yield a_group("family_block", names)
            case "reserved":
                yield a_group("reserved_block", names)
            case "table" | "whole" as kind:
                yield a_group("vip_table", names, whole=kind == "whole")


@dataclass(frozen=True)
class Evening:
    """The same seats, as a house and as the states of each."""

    plan: Plan
    policy: SeatingPolicy
    snapshot: Snapshot
    states: Mapping[int, SeatState]
    closed: frozenset[int]
    blocked: list[str]

    def board(self, near: set[int]) -> Board:
        """Which knows what it was given, and nothing else."""
        states = {at: self.states[at] for at in near}
        return Board(self.plan, self.policy, states, self.closed & near, NOW)

    def house(self, taken: set[int]) -> House:
        snapshot = with_held(self.snapshot, taken, UNTIL) if taken else self.snapshot
        return house(self.plan, event_zones(self.plan), self.blocked, self.policy, snapshot, NOW)


def an_evening(case: Case) -> Evening:
    plan = a_plan(*case.zones, groups=case.groups)
    drawn = as_drawn(plan, case.zones)
    held = np.frombuffer(drawn.held, ">i4").tolist()
    ends = [NOW if at in case.ended else UNTIL for at in held]
    snapshot = _with_ends(drawn, ends)
    status: dict[int, tuple[SeatStatus, datetime | None]] = {
        **{at: ("held", end) for at, end in zip(held, ends, strict=True)},
        **dict.fromkeys(np.frombuffer(drawn.sold, ">i4").tolist(), ("sold", None)),
        **dict.fromkeys(np.frombuffer(drawn.blocked, ">i4").tolist(), ("blocked", None)),
    }
    states = {at: _state(plan, at, *status.get(at, ("available", None))) for at in range(len(plan))}
    closed = frozenset(plan.by_seat_id[seat_id] for seat_id in case.blocked)
    return Evening(plan, a_policy(**case.policy), snapshot, states, closed, case.blocked)


def _with_ends(drawn: Snapshot, ends: list[datetime]) -> Snapshot:
    packed = np.array([microseconds(end) for end in ends], ">i8").tobytes()
    return Snapshot(
        seq=0, held=drawn.held, held_until=packed, sold=drawn.sold, blocked=drawn.blocked
    )


def _state(plan: Plan, at: int, status: SeatStatus, until: datetime | None) -> SeatState:
    return SeatState(
        seat_id=plan.ids[at],
        position=at,
        status=status,
        held_until=until,
        seat_hold_id=UUID(int=1) if status in ("held", "sold") else None,
        holder_id=None,
        sold_when_blocked=False,
        version=0 if status == "available" else 1,
    )


cases = st.integers(0, 2**64).map(lambda seed: a_case(Random(seed)))


@settings(max_examples=rounds(short=300, full=15_000))
@given(cases)
def test_what_the_board_calls_plain_is_fine_in_the_whole_house(case: Case) -> None:
    evening = an_evening(case)
    board = evening.board(around(evening.plan, [at for party in case.parties for at in party]))
    for party in case.parties:
        if not board.is_plain(party):
            event("not plain")
            continue
        event("plain" if not board.taken else "plain after others")
        verdict = check_selection(evening.house(board.taken), party, Booker())
        assert (verdict.problems, verdict.warnings, verdict.orphans) == ([], [], [])
        board.take(party)


@settings(max_examples=rounds(short=300, full=15_000))
@given(cases)
def test_who_may_leave_seats_alone_is_refused_for_nothing_else(case: Case) -> None:
    evening = an_evening(case)
    board = evening.board(around(evening.plan, [at for party in case.parties for at in party]))
    for party in case.parties:
        if not board.is_plain(party, spare_neighbours=True):
            continue
        verdict = check_selection(evening.house(board.taken), party, Booker())
        assert {problem.code for problem in verdict.problems} <= NEIGHBOURLY
        event("leaves a seat alone" if verdict.orphans else "leaves none alone")
        board.take(party)


@settings(max_examples=rounds(short=100, full=5_000))
@given(cases)
def test_what_is_free_to_the_board_is_free_to_the_house(case: Case) -> None:
    evening = an_evening(case)
    board = evening.board(set(range(len(evening.plan))))
    for party in [[], *case.parties]:
        board.take(party)
        codes = evening.house(board.taken).codes
        free = [at for at in range(len(evening.plan)) if board.is_free(at)]
        assert all(codes[at] in (0, 4, 5) for at in free), "available, kept for some, or for staff"
        assert all(codes[at] != 0 for at in range(len(evening.plan)) if at not in free)


@settings(max_examples=rounds(short=100, full=5_000))
@given(cases)
def test_around_is_the_seats_and_two_beside_without_an_aisle_between(case: Case) -> None:
    evening = an_evening(case)
    rows, step = evening.plan.rows, evening.plan.step
    for party in case.parties:
        expected = {
            other
            for at in party
            for other in range(len(evening.plan))
            if abs(int(step[at]) - int(step[other])) <= AROUND
            and rows.run[step[at]] == rows.run[step[other]]
        }
        assert around(evening.plan, party) == expected


def plain(row: str, seats: str, *, spare_neighbours: bool = False, **policy: Any) -> bool:
    plan = a_plan([row])
    positions = [plan.by_seat_id[seat_id] for seat_id in seats.split()]
    evening = an_evening(Case([[row]], [positions], policy))
    board = evening.board(around(evening.plan, positions))
    return board.is_plain(positions, spare_neighbours=spare_neighbours)


def test_most_bookings_are_plain() -> None:
    assert plain("..........", "A1")
    assert plain("..........", "A4 A5 A6")
    assert plain("XX....XX", "A3 A4")
    assert plain("X.X", "A2"), "who was alone before is not left alone"
    assert plain("..|..", "A1 A2")
    assert plain("r.....", "A1 A2"), "a restricted view is no rule"


def test_what_leaves_a_seat_alone_is_not_plain_unless_that_does_not_matter() -> None:
    for row, seats in (
        ("....", "A2"),
        ("......", "A1 A2 A4 A5"),
        ("X...|", "A3 A4"),
        (".....", "A2 A3"),
    ):
        assert not plain(row, seats)
        assert plain(row, seats, spare_neighbours=True)


def test_what_only_the_whole_house_can_tell_is_not_plain() -> None:
    assert not plain("wc....", "A1"), "a wheelchair place"
    assert not plain("wc....", "A2"), "a companion's"
    assert not plain("wc....", "A3"), "beside a companion's, which may be free or kept"
    assert not plain("wc....", "A1", spare_neighbours=True)
    assert not plain("....", "A1 A2", group_adjacency_strict=True)
    assert plain("....", "A1", group_adjacency_strict=True, spare_neighbours=True)
    assert not plain("......", "A1 A2 A3", max_seats_per_booking=2)
    assert not plain("....", "A1 A2", prefer_clustering_over_selection=True)


def test_what_others_took_before_is_not_free() -> None:
    evening = an_evening(Case([["......"]], [], {}))
    board = evening.board(set(range(6)))
    assert board.is_plain([0, 1])
    board.take([0, 1])
    assert not board.is_free(0)
    assert not board.is_plain([1, 2])
    assert not board.is_plain([3]), "that would leave the third alone"
    assert board.is_plain([2, 3])


def test_a_hold_that_has_ended_is_free_and_one_that_has_not_is_not() -> None:
    ended = Case([["h..."]], [], {}, ended=[0])
    assert an_evening(ended).board({0, 1, 2, 3}).is_plain([0, 1])
    assert not an_evening(Case([["h..."]], [], {})).board({0, 1, 2, 3}).is_plain([0, 1])


def test_seats_laid_over_a_snapshot_are_held() -> None:
    drawn = a_house("..X.")
    before = as_drawn(drawn.plan, [["..X."]])
    after = house(
        drawn.plan, event_zones(drawn.plan), [], a_policy(), with_held(before, {3, 0}, UNTIL), NOW
    )
    assert after.codes.tolist() == [1, 0, 2, 1]
