"""Layouts as text: what a line means, where its seats stand, and what is said of bad lines."""

import itertools
import math
import re
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from voelgoed.seating.forms.rows import (
    Block,
    Gap,
    Numbering,
    Spot,
    companions_of,
    numbers,
    points_of,
    row_of,
)
from voelgoed.seating.forms.text_form import PLACES_MAX, read_text
from voelgoed.seating.model.layout import LayoutConfig, Point, Seat, SeatCategory, TextFault
from voelgoed.seating.rules.validation import check_config
from voelgoed.seating.rules.validation_shapes import FAULTS_MAX

HALL = 'zone hall reserved_seating "Hall"\n'
CATEGORIES: dict[str, SeatCategory] = {"w": "wheelchair", "c": "companion", "s": "standard"}
NEAR = 1e-3
"""Coordinates have four digits."""


def layout_of(text: str) -> LayoutConfig:
    config, faults = read_text(text)
    assert config is not None, faults
    return config


def seats_of(text: str) -> list[Seat]:
    return [seat for zone in layout_of(HALL + text).zones for seat in zone.seats]


def faults_of(text: str) -> list[TextFault]:
    config, faults = read_text(text)
    assert config is None
    assert faults == sorted(faults)
    return [TextFault(fault.line, fault.message) for fault in faults]


def apart(one: Point, other: Point) -> float:
    return math.hypot(one.x - other.x, one.y - other.y)


def labels(text: str) -> str:
    return " ".join(seat.seat_id for seat in seats_of(text))


# What a line means.


def test_the_smallest_layout_is_a_zone_and_a_row() -> None:
    config = layout_of(HALL + "row A 1-3")
    [zone] = config.zones
    assert (zone.name, zone.zone_type, zone.capacity) == ("Hall", "reserved_seating", 3)
    assert config.total_capacity == 3
    assert [seat.coordinates for seat in zone.seats] == [Point(-1, 0), Point(0, 0), Point(1, 0)]


def test_a_zone_keeps_its_id_as_long_as_it_keeps_its_code() -> None:
    [before], [after] = (layout_of(f"zone hall {rest}\nrow A 1").zones for rest in (
        'reserved_seating "Hall"',
        'vip_reserved "Great Hall" prefix G access role_based:owner,admin',
    ))  # fmt: skip
    assert before.zone_id == after.zone_id
    assert str(before.zone_id) == "a156ccdb-a005-5f05-866d-7f1736dbbaff"
    assert after.seats[0].seat_id == "G-A-1"
    assert after.allowed_roles == ["owner", "admin"]


def test_rows_follow_one_another_front_to_back_and_names_can_be_left_out() -> None:
    seats = seats_of("rows G-H,J seats 1\nwalkway 2\nrows T9-T11 seats 1\nrow AA 1")
    assert [seat.row for seat in seats] == ["G", "H", "J", "T9", "T10", "T11", "AA"]
    assert [seat.coordinates.y for seat in seats] == [0, 1, 2, 5, 6, 7, 8]


def test_names_go_on_after_z_and_in_both_directions() -> None:
    assert [seat.row for seat in seats_of("rows Y-AB seats 1")] == ["Y", "Z", "AA", "AB"]
    assert [seat.row for seat in seats_of("rows 3-1 seats 1")] == ["3", "2", "1"]


def test_a_written_out_row_has_ranges_steps_gaps_and_categories() -> None:
    seats = seats_of("row A 5-1/2 | 2-4/2 _ r6 a7")
    assert [seat.number for seat in seats] == [5, 3, 1, 2, 4, 6, 7]
    assert [seat.category for seat in seats][-2:] == ["restricted_view", "aisle"]
    steps = [b.coordinates.x - a.coordinates.x for a, b in itertools.pairwise(seats)]
    assert steps == [1, 1, 2, 1, 2, 1]


def test_empty_places_at_an_end_push_a_row_aside() -> None:
    assert [seat.coordinates.x for seat in seats_of("row A 1-2 _ _")] == [-1.5, -0.5]


def test_an_aisle_is_as_wide_as_its_block_says() -> None:
    one, other = seats_of("block at 0,0 pitch 2 aisle 1.5\nrow A 1 | 2")
    assert apart(one.coordinates, other.coordinates) == 5


def test_sections_have_aisles_between_them_and_can_grow() -> None:
    seats = seats_of("rows A-C seats 2,1 grow 0,0.5")
    assert [sum(seat.row == row for seat in seats) for row in "ABC"] == [3, 3, 4]
    assert apart(seats[1].coordinates, seats[2].coordinates) == 2


@pytest.mark.parametrize(
    ("numbering", "expected"),
    [
        ("left", "A-1 A-2 A-3 A-4 A-5"),
        ("right", "A-5 A-4 A-3 A-2 A-1"),
        ("centre", "A-5 A-3 A-1 A-2 A-4"),
        ("odd-even", "A-3 A-1 A-2 A-4 A-6"),
    ],
)
def test_numbering(numbering: str, expected: str) -> None:
    assert labels(f"row A seats 2,3 numbering {numbering}") == expected


def test_a_turned_block_faces_the_other_way() -> None:
    front, back = seats_of("block at -10,0 turn 90\nrows A-B seats 1")
    assert (front.coordinates, back.coordinates) == (Point(-10, 0), Point(-11, 0))


def test_a_companion_belongs_to_the_nearest_wheelchair_place() -> None:
    partners = {seat.number: seat.companion_seat_id for seat in seats_of(
        "row A w1 c2 w3 c4 c5 | 6 c7 w8"
    )}  # fmt: skip
    assert partners == {
        **{1: "A-2", 2: "A-1", 3: "A-4", 4: "A-3", 5: "A-3", 6: None},
        **{7: "A-8", 8: "A-7"},
    }


def test_of_two_wheelchair_places_the_one_without_a_companion_comes_first() -> None:
    partners = {seat.number: seat.companion_seat_id for seat in seats_of("row A c1 w2 c3 w4")}
    assert partners == {1: "A-2", 2: "A-1", 3: "A-4", 4: "A-3"}


@given(st.lists(st.sampled_from("wcs|"), min_size=1, max_size=30))
def test_the_nearest_is_the_nearest_of_all(kinds: list[str]) -> None:
    words = [kind if kind == "|" else f"{kind}{at}" for at, kind in enumerate(kinds, start=1)]
    row = [Gap(2.0) if word == "|" else Spot(int(word[1:]), CATEGORIES[word[0]]) for word in words]
    stand = dict[int, float]()
    along = 0.0
    for place in row:
        if isinstance(place, Spot):
            stand[place.number] = along
        along += place.places if isinstance(place, Gap) else 1.0
    chairs = [
        place.number for place in row if isinstance(place, Spot) and place.category == "wheelchair"
    ]
    assume(chairs)
    for companion, chair in companions_of(row).items():
        distances = [abs(stand[each] - stand[companion]) for each in chairs]
        assert abs(stand[chair] - stand[companion]) == min(distances)


def test_tables_are_groups_whose_seats_are_one_pitch_apart() -> None:
    config = layout_of(HALL + "tables T1-T2 seats 8 at 10,5 step 0,6 whole")
    first, second = config.seat_groups
    assert (first.group_type, first.name, first.metadata) == ("vip_table", "T1", {"whole": True})
    assert second.seat_ids == [f"T2-{number}" for number in range(1, 9)]
    points = [seat.coordinates for seat in config.zones[0].seats[:8]]
    for one, other in itertools.pairwise([*points, points[0]]):
        assert apart(one, other) == pytest.approx(1, abs=NEAR)


def test_areas_have_places_access_and_a_box() -> None:
    text = "zone pit ga_standing Pit capacity 300 at 0,1 size 30x9 access membership_tier:gold"
    [pit] = layout_of(text).zones
    assert (pit.capacity, pit.access_mode, pit.membership_tier) == (300, "membership_tier", "gold")
    assert pit.metadata == {"x": -15, "y": 1, "width": 30, "height": 9}


def test_groups_name_seats_one_by_one_or_in_ranges() -> None:
    config = layout_of(HALL + 'rows A-B seats 9\ngroup family_block "F" A-1..5/2 B-2..3 B-9')
    assert config.seat_groups[0].seat_ids == ["A-1", "A-3", "A-5", "B-2", "B-3", "B-9"]


def test_comments_blank_lines_and_any_line_ends_do_not_matter() -> None:
    text = '\ufeff# a hall\r\n\r\nzone hall reserved_seating "The # Hall" # so\rrow A 1-3\n'
    assert layout_of(text).zones[0].name == "The # Hall"


# What is said of bad lines.


def test_every_bad_line_is_named_at_once() -> None:
    faults = faults_of("zone x nonsense X\nrow A 1-\nfocus 3\nseat A\n" + HALL + "row A 1-3")
    assert [fault.line for fault in faults] == [1, 2, 3, 4]


def test_a_row_of_nothing_but_gaps_is_not_repeated_without_end() -> None:
    faults = faults_of(HALL + ("rows 1-500 1 " + "_ " * 999 + "\n") * 4)
    limit = f"the rows have more than {PLACES_MAX} seats, aisles and empty places"
    assert [fault for fault in faults if fault.message == limit] == [
        TextFault(line, limit) for line in (4, 5)
    ]


def test_after_a_thousand_bad_lines_no_more_are_read() -> None:
    faults = faults_of(HALL + "row A 1\n" + "row B 1-1000 1001\n" * (FAULTS_MAX + 100))
    assert len(faults) == FAULTS_MAX


def test_a_bad_line_is_not_blamed_on_others_as_well() -> None:
    [fault] = faults_of(HALL + "row A 1-3\nrow B one\ngroup family_block F B-1..2\ntotal 6")
    assert fault.line == 3


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("total 7", "total capacity: must be the sum of the zones' capacities, 1"),
        ("block at 0,0\nrow Z 5", "seat Z-5, coordinates: must be at least 0.1 away from seat Z-1 (line 2)"),
        ("walkway 1\nrow Z 1", "seat Z-1, seat_id: is already the seat_id of seat Z-1 (line 2)"),
        ("group family_block F Z-2", "group F, seat_ids[0]: names no seat of this layout"),
        ("row A c1", "companion 1 has no wheelchair place in its row"),
        ("row A 1 x", "`x` is no seat, such as 7, 1-14, 27-1/2 or w3, and neither | nor _"),
        ("row A |", "the row has no seats"),
        ("row A 1-9/0", "a range cannot go in steps of 0"),
        ("row A 1-5000", "from 1 to 5000 is more than 1000"),
        ("rows A-3 seats 2", "`A-3` is no range of names, such as A-H, 1-10 or T1-T8"),
        ("rows A-B", "say which row and which seats: row A 1-14 | 15-28"),
        ("rows B seats 2,2 grow 1", "`seats` has 2 sections, and `grow` has 1"),
        ("block at 0,0 at 1,1", "`at` is given twice"),
        ("block at", "`at` needs a value"),
        ("block pitch 1", "`at` is missing"),
        ("block at 0", "a place is two numbers with a comma and no blank between, and not `0`"),
        ("block at 0,0 aisle 0.5", "aisle is a number from 1 to 100, and not `0.5`"),
        ("table T1 seats 4 at 5,5 round", "`round` is not known here; known are seats, at, step, whole"),
        ("group crowd F Z-1", "a group's type is one of wheelchair_pair, family_block, vip_table, reserved_block, and not `crowd`"),
        ('zone b reserved_seating "B', 'a " is missing, or is inside a word'),
        ("zone Ö reserved_seating B", "a zone's code has small letters and digits, and not `Ö`"),
        ("zone hall reserved_seating B", "there is a zone `hall` already"),
        ("zone b ga_seated B", "`capacity` is missing"),
        ("zone b reserved_seating B", "zone b, seats: must not be empty: reserved_seating is made of seats"),
        ("zone b ga_seated B capacity 5 access whitelist", "write access as public, membership_tier:…, role_based:…,… or whitelist:…"),
    ],
)  # fmt: skip
def test_a_bad_line_says_what_is_wrong(line: str, reason: str) -> None:
    messages = [fault.message for fault in faults_of(HALL + "row Z 1\n" + line)]
    assert reason in messages


def test_a_row_cannot_be_more_than_half_a_circle() -> None:
    [fault] = faults_of(HALL + "block at 0,5 curve 5\nrow A 1-16\nwalkway 2\nrow B 1-30")
    assert (fault.line, fault.message.partition(":")[0]) == (5, "the row is too long for its curve")


def test_an_empty_text_has_no_zones() -> None:
    assert faults_of("# nothing yet\n") == [TextFault(1, "zones: must have 1 or more entries")]


def test_more_seats_than_a_layout_may_have_are_refused_and_not_made() -> None:
    text = HALL + "".join(f"rows {n * 500 + 1}-{n * 500 + 500} seats 1000\n" for n in range(50))
    assert "a layout has at most 120000 seats" in {fault.message for fault in faults_of(text)}


WORDS = st.sampled_from(
    [
        "zone",
        "row",
        "rows",
        "table",
        "tables",
        "block",
        "group",
        "focus",
        "total",
        "walkway",
        "hall",
        "reserved_seating",
        "ga_standing",
        "vip_reserved",
        '"Hall"',
        '""',
        '"',
        "#",
        "A",
        "B-D",
        "A-H,J",
        "1-14",
        "14-1/2",
        "w1",
        "c2",
        "r3",
        "a4",
        "5",
        "|",
        "_",
        "seats",
        "numbering",
        "grow",
        "centre",
        "odd-even",
        "left",
        "at",
        "0,0",
        "3,-4.5",
        "pitch",
        "depth",
        "curve",
        "turn",
        "aisle",
        "0",
        "1",
        "2.5",
        "40",
        "8,8",
        "capacity",
        "prefix",
        "access",
        "public",
        "membership_tier:gold",
        "role_based:",
        "whitelist:x",
        "size",
        "4x3",
        "whole",
        "step",
        "family_block",
        "F-1",
        "A-1..4",
        "A-1..9/3",
        "--",
        ",",
        "-",
        "/",
        "..",
        "99999999",
        "1e9",
        "\ufeff",
        "²",
        "é",
        "\x01",
    ]
)


@given(st.text() | st.lists(WORDS | st.text(max_size=4), max_size=9).map(" ".join).flatmap(
    lambda line: st.lists(st.lists(WORDS, max_size=9).map(" ".join), max_size=6).map(
        lambda lines: "\n".join([HALL, *lines, line])
    )
))  # fmt: skip
@example(HALL + "row A w1 c1 1 1")
@example(HALL + "block at 1000000,0\nrow A 1-1000")
@example(HALL + "table T seats 3 at 999999.9,0")
@example("zone a ga_seated \x01 capacity 1")
def test_any_text_is_a_sound_layout_or_has_faults(text: str) -> None:
    config, faults = read_text(text)
    assert (config is None) == bool(faults)
    if config is not None:
        assert check_config(msgspec.to_builtins(config)) == (config, [])


# Where seats stand.

SECTIONS = st.lists(st.integers(1, 30), min_size=1, max_size=5)
NUMBERINGS = st.sampled_from(get_args(Numbering))
BLOCKS = st.builds(
    Block,
    at=st.builds(Point, st.integers(-500, 500), st.integers(-500, 500)),
    pitch=st.sampled_from([0.5, 1.0, 2.0]),
    curve=st.none() | st.floats(150, 5000),
    turn=st.floats(-360, 360),
    aisle=st.sampled_from([1.0, 1.5, 3.0]),
)


@given(SECTIONS, NUMBERINGS)
def test_every_number_is_there_once(sections: list[int], numbering: Numbering) -> None:
    given = numbers(sections, numbering)
    assert len(set(given)) == len(given) == sum(sections)
    assert min(given) == 1
    if numbering != "odd-even":
        assert sorted(given) == list(range(1, sum(sections) + 1))


@given(SECTIONS)
def test_odd_numbers_are_left_of_even_ones_and_grow_outwards(sections: list[int]) -> None:
    given = numbers(sections, "odd-even")
    odd, even = [n for n in given if n % 2], [n for n in given if n % 2 == 0]
    assert given == sorted(odd, reverse=True) + sorted(even)


@given(SECTIONS, BLOCKS, st.floats(0, 100))
def test_neighbours_are_one_pitch_apart_and_aisles_two_or_more(
    sections: list[int], block: Block, back: float
) -> None:
    row = row_of(sections, "left", block.aisle)
    points = iter(points_of(row, block, back))
    before: Point | None = None
    across_an_aisle = False
    for place in row:
        if isinstance(place, Gap):
            across_an_aisle = True
            continue
        at = next(points)
        if before is not None:
            distance = apart(before, at) / block.pitch
            expected = 1 + block.aisle if across_an_aisle else 1
            assert distance == pytest.approx(expected, abs=NEAR)
            assert distance >= 2 - NEAR or not across_an_aisle
        before, across_an_aisle = at, False


@given(st.integers(1, 40), BLOCKS)
def test_rows_do_not_collide_and_are_further_back_one_by_one(seats: int, block: Block) -> None:
    row = [Spot(number) for number in range(1, seats + 1)]
    front, behind = points_of([*row], block, 0), points_of([*row], block, block.depth)
    closest = min(apart(one, other) for one in front for other in behind)
    assert closest >= min(block.pitch, block.depth) / 2


def test_the_worked_example_of_the_documentation_works() -> None:
    page = (Path(__file__).parents[2] / "docs" / "layouts.md").read_text()
    [example] = re.findall(r"```layout\n(.*?)```", page, re.DOTALL)
    config = layout_of(example)
    assert [zone.name for zone in config.zones] == ["Pit", "Stalls", "Lounge"]
    assert len(config.seat_groups) == 4
