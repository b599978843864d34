"""What followers of seats and counts are sent about several changes at once."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

from hypothesis import given
from hypothesis import strategies as st

from tests.seating.support import NOW, a_house, positions
from voelgoed.seating.model.changes import OccupancyChanged
from voelgoed.seating.model.seats import AVAILABLE, HELD, SOLD, Availability, ZoneCount
from voelgoed.seating.rules.messages import (
    DELTA_SEATS_MAX,
    occupancy_changed,
    places_changed,
    seats_changed,
)

EVENT, PIT, LAWN = uuid4(), uuid4(), uuid4()
WIDE = a_house(*["." * 100] * 12)


def a_zone(zone_id: UUID, free: int) -> ZoneCount:
    return ZoneCount(
        zone_id=zone_id,
        name="Zone",
        zone_type="standing",
        enabled=True,
        availability_status="available",
        capacity=50,
        available=free,
        held=0,
        sold=50 - free,
        blocked=0,
        soft_reserved=0,
        withheld=0,
        percent_full=0.0,
    )


def counts(*zones: ZoneCount) -> Availability:
    return Availability(
        event_id=EVENT,
        layout_id=uuid4(),
        layout_version=1,
        capacity=100,
        available=60,
        held=15,
        sold=25,
        blocked=0,
        soft_reserved=0,
        withheld=0,
        percent_full=40.0,
        zones=list(zones),
    )


def listed(messages: Sequence[dict[str, Any]]) -> list[list[int]]:
    return [pair for message in messages for pair in message["seats"]]


def test_a_seat_that_changed_twice_is_sent_once_as_it_is_now() -> None:
    house = a_house(".hX.")
    [message] = seats_changed(house, [positions(house, "A2 A3"), positions(house, "A3 A1")])
    [a1, a2, a3] = positions(house, "A1 A2 A3")
    assert message == {
        "event": "seats_changed",
        "seats": sorted([[a1, AVAILABLE], [a2, HELD], [a3, SOLD]]),
    }


def test_companion_seats_of_the_zones_concerned_go_with_the_seats() -> None:
    house = a_house(zones=[[".wc."], ["wc.."]])
    first, second = positions(house, "A1"), positions(house, "B4")
    companions = [position for position, _ in listed(seats_changed(house, [first]))]
    assert companions == sorted(positions(house, "A1 A3"))
    both = [position for position, _ in listed(seats_changed(house, [first, second]))]
    assert both == sorted(positions(house, "A1 A3 B2 B4"))


def test_a_change_of_too_many_seats_is_not_listed() -> None:
    one, too_many = [0], range(DELTA_SEATS_MAX + 1)
    assert seats_changed(WIDE, [one, too_many]) == [{"event": "seats_changed", "seats": None}]


@given(st.lists(st.sets(st.integers(0, 1_199), min_size=1, max_size=400), min_size=1, max_size=6))
def test_many_changes_that_are_too_long_for_one_message_fill_several(changes: list[set[int]]):
    messages = seats_changed(WIDE, changes)
    assert [position for position, _ in listed(messages)] == sorted(set().union(*changes))
    lengths = [len(listed([message])) for message in messages]
    assert all(length == DELTA_SEATS_MAX for length in lengths[:-1])
    assert 0 < lengths[-1] <= DELTA_SEATS_MAX


def test_zones_that_changed_are_sent_in_one_message_and_others_are_not() -> None:
    available = counts(a_zone(PIT, 12), a_zone(LAWN, 30), a_zone(uuid4(), 50))
    assert places_changed(available, {LAWN, PIT}) == {
        "event": "places_changed",
        "seats": [],
        "places": [[str(PIT), 12], [str(LAWN), 30]],
    }


def test_each_change_of_the_counts_is_named_with_the_counts_as_they_are_now() -> None:
    held = OccupancyChanged(EVENT, "seat_held", {"seat_id": "s", "hold_id": "h"})
    first, second = occupancy_changed(
        counts(), [held, OccupancyChanged(EVENT, "seat_sold", {})], NOW
    )
    assert first == second | {"event": "seat_held", "seat_id": "s", "hold_id": "h"}
    assert second == {
        "event": "seat_sold",
        "event_id": str(EVENT),
        "total_available": 60,
        "total_held": 15,
        "total_sold": 25,
        "percent_available": 60.0,
        "percent_held": 15.0,
        "timestamp": NOW.isoformat(),
    }
