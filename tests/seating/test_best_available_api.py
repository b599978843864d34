"""The best seats for a party: asked for over HTTP, filtered, explained, refused."""

from typing import Any
from uuid import UUID, uuid4

import httpx

from tests.seating.api_support import (
    ONE,
    PIT,
    TWO,
    SeatedEvent,
    a_config,
    a_seated_event,
    faults,
    hold,
    refusal,
    sell,
)
from tests.seating.support import a_group
from tests.support import Tenant
from voelgoed.services import Services

DEAR, CHEAP = str(UUID(int=8)), str(UUID(int=9))


async def an_event_of(
    client: httpx.AsyncClient, tenant: Tenant, *zones: Any, **layout: Any
) -> SeatedEvent:
    return await a_seated_event(client, tenant, a_config(*zones, **layout))


def seats(answer: httpx.Response) -> str:
    assert answer.status_code == 200, answer.text
    return " ".join(seat["seat_id"] for seat in answer.json()["data"]["seats"])


async def test_a_party_sits_together_where_one_sees_best(client: httpx.AsyncClient, tenant: Tenant):
    event = await an_event_of(client, tenant, ("..........", ".........."), places={"Pit": 30})
    answer = await event.best(4)
    proposal = answer.json()["data"]
    assert seats(answer) == "A4 A5 A6 A7", "in the middle of the front row"
    assert (proposal["together"], proposal["orphans"]) == (True, [])
    assert proposal["clusters"] == [
        {"zone_id": ONE, "row": "A", "seat_ids": ["A4", "A5", "A6", "A7"]}
    ]
    assert proposal["message"] == "4 seats together in Row A, Zone 1."
    first = proposal["seats"][0]
    seat = (await event.get("seats/A4")).json()["data"]
    assert first == {name: seat[name] for name in first}
    assert (await event.best(4)).json() == answer.json(), "asked again, the answer is the same"
    assert await event.seats("held") == "", "nothing is held by asking"
    assert (await event.office.audit("best_available")) == []


async def test_what_is_taken_is_not_offered(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
):
    groups = [a_group("reserved_block", "A7 A8")]
    event = await an_event_of(client, tenant, ("..........",), groups=groups)
    await hold(services, event, "A1")
    await sell(services, event, "A2")
    await event.block("A3")
    assert seats(await event.best(3)) == "A4 A5 A6"
    assert seats(await event.best(5)) == "A4 A5 A6 A9 A10"
    assert refusal(await event.best(6)) == (409, "no_suitable_seats")


async def test_one_can_ask_for_zones_prices_and_categories(
    client: httpx.AsyncClient, tenant: Tenant
):
    event = await an_event_of(client, tenant, ("......", "rrrrrr"), ("......",), places={"Pit": 30})
    prices = {ONE: {"pricing_rule_id": DEAR}, TWO: {"pricing_rule_id": CHEAP}}
    await event.put_layout({"pricing_zones": prices})
    assert seats(await event.best(2, zone_ids=[TWO])).startswith("C")
    assert seats(await event.best(2, zone_ids=[ONE, TWO])).startswith("A")
    assert seats(await event.best(2, pricing_rule_ids=[CHEAP])).startswith("C")
    assert seats(await event.best(2, pricing_rule_ids=[DEAR])).startswith("A")
    assert seats(await event.best(2, categories=["restricted_view"])).startswith("B")
    assert seats(await event.best(2, categories=["standard", "restricted_view"])).startswith("A")
    for nowhere in (
        {"zone_ids": [ONE], "pricing_rule_ids": [CHEAP]},
        {"zone_ids": [PIT]},
        {"pricing_rule_ids": [str(uuid4())]},
        {"categories": ["aisle"]},
    ):
        assert refusal(await event.best(2, **nowhere)) == (409, "no_suitable_seats"), nowhere
    answer = await event.best(2, zone_ids=[ONE, str(uuid4())])
    assert refusal(answer) == (404, "zone_not_found")


async def test_a_faulty_wish_is_refused_with_the_fault(client: httpx.AsyncClient, tenant: Tenant):
    event = await an_event_of(client, tenant, ("......",))
    for broken, path in (
        ({"party": 0}, "$.party"),
        ({"party": 51}, "$.party"),
        ({"party": "2"}, "$.party"),
        ({"party": None}, "$.party"),
        ({"zone_ids": ["stalls"]}, "$.zone_ids[0]"),
        ({"zone_ids": []}, "$.zone_ids"),
        ({"pricing_rule_ids": []}, "$.pricing_rule_ids"),
        ({"zone_ids": [str(uuid4())] * 201}, "$.zone_ids"),
        ({"categories": ["wheelchair"]}, "$.categories[0]"),
        ({"wheelchair_places": -1}, "$.wheelchair_places"),
        ({"apart": 1}, "$.apart"),
        ({"rows": ["A"]}, "$"),
    ):
        answer = await event.post("best-available", {"party": 2} | broken)
        assert (refusal(answer), faults(answer)) == ((422, "invalid_request"), [path])


async def test_a_party_beyond_the_policy_is_told_how_many_may_come(
    client: httpx.AsyncClient, tenant: Tenant
):
    event = await an_event_of(client, tenant, ("." * 30,))
    answer = await event.best(11)
    assert refusal(answer) == (409, "booking_refused")
    assert answer.json()["details"]["max_seats_per_booking"] == 10
    answer = await event.best(4, wheelchair_places=2)
    assert refusal(answer) == (409, "booking_refused")
    assert answer.json()["details"]["max_wheelchair_seats_per_booking"] == 1
    await event.office.policy(max_wheelchair_seats_per_booking=5)
    assert refusal(await event.best(1, wheelchair_places=2)) == (409, "booking_refused")


async def test_a_large_party_is_split_with_nobody_alone_and_told_how(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
):
    event = await an_event_of(client, tenant, ("......", "......"))
    proposal = (await event.best(9)).json()["data"]
    assert proposal["together"] is False
    assert sorted(len(cluster["seat_ids"]) for cluster in proposal["clusters"]) == [3, 6]
    assert (
        proposal["message"] == "6 seats together in Row A, Zone 1, 3 seats in Row B (1 row back)."
    )
    await event.office.policy(group_adjacency_strict=True)
    answer = await event.best(9)
    assert refusal(answer) == (409, "no_suitable_seats")
    assert answer.json()["details"]["largest_together"] == 6
    assert answer.json()["details"]["apart"] is None


async def test_who_fits_nowhere_is_told_what_would_fit(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
):
    event = await an_event_of(client, tenant, ("......",), ("......",))
    await sell(services, event, "A2 A3 A5")
    answer = await event.best(3, zone_ids=[ONE])
    assert refusal(answer) == (409, "no_suitable_seats")
    details = answer.json()["details"]
    assert (details["party"], details["largest_together"]) == (3, 1)
    assert len(details["together"]) == 1
    apart = {seat["seat_id"] for seat in details["apart"]["seats"]}
    assert apart == {"A1", "A4", "A6"}
    assert [seat["row"] for seat in details["in_other_zones"]["seats"]] == ["B", "B", "B"]
    proposal = (await event.best(3, zone_ids=[ONE], apart=True)).json()["data"]
    assert {seat["seat_id"] for seat in proposal["seats"]} == apart
    assert (proposal["together"], len(proposal["clusters"])) == (False, 3)
    await sell(services, event, "A1 A4 A6 B1 B2 B3 B4 B5 B6")
    details = (await event.best(1)).json()["details"]
    assert (details["largest_together"], details["together"], details["apart"]) == (0, [], None)
    assert (await event.best(2)).json()["message"] == "There are no numbered seats free there."


async def test_wheelchair_places_are_given_only_to_who_asks_with_their_companions(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
):
    groups = [a_group("wheelchair_pair", "B4 B5 B6")]
    event = await an_event_of(client, tenant, ("....wc....", "...wcc...."), groups=groups)
    assert not {"A5", "A6"} & {*seats(await event.best(6)).split()}
    assert seats(await event.best(1, wheelchair_places=1)) == "A5"
    answer = await event.best(2, wheelchair_places=1)
    assert seats(answer) == "A5 A6"
    assert answer.json()["data"]["together"] is True
    family = (await event.best(5, wheelchair_places=1)).json()["data"]["seats"]
    assert [seat["category"] for seat in family].count("wheelchair") == 1
    await event.office.policy(max_wheelchair_seats_per_booking=2)
    both = (await event.best(2, wheelchair_places=2)).json()["data"]["seats"]
    assert {seat["seat_id"] for seat in both} == {"A5", "B4"}
    await sell(services, event, "A5")
    assert seats(await event.best(2, wheelchair_places=1)) == "B4 B5"
    assert seats(await event.best(3, wheelchair_places=1)) == "B4 B5 B6", "two companions there"


async def test_a_wheelchair_user_is_never_offered_a_chair_instead(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
):
    event = await an_event_of(client, tenant, ("..wc..",), ("..wc..",))
    await sell(services, event, "A3")
    for apart in (False, True):
        answer = await event.best(2, wheelchair_places=1, zone_ids=[ONE], apart=apart)
        assert refusal(answer) == (409, "no_suitable_seats")
        details = answer.json()["details"]
        assert details["apart"] is None
        assert [seat["seat_id"] for seat in details["in_other_zones"]["seats"]] == ["B3", "B4"]
    await sell(services, event, "B3")
    answer = await event.best(1, wheelchair_places=1, apart=True)
    assert refusal(answer) == (409, "no_suitable_seats")
    assert answer.json()["details"]["in_other_zones"] is None


async def test_seats_kept_back_are_handed_out_by_name_only(
    client: httpx.AsyncClient, tenant: Tenant
):
    groups = [a_group("reserved_block", "A1 A2 A3 A4")]
    event = await an_event_of(client, tenant, ("....",), groups=groups)
    for role in ("customer", "box_office"):
        assert refusal(await event.best(2, by=role)) == (409, "no_suitable_seats")


async def test_a_table_sold_whole_is_for_a_party_of_its_size(
    client: httpx.AsyncClient, tenant: Tenant
):
    groups = [a_group("vip_table", "A1 A2 A3 A4", whole=True), a_group("vip_table", "B1 B2 B3")]
    event = await an_event_of(client, tenant, ("....", "..."), groups=groups)
    assert seats(await event.best(4)) == "A1 A2 A3 A4"
    assert seats(await event.best(2)).startswith("B")
