"""Who sits beside whom, as the geometry of a layout tells."""

import math
from itertools import groupby
from random import Random
from uuid import UUID, uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.seating.support import LINEAGE, a_group, a_layout, a_plan
from voelgoed.seating.forms.rows import numbers
from voelgoed.seating.model.layout import LayoutConfig, Point, Seat, SeatGroup, Zone
from voelgoed.seating.rules.plan import Plan, compile_plan, seat_uuid
from voelgoed.seating.samples import sample, stadium

pictures = st.text("..XXr|", min_size=1, max_size=12).filter(lambda row: row.strip("|"))


def of_points(rows: dict[str, list[tuple[float, float]]], **layout: object) -> Plan:
    """One zone; the seats of a row are numbered as they come."""
    seats = [
        Seat(seat_id=f"{row}{number}", row=row, number=number, coordinates=Point(x, y))
        for row, points in rows.items()
        for number, (x, y) in enumerate(points, start=1)
    ]
    return compile_plan(config_of(seats, **layout), LINEAGE)


def config_of(seats: list[Seat], **layout: object) -> LayoutConfig:
    zone = Zone(
        zone_id=UUID(int=1),
        zone_type="reserved_seating",
        name="Stalls",
        capacity=max(len(seats), 1),
        seats=seats,
    )
    return LayoutConfig(zones=[zone], **layout)  # type: ignore[arg-type]


def runs(plan: Plan) -> list[str]:
    """`A1 A2 A3` for each run, along the rows."""
    steps = zip(plan.rows.run.tolist(), plan.rows.position.tolist(), strict=True)
    return [
        " ".join(plan.seats[position].seat_id for _, position in run)
        for _, run in groupby(steps, key=lambda step: step[0])
    ]


def either_way(names: str) -> set[str]:
    return {names, " ".join(reversed(names.split()))}


def arc(seats: int, radius: float, degrees: float, turn: float = 0.0) -> list[tuple[float, float]]:
    angles = [math.radians(turn + degrees * (at / (seats - 1) - 0.5)) for at in range(seats)]
    return [(radius * math.sin(angle), radius * math.cos(angle)) for angle in angles]


def test_seats_without_a_gap_between_them_are_one_run() -> None:
    assert runs(a_plan(["....", "..|..", ". ..."])) == [
        "A1 A2 A3 A4",
        "B1 B2",
        "B3 B4",
        "C1",
        "C2 C3 C4",
    ]


def test_a_gap_is_one_in_every_row_even_where_nothing_else_is() -> None:
    assert runs(a_plan(["......", ".|.|.", ".|."])) == [
        "A1 A2 A3 A4 A5 A6",
        "B1",
        "B2",
        "B3",
        "C1",
        "C2",
    ]


def test_a_row_that_is_spaced_wider_than_its_zone_is_still_a_run() -> None:
    plan = of_points(
        {
            "A": [(x, 0) for x in range(9)],
            "B": [(x, 1) for x in range(9)],
            "C": [(1.6 * x, 2) for x in range(6)],
        }
    )
    assert runs(plan)[2] == "C1 C2 C3 C4 C5 C6"


def test_one_narrow_pair_does_not_break_its_row() -> None:
    plan = of_points({"A": [(x, 0) for x in (0, 1, 2, 2.5, 3.5, 4.5, 5.5)]})
    assert runs(plan) == ["A1 A2 A3 A4 A5 A6 A7"]


@pytest.mark.parametrize("degrees", [1, 30, 90, 175, 180])
@pytest.mark.parametrize("turn", [0, 45, 90, 180, 270])
def test_a_curved_row_is_one_run_in_its_order(degrees: float, turn: float) -> None:
    plan = of_points({"A": arc(15, 20, degrees, turn)})
    assert runs(plan)[0] in either_way(" ".join(f"A{n}" for n in range(1, 16)))


@pytest.mark.parametrize("degrees", [200, 270, 330])
def test_a_horseshoe_is_one_run_from_end_to_end(degrees: float) -> None:
    plan = of_points({"A": arc(30, 20, degrees)})
    assert runs(plan)[0] in either_way(" ".join(f"A{n}" for n in range(1, 31)))


def test_a_ring_is_cut_at_its_aisle() -> None:
    whole = arc(41, 20, 360)[:40]  # the last would be the first again
    plan = of_points({"A": [point for at, point in enumerate(whole) if at not in {9, 10}]})
    [around] = runs(plan)
    assert around in either_way(" ".join(f"A{1 + (9 + n) % 38}" for n in range(38)))


def test_a_row_from_front_to_back_is_one_run() -> None:
    assert runs(of_points({"A": [(3, y) for y in range(6)]}))[0] in either_way("A1 A2 A3 A4 A5 A6")


def test_odd_and_even_numbers_are_neighbours_as_they_stand() -> None:
    order = numbers([4, 4], "odd-even")
    assert order == [7, 5, 3, 1, 2, 4, 6, 8]
    seats = [
        Seat(seat_id=f"A{number}", row="A", number=number, coordinates=Point(x, 0))
        for number, x in zip(order, (0, 1, 2, 3, 5, 6, 7, 8), strict=True)
    ]
    assert runs(compile_plan(config_of(seats), LINEAGE)) == ["A7 A5 A3 A1", "A2 A4 A6 A8"]


@given(st.lists(st.lists(pictures, min_size=1, max_size=4), min_size=1, max_size=3))
def test_runs_are_those_of_the_picture(zones: list[list[str]]) -> None:
    zones = [[*rows, "." * 50] for rows in zones]  # which tells how far apart neighbours are
    names = iter("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    expected: set[str] = set()
    for picture in (picture for rows in zones for picture in rows):
        name, number = next(names), 0
        for run in filter(None, picture.split("|")):
            expected.add(" ".join(f"{name}{number + at}" for at in range(1, len(run) + 1)))
            number += len(run)
    assert set(runs(a_plan(*zones))) == expected


@given(
    st.lists(st.lists(pictures, min_size=1, max_size=4), min_size=1, max_size=3),
    st.integers(),
    st.booleans(),
)
def test_the_order_in_which_seats_are_listed_changes_nothing(
    zones: list[list[str]], seed: int, lengthwise: bool
) -> None:
    groups: list[SeatGroup] = []
    first = a_layout(*zones).zones[0].seats
    if lengthwise:  # the first row is a table
        at_table = [seat.seat_id for seat in first if seat.row == "A"]
        groups = [SeatGroup(group_type="vip_table", seat_ids=at_table)]
    plan = a_plan(*zones, groups=groups)
    other = a_plan(*zones, groups=groups, shuffled=seed)
    assert runs(plan) == runs(other)
    assert plan.rows.name_of_row == other.rows.name_of_row
    assert plan.rows.x.tolist() == other.rows.x.tolist()
    assert plan.rows.distance.tolist() == other.rows.distance.tolist()


@pytest.mark.parametrize("name", ["theatre", "hall", "festival"])
def test_shuffled_samples_are_the_same_houses(name: str) -> None:
    config = sample(name)
    random = Random(name)
    zones = [
        Zone(
            zone_id=zone.zone_id,
            zone_type=zone.zone_type,
            name=zone.name,
            capacity=zone.capacity,
            seats=random.sample(zone.seats, len(zone.seats)),
        )
        for zone in config.zones
    ]
    other = LayoutConfig(
        zones=zones, seat_groups=config.seat_groups, focal_point=config.focal_point
    )
    assert runs(compile_plan(config, LINEAGE)) == runs(compile_plan(other, LINEAGE))


def test_the_sections_of_a_stadium_are_runs() -> None:
    plan = compile_plan(stadium(5_000), LINEAGE)
    rows = {(int(plan.zone[at]), seat.row) for at, seat in enumerate(plan.seats)}
    assert len(runs(plan)) == len(rows)


def test_rows_are_ranked_from_the_front() -> None:
    plan = of_points(
        {row: [(x, y) for x in range(4)] for row, y in {"C": 3, "A": 1, "B": 2}.items()}
    )
    assert plan.rows.name_of_row == ["A", "B", "C"]
    assert plan.rows.rank_of_row.tolist() == [0, 1, 2]


def test_the_front_is_where_the_focal_point_is() -> None:
    rows = {row: [(x, y) for x in range(4)] for row, y in {"C": 3, "A": 1, "B": 2}.items()}
    plan = of_points(rows, focal_point=Point(1.5, 9))
    assert plan.rows.name_of_row == ["C", "B", "A"]


def test_a_wide_row_is_not_behind_the_narrow_one_behind_it() -> None:
    wide, narrow, wings = "." * 30, " " * 12 + "......", "....." + " " * 20 + "....."
    assert a_plan([wide, narrow, wide]).rows.name_of_row == ["A", "B", "C"]
    assert a_plan([wings, wide, narrow]).rows.name_of_row == ["A", "B", "C"]


@pytest.mark.parametrize("turn", [0, 30, 90, 200])
@given(st.lists(st.tuples(st.integers(2, 30), st.booleans()), min_size=2, max_size=6))
def test_curved_rows_of_any_width_are_ranked_by_their_radius(
    turn: float, widths: list[tuple[int, bool]]
) -> None:
    rows = {
        "ABCDEF"[back]: arc(seats, 20 + back, 3 * seats, turn + (2 if pushed else 0))
        for back, (seats, pushed) in enumerate(widths)
    }
    plan = of_points(rows, focal_point=Point(0, 0))
    assert plan.rows.name_of_row == sorted(rows)


def test_around_the_focal_point_the_nearest_ring_is_in_front() -> None:
    for degrees in (220, 270, 355):
        rings = {"C": arc(37, 22, degrees), "A": arc(30, 20, degrees), "B": arc(36, 21, degrees)}
        assert of_points(rings, focal_point=Point(0, 0)).rows.name_of_row == ["A", "B", "C"]


@pytest.mark.parametrize("name", ["theatre", "hall", "festival"])
def test_rows_of_the_samples_are_in_their_order(name: str) -> None:
    config = sample(name)
    listed = [row for zone in config.zones for row in dict.fromkeys(s.row for s in zone.seats)]
    assert compile_plan(config, LINEAGE).rows.name_of_row == listed


def test_every_zone_has_a_first_row() -> None:
    plan = a_plan(["...", "..."], ["....", "....", "...."])
    assert plan.rows.rank_of_row.tolist() == [0, 1, 0, 1, 2]
    assert plan.rows.zone_of_row.tolist() == [0, 0, 1, 1, 1]


def test_rows_as_near_as_each_other_go_by_name() -> None:
    sides = {"10": [(-5, y) for y in range(3)], "9": [(5, y) for y in range(3)]}
    plan = of_points(sides, focal_point=Point(0, 0))
    assert plan.rows.name_of_row == ["9", "10"]


def test_without_a_focal_point_the_middle_of_the_front_is_looked_at() -> None:
    plan = a_plan(["...", "....."])
    assert plan.focal_point == Point(2, 0)


def test_distance_is_measured_in_seats() -> None:
    plan = of_points({"A": [(50 * x, 0) for x in range(5)]}, focal_point=Point(0, -100))
    assert plan.rows.distance[0] == pytest.approx(2)


def test_every_table_is_a_run_of_its_own_however_its_seats_stand() -> None:
    tables = [a_group("vip_table", "A1 A3 A5"), a_group("vip_table", "A2 A4 A6")]
    plan = a_plan([".........", "......"], groups=tables)
    assert runs(plan)[:3] == ["A7 A8 A9", "A1 A3 A5", "A2 A4 A6"]


def test_a_layout_without_seats_is_a_plan_without_seats() -> None:
    plan = compile_plan(config_of([]), LINEAGE)
    assert (len(plan), runs(plan)) == (0, [])
    assert len(compile_plan(config_of(a_layout(["."]).zones[0].seats), LINEAGE)) == 1


def test_a_seat_keeps_its_uuid_through_versions_of_its_layout() -> None:
    before, after = a_plan(["..."]), a_plan(["....", "..."], shuffled=1)
    assert before.ids[before.by_seat_id["A2"]] == after.ids[after.by_seat_id["A2"]]
    assert seat_uuid(LINEAGE, "A2") == uuid5(LINEAGE, "A2")
    assert seat_uuid(UUID(int=78), "A2") != seat_uuid(LINEAGE, "A2")


def test_a_seat_is_found_by_label_or_uuid() -> None:
    plan = a_plan(["...", "..."])
    position = plan.by_seat_id["B2"]
    assert plan.find("B2") == position
    assert plan.find(str(plan.ids[position])) == position
    assert plan.find(str(plan.ids[position]).upper()) == position


@pytest.mark.parametrize("name", ["", "b2", "B22", str(UUID(int=5)), "x" * 36, "é" * 36])
def test_what_is_not_a_seat_is_not_found(name: str) -> None:
    assert a_plan(["...", "..."]).find(name) is None


def test_a_label_that_looks_like_a_uuid_is_a_label() -> None:
    label = str(UUID(int=5))
    seat = Seat(seat_id=label, row="A", number=1, coordinates=Point(0, 0))
    assert compile_plan(config_of([seat]), LINEAGE).find(label) == 0
