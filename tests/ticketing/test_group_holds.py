"""POST /api/events/{event_id}/holds: seats by name, the best for so many, places, or a mix of
them, all or nothing."""

import asyncio
from collections.abc import AsyncIterator
from datetime import date, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from tests.seating.api_support import (
    FLOOR,
    ONE,
    PIT,
    TWO,
    Office,
    SeatedEvent,
    a_config,
    a_seated_event,
    a_zone,
    faults,
    refusal,
    sell_places,
)
from tests.seating.race_support import a_node
from tests.seating.support import a_group
from tests.support import SOON, MovableClock, Tenant
from tests.ticketing.hold_support import Customer, customers, heard, state, table
from voelgoed.infra.idempotency import IdempotencyKey
from voelgoed.infra.refusal import Refusal
from voelgoed.seating.actions.views import bitmap_key
from voelgoed.seating.model.seats import BestRequest, Snapshot
from voelgoed.services import Services
from voelgoed.ticketing.model.holds import Booking, NewBooking, PlacesWish

TIER = "voelgoed_vriendinne"
LONG_AGO = "2020-01-01T00:00:00Z"


@pytest.fixture
async def event(client: httpx.AsyncClient, tenant: Tenant) -> SeatedEvent:
    """A1-A10 and B1-B10, a pit of 30 and a floor of 10."""
    return await a_seated_event(client, tenant, a_config(places={"Pit": 30, "Floor": 10}))


def places(zone_id: str, count: int, *days: date) -> dict[str, Any]:
    return {"zone_id": zone_id, "count": count, **({"days": list(map(str, days))} if days else {})}


async def booked(who: Customer, event: SeatedEvent, **wish: Any) -> dict[str, Any]:
    answer = await who.book(event, **wish)
    assert answer.status_code == 201, answer.text
    return answer.json()["data"]


def labels(booking: dict[str, Any]) -> str:
    return " ".join(hold["seat_label"] for hold in booking["holds"] if hold["seat_label"])


def problems(answer: httpx.Response) -> list[str]:
    assert refusal(answer) == (409, "booking_refused")
    return [problem["code"] for problem in answer.json()["details"]["problems"]]


async def together(
    services: Services,
    event: SeatedEvent,
    *wishes: tuple[Customer, NewBooking, IdempotencyKey | None],
) -> list[Booking | Refusal]:
    """At the same moment, so that they are decided in one transaction."""
    answers = await asyncio.gather(
        *(
            services.holds.book(who.caller, UUID(event.event_id), new, once)
            for who, new, once in wishes
        ),
        return_exceptions=True,
    )
    for each in answers:
        if isinstance(each, BaseException) and not isinstance(each, Refusal):
            raise each
    return [each if isinstance(each, Refusal) else each[0] for each in answers]  # type: ignore[index]


# Seats by name.


async def test_seats_by_name_are_held_as_one_booking(
    services: Services, event: SeatedEvent, anna: Customer
):
    booking = await booked(
        anna, event, seat_ids=["A1", "A2", "B5", "B6"], source="scanner", notes="by phone"
    )
    assert labels(booking) == "A1 A2 B5 B6"
    assert {hold["booking_id"] for hold in booking["holds"]} == {booking["booking_id"]}
    assert {hold["held_until"] for hold in booking["holds"]} == {booking["held_until"]}
    assert (booking["event_id"], booking["expires_in_seconds"]) == (event.event_id, 300)
    assert await event.seats("held") == "A1 A2 B5 B6"
    rows = await table(services, event.tenant, "SELECT * FROM seat_hold")
    assert {(row["source"], row["notes"], row["is_judged"]) for row in rows} == {
        ("scanner", "by phone", True)
    }
    assert len(await event.office.audit("seat_reserved")) == 4
    names = await table(services, event.tenant, "SELECT name FROM domain_event")
    assert [row["name"] for row in names] == ["SeatReserved"] * 4


async def test_of_seats_of_which_one_is_taken_none_is_held(
    services: Services, event: SeatedEvent, anna: Customer, ben: Customer
):
    await ben.held(event, "A3")
    before = await state(services, event.tenant)
    answer = await anna.book(event, seat_ids=["A1", "A2", "A3"])
    assert refusal(answer) == (409, "seat_already_held_by_another_user")
    services.cache.forget_all()
    answer = await anna.book(event, seat_ids=["A1", "A2", "A3"])
    assert refusal(answer) == (409, "seat_not_available")
    assert answer.json()["details"]["seat_id"] == "A3"
    assert await state(services, event.tenant) == before
    failures = await event.office.audit("seat_reserve_failed")
    assert [failure["changes"]["seats"] for failure in failures] == [["A1", "A2", "A3"]] * 2


async def test_a_seat_named_twice_is_one_seat(
    services: Services, event: SeatedEvent, anna: Customer
):
    view = await event.view(services)
    a1 = str(view.plan.ids[view.position("A1")])
    assert labels(await booked(anna, event, seat_ids=["A1", "A2", "A1"])) == "A1 A2"
    booking = await booked(
        anna, event, seat_ids=["B1", "B2", str(view.plan.ids[view.position("B1")])]
    )
    assert labels(booking) == "B1 B2", "by its label and by its id"
    answer = await anna.book(event, seat_ids=[a1, "A1"])
    assert (answer.status_code, labels(answer.json()["data"])) == (200, "A1")


async def test_a_seat_that_does_not_exist_is_not_found(
    services: Services, event: SeatedEvent, anna: Customer
):
    before = await state(services, event.tenant)
    assert refusal(await anna.book(event, seat_ids=["A1", "Z1"])) == (404, "seat_not_found")
    assert await state(services, event.tenant) == before


async def test_a_booking_that_leaves_a_seat_alone_is_refused_with_others(
    services: Services, event: SeatedEvent, anna: Customer
):
    before = await state(services, event.tenant)
    answer = await anna.book(event, seat_ids=["A2", "A3"])
    assert problems(answer) == ["would_orphan_seats"]
    details = answer.json()["details"]
    assert details["problems"][0]["seat_ids"] == ["A1"]
    assert answer.json()["message"] == details["problems"][0]["message"]
    assert await state(services, event.tenant) == before
    other = [seat["seat_id"] for seat in details["alternatives"][0]["seats"]]
    assert labels(await booked(anna, event, seat_ids=other)) == " ".join(other)


async def test_what_the_policy_allows_may_leave_a_seat_alone(event: SeatedEvent, anna: Customer):
    await event.office.policy(orphan_avoidance_strict=False)
    assert labels(await booked(anna, event, seat_ids=["A2", "A3"])) == "A2 A3"


async def test_a_group_that_must_sit_together_is_refused_apart(event: SeatedEvent, anna: Customer):
    await event.office.policy(group_adjacency_strict=True)
    assert problems(await anna.book(event, seat_ids=["A1", "B1"])) == ["seats_not_together"]
    assert labels(await booked(anna, event, seat_ids=["A1", "A2"])) == "A1 A2"


async def test_a_table_is_held_whole_or_not_at_all(
    client: httpx.AsyncClient, tenant: Tenant, anna: Customer
):
    config = a_config(("....", "...."), groups=[a_group("vip_table", "A1 A2 A3 A4", whole=True)])
    event = await a_seated_event(client, tenant, config)
    assert "table_is_sold_whole" in problems(await anna.book(event, seat_ids=["A1", "A2"]))
    assert labels(await booked(anna, event, seat_ids=["A1", "A2", "A3", "A4"])) == "A1 A2 A3 A4"


async def test_more_than_a_booking_may_have_is_refused(
    services: Services, event: SeatedEvent, anna: Customer
):
    await event.office.policy(max_seats_per_booking=4)
    before = await state(services, event.tenant)
    for wish in (
        {"seat_ids": ["A1", "A2", "A3", "A4", "A5"]},
        {"seat_ids": ["A1", "A2"], "places": [places(PIT, 3)]},
        {"places": [places(PIT, 3), places(FLOOR, 2)]},
        {"best": {"party": 3}, "places": [places(PIT, 2)]},
        {"seat_ids": ["A1", "A2"], "best": {"party": 3}},
    ):
        assert problems(await anna.book(event, **wish)) == ["too_many_seats"], wish
    assert refusal(await anna.book(event, best={"party": 5})) == (409, "booking_refused")
    assert await state(services, event.tenant) == before


async def test_a_group_counts_as_many_as_it_is(
    services: Services, event: SeatedEvent, anna: Customer, clock: MovableClock
):
    await booked(anna, event, seat_ids=["A1", "A2", "A3"], places=[places(PIT, 4)])
    before = await state(services, event.tenant)
    for wish in (
        {"seat_ids": ["B1", "B2", "B3", "B4"]},
        {"places": [places(PIT, 4)]},
        {"best": {"party": 4}},
    ):
        answer = await anna.book(event, **wish)
        assert refusal(answer) == (429, "rate_limited")
        assert 1 <= int(answer.headers["retry-after"]) <= 300
    assert await state(services, event.tenant) == before
    await booked(anna, event, seat_ids=["B1", "B2", "B3"])
    clock.ahead = timedelta(minutes=5, seconds=1)
    await booked(anna, event, seat_ids=["B4", "B5"])


async def test_what_one_holds_already_is_given_again(
    services: Services, event: SeatedEvent, anna: Customer
):
    first = await booked(anna, event, seat_ids=["A1", "A2"])
    again = await anna.book(event, seat_ids=["A2", "A1"])
    assert again.status_code == 200
    assert {hold["hold_id"] for hold in again.json()["data"]["holds"]} == {
        hold["hold_id"] for hold in first["holds"]
    }
    assert again.json()["data"]["booking_id"] == first["booking_id"]
    more = await booked(anna, event, seat_ids=["A1", "A2", "A3", "A4"])
    assert sorted(labels(more).split()) == ["A1", "A2", "A3", "A4"]
    assert len(await table(services, event.tenant, "SELECT id FROM seat_hold")) == 4
    [limit] = (await state(services, event.tenant))["limits"]
    assert limit["used"] == 4, "what one has costs nothing"


async def test_the_same_person_twice_at_the_same_moment_gets_the_same_seats(
    services: Services, event: SeatedEvent, anna: Customer
):
    """In one batch nothing of the first is in the database yet."""
    new = NewBooking(seat_ids=["A1", "A2"])
    first, second = await together(services, event, (anna, new, None), (anna, new, None))
    assert isinstance(first, Booking)
    assert isinstance(second, Booking), second
    assert [hold.hold_id for hold in first.holds] == [hold.hold_id for hold in second.holds]
    assert len(await table(services, event.tenant, "SELECT id FROM seat_hold")) == 2
    [limit] = (await state(services, event.tenant))["limits"]
    assert limit["used"] == 2


async def test_one_seat_twice_at_the_same_moment_is_one_hold(
    services: Services, event: SeatedEvent, anna: Customer
):
    answers = await asyncio.gather(
        *(services.holds.reserve(anna.caller, UUID(event.event_id), "A1", "web") for _ in range(5))
    )
    assert [is_new for _, is_new in answers] == [True, False, False, False, False]
    assert len({booking.holds[0].hold_id for booking, _ in answers}) == 1


# Wheelchair users and who comes along.


@pytest.fixture
async def hall(client: httpx.AsyncClient, tenant: Tenant) -> SeatedEvent:
    """A1 a wheelchair place and A2 its companion's, and so A5 and A6."""
    return await a_seated_event(client, tenant, a_config(("wc..wc....", "..........")))


async def test_a_wheelchair_user_and_a_companion_are_held_together(
    hall: SeatedEvent, anna: Customer
):
    assert labels(await booked(anna, hall, seat_ids=["A1", "A2"])) == "A1 A2"
    [entry] = await hall.office.audit("wheelchair_booking")
    assert entry["changes"]["seat_id"] == "A1"
    assert entry["changes"]["companion_seat_ids"] == []


async def test_the_companion_may_come_later_if_the_same_person_books(
    services: Services, hall: SeatedEvent, anna: Customer, ben: Customer
):
    await booked(anna, hall, seat_ids=["A1"])
    assert (await hall.map())["A2"] == "soft_reserved"
    before = await state(services, hall.tenant)
    assert problems(await ben.book(hall, seat_ids=["A2"])) == ["seat_soft_reserved"]
    assert refusal(await ben.reserve(hall, "A2")) == (409, "booking_refused")
    assert await state(services, hall.tenant) == before
    assert labels(await booked(anna, hall, seat_ids=["A2"])) == "A2"


async def test_the_companion_may_come_at_the_same_moment(
    services: Services, hall: SeatedEvent, anna: Customer, ben: Customer
):
    wheelchair, companion, stranger = await together(
        services,
        hall,
        (anna, NewBooking(seat_ids=["A1"]), None),
        (anna, NewBooking(seat_ids=["A2"]), None),
        (ben, NewBooking(seat_ids=["A6"]), None),
    )
    assert isinstance(wheelchair, Booking)
    assert isinstance(companion, Booking), companion
    assert isinstance(stranger, Booking), "whose wheelchair place nobody has taken"


async def test_a_companions_seat_is_refused_to_who_comes_a_moment_after_the_wheelchair_user(
    services: Services, hall: SeatedEvent, anna: Customer, ben: Customer
):
    _, stranger = await together(
        services,
        hall,
        (anna, NewBooking(seat_ids=["A5"]), None),
        (ben, NewBooking(seat_ids=["A6"]), None),
    )
    assert isinstance(stranger, Refusal)
    assert stranger.code == "booking_refused"


async def test_more_wheelchair_places_than_allowed_are_refused(hall: SeatedEvent, anna: Customer):
    answer = await anna.book(hall, seat_ids=["A1", "A5"])
    assert "too_many_wheelchair_seats" in problems(answer)


async def test_the_best_for_a_wheelchair_user_and_company(hall: SeatedEvent, anna: Customer):
    booking = await booked(anna, hall, best={"party": 2, "wheelchair_places": 1})
    assert labels(booking) in ("A1 A2", "A5 A6")


# The best for so many.


async def test_the_best_seats_for_so_many_are_those_that_were_proposed(
    event: SeatedEvent, anna: Customer
):
    proposed = (await event.best(4)).json()["data"]["seats"]
    booking = await booked(anna, event, best={"party": 4})
    assert labels(booking) == " ".join(seat["seat_id"] for seat in proposed)
    assert await event.seats("held") == labels(booking)


async def test_the_best_is_found_where_it_is_wanted(
    client: httpx.AsyncClient, tenant: Tenant, anna: Customer
):
    price = str(uuid4())
    config = a_config(("....", "rrrr"), ("....",))
    overrides = {"pricing_zones": {TWO: {"pricing_rule_id": price}}}
    event = await a_seated_event(client, tenant, config, overrides)
    there = await booked(anna, event, best={"party": 2, "zone_ids": [TWO]})
    assert {hold["zone_id"] for hold in there["holds"]} == {TWO}
    cheap = await booked(anna, event, best={"party": 2, "categories": ["restricted_view"]})
    assert {hold["row"] for hold in cheap["holds"]} == {"B"}
    priced = await booked(anna, event, best={"party": 2, "pricing_rule_ids": [price]})
    assert {hold["zone_id"] for hold in priced["holds"]} == {TWO}
    answer = await anna.book(event, best={"party": 2, "zone_ids": [TWO]})
    assert refusal(answer) == (409, "no_suitable_seats")
    assert answer.json()["details"]["in_other_zones"] is not None


async def test_where_none_suit_it_is_said_what_would(
    services: Services, event: SeatedEvent, anna: Customer
):
    await event.block("A4 A8 B4 B8")
    before = await state(services, event.tenant)
    answer = await anna.book(event, best={"party": 10})
    assert refusal(answer) == (409, "no_suitable_seats")
    assert answer.json()["details"]["largest_together"] == 3
    assert await state(services, event.tenant) == before
    [failure] = await event.office.audit("seat_reserve_failed")
    assert (failure["changes"]["error"], failure["changes"]["party"]) == ("no_suitable_seats", 10)


async def test_seats_by_name_and_the_best_for_the_others(event: SeatedEvent, anna: Customer):
    booking = await booked(anna, event, seat_ids=["B1", "B2"], best={"party": 2})
    assert labels(booking).startswith("B1 B2 A")
    assert len(booking["holds"]) == 4


async def test_parties_at_the_same_moment_never_get_the_same_seats(
    services: Services, client: httpx.AsyncClient, event: SeatedEvent, tenant: Tenant
):
    crowd = await customers(services, client, tenant, 12)
    answers = await asyncio.gather(*(who.book(event, best={"party": 2}) for who in crowd))
    got = [answer for answer in answers if answer.status_code == 201]
    assert len(got) == 10, [answer.text for answer in answers]
    seats = [seat for answer in got for seat in labels(answer.json()["data"]).split()]
    assert sorted(seats) == sorted(event.seat_ids), "all of the twenty, each once"
    others = [answer for answer in answers if answer.status_code != 201]
    assert [refusal(answer) for answer in others] == [(409, "no_suitable_seats")] * 2


async def test_parties_on_two_nodes_never_get_the_same_seats(
    services: Services,
    client: httpx.AsyncClient,
    event: SeatedEvent,
    tenant: Tenant,
    database_url: str,
    clock: MovableClock,
):
    crowd = await customers(services, client, tenant, 10)
    new, event_id = NewBooking(best=BestRequest(party=2)), UUID(event.event_id)
    async with a_node(database_url, clock) as there:
        nodes = (services, there)
        answers = await asyncio.gather(
            *(
                nodes[number % 2].holds.book(who.caller, event_id, new, None)
                for number, who in enumerate(crowd)
            )
        )
    seats = [hold.seat_label for booking, _ in answers for hold in booking.holds]
    assert sorted(map(str, seats)) == sorted(event.seat_ids)


async def test_what_is_remembered_of_another_layout_is_not_chosen_by(
    services: Services, event: SeatedEvent, anna: Customer
):
    """A message on its way from another node: the map in this process is of before a change."""
    position = (10**6).to_bytes(4, "big")
    old = Snapshot(seq=0, layout_id=uuid4(), held=b"", held_until=b"", sold=position, blocked=b"")
    key = bitmap_key(event.tenant.id, UUID(event.event_id))
    await heard(services, event.tenant)
    services.cache.put_hot(key, old, ttl_s=60)
    assert len((await booked(anna, event, best={"party": 2}))["holds"]) == 2


async def test_who_asks_for_the_best_once_more_gets_others(
    services: Services, event: SeatedEvent, anna: Customer
):
    """Also where it is not yet remembered that the first are taken, and by whom."""
    key = bitmap_key(event.tenant.id, UUID(event.event_id))
    await event.map()
    before = services.cache.hot(key, Snapshot)
    assert before is not None
    first = await booked(anna, event, best={"party": 2})
    await heard(services, event.tenant)
    services.cache.put_hot(key, before, ttl_s=60)
    forgets = asyncio.create_task(forget_when_asked_twice(services, key))
    second = await booked(anna, event, best={"party": 2})
    forgets.cancel()
    assert set(labels(first).split()).isdisjoint(labels(second).split())
    assert first["booking_id"] != second["booking_id"]


async def forget_when_asked_twice(services: Services, key: str) -> None:
    """As a message does that comes a moment late."""
    await asyncio.sleep(0.1)
    services.cache.forget([key])


async def test_who_may_not_choose_is_given_seats(event: SeatedEvent, anna: Customer, ben: Customer):
    await event.office.policy(prefer_clustering_over_selection=True)
    assert problems(await anna.book(event, seat_ids=["A1", "A2"])) == ["seats_are_chosen_for_you"]
    assert refusal(await anna.reserve(event, "A1")) == (409, "booking_refused")
    booking = await booked(anna, event, best={"party": 2})
    again = await anna.book(event, seat_ids=labels(booking).split())
    assert again.status_code == 200, "one's own may be named"
    answer = await event.post("holds", {"seat_ids": ["B1", "B2"]}, by="box_office")
    assert answer.status_code == 201, "staff choose"
    assert (await ben.book(event, places=[places(PIT, 2)])).status_code == 201


# Places, and mixtures.


async def test_so_many_places_are_held(services: Services, event: SeatedEvent, anna: Customer):
    booking = await booked(anna, event, places=[places(PIT, 4)])
    [hold] = booking["holds"]
    assert (hold["places"], hold["zone_id"], hold["block_name"]) == (4, PIT, "Pit")
    assert (hold["seat_id"], hold["seat_label"], hold["row"], hold["seat_number"]) == (None,) * 4
    assert hold["days"] == [str(SOON.date())]
    assert hold["message"] == "4 places reserved for 5 minutes. Proceed to checkout."
    assert (await event.zone(PIT))["available"] == 26
    [row] = await table(services, event.tenant, "SELECT * FROM place_hold")
    assert (str(row["hold_id"]), row["places"]) == (hold["hold_id"], 4)
    [entry] = await event.office.audit("seat_reserved")
    assert (entry["changes"]["zone_id"], entry["changes"]["places"]) == (PIT, 4)


async def test_two_seats_and_one_on_the_floor_and_one_in_the_pit(
    services: Services, event: SeatedEvent, anna: Customer
):
    wish = {"seat_ids": ["A1", "A2"], "places": [places(FLOOR, 1), places(PIT, 1)]}
    booking = await booked(anna, event, **wish)
    assert [(hold["seat_label"], hold["block_name"]) for hold in booking["holds"]] == [
        ("A1", "Zone 1"),
        ("A2", "Zone 1"),
        (None, "Floor"),
        (None, "Pit"),
    ]
    assert len({hold["booking_id"] for hold in booking["holds"]}) == 1
    counts = {zone["zone_id"]: zone["held"] for zone in (await event.availability())["zones"]}
    assert counts == {ONE: 2, FLOOR: 1, PIT: 1}
    [limit] = (await state(services, event.tenant))["limits"]
    assert limit["used"] == 4
    assert len(await anna.holds()) == 4


async def test_seats_that_we_choose_and_places_come_together(event: SeatedEvent, anna: Customer):
    booking = await booked(anna, event, best={"party": 3}, places=[places(PIT, 2)])
    assert [hold["places"] for hold in booking["holds"]] == [1, 1, 1, 2]


MIXTURES: list[tuple[dict[str, Any], str]] = [
    ({"seat_ids": ["A1", "A2"], "places": [places(FLOOR, 4)]}, "block_at_capacity"),
    (
        {"seat_ids": ["A1", "A2"], "places": [places(PIT, 2), places(FLOOR, 4)]},
        "block_at_capacity",
    ),
    (
        {"seat_ids": ["A1", "A2"], "places": [places(FLOOR, 2), places(FLOOR, 2)]},
        "block_at_capacity",
    ),
    ({"seat_ids": ["B10", "B9"], "places": [places(PIT, 1)]}, "seat_not_available"),
    ({"seat_ids": ["A2"], "places": [places(PIT, 1)]}, "booking_refused"),
    ({"seat_ids": ["A1", "A99"], "places": [places(PIT, 1)]}, "seat_not_found"),
    ({"best": {"party": 2}, "places": [places(FLOOR, 4)]}, "block_at_capacity"),
    (
        {"best": {"party": 2, "zone_ids": [PIT]}, "places": [places(PIT, 1)]},
        "no_suitable_seats",
    ),
    ({"seat_ids": ["A1", "A2"], "places": [places(str(UUID(int=9)), 1)]}, "zone_not_found"),
    ({"seat_ids": ["A1", "A2"], "places": [places(ONE, 1)]}, "zone_has_seats"),
    (
        {"seat_ids": ["A1", "A2"], "places": [places(PIT, 1, date(2031, 1, 1))]},
        "zone_not_found",
    ),
]


async def test_a_mixture_of_which_a_part_fails_takes_nothing(
    services: Services, event: SeatedEvent, anna: Customer
):
    await event.block("B9")
    await sell_places(services, event, 7, zone_id=FLOOR)
    before = await state(services, event.tenant)
    for number, (wish, code) in enumerate(MIXTURES, start=1):
        answer = await anna.book(event, "a-key", **wish)
        assert answer.json()["error"] == code, answer.text
        assert await state(services, event.tenant) == before
        assert await anna.holds() == []
        failures = await event.office.audit("seat_reserve_failed")
        assert len(failures) == number
        assert failures[0]["changes"]["error"] == code
        assert failures[0]["actor_id"] == str(anna.id)


async def test_who_fails_takes_nothing_from_who_comes_at_the_same_moment(
    services: Services, event: SeatedEvent, anna: Customer, ben: Customer
):
    """The first has seats and places of the pit in hand when the floor turns out to be too full."""
    greedy = NewBooking(
        seat_ids=["A1", "A2"], places=[_wish(PIT, 1), _wish(FLOOR, 6), _wish(PIT, 1)]
    )
    await sell_places(services, event, 5, zone_id=FLOOR)
    refused, got = await together(
        services,
        event,
        (anna, greedy, None),
        (ben, NewBooking(seat_ids=["A1", "A2"], places=[_wish(FLOOR, 5)]), None),
    )
    assert isinstance(refused, Refusal)
    assert refused.code == "block_at_capacity"
    assert isinstance(got, Booking), got
    counts = {zone["zone_id"]: zone["held"] for zone in (await event.availability())["zones"]}
    assert counts == {ONE: 2, FLOOR: 5, PIT: 0}


def _wish(zone_id: str, count: int) -> PlacesWish:
    return PlacesWish(zone_id=UUID(zone_id), count=count)


async def test_places_are_counted_by_day(
    services: Services, client: httpx.AsyncClient, tenant: Tenant, anna: Customer, ben: Customer
):
    ends_at = (SOON + timedelta(days=2, hours=5)).isoformat()
    event = await a_seated_event(client, tenant, a_config(places={"Pit": 5}), ends_at=ends_at)
    friday, saturday, sunday = ((SOON + timedelta(days=n)).date() for n in range(3))
    booking = await booked(
        anna, event, places=[places(PIT, 3, saturday, friday, saturday), places(PIT, 1, sunday)]
    )
    assert [hold["days"] for hold in booking["holds"]] == [
        [str(friday), str(saturday)],
        [str(sunday)],
    ]
    answer = await ben.book(event, places=[places(PIT, 3)])
    assert refusal(answer) == (409, "block_at_capacity")
    assert answer.json()["details"] == {"zone_id": PIT, "available": 2, "asked": 3}
    await booked(ben, event, places=[places(PIT, 4, sunday)])
    await booked(ben, event, places=[places(PIT, 2, friday)])
    counters = await table(services, tenant, "SELECT day, held FROM zone_day ORDER BY day")
    assert [(row["day"], row["held"]) for row in counters] == [
        (friday, 5),
        (saturday, 3),
        (sunday, 5),
    ]
    assert refusal(await ben.book(event, places=[places(PIT, 1)])) == (409, "block_at_capacity")
    no_days = {"zone_id": PIT, "count": 1, "days": []}
    assert refusal(await ben.book(event, places=[no_days])) == (422, "invalid_request")


async def test_a_zone_that_is_not_open_at_this_event_has_no_places(
    event: SeatedEvent, anna: Customer
):
    await event.put_layout({"disabled_zones": [PIT]})
    assert refusal(await anna.book(event, places=[places(PIT, 1)])) == (404, "zone_not_found")


# Zones that are not open to everybody.


@pytest.fixture
async def club(client: httpx.AsyncClient, tenant: Tenant) -> SeatedEvent:
    """Members and friends in zone one and in the pit, friends only in zone two, everybody on
    the floor."""
    friends = await Office(client, tenant).make("/api/whitelists", {"name": "friends"})
    config = a_config(("..........", ".........."), ("....",), places={"Pit": 30, "Floor": 10})
    members = {
        "access_mode": "membership_tier",
        "membership_tier": TIER,
        "whitelist_id": friends["id"],
    }
    config = a_zone(a_zone(config, **members), 2, **members)
    config = a_zone(config, 1, access_mode="whitelist", whitelist_id=friends["id"])
    return await a_seated_event(client, tenant, config)


async def grant(event: SeatedEvent, who: Customer, **changes: Any) -> str:
    membership = {"tier": TIER, "valid_from": LONG_AGO, **changes}
    path = f"/api/users/{who.id}/memberships"
    answer = await event.office.ask("POST", path, membership, by="admin")
    return answer.json()["data"]["membership"]["id"]


async def befriend(event: SeatedEvent, *emails: str) -> None:
    whitelist_id = event.config["zones"][0]["whitelist_id"]
    for email in emails:
        await event.office.make(f"/api/whitelists/{whitelist_id}/entries", {"email": email})


async def memberships(services: Services, event: SeatedEvent) -> list[str | None]:
    query = "SELECT associated_membership_id AS id FROM seat_hold ORDER BY id"
    return [row["id"] and str(row["id"]) for row in await table(services, event.tenant, query)]


async def test_a_member_brings_guests_who_qualify_too(
    services: Services, club: SeatedEvent, anna: Customer, ben: Customer
):
    hers, his = await grant(club, anna), await grant(club, ben)
    await befriend(club, "friend@example.org")
    guests = [ben.email, "Friend@Example.org"]
    assert (
        labels(await booked(anna, club, seat_ids=["A1", "A2", "A3"], guests=guests)) == "A1 A2 A3"
    )
    rows = await table(
        services, club.tenant, "SELECT associated_membership_id AS id, seat_id FROM seat_hold"
    )
    view = await club.view(services)
    opened_by = {
        view.plan.seats[view.plan.by_id[row["seat_id"]]].seat_id: row["id"] and str(row["id"])
        for row in rows
    }
    assert opened_by == {"A1": hers, "A2": his, "A3": None}


async def test_who_is_no_member_gets_nothing_there(
    services: Services, club: SeatedEvent, anna: Customer
):
    before = await state(services, club.tenant)
    for wish in (
        {"seat_ids": ["A1", "A2"]},
        {"places": [places(PIT, 1)]},
        {"seat_ids": ["A1"], "places": [places(FLOOR, 1)]},
    ):
        answer = await anna.book(club, **wish)
        assert refusal(answer) == (403, "zone_access_denied"), wish
        assert answer.json()["details"]["reason"] == "membership_required"
    answer = await anna.reserve(club, "A1")
    assert refusal(answer) == (403, "zone_access_denied")
    answer = await anna.book(club, best={"party": 2})
    assert refusal(answer) == (409, "no_suitable_seats"), "there is nothing else"
    answer = await anna.book(club, best={"party": 2, "zone_ids": [ONE]})
    assert refusal(answer) == (403, "zone_access_denied")
    assert await state(services, club.tenant) == before
    assert (await anna.book(club, places=[places(FLOOR, 3)])).status_code == 201


async def test_a_guest_who_does_not_qualify_keeps_all_of_them_out(
    services: Services, club: SeatedEvent, anna: Customer
):
    await grant(club, anna)
    before = await state(services, club.tenant)
    answer = await anna.book(club, seat_ids=["A1", "A2"], guests=["stranger@example.org"])
    assert refusal(answer) == (403, "zone_access_denied")
    assert answer.json()["details"]["guest"] == "stranger@example.org"
    assert await state(services, club.tenant) == before


async def test_guests_must_be_named(services: Services, club: SeatedEvent, anna: Customer):
    await grant(club, anna)
    await befriend(club, "friend@example.org")
    before = await state(services, club.tenant)
    for wish in (
        {"seat_ids": ["A1", "A2"]},
        {"seat_ids": ["A1", "A2", "A3"], "guests": ["friend@example.org"]},
        {"seat_ids": ["A1", "A2"], "guests": [anna.email]},
        {"places": [places(PIT, 2)]},
        {"best": {"party": 2}},
    ):
        answer = await anna.book(club, **wish)
        assert refusal(answer) == (403, "guests_not_named"), wish
    assert await state(services, club.tenant) == before
    wish = {"seat_ids": ["A1", "A2"], "places": [places(FLOOR, 3)]}
    assert (await anna.book(club, **wish, guests=["friend@example.org"])).status_code == 201


async def test_one_membership_opens_one_seat(
    services: Services, club: SeatedEvent, anna: Customer, clock: MovableClock
):
    await grant(club, anna)
    hold = (await booked(anna, club, seat_ids=["A1"]))["holds"][0]
    before = await state(services, club.tenant)
    for wish in ({"seat_ids": ["B1"]}, {"places": [places(PIT, 1)]}, {"best": {"party": 1}}):
        assert refusal(await anna.book(club, **wish)) == (403, "membership_already_used"), wish
    assert refusal(await anna.reserve(club, "B1")) == (403, "membership_already_used")
    assert await state(services, club.tenant) == before
    assert (await anna.reserve(club, "A1")).status_code == 200
    await anna.release(hold["hold_id"])
    await booked(anna, club, seat_ids=["B1"])
    clock.ahead = timedelta(minutes=5)
    await booked(anna, club, seat_ids=["A1"])


async def test_one_membership_opens_one_seat_of_one_booking(
    services: Services, club: SeatedEvent, anna: Customer
):
    """Also where two zones would each let its owner in."""
    await grant(club, anna)
    before = await state(services, club.tenant)
    answer = await anna.book(club, seat_ids=["A1"], places=[places(PIT, 1)])
    assert refusal(answer) == (403, "membership_already_used")
    assert await state(services, club.tenant) == before


async def test_one_membership_opens_one_seat_at_one_moment(
    services: Services, club: SeatedEvent, anna: Customer
):
    await grant(club, anna)
    got, refused = await together(
        services,
        club,
        (anna, NewBooking(seat_ids=["A1"]), None),
        (anna, NewBooking(seat_ids=["B1"]), None),
    )
    assert isinstance(got, Booking)
    assert isinstance(refused, Refusal)
    assert refused.code == "membership_already_used"
    assert len(await memberships(services, club)) == 1


async def test_who_has_a_seat_may_bring_a_guest_later(
    services: Services, club: SeatedEvent, anna: Customer, ben: Customer
):
    hers, his = await grant(club, anna), await grant(club, ben)
    await booked(anna, club, seat_ids=["A1"])
    await booked(anna, club, seat_ids=["A2"], guests=[ben.email])
    assert sorted(map(str, await memberships(services, club))) == sorted([hers, his])
    answer = await ben.book(club, seat_ids=["A3"])
    assert refusal(answer) == (403, "membership_already_used"), "he has one by now"


async def test_members_may_sit_in_several_zones(
    services: Services, club: SeatedEvent, anna: Customer, ben: Customer
):
    hers, his = await grant(club, anna), await grant(club, ben)
    await booked(anna, club, seat_ids=["A1"], places=[places(PIT, 1)], guests=[ben.email])
    assert sorted(map(str, await memberships(services, club))) == sorted([hers, his])


async def test_each_place_of_members_is_somebodys_own(
    services: Services, club: SeatedEvent, anna: Customer, ben: Customer
):
    hers, his = await grant(club, anna), await grant(club, ben)
    booking = await booked(anna, club, places=[places(PIT, 2)], guests=[ben.email])
    assert [hold["places"] for hold in booking["holds"]] == [1, 1]
    assert sorted(map(str, await memberships(services, club))) == sorted([hers, his])


async def test_a_zone_by_name_is_for_who_is_on_its_list(club: SeatedEvent, anna: Customer):
    answer = await anna.book(club, seat_ids=["C1", "C2"], guests=["friend@example.org"])
    assert refusal(answer) == (403, "zone_access_denied")
    assert answer.json()["details"]["reason"] == "not_whitelisted"
    await befriend(club, "friend@example.org", anna.email)
    await booked(anna, club, seat_ids=["C1", "C2"], guests=["friend@example.org"])
    await booked(anna, club, seat_ids=["C3", "C4"], guests=["friend@example.org"])


async def test_who_sells_names_the_buyers(services: Services, club: SeatedEvent, anna: Customer):
    membership = await grant(club, anna)
    answer = await club.post("holds", {"seat_ids": ["A1"]}, by="box_office")
    assert refusal(answer) == (403, "zone_access_denied")
    sale = {"seat_ids": ["A1"], "guests": [anna.email]}
    assert (await club.post("holds", sale, by="box_office")).status_code == 201
    assert await memberships(services, club) == [membership]


# Doing it twice.


async def test_the_same_key_gives_the_same_answer(
    services: Services, event: SeatedEvent, anna: Customer
):
    wish = {"best": {"party": 2}, "places": [places(PIT, 1)]}
    first = await anna.book(event, "click", **wish)
    assert first.status_code == 201
    before = await state(services, event.tenant)
    again = await anna.book(event, "click", **wish)
    assert again.is_success
    assert again.json() == first.json()
    assert await state(services, event.tenant) == before


async def test_another_request_under_the_same_key_is_refused(
    services: Services, event: SeatedEvent, anna: Customer, ben: Customer
):
    await anna.book(event, "click", seat_ids=["A1", "A2"])
    before = await state(services, event.tenant)
    answer = await anna.book(event, "click", seat_ids=["B1", "B2"])
    assert refusal(answer) == (409, "idempotency_key_reused")
    other = await a_seated_event(event.office.client, event.tenant)
    answer = await anna.book(other, "click", seat_ids=["A1", "A2"])
    assert refusal(answer) == (409, "idempotency_key_reused"), "for another event"
    assert await state(services, event.tenant) == before
    assert (await ben.book(event, "click", seat_ids=["B1", "B2"])).status_code == 201


async def test_other_requests_under_one_key_at_the_same_moment_are_refused_but_one(
    services: Services, event: SeatedEvent, anna: Customer
):
    first, second = await together(
        services,
        event,
        (anna, NewBooking(seat_ids=["A1", "A2"]), IdempotencyKey(anna.id, "click", b"one")),
        (anna, NewBooking(seat_ids=["B1", "B2"]), IdempotencyKey(anna.id, "click", b"two")),
    )
    assert isinstance(first, Booking)
    assert isinstance(second, Refusal)
    assert second.code == "idempotency_key_reused"
    assert await event.seats("held") == "A1 A2"


async def test_a_key_whose_request_was_refused_can_be_used_again(
    event: SeatedEvent, anna: Customer, ben: Customer
):
    hold = await ben.held(event, "A1")
    refused = await anna.book(event, "click", seat_ids=["A1", "A2"])
    assert refused.status_code == 409
    await ben.release(hold["hold_id"])
    assert (await anna.book(event, "click", seat_ids=["A1", "A2"])).status_code == 201


@pytest.mark.parametrize(
    "wish",
    [
        {"seat_ids": ["A1", "A2"]},
        {"best": {"party": 2}},
        {"places": [places(PIT, 2)]},
        {"best": {"party": 2}, "places": [places(FLOOR, 1)]},
    ],
)
async def test_a_double_click_makes_one_booking(
    services: Services, event: SeatedEvent, anna: Customer, wish: dict[str, Any]
):
    answers = await asyncio.gather(*(anna.book(event, "click", **wish) for _ in range(6)))
    assert all(answer.is_success for answer in answers), [answer.text for answer in answers]
    assert len({answer.json()["data"]["booking_id"] for answer in answers}) == 1
    assert [answer.status_code for answer in answers].count(201) == 1
    bookings = await table(services, event.tenant, "SELECT DISTINCT booking_id FROM seat_hold")
    assert len(bookings) == 1
    assert await event.office.audit("seat_reserve_failed") == []


async def test_control_a_double_click_without_a_key_makes_several(
    services: Services, event: SeatedEvent, anna: Customer
):
    await asyncio.gather(*(anna.book(event, best={"party": 2}) for _ in range(3)))
    bookings = await table(services, event.tenant, "SELECT DISTINCT booking_id FROM seat_hold")
    assert len(bookings) == 3


async def test_a_double_click_on_two_nodes_makes_one_booking(
    services: Services,
    event: SeatedEvent,
    anna: Customer,
    database_url: str,
    clock: MovableClock,
):
    async with a_node(database_url, clock) as there:
        for number in range(5):
            once = IdempotencyKey(anna.id, f"click {number}", b"same")
            new = NewBooking(best=BestRequest(party=2))
            answers = await asyncio.gather(
                *(
                    node.holds.book(anna.caller, UUID(event.event_id), new, once)
                    for node in (services, there, services, there)
                )
            )
            assert len({booking.booking_id for booking, _ in answers}) == 1
    bookings = await table(services, event.tenant, "SELECT DISTINCT booking_id FROM seat_hold")
    assert len(bookings) == 5


async def test_a_double_click_on_the_last_seats_is_answered_twice_alike(
    services: Services, event: SeatedEvent, anna: Customer
):
    """The second finds no seats left, and gets the first one's all the same."""
    await event.block(" ".join(seat for seat in event.seat_ids if seat not in ("A1", "A2")))
    once, new = IdempotencyKey(anna.id, "click", b"same"), NewBooking(best=BestRequest(party=2))
    first, second = await together(services, event, (anna, new, once), (anna, new, once))
    assert isinstance(first, Booking)
    assert isinstance(second, Booking), second
    assert first.booking_id == second.booking_id
    later = await services.holds.book(anna.caller, UUID(event.event_id), new, once)
    assert later[0].booking_id == first.booking_id
    assert await event.office.audit("seat_reserve_failed") == []


async def test_who_did_not_hear_the_answer_gets_it_even_if_the_seats_are_anothers_by_now(
    event: SeatedEvent, anna: Customer, ben: Customer
):
    first = await anna.book(event, "click", seat_ids=["A1", "A2"])
    for hold in first.json()["data"]["holds"]:
        await anna.release(hold["hold_id"])
    await booked(ben, event, seat_ids=["A1", "A2"])
    again = await anna.book(event, "click", seat_ids=["A1", "A2"])
    assert again.json() == first.json(), "what was answered then"
    assert await anna.holds() == []


# What cannot be read, and who may not.


async def test_nothing_wanted_is_refused(event: SeatedEvent, anna: Customer):
    for wish in ({}, {"seat_ids": [], "places": []}, {"guests": ["a@b.example"]}):
        assert refusal(await anna.book(event, **wish)) == (422, "nothing_wanted")


FAULTY: list[tuple[dict[str, Any], str]] = [
    ({"seat_ids": "A1"}, "$.seat_ids"),
    ({"seat_ids": [1]}, "$.seat_ids[0]"),
    ({"seat_ids": ["A1"] * 51}, "$.seat_ids"),
    ({"best": 2}, "$.best"),
    ({"best": {"party": 0}}, "$.best.party"),
    ({"best": {"party": 51}}, "$.best.party"),
    ({"best": {}}, "$.best"),
    ({"best": {"party": 2, "categories": ["wheelchair"]}}, "$.best.categories[0]"),
    ({"best": {"party": 2, "zone_ids": []}}, "$.best.zone_ids"),
    ({"places": [{"zone_id": PIT}]}, "$.places[0]"),
    ({"places": [{"zone_id": "pit", "count": 1}]}, "$.places[0].zone_id"),
    ({"places": [{"zone_id": PIT, "count": 0}]}, "$.places[0].count"),
    ({"places": [{"zone_id": PIT, "count": 1.5}]}, "$.places[0].count"),
    ({"places": [{"zone_id": PIT, "count": 1, "days": ["friday"]}]}, "$.places[0].days[0]"),
    ({"seat_ids": ["A1"], "guests": ["nobody"]}, "$.guests[0]"),
    ({"seat_ids": ["A1"], "source": "fax"}, "$.source"),
    ({"seat_ids": ["A1"], "price": 1}, "$"),
    ({"seat_ids": ["A1"], "notes": 1}, "$.notes"),
]


async def test_a_faulty_wish_is_refused_with_the_fault(event: SeatedEvent, anna: Customer):
    for wish, path in FAULTY:
        answer = await anna.book(event, **wish)
        assert (refusal(answer), faults(answer)) == ((422, "invalid_request"), [path])


async def test_another_organisations_event_does_not_exist(
    services: Services, client: httpx.AsyncClient, event: SeatedEvent, other_tenant: Tenant
):
    [mallory] = await customers(services, client, other_tenant, 1)
    before = await state(services, event.tenant)
    for wish in ({"seat_ids": ["A1"]}, {"best": {"party": 2}}, {"places": [places(PIT, 1)]}):
        assert refusal(await mallory.book(event, **wish)) == (404, "event_not_found")
    assert await state(services, event.tenant) == before
    assert await event.office.audit("seat_reserve_failed") == []


async def test_who_may_not_hold_seats_holds_none(client: httpx.AsyncClient, event: SeatedEvent):
    answer = await client.post(f"{event.path}/holds", json={"seat_ids": ["A1"]})
    assert refusal(answer) == (401, "unauthorized")
    answer = await event.post("holds", {"seat_ids": ["A1"]}, by="gate_supervisor")
    assert refusal(answer) == (403, "permission_denied")


async def test_an_event_that_is_not_on_sale_holds_nothing(
    client: httpx.AsyncClient, tenant: Tenant, anna: Customer
):
    event = await a_seated_event(client, tenant, a_config(places={"Pit": 3}), states=())
    wishes = ({"seat_ids": ["A1"]}, {"best": {"party": 2}}, {"places": [places(PIT, 1)]})
    for wish in wishes:
        assert refusal(await anna.book(event, **wish)) == (400, "event_not_available")
    for to in ("published", "cancelled"):
        await event.office.make(f"{event.path}/transitions", {"to": to})
    for wish in wishes:
        assert refusal(await anna.book(event, **wish)) == (400, "event_unavailable")


# For how long.


async def test_an_event_may_hold_longer_or_shorter_than_its_organisation(
    services: Services, event: SeatedEvent, anna: Customer, clock: MovableClock
):
    await event.office.policy(default_hold_ttl_minutes=12)
    longer = await booked(anna, event, seat_ids=["A1", "A2"], places=[places(PIT, 1)])
    assert longer["expires_in_seconds"] == 720
    answer = await event.put_layout({"seating_overrides": {"default_hold_ttl_minutes": 1}})
    assert refusal(answer) == (409, "seats_held"), "not while somebody holds seats"
    clock.ahead = timedelta(minutes=12)
    answer = await event.put_layout({"seating_overrides": {"default_hold_ttl_minutes": 1}})
    assert answer.status_code == 200, answer.text
    shorter = await booked(anna, event, seat_ids=["A1", "A2"], places=[places(PIT, 1)])
    assert shorter["expires_in_seconds"] == 60
    assert {hold["message"] for hold in shorter["holds"]} == {
        "Seat reserved for 1 minute. Proceed to checkout.",
        "1 place reserved for 1 minute. Proceed to checkout.",
    }
    rows = await table(services, event.tenant, "SELECT held_until FROM place_hold")
    assert all(row["held_until"] <= clock.now() + timedelta(minutes=1) for row in rows)


@pytest.fixture
async def there(database_url: str, clock: MovableClock) -> AsyncIterator[Services]:
    """Another node."""
    async with a_node(database_url, clock) as services:
        yield services


async def test_a_change_of_the_policy_on_another_node_counts_at_once(
    services: Services, event: SeatedEvent, anna: Customer, there: Services
):
    """Nobody tells the desk, which remembers the event: it sees that it is out of date."""
    event_id = UUID(event.event_id)
    await there.holds.book(anna.caller, event_id, NewBooking(seat_ids=["A1", "A2"]), None)
    await event.office.policy(max_seats_per_booking=1)
    with pytest.raises(Refusal, match="at most 1"):
        await there.holds.book(anna.caller, event_id, NewBooking(seat_ids=["B1", "B2"]), None)
