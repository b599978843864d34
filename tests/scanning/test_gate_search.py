"""Finding a ticket at the gate by code, order or name; gate staff see no more than they may."""

from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.scanning.support import World, a_world
from tests.support import Tenant
from tests.ticketing.sales_support import CASH
from voelgoed.services import Services
from voelgoed.ticketing.model.orders import NewItem, NewOrder, OrderDetails


async def sold(world: World, seat: str, buyer: str, holder: str = "") -> OrderDetails:
    [hold] = await world.sales.hold(seat)
    item = NewItem(hold_id=hold.hold_id, ticket_type_id=world.sales.seated, holder_name=holder)
    new = NewOrder(items=[item], buyer_name=buyer, buyer_email="secret@mail.example", payment=CASH)
    return await world.services.checkout.place(world.sales.till, new, None)


async def search(world: World, text: str, event_id: Any = None, **who: Any) -> httpx.Response:
    path = f"/api/scanning/events/{event_id or world.event_id}/tickets"
    headers = who.get("headers") or world.tenant.as_("gate_supervisor")
    return await world.client.get(path, params={"search": text}, headers=headers)


async def found(world: World, text: str) -> list[str]:
    answer = await search(world, text)
    assert answer.status_code == 200, answer.text
    return [each["ticket_code"] for each in answer.json()["data"]]


async def test_a_ticket_is_found_by_its_code_in_any_spelling(world: World):
    ticket, _ = await world.ticket("A1"), await world.ticket("A3")
    code = ticket.code
    bare = code.replace("-", "")
    for typed in (code, code.lower(), f"  {code} ", bare, bare.lower(), code.replace("-", " ")):
        assert await found(world, typed) == [code], typed
    assert code in await found(world, code[:9]), "the beginning of it, if that is all one can read"
    assert await found(world, "0000-0000-0000") == []


async def test_all_tickets_of_an_order_are_found_by_its_number(world: World):
    order = await world.sales.sell("A1 A2", floor=2)
    await world.ticket("A5")
    number = order.order.number
    for typed in (number, number.lower(), number.removeprefix("VG-"), number.replace("-", "")):
        assert sorted(await found(world, typed)) == sorted(each.code for each in order.tickets)


async def test_a_ticket_is_found_by_the_beginning_of_a_name(world: World):
    [anna] = (await sold(world, "A1", "Anna van Wyk")).tickets
    [bought] = (await sold(world, "A3", "Piet Botha", holder="Lena Kruger")).tickets
    for typed in ("Ann", "anna", "ANNA VAN", "wyk", "Wyk ", "van w"):
        assert await found(world, typed) == [anna.code], typed
    for typed in ("Pie", "both", "Lena", "krug"):
        assert await found(world, typed) == [bought.code], typed
    for typed in ("nna", "otha", "Lena Botha"):
        assert await found(world, typed) == [], typed


@pytest.mark.parametrize("name", ["Bartholomeus", "Anna Lise Roux", "Elizabeth", "Mia van Wyk"])
async def test_a_name_that_looks_like_a_code_or_an_order_number_is_still_a_name(
    world: World, name: str
):
    [ticket] = (await sold(world, "A1", name)).tickets
    assert await found(world, name) == [ticket.code]


async def test_wildcards_in_a_search_have_no_meaning(world: World):
    await sold(world, "A1", "Anna Botha")
    [odd] = (await sold(world, "A3", "100% _Real_ \\Name")).tickets
    for typed in ("%%%", "___", "A%a", "An_a", "A__a", "%Botha", "\\\\\\"):
        assert await found(world, typed) == [], typed
    for typed in ("100%", "_Real_", "\\Name"):
        assert await found(world, typed) == [odd.code], typed
    assert await found(world, "'; DROP TABLE ticket; --") == []


async def test_only_tickets_that_match_the_search_are_listed(world: World):
    await world.ticket()
    for typed in ("", "   ", "A", "An", " An ", "\t\tA "):
        answer = await search(world, typed)
        assert (answer.status_code, answer.json()["error"]) == (422, "search_too_short"), typed
    path = f"/api/scanning/events/{world.event_id}/tickets"
    assert (await world.ask("GET", path)).status_code == 422
    assert (await search(world, "x" * 101)).status_code == 422
    assert (await search(world, "ab\x00c")).status_code == 422


async def test_at_most_twenty_are_shown(world: World):
    for _ in range(3):
        await world.tickets(8)
    assert len(await found(world, "Anna")) == 20


async def test_the_answer_says_what_gate_staff_need_and_nothing_of_names_or_money(world: World):
    [ticket] = (await sold(world, "A1", "Anna Botha", holder="Lena Kruger")).tickets
    device = await world.device()
    scanned = (await world.scan(device, ticket.code)).json()
    answer = await search(world, "Lena")
    assert answer.json()["data"] == [
        {
            "ticket_id": str(ticket.id),
            "ticket_code": ticket.code,
            "status": "scanned",
            "status_reason": "",
            "seat_label": ticket.seat_label,
            "zone_id": str(ticket.zone_id),
            "entries": 1,
            "is_inside": True,
            "last_scanned_at": scanned["scanned_at"],
            "last_gate_name": "Gate 0",
        }
    ]
    for hidden in ("Anna", "Botha", "Lena", "Kruger", "secret@", "15000", "ZAR"):
        assert hidden not in answer.text


async def test_only_tickets_of_this_event_and_organisation_are_found(
    world: World, services: Services, other_tenant: Tenant
):
    elsewhere = await a_world(services, world.client, world.tenant)
    rival = await a_world(services, world.client, other_tenant)
    ours, others, theirs = [await each.sales.sell("A1") for each in (world, elsewhere, rival)]
    assert await found(world, "Anna") == [ours.tickets[0].code]
    for order in (others, theirs):
        assert await found(world, order.tickets[0].code) == []
        assert await found(world, order.order.number) == []
    for event_id in (rival.event_id, uuid4()):
        answer = await search(world, "Anna", event_id)
        assert (answer.status_code, answer.json()["error"]) == (404, "event_not_found")


async def test_a_search_needs_the_permission_and_is_recorded(world: World):
    await world.ticket()
    for role in ("box_office", "customer"):
        assert (await search(world, "Anna", headers=world.tenant.as_(role))).status_code == 403
    device = await world.device()
    assert (await search(world, "Anna", headers=device.headers)).status_code == 401
    await found(world, "Anna")
    await found(world, "Nobody")
    entries = await world.rows(
        "SELECT * FROM audit_entry WHERE action = 'tickets_searched' ORDER BY id"
    )
    assert [entry["changes"]["found"] for entry in entries] == [1, 0]
    assert {entry["actor_id"] for entry in entries} == {world.tenant.users["gate_supervisor"]}
    assert {entry["entity_id"] for entry in entries} == {str(world.event_id)}
