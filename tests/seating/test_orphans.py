"""Seats that a booking leaves alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.seating.support import a_group, a_house, a_policy, names, parts, steps
from voelgoed.seating.rules.best import best
from voelgoed.seating.rules.house import House
from voelgoed.seating.rules.orphans import orphan_count, orphans_after
from voelgoed.seating.rules.search import Wish, search_for
from voelgoed.seating.rules.stretches import stretches

ADJACENT = a_policy(group_adjacency_strict=True)


def orphaned(house: House, seat_ids: str) -> str:
    """`A1 A3` are left alone by booking these."""
    return names(house, orphans_after(house, stretches(house), steps(house, seat_ids)))


def test_the_example_of_the_specification() -> None:
    # The specification names A1 and A3; by its own definition A5 is left alone too.
    assert orphaned(a_house("....."), "A2 A4") == "A1 A3 A5"


SPEC_ROW = ".X..X...X."
"""1(av) 2(X) 3(av) 4(av) 5(X) 6(av) 7(av) 8(av) 9(X) 10(av)"""


def test_two_seats_in_the_row_of_the_specification() -> None:
    # The specification prefers 6-7 as leaving no orphan. It leaves seat 8 with both of its
    # neighbours taken, which is an orphan by the definition three paragraphs above it. What the
    # definition asks for is 3-4: contiguous, and nothing is left alone.
    house = a_house(SPEC_ROW)
    assert orphaned(house, "A6 A7") == "A8"
    assert orphaned(house, "A3 A4") == ""
    assert parts(house, best(search_for(house, Wish(2)))) == ["A3 A4"]


@pytest.mark.parametrize(("seat_ids", "lonely"), [("A1 A6", ""), ("A3 A8", "A4")])
def test_two_seats_apart_are_not_what_that_row_is_for(seat_ids: str, lonely: str) -> None:
    # "NOT seats 1+6", "NOT seats 3+8": never proposed, because a party of two sits together.
    # (1 and 10 were alone before, so that no booking orphans them; 6 leaves 7-8.)
    house = a_house(SPEC_ROW)
    assert orphaned(house, seat_ids) == lonely
    for policy in (a_policy(), ADJACENT, a_policy(orphan_avoidance_strict=False)):
        found = best(search_for(a_house(SPEC_ROW, policy=policy), Wish(2)))
        assert found is not None
        assert names(house, found.steps) != seat_ids


def test_when_nothing_else_is_left_a_seat_may_be_left_alone() -> None:
    # The same row without 3-4: now 6-7 or 7-8, which leaves 8 or 6.
    house = a_house(".XXXX...X.")
    found = best(search_for(house, Wish(2)))
    assert found is not None
    assert (names(house, found.steps), found.orphans) == ("A6 A7", 1)


@pytest.mark.parametrize("strict", [True, False])
def test_two_people_do_not_fit_between_held_seats(strict: bool) -> None:
    policy = a_policy(group_adjacency_strict=True, orphan_avoidance_strict=strict)
    assert best(search_for(a_house(".h.h.", policy=policy), Wish(2))) is None


def test_single_seats_are_no_reason_to_refuse_single_people() -> None:
    house = a_house(".X.X.", "XX.X.")
    found = best(search_for(house, Wish(1)))
    assert found is not None
    assert found.orphans == 0


def test_only_seats_that_had_a_neighbour_can_lose_it() -> None:
    assert orphaned(a_house(".X..."), "A3 A4 A5") == ""
    assert orphaned(a_house(".X..."), "A3 A4") == "A5"


def test_an_aisle_separates() -> None:
    assert orphaned(a_house(".|...", "...."), "A2") == ""
    assert orphaned(a_house("..|..", "...."), "A2") == "A1"
    assert orphaned(a_house("..|..", "...."), "A3") == "A4"


def test_the_next_row_is_nobody_s_neighbour() -> None:
    assert orphaned(a_house("..", "...."), "A2") == "A1"
    assert orphaned(a_house("...", "...."), "A3 B1 B2") == ""


@pytest.mark.parametrize("tens", range(2, 12))
def test_in_a_row_more_than_nine_tenths_sold_a_lonely_seat_does_not_count(tens: int) -> None:
    rest = "." * (tens - 2)
    assert orphaned(a_house(".." + "X" * 9 * tens + rest), "A1") == "A2"  # exactly nine tenths
    assert orphaned(a_house(".." + "X" * (9 * tens + 1) + rest), "A1") == ""
    assert orphaned(a_house(".." + "h" * (9 * tens + 1) + rest), "A1") == ""


def test_blocked_seats_are_not_part_of_the_row() -> None:
    assert orphaned(a_house("X" * 10 + ".." + "b" * 30), "A11") == "A12"
    assert orphaned(a_house("X" * 20 + ".." + "b" * 30), "A21") == ""


def test_nobody_is_alone_at_a_table() -> None:
    house = a_house("......", "......", groups=[a_group("vip_table", "A1 A2 A3 A4 A5 A6")])
    assert orphaned(house, "A2 A4") == ""
    assert orphaned(house, "B2 B4") == "B1 B3"


def test_a_companion_seat_is_no_company() -> None:
    # It is kept for somebody; once released it is a seat like any other.
    assert orphaned(a_house("wc...", "....."), "A4 A5") == "A3"
    free = a_policy(enforce_accessibility_rules=False)
    assert orphaned(a_house("wc...", ".....", policy=free), "A4 A5") == ""


rows = st.text("...XhbcwR|", min_size=1, max_size=25).filter(lambda row: row.strip("|"))


@given(rows, st.data(), st.booleans())
def test_orphans_are_what_the_definition_says(
    row: str, data: st.DataObject, released: bool
) -> None:
    house = a_house(
        row, "......", policy=a_policy(companion_release_occupancy_threshold=0 if released else 100)
    )
    places = [at for at, sign in enumerate(row) if sign != "|"]
    taken = data.draw(st.sets(st.sampled_from(places)))

    def is_free(at: int, *, after: bool) -> bool:
        inside = 0 <= at < len(row)
        return inside and row[at] in (".c" if released else ".") and not (after and at in taken)

    def is_alone(at: int, *, after: bool) -> bool:
        beside = (at - 1, at + 1)
        return is_free(at, after=after) and not any(is_free(each, after=after) for each in beside)

    sold = sum(sign in "XhR" for sign in row)
    sellable = len(places) - row.count("b")
    spared = sold * 10 > sellable * 9
    expected = [
        at
        for at in places
        if not spared and is_alone(at, after=True) and not is_alone(at, after=False)
    ]
    number = {at: count for count, at in enumerate(places, start=1)}
    seat_ids = " ".join(f"A{number[at]}" for at in taken)
    assert orphaned(house, seat_ids) == " ".join(f"A{number[at]}" for at in expected)


@given(st.lists(rows, min_size=1, max_size=3))
def test_the_orphans_of_a_house_are_its_lonely_seats_that_had_a_neighbour(
    drawn: list[str],
) -> None:
    def lonely(row: str) -> int:
        """Not where no other seat was, nor in a row that is nearly sold."""
        seats = [sign for sign in row if sign != "|"]
        taken = sum(sign in "XhR" for sign in seats)
        if taken * 10 > (len(seats) - seats.count("b")) * 9:
            return 0
        runs = [run for run in row.split("|") if len(run) > 1]
        padded = [f" {run} " for run in runs]
        return sum(
            run[at] == "." and run[at - 1] != "." and run[at + 1] != "."
            for run in padded
            for at in range(1, len(run) - 1)
        )

    house = a_house(*drawn, "." * 50, policy=a_policy(companion_release_occupancy_threshold=100))
    assert orphan_count(house, stretches(house)) == sum(map(lonely, drawn))
