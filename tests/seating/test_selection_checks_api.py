"""What would come of booking these seats."""

import httpx

from tests.seating.api_support import (
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


def codes(check: dict[str, object], kind: str = "problems") -> list[str]:
    return [problem["code"] for problem in check[kind]]  # type: ignore[attr-defined]


async def an_event_of(
    client: httpx.AsyncClient, tenant: Tenant, *rows: str, **layout: object
) -> SeatedEvent:
    return await a_seated_event(client, tenant, a_config(rows, **layout))


async def test_seats_side_by_side_are_fine(client: httpx.AsyncClient, tenant: Tenant):
    event = await an_event_of(client, tenant, "..........")
    assert await event.check("A1 A2") == {
        "bookable": True,
        "problems": [],
        "warnings": [],
        "orphans": [],
        "companions": [],
        "alternatives": [],
    }
    by_uuid = (await event.get("seats/A1")).json()["data"]["id"]
    assert (await event.check(f"{by_uuid} A1 A2"))["bookable"], "the same seat twice is one seat"
    assert await event.seats("held") == "", "nothing is held by asking"


async def test_a_faulty_question_is_refused_with_the_fault(
    client: httpx.AsyncClient, tenant: Tenant
):
    event = await an_event_of(client, tenant, "....")
    for broken, path in (
        ({"seat_ids": []}, "$.seat_ids"),
        ({"seat_ids": ["A1"] * 201}, "$.seat_ids"),
        ({"seat_ids": [1]}, "$.seat_ids[0]"),
        ({}, "$"),
        ({"seat_ids": ["A1"], "hold": True}, "$"),
    ):
        answer = await event.post("selection-checks", broken)
        assert (refusal(answer), faults(answer)) == ((422, "invalid_request"), [path])
    answer = await event.post("selection-checks", {"seat_ids": ["A1", "Z9"]})
    assert refusal(answer) == (404, "seat_not_found")
    assert answer.json()["details"] == {"seat_id": "Z9"}


async def test_every_problem_is_named_at_once(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
):
    groups = [a_group("reserved_block", "B1 B2"), a_group("vip_table", "C1 C2 C3 C4", whole=True)]
    event = await an_event_of(client, tenant, "..wcwc....", "..........", "....", groups=groups)
    await hold(services, event, "A7")
    await sell(services, event, "A8 A3")
    await event.block("A9")
    await event.office.policy(max_seats_per_booking=5, group_adjacency_strict=True)
    check = await event.check("A7 A8 A9 A4 B1 C1 C2")
    assert check["bookable"] is False
    assert sorted(codes(check)) == sorted(
        [
            "too_many_seats",
            "seat_not_available",
            "seat_not_available",
            "seat_not_available",
            "seat_soft_reserved",
            "seat_withheld",
            "table_is_sold_whole",
            "seats_not_together",
        ]
    )
    named = {(problem["code"], *problem["seat_ids"]) for problem in check["problems"]}
    assert ("seat_not_available", "A7") in named
    assert ("seat_soft_reserved", "A4") in named
    assert ("table_is_sold_whole", "C1", "C2", "C3", "C4") in named
    messages = " ".join(problem["message"] for problem in check["problems"])
    assert "Seat A7 is held by somebody." in messages
    assert "Seat A8 is sold." in messages
    assert "Seat A9 is blocked." in messages
    assert "customer" not in messages


async def test_staff_sell_what_is_kept_back_and_choose_seats_where_customers_may_not(
    client: httpx.AsyncClient, tenant: Tenant
):
    groups = [a_group("reserved_block", "A1 A2")]
    event = await an_event_of(client, tenant, "..........", groups=groups)
    assert codes(await event.check("A1 A2")) == ["seat_withheld", "seat_withheld"]
    assert codes(await event.check("A1 A2", by="gate_supervisor")) != []
    assert codes(await event.check("A1 A2", by="box_office")) == []
    await event.office.policy(prefer_clustering_over_selection=True)
    assert codes(await event.check("A3 A4")) == ["seats_are_chosen_for_you"]
    assert codes(await event.check("A3 A4", by="box_office")) == []


async def test_a_lonely_seat_refuses_in_strict_mode_and_warns_otherwise(
    client: httpx.AsyncClient, tenant: Tenant
):
    event = await an_event_of(client, tenant, "..........", "..........")
    check = await event.check("A2 A3")
    assert (check["bookable"], codes(check), check["orphans"]) == (
        False,
        ["would_orphan_seats"],
        ["A1"],
    )
    [problem] = check["problems"]
    assert problem["message"] == "Seat A1 would be left alone, with no free seat beside it."
    nearest = check["alternatives"][0]
    assert [seat["seat_id"] for seat in nearest["seats"]] in (["A1", "A2"], ["A3", "A4"])
    assert 1 <= len(check["alternatives"]) <= 3
    assert all(choice["orphans"] == [] for choice in check["alternatives"])
    await event.office.policy(orphan_avoidance_strict=False)
    check = await event.check("A2 A3")
    assert (check["bookable"], codes(check)) == (True, [])
    assert codes(check, "warnings") == ["would_orphan_seats"]


async def test_a_lonely_seat_is_forgiven_when_nothing_else_is_left(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
):
    event = await an_event_of(client, tenant, "...")
    check = await event.check("A1 A2")
    assert (check["bookable"], check["orphans"], check["alternatives"]) == (True, ["A3"], [])
    assert codes(check, "warnings") == ["would_orphan_seats"]


async def test_a_companion_seat_is_for_whoever_has_the_wheelchair_place(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
):
    event = await an_event_of(client, tenant, "..wc..wc....", "............")
    check = await event.check("A3")
    assert (check["bookable"], check["companions"]) == (True, ["A4"])
    assert (await event.check("A3 A4"))["companions"] == []
    assert codes(await event.check("A3 A7")) == ["too_many_wheelchair_seats"]
    await hold(services, event, "A3", holder="customer")
    assert codes(await event.check("A4")) == [], "the customer holds the place beside it"
    assert codes(await event.check("A4", by="gate_supervisor")) == ["seat_soft_reserved"]
    await event.office.policy(enforce_accessibility_rules=False)
    assert codes(await event.check("A4", by="gate_supervisor")) == []
    assert (await event.check("A7"))["companions"] == []
