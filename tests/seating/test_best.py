"""Best available: what a party is given, and in which order of preference."""

import pytest

from tests.seating.support import a_group, a_house, a_policy, names, parts, steps
from voelgoed.seating.model.layout import Point
from voelgoed.seating.model.seats import Snapshot
from voelgoed.seating.rules.apart import nearest_apart
from voelgoed.seating.rules.best import best, largest_together
from voelgoed.seating.rules.house import House
from voelgoed.seating.rules.plan import CATEGORIES
from voelgoed.seating.rules.search import Wish, search_for, side_by_side
from voelgoed.seating.rules.splits import PARTS_MAX, divisions

EASY = a_policy(orphan_avoidance_strict=False)
STANDARD = frozenset({CATEGORIES.index("standard")})
RESTRICTED = frozenset({CATEGORIES.index("restricted_view")})


def found(house: House, party: int, **wish: object) -> list[str] | None:
    return parts(house, best(search_for(house, Wish(party, **wish))))  # type: ignore[arg-type]


def orphans(house: House, party: int) -> int | None:
    choice = best(search_for(house, Wish(party)))
    return choice and choice.orphans


def test_the_nearest_seats_to_the_focal_point_come_first() -> None:
    assert found(a_house("..XX..", "..", "..", focal_point=Point(0.5, -9)), 2) == ["A1 A2"]
    assert found(a_house("..XX..", "..", "..", focal_point=Point(0.5, 9)), 2) == ["C1 C2"]
    assert found(a_house("..XX..", "..", "..", focal_point=Point(9, 0)), 2) == ["A5 A6"]


def test_of_seats_as_good_as_each_other_the_left_ones_come_first() -> None:
    assert found(a_house("....", "...."), 2) == ["A1 A2"]


def test_a_stretch_that_fits_exactly_is_better_than_a_slightly_nearer_one() -> None:
    house = a_house("..X......", focal_point=Point(4, -6))
    assert found(house, 2) == ["A1 A2"]


def test_together_further_back_is_better_than_apart_in_front() -> None:
    assert found(a_house("..X..", "XXXXX", "XXXXX", "...."), 4) == ["D1 D2 D3 D4"]


def test_who_finds_no_room_together_is_divided_into_as_few_parts_as_possible() -> None:
    house = a_house("..X..X", "....XX", "XXXX..")
    assert found(house, 6) == ["B1 B2 B3 B4", "A1 A2"]
    assert found(house, 8) == ["B1 B2 B3 B4", "A1 A2", "A4 A5"]
    assert found(house, 10) is None  # four parts


def test_nobody_sits_alone() -> None:
    assert found(a_house("..X", ".XX", policy=EASY), 3) is None
    assert found(a_house("...X..", policy=EASY), 5) == ["A1 A2 A3", "A5 A6"]


def test_parts_are_in_one_zone() -> None:
    assert found(a_house(zones=[["...", "XXX"], ["...", "XXX"]]), 6) is None
    assert found(a_house(zones=[["...", "XXX"], ["...", "..."]]), 6) == ["C1 C2 C3", "D1 D2 D3"]


@pytest.mark.parametrize("rows_apart", range(4))
def test_parts_are_not_more_rows_apart_than_the_policy_allows(rows_apart: int) -> None:
    house = a_house("...", "XXX", "XXX", "...", policy=a_policy(max_group_split=rows_apart))
    assert (found(house, 6) is not None) == (rows_apart >= 3)


def test_all_three_parts_are_near_each_other() -> None:
    rows = ("..", "XX", "..", "XX", "..")
    assert found(a_house(*rows, policy=a_policy(max_group_split=2)), 6) is None
    assert found(a_house(*rows, policy=a_policy(max_group_split=4)), 6) is not None


def test_no_rows_apart_is_still_across_the_aisle() -> None:
    house = a_house("...|...", "......", policy=a_policy(max_group_split=0))
    assert found(a_house("...|...", policy=a_policy(max_group_split=0)), 6) == [
        "A1 A2 A3",
        "A4 A5 A6",
    ]
    assert found(house, 6) == ["B1 B2 B3 B4 B5 B6"]


def test_where_groups_must_sit_together_they_are_not_divided() -> None:
    policy = a_policy(group_adjacency_strict=True)
    assert found(a_house("...|...", "...", policy=policy), 6) is None
    assert found(a_house("...|...", "...", policy=policy), 3) == ["A1 A2 A3"]


def test_strict_mode_rather_divides_than_leaves_a_seat_alone() -> None:
    rows = (".....X", "..XXXX", "XXXX..")
    choice = best(search_for(a_house(*rows), Wish(4)))
    assert choice is not None
    assert (len(choice.parts), choice.orphans) == (2, 0)
    easy = best(search_for(a_house(*rows, policy=EASY), Wish(4)))
    assert easy is not None
    assert (len(easy.parts), easy.orphans) == (1, 1)


def test_strict_mode_leaves_a_seat_alone_when_there_is_no_other_way() -> None:
    assert orphans(a_house("....."), 4) == 1
    assert orphans(a_house(".....", "...."), 4) == 0


def test_best_effort_pays_for_a_lonely_seat_with_distance() -> None:
    near, far = (".....", *["XXXXX"] * 3, "...."), (".....", *["XXXXX"] * 12, "....")
    assert found(a_house(*near, policy=EASY), 4) == ["E1 E2 E3 E4"]
    assert orphans(a_house(*far, policy=EASY), 4) == 1
    assert orphans(a_house(*far), 4) == 0


def test_restricted_views_come_late() -> None:
    assert found(a_house("rrrr", "....", "...."), 2) == ["B1 B2"]
    assert found(a_house("rrrr", *["XXXX"] * 9, "...."), 2) == ["A1 A2"]


def test_who_asks_for_a_category_is_given_it() -> None:
    house = a_house("....", "rrrr")
    assert found(house, 2, categories=RESTRICTED) == ["B1 B2"]
    assert found(a_house("rrrr", "rr.."), 2, categories=STANDARD) == ["B3 B4"]
    assert found(a_house("r.r.", "rr.r"), 2, categories=STANDARD) is None


def test_who_asks_for_a_zone_is_given_it() -> None:
    house = a_house(zones=[["....", "...."], ["....", "...."]])
    assert found(house, 4, zones=frozenset({1})) == ["C1 C2 C3 C4"]
    assert found(house, 4, zones=frozenset()) is None


def test_a_seat_left_out_by_a_filter_is_still_a_neighbour() -> None:
    # Taking A1-A2 leaves A3 alone, restricted view or not.
    house = a_house("..rX", "....")
    assert found(house, 2, categories=STANDARD) == ["B1 B2"]


def test_family_blocks_are_for_families_first() -> None:
    groups = [a_group("family_block", "A1 A2 A3 A4")]
    assert found(a_house("....", "....", groups=groups), 2) == ["B1 B2"]
    assert found(a_house("....", "....", groups=groups), 4) == ["A1 A2 A3 A4"]
    groups = [a_group("family_block", "A1 A2 A3 A4", min_party=5)]
    assert found(a_house("....", "....", groups=groups), 4) == ["B1 B2 B3 B4"]
    assert found(a_house("....", "XXXX", groups=groups), 2) == ["A1 A2"]


def test_one_does_not_sit_at_two_tables_as_if_they_were_one() -> None:
    groups = [a_group("vip_table", "A1 A2 A3"), a_group("vip_table", "A4 A5 A6")]
    assert found(a_house("......", groups=groups), 4) == ["A2 A3", "A4 A5"]


WHOLE = [a_group("vip_table", "A1 A2 A3 A4", whole=True)]


def test_a_whole_table_is_for_the_party_that_fills_it() -> None:
    house = a_house("....", "......", groups=WHOLE)
    assert found(house, 4) == ["A1 A2 A3 A4"]
    assert found(house, 3) == ["B1 B2 B3"]


def test_a_whole_table_is_never_begun() -> None:
    # Four people, four seats at the table, of which one is gone: they do not get the other three.
    assert found(a_house(".X..", "..", "..", groups=WHOLE), 4) == ["B1 B2", "C1 C2"]
    assert found(a_house(".X..", "..", groups=WHOLE), 4) is None
    assert found(a_house("r...", "..", groups=WHOLE), 4, categories=STANDARD) is None
    apart = search_for(a_house(".X..", ".X.X.", groups=WHOLE), Wish(4))
    assert nearest_apart(apart) is None


def test_a_whole_table_of_several_rows_is_not_given_to_anybody_in_parts() -> None:
    groups = [a_group("vip_table", "A1 A2 B1 B2", whole=True)]
    assert found(a_house("..", "..", groups=groups), 4) is None


def test_wheelchair_and_companion_places_are_never_handed_out_unasked() -> None:
    assert found(a_house("wcwc", "wc.."), 2) == ["B3 B4"]
    assert found(a_house("wcwc", "wc.X"), 2) is None


def test_released_companion_seats_are_handed_out() -> None:
    assert found(a_house("Wcc" + "X" * 17), 2) == ["A2 A3"]
    assert found(a_house("Wcc" + "X" * 16 + "." * 4), 4) == ["A20 A21 A22 A23"]


def test_an_empty_house_has_no_seats() -> None:
    house = a_house(
        zones=[[]], snapshot=Snapshot(seq=0, held=b"", held_until=b"", sold=b"", blocked=b"")
    )
    assert found(house, 2) is None
    assert largest_together(search_for(house, Wish(2))) == []
    assert nearest_apart(search_for(house, Wish(2))) is None


def test_the_most_seats_together_are_known() -> None:
    house = a_house("..X...X.", "....|...")
    assert len(largest_together(search_for(house, Wish(9)))) == 4
    only = search_for(house, Wish(9, categories=RESTRICTED))
    assert largest_together(only) == []


@pytest.mark.parametrize("party", range(1, 20))
@pytest.mark.parametrize("count", range(2, PARTS_MAX + 1))
def test_divisions_are_all_ways_to_divide_a_party(party: int, count: int) -> None:
    ways = list(divisions(party, count))
    assert len(set(ways)) == len(ways)
    assert all(sum(way) == party and min(way) >= 2 and len(way) == count for way in ways)
    assert all(list(way) == sorted(way, reverse=True) for way in ways)
    two = [(a, party - a) for a in range(2, party - 1) if a >= party - a]
    three = [
        (a, b, party - a - b)
        for a in range(2, party)
        for b in range(2, a + 1)
        if 2 <= party - a - b <= b
    ]
    assert set(ways) == set(two if count == 2 else three)


def test_parts_are_seats_side_by_side_the_largest_first() -> None:
    house = a_house("...|..", "....")
    chosen = side_by_side(house.plan, steps(house, "A2 A3 A4 A5 B1 B4"))
    assert [names(house, part) for part in chosen] == ["A2 A3", "A4 A5", "B1", "B4"]


def test_rather_apart_than_not_at_all() -> None:
    house = a_house(".X.X.", ".X.X.", "XXXXX", "...")
    assert found(house, 8) is None
    choice = nearest_apart(search_for(house, Wish(8)))
    assert choice is not None
    assert [len(part) for part in choice.parts][:2] in ([3, 1], [2, 1])
    assert len(set(choice.steps)) == 8


def test_apart_is_as_near_each_other_as_can_be() -> None:
    house = a_house(".X.X" + "X" * 20 + ".", "X.XX" + "X" * 20 + ".", focal_point=Point(0, -1))
    assert parts(house, nearest_apart(search_for(house, Wish(3)))) == ["A1", "A3", "B2"]


def test_who_uses_a_wheelchair_is_not_seated_just_anywhere() -> None:
    house = a_house(".X.X.", "w....")
    assert nearest_apart(search_for(house, Wish(3, wheelchair_places=2))) is None


def test_apart_takes_the_left_of_seats_as_good_as_each_other() -> None:
    house = a_house(".X.X.X.", focal_point=Point(3, -1))
    assert parts(house, nearest_apart(search_for(house, Wish(1)))) == ["A3"]
    assert parts(house, nearest_apart(search_for(house, Wish(3)))) == ["A1", "A3", "A5"]


def test_apart_needs_as_many_seats_as_people() -> None:
    assert nearest_apart(search_for(a_house(".X."), Wish(3))) is None
    choice = nearest_apart(search_for(a_house(".X."), Wish(2)))
    assert choice is not None
    assert choice.parts == ((0,), (2,))
