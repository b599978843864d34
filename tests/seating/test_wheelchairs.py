"""Best available for parties with wheelchair users."""

from random import Random

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
)
from voelgoed.seating.model.layout import Point
from voelgoed.seating.model.seats import AVAILABLE
from voelgoed.seating.rules.house import House
from voelgoed.seating.rules.orphans import orphans_after
from voelgoed.seating.rules.plan import COMPANION, WHEELCHAIR
from voelgoed.seating.rules.search import Wish, search_for
from voelgoed.seating.rules.wheelchairs import best_with_wheelchairs

FRONT = Point(0, -1)


def found(house: House, party: int, places: int = 1, **wish: object) -> list[str] | None:
    wanted = Wish(party, wheelchair_places=places, **wish)  # type: ignore[arg-type]
    return parts(house, best_with_wheelchairs(search_for(house, wanted)))


def orphans(house: House, party: int, places: int = 1) -> int | None:
    choice = best_with_wheelchairs(search_for(house, Wish(party, wheelchair_places=places)))
    return choice and choice.orphans


def test_a_wheelchair_user_may_come_alone() -> None:
    assert found(a_house("..wc", "...."), 1) == ["A3"]


def test_a_companion_sits_beside() -> None:
    assert found(a_house("..wc", "...."), 2) == ["A3 A4"]
    assert found(a_house("..cw", "...."), 2) == ["A3 A4"]


def test_a_place_may_have_several_companions() -> None:
    assert found(a_house("..cwc", "....."), 3) == ["A3 A4 A5"]


def test_companions_are_where_the_layout_has_them() -> None:
    assert found(a_house("wc..c", ".....", links={"A1": "A5"}), 2) == ["A1", "A5"]
    pair = a_group("wheelchair_pair", "A1 A5 A2")
    assert found(a_house("wcXXc", ".....", groups=[pair]), 3) == ["A1 A2", "A5"]


def test_the_best_place_comes_first() -> None:
    house = a_house("wc....wc", "wc....wc", focal_point=Point(8, -1))
    assert found(house, 2) == ["A7 A8"]


def test_taken_places_are_not_given_away_again() -> None:
    assert found(a_house("Wc....", "wc...."), 2) == ["B1 B2"]
    assert found(a_house("Wc....", "bc...."), 2) is None
    plan = a_plan(["wc...."])
    held = a_snapshot(plan, held={"A1": NOW})  # which was over at that moment
    assert found(a_house("wc....", snapshot=held), 2) == ["A1 A2"]


def test_a_companion_seat_that_is_kept_for_somebody_else_is_not_given_away() -> None:
    house = a_house("Wcw...", "......", links={"A2": "A1"})
    assert found(house, 2) == ["A3 A4"]


def test_zones_are_respected() -> None:
    house = a_house(zones=[["wc...."], ["wc...."]])
    assert found(house, 2, zones=frozenset({1})) == ["B1 B2"]
    assert found(house, 2, zones=frozenset()) is None


def test_the_others_of_the_party_sit_beside_if_they_can() -> None:
    assert found(a_house("wc......", "........", focal_point=FRONT), 4) == ["A1 A2 A3 A4"]


def test_the_others_of_the_party_sit_together_nearby_if_they_cannot() -> None:
    house = a_house("wcXXXXXX", "XX......", focal_point=FRONT)
    assert found(house, 4) == ["A1 A2", "B3 B4"]
    assert found(house, 6) == ["B3 B4 B5 B6", "A1 A2"]


def test_together_further_back_is_better_than_divided_in_front() -> None:
    house = a_house("wcX..", "XXXXX", "cwc..", focal_point=FRONT)
    assert found(house, 3) == ["C1 C2 C3"]


def test_the_others_are_not_in_a_worse_seat_when_there_is_a_better_one_as_near() -> None:
    house = a_house("rr|wc|..", ".......", focal_point=Point(3.5, -1))
    choice = best_with_wheelchairs(search_for(house, Wish(4, wheelchair_places=1)))
    assert sorted(parts(house, choice) or []) == ["A3 A4", "A5 A6"]


def test_the_others_are_not_further_away_than_the_policy_allows() -> None:
    rows = ("wcXX", "XXXX", "XXXX", "....")
    assert found(a_house(*rows, policy=a_policy(max_group_split=2)), 4) is None
    assert found(a_house(*rows, policy=a_policy(max_group_split=3)), 4) == ["A1 A2", "D1 D2"]


def test_where_groups_must_sit_together_the_others_sit_beside() -> None:
    policy = a_policy(group_adjacency_strict=True)
    assert found(a_house("wcXX", "....", policy=policy), 4) is None
    assert found(a_house("wc..", "....", policy=policy), 4) == ["A1 A2 A3 A4"]
    assert found(a_house("w.wc", "....", policy=policy), 2, places=2) is None
    linked = a_house("wX.c", "....", links={"A1": "A4"}, policy=policy)
    assert found(linked, 2) == ["A1", "A4"]


def test_nobody_sits_alone_but_beside_the_party() -> None:
    assert found(a_house("wc.X", "XXXX"), 3) == ["A1 A2 A3"]
    assert found(a_house("wcX.", "XX.X"), 3) is None


def test_the_end_of_one_row_is_not_beside_the_beginning_of_the_next() -> None:
    assert found(a_house("XXwc", ".XXX"), 3) is None
    assert found(a_house("XXwc|.", ".XXX"), 3) is None


def test_a_companion_seat_is_given_back_rather_than_leaving_somebody_alone() -> None:
    assert found(a_house("wcXX", "..XX"), 3) == ["B1 B2", "A1"]


def test_several_wheelchair_users_sit_near_each_other() -> None:
    house = a_house("wc....wc", "wc......", focal_point=Point(0, -1))
    assert found(house, 2, places=2) == ["A1", "B1"]
    assert found(house, 4, places=2) == ["A1 A2", "B1 B2"]


def test_everybody_in_a_wheelchair_has_a_companion_before_anybody_has_two() -> None:
    house = a_house("cwc.cwc", ".......")
    assert found(house, 4, places=2) == ["A1 A2", "A5 A6"]
    assert found(house, 6, places=2) == ["A1 A2 A3", "A5 A6 A7"]


def test_places_are_not_further_apart_than_the_policy_allows() -> None:
    # Each is two rows from the one in the middle, and the outer ones are four rows apart.
    rows = ("w...", "....", "w...", "....", "w...")
    assert found(a_house(*rows, policy=a_policy(max_group_split=2)), 3, places=3) is None
    assert found(a_house(*rows, policy=a_policy(max_group_split=4)), 3, places=3) is not None


def test_places_are_in_one_zone() -> None:
    assert found(a_house(zones=[["w..."], ["w..."]]), 2, places=2) is None


@pytest.mark.parametrize("places", [1, 2, 3])
def test_there_are_not_more_wheelchair_users_than_people(places: int) -> None:
    house = a_house("wcwcwc", "......")
    assert (found(house, 2, places=places) is None) == (places > 2)


def test_a_whole_table_is_not_begun() -> None:
    table = [a_group("vip_table", "B1 B2 B3 B4", whole=True)]
    assert found(a_house("wcXX", "....", groups=table), 4) is None
    table = [a_group("vip_table", "A1 A2 A3 A4", whole=True)]
    assert found(a_house("wc..", groups=table), 2) is None


def test_strict_mode_leaves_no_seat_alone_if_it_can() -> None:
    # Beside A1-A2 there is room for one, which leaves A4 alone.
    rows = ("wc..", "wc.X", "XXXX")
    assert found(a_house(*rows, focal_point=FRONT), 3) == ["B1 B2 B3"]


def test_a_wheelchair_user_is_not_left_alone_to_keep_a_seat_from_it() -> None:
    # A1 and A3-A4 would leave no seat alone, but a person.
    assert found(a_house("wc..", "XXXX"), 3) == ["A1 A2 A3"]
    assert orphans(a_house("wc..", "XXXX"), 3) == 1


def test_a_released_companion_seat_that_is_taken_can_leave_its_neighbour_alone() -> None:
    free = a_policy(enforce_accessibility_rules=False)
    assert orphans(a_house("wc.X", policy=free), 2) == 1
    assert orphans(a_house("wc.X", "....", "wc..", policy=free), 2) == 0


def test_the_gap_between_the_party_s_own_seats_is_counted() -> None:
    free = a_policy(enforce_accessibility_rules=False)
    choice = best_with_wheelchairs(
        search_for(a_house("wc...", policy=free), Wish(4, wheelchair_places=1))
    )
    assert choice is not None
    assert len(choice.parts) == 1


signs = "....wcwcXr|WC"


@settings(max_examples=rounds(short=100, full=5_000))
@given(st.integers(0, 2**64), st.integers(0, 2**32))
def test_whatever_is_found_is_free_near_together_and_honestly_counted(
    seed: int, other: int
) -> None:
    random = Random(seed)
    rows = [
        "".join(random.choices(signs, k=random.randint(3, 12))).strip("|") or "w"
        for _ in range(random.randint(1, 4))
    ]
    policy = a_policy(
        orphan_avoidance_strict=random.random() < 0.5,
        group_adjacency_strict=random.random() < 0.2,
        max_group_split=random.randint(0, 2),
        companion_release_occupancy_threshold=random.choice([0, 85]),
    )
    house = a_house(*rows, policy=policy)
    places = random.randint(1, 3)
    wish = Wish(random.randint(places, places + 5), wheelchair_places=places)
    choice = best_with_wheelchairs(search_for(house, wish))
    if choice is None:
        return
    plan, search = house.plan, search_for(house, wish)
    at = [int(plan.rows.position[step]) for step in choice.steps]
    assert len(set(at)) == wish.party
    assert all(house.codes[position] == AVAILABLE for position in at)
    assert sum(plan.category[position] == WHEELCHAIR for position in at) == places
    mine = {position for place in at for position in plan.companions(place)}
    for position in at:
        assert house.open[position] or plan.category[position] == WHEELCHAIR or position in mine
    assert choice.orphans == len(orphans_after(house, search.free, set(choice.steps)))
    ranks = [int(plan.rows.row[step]) for step in choice.steps]
    assert max(ranks) - min(ranks) <= policy.max_group_split
    if policy.group_adjacency_strict:
        apart = [p for p in choice.parts if any(plan.category_by_step[s] != COMPANION for s in p)]
        assert len(apart) == 1
    again = a_house(*rows, policy=policy, shuffled=other)
    same = best_with_wheelchairs(search_for(again, wish))
    assert same is not None
    assert names(again, same.steps) == names(house, choice.steps)
