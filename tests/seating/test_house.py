"""What the public sees of an event's seats, and what anybody may be given."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.seating.support import (
    NOW,
    a_group,
    a_house,
    a_plan,
    a_policy,
    a_snapshot,
    as_drawn,
    code,
    event_zones,
)
from voelgoed.seating.model.seats import (
    AVAILABLE,
    BLOCKED,
    HELD,
    SOFT_RESERVED,
    SOLD,
    WITHHELD,
    Snapshot,
)
from voelgoed.seating.rules.house import House, house, microseconds, next_end

TICK = timedelta(microseconds=1)
SOON = NOW + timedelta(minutes=5)


def is_open(of: House, seat_id: str) -> bool:
    return bool(of.open[of.plan.by_seat_id[seat_id]])


def states(of: House) -> str:
    """Of the seats in the order of the plan: `.` available, h, X, b, s soft-reserved, k kept back."""
    return "".join(".hXbsk"[state] for state in of.codes[of.plan.rows.position].tolist())


def test_a_house_is_what_its_snapshot_says() -> None:
    assert states(a_house("..hXb")) == "..hXb"


def test_a_sold_seat_that_was_blocked_is_blocked() -> None:
    plan = a_plan(["..."])
    snapshot = a_snapshot(plan, sold=["A1", "A2"], blocked=["A2"])
    assert states(a_house("...", snapshot=snapshot)) == "Xb."


def test_a_hold_is_over_at_the_very_moment_it_ends() -> None:
    snapshot = a_snapshot(a_plan(["..."]), held={"A1": SOON})
    assert code(a_house("...", snapshot=snapshot, now=SOON - TICK), "A1") == HELD
    assert code(a_house("...", snapshot=snapshot, now=SOON), "A1") == AVAILABLE
    assert code(a_house("...", snapshot=snapshot, now=SOON + TICK), "A1") == AVAILABLE


@given(st.datetimes(timezones=st.just(NOW.tzinfo)), st.integers(-3, 3))
def test_no_microsecond_is_lost_of_any_moment(moment: Any, ticks: int) -> None:
    try:
        other = moment + ticks * TICK
    except OverflowError:
        return
    assert microseconds(other) - microseconds(moment) == ticks


def test_the_next_end_is_that_of_the_first_hold_that_still_runs() -> None:
    held = {"A1": SOON + TICK, "A2": SOON, "A3": NOW, "A4": NOW - TICK}
    snapshot = a_snapshot(a_plan(["...."]), held=held)
    assert next_end(snapshot, NOW) == SOON
    assert next_end(snapshot, SOON) == SOON + TICK
    assert next_end(snapshot, SOON + TICK) is None


def test_seats_that_the_event_blocks_are_blocked_unless_they_are_taken() -> None:
    assert states(a_house(".Xh.", blocked=["A1", "A2", "A3"])) == "bXh."


@pytest.mark.parametrize(
    "change",
    [{"enabled": False}, {"zone_type": "ga_standing"}, {"zone_type": "ga_seated"}],
)
def test_seats_of_a_closed_zone_are_blocked(change: dict[str, Any]) -> None:
    drawn = [["..X"], ["..."]]
    plan = a_plan(*drawn)
    first, second = event_zones(plan)
    if "zone_type" in change:
        closed = msgspec.structs.replace(first, zone=msgspec.structs.replace(first.zone, **change))
    else:
        closed = msgspec.structs.replace(first, **change)
    of = house(plan, (closed, second), (), a_policy(), as_drawn(plan, drawn), NOW)
    assert states(of) == "bbX..."


def test_a_reserved_block_is_kept_back_but_what_was_sold_of_it() -> None:
    of = a_house(".X..", groups=[a_group("reserved_block", "A1 A2 A3")])
    assert states(of) == "kXk."
    assert [is_open(of, seat) for seat in ("A1", "A3", "A4")] == [False, False, True]


@pytest.mark.parametrize("state", ["W", "h"])
def test_the_companion_of_a_taken_wheelchair_place_is_soft_reserved(state: str) -> None:
    plan = a_plan(["wc......"])
    taken = {"W": {"sold": ["A1"]}, "h": {"held": {"A1": SOON}}}[state]
    of = a_house("wc......", snapshot=a_snapshot(plan, **taken))  # type: ignore[arg-type]
    assert code(of, "A2") == SOFT_RESERVED
    assert not is_open(of, "A2")


def test_a_blocked_wheelchair_place_keeps_no_seat_for_anybody() -> None:
    plan = a_plan(["wc......"])
    of = a_house("wc......", snapshot=a_snapshot(plan, blocked=["A1"]))
    assert code(of, "A2") == AVAILABLE


def test_a_wheelchair_place_that_is_somebody_s_keeps_its_companion_though_it_is_blocked() -> None:
    plan = a_plan(["wc......"])
    of = a_house("wc......", snapshot=a_snapshot(plan, sold_blocked=["A1"]))
    assert states(of) == "bs......"


def test_a_wheelchair_place_that_is_given_back_gives_its_companion_back() -> None:
    snapshot = a_snapshot(a_plan(["wc......"]), held={"A1": SOON})
    assert code(a_house("wc......", snapshot=snapshot, now=SOON - TICK), "A2") == SOFT_RESERVED
    assert code(a_house("wc......", snapshot=snapshot, now=SOON), "A2") == AVAILABLE
    assert states(a_house("wc......")) == "........"


def test_a_companion_seat_that_is_taken_stays_taken() -> None:
    assert states(a_house("WC......")) == "XX......"


def test_a_wheelchair_place_may_have_several_companions() -> None:
    assert states(a_house("cWc.....")) == "sXs....."
    assert states(a_house("Wccc....", links={"A3": "A1", "A4": "A1"})) == "X.ss...."


def test_companions_are_those_beside_unless_the_layout_says_otherwise() -> None:
    assert states(a_house("Wc..c...")) == "Xs......"
    assert states(a_house("Wc..c...", links={"A1": "A5"})) == "X...s..."
    assert states(a_house("Wc..c...", links={"A5": "A1"})) == "X...s..."
    pair = a_group("wheelchair_pair", "A1 A2 A5")
    assert states(a_house("Wc..c...", groups=[pair])) == "Xs..s..."


def test_nobody_is_a_companion_across_an_aisle() -> None:
    assert states(a_house("W|c.....", "........")) == "X" + "." * 14


def test_every_wheelchair_place_has_a_companion_before_any_has_two() -> None:
    plan = a_plan(["cwcw....", "wcwc...."])

    def companions(seat_id: str) -> list[str]:
        found = plan.companions(plan.by_seat_id[seat_id])
        return [plan.seats[position].seat_id for position in found]

    assert [companions(seat_id) for seat_id in ("A2", "A4")] == [["A1"], ["A3"]]
    assert [companions(seat_id) for seat_id in ("B1", "B3")] == [["B2"], ["B4"]]


@given(st.text("wc.|", min_size=1, max_size=12).filter(lambda row: row.strip("|")), st.integers())
def test_pairs_do_not_depend_on_the_order_of_the_seats(row: str, seed: int) -> None:
    rows = [row, "......"]
    plan, other = a_plan(rows), a_plan(rows, shuffled=seed)

    def pairs(of: Any) -> set[tuple[str, str]]:
        both = zip(of.wheelchair_of_pair.tolist(), of.companion_of_pair.tolist(), strict=True)
        return {(of.seats[place].seat_id, of.seats[companion].seat_id) for place, companion in both}

    assert pairs(plan) == pairs(other)
    alone = {place for place, _ in pairs(plan)}
    for place, companion in pairs(plan):  # nobody has two while a neighbour of them has none
        mine = {other for at, other in pairs(plan) if at == place}
        if len(mine) > 1:
            beside = _beside(row, companion)
            assert beside <= alone


def _beside(row: str, seat_id: str) -> set[str]:
    """The wheelchair places right beside a seat of row A."""
    numbers: dict[int, int] = {}
    for at, sign in enumerate(row):
        if sign != "|":
            numbers[at] = len(numbers) + 1
    here = {number: at for at, number in numbers.items()}[int(seat_id[1:])]
    return {
        f"A{numbers[at]}" for at in (here - 1, here + 1) if 0 <= at < len(row) and row[at] == "w"
    }


def test_companion_seats_are_released_exactly_at_the_threshold_of_their_zone() -> None:
    # 20 seats of which 85 % are 17; the other zone is empty and does not count.
    row = "Wc" + "X" * 15 + "..."
    other = "." * 40
    before = a_house(zones=[[row], [other]])
    assert code(before, "A2") == SOFT_RESERVED
    at = a_house(zones=[[row.replace(".", "X", 1)], [other]])
    assert code(at, "A2") == AVAILABLE
    assert is_open(at, "A2")


def test_the_threshold_is_of_what_can_be_sold() -> None:
    # 17 of 22 seats are taken, and two are blocked: 85 % of 20.
    assert code(a_house("Wc" + "X" * 16 + "...."), "A2") == SOFT_RESERVED
    assert code(a_house("Wc" + "X" * 16 + "..bb"), "A2") == AVAILABLE


def test_held_seats_count_as_taken_while_their_hold_runs() -> None:
    row = "Wc" + "X" * 15 + "..."
    plan = a_plan([row])
    sold = ["A1", *(f"A{number}" for number in range(3, 18))]
    snapshot = a_snapshot(plan, sold=sold, held={"A18": SOON})
    assert code(a_house(row, snapshot=snapshot, now=SOON - TICK), "A2") == AVAILABLE
    assert code(a_house(row, snapshot=snapshot, now=SOON), "A2") == SOFT_RESERVED


@pytest.mark.parametrize(("threshold", "expected"), [(0, AVAILABLE), (100, SOFT_RESERVED)])
def test_the_threshold_is_the_policy_s(threshold: int, expected: int) -> None:
    policy = a_policy(companion_release_occupancy_threshold=threshold)
    assert code(a_house("Wc" + "X" * 17 + ".", policy=policy), "A2") == expected


def test_without_accessibility_rules_nothing_is_soft_reserved() -> None:
    of = a_house("Wc......", policy=a_policy(enforce_accessibility_rules=False))
    assert states(of) == "X......."
    assert is_open(of, "A2")


def test_wheelchair_and_companion_places_are_not_for_just_anybody() -> None:
    of = a_house("wc......")
    assert [is_open(of, seat) for seat in ("A1", "A2", "A3")] == [False, False, True]
    assert states(of) == "........"


def test_a_wheelchair_place_is_never_for_just_anybody() -> None:
    for policy in (a_policy(enforce_accessibility_rules=False), a_policy()):
        assert not is_open(a_house("wc" + "X" * 30, policy=policy), "A1")


signs = st.text("..XXhbwWcCr|", min_size=1, max_size=20).filter(lambda row: row.strip("|"))


@given(
    st.lists(st.lists(signs, min_size=1, max_size=3), min_size=1, max_size=2),
    st.integers(0, 100),
    st.booleans(),
)
def test_a_house_is_what_its_definition_says(
    zones: list[list[str]], threshold: int, enforced: bool
) -> None:
    policy = a_policy(
        companion_release_occupancy_threshold=threshold, enforce_accessibility_rules=enforced
    )
    of = a_house(zones=zones, policy=policy)
    plan = of.plan
    seats = range(len(plan))
    drawn = house(plan, event_zones(plan), (), a_policy(), as_drawn(plan, zones), NOW)
    for zone in range(len(plan.zones)):
        here = [at for at in seats if plan.zone[at] == zone]
        taken = sum(of.codes[at] in {HELD, SOLD} for at in here)
        sellable = sum(of.codes[at] != BLOCKED for at in here)
        released = not enforced or taken * 100 >= threshold * max(1, sellable)
        for at in here:
            category = plan.seats[at].category
            kept = (
                enforced
                and not released
                and any(of.codes[place] in {HELD, SOLD} for place in plan.wheelchairs(at))
            )
            if drawn.codes[at] in {AVAILABLE, SOFT_RESERVED}:
                assert of.codes[at] == (SOFT_RESERVED if kept else AVAILABLE)
            else:
                assert of.codes[at] == drawn.codes[at]
            anybody = category != "wheelchair" and (category != "companion" or released)
            assert of.open[at] == (of.codes[at] == AVAILABLE and anybody)


def test_an_event_without_seats_has_an_empty_house() -> None:
    plan = a_plan([])
    nothing = Snapshot(seq=0, held=b"", held_until=b"", sold=b"", blocked=b"")
    assert states(house(plan, event_zones(plan), (), a_policy(), nothing, NOW)) == ""


def test_withheld_companions_are_not_soft_reserved() -> None:
    of = a_house("Wc......", groups=[a_group("reserved_block", "A2")])
    assert code(of, "A2") == WITHHELD
