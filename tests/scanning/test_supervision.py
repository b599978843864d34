"""Overrides: a supervisor lets somebody through by hand where the rule does not."""

import asyncio
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.scanning.support import LATER, World, a_world
from tests.support import MovableClock, Tenant
from voelgoed.scanning.rules.admit_batch import NEVER_OVERRIDDEN
from voelgoed.services import Services

ADMISSIONS = "/api/scanning/admissions"
ZONE = "'00000000-0000-7000-8000-000000000001'"

ARRANGED = {
    "already_scanned": "",
    "event_not_live": "UPDATE event SET status = 'published'",
    "event_ended": "UPDATE event SET starts_at = now() - '2 h'::interval,"
    " ends_at = now() - '1 h'::interval",
    "gate_closed": "UPDATE gate SET status = 'closed'",
    "wrong_gate": f"UPDATE gate SET allowed_zones = ARRAY[{ZONE}::uuid]",
    "not_valid_today": "UPDATE ticket SET days = days[2:2]",
    "membership_not_active": f"UPDATE ticket SET associated_membership_id = {ZONE}",
    "reentry_not_allowed": "UPDATE ticket_type SET reentry = 'never'",
    "exit_required": "UPDATE ticket_type SET reentry = 'after_exit'",
    "entry_limit_reached": "UPDATE ticket_type SET entry_limit = 1",
    "daily_limit_reached": "UPDATE ticket_type SET max_daily_entries = 1",
    "gate_at_capacity": "UPDATE gate SET hard_capacity_limit = 1",
    "ticket_already_used": "UPDATE ticket SET status = 'used'",
}
"""A function that arranges the reason, after somebody came in with the ticket or with another."""
NEEDS_AN_ENTRY = {
    "already_scanned",
    "reentry_not_allowed",
    "exit_required",
    "entry_limit_reached",
    "daily_limit_reached",
}


async def admit(world: World, code: str, **more: Any) -> httpx.Response:
    body = {
        "ticket_code": code,
        "gate_id": str(world.gates[0].id),
        "reason": "known to the promoter",
        **more,
    }
    return await world.ask("POST", ADMISSIONS, body)


def error(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]


@pytest.mark.parametrize("reason", ARRANGED)
async def test_a_supervisor_admits_against_every_reason_that_may_be_overridden(
    world: World, clock: MovableClock, reason: str
):
    device, ticket, other = await world.device(), await world.ticket("A1"), await world.ticket("A2")
    came_before = reason in NEEDS_AN_ENTRY
    await world.scan(device, (ticket if came_before else other).code)
    if reason != "already_scanned":
        clock.ahead += LATER
        await world.rows(ARRANGED[reason])
    assert await world.verdict(device, ticket.code) == reason
    before = (await world.inside())["event"]
    answer = await admit(world, ticket.code)
    assert answer.status_code == 201, answer.text
    admitted = answer.json()["data"]
    assert (admitted["status"], admitted["direction"]) == ("admitted", "entry")
    assert admitted["entry_number"] == (2 if came_before else 1)
    assert (await world.inside())["event"] == before + (0 if came_before else 1)
    [kept] = await world.rows("SELECT * FROM scan WHERE source = 'supervisor'")
    assert str(kept["id"]) == admitted["scan_id"]
    assert (kept["device_id"], kept["actor_id"]) == (
        None,
        world.tenant.users["gate_supervisor"],
    )
    assert kept["details"]["overridden"] == reason
    assert kept["details"]["override_reason"] == "known to the promoter"
    [entry] = await world.rows("SELECT * FROM audit_entry WHERE action = 'ticket_admitted_by_hand'")
    assert (entry["entity_id"], entry["actor_kind"]) == (admitted["scan_id"], "user")
    assert entry["actor_id"] == world.tenant.users["gate_supervisor"]
    assert entry["changes"]["overridden"] == reason
    assert entry["changes"]["reason"] == "known to the promoter"


async def test_a_person_whom_nobody_saw_coming_can_be_let_out(world: World):
    ticket = await world.ticket()
    answer = await admit(world, ticket.code, direction="exit")
    assert answer.json()["data"]["message"] == "✓ Exit recorded. Goodbye!"
    [kept] = await world.rows("SELECT * FROM scan")
    assert (kept["details"]["overridden"], kept["entry_number"]) == ("not_inside", None)
    assert (await world.inside())["event"] == 0
    [counted] = await world.rows("SELECT entries, exits FROM occupancy WHERE scope = 'event'")
    assert counted == {"entries": 0, "exits": 1}


async def test_an_override_of_a_valid_ticket_is_an_admission_by_hand_all_the_same(world: World):
    device, ticket = await world.device(), await world.ticket()
    answer = await admit(world, await world.barcode(ticket))
    assert answer.status_code == 201
    [kept] = await world.rows("SELECT * FROM scan")
    assert kept["details"].get("overridden") is None
    assert kept["details"]["override_reason"] == "known to the promoter"
    assert await world.verdict(device, ticket.code) == "already_scanned"


async def test_an_invalid_ticket_admits_nobody_by_hand(world: World, services: Services):
    elsewhere = await a_world(services, world.client, world.tenant)
    voided, reissued = await world.ticket("A1"), await world.ticket("A3")
    old_barcode = await world.barcode(reissued)
    await world.sales.reissue(reissued.id)
    await world.sales.void(voided.id)
    order = await world.sales.sell("A5")
    await world.sales.refund(order)
    refused = {
        "ticket_not_found": "0000-0000-0000",
        "wrong_event": (await elsewhere.ticket()).code,
        "barcode_revoked": old_barcode,
        "ticket_voided": voided.code,
        "ticket_refunded": order.tickets[0].code,
    }
    assert set(refused) == NEVER_OVERRIDDEN
    for reason, code in refused.items():
        answer = await admit(world, code)
        assert error(answer) == (409, "override_not_allowed"), reason
        assert answer.json()["details"] == {"reason": reason}
    assert await world.rows("SELECT 1 FROM scan WHERE status = 'admitted'") == []
    entries = await world.rows("SELECT * FROM audit_entry WHERE action = 'scan_refused'")
    assert len(entries) == len(refused), "tried is on record"
    assert {entry["actor_id"] for entry in entries} == {world.tenant.users["gate_supervisor"]}


async def test_a_forged_barcode_admits_nobody_by_hand(world: World):
    barcode = await world.barcode(await world.ticket())
    forged = barcode[:-1] + ("A" if barcode[-1] != "A" else "B")
    answer = await admit(world, forged)
    assert error(answer) == (409, "override_not_allowed")
    assert answer.json()["details"] == {"reason": "ticket_not_found"}
    assert error(await admit(world, "no code at all")) == (422, "invalid_ticket_code_format")


async def test_a_repeated_admission_is_the_same_one(world: World):
    ticket, scan_id = await world.ticket(), str(uuid4())
    first = await admit(world, ticket.code, scan_id=scan_id)
    again = await admit(world, ticket.code, scan_id=scan_id)
    assert first.json() == again.json()
    assert first.json()["data"]["scan_id"] == scan_id
    assert len(await world.rows("SELECT 1 FROM scan")) == 1
    assert len(await world.rows("SELECT 1 FROM audit_entry WHERE entity_type = 'Scan'")) == 1
    other = await world.ticket("A3")
    assert error(await admit(world, other.code, scan_id=scan_id)) == (409, "scan_id_reused")
    body = {"ticket_code": ticket.code, "gate_id": str(world.gates[0].id), "reason": "x"}
    by_another = await world.ask("POST", ADMISSIONS, {**body, "scan_id": scan_id}, by="owner")
    assert error(by_another) == (409, "scan_id_reused")


async def test_a_repeated_admission_is_known_after_its_gate_was_deleted(world: World):
    ticket, scan_id = await world.ticket(), str(uuid4())
    await world.rows("UPDATE event SET status = 'published'")
    first = await admit(world, ticket.code, scan_id=scan_id)
    path = f"/api/events/{world.event_id}/gates/{world.gates[0].id}"
    assert (await world.ask("DELETE", path)).status_code == 204
    again = await admit(world, ticket.code, scan_id=scan_id)
    assert again.status_code == 201, again.text
    assert again.json()["data"]["gate"] == first.json()["data"]["gate"]


async def test_simultaneous_requests_for_one_admission_are_one(world: World):
    for seat in ("A1", "A3", "A5"):
        ticket, scan_id = await world.ticket(seat), str(uuid4())
        answers = await asyncio.gather(
            *(admit(world, ticket.code, scan_id=scan_id) for _ in range(6))
        )
        assert len({answer.text for answer in answers}) == 1
        assert answers[0].status_code == 201
    assert (await world.inside())["event"] == 3
    assert len(await world.rows("SELECT 1 FROM scan")) == 3


async def test_an_override_needs_a_reason_a_gate_and_the_permission(
    world: World, other_tenant: Tenant
):
    ticket = await world.ticket()
    for wrong in ({"reason": ""}, {"reason": "  "}, {"gate_id": "north"}, {"direction": "up"}):
        assert (await admit(world, ticket.code, **wrong)).status_code == 422, wrong
    assert error(await admit(world, ticket.code, gate_id=str(uuid4()))) == (404, "gate_not_found")
    body = {"ticket_code": ticket.code, "gate_id": str(world.gates[0].id), "reason": "x"}
    for role in ("box_office", "customer"):
        assert (await world.ask("POST", ADMISSIONS, body, by=role)).status_code == 403
    headers = other_tenant.as_("owner")
    answer = await world.client.post(ADMISSIONS, json=body, headers=headers)
    assert error(answer) == (404, "gate_not_found")
    device = await world.device()
    answer = await world.client.post(ADMISSIONS, json=body, headers=device.headers)
    assert answer.status_code == 401, "a device has no discretion"
    assert await world.rows("SELECT 1 FROM scan") == []


async def test_occupancy_is_shown_by_event_gate_zone_and_day(world: World, other_tenant: Tenant):
    path = f"/api/scanning/events/{world.event_id}/occupancy"
    nobody = (await world.ask("GET", path)).json()["data"]
    assert (nobody["current"], nobody["capacity"], nobody["counts"]) == (0, 500, [])
    seated, standing = await world.ticket(), await world.tickets(5)
    first, second = await world.device(), await world.device(world.gates[1])
    await world.scan(first, seated.code)
    for ticket in standing:
        await world.scan(second, ticket.code)
    await world.scan(first, standing[0].code, direction="exit")
    shown = (await world.ask("GET", path, by="organiser")).json()["data"]
    assert (shown["day"], shown["current"], shown["percent_full"]) == ("2030-06-01", 5, 1)
    counted = {
        each["scope_id"]: (each["scope"], each["entries"], each["exits"], each["inside"])
        for each in shown["counts"]
    }
    assert counted == {
        str(world.event_id): ("event", 6, 1, 5),
        str(world.gates[0].id): ("gate", 1, 1, 1),
        str(world.gates[1].id): ("gate", 5, 0, 4),
        str(seated.zone_id): ("zone", 1, 0, 1),
        str(standing[0].zone_id): ("zone", 5, 1, 4),
    }
    answer = await world.client.get(path, headers=other_tenant.as_("owner"))
    assert error(answer) == (404, "event_not_found")
    assert (await world.ask("GET", path, by="customer")).status_code == 403
