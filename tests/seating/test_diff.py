"""What changed between two versions of a layout."""

from typing import Any
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict, replace

from voelgoed.seating.model.layout import (
    LayoutConfig,
    LayoutDiff,
    Point,
    Seat,
    SeatMove,
    SeatRecategorised,
    SeatRelabelled,
    SeatRezoned,
    Zone,
)
from voelgoed.seating.rules.diff import diff

STALLS, BALCONY = UUID(int=1), UUID(int=2)


def a_seat(seat_id: str, **changes: Any) -> Seat:
    row, number = seat_id.split("-")
    seat = Seat(seat_id=seat_id, row=row, number=int(number), coordinates=Point(int(number), 0))
    return replace(seat, **changes)


def a_zone(*seats: Seat, zone_id: UUID = STALLS, **changes: Any) -> Zone:
    zone = Zone(zone_id=zone_id, zone_type="reserved_seating", name="Zone", capacity=1)
    return replace(zone, seats=list(seats), **changes)


def a_layout(*zones: Zone) -> LayoutConfig:
    return LayoutConfig(zones=list(zones))


def changes(before: LayoutConfig, after: LayoutConfig) -> dict[str, Any]:
    """What is not empty in the difference."""
    return {name: found for name, found in asdict(diff(before, after)).items() if found}


BEFORE = a_layout(a_zone(a_seat("B-2"), a_seat("A-1")), a_zone(a_seat("C-1"), zone_id=BALCONY))


def with_seats(*seats: Seat) -> LayoutConfig:
    return a_layout(a_zone(*seats), BEFORE.zones[1])


def test_a_layout_does_not_differ_from_itself() -> None:
    assert changes(BEFORE, BEFORE) == {}


def test_another_order_alone_is_no_difference() -> None:
    assert changes(BEFORE, with_seats(a_seat("A-1"), a_seat("B-2"))) == {}
    assert changes(BEFORE, a_layout(*reversed(BEFORE.zones))) == {}


def test_seats_come_and_go_in_the_order_of_their_layout() -> None:
    after = with_seats(a_seat("Z-2"), a_seat("D-1"))
    assert changes(BEFORE, after) == {"added": ["Z-2", "D-1"], "removed": ["B-2", "A-1"]}


def test_a_seat_moves() -> None:
    after = with_seats(a_seat("B-2", coordinates=Point(2, 0.5)), a_seat("A-1"))
    assert changes(BEFORE, after) == {"moved": [SeatMove("B-2", Point(2, 0), Point(2, 0.5))]}


def test_a_seat_changes_its_category() -> None:
    after = with_seats(a_seat("B-2"), a_seat("A-1", category="aisle"))
    assert changes(BEFORE, after) == {
        "recategorised": [SeatRecategorised("A-1", "standard", "aisle")]
    }


def test_a_seat_gets_another_row_or_number() -> None:
    after = with_seats(a_seat("B-2", row="BB"), a_seat("A-1", number=7))
    assert changes(BEFORE, after) == {
        "relabelled": [SeatRelabelled("B-2", "B 2", "BB 2"), SeatRelabelled("A-1", "A 1", "A 7")]
    }


def test_a_seat_changes_its_zone() -> None:
    after = a_layout(a_zone(a_seat("B-2")), a_zone(a_seat("C-1"), a_seat("A-1"), zone_id=BALCONY))
    assert changes(BEFORE, after) == {"rezoned": [SeatRezoned("A-1", STALLS, BALCONY)]}


def test_one_seat_can_change_in_every_way() -> None:
    other = a_seat("A-1", row="B", number=9, category="aisle", coordinates=Point(9, 9))
    after = a_layout(a_zone(a_seat("B-2")), a_zone(a_seat("C-1"), other, zone_id=BALCONY))
    assert set(changes(BEFORE, after)) == {"moved", "recategorised", "relabelled", "rezoned"}


def test_zones_come_and_go() -> None:
    new = a_zone(a_seat("C-1"), zone_id=UUID(int=3))
    assert changes(BEFORE, a_layout(BEFORE.zones[0], new)) == {
        "zones_added": [UUID(int=3)],
        "zones_removed": [BALCONY],
        "rezoned": [SeatRezoned("C-1", BALCONY, UUID(int=3))],
    }


def test_a_zone_changes_when_anything_but_its_seats_does() -> None:
    for change in (
        {"name": "Pit"},
        {"capacity": 9},
        {"access_mode": "whitelist"},
        {"metadata": {"colour": "red"}},
    ):
        after = a_layout(BEFORE.zones[0], replace(BEFORE.zones[1], **change))
        assert changes(BEFORE, after) == {"zones_changed": [BALCONY]}


labels = st.sampled_from([f"{row}-{number}" for row in "AB" for number in range(5)])
seats = st.builds(
    a_seat,
    labels,
    row=st.sampled_from("AB"),
    category=st.sampled_from(["standard", "aisle"]),
    coordinates=st.builds(Point, st.sampled_from([0.0, 1.5]), st.just(0.0)),
)


@st.composite
def layouts(draw: st.DrawFn) -> LayoutConfig:
    zones = [
        a_zone(zone_id=UUID(int=number), name=draw(st.sampled_from(["Stalls", "Pit"])))
        for number in draw(st.lists(st.integers(1, 3), min_size=1, unique=True))
    ]
    for seat in draw(st.lists(seats, unique_by=lambda seat: seat.seat_id)):
        draw(st.sampled_from(zones)).seats.append(seat)
    return a_layout(*zones)


def seat_ids(config: LayoutConfig) -> list[str]:
    return [seat.seat_id for zone in config.zones for seat in zone.seats]


def applied(before: LayoutConfig, change: LayoutDiff) -> dict[str, tuple[Any, ...]]:
    """Category, place and zone of every seat of `before` that stays, after the change."""
    moved = {each.seat_id: each.after for each in change.moved}
    recategorised = {each.seat_id: each.after for each in change.recategorised}
    rezoned = {each.seat_id: each.after for each in change.rezoned}
    return {
        seat.seat_id: (
            recategorised.get(seat.seat_id, seat.category),
            moved.get(seat.seat_id, seat.coordinates),
            rezoned.get(seat.seat_id, zone.zone_id),
        )
        for zone in before.zones
        for seat in zone.seats
        if seat.seat_id not in change.removed
    }


@given(layouts())
def test_no_layout_differs_from_itself(config: LayoutConfig) -> None:
    assert changes(config, config) == {}


@given(layouts(), layouts())
def test_there_and_back_swaps_what_came_and_what_went(one: LayoutConfig, two: LayoutConfig) -> None:
    there, back = diff(one, two), diff(two, one)
    assert (there.added, there.removed) == (back.removed, back.added)
    assert (there.zones_added, there.zones_removed) == (back.zones_removed, back.zones_added)
    assert set(there.zones_changed) == set(back.zones_changed)
    for name in ("moved", "recategorised", "relabelled", "rezoned"):
        swapped = {(each.seat_id, each.after, each.before) for each in getattr(back, name)}
        assert {(each.seat_id, each.before, each.after) for each in getattr(there, name)} == swapped


@given(layouts(), layouts())
def test_a_difference_applied_to_the_one_gives_the_other(
    before: LayoutConfig, after: LayoutConfig
) -> None:
    change = diff(before, after)
    kept = applied(before, change)
    assert set(kept) | set(change.added) == set(seat_ids(after))
    assert kept == {
        seat.seat_id: (seat.category, seat.coordinates, zone.zone_id)
        for zone in after.zones
        for seat in zone.seats
        if seat.seat_id not in change.added
    }


@given(layouts(), layouts())
def test_every_list_is_in_the_order_of_a_layout(before: LayoutConfig, after: LayoutConfig) -> None:
    change = diff(before, after)
    order = seat_ids(after)
    assert change.removed == [each for each in seat_ids(before) if each in change.removed]
    assert change.added == [each for each in order if each in change.added]
    for name in ("moved", "recategorised", "relabelled", "rezoned"):
        found = [each.seat_id for each in getattr(change, name)]
        assert found == [each for each in order if each in found]
