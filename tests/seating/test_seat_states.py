"""What holding, releasing, selling, giving back, blocking and unblocking do to seats."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from tests.seating.race_support import (
    BALCONY,
    FIVE_MINUTES,
    STALLS,
    Stage,
    a_hall,
    a_stage,
    another_layout,
    at,
)
from tests.support import MovableClock, Tenant
from voelgoed.seating.actions import seats as actions
from voelgoed.seating.actions.event_layouts import remove_event_layout
from voelgoed.seating.actions.policies import change_policy
from voelgoed.seating.actions.seats import SeatHold
from voelgoed.seating.model.policy import SeatingPolicyChange
from voelgoed.seating.model.refusals import (
    EventLayoutNotFound,
    HoldGone,
    LayoutFrozen,
    SeatBlockedByLayout,
    SeatNotAvailable,
    SeatNotFound,
    SeatsChangedMeanwhile,
    SeatsHeld,
    SeatTaken,
)
from voelgoed.services import Services

MOMENT = timedelta(microseconds=1)


@pytest.fixture
def clock(clock: MovableClock) -> MovableClock:
    return clock.stop()


@pytest.fixture
async def stage(services: Services, tenant: Tenant) -> Stage:
    return await a_stage(services, tenant)


async def the_audit(stage: Stage, action: str) -> list[dict[str, Any]]:
    return await stage.rows(
        "SELECT entity_type, entity_id, changes FROM audit_entry WHERE action = $1 ORDER BY id",
        action,
    )


async def test_a_hold_takes_every_seat_of_a_group_for_its_holder(stage: Stage):
    somebody = stage.tenant.users["customer"]
    hold_id = await stage.hold("A1 A2", holder_id=somebody)
    for seat_id in ("A1", "A2"):
        seat = await stage.seat(seat_id)
        assert seat == {
            "status": "held",
            "held_until": stage.in_five_minutes(),
            "locked_at": stage.services.clock.now(),
            "seat_hold_id": hold_id,
            "holder_id": somebody,
            "blocked_reason": None,
            "sold_when_blocked": False,
            "version": 1,
        }
    assert await stage.codes("A1 A2 A3") == ["held", "held", "available"]


async def test_a_group_with_one_taken_seat_takes_nothing(stage: Stage):
    first = await stage.hold("A2")
    with pytest.raises(SeatNotAvailable) as refused:
        await stage.hold("A1 A2 A3")
    assert refused.value.details == {
        "seat_id": "A2",
        "current_status": "held",
        "expires_in_seconds": 300,
    }
    assert await stage.statuses("A1 A2 A3") == ["available", "held", "available"]
    assert (await stage.seat("A2"))["seat_hold_id"] == first


async def test_a_seat_named_twice_is_one_seat(stage: Stage):
    hold_id = await stage.hold("A1 A1")
    await stage.sell("A1 A1", hold_id)
    assert (await stage.seat("A1"))["version"] == 2


async def test_a_sold_and_a_blocked_seat_are_refused_without_an_end(stage: Stage):
    await stage.hold_and_sell("A1")
    await stage.block("A2")
    for seat_id, status in (("A1", "sold"), ("A2", "blocked")):
        with pytest.raises(SeatNotAvailable) as refused:
            await stage.hold(seat_id)
        assert refused.value.details["current_status"] == status
        assert refused.value.details["expires_in_seconds"] is None


async def test_what_the_layout_does_not_sell_is_not_held(stage: Stage):
    overrides = {
        "blocked_seat_ids": ["A1"],
        "disabled_zones": [str(BALCONY)],
    }
    await stage.put(overrides, version=1)
    for seat_id in ("A1", "C1"):
        with pytest.raises(SeatNotAvailable) as refused:
            await stage.hold(f"A2 {seat_id}")
        assert refused.value.details["current_status"] == "blocked"
    await stage.put({"zone_overrides": {str(STALLS): {"zone_type": "ga_seated"}}}, version=2)
    with pytest.raises(SeatNotAvailable):
        await stage.hold("A3")
    assert await stage.statuses("A1 A2 A3 C1") == ["available"] * 4


async def test_a_hold_is_over_at_the_very_moment_it_ends(stage: Stage, clock: MovableClock):
    first = await stage.hold("A1")
    clock.ahead += FIVE_MINUTES - MOMENT
    assert await stage.codes("A1") == ["held"]
    with pytest.raises(SeatNotAvailable):
        await stage.hold("A1")
    clock.ahead += MOMENT
    assert await stage.codes("A1") == ["available"]
    second = await stage.hold("A1")
    assert (await stage.seat("A1"))["seat_hold_id"] == second
    assert await stage.release("A1", first) == 0
    with pytest.raises(HoldGone):
        await stage.sell("A1", first)
    assert (await stage.seat("A1"))["seat_hold_id"] == second


async def test_a_seat_is_sold_until_the_moment_before_and_never_at_the_end(
    stage: Stage, clock: MovableClock
):
    first, second = await stage.hold("A1"), await stage.hold("A2")
    clock.ahead += FIVE_MINUTES - MOMENT
    await stage.sell("A1", first)
    clock.ahead += MOMENT
    with pytest.raises(HoldGone):
        await stage.sell("A2", second)
    assert await stage.statuses("A1 A2") == ["sold", "held"]
    assert await stage.codes("A1 A2") == ["sold", "available"]


async def test_selling_keeps_who_it_was_sold_to(stage: Stage):
    somebody = stage.tenant.users["customer"]
    hold_id = await stage.hold_and_sell("A1", holder_id=somebody)
    seat = await stage.seat("A1")
    assert (seat["status"], seat["seat_hold_id"], seat["holder_id"]) == ("sold", hold_id, somebody)
    assert seat["held_until"] is seat["locked_at"] is None


async def test_a_group_that_lost_a_seat_sells_nothing(stage: Stage):
    hold_id = await stage.hold("A1 A2 A3")
    await stage.block("A2", including_taken=True)
    with pytest.raises(HoldGone):
        await stage.sell("A1 A2 A3", hold_id)
    assert await stage.statuses("A1 A2 A3") == ["held", "blocked", "held"]
    await stage.sell("A1 A3", hold_id)


async def test_selling_twice_is_refused_and_changes_nothing(stage: Stage):
    hold_id = await stage.hold_and_sell("A1")
    with pytest.raises(HoldGone):
        await stage.sell("A1", hold_id)
    assert (await stage.seat("A1"))["version"] == 2


async def test_a_release_frees_what_the_hold_has_and_twice_is_once(stage: Stage):
    hold_id = await stage.hold("A1 A2")
    assert await stage.release("A1 A2", hold_id) == 2
    assert await stage.release("A1 A2", hold_id) == 0
    seat = await stage.seat("A1")
    assert (seat["status"], seat["version"]) == ("available", 2)
    assert seat["seat_hold_id"] is seat["holder_id"] is seat["held_until"] is None
    await stage.hold("A1 A2")


async def test_the_release_of_somebody_elses_hold_does_nothing(stage: Stage):
    hold_id = await stage.hold("A1")
    assert await stage.release("A1 A2", uuid4()) == 0
    assert (await stage.seat("A1"))["seat_hold_id"] == hold_id


async def test_a_sold_seat_is_not_released_and_a_held_one_not_given_back(stage: Stage):
    sold, held = await stage.hold_and_sell("A1"), await stage.hold("A2")
    assert await stage.release("A1", sold) == 0
    assert await stage.give_back("A2", held) == 0
    assert await stage.statuses("A1 A2") == ["sold", "held"]


async def test_a_seat_given_back_is_anybodys_and_twice_is_once(stage: Stage):
    hold_id = await stage.hold_and_sell("A1 A2", holder_id=stage.tenant.users["customer"])
    assert await stage.give_back("A1", uuid4()) == 0
    assert await stage.give_back("A1", hold_id) == 1
    assert await stage.give_back("A1", hold_id) == 0
    assert await stage.statuses("A1 A2") == ["available", "sold"]
    assert (await stage.seat("A1"))["holder_id"] is None
    await stage.hold_and_sell("A1")
    assert await stage.give_back("A1", hold_id) == 0, "it is another's by now"


async def test_blocking_says_what_changed_and_what_was_so_already(stage: Stage):
    first = await stage.block("A1 A2", "wet paint")
    assert (first.changed, first.unchanged) == (["A1", "A2"], [])
    second = await stage.block("A3 A2 A2", "wet paint too")
    assert (second.changed, second.unchanged) == (["A3"], ["A2"])
    assert (await stage.seat("A2"))["blocked_reason"] == "wet paint"
    lifted = await stage.unblock("A1 A2 A4")
    assert (lifted.changed, lifted.unchanged) == (["A1", "A2"], ["A4"])
    assert await stage.statuses("A1 A2 A3") == ["available", "available", "blocked"]


async def test_each_change_is_audited_with_its_reason_and_none_is_not(stage: Stage):
    await stage.block("A1 A2", "wet paint")
    await stage.block("A1", "again")
    await stage.unblock("A1", "dry")
    assert [entry["changes"] for entry in await the_audit(stage, "seats_blocked")] == [
        {"seat_ids": ["A1", "A2"], "reason": "wet paint"}
    ]
    assert [entry["changes"] for entry in await the_audit(stage, "seats_unblocked")] == [
        {"seat_ids": ["A1"], "reason": "dry"}
    ]


async def test_taken_seats_are_blocked_only_if_that_is_said(stage: Stage):
    await stage.hold("A1")
    await stage.hold_and_sell("A2")
    with pytest.raises(SeatTaken) as refused:
        await stage.block("A1 A2 A3")
    assert refused.value.details == {"seat_ids": ["A1", "A2"]}
    assert await stage.statuses("A1 A2 A3") == ["held", "sold", "available"]
    await stage.block("A1 A2 A3", including_taken=True)
    assert await stage.statuses("A1 A2 A3") == ["blocked"] * 3


async def test_a_hold_that_has_ended_is_not_in_the_way_of_blocking(
    stage: Stage, clock: MovableClock
):
    await stage.hold("A1")
    clock.ahead += FIVE_MINUTES
    await stage.block("A1")
    await stage.unblock("A1")
    assert await stage.statuses("A1") == ["available"]


async def test_a_blocked_seat_is_lost_to_whoever_held_it(stage: Stage):
    hold_id = await stage.hold("A1")
    await stage.block("A1", including_taken=True)
    await stage.unblock("A1")
    assert await stage.statuses("A1") == ["available"]
    assert await stage.release("A1", hold_id) == 0
    with pytest.raises(HoldGone):
        await stage.sell("A1", hold_id)


async def test_a_sold_seat_that_was_blocked_is_sold_again_with_its_holder(stage: Stage):
    somebody = stage.tenant.users["customer"]
    hold_id = await stage.hold_and_sell("A1", holder_id=somebody)
    await stage.block("A1", including_taken=True)
    assert (await stage.seat("A1"))["sold_when_blocked"]
    await stage.block("A1", including_taken=True)  # twice is once
    await stage.unblock("A1")
    seat = await stage.seat("A1")
    assert (seat["status"], seat["seat_hold_id"], seat["holder_id"]) == ("sold", hold_id, somebody)
    assert not seat["sold_when_blocked"]


async def test_a_blocked_sold_seat_that_is_given_back_stays_blocked_and_is_free_after(
    stage: Stage,
):
    hold_id = await stage.hold_and_sell("A1")
    await stage.block("A1", including_taken=True)
    assert await stage.give_back("A1", hold_id) == 1
    assert await stage.give_back("A1", hold_id) == 0
    assert await stage.statuses("A1") == ["blocked"]
    await stage.require_sound()
    await stage.unblock("A1")
    assert await stage.statuses("A1") == ["available"]


async def test_a_seat_blocked_by_the_layout_is_not_unblocked_here(stage: Stage):
    await stage.put({"blocked_seat_ids": ["A1"]}, version=1)
    with pytest.raises(SeatBlockedByLayout) as refused:
        await stage.unblock("A1 A2")
    assert refused.value.details == {"seat_ids": ["A1"]}


async def test_an_unknown_seat_is_refused_before_anything_happens(stage: Stage):
    for work in (stage.hold, stage.block, stage.unblock):
        with pytest.raises(SeatNotFound):
            await work("A1 Z9")
    assert await stage.statuses("A1") == ["available"]


async def test_a_wheelchair_place_keeps_its_companion_while_it_is_held_or_sold(stage: Stage):
    hold_id = await stage.hold("B1")
    assert await stage.codes("B1 B2 B3") == ["held", "soft_reserved", "available"]
    await stage.sell("B1", hold_id)
    assert await stage.codes("B1 B2") == ["sold", "soft_reserved"]
    await stage.give_back("B1", hold_id)
    assert await stage.codes("B1 B2") == ["available", "available"]


@pytest.mark.parametrize("audited", [True, False])
async def test_wheelchair_bookings_are_audited_if_the_policy_wants_it(stage: Stage, audited: bool):
    change = SeatingPolicyChange(version=1, accessibility_audit_enabled=audited)
    await change_policy(stage.services.database, stage.caller, change)
    await stage.hold("B1 B3")
    entries = await the_audit(stage, "wheelchair_booking")
    if not audited:
        assert entries == []
        return
    [entry] = entries
    view = await stage.view()
    assert entry == {
        "entity_type": "Seat",
        "entity_id": str(view.plan.ids[view.position("B1")]),
        "changes": {
            "event_id": str(stage.event_id),
            "seat_id": "B1",
            "companion_seat_ids": ["B2"],
            "companion_soft_reserved": True,
        },
    }


async def test_a_refused_hold_leaves_no_audit_entry(stage: Stage):
    await stage.hold("B3")
    with pytest.raises(SeatNotAvailable):
        await stage.hold("B1 B3")
    assert await the_audit(stage, "wheelchair_booking") == []


async def test_a_layout_stays_while_somebody_holds_and_for_good_once_something_is_sold(
    stage: Stage, clock: MovableClock
):
    hold_id = await stage.hold("A1")
    with pytest.raises(SeatsHeld):
        await stage.put(version=1)
    clock.ahead += FIVE_MINUTES
    await stage.put(version=1)
    hold_id = await stage.hold_and_sell("A1")
    with pytest.raises(LayoutFrozen):
        await stage.put(version=2)
    await stage.block("A1", including_taken=True)
    with pytest.raises(LayoutFrozen):
        await stage.put(version=2)
    await stage.give_back("A1", hold_id)
    await stage.put(version=2)


async def test_a_hold_that_ended_before_the_layout_was_changed_is_gone_for_good(
    stage: Stage, clock: MovableClock
):
    """Also for a node whose clock is behind."""
    hold_id = await stage.hold("A1")
    clock.ahead += FIVE_MINUTES
    await stage.put({"disabled_zones": [str(BALCONY)]}, version=1)
    clock.ahead -= FIVE_MINUTES
    with pytest.raises(HoldGone):
        await stage.sell("A1", hold_id)
    assert await stage.statuses("A1") == ["available"]


async def test_another_layout_starts_with_every_seat_free(stage: Stage):
    await stage.block("A1 A2")
    await stage.put(version=1, layout_id=await another_layout(stage, a_hall(3)))
    assert await stage.codes("A1 A2 A3") == ["available"] * 3
    assert await stage.rows("SELECT 1 FROM seat_state") == []


async def test_nothing_is_held_or_sold_by_the_plan_of_a_layout_that_was_replaced(stage: Stage):
    """Not even when its successor has the same version number."""
    database, before = stage.services.database, await stage.view()
    other = await another_layout(stage, a_hall(3))
    await remove_event_layout(database, stage.caller, stage.event_id)
    with pytest.raises(EventLayoutNotFound):
        await stage.hold("A1")
    await stage.put(version=None, layout_id=other)
    after = await stage.view()
    assert before.event_layout.version == after.event_layout.version == 1
    hold = SeatHold(uuid4(), None, stage.in_five_minutes())
    with pytest.raises(SeatsChangedMeanwhile):
        async with stage.transaction() as tx:
            await actions.hold(tx, stage.caller, before, at(before, "C4"), hold)
    with pytest.raises(SeatsChangedMeanwhile):
        async with stage.transaction() as tx:
            await actions.sell(tx, before, at(before, "C4"), hold.id)
