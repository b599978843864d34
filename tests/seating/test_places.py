"""Places of zones without seats, on each day of a ticket."""

import datetime as dt
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from tests.seating.race_support import (
    DAYS,
    FIVE_MINUTES,
    FLOOR,
    FLOOR_PLACES,
    PIT,
    PIT_PLACES,
    STALLS,
    Stage,
    a_stage,
    floor,
    pit,
)
from tests.support import SOON, MovableClock, Tenant
from voelgoed.seating.actions.places import Places
from voelgoed.seating.model.refusals import (
    BlockAtCapacity,
    HoldGone,
    LayoutFrozen,
    PlacesNotSold,
    SeatsHeld,
    ZoneHasSeats,
    ZoneNotFound,
)
from voelgoed.services import Services

FIRST, SECOND, THIRD = ([day] for day in DAYS)
MOMENT = timedelta(microseconds=1)


@pytest.fixture
def clock(clock: MovableClock) -> MovableClock:
    return clock.stop()


@pytest.fixture
async def stage(services: Services, tenant: Tenant) -> Stage:
    return await a_stage(services, tenant)


async def free(stage: Stage, zone_id: Any = FLOOR) -> list[int]:
    """On each day, as it is told."""
    return [day.available for day in (await stage.zone(zone_id)).days]


async def sold(stage: Stage, *wanted: Places) -> None:
    hold_id = await stage.hold_places(*wanted)
    await stage.sell_places(*wanted, hold_id=hold_id)


async def test_a_pass_takes_a_place_on_every_day_and_a_day_ticket_on_its_own(stage: Stage):
    await stage.hold_places(floor(2))
    await stage.hold_places(floor(3, SECOND))
    assert await stage.counters(FLOOR) == dict(zip(DAYS, [(2, 0), (5, 0), (2, 0)], strict=True))
    assert await free(stage) == [18, 15, 18]
    zone = await stage.zone(FLOOR)
    assert (zone.held, zone.available) == (5, 15), "a zone is as full as on its fullest day"


async def test_the_room_for_a_pass_is_that_of_the_fullest_day(stage: Stage):
    await stage.hold_places(floor(FLOOR_PLACES - 2, SECOND))
    with pytest.raises(BlockAtCapacity) as refused:
        await stage.hold_places(floor(3))
    assert refused.value.details == {"zone_id": str(FLOOR), "available": 2, "asked": 3}
    await stage.hold_places(floor(FLOOR_PLACES, FIRST))
    await stage.hold_places(floor(2, DAYS[1:]))
    assert await free(stage) == [0, 0, 18]


async def test_the_last_place_is_sold_and_no_more(stage: Stage):
    await sold(stage, floor(FLOOR_PLACES, FIRST))
    with pytest.raises(BlockAtCapacity) as refused:
        await stage.hold_places(floor(1, FIRST))
    assert refused.value.details["available"] == 0
    await stage.hold_places(floor(1, THIRD))


async def test_a_pass_and_a_day_ticket_are_held_sold_and_released_as_one(stage: Stage):
    wanted = (floor(2), floor(1, FIRST), floor(1, FIRST))
    hold_id = await stage.hold_places(*wanted)
    assert await stage.counters(FLOOR) == dict(zip(DAYS, [(4, 0), (2, 0), (2, 0)], strict=True))
    await stage.sell_places(*wanted, hold_id=hold_id)
    assert await stage.counters(FLOOR) == dict(zip(DAYS, [(0, 4), (0, 2), (0, 2)], strict=True))
    second = await stage.hold_places(*wanted)
    assert await stage.release_places(second) == 4
    assert await stage.counters(FLOOR) == dict(zip(DAYS, [(0, 4), (0, 2), (0, 2)], strict=True))
    await stage.require_sound()


async def test_zones_are_held_all_or_none(stage: Stage):
    await stage.hold_places(pit(PIT_PLACES - 1, FIRST))
    with pytest.raises(BlockAtCapacity):
        await stage.hold_places(floor(2), pit(2))
    assert await free(stage, FLOOR) == [FLOOR_PLACES] * 3
    assert await free(stage, PIT) == [1, PIT_PLACES, PIT_PLACES]
    assert len(await stage.rows("SELECT 1 FROM place_hold")) == 1
    hold_id = await stage.hold_places(pit(1), floor(2))
    await stage.sell_places(floor(2), pit(1), hold_id=hold_id)
    assert (await stage.zone(FLOOR)).sold == 2


async def test_what_cannot_be_had_is_refused(stage: Stage):
    with pytest.raises(ZoneHasSeats):
        await stage.hold_places(Places(STALLS, 1, DAYS))
    with pytest.raises(ZoneNotFound):
        await stage.hold_places(Places(uuid4(), 1, DAYS))
    for days in ([], [SOON.date() + timedelta(days=9)], [*FIRST, SOON.date() - timedelta(days=1)]):
        with pytest.raises(ZoneNotFound):
            await stage.hold_places(floor(1, days))
    await stage.put({"disabled_zones": [str(FLOOR)]}, version=1)
    with pytest.raises(ZoneNotFound):
        await stage.hold_places(floor(1))
    zone = await stage.zone(FLOOR)
    assert (zone.enabled, zone.available, zone.blocked) == (False, 0, FLOOR_PLACES)


async def test_a_release_frees_every_day_and_twice_is_once(stage: Stage):
    hold_id = await stage.hold_places(floor(2), pit(1, FIRST))
    assert await stage.release_places(uuid4()) == 0
    assert await stage.release_places(hold_id) == 3
    assert await stage.release_places(hold_id) == 0
    assert await free(stage, FLOOR) == [FLOOR_PLACES] * 3
    assert await free(stage, PIT) == [PIT_PLACES] * 3


async def test_a_hold_is_sold_once_and_not_released_after(stage: Stage):
    hold_id = await stage.hold_places(floor(2))
    await stage.sell_places(floor(2), hold_id=hold_id)
    with pytest.raises(HoldGone):
        await stage.sell_places(floor(2), hold_id=hold_id)
    assert await stage.release_places(hold_id) == 0
    assert set((await stage.counters(FLOOR)).values()) == {(0, 2)}


async def test_only_what_was_held_is_sold(stage: Stage):
    hold_id = await stage.hold_places(floor(2))
    for wanted in ([], [floor(3)], [floor(1)], [floor(2, FIRST)], [floor(2), pit(1)], [pit(2)]):
        with pytest.raises(HoldGone):
            await stage.sell_places(*wanted, hold_id=hold_id)
    assert set((await stage.counters(FLOOR)).values()) == {(2, 0)}
    await stage.sell_places(floor(2), hold_id=hold_id)


async def test_places_given_back_are_anybodys(stage: Stage):
    await sold(stage, floor(FLOOR_PLACES))
    await stage.give_places_back([floor(1, FIRST)])
    assert await free(stage) == [1, 0, 0]
    await sold(stage, floor(1, FIRST))
    await stage.give_places_back([floor(2), floor(3, THIRD)])
    assert await free(stage) == [2, 2, 5]
    await stage.require_sound()


async def test_more_than_was_sold_is_not_given_back(stage: Stage):
    await sold(stage, floor(2, FIRST))
    for wrong in (floor(3, FIRST), floor(1, SECOND), floor(1), pit(1)):
        with pytest.raises(PlacesNotSold):
            await stage.give_places_back([floor(1, FIRST), wrong])
    assert await free(stage) == [18, 20, 20]


async def test_a_hold_is_over_at_the_very_moment_it_ends(stage: Stage, clock: MovableClock):
    hold_id = await stage.hold_places(floor(FLOOR_PLACES))
    clock.ahead += FIVE_MINUTES - MOMENT
    assert await free(stage) == [0, 0, 0]
    with pytest.raises(BlockAtCapacity):
        await stage.hold_places(floor(1))
    clock.ahead += MOMENT
    assert await free(stage) == [FLOOR_PLACES] * 3
    with pytest.raises(HoldGone):
        await stage.sell_places(floor(FLOOR_PLACES), hold_id=hold_id)
    await stage.hold_places(floor(FLOOR_PLACES))


async def test_reads_do_not_count_what_has_ended_and_the_next_hold_lets_go_of_it(
    stage: Stage, clock: MovableClock
):
    first = await stage.hold_places(floor(5), pit(1))
    await stage.hold_places(floor(3, FIRST), until=stage.in_five_minutes() + FIVE_MINUTES)
    clock.ahead += FIVE_MINUTES
    assert await free(stage) == [17, 20, 20]
    assert (await stage.counters(FLOOR))[DAYS[0]] == (8, 0), "nobody has tidied up yet"
    await stage.hold_places(floor(1, SECOND))
    assert list((await stage.counters(FLOOR)).values()) == [(3, 0), (1, 0), (0, 0)]
    assert (await stage.counters(PIT))[DAYS[0]] == (1, 0), "that is for who comes to the pit"
    assert await free(stage, PIT) == [PIT_PLACES] * 3
    assert await stage.release_places(first) == 1
    await stage.require_sound()


async def test_a_hold_that_is_over_in_one_zone_is_over_in_all(stage: Stage, clock: MovableClock):
    """A clock that is behind may think otherwise after the others have moved on."""
    hold_id = await stage.hold_places(floor(2), pit(1))
    clock.ahead += FIVE_MINUTES
    await stage.hold_places(floor(1))  # lets go of the floor's two, not of the pit's one
    clock.ahead -= FIVE_MINUTES
    with pytest.raises(HoldGone):
        await stage.sell_places(floor(2), pit(1), hold_id=hold_id)
    assert {sold for _, sold in (await stage.counters(PIT)).values()} == {0}


async def test_a_hold_whose_time_is_up_can_still_be_released(stage: Stage, clock: MovableClock):
    hold_id = await stage.hold_places(floor(2))
    clock.ahead += FIVE_MINUTES
    assert await stage.release_places(hold_id) == 2
    assert set((await stage.counters(FLOOR)).values()) == {(0, 0)}


async def test_a_zone_made_smaller_or_larger_has_that_many_places_on_every_day(stage: Stage):
    hold_id = await stage.hold_places(floor(1, FIRST))
    with pytest.raises(SeatsHeld):
        await stage.put(smaller(5), version=1)
    await stage.release_places(hold_id)
    await stage.put(smaller(5), version=1)
    assert await free(stage) == [5, 5, 5]
    with pytest.raises(BlockAtCapacity):
        await stage.hold_places(floor(6, SECOND))
    await stage.put(smaller(40), version=2)
    await sold(stage, floor(40))
    with pytest.raises(LayoutFrozen):
        await stage.put(smaller(41), version=3)


async def test_a_zone_can_be_made_smaller_than_what_was_held_until_just_now(
    stage: Stage, clock: MovableClock
):
    hold_id = await stage.hold_places(floor(FLOOR_PLACES))
    clock.ahead += FIVE_MINUTES
    await stage.put(smaller(5), version=1)
    assert await free(stage) == [5, 5, 5]
    assert await stage.release_places(hold_id) == 0
    await stage.hold_places(floor(5))
    await stage.require_sound()


def smaller(capacity: int) -> dict[str, Any]:
    return {"zone_overrides": {str(FLOOR): {"capacity": capacity}}}


async def test_a_zone_of_seats_can_be_one_of_places_for_an_event(stage: Stage):
    await stage.put({"zone_overrides": {str(STALLS): {"zone_type": "ga_seated"}}}, version=1)
    await sold(stage, Places(STALLS, 12, DAYS))
    assert (await stage.zone(STALLS)).available == 0
    with pytest.raises(BlockAtCapacity):
        await stage.hold_places(Places(STALLS, 1, FIRST))


async def test_days_are_counted_from_the_first_hold_on_also_where_nobody_goes(stage: Stage):
    assert await stage.counters(FLOOR) == {}
    assert await free(stage) == [FLOOR_PLACES] * 3
    await stage.hold_places(floor(1, THIRD))
    days: list[dt.date] = sorted(await stage.counters(FLOOR))
    assert days == DAYS
