"""Whether a ticket type fits its event and itself: all faults at once, each with its path."""

from typing import Any
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ticketing.support import DAYS, a_stored_type, an_event_on, an_event_zone
from voelgoed.ticketing.model.ticket_types import Price, TicketType, TicketTypeChange
from voelgoed.ticketing.rules.ticket_types import (
    Surroundings,
    change_faults,
    entry_limit_of,
    next_number,
    ticket_type_faults,
    with_entry_limit,
)

STALLS, LOUNGE, FLOOR, PIT, GONE = (UUID(int=number) for number in range(100, 105))
GATE, RULE = UUID(int=50), UUID(int=70)
ONE_ENTRY = {"entitlement": "single_entry", "entry_limit": 1}


def surroundings(**changes: Any) -> Surroundings:
    """An event of three days with two zones of seats, two of places, and one gate."""
    given: dict[str, Any] = {
        "event": an_event_on(*DAYS),
        "zones": [
            an_event_zone(100),
            an_event_zone(101, "vip_reserved"),
            an_event_zone(102, "ga_seated"),
            an_event_zone(103, "vip_standing"),
        ],
        "gate_ids": {GATE},
        "others": [],
    }
    return Surroundings(**(given | changes))


def paths(around: Surroundings | None = None, **changes: Any) -> list[str]:
    """The places of all faults in a good ticket type with these changes."""
    faults = ticket_type_faults(a_stored_type(**changes), around or surroundings())
    return [fault.path for fault in faults]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"valid_days": DAYS[::-1], "zone_ids": [LOUNGE, STALLS], "gate_ids": [GATE]},
        {"kind": "ga", "zone_ids": [PIT, FLOOR], "entitlement": "ga_standing"},
        {"kind": "ga", "entitlement": "ga_seated"},
        {"quota": 10, "taken": 10, "max_per_order": 10},
        {"prices": [Price(amount_minor=1), Price(amount_minor=1, pricing_rule_id=RULE)]},
        {"entitlement": "limited_reentry_per_day", "max_daily_entries": 1},
        {"entitlement": "unlimited_multi_day", "entry_limit": 5},
        ONE_ENTRY,
    ],
)
def test_a_good_ticket_type_has_no_faults(changes: dict[str, Any]):
    assert paths(**changes) == []


def test_days_are_of_the_event_and_named_once():
    elsewhere = DAYS[0].replace(year=2031)
    assert paths(valid_days=[DAYS[0], elsewhere, DAYS[0]]) == ["$.valid_days[1]", "$.valid_days[2]"]


def test_zones_are_of_the_layout_and_named_once():
    assert paths(zone_ids=[GONE, STALLS, STALLS]) == ["$.zone_ids[0]", "$.zone_ids[2]"]


def test_while_an_event_has_no_layout_a_type_names_no_zone():
    around = surroundings(zones=[])
    assert paths(around) == paths(around, kind="ga") == []
    assert paths(around, zone_ids=[STALLS]) == ["$.zone_ids[0]"]


def test_gates_are_of_the_event_and_named_once():
    assert paths(gate_ids=[GONE, GATE, GATE]) == ["$.gate_ids[0]", "$.gate_ids[2]"]


def test_seats_and_places_are_sold_by_types_of_their_kind():
    every = [STALLS, LOUNGE, FLOOR, PIT]
    assert paths(kind="seated", zone_ids=every) == ["$.zone_ids[2]", "$.zone_ids[3]"]
    assert paths(kind="ga", zone_ids=every) == ["$.zone_ids[0]", "$.zone_ids[1]"]


@pytest.mark.parametrize("entitlement", ["ga_seated", "ga_standing"])
def test_what_entitles_to_a_place_is_not_for_a_seat(entitlement: str):
    assert paths(entitlement=entitlement) == ["$.entitlement"]
    assert paths(kind="ga", entitlement=entitlement) == []


@pytest.mark.parametrize("entry_limit", [None, 2])
def test_a_single_entry_is_one(entry_limit: int | None):
    assert paths(entitlement="single_entry", entry_limit=entry_limit) == ["$.entry_limit"]


def test_so_many_entries_a_day_needs_to_say_how_many():
    assert paths(entitlement="limited_reentry_per_day") == ["$.max_daily_entries"]


def test_a_single_day_is_one_of_the_event():
    one = {"entitlement": "unlimited_single_day"}
    assert paths(**one) == paths(**one, valid_days=DAYS[:2]) == ["$.valid_days"]
    assert paths(**one, valid_days=DAYS[1:2]) == []
    assert paths(surroundings(event=an_event_on(DAYS[0])), **one) == []


def test_a_pricing_rule_has_one_price():
    twice = [Price(amount_minor=1, pricing_rule_id=RULE) for _ in range(3)]
    assert paths(prices=twice) == ["$.prices[1].pricing_rule_id", "$.prices[2].pricing_rule_id"]
    no_rule = [Price(amount_minor=1), Price(amount_minor=2)]
    assert paths(prices=no_rule) == ["$.prices[1].pricing_rule_id"]


def test_an_order_can_be_as_large_as_the_quota_and_no_larger():
    assert paths(quota=5, max_per_order=6) == ["$.max_per_order"]


def test_a_quota_is_not_less_than_what_is_taken():
    assert paths(quota=5, taken=6) == ["$.quota"]


def test_all_types_of_an_event_have_one_currency():
    around = surroundings(others=[a_stored_type(currency="EUR")])
    assert paths(around, currency="ZAR") == ["$.currency"]
    assert paths(around, currency="EUR") == []


def test_every_fault_is_told_at_once():
    found = paths(
        surroundings(others=[a_stored_type(currency="EUR")]),
        entitlement="ga_seated",
        valid_days=[DAYS[0].replace(year=2031)],
        zone_ids=[GONE, PIT],
        gate_ids=[GONE],
        prices=[Price(amount_minor=1), Price(amount_minor=2)],
        quota=5,
        taken=6,
        max_per_order=7,
    )
    assert found == [
        "$.entitlement",
        "$.valid_days[0]",
        "$.zone_ids[0]",
        "$.zone_ids[1]",
        "$.gate_ids[0]",
        "$.currency",
        "$.prices[1].pricing_rule_id",
        "$.quota",
        "$.max_per_order",
    ]


def faults_of_change(before: TicketType, **changes: Any) -> list[str]:
    after = msgspec.structs.replace(before, **changes)
    return [fault.path for fault in change_faults(before, after, surroundings())]


def test_a_change_is_not_blamed_for_what_the_event_has_lost_since():
    stale = a_stored_type(zone_ids=[GONE, STALLS], valid_days=[DAYS[0].replace(year=2031)])
    assert faults_of_change(stale, status="off_sale", name="Late") == []


def test_a_change_of_what_was_wrong_must_make_it_right():
    stale = a_stored_type(zone_ids=[GONE, STALLS])
    assert faults_of_change(stale, zone_ids=[GONE]) == ["$.zone_ids[0]"]
    assert faults_of_change(stale, zone_ids=[STALLS]) == []


def test_a_change_is_blamed_for_what_it_does_to_other_fields():
    one_day = {"entitlement": "limited_reentry_per_day"}
    assert faults_of_change(a_stored_type(), **one_day) == ["$.max_daily_entries"]
    assert faults_of_change(a_stored_type(max_per_order=6), quota=5) == ["$.max_per_order"]


fields = st.fixed_dictionaries(
    {},
    optional={
        "entitlement": st.sampled_from(["unlimited_multi_day", "single_entry", "ga_seated"]),
        "entry_limit": st.none() | st.integers(1, 3),
        "zone_ids": st.none() | st.lists(st.sampled_from([STALLS, PIT, GONE]), min_size=1),
        "quota": st.none() | st.integers(1, 5),
        "max_per_order": st.none() | st.integers(1, 5),
    },
)


@given(fields, fields)
def test_a_good_type_changed_without_faults_is_good(before: dict[str, Any], change: dict[str, Any]):
    good = a_stored_type(**before)
    after = msgspec.structs.replace(good, **change)
    blamed = change_faults(good, after, surroundings())
    assert set(blamed) <= set(ticket_type_faults(after, surroundings()))
    if not ticket_type_faults(good, surroundings()):
        assert blamed == ticket_type_faults(after, surroundings())


@given(fields)
def test_a_change_of_nothing_is_nobodys_fault(given: dict[str, Any]):
    ticket_type = a_stored_type(**given)
    assert change_faults(ticket_type, ticket_type, surroundings()) == []


def test_the_limit_of_a_single_entry_need_not_be_said():
    assert entry_limit_of("single_entry", None) == 1
    assert entry_limit_of("single_entry", 2) == 2, "which is a fault, not ours to correct"
    assert entry_limit_of("unlimited_multi_day", None) is None


@pytest.mark.parametrize(
    ("before", "change", "limit"),
    [
        ({}, {"entitlement": "single_entry"}, 1),
        ({"entry_limit": 4}, {"entitlement": "single_entry"}, 4),
        ({"entry_limit": 4}, {"entitlement": "single_entry", "entry_limit": None}, 1),
        (ONE_ENTRY, {"name": "Other"}, 1),
        (ONE_ENTRY, {"entry_limit": None}, 1),
        (ONE_ENTRY, {"entitlement": "unlimited_multi_day"}, None),
        (ONE_ENTRY, {"entitlement": "unlimited_multi_day", "entry_limit": 3}, 3),
        ({"entry_limit": 4}, {"name": "Other"}, 4),
        ({"entry_limit": 4}, {"entry_limit": None}, None),
    ],
)
def test_the_limit_of_a_single_entry_comes_and_goes_with_it(
    before: dict[str, Any], change: dict[str, Any], limit: int | None
):
    asked = TicketTypeChange(version=1, **change)
    assert with_entry_limit(asked, a_stored_type(**before)).entry_limit == limit


@given(st.sets(st.integers(1, 40)))
def test_the_next_number_is_the_smallest_that_is_free(numbers: set[int]):
    found = next_number([a_stored_type(number=number) for number in numbers])
    assert found not in numbers
    assert set(range(1, found)) <= numbers
