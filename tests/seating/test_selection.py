"""Whether chosen seats can be booked together, and if not, why and what could be instead."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.prove.length import rounds
from tests.seating.support import (
    NOW,
    a_group,
    a_house,
    a_plan,
    a_policy,
    a_snapshot,
    names,
    parts,
    positions,
)
from voelgoed.seating.model.layout import Point
from voelgoed.seating.model.seats import AVAILABLE
from voelgoed.seating.rules.best import best
from voelgoed.seating.rules.house import House
from voelgoed.seating.rules.orphans import orphans_after
from voelgoed.seating.rules.plan import WHEELCHAIR
from voelgoed.seating.rules.search import Wish, search_for, side_by_side
from voelgoed.seating.rules.selection import Booker, Verdict, check_selection
from voelgoed.seating.rules.stretches import stretches

EASY = a_policy(orphan_avoidance_strict=False)
TOGETHER = a_policy(group_adjacency_strict=True)


def verdict(house: House, seat_ids: str, own: str = "", *, staff: bool = False) -> Verdict:
    booker = Booker(frozenset(positions(house, own)), staff)
    return check_selection(house, positions(house, seat_ids), booker)


def problems(house: House, seat_ids: str, own: str = "", *, staff: bool = False) -> dict[str, str]:
    """By code: the seats that are named."""
    found = verdict(house, seat_ids, own, staff=staff).problems
    return {problem.code: " ".join(problem.seat_ids) for problem in found}


def alternatives(house: House, seat_ids: str) -> list[str]:
    found = verdict(house, seat_ids).alternatives
    return [" + ".join(parts(house, choice) or []) for choice in found]


def test_free_seats_can_be_booked() -> None:
    found = verdict(a_house("......"), "A1 A2")
    assert found == Verdict([], [], [], [], [])


@pytest.mark.parametrize(
    ("row", "word"), [("X.....", "sold"), ("h.....", "held"), ("b.....", "blocked")]
)
def test_a_taken_seat_cannot_be_booked(row: str, word: str) -> None:
    [problem] = verdict(a_house(row), "A1 A2").problems[:1]
    assert (problem.code, problem.seat_ids) == ("seat_not_available", ["A1"])
    assert word in problem.message


def test_every_taken_seat_is_named() -> None:
    found = verdict(a_house("XhX...."), "A1 A2 A3").problems
    assert [problem.seat_ids for problem in found] == [["A1"], ["A2"], ["A3"]]


def test_more_seats_than_allowed_are_too_many() -> None:
    policy = a_policy(max_seats_per_booking=3)
    house = a_house("........", policy=policy)
    assert problems(house, "A1 A2 A3") == {}
    assert problems(house, "A1 A2 A3 A4") == {"too_many_seats": ""}
    assert verdict(house, "A1 A2 A3 A4").alternatives == []


@pytest.mark.parametrize("most", [1, 2])
def test_more_wheelchair_places_than_allowed_are_too_many(most: int) -> None:
    house = a_house("wc.wc.wc", policy=a_policy(max_wheelchair_seats_per_booking=most))
    assert "too_many_wheelchair_seats" not in problems(house, " ".join(["A1", "A4"][:most]))
    assert problems(house, "A1 A4 A7")["too_many_wheelchair_seats"] == "A1 A4 A7"


def test_seats_are_chosen_by_the_system_where_the_policy_says_so() -> None:
    house = a_house("......", policy=a_policy(prefer_clustering_over_selection=True))
    assert problems(house, "A1 A2") == {"seats_are_chosen_for_you": ""}
    assert problems(house, "A1 A2", staff=True) == {}


def test_withheld_seats_are_sold_by_staff() -> None:
    house = a_house("......", groups=[a_group("reserved_block", "A1 A2")])
    assert problems(house, "A1 A2") == {"seat_withheld": "A2"}
    assert [problem.seat_ids for problem in verdict(house, "A1 A2").problems] == [["A1"], ["A2"]]
    assert problems(house, "A1 A2", staff=True) == {}


def test_a_soft_reserved_seat_is_for_the_companion() -> None:
    house = a_house("Wc......")
    assert problems(house, "A2") == {"seat_soft_reserved": "A2"}
    assert problems(house, "A2", own="A1") == {}
    assert problems(house, "A2", own="A3") == {"seat_soft_reserved": "A2"}
    assert problems(house, "A2", staff=True) == {"seat_soft_reserved": "A2"}


def test_who_books_a_wheelchair_place_may_book_its_companion_with_it() -> None:
    assert problems(a_house("wc......"), "A1 A2") == {}


def test_own_wheelchair_place_opens_its_own_companion_seat_only() -> None:
    house = a_house("Wc..Wc..")
    assert problems(house, "A6", own="A1") == {"seat_soft_reserved": "A6"}


def test_a_released_companion_seat_is_for_anybody() -> None:
    row = "Wc" + "X" * 16 + ".."
    assert problems(a_house(row), "A2") == {}
    easy = a_policy(enforce_accessibility_rules=False)
    assert problems(a_house("Wc......", policy=easy), "A2") == {}


def test_a_booked_wheelchair_place_says_which_seats_are_kept_from_now_on() -> None:
    house = a_house("cwc.....")
    assert verdict(house, "A2").companions == positions(house, "A1 A3")
    assert verdict(house, "A2 A3").companions == positions(house, "A1")
    assert verdict(house, "A4 A5").companions == []
    off = a_house("cwc.....", policy=a_policy(enforce_accessibility_rules=False))
    assert verdict(off, "A2").companions == []
    full = a_house("cwc" + "X" * 30)
    assert verdict(full, "A2").companions == []


def test_a_table_that_is_sold_whole_is_taken_whole() -> None:
    house = a_house("....", "....", groups=[a_group("vip_table", "A1 A2 A3 A4", whole=True)])
    assert problems(house, "A1 A2") == {"table_is_sold_whole": "A1 A2 A3 A4"}
    assert problems(house, "A1 A2 A3 A4") == {}
    some = a_house("....", "....", groups=[a_group("vip_table", "A1 A2 A3 A4")])
    assert problems(some, "A1 A2") == {}


def test_groups_sit_side_by_side_where_the_policy_says_so() -> None:
    house = a_house("........", "...|....", policy=TOGETHER)
    assert problems(house, "A1 A2") == {}
    assert problems(house, "A2 A1") == {}
    assert problems(house, "A1") == {}
    assert problems(house, "A1 A4") == {"seats_not_together": "A1 A4"}
    assert problems(house, "A8 B1")["seats_not_together"] == "A8 B1"
    assert problems(house, "B3 B4")["seats_not_together"] == "B3 B4"
    assert problems(a_house("........"), "A1 A4") == {}


def test_a_seat_left_alone_refuses_a_booking_in_strict_mode() -> None:
    house = a_house(".....")
    found = verdict(house, "A2 A3")
    [problem] = found.problems
    assert (problem.code, problem.seat_ids) == ("would_orphan_seats", ["A1"])
    assert problem.message == "Seat A1 would be left alone, with no free seat beside it."
    assert found.orphans == positions(house, "A1")
    assert found.warnings == []


def test_several_seats_left_alone_are_all_named() -> None:
    [problem] = verdict(a_house("....."), "A2 A4").problems
    assert problem.seat_ids == ["A1", "A3", "A5"]
    assert problem.message.startswith("Seats A1, A3, A5 would be left alone, ")
    assert problem.message.endswith("beside them.")


def test_a_seat_left_alone_is_a_warning_in_best_effort_mode() -> None:
    found = verdict(a_house(".....", policy=EASY), "A2 A3")
    assert found.problems == []
    assert [warning.code for warning in found.warnings] == ["would_orphan_seats"]
    assert found.alternatives != []


def test_a_seat_left_alone_is_a_warning_where_there_is_no_other_choice() -> None:
    found = verdict(a_house("...", "XXX"), "A1 A2")
    assert (found.problems, found.alternatives) == ([], [])
    assert [warning.code for warning in found.warnings] == ["would_orphan_seats"]


def test_in_a_row_that_is_nearly_sold_a_lonely_seat_is_not_even_mentioned() -> None:
    found = verdict(a_house("X" * 30 + "...", "......"), "A31 A32")
    assert found == Verdict([], [], [], [], [])


def test_the_rows_of_the_specification() -> None:
    # 3+8 leaves 4 alone. 1+6 leaves none alone by the definition (1 and 10 were before, 7 and 8
    # have each other); it is refused where two must sit together, and never proposed.
    row = ".X..X...X."
    assert problems(a_house(row), "A3 A8") == {"would_orphan_seats": "A4"}
    assert "seats_not_together" in problems(a_house(row, policy=TOGETHER), "A1 A6")
    assert alternatives(a_house(row), "A3 A8") == ["A3 A4"]


def test_alternatives_are_the_nearest_that_leave_no_seat_alone() -> None:
    # B2-B3 is as near as any, but leaves B1 alone.
    house = a_house("......", "......", focal_point=Point(2.5, -9))
    assert alternatives(house, "A2 A3") == ["A1 A2", "A3 A4", "B1 B2"]


def test_alternatives_are_near_the_seats_that_were_chosen_not_the_focal_point() -> None:
    house = a_house("......X.....", focal_point=Point(0, -1))
    assert alternatives(house, "A9 A10") == ["A8 A9", "A11 A12", "A5 A6"]


def test_alternatives_do_not_overlap_and_are_no_more_than_three() -> None:
    found = alternatives(a_house("." * 40), "A2 A3")
    assert len(found) == 3
    assert len({seat for each in found for seat in each.split()}) == 6


def test_alternatives_are_in_the_same_zone() -> None:
    house = a_house(zones=[["..."], ["......"]])
    found = verdict(house, "A1 A2")
    assert (found.problems, found.alternatives) == ([], [])


def test_an_alternative_may_be_divided_when_nothing_else_is_left() -> None:
    # Booking A1-A4 leaves A5 alone; nothing else is long enough, but 2 + 2 leave nobody's seat alone.
    rows = (".....", "..XXX", "..XXX")
    assert alternatives(a_house(*rows), "A1 A2 A3 A4") == ["B1 B2 + C1 C2"]
    strict = a_house(*rows, policy=TOGETHER)
    assert alternatives(strict, "A1 A2 A3 A4") == []


def test_nobody_is_sent_where_the_party_would_be_further_apart() -> None:
    # A1-A4 together leave A5 alone. That 2 + 2 would not is said, and refuses nothing.
    found = verdict(a_house(".....", "..XXX", "..XXX"), "A1 A2 A3 A4")
    assert (found.problems, len(found.alternatives)) == ([], 1)
    assert [warning.code for warning in found.warnings] == ["would_orphan_seats"]


def test_alternatives_are_where_the_booker_may_book() -> None:
    house = a_house(zones=[["......"], ["......"]])
    chosen = positions(house, "A2 A3")
    for zones, first in ((None, "A3 A4"), (frozenset({0, 1}), "A3 A4"), (frozenset({1}), "B1 B2")):
        found = check_selection(house, chosen, Booker(zones=zones)).alternatives
        assert names(house, found[0].steps) == first
    assert check_selection(house, chosen, Booker(zones=frozenset())).alternatives == []


def test_instead_of_a_wheelchair_place_there_is_another_one() -> None:
    house = a_house("Wc....wc", "........")
    assert alternatives(house, "A1 A2") == ["A7 A8"]


def test_around_one_table_everybody_is_together() -> None:
    table = [a_group("vip_table", "A1 A2 A3 A4")]
    house = a_house("........", policy=TOGETHER, groups=table)
    assert problems(house, "A1 A4") == {}
    assert "seats_not_together" in problems(house, "A1 A6")


def test_a_companion_sits_where_the_layout_says_even_where_groups_sit_together() -> None:
    house = a_house("w...c", ".....", policy=TOGETHER, links={"A1": "A5"})
    assert problems(house, "A1 A5") == {}


def test_the_companion_of_a_wheelchair_user_is_not_sent_elsewhere() -> None:
    # Released companion seats are seats like others: A3 loses its neighbour. But the companion
    # belongs beside the wheelchair, whatever that leaves behind.
    off = a_policy(enforce_accessibility_rules=False)
    found = verdict(a_house("wc.X", "....", policy=off), "A1 A2")
    assert (found.problems, found.alternatives) == ([], [])
    assert [warning.code for warning in found.warnings] == ["would_orphan_seats"]
    other = verdict(a_house("wc.X", "....", policy=off), "A2")
    assert [problem.code for problem in other.problems] == ["would_orphan_seats"]


def test_all_reasons_are_given_at_once() -> None:
    policy = a_policy(group_adjacency_strict=True, max_seats_per_booking=2)
    house = a_house("X.....", "......", policy=policy)
    assert problems(house, "A1 A3 B5").keys() >= {
        "too_many_seats",
        "seat_not_available",
        "seats_not_together",
    }


rows = st.lists(
    st.text("....XhbwcWr|", min_size=2, max_size=12).filter(lambda row: row.strip("|")),
    min_size=1,
    max_size=4,
)
policies = st.fixed_dictionaries(
    {
        "orphan_avoidance_strict": st.booleans(),
        "group_adjacency_strict": st.booleans(),
        "max_group_split": st.integers(0, 2),
        "companion_release_occupancy_threshold": st.sampled_from([0, 50, 100]),
    }
)


@settings(max_examples=rounds(short=60, full=3_000))
@given(rows, policies, st.data())
def test_whatever_is_selected_the_verdict_is_true(
    drawn: list[str], policy: dict[str, Any], data: st.DataObject
) -> None:
    house = a_house(*drawn, policy=a_policy(max_wheelchair_seats_per_booking=50, **policy))
    plan, free = house.plan, stretches(house)
    chosen = data.draw(st.lists(st.integers(0, len(plan) - 1), min_size=1, max_size=6, unique=True))
    found = check_selection(house, chosen, Booker())
    steps = {int(plan.step[position]) for position in chosen}
    lonely = orphans_after(house, free, steps)
    assert found.orphans == [int(plan.rows.position[step]) for step in lonely]
    codes = {problem.code for problem in (*found.problems, *found.warnings)}
    assert ("would_orphan_seats" in codes) == bool(lonely)
    refused = "would_orphan_seats" in {problem.code for problem in found.problems}
    own_parts = len(side_by_side(plan, steps))
    as_close = any(len(choice.parts) <= own_parts for choice in found.alternatives)
    assert refused == bool(lonely and as_close and policy["orphan_avoidance_strict"])
    for choice in found.alternatives:
        assert choice.orphans == 0
        assert not orphans_after(house, free, set(choice.steps))
        assert len(set(choice.steps)) == len(chosen)
        instead = [int(plan.rows.position[step]) for step in choice.steps]
        assert all(house.codes[position] == AVAILABLE for position in instead)
        assert _wheelchairs(house, instead) == _wheelchairs(house, chosen)


def _wheelchairs(house: House, chosen: list[int]) -> int:
    return sum(house.plan.category[position] == WHEELCHAIR for position in chosen)


@settings(max_examples=rounds(short=40, full=2_000))
@given(rows, policies, st.integers(1, 5))
def test_whatever_is_proposed_can_be_booked(
    drawn: list[str], policy: dict[str, Any], party: int
) -> None:
    house = a_house(*drawn, policy=a_policy(**policy))
    choice = best(search_for(house, Wish(party)))
    if choice is not None:
        chosen = [int(house.plan.rows.position[step]) for step in choice.steps]
        found = check_selection(house, chosen, Booker())
        assert [problem.code for problem in found.problems] == [], names(house, choice.steps)


def test_a_hold_that_is_over_is_no_obstacle() -> None:
    snapshot = a_snapshot(a_plan(["...."]), held={"A1": NOW})
    assert problems(a_house("....", snapshot=snapshot), "A1 A2") == {}
