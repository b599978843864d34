"""Best available is exactly the best there is, by trying everything in random little houses."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from random import Random
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from bench.seating_reference import best_of_everything
from tests.prove.length import examples
from tests.seating.support import ROW_NAMES, a_group, a_house, a_policy, names
from voelgoed.seating.model.layout import Point, SeatGroup
from voelgoed.seating.rules.best import best
from voelgoed.seating.rules.house import House
from voelgoed.seating.rules.orphans import orphans_after
from voelgoed.seating.rules.plan import CATEGORIES
from voelgoed.seating.rules.search import Choice, Wish, search_for
from voelgoed.seating.rules.splits import PARTS_MAX

TOLERANCE = 1e-5
"""Costs are rounded to six digits, part by part."""
STANDARD, RESTRICTED_VIEW = CATEGORIES.index("standard"), CATEGORIES.index("restricted_view")


@dataclass(frozen=True)
class Case:
    """All that makes a house and a wish; prints as what one would type to have it again."""

    zones: list[list[str]]
    wish: Wish
    policy: dict[str, Any]
    groups: list[SeatGroup] = field(default_factory=list)
    focal_point: Point | None = None

    def house(self, shuffled: int | None = None) -> House:
        return a_house(
            zones=self.zones,
            policy=a_policy(**self.policy),
            groups=self.groups,
            focal_point=self.focal_point,
            shuffled=shuffled,
        )


MIXTURES = ["......Xr", "....X|r", "...|", "..XXhb|r", "..XXX|", "..XXXX", "...WwCc.X"]


def a_case(random: Random) -> Case:
    """From a seed, because houses drawn choice by choice are nearly all too simple."""
    mixture = random.choice(MIXTURES)
    zones = [
        [_row(random, mixture) for _ in range(random.choice([1, 3, 4, 5]))]
        for _ in range(random.choice([1, 1, 2, 3]))
    ]
    longest = max(len(each) for rows in zones for row in rows for each in re.findall("[.r]*", row))
    policy = {
        "orphan_avoidance_strict": random.random() < 0.6,
        "group_adjacency_strict": random.random() < 0.1,
        "max_group_split": random.randint(0, 3),
        "companion_release_occupancy_threshold": random.choice([0, 40, 85]),
    }
    wish = Wish(
        party=random.randint(1, min(12, 2 * longest + 1)),
        zones=random.choice([None] * 9 + [frozenset({0}), frozenset(range(1, len(zones)))]),
        categories=random.choice(
            [None] * 9 + [frozenset({STANDARD}), frozenset({RESTRICTED_VIEW})]
        ),
    )
    focal_point = random.choice([None, Point(random.randint(-9, 200), random.randint(-9, 9))])
    return Case(zones, wish, policy, list(_groups(random, zones)), focal_point)


def _row(random: Random, mixture: str) -> str:
    return "".join(random.choices(mixture, k=random.choice([3, 7, 11, 15]))).strip("|") or "X"


def _groups(random: Random, zones: list[list[str]]) -> Iterator[SeatGroup]:
    """In some rows: a table, a whole table, a family block."""
    for name, row in zip(ROW_NAMES, (row for rows in zones for row in rows), strict=False):
        count = sum(sign != "|" for sign in row)
        begin = random.randint(1, count)
        end = min(begin + random.randint(1, 8), count + 1)
        seats = " ".join(f"{name}{number}" for number in range(begin, end))
        kind = random.choice([*"------", "table", "whole", "family"])
        if kind == "family":
            yield a_group("family_block", seats, **random.choice([{}, {"min_party": 5}]))
        elif kind != "-":
            yield a_group("vip_table", seats, whole=kind == "whole")


cases = st.integers(0, 2**64).map(lambda seed: a_case(Random(seed)))
thorough = examples(short=300, full=20_000)
quick = examples(short=100, full=5_000)


@thorough
@given(cases)
def test_nothing_costs_less_within_the_order_of_preference(case: Case) -> None:
    house = case.house()
    choice, expected = best(search_for(house, case.wish)), best_of_everything(house, case.wish)
    assert (choice is None) == (expected is None)
    if choice is None or expected is None:
        event("fits nowhere")
        return
    event(f"{len(choice.parts)} parts, {'some' if choice.orphans else 'no'} orphans")
    assert abs(choice.cost - expected.cost) < TOLERANCE
    assert len(choice.parts) == len(expected.parts)
    if house.policy.orphan_avoidance_strict:
        assert (choice.orphans > 0) == (expected.orphans > 0)


@quick
@given(cases)
def test_nothing_is_lost_by_looking_at_a_few_at_once(case: Case) -> None:
    house = case.house()
    expected = best(search_for(house, case.wish))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("voelgoed.seating.rules.splits.FIRST_PARTS_TRIED", 2)
        patch.setattr("voelgoed.seating.rules.splits.COMBINATIONS_AT_ONCE", 3)
        choice = best(search_for(house, case.wish))
    assert (choice and choice.cost) == (expected and expected.cost)


@thorough
@given(cases)
def test_a_choice_is_within_every_policy(case: Case) -> None:
    house = case.house()
    choice = best(search_for(house, case.wish))
    if choice is not None:
        _check_seats(house, case.wish, choice)
        _check_parts(house, choice)
        taken = set(choice.steps)
        assert choice.orphans == len(orphans_after(house, search_for(house, case.wish).free, taken))


def _check_seats(house: House, wish: Wish, choice: Choice) -> None:
    plan = house.plan
    positions = [int(plan.rows.position[step]) for step in choice.steps]
    assert len(set(positions)) == len(positions) == wish.party
    assert all(house.open[at] for at in positions)
    assert wish.zones is None or all(plan.zone[at] in wish.zones for at in positions)
    assert wish.categories is None or all(plan.category[at] in wish.categories for at in positions)
    for table in plan.groups.whole_tables:
        members = set(plan.groups.table_seats[table].tolist())
        assert members <= set(positions) or members.isdisjoint(positions)


def _check_parts(house: House, choice: Choice) -> None:
    rows, policy = house.plan.rows, house.policy
    assert len(choice.parts) <= (1 if policy.group_adjacency_strict else PARTS_MAX)
    assert [len(part) for part in choice.parts] == sorted(map(len, choice.parts), reverse=True)
    for part in choice.parts:
        assert list(part) == list(range(part[0], part[0] + len(part)))
        assert len({int(rows.run[step]) for step in part}) == 1
        assert len(part) > 1 or len(choice.steps) == 1
    for one, other in combinations([int(rows.row[part[0]]) for part in choice.parts], 2):
        assert rows.zone_of_row[one] == rows.zone_of_row[other]
        assert abs(rows.rank_of_row[one] - rows.rank_of_row[other]) <= policy.max_group_split


@quick
@given(cases)
def test_strict_mode_never_leaves_a_seat_alone_when_there_is_a_choice_that_does_not(
    case: Case,
) -> None:
    house = case.house()
    choice = best(search_for(house, case.wish))
    if house.policy.orphan_avoidance_strict and choice is not None and choice.orphans:
        search = search_for(house, case.wish)
        for other in _choices_together(house, case.wish):
            assert orphans_after(house, search.free, set(other))


def _choices_together(house: House, wish: Wish) -> list[range]:
    """Every way to seat the party side by side, found by looking at each seat of it."""
    plan, search = house.plan, search_for(house, wish)
    found: list[range] = []
    for first in range(len(plan) - wish.party + 1):
        steps = range(first, first + wish.party)
        in_one_run = plan.rows.run[steps[0]] == plan.rows.run[steps[-1]]
        if in_one_run and all(search.eligible[step] for step in steps):
            found.append(steps)
    return found


@quick
@given(cases, st.integers())
def test_the_same_question_has_the_same_answer(case: Case, seed: int) -> None:
    def answer(house: House) -> tuple[str, float] | None:
        choice = best(search_for(house, case.wish))
        return choice and (" / ".join(names(house, part) for part in choice.parts), choice.cost)

    assert answer(case.house()) == answer(case.house()) == answer(case.house(shuffled=seed))
