"""Who may book in a zone, with whom, and what one does not learn about others."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.seating.api_support import (
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
)
from tests.support import MovableClock, Tenant
from voelgoed.accounts.model import Role

TIER = "voelgoed_vriendinne"
LONG_AGO, LAST_YEAR = "2020-01-01T00:00:00Z", "2025-01-01T00:00:00Z"


@pytest.fixture
async def event(client: httpx.AsyncClient, tenant: Tenant) -> SeatedEvent:
    """Members in the stalls, friends by name on the balcony, everybody in the pit."""
    friends = await Office(client, tenant).make("/api/whitelists", {"name": "friends"})
    config = a_config(("....",), ("....",), places={"Pit": 30})
    config = a_zone(
        config,
        access_mode="membership_tier",
        membership_tier=TIER,
        whitelist_id=friends["id"],
    )
    config = a_zone(config, 1, access_mode="whitelist", whitelist_id=friends["id"])
    return await a_seated_event(client, tenant, config)


async def ask(
    event: SeatedEvent, *guests: str, zone_id: str = ONE, by: Role = "customer"
) -> httpx.Response:
    return await event.post(f"zones/{zone_id}/access-checks", {"guests": list(guests)}, by=by)


async def why(event: SeatedEvent, *guests: str, **how: Any) -> str:
    answer = await ask(event, *guests, **how)
    assert refusal(answer) == (403, "zone_access_denied")
    return answer.json()["details"]["reason"]


async def grant(event: SeatedEvent, user: str, **changes: Any) -> str:
    """A membership of the customer, or of somebody else."""
    membership = {"tier": TIER, "valid_from": LONG_AGO, **changes}
    path = f"/api/users/{user}/memberships"
    answer = await event.office.ask("POST", path, membership, by="admin")
    return answer.json()["data"]["membership"]["id"]


async def a_member(event: SeatedEvent, email: str) -> tuple[str, str]:
    """Their id and their membership's."""
    new = {"email": email, "name": "M", "role": "customer", "password": "correct horse battery"}
    user = (await event.office.ask("POST", "/api/users", new, by="admin")).json()["data"]
    return user["id"], await grant(event, user["id"])


async def add_friend(event: SeatedEvent, email: str) -> None:
    whitelist_id = event.config["zones"][0]["whitelist_id"]
    await event.office.make(f"/api/whitelists/{whitelist_id}/entries", {"email": email})


def customer(event: SeatedEvent) -> str:
    return str(event.tenant.users["customer"])


async def test_a_public_zone_is_for_everybody(event: SeatedEvent):
    answer = await ask(event, "Anybody@Example.org", zone_id=PIT)
    assert answer.status_code == 200
    assert answer.json()["data"] == {
        "zone_id": PIT,
        "admitted": [
            {"email": "customer@acme.example", "associated_membership_id": None},
            {"email": "anybody@example.org", "associated_membership_id": None},
        ],
    }


async def test_a_member_is_admitted_by_their_membership(event: SeatedEvent):
    assert await why(event) == "membership_required"
    membership_id = await grant(event, customer(event))
    answer = await ask(event)
    assert answer.json()["data"]["admitted"] == [
        {"email": "customer@acme.example", "associated_membership_id": membership_id}
    ]


async def test_only_a_membership_in_force_counts_and_one_is_told_why_not(
    event: SeatedEvent, clock: MovableClock
):
    user = customer(event)
    await grant(event, user, tier="gold")
    assert await why(event) == "membership_required"
    await grant(event, user, valid_to=LAST_YEAR)
    assert await why(event) == "membership_expired"
    suspended = await grant(event, user)
    path = f"/api/memberships/{suspended}"
    await event.office.ask("PATCH", path, {"version": 1, "status": "suspended"}, by="admin")
    assert await why(event) == "membership_inactive"
    soon = (clock.now() + timedelta(hours=1)).isoformat()
    await grant(event, user, valid_from=soon)
    assert await why(event) == "membership_not_yet_valid"
    clock.ahead = timedelta(hours=2)
    assert (await ask(event)).status_code == 200


async def test_a_zone_for_roles_asks_for_the_role(event: SeatedEvent):
    roles = {"access_mode": "role_based", "allowed_roles": ["organiser", "box_office"]}
    answer = await event.put_layout({"zone_overrides": {PIT: roles}})
    assert answer.status_code == 200, answer.text
    assert await why(event, zone_id=PIT) == "role_required"
    assert (await ask(event, zone_id=PIT, by="box_office")).status_code == 200


async def test_a_zone_by_name_is_for_who_is_on_its_list(event: SeatedEvent):
    assert await why(event, zone_id=TWO) == "not_whitelisted"
    assert await why(event, zone_id=TWO, by="owner") == "not_whitelisted"
    await add_friend(event, "Customer@ACME.example")
    assert (await ask(event, zone_id=TWO)).status_code == 200


async def test_each_friend_must_be_a_member_or_on_the_list(event: SeatedEvent):
    await grant(event, customer(event))
    await a_member(event, "member@example.org")
    await add_friend(event, "friend@example.org")
    answer = await ask(event, "Member@Example.org", "friend@example.org", "member@example.org")
    admitted = [person["email"] for person in answer.json()["data"]["admitted"]]
    assert admitted == ["customer@acme.example", "member@example.org", "friend@example.org"]
    answer = await ask(event, "member@example.org", "stranger@example.org")
    assert refusal(answer) == (403, "zone_access_denied")
    assert answer.json()["details"] == {
        "zone_id": ONE,
        "reason": "guest_not_entitled",
        "guest": "stranger@example.org",
    }
    assert await why(event, "friend@example.org", by="gate_supervisor") == "membership_required"


async def test_who_sells_to_others_is_asked_about_them_only(event: SeatedEvent):
    _, membership_id = await a_member(event, "member@example.org")
    assert await why(event, by="box_office") == "membership_required", "for themselves"
    answer = await ask(event, "member@example.org", by="box_office")
    assert answer.json()["data"]["admitted"] == [
        {"email": "member@example.org", "associated_membership_id": membership_id}
    ]
    answer = await ask(event, "member@example.org", "stranger@example.org", by="box_office")
    assert refusal(answer) == (403, "zone_access_denied")
    details = answer.json()["details"]
    assert (details["guest"], details["reason"]) == ("stranger@example.org", "membership_required")


async def test_a_zone_that_is_not_open_at_this_event_admits_nobody(event: SeatedEvent):
    await event.put_layout({"disabled_zones": [PIT]})
    assert refusal(await ask(event, zone_id=PIT)) == (404, "zone_not_found")


async def test_nothing_is_told_about_a_guests_membership(event: SeatedEvent):
    await grant(event, customer(event))
    ids: list[str] = []
    for email, changes in (
        ("expired@example.org", {"valid_to": LAST_YEAR}),
        ("gold@example.org", {"tier": "gold"}),
        ("later@example.org", {"valid_from": "2031-01-01T00:00:00Z"}),
    ):
        user_id, membership_id = await a_member(event, email)
        ids += [user_id, membership_id]
        path = f"/api/memberships/{membership_id}"
        await event.office.ask("PATCH", path, {"version": 1, "status": "cancelled"}, by="admin")
        ids.append(await grant(event, user_id, **changes))
    answers = {
        email: (await ask(event, email)).text.replace(email, "GUEST")
        for email in (
            "nobody@example.org",
            "expired@example.org",
            "gold@example.org",
            "later@example.org",
        )
    }
    assert len(set(answers.values())) == 1, "a former member is as unknown as anybody"
    user_id, membership_id = await a_member(event, "member@example.org")
    await add_friend(event, "friend@example.org")
    member = (await ask(event, "member@example.org")).text
    friend = (await ask(event, "friend@example.org")).text
    assert member.replace("member@", "friend@") == friend, "nor by what a guest may come"
    assert not [secret for secret in (*ids, user_id, membership_id) if secret in member + friend]


async def test_a_faulty_question_is_refused_with_the_fault(event: SeatedEvent):
    path = f"zones/{PIT}/access-checks"
    for broken, fault in (
        ({"guests": ["nobody"]}, "$.guests[0]"),
        ({"guests": "a@b.example"}, "$.guests"),
        ({"guests": ["a@b.example"] * 51}, "$.guests"),
        ({"friends": []}, "$"),
    ):
        answer = await event.post(path, broken)
        assert (refusal(answer), faults(answer)) == ((422, "invalid_request"), [fault])
    answer = await ask(event, zone_id=str(uuid4()))
    assert refusal(answer) == (404, "zone_not_found")
    assert refusal(await event.post("zones/stalls/access-checks", {}))[0] == 404
    answer = await event.office.client.post(f"{event.path}/{path}", json={})
    assert refusal(answer) == (401, "unauthorized")


async def test_so_many_questions_and_no_more(event: SeatedEvent, clock: MovableClock):
    guests = [f"guest{n}@example.org" for n in range(50)]
    assert (await ask(event, *guests, zone_id=PIT)).status_code == 200
    answer = await ask(event, *guests, zone_id=PIT)
    assert refusal(answer) == (429, "rate_limited")
    assert 1 <= int(answer.headers["retry-after"]) <= 300
    for _ in range(9):
        assert (await ask(event, zone_id=PIT)).status_code == 200, "fewer still fit"
    assert refusal(await ask(event, zone_id=PIT)) == (429, "rate_limited")
    assert refusal(await ask(event, zone_id=ONE)) == (429, "rate_limited"), "of all zones together"
    assert (await ask(event, zone_id=PIT, by="organiser")).status_code == 200, "each their own"
    clock.ahead = timedelta(minutes=5)
    assert (await ask(event, zone_id=PIT)).status_code == 200


async def test_nobody_is_offered_seats_where_they_may_not_sit(event: SeatedEvent):
    answer = await event.best(2)
    assert refusal(answer) == (409, "no_suitable_seats"), "there is nothing else"
    answer = await event.best(2, zone_ids=[ONE])
    assert refusal(answer) == (403, "zone_access_denied")
    assert answer.json()["details"]["reason"] == "membership_required"
    assert "zone_access_denied" in [p["code"] for p in (await event.check("A1 A2"))["problems"]]
    assert (await event.best(2, by="box_office")).status_code == 200, "who sells to members"
    await grant(event, customer(event))
    answer = await event.best(2)
    assert {seat["zone_id"] for seat in answer.json()["data"]["seats"]} == {ONE}
    assert (await event.check("A1 A2"))["problems"] == []
