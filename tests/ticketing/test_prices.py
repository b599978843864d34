"""What a ticket type costs where, and on which days it lets in."""

from typing import Any, get_args
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ticketing.support import DAYS, a_stored_type, an_event_on, an_event_zone
from voelgoed.seating.model.event_layout import EventZone
from voelgoed.seating.model.layout import SEATED, ZoneType
from voelgoed.ticketing.model.ticket_types import Price, TicketType
from voelgoed.ticketing.rules.prices import (
    days_of,
    is_sold_to,
    left_of,
    offers,
    price_of,
    sold_in,
)

BALCONY_RULE, STALLS_RULE = UUID(int=71), UUID(int=72)
BOTH = [
    Price(amount_minor=15_000, pricing_rule_id=STALLS_RULE),
    Price(amount_minor=8_000, pricing_rule_id=BALCONY_RULE),
]

rules = st.none() | st.sampled_from([BALCONY_RULE, STALLS_RULE, UUID(int=73)])
zone_ids = st.integers(100, 103)
zones = st.builds(
    lambda number, zone_type, rule, enabled: an_event_zone(
        number, zone_type, rule=rule, enabled=enabled
    ),
    zone_ids,
    st.sampled_from(get_args(ZoneType)),
    rules,
    st.booleans(),
)
ticket_types = st.builds(
    lambda kind, named, amounts: a_stored_type(
        kind=kind,
        zone_ids=named and [UUID(int=number) for number in sorted(named)],
        prices=[Price(amount_minor=a, pricing_rule_id=rule) for rule, a in amounts.items()],
    ),
    st.sampled_from(["seated", "ga"]),
    st.none() | st.sets(zone_ids, min_size=1),
    st.dictionaries(rules, st.integers(0, 10**11), min_size=1),
)


def test_a_zone_costs_what_its_pricing_rule_says():
    ticket_type = a_stored_type(prices=BOTH)
    assert price_of(ticket_type, an_event_zone(rule=STALLS_RULE)) == 15_000
    assert price_of(ticket_type, an_event_zone(rule=BALCONY_RULE)) == 8_000


def test_where_no_rule_fits_the_price_without_a_rule_holds():
    ticket_type = a_stored_type(prices=[*BOTH, Price(amount_minor=5_000)])
    assert price_of(ticket_type, an_event_zone()) == 5_000
    assert price_of(ticket_type, an_event_zone(rule=UUID(int=73))) == 5_000
    assert price_of(ticket_type, an_event_zone(rule=STALLS_RULE)) == 15_000


def test_where_there_is_no_price_nothing_is_sold():
    ticket_type = a_stored_type(prices=BOTH)
    assert price_of(ticket_type, an_event_zone()) is None
    assert price_of(ticket_type, an_event_zone(rule=UUID(int=73))) is None


def test_free_is_a_price():
    assert price_of(a_stored_type(prices=[Price(amount_minor=0)]), an_event_zone()) == 0


def test_it_is_sold_in_the_zones_it_names_and_no_others():
    ticket_type = a_stored_type(zone_ids=[UUID(int=101)])
    assert price_of(ticket_type, an_event_zone(100)) is None
    assert price_of(ticket_type, an_event_zone(101)) == 15_000


@pytest.mark.parametrize("zone_type", get_args(ZoneType))
def test_seats_are_sold_by_seated_types_and_places_by_the_others(zone_type: ZoneType):
    zone = an_event_zone(zone_type=zone_type)
    sold_by = {kind for kind in ("seated", "ga") if price_of(a_stored_type(kind=kind), zone)}
    assert sold_by == {"seated" if zone_type in SEATED else "ga"}


def test_nothing_is_sold_in_a_zone_that_is_disabled():
    assert price_of(a_stored_type(), an_event_zone(enabled=False)) is None


@given(ticket_types, st.lists(zones))
def test_a_type_is_sold_exactly_where_it_has_a_price(
    ticket_type: TicketType, zones: list[EventZone]
):
    sold = sold_in(ticket_type, zones)
    assert sold == [zone for zone in zones if price_of(ticket_type, zone) is not None]
    amounts = {price.amount_minor for price in ticket_type.prices}
    for zone in sold:
        assert zone.enabled
        assert (zone.zone.zone_type in SEATED) == (ticket_type.kind == "seated")
        assert ticket_type.zone_ids is None or zone.zone.zone_id in ticket_type.zone_ids
        assert price_of(ticket_type, zone) in amounts


@given(ticket_types, zones)
def test_the_order_of_the_prices_does_not_matter(ticket_type: TicketType, zone: EventZone):
    reverse = a_stored_type(
        kind=ticket_type.kind, zone_ids=ticket_type.zone_ids, prices=ticket_type.prices[::-1]
    )
    assert price_of(ticket_type, zone) == price_of(reverse, zone)


def test_a_type_without_days_is_for_all_of_them():
    assert days_of(a_stored_type(), an_event_on(*DAYS)) == DAYS


def test_days_are_told_in_the_order_of_the_event():
    ticket_type = a_stored_type(valid_days=[DAYS[2], DAYS[0]])
    assert days_of(ticket_type, an_event_on(*DAYS)) == [DAYS[0], DAYS[2]]


def test_a_day_that_the_event_has_lost_lets_nobody_in():
    assert days_of(a_stored_type(valid_days=DAYS), an_event_on(DAYS[1])) == [DAYS[1]]
    assert days_of(a_stored_type(valid_days=DAYS[:1]), an_event_on(DAYS[1])) == []


@pytest.mark.parametrize(
    ("changes", "public", "staff"),
    [
        ({}, True, True),
        ({"sold_by": "staff"}, False, True),
        ({"status": "off_sale"}, False, False),
        ({"status": "off_sale", "sold_by": "staff"}, False, False),
    ],
)
def test_what_is_off_sale_is_sold_to_nobody(changes: dict[str, Any], public: bool, staff: bool):
    ticket_type = a_stored_type(**changes)
    assert (is_sold_to(ticket_type, staff=False), is_sold_to(ticket_type, staff=True)) == (
        public,
        staff,
    )


def test_what_is_left_is_of_the_quota():
    assert left_of(a_stored_type(taken=7)) is None
    assert left_of(a_stored_type(quota=10, taken=7)) == 3
    assert left_of(a_stored_type(quota=10, taken=10)) == 0


def test_each_zone_tells_what_is_sold_there_and_how_many_are_left():
    seat = a_stored_type(prices=BOTH, quota=10, taken=4, max_per_order=2)
    place = a_stored_type(id=UUID(int=9), name="Floor", kind="ga")
    zones = [
        an_event_zone(100, rule=STALLS_RULE),
        an_event_zone(101, rule=BALCONY_RULE),
        an_event_zone(102, "ga_standing"),
        an_event_zone(103, rule=STALLS_RULE, enabled=False),
    ]
    told = [
        (each.zone_id.int, [(o.name, o.amount_minor, o.left) for o in each.offers])
        for each in offers([seat, place], zones)
    ]
    assert told == [
        (100, [("Standard", 15_000, 6)]),
        (101, [("Standard", 8_000, 6)]),
        (102, [("Floor", 15_000, None)]),
        (103, []),
    ]
