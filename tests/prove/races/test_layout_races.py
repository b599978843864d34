"""An event's layout is changed, or a seat of it taken, never both on the strength of the same
look. Each race has a control."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.prove.length import rounds
from tests.seating.race_support import (
    BALCONY,
    DAYS,
    FIVE_MINUTES,
    FLOOR,
    FLOOR_PLACES,
    Stage,
    a_hall,
    a_node,
    a_stage,
    another_layout,
    ask,
    at,
    floor,
    is_stuck,
    outcomes,
    pit,
    refusals,
)
from tests.support import MovableClock, Tenant
from voelgoed.seating.actions import places as place_actions
from voelgoed.seating.actions import seats as seat_actions
from voelgoed.seating.actions.event_layouts import EventSeating, remove_event_layout
from voelgoed.seating.actions.seats import SeatHold
from voelgoed.seating.model.refusals import HoldGone, LayoutFrozen, SeatsChangedMeanwhile
from voelgoed.seating.store import seats as store
from voelgoed.seating.store.event_layouts import lock_event_layout
from voelgoed.services import Services

pytestmark = pytest.mark.own_database

ROUNDS = rounds(short=4, full=40)
NO_BALCONY = {"disabled_zones": [str(BALCONY)]}
NO_FLOOR = {"disabled_zones": [str(FLOOR)]}


@pytest.fixture
def clock(clock: MovableClock) -> MovableClock:
    return clock.stop()


@pytest.fixture
async def stage(services: Services, tenant: Tenant) -> Stage:
    return await a_stage(services, tenant)


@pytest.fixture
async def there(stage: Stage, database_url: str, clock: MovableClock) -> AsyncIterator[Stage]:
    """The same event through another node."""
    async with a_node(database_url, clock) as services:
        yield stage.on(services)


async def version(stage: Stage) -> int:
    return (await stage.view()).event_layout.version


async def test_no_seat_is_held_in_a_zone_that_is_being_disabled(stage: Stage, there: Stage):
    for _ in range(ROUNDS):
        now = await version(stage)
        found = await outcomes([stage.put(NO_BALCONY, version=now), there.hold("A1 C1")])
        put, held = found
        if isinstance(put, EventSeating):
            assert refusals([held]) == ["seat_not_available"]
            assert await stage.statuses("A1 C1") == ["available"] * 2
            await stage.put(version=now + 1)
        else:
            assert refusals([put]) == ["seats_held"]
            assert isinstance(held, UUID)
            await stage.release("A1 C1", held)


async def test_no_place_is_held_in_a_zone_that_is_being_made_smaller_or_disabled(
    stage: Stage, there: Stage
):
    overrides: list[dict[str, Any]] = [
        NO_FLOOR,
        {"zone_overrides": {str(FLOOR): {"capacity": 3}}},
    ]
    for round_ in range(ROUNDS):
        now = await version(stage)
        put, held = await outcomes(
            [stage.put(overrides[round_ % 2], version=now), there.hold_places(floor(4), pit(1))]
        )
        await stage.require_sound()
        if isinstance(put, EventSeating):
            assert refusals([held])[0] in ("zone_not_found", "block_at_capacity")
            await stage.put(version=now + 1)
        else:
            assert refusals([put]) == ["seats_held"]
            assert isinstance(held, UUID)
            assert await stage.release_places(held) == 5


@pytest.mark.parametrize("protected", [True, False])
async def test_a_hold_that_was_decided_on_the_layout_of_before_is_refused(
    stage: Stage, protected: bool
):
    """The tightest interleaving, and with it the control."""
    view = await stage.view()
    hold = SeatHold(uuid4(), None, stage.in_five_minutes())
    await stage.put(NO_BALCONY, version=1)
    async with stage.transaction() as tx:
        if protected:
            with pytest.raises(SeatsChangedMeanwhile):
                await seat_actions.hold(tx, stage.caller, view, at(view, "C1"), hold)
            with pytest.raises(SeatsChangedMeanwhile):
                places = [floor(1)]
                await place_actions.hold_places(tx, view, places, hold.id, hold.held_until)
        else:
            states = await seat_actions.states_of(tx, view, at(view, "C1"))
            wanted = [
                store.WantedSeat(
                    seat_id=state.seat_id,
                    position=state.position,
                    version=state.version,
                    hold_id=hold.id,
                    holder_id=None,
                    held_until=hold.held_until,
                )
                for state in states
            ]
            await store.hold_seats(tx, stage.event_id, wanted)
    assert await stage.statuses("C1") == ["available" if protected else "held"]


async def test_a_layout_waits_for_who_is_just_holding_and_is_then_refused(stage: Stage):
    view = await stage.view()
    hold = SeatHold(uuid4(), None, stage.in_five_minutes())
    async with stage.transaction() as tx:
        await seat_actions.hold(tx, stage.caller, view, at(view, "C1"), hold)
        putting = asyncio.create_task(stage.put(NO_BALCONY, version=1))
        assert await is_stuck(putting, stage)
    assert refusals(await outcomes([putting])) == ["seats_held"]


@pytest.mark.parametrize(
    "change",
    [
        lambda stage, _, __: stage.hold("A3"),
        lambda stage, held, _: stage.release("A1", held),
        lambda stage, held, _: stage.sell("A1", held),
        lambda stage, _, sold: stage.give_back("A2", sold),
        lambda stage, _, __: stage.block("A3"),
        lambda stage, _, __: stage.unblock("C4"),
        lambda stage, _, __: stage.hold_places(floor(1)),
        lambda stage, held, _: stage.release_places(held),
        lambda stage, held, _: stage.sell_places(floor(1), hold_id=held),
        lambda stage, _, __: stage.give_places_back([pit(1)]),
    ],
    ids=lambda change: change.__code__.co_names[0],
)
async def test_whatever_changes_a_seat_or_place_waits_for_who_changes_the_layout(
    stage: Stage, change: Callable[[Stage, UUID, UUID], Coroutine[Any, Any, object]]
):
    held, sold = await stage.hold("A1"), await stage.hold_and_sell("A2")
    await stage.hold_places(floor(1), hold_id=held)
    await stage.hold_places(pit(1), hold_id=sold)
    await stage.sell_places(pit(1), hold_id=sold)
    await stage.block("C4")
    async with stage.transaction() as tx:
        await lock_event_layout(tx, stage.event_id)
        changing = asyncio.create_task(change(stage, held, sold))
        assert await is_stuck(changing, stage)
    await changing
    await stage.require_sound()


async def test_of_two_who_change_the_same_version_one_is_told(stage: Stage, there: Stage):
    for now in range(1, ROUNDS + 1):
        found = await outcomes(
            [stage.put(NO_BALCONY, version=now), there.put(NO_FLOOR, version=now)]
        )
        assert refusals(found) == ["version_conflict"]
        [put] = [each for each in found if isinstance(each, EventSeating)]
        kept = (await stage.view()).event_layout
        assert (kept.version, kept.overrides) == (now + 1, put.event_layout.overrides)


async def test_control_without_the_version_one_change_is_lost(stage: Stage):
    looked = asyncio.Barrier(2)

    async def add(zone_id: UUID) -> None:
        async with stage.transaction() as tx:
            [row] = await ask(tx, "SELECT overrides FROM event_layout")
            disabled = [*row["overrides"].get("disabled_zones", []), str(zone_id)]
            await looked.wait()
            await ask(tx, "UPDATE event_layout SET overrides = $1", {"disabled_zones": disabled})

    await asyncio.gather(add(BALCONY), add(FLOOR))
    assert len((await stage.view()).event_layout.overrides.disabled_zones) == 1


async def test_of_two_first_layouts_one_is_kept(stage: Stage, there: Stage):
    for _ in range(ROUNDS // 2):
        await remove_event_layout(stage.services.database, stage.caller, stage.event_id)
        found = await outcomes([stage.put(version=None), there.put(NO_FLOOR, version=None)])
        assert refusals(found) == ["event_layout_taken"]
        [put] = [each for each in found if isinstance(each, EventSeating)]
        assert (await stage.view()).event_layout.id == put.event_layout.id


async def test_a_layout_is_removed_or_a_seat_of_it_held(stage: Stage, there: Stage):
    for _ in range(ROUNDS):
        gone, held = await outcomes(
            [
                remove_event_layout(stage.services.database, stage.caller, stage.event_id),
                there.hold("A1"),
            ]
        )
        if isinstance(held, UUID):
            assert refusals([gone]) == ["seats_held"]
            assert await stage.release("A1", held) == 1
        else:
            assert refusals([held])[0] in ("event_layout_not_found", "seats_changed_meanwhile")
            assert await stage.rows("SELECT 1 FROM seat_state") == []
            await stage.put(version=None)


@pytest.mark.parametrize("replaced", [True, False])
async def test_what_is_being_sold_as_its_hold_ends_keeps_the_layout_as_it_is(
    stage: Stage, clock: MovableClock, replaced: bool
):
    """Who sells began before the end, who changes the layout after it: for the one the hold is
    good, for the other it is over."""
    hold_id = await stage.hold("A1")
    await stage.hold_places(floor(2), hold_id=hold_id)
    view = await stage.view()
    layout_id = await another_layout(stage, a_hall(5)) if replaced else stage.layout_id
    async with stage.transaction() as tx:
        await seat_actions.sell(tx, view, at(view, "A1"), [hold_id])
        await place_actions.sell_places(tx, view, [floor(2)], [hold_id])
        clock.ahead += FIVE_MINUTES
        putting = asyncio.create_task(
            stage.put(NO_FLOOR if not replaced else {}, version=1, layout_id=layout_id)
        )
        assert await is_stuck(putting, stage)
    with pytest.raises(LayoutFrozen):
        await putting
    assert await stage.statuses("A1") == ["sold"]
    assert set((await stage.counters(FLOOR)).values()) == {(0, 2)}


async def test_control_a_sale_that_does_not_share_the_layout_is_deleted_with_it(
    stage: Stage, clock: MovableClock
):
    """And the seat would be sold again."""
    hold_id = await stage.hold("A1")
    view = await stage.view()
    other = await another_layout(stage, a_hall(5))
    async with stage.transaction() as tx:
        ids = [view.plan.ids[position] for position in at(view, "A1")]
        assert await store.sell_seats(tx, stage.event_id, ids, [hold_id]) == ids
        clock.ahead += FIVE_MINUTES
        putting = asyncio.create_task(stage.put(version=1, layout_id=other))
        assert await is_stuck(putting, stage)
    await putting
    assert await stage.rows("SELECT 1 FROM seat_state") == []


async def test_what_comes_to_be_sold_after_the_layout_was_changed_is_gone(
    stage: Stage, clock: MovableClock
):
    """It began before the end of its hold, and waited for whoever changed the layout."""
    hold_id = await stage.hold("C1")
    await stage.hold_places(floor(2), hold_id=hold_id)
    view = await stage.view()
    async with stage.transaction() as seats, stage.transaction() as places:
        clock.ahead += FIVE_MINUTES
        await stage.put({"disabled_zones": [str(BALCONY), str(FLOOR)]}, version=1)
        with pytest.raises(SeatsChangedMeanwhile):
            await seat_actions.sell(seats, view, at(view, "C1"), [hold_id])
        with pytest.raises(HoldGone):
            await place_actions.sell_places(places, view, [floor(2)], [hold_id])
    assert await stage.statuses("C1") == ["available"]
    assert set((await stage.counters(FLOOR)).values()) == {(0, 0)}


async def test_sweeping_ended_holds_while_the_layout_is_changed_never_waits_in_a_circle(
    stage: Stage, there: Stage, clock: MovableClock
):
    other = await another_layout(stage, a_hall(5))
    layouts = [stage.layout_id, other]
    for round_ in range(ROUNDS // 2):
        wanted = "A1 A2 A3 A4 A5"
        first = await stage.hold(wanted)
        places = round_ % 2 == 0
        if places:
            await stage.hold_places(floor(FLOOR_PLACES, DAYS), pit(1), hold_id=first)
        clock.ahead += FIVE_MINUTES + timedelta(seconds=10)
        found = await outcomes(
            [
                there.release(wanted, first),
                there.release_places(first),
                stage.put(version=round_ + 1, layout_id=layouts[(round_ + 1) % 2]),
                there.release(wanted, first),
                there.release_places(first),
            ]
        )
        assert refusals(found) == []
        assert await stage.rows("SELECT 1 FROM place_hold") == []
        assert await stage.rows("SELECT 1 FROM seat_state WHERE status = 'held'") == []
        await stage.require_sound()
