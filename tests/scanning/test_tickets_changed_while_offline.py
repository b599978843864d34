"""Tickets that are reissued or voided after an offline device let somebody in with them, and before its
scan arrives: the people inside are counted in whatever order the scans become known."""

from datetime import timedelta

import httpx
import pytest

from tests.scanning.support import World, a_world
from tests.scanning.sync_support import conflicts, signed, sync
from tests.support import MovableClock, Tenant
from voelgoed.services import Services
from voelgoed.ticketing.model.tickets import Ticket

MINUTE = timedelta(minutes=1)


@pytest.fixture
async def world(services: Services, client: httpx.AsyncClient, tenant: Tenant) -> World:
    return await a_world(services, client, tenant, gates=2)


async def reissue(world: World, ticket: Ticket) -> str:
    path = f"/api/tickets/{ticket.id}/reissues"
    answer = await world.ask("POST", path, {"reason": "lost"}, by="owner")
    assert answer.status_code == 201, answer.text
    return await world.barcode(ticket)


async def kinds(world: World) -> set[str]:
    return {row["kind"] for row in await world.rows("SELECT kind FROM scan_alert")}


@pytest.mark.parametrize("with_text", [False, True])
async def test_a_barcode_that_was_replaced_only_after_the_scan_was_valid(
    world: World, with_text: bool
):
    device, ticket = await world.device(), await world.ticket("A1")
    more = {"ticket_code": await world.barcode(ticket)} if with_text else {}
    scan = await signed(world, device, ticket, MINUTE, **more)
    await reissue(world, ticket)
    await sync(world, device, scan)
    [row] = await world.rows("SELECT status, reason_denied FROM scan")
    assert (row["status"], row["reason_denied"]) == ("admitted", None)
    assert (await world.inside())["event"] == 1


@pytest.mark.parametrize("with_text", [False, True])
async def test_a_barcode_that_was_replaced_before_the_scan_was_not_valid(
    world: World, clock: MovableClock, with_text: bool
):
    device, ticket = await world.device(), await world.ticket("A1")
    old, hashed = await world.barcode(ticket), await signed(world, device, ticket)
    more = {"barcode_hash": hashed["barcode_hash"]} | ({"ticket_code": old} if with_text else {})
    await reissue(world, ticket)
    clock.ahead += 10 * MINUTE
    await sync(world, device, await signed(world, device, ticket, MINUTE, **more))
    [row] = await world.rows("SELECT reason_denied FROM scan")
    assert row["reason_denied"] == "barcode_revoked"
    assert await kinds(world) >= {"invalid_admission"}


async def test_a_later_scan_with_the_new_barcode_is_the_second_person(world: World):
    north, south = await world.device(world.gates[0]), await world.device(world.gates[1])
    ticket = await world.ticket("A1")
    first = await signed(world, north, ticket, MINUTE)
    assert await world.verdict(south, await reissue(world, ticket)) == "admitted"
    await sync(world, north, first)
    [found] = await conflicts(world)
    assert found["conflict"]["kind"] == "double_entry"
    assert found["conflict"]["winner_scan_id"] == first["scan_id"]
    assert (await world.inside())["event"] == 2


async def test_a_void_ticket_that_let_somebody_in_raises_an_alert(
    world: World, clock: MovableClock
):
    device, ticket = await world.device(), await world.ticket("A1")
    others = [
        await signed(world, device, each, number * MINUTE)
        for number, each in enumerate(await world.tickets(3))
    ]
    await world.sales.void(ticket.id)
    clock.ahead += 2 * MINUTE
    await sync(world, device, await signed(world, device, ticket, MINUTE), *others)
    [alert] = await world.rows("SELECT kind, severity, subject_id, details FROM scan_alert")
    assert (alert["kind"], alert["severity"]) == ("invalid_admission", "high")
    assert alert["subject_id"] == ticket.id
    assert "ticket_voided" in str(alert["details"])
    assert await conflicts(world) == []
