"""Every reason to deny, through HTTP: its code, its message, its row, its audit entry."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, get_args

import httpx
import msgspec
import pytest

from tests.scanning.support import LATER, World, a_world
from tests.support import MovableClock, Tenant
from voelgoed.events.actions.events import move_event
from voelgoed.events.actions.gates import change_gate
from voelgoed.events.model import GateChange, Transition
from voelgoed.scanning.actions.supervision import move_ticket
from voelgoed.scanning.model.decisions import Reason
from voelgoed.scanning.model.supervision import TicketTransition
from voelgoed.scanning.rules.answers import DENIED
from voelgoed.services import Services

Arrange = Callable[[World, MovableClock], Awaitable[str]]
"""A function that arranges the reason and returns the code to scan."""


async def nothing(world: World, clock: MovableClock) -> str:
    return "3KQR-7F92-4M1X"


async def of_another_event(world: World, clock: MovableClock) -> str:
    other = await a_world(world.services, world.client, world.tenant)
    return (await other.ticket()).code


async def reissued(world: World, clock: MovableClock) -> str:
    ticket = await world.ticket()
    before = await world.barcode(ticket)
    await world.sales.reissue(ticket.id)
    return before


async def marked_used(world: World, clock: MovableClock) -> str:
    ticket = await world.ticket()
    services, caller = world.services, world.tenant.caller("gate_supervisor")
    used = TicketTransition(to="used", reason="seen inside")
    await move_ticket(services.database, services.checkout, caller, ticket.id, used)
    return ticket.code


async def voided(world: World, clock: MovableClock) -> str:
    ticket = await world.ticket()
    await world.sales.void(ticket.id)
    return ticket.code


async def refunded(world: World, clock: MovableClock) -> str:
    order = await world.sales.sell("A1")
    await world.sales.refund(order)
    return order.tickets[0].code


async def scanned(world: World, clock: MovableClock) -> str:
    ticket = await world.ticket()
    assert await world.verdict(world.devices[0], ticket.code) == "admitted"
    return ticket.code


async def scanned_long_ago(world: World, clock: MovableClock) -> str:
    code = await scanned(world, clock)
    clock.ahead += LATER
    return code


async def event_ended(world: World, clock: MovableClock) -> str:
    """The event is over by its clock, although nobody moved it to ended."""
    code = (await world.ticket()).code
    event = await world.rows("SELECT ends_at FROM event WHERE id = $1", world.event_id)
    clock.ahead += event[0]["ends_at"] - clock.now() + timedelta(seconds=1)
    return code


async def event_moved_to_ended(world: World, clock: MovableClock) -> str:
    code = (await world.ticket()).code
    caller = world.tenant.caller("owner")
    await move_event(world.services.database, caller, world.event_id, Transition(to="ended"))
    return code


async def change(world: World, **changes: Any) -> str:
    code = (await world.ticket()).code
    gate = world.gates[0]
    body = msgspec.convert({"version": gate.version, **changes}, GateChange)
    caller = world.tenant.caller("owner")
    await change_gate(world.services.database, caller, world.event_id, gate.id, body)
    return code


async def gate_closed(world: World, clock: MovableClock) -> str:
    return await change(world, status="closed")


async def other_zones_only(world: World, clock: MovableClock) -> str:
    return await change(world, allowed_zones=["00000000-0000-7000-8000-00000000002a"])


async def gate_full(world: World, clock: MovableClock) -> str:
    code = await change(world, hard_capacity_limit=1)
    other = await world.ticket("A3")
    assert await world.verdict(world.devices[0], other.code) == "admitted"
    return code


async def never_there(world: World, clock: MovableClock) -> str:
    return (await world.ticket()).code


CASES: list[tuple[Reason, Arrange, dict[str, Any], dict[str, Any]]] = [
    ("ticket_not_found", nothing, {}, {}),
    ("wrong_event", of_another_event, {}, {}),
    ("barcode_revoked", reissued, {}, {}),
    ("ticket_already_used", marked_used, {}, {}),
    ("ticket_voided", voided, {}, {}),
    ("ticket_refunded", refunded, {}, {}),
    ("already_scanned", scanned, {}, {}),
    ("event_not_live", event_moved_to_ended, {}, {}),
    ("event_ended", event_ended, {}, {}),
    ("gate_closed", gate_closed, {}, {}),
    ("wrong_gate", other_zones_only, {}, {}),
    ("reentry_not_allowed", scanned_long_ago, {"reentry": "never"}, {}),
    ("exit_required", scanned_long_ago, {"reentry": "after_exit"}, {}),
    ("entry_limit_reached", scanned_long_ago, {"entry_limit": 1}, {}),
    ("daily_limit_reached", scanned_long_ago, {"max_daily_entries": 1}, {}),
    ("gate_at_capacity", gate_full, {}, {}),
    ("not_inside", never_there, {}, {"direction": "exit"}),
]


@pytest.mark.parametrize(
    ("reason", "arrange", "types", "more"), CASES, ids=[case[0] for case in CASES]
)
async def test_each_reason_is_answered_and_recorded(
    services: Services,
    client: httpx.AsyncClient,
    tenant: Tenant,
    clock: MovableClock,
    reason: Reason,
    arrange: Arrange,
    types: dict[str, Any],
    more: dict[str, Any],
):
    world = await a_world(services, client, tenant, **types)
    device = await world.device()
    code = await arrange(world, clock)
    answer = await world.scan(device, code, **more)
    body = answer.json()
    assert answer.status_code == (404 if reason == "ticket_not_found" else 200), answer.text
    assert (body["status"], body["reason"], body["message"]) == ("denied", reason, DENIED[reason])
    assert "seat_info" not in body
    [row] = await world.rows("SELECT * FROM scan WHERE id = $1::uuid", body["scan_id"])
    assert (row["status"], row["reason_denied"]) == ("denied", reason)
    [entry] = await world.rows(
        "SELECT * FROM audit_entry WHERE entity_type = 'Scan' AND entity_id = $1", body["scan_id"]
    )
    assert (entry["action"], entry["changes"]["reason"]) == ("ticket_scan_denied", reason)


async def test_a_ticket_of_another_day(
    services: Services, client: httpx.AsyncClient, tenant: Tenant, clock: MovableClock
):
    world = await a_world(services, client, tenant)
    device, ticket = await world.device(), await world.ticket()
    async with services.database.transaction(tenant.id) as tx:
        await tx.run("UPDATE ticket SET days = '{2031-01-01}'")
    assert await world.verdict(device, ticket.code) == "not_valid_today"


async def test_a_membership_that_ended(
    services: Services, client: httpx.AsyncClient, tenant: Tenant, clock: MovableClock
):
    world = await a_world(services, client, tenant)
    device, ticket = await world.device(), await world.ticket()
    async with services.database.transaction(tenant.id) as tx:
        await tx.run(
            """
            INSERT INTO membership (organization_id, id, user_id, tier, status, valid_from, valid_to,
                                    created_at, updated_at)
            VALUES (current_organization(), $1, $2, 'gold', 'active', $3, $4, $3, $3)
            """,
            ticket.id,
            tenant.users["customer"],
            tx.now - timedelta(days=2),
            tx.now + timedelta(minutes=10),
        )
        await tx.run("UPDATE ticket SET associated_membership_id = id")
    assert await world.verdict(device, ticket.code) == "admitted"
    clock.ahead += timedelta(minutes=11)
    assert await world.verdict(device, ticket.code) == "membership_not_active"


def test_these_are_all_the_reasons():
    apart = {"not_valid_today", "membership_not_active", "unverified"}
    assert {case[0] for case in CASES} | apart == set(get_args(Reason))
    assert len(set(DENIED.values())) == len(DENIED), "no two sound the same"
