"""What customers are told about the seats that were found for them."""

import pytest

from tests.seating.support import a_group, a_house, a_policy, steps
from voelgoed.seating.rules.apart import nearest_apart
from voelgoed.seating.rules.best import best
from voelgoed.seating.rules.house import House
from voelgoed.seating.rules.search import Choice, Wish, search_for, side_by_side
from voelgoed.seating.rules.wheelchairs import best_with_wheelchairs
from voelgoed.seating.rules.words import describe, seat_names


def said(house: House, *parts: str) -> str:
    chosen = tuple(tuple(sorted(steps(house, part))) for part in parts)
    return describe(house.plan, Choice(chosen, 0.0, 0))


HOUSE = a_house("....", "....", "....", "....")


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        (["A1"], "1 seat in Row A, Zone 1."),
        (["A1 A2"], "2 seats together in Row A, Zone 1."),
        (
            ["A1 A2 A3", "B1 B2"],
            "3 seats together in Row A, Zone 1, 2 seats in Row B (1 row back).",
        ),
        (["A1 A2", "D1"], "2 seats together in Row A, Zone 1, 1 seat in Row D (3 rows back)."),
        (["C1 C2", "A1"], "2 seats together in Row C, Zone 1, 1 seat in Row A (2 rows in front)."),
        (["A1", "A4"], "1 seat in Row A, Zone 1, 1 seat in Row A (same row)."),
        (
            ["B1 B2", "A1 A2", "C1 C2"],
            "2 seats together in Row B, Zone 1, 2 seats in Row A (1 row in front), "
            "2 seats in Row C (1 row back).",
        ),
    ],
)
def test_a_choice_is_described_part_by_part(parts: list[str], sentence: str) -> None:
    assert said(HOUSE, *parts) == sentence


def test_tables_are_tables() -> None:
    house = a_house("....", "....", groups=[a_group("vip_table", "A1 A2 A3 A4")])
    assert said(house, "A1 A2") == "2 seats together at table A, Zone 1."
    assert (
        said(house, "A1 A2", "B1")
        == "2 seats together at table A, Zone 1, 1 seat in Row B (nearby)."
    )


def test_another_zone_is_named() -> None:
    house = a_house(zones=[["...."], ["...."]])
    assert (
        said(house, "A1 A2", "B1") == "2 seats together in Row A, Zone 1, 1 seat in Row B (Zone 2)."
    )


def test_rows_are_counted_from_the_front_whatever_they_are_called() -> None:
    wide = a_house("." * 20, " " * 8 + "....", "." * 20)
    assert said(wide, "A1 A2", "B1 B2").endswith("2 seats in Row B (1 row back).")
    assert said(wide, "C1 C2", "B1 B2").endswith("2 seats in Row B (1 row in front).")


def test_what_was_found_is_what_is_said() -> None:
    house = a_house("....X", "XX..X", policy=a_policy(max_group_split=1))
    choice = best(search_for(house, Wish(6)))
    assert choice is not None
    assert describe(house.plan, choice) == (
        "4 seats together in Row A, Zone 1, 2 seats in Row B (1 row back)."
    )


def test_nobody_is_said_to_sit_together_who_does_not() -> None:
    house = a_house("w..X", "XXXX", "w...")
    choice = best_with_wheelchairs(search_for(house, Wish(2, wheelchair_places=2)))
    assert choice is not None
    assert describe(house.plan, choice) == "1 seat in Row A, Zone 1, 1 seat in Row C (2 rows back)."
    scattered = a_house(".X.X.")
    apart = nearest_apart(search_for(scattered, Wish(3)))
    assert apart is not None
    assert "together" not in describe(scattered.plan, apart)


def test_seats_are_called_by_their_labels() -> None:
    [part] = side_by_side(HOUSE.plan, steps(HOUSE, "B2 B3"))
    assert seat_names(HOUSE.plan, part) == ["B2", "B3"]
