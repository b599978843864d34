"""Seats taken out of sale, with a reason, and put back as they were."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import httpx
import pytest

from tests.seating.api_support import (
    SeatedEvent,
    a_config,
    a_seated_event,
    faults,
    hold,
    refusal,
    release,
    sell,
)
from tests.support import MovableClock, Tenant
from voelgoed.seating.actions import seats as seat_actions
from voelgoed.seating.model.refusals import HoldGone
from voelgoed.services import Services


@pytest.fixture
async def event(client: httpx.AsyncClient, tenant: Tenant) -> SeatedEvent:
    return await a_seated_event(client, tenant)


async def test_blocked_seats_are_out_of_sale_until_they_are_put_back(event: SeatedEvent):
    answer = await event.block("A2 A1")
    assert answer.status_code == 200
    assert answer.json()["data"] == {"changed": ["A1", "A2"], "unchanged": []}
    assert await event.seats("blocked") == "A1 A2"
    counts = await event.availability()
    assert (counts["available"], counts["blocked"]) == (18, 2)
    answer = await event.block("A2 A3 A3")
    assert answer.json()["data"] == {"changed": ["A3"], "unchanged": ["A2"]}
    answer = await event.unblock("A1 A2 B1")
    assert answer.json()["data"] == {"changed": ["A1", "A2"], "unchanged": ["B1"]}
    assert await event.seats("blocked") == "A3"


async def test_a_seat_is_named_by_label_or_by_uuid(event: SeatedEvent):
    seat = (await event.get("seats/A1")).json()["data"]
    answer = await event.block(f"{seat['id']} A1 A2")
    assert answer.json()["data"]["changed"] == ["A1", "A2"]
    answer = await event.unblock(seat["id"].upper())
    assert answer.json()["data"]["changed"] == ["A1"]


async def test_who_did_it_and_why_is_in_the_log(event: SeatedEvent):
    await event.block("A1 A2", reason="wet paint")
    await event.unblock("A1", by="organiser", reason="dry")
    [blocked] = await event.office.audit("seats_blocked")
    [unblocked] = await event.office.audit("seats_unblocked")
    assert blocked["changes"] == {"seat_ids": ["A1", "A2"], "reason": "wet paint"}
    assert blocked["actor_id"] == str(event.tenant.users["box_office"])
    assert unblocked["changes"] == {"seat_ids": ["A1"], "reason": "dry"}
    await event.block("A2", reason="again")
    assert len(await event.office.audit("seats_blocked")) == 1, "nothing was done"


async def test_why_a_seat_is_blocked_is_told_to_who_may_block_it(event: SeatedEvent):
    await event.block("A1", reason="wet paint")
    for role, reason in (("box_office", "wet paint"), ("customer", None)):
        seat = (await event.get("seats/A1", by=role)).json()["data"]
        assert (seat["status"], seat["blocked_reason"]) == ("blocked", reason)
    await event.unblock("A1")
    seat = (await event.get("seats/A1", by="box_office")).json()["data"]
    assert (seat["status"], seat["blocked_reason"]) == ("available", None)


async def test_a_faulty_request_is_refused_with_the_fault(event: SeatedEvent):
    for broken, path in (
        ({"seat_ids": []}, "$.seat_ids"),
        ({"seat_ids": ["A1"] * 5_001}, "$.seat_ids"),
        ({"seat_ids": [""]}, "$.seat_ids[0]"),
        ({"seat_ids": "A1"}, "$.seat_ids"),
        ({"reason": ""}, "$.reason"),
        ({"reason": "x" * 501}, "$.reason"),
        ({"reason": "zero \0"}, "$.reason"),
        ({"reason": None}, "$.reason"),
        ({"colour": "red"}, "$"),
    ):
        for act in (event.block, event.unblock):
            answer = await act("A1", **broken)
            assert (refusal(answer), faults(answer)) == ((422, "invalid_request"), [path])
    for what in ("seat-blocks", "seat-blocks/lifted"):
        answer = await event.post(what, {"seat_ids": ["A1"]}, by="box_office")
        assert refusal(answer) == (422, "invalid_request"), "why?"
    assert await event.seats("blocked") == ""


async def test_an_unknown_seat_is_named_and_nothing_is_done(event: SeatedEvent):
    for name in ("Z9", "a1", str(uuid4())):
        for answer in (await event.block(f"A1 {name}"), await event.unblock(f"A1 {name}")):
            assert refusal(answer) == (404, "seat_not_found")
            assert answer.json()["details"] == {"seat_id": name}
    assert await event.seats("blocked") == ""


async def test_customers_and_gate_supervisors_block_nothing(event: SeatedEvent):
    for role in ("customer", "gate_supervisor"):
        for answer in (await event.block("A1", by=role), await event.unblock("A1", by=role)):
            assert refusal(answer) == (403, "permission_denied")


async def test_taken_seats_are_blocked_only_if_one_says_so(services: Services, event: SeatedEvent):
    await hold(services, event, "A1")
    await sell(services, event, "A2")
    answer = await event.block("A1 A2 A3")
    assert refusal(answer) == (409, "seat_taken")
    assert answer.json()["details"] == {"seat_ids": ["A1", "A2"]}
    assert await event.seats("blocked") == "", "nor A3"
    answer = await event.block("A1 A2 A3", including_taken=True)
    assert answer.json()["data"]["changed"] == ["A1", "A2", "A3"]
    assert await event.seats("blocked") == "A1 A2 A3"


async def test_a_sold_seat_comes_back_sold_and_a_held_one_free(
    services: Services, event: SeatedEvent
):
    held = await hold(services, event, "A1")
    await sell(services, event, "A2")
    await event.block("A1 A2", including_taken=True)
    view = await event.view(services)
    with pytest.raises(HoldGone):
        await sell(services, event, "A1", held)
    assert await release(services, event, "A1", held) == 0
    await event.unblock("A1 A2")
    found = await event.map()
    assert (found["A1"], found["A2"]) == ("available", "sold")
    with pytest.raises(HoldGone):
        async with services.database.transaction(event.tenant.id) as tx:
            await seat_actions.sell(tx, view, [view.position("A1")], [held])


async def test_a_ticket_refunded_while_its_seat_is_blocked_leaves_it_blocked_and_then_free(
    services: Services, event: SeatedEvent
):
    hold_id = await sell(services, event, "A1")
    await event.block("A1", including_taken=True)
    view = await event.view(services)
    async with services.database.transaction(event.tenant.id) as tx:
        assert await seat_actions.give_back(tx, view, [view.position("A1")], [hold_id]) == 1
    assert (await event.map())["A1"] == "blocked"
    await event.unblock("A1")
    assert (await event.map())["A1"] == "available"


async def test_a_hold_that_has_ended_is_in_nobodys_way(
    services: Services, event: SeatedEvent, clock: MovableClock
):
    await hold(services, event, "A1")
    assert refusal(await event.block("A1")) == (409, "seat_taken")
    clock.ahead = timedelta(minutes=5)
    assert (await event.block("A1")).json()["data"]["changed"] == ["A1"]


async def test_what_the_layout_blocks_is_unblocked_in_the_layout(event: SeatedEvent):
    await event.put_layout({"blocked_seat_ids": ["A1", "A2"]})
    await event.block("A2 A3")
    answer = await event.unblock("A1 A3")
    assert refusal(answer) == (409, "seat_blocked_by_layout")
    assert answer.json()["details"] == {"seat_ids": ["A1"]}
    assert (await event.map())["A3"] == "blocked", "nothing was done"
    await event.unblock("A2 A3")
    assert await event.seats("blocked") == "A1 A2"


async def test_many_who_block_the_same_seats_at_once_all_succeed(event: SeatedEvent):
    answers = await asyncio.gather(*(event.block("A1 A2 A3") for _ in range(6)))
    assert [answer.status_code for answer in answers] == [200] * 6
    changed = [seat for answer in answers for seat in answer.json()["data"]["changed"]]
    assert sorted(changed) == ["A1", "A2", "A3"]
    assert len(await event.office.audit("seats_blocked")) == 1


async def test_five_thousand_seats_are_blocked_at_once(client: httpx.AsyncClient, tenant: Tenant):
    event = await a_seated_event(client, tenant, a_config(["." * 250] * 20))
    seats = " ".join(event.seat_ids)
    answer = await event.block(seats)
    assert len(answer.json()["data"]["changed"]) == 5_000
    assert (await event.availability())["available"] == 0
    answer = await event.unblock(seats)
    assert len(answer.json()["data"]["changed"]) == 5_000
