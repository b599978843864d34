"""How an event uses a layout: a version of it, and what the event does otherwise."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from tests.seating.api_support import (
    ONE,
    PIT,
    TWO,
    Office,
    SeatedEvent,
    a_config,
    a_new_layout,
    a_seated_event,
    a_zone,
    faults,
    hold,
    hold_places,
    refusal,
    sell,
    sell_places,
)
from tests.support import MovableClock, Tenant
from voelgoed.seating.actions import seats as seat_actions
from voelgoed.services import Services

RULE = str(UUID(int=9))
BOTH = a_config(("......", "......"), ("....",), places={"Pit": 30})
"""Stalls A1-B6, a balcony C1-C4 and a pit."""
NOTHING_DONE = {
    "blocked_seat_ids": [],
    "disabled_zones": [],
    "zone_overrides": {},
    "pricing_zones": {},
    "seating_overrides": {},
}


@pytest.fixture
async def event(client: httpx.AsyncClient, tenant: Tenant) -> SeatedEvent:
    return await a_seated_event(client, tenant, BOTH)


def blocking(seats: str) -> dict[str, Any]:
    return {"blocked_seat_ids": seats.split()}


async def layout_of(event: SeatedEvent) -> dict[str, Any]:
    return (await event.get("layout")).json()["data"]


async def give(office: Office, event_id: str, layout_id: str, **changes: Any) -> httpx.Response:
    body = {"layout_id": layout_id, **changes}
    return await office.ask("PUT", f"/api/events/{event_id}/layout", body)


async def test_an_event_refers_to_a_version_and_copies_nothing(event: SeatedEvent):
    found = await layout_of(event)
    used = found["event_layout"]
    assert (used["layout_id"], used["layout_version"]) == (event.layout_id, 1)
    assert (used["event_id"], used["version"]) == (event.event_id, 1)
    assert used["overrides"] == NOTHING_DONE
    assert found["seat_count"] == 16
    assert [
        (zone["zone"]["name"], zone["enabled"], zone["pricing_rule_id"], zone["zone"].get("seats"))
        for zone in found["zones"]
    ] == [("Zone 1", True, None, None), ("Zone 2", True, None, None), ("Pit", True, None, None)]
    path = f"/api/layouts/{used['layout_id']}/config"
    config = await event.office.ask("GET", path, by="customer")
    assert config.json()["zones"][0]["seats"][0]["seat_id"] == "A1"
    [entry] = await event.office.audit("event_layout_set")
    assert entry["changes"]["layout_id"] == event.layout_id


async def test_an_event_without_a_layout_has_no_seats(client: httpx.AsyncClient, tenant: Tenant):
    office = Office(client, tenant)
    event_id = await office.event(await office.venue(), "published")
    event = SeatedEvent(office, event_id, "", str(uuid4()), a_config())
    for what in ("layout", "availability", "seats", "seats/A1"):
        assert refusal(await event.get(what)) == (404, "event_layout_not_found")
    assert refusal(await event.get("seating-report", by="organiser"))[0] == 404
    for answer in (
        await event.best(2),
        await event.post("selection-checks", {"seat_ids": ["A1"]}),
        await event.post(f"zones/{ONE}/access-checks", {}),
        await event.block("A1"),
        await event.unblock("A1"),
        await office.ask("DELETE", f"{event.path}/layout"),
    ):
        assert refusal(answer) == (404, "event_layout_not_found")


async def test_a_draft_is_hidden_from_customers(client: httpx.AsyncClient, tenant: Tenant):
    event = await a_seated_event(client, tenant, states=())
    for what in ("layout", "availability", "seats", "seats/A1"):
        assert refusal(await event.get(what)) == (404, "event_not_found")
        assert (await event.get(what, by="gate_supervisor")).status_code == 200
    assert refusal(await event.best(2)) == (404, "event_not_found")
    assert (await event.best(2, by="box_office")).status_code == 200


async def test_only_an_active_layout_of_the_venue_is_given_to_an_event(
    client: httpx.AsyncClient, tenant: Tenant
):
    office = Office(client, tenant)
    venue_id = await office.venue()
    event_id = await office.event(venue_id, "published")
    elsewhere = await office.layout(await office.venue())
    draft = await office.layout(venue_id, status="draft")
    old = await office.layout(venue_id)
    new = await office.make(f"/api/layouts/{old['id']}/versions", a_new_layout())
    for layout in (elsewhere, draft, old):
        answer = await give(office, event_id, layout["id"])
        assert refusal(answer) == (409, "layout_not_active"), layout
    assert refusal(await give(office, event_id, str(uuid4()))) == (404, "layout_not_found")
    assert refusal(await give(office, str(uuid4()), new["id"])) == (404, "event_not_found")
    answer = await give(office, event_id, new["id"], version=1)
    assert refusal(answer) == (404, "event_layout_not_found"), "there is none to replace"
    assert (await give(office, event_id, new["id"])).status_code == 200


async def test_a_faulty_request_is_refused_with_the_fault(event: SeatedEvent):
    for broken, path in (
        ({"layout_id": "main"}, "$.layout_id"),
        ({"layout_id": None}, "$.layout_id"),
        ({"version": 0}, "$.version"),
        ({"version": "1"}, "$.version"),
        ({"colour": "red"}, "$"),
        ({"overrides": {"blocked_seat_ids": ["A 1"]}}, "$.overrides.blocked_seat_ids[0]"),
        ({"overrides": {"disabled_zones": ["stalls"]}}, "$.overrides.disabled_zones[0]"),
        ({"overrides": {"disabled_zones": [str(uuid4())] * 201}}, "$.overrides.disabled_zones"),
        (
            {"overrides": {"zone_overrides": {ONE: {"capacity": 0}}}},
            "$.overrides.zone_overrides[...].capacity",
        ),
        ({"overrides": {"seating_overrides": {"version": 1}}}, "$.overrides.seating_overrides"),
    ):
        answer = await event.put_layout(**{"version": 1} | broken)
        assert (refusal(answer), faults(answer)) == ((422, "invalid_request"), [path])
    headers = event.tenant.as_("organiser") | {"Content-Type": "application/json"}
    huge = b"{}".ljust(8 * 1024 * 1024 + 1)
    answer = await event.office.client.put(f"{event.path}/layout", content=huge, headers=headers)
    assert refusal(answer) == (413, "body_too_large")


async def test_a_replacement_names_the_version_it_replaces(event: SeatedEvent):
    answer = await event.put_layout({"disabled_zones": [PIT]}, version=None)
    assert refusal(answer) == (409, "event_layout_taken")
    assert answer.json()["details"] == {"current_version": 1}
    answer = await event.put_layout({"disabled_zones": [PIT]})
    assert answer.json()["data"]["event_layout"]["version"] == 2
    assert [zone["enabled"] for zone in answer.json()["data"]["zones"]] == [True, True, False]
    answer = await event.put_layout()
    assert refusal(answer) == (409, "version_conflict")
    assert answer.json()["details"] == {"current_version": 2}
    answers = await asyncio.gather(
        *(event.put_layout(blocking(f"A{n}"), version=2) for n in range(1, 5))
    )
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]


async def test_asked_for_twice_it_is_done_once(event: SeatedEvent):
    first = await event.put_layout(blocking("A1"))
    again = await event.put_layout(blocking("A1"))
    assert (again.status_code, again.json()) == (200, first.json())
    assert len(await event.office.audit("event_layout_set")) == 2, "with the first of all"


async def test_a_first_layout_is_given_once(client: httpx.AsyncClient, tenant: Tenant):
    office = Office(client, tenant)
    venue_id = await office.venue()
    event_id = await office.event(venue_id)
    layouts = [(await office.layout(venue_id))["id"] for _ in range(4)]
    answers = await asyncio.gather(*(give(office, event_id, layout) for layout in layouts))
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]
    assert {refusal(a)[1] for a in answers if a.status_code == 409} == {"event_layout_taken"}


async def test_an_archived_version_stays_with_its_event_and_begins_no_new_one(event: SeatedEvent):
    office = event.office
    bigger = a_config(("......", "......"), ("....", "...."), places={"Pit": 30})
    newer = await office.make(f"/api/layouts/{event.layout_id}/versions", a_new_layout(bigger))
    assert (await layout_of(event))["event_layout"]["layout_version"] == 1
    answer = await event.put_layout({"blocked_seat_ids": ["A1"]})
    assert answer.status_code == 200, "the event may still change its overrides"
    assert (await event.get("seats")).json()["data"]["seat_count"] == 16
    event_id = await office.event(event.venue_id)
    answer = await give(office, event_id, event.layout_id)
    assert refusal(answer) == (409, "layout_not_active")
    answer = await event.put_layout(version=2, layout_id=newer["id"])
    assert answer.json()["data"]["event_layout"]["layout_version"] == 2
    assert (await event.get("seats")).json()["data"]["seat_count"] == 20
    answer = await event.put_layout(version=3)
    assert refusal(answer) == (409, "layout_not_active"), "and no event goes back to one"


async def test_an_event_that_is_over_keeps_its_layout(event: SeatedEvent):
    await event.office.make(f"{event.path}/transitions", {"to": "cancelled"})
    assert refusal(await event.put_layout()) == (409, "event_frozen")
    answer = await event.office.ask("DELETE", f"{event.path}/layout")
    assert refusal(answer) == (409, "event_frozen")


async def frozen_by(event: SeatedEvent, code: str) -> bool:
    removed = await event.office.ask("DELETE", f"{event.path}/layout")
    changed = await event.put_layout(blocking("B6"))
    return [refusal(changed), refusal(removed)] == [(409, code)] * 2


async def test_a_layout_is_frozen_once_a_seat_is_sold(services: Services, event: SeatedEvent):
    hold_id = await sell(services, event, "A1")
    assert await frozen_by(event, "layout_frozen")
    await event.block("A1", including_taken=True)
    assert await frozen_by(event, "layout_frozen"), "sold, though blocked"
    await event.unblock("A1")
    view = await event.view(services)
    async with services.database.transaction(event.tenant.id) as tx:
        await seat_actions.give_back(tx, view, [view.position("A1")], [hold_id])
    assert (await event.put_layout(blocking("B6"))).status_code == 200


async def test_a_layout_is_frozen_once_a_place_is_sold(services: Services, event: SeatedEvent):
    await sell_places(services, event, 2)
    assert await frozen_by(event, "layout_frozen")


async def test_a_layout_is_left_alone_while_somebody_holds_something(
    services: Services, event: SeatedEvent, clock: MovableClock
):
    await hold(services, event, "A1")
    assert await frozen_by(event, "seats_held")
    clock.ahead = timedelta(minutes=5)
    assert (await event.put_layout(blocking("B6"))).status_code == 200
    await hold_places(services, event, 25)
    answer = await event.put_layout(version=2)
    assert refusal(answer) == (409, "seats_held")
    clock.ahead = timedelta(minutes=10)
    # Nobody has swept the ended hold away; there is room for fewer all the same.
    smaller = {"zone_overrides": {PIT: {"capacity": 10}}}
    answer = await event.put_layout(smaller, version=2)
    assert answer.status_code == 200, answer.text
    assert (await event.zone(PIT))["available"] == 10
    await hold_places(services, event, 10)


async def test_a_blocked_seat_stays_blocked_in_the_next_version_if_it_is_there(
    event: SeatedEvent,
):
    await event.block("A1 B2 C1")
    smaller = a_config((".....", "......"))  # A6 is gone, so every position after it is another
    path = f"/api/layouts/{event.layout_id}/versions"
    newer = await event.office.make(path, a_new_layout(smaller))
    assert (await event.put_layout(layout_id=newer["id"])).status_code == 200
    then = SeatedEvent(event.office, event.event_id, event.venue_id, newer["id"], smaller)
    assert await then.seats("blocked") == "A1 B2"
    await then.unblock("A1 B2")
    assert await then.seats("blocked") == ""


async def test_another_layout_starts_with_every_seat_free(event: SeatedEvent):
    await event.block("A1 B2")
    other = await event.office.layout(event.venue_id, a_config(("....",)))
    answer = await event.put_layout(layout_id=other["id"])
    assert answer.json()["data"]["event_layout"]["layout_id"] == other["id"]
    counts = await event.availability()
    assert (counts["layout_id"], counts["available"], counts["blocked"]) == (other["id"], 4, 0)


async def test_blocks_stay_when_only_overrides_change(event: SeatedEvent):
    await event.block("A1")
    await event.put_layout({"blocked_seat_ids": ["B1"]})
    assert await event.seats("blocked") == "A1 B1"


async def test_a_layout_can_be_taken_away_and_given_again(event: SeatedEvent):
    path = f"{event.path}/layout"
    await event.block("A1")
    assert (await event.office.ask("DELETE", path)).status_code == 204
    assert refusal(await event.office.ask("DELETE", path)) == (404, "event_layout_not_found")
    [entry] = await event.office.audit("event_layout_removed")
    assert entry["entity_type"] == "EventLayout"
    assert (await event.put_layout(version=None)).status_code == 200
    assert await event.seats("blocked") == ""


async def test_seats_are_blocked_by_label_or_by_uuid(event: SeatedEvent):
    seat = (await event.get("seats/B2")).json()["data"]
    answer = await event.put_layout({"blocked_seat_ids": ["A1", seat["id"]]})
    overrides = answer.json()["data"]["event_layout"]["overrides"]
    assert overrides["blocked_seat_ids"] == ["A1", "B2"]
    assert await event.seats("blocked") == "A1 B2"
    assert (await event.zone())["blocked"] == 2


async def test_a_disabled_zone_sells_nothing(event: SeatedEvent):
    await event.put_layout({"disabled_zones": [TWO, PIT]})
    assert await event.seats("blocked") == "C1 C2 C3 C4"
    balcony, pit = await event.zone(TWO), await event.zone(PIT)
    assert (balcony["enabled"], balcony["available"], balcony["blocked"]) == (False, 0, 4)
    assert (pit["enabled"], pit["available"], pit["blocked"]) == (False, 0, 30)
    assert refusal(await event.best(2, zone_ids=[TWO])) == (409, "no_suitable_seats")


async def test_a_zone_of_seats_can_be_for_standing(event: SeatedEvent):
    standing = {"zone_type": "ga_standing", "capacity": 40}
    answer = await event.put_layout({"zone_overrides": {TWO: standing}})
    zone = answer.json()["data"]["zones"][1]["zone"]
    assert (zone["zone_type"], zone["capacity"]) == ("ga_standing", 40)
    assert await event.seats("blocked") == "C1 C2 C3 C4", "nobody books a chair there"
    balcony = await event.zone(TWO)
    assert (balcony["capacity"], balcony["available"], balcony["blocked"]) == (40, 40, 0)
    assert (await event.availability())["capacity"] == 12 + 40 + 30


async def test_an_event_can_open_and_close_doors_of_its_own(event: SeatedEvent):
    friends = await event.office.make("/api/whitelists", {"name": "friends"})
    listed = {"access_mode": "whitelist", "whitelist_id": friends["id"]}
    members = {"access_mode": "membership_tier", "membership_tier": "special"}
    answer = await event.put_layout({"zone_overrides": {ONE: members, TWO: listed}})
    zones = [zone["zone"] for zone in answer.json()["data"]["zones"]]
    assert (zones[0]["access_mode"], zones[0]["membership_tier"]) == ("membership_tier", "special")
    assert zones[1]["whitelist_id"] == friends["id"]
    for zone_id, reason in ((ONE, "membership_required"), (TWO, "not_whitelisted")):
        answer = await event.post(f"zones/{zone_id}/access-checks", {})
        assert refusal(answer) == (403, "zone_access_denied")
        assert answer.json()["details"]["reason"] == reason
    answer = await event.post(f"zones/{PIT}/access-checks", {})
    assert answer.status_code == 200


async def test_zones_have_prices(event: SeatedEvent):
    answer = await event.put_layout({"pricing_zones": {ONE: {"pricing_rule_id": RULE}}})
    rules = [zone["pricing_rule_id"] for zone in answer.json()["data"]["zones"]]
    assert rules == [RULE, None, None]
    assert (await layout_of(event))["zones"][0]["pricing_rule_id"] == RULE


async def test_every_fault_of_the_overrides_is_named_at_once(event: SeatedEvent):
    nowhere, b2 = str(uuid4()), (await event.get("seats/B2")).json()["data"]["id"]
    answer = await event.put_layout(
        {
            "blocked_seat_ids": ["A1", "Z9", "B2", b2],
            "disabled_zones": [nowhere, PIT, PIT],
            "zone_overrides": {
                ONE: {"capacity": 3},
                TWO: {"access_mode": "membership_tier"},
                PIT: {"zone_type": "reserved_seating"},
                nowhere: {"capacity": 1},
            },
            "pricing_zones": {nowhere: {"pricing_rule_id": RULE}},
        }
    )
    assert refusal(answer) == (422, "invalid_overrides")
    assert sorted(faults(answer)) == sorted(
        [
            "$.blocked_seat_ids[1]",
            "$.blocked_seat_ids[3]",
            "$.disabled_zones[0]",
            "$.disabled_zones[2]",
            f"$.zone_overrides.{nowhere}",
            f"$.zone_overrides.{ONE}.capacity",
            f"$.zone_overrides.{TWO}.membership_tier",
            f"$.zone_overrides.{PIT}.zone_type",
            f"$.pricing_zones.{nowhere}",
        ]
    )
    answer = await event.put_layout({"disabled_zones": [ONE, TWO, PIT]})
    assert (refusal(answer)[1], faults(answer)) == ("invalid_overrides", ["$.disabled_zones"])
    unknown = {"access_mode": "whitelist", "whitelist_id": nowhere}
    answer = await event.put_layout({"zone_overrides": {TWO: unknown}})
    where = [f"$.zone_overrides.{TWO}.whitelist_id"]
    assert (refusal(answer)[1], faults(answer)) == ("invalid_overrides", where)


async def test_an_event_may_relax_what_is_not_mandatory(event: SeatedEvent):
    office = event.office
    await office.policy(mandatory=["max_seats_per_booking", "orphan_avoidance_strict"])
    for overrides, forbidden in (
        ({"max_seats_per_booking": 20}, ["$.seating_overrides.max_seats_per_booking"]),
        (
            {"max_seats_per_booking": 5, "orphan_avoidance_strict": False, "max_group_split": 0},
            [
                "$.seating_overrides.max_seats_per_booking",
                "$.seating_overrides.orphan_avoidance_strict",
            ],
        ),
    ):
        answer = await event.put_layout({"seating_overrides": overrides})
        assert (refusal(answer), faults(answer)) == ((403, "policy_forbids"), forbidden)
    assert (await event.best(2)).status_code == 200
    # To say the same as the organisation is no override.
    same = {"max_seats_per_booking": 10, "max_wheelchair_seats_per_booking": 3}
    answer = await event.put_layout({"seating_overrides": same})
    assert answer.status_code == 200
    await office.policy(mandatory=[])
    few = {"seating_overrides": {"max_seats_per_booking": 1}}
    assert (await event.put_layout(few, version=2)).status_code == 200
    answer = await event.best(2)
    assert refusal(answer) == (409, "booking_refused")
    assert answer.json()["details"]["max_seats_per_booking"] == 1


async def test_the_policy_is_enforced_on_what_an_event_makes_of_its_zones(event: SeatedEvent):
    vip = {"zone_overrides": {PIT: {"zone_type": "vip_standing"}}}
    answer = await event.put_layout(vip)
    where = [f"$.zone_overrides.{PIT}.zone_type"]
    assert (refusal(answer), faults(answer)) == ((403, "policy_forbids"), where)
    answer = await event.put_layout(vip | {"disabled_zones": [ONE]})
    assert (refusal(answer), faults(answer)) == ((403, "policy_forbids"), where)
    assert (await event.put_layout(vip | {"disabled_zones": [PIT]})).status_code == 200
    await event.office.policy(allow_vip_zones=True)
    assert (await event.put_layout(vip, version=2)).status_code == 200
    await event.office.policy(allow_hybrid_ga_reserved=False)
    assert refusal(await event.put_layout(vip, version=3)) == (403, "policy_forbids")
    assert (await event.get("layout")).status_code == 200, "what was given before stays"


async def test_a_layout_with_vip_zones_needs_a_policy_that_allows_them(
    client: httpx.AsyncClient, tenant: Tenant
):
    office = Office(client, tenant)
    await office.policy(allow_vip_zones=True)
    vip = a_zone(BOTH, 1, zone_type="vip_reserved")
    event = await a_seated_event(client, tenant, vip)
    await office.policy(allow_vip_zones=False)
    event_id = await office.event(event.venue_id)
    answer = await give(office, event_id, event.layout_id)
    where = [f"$.zone_overrides.{TWO}.zone_type"]
    assert (refusal(answer), faults(answer)) == ((403, "policy_forbids"), where)
    budget = {"disabled_zones": [TWO]}
    answer = await give(office, event_id, event.layout_id, overrides=budget)
    assert answer.status_code == 200, "a budget event leaves the lounge out"
