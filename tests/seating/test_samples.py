"""The samples are what they say they are, and what the allocator expects of any layout."""

import itertools
import math
from collections import Counter
from importlib.resources import files

import msgspec
import numpy as np
import pytest

from voelgoed.seating.model.layout import ZONES_MAX, LayoutConfig, Point, Seat
from voelgoed.seating.rules.plan import compile_plan
from voelgoed.seating.rules.validation import check_config
from voelgoed.seating.samples import SAMPLES, sample
from voelgoed.seating.samples.stadium import stadium

NEAR = 1e-3
FORBIDDEN = (1 + NEAR, 2 - NEAR)
"""Between a neighbour's distance and a gap's."""


def seats_of(config: LayoutConfig) -> list[Seat]:
    return [seat for zone in config.zones for seat in zone.seats]


def categories_of(config: LayoutConfig) -> Counter[str]:
    return Counter(seat.category for seat in seats_of(config))


def rows_of(config: LayoutConfig) -> list[list[list[Seat]]]:
    """By zone, then by row, in the order of the file."""
    zones: list[list[list[Seat]]] = []
    for zone in config.zones:
        rows: dict[str, list[Seat]] = {}
        for seat in zone.seats:
            rows.setdefault(seat.row, []).append(seat)
        zones.append([*rows.values()])
    return zones


def apart(one: Point, other: Point) -> float:
    return math.hypot(one.x - other.x, one.y - other.y)


@pytest.fixture(scope="module", params=SAMPLES)
def config(request: pytest.FixtureRequest) -> LayoutConfig:
    return sample(request.param)


def test_it_is_sound(config: LayoutConfig) -> None:
    assert check_config(msgspec.to_builtins(config)) == (config, [])


def test_neighbours_are_one_pitch_apart_and_gaps_two_or_more(config: LayoutConfig) -> None:
    for row in itertools.chain.from_iterable(rows_of(config)):
        for one, other in itertools.pairwise(row):
            distance = apart(one.coordinates, other.coordinates)
            assert distance >= 1 - NEAR
            assert not FORBIDDEN[0] < distance < FORBIDDEN[1], (one, other)


def test_no_two_seats_are_closer_than_neighbours_nearly_are(config: LayoutConfig) -> None:
    points = np.array([(seat.coordinates.x, seat.coordinates.y) for seat in seats_of(config)])
    by_x = points[points[:, 0].argsort()]
    for step in range(1, 1_000):  # nobody else is less than 0.9 to the right
        across = by_x[step:] - by_x[:-step]
        near = across[:, 0] < 0.9
        assert (np.hypot(*across[near].T) >= 0.9).all()
        if not near.any():
            return
    raise AssertionError("more seats in a column than looked at")


def test_rows_are_further_from_the_focal_point_one_by_one(config: LayoutConfig) -> None:
    assert config.focal_point is not None
    tables = {
        seat_id
        for group in config.seat_groups
        if group.group_type == "vip_table"
        for seat_id in group.seat_ids
    }
    for zone in rows_of(config):
        rows = [row for row in zone if row[0].seat_id not in tables]
        # Of the last row of a stadium only an end may be left.
        whole = [row for row in rows if len(row) >= len(rows[0]) / 2]
        means = [
            sum(apart(seat.coordinates, config.focal_point) for seat in row) / len(row)
            for row in whole
        ]
        assert means == sorted(means)


def test_a_wheelchair_place_and_its_companions_are_neighbours(config: LayoutConfig) -> None:
    seats = {seat.seat_id: seat for seat in seats_of(config)}
    companions = [seat for seat in seats.values() if seat.category == "companion"]
    chairs = [seat for seat in seats.values() if seat.category == "wheelchair"]
    assert chairs
    for chair in chairs:
        own = [seat for seat in companions if seat.companion_seat_id == chair.seat_id]
        assert chair.companion_seat_id in {seat.seat_id for seat in own}
        distances = sorted(apart(seat.coordinates, chair.coordinates) for seat in own)
        assert distances == pytest.approx(list(range(1, len(own) + 1)), abs=0.01)
    assert all(seat.companion_seat_id for seat in companions)


def test_the_allocator_sees_the_gaps_that_were_written(config: LayoutConfig) -> None:
    plan = compile_plan(config, config.zones[0].zone_id)
    gaps = sum(
        apart(one.coordinates, other.coordinates) > 1.5
        for row in itertools.chain.from_iterable(rows_of(config))
        for one, other in itertools.pairwise(row)
    )
    rows = sum(len(zone) for zone in rows_of(config))
    assert len(np.unique(plan.rows.run)) == rows + gaps


def test_the_theatre() -> None:
    theatre = sample("theatre")
    assert [zone.name for zone in theatre.zones] == ["Stalls", "Circle"]
    assert len(seats_of(theatre)) == theatre.total_capacity == 400
    categories = categories_of(theatre)
    assert categories["wheelchair"] >= 6
    assert categories["companion"] >= categories["wheelchair"]
    assert categories["restricted_view"] == 4
    [house] = theatre.seat_groups
    assert (house.group_type, len(house.seat_ids)) == ("reserved_block", 4)


def test_the_hall() -> None:
    hall = sample("hall")
    assert [zone.name for zone in hall.zones] == ["Stalls", "Balcony", "Boxes left", "Boxes right"]
    assert len(seats_of(hall)) == hall.total_capacity == 2_000
    assert categories_of(hall)["wheelchair"] == 12
    assert {group.group_type for group in hall.seat_groups} == {"family_block"}
    for seat in hall.zones[0].seats + hall.zones[1].seats:
        assert (seat.number % 2 == 1) == (seat.coordinates.x < 0)


def test_the_festival_is_the_one_of_the_specification() -> None:
    festival = sample("festival")
    assert festival.total_capacity == 1_050
    assert {zone.name: (zone.zone_type, zone.capacity) for zone in festival.zones} == {
        "Orchestra": ("reserved_seating", 300),
        "Floor": ("ga_seated", 400),
        "Pit": ("ga_standing", 300),
        "VIP Lounge": ("vip_reserved", 50),
    }
    [lounge] = [zone for zone in festival.zones if zone.name == "VIP Lounge"]
    assert lounge.access_mode == "membership_tier"
    assert lounge.membership_tier == "voelgoed_vriendinne"
    assert [group.group_type for group in festival.seat_groups] == ["vip_table"] * 5


def test_the_stadium() -> None:
    assert len(seats_of(sample("stadium"))) == 50_000
    assert len(sample("stadium").zones) <= ZONES_MAX


@pytest.mark.parametrize("seats", [2_000, 21_113, 120_000])
def test_a_stadium_has_exactly_as_many_seats_as_wanted(seats: int) -> None:
    config = stadium(seats)
    assert check_config(msgspec.to_builtins(config)) == (config, [])
    assert len(seats_of(config)) == seats
    assert categories_of(config)["wheelchair"] == categories_of(config)["companion"] > 0


def test_a_stadium_is_the_same_every_time_and_keeps_its_zones() -> None:
    assert stadium(5_000) == stadium(5_000)
    small, large = ({zone.zone_id for zone in stadium(seats).zones} for seats in (5_000, 50_000))
    assert small < large


def test_samples_are_files_of_the_package() -> None:
    names = {file.name for file in files("voelgoed.seating.samples").iterdir()}
    assert {"theatre.layout", "hall.layout", "festival.layout"} <= names
