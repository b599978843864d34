"""The statements of online scans: what they read, and when they write nothing."""

from uuid import uuid4

import asyncpg
import pytest

from tests.scanning.admission_support import a_request, facts_of
from tests.scanning.support import World, a_world
from tests.support import Tenant
from voelgoed.infra.database import Transaction
from voelgoed.scanning.model.admission import (
    AdmissionPlan,
    LastEntry,
    ScanRequest,
)
from voelgoed.scanning.rules.admit_batch import decide, stations_of
from voelgoed.scanning.store.admission import read_facts, read_stations, write_plan
from voelgoed.scanning.store.occupancy import read_gate_levels

UNKNOWN = "ZZZZ-0000-0009"


async def planned(world: World, *requests: ScanRequest) -> AdmissionPlan:
    return decide(requests, await facts_of(world, *requests), world.now)


async def is_written(world: World, plan: AdmissionPlan) -> bool:
    before = len(await world.rows("SELECT 1 FROM scan"))
    async with world.services.database.at_once(world.tenant.id) as tx:
        written = await write_plan(tx, plan)
    after = len(await world.rows("SELECT 1 FROM scan"))
    assert after - before == (0 if written is None else len(plan.scans))
    return written is not None


async def test_a_plan_whose_ticket_changed_meanwhile_is_not_written(world: World):
    device, ticket = await world.device(), await world.ticket()
    plan = await planned(world, a_request(world, device, ticket.code))
    await world.sales.void(ticket.id)
    assert not await is_written(world, plan)
    assert await world.inside() == {}


async def test_a_plan_whose_id_was_used_meanwhile_is_not_written(world: World):
    device, ticket, scan_id = await world.device(), await world.ticket(), uuid4()
    plan = await planned(world, a_request(world, device, UNKNOWN, scan_id=scan_id))
    await world.scan(device, ticket.code, scan_id=str(scan_id))
    assert not await is_written(world, plan)


async def test_a_plan_whose_gate_filled_up_meanwhile_is_not_written(world: World):
    async with world.services.database.transaction(world.tenant.id) as tx:
        await tx.run("UPDATE gate SET hard_capacity_limit = 1")
    device, (first, second) = await world.device(), await world.tickets(2)
    plan = await planned(world, a_request(world, device, first.code))
    assert await world.verdict(device, second.code) == "admitted"
    assert not await is_written(world, plan)
    assert (await world.inside())["gate-0"] == 1


async def test_a_plan_from_before_the_venue_was_declared_empty_is_not_written(world: World):
    device, (first, second) = await world.device(), await world.tickets(2)
    await world.scan(device, first.code)
    plan = await planned(world, a_request(world, device, second.code))
    path = f"/api/scanning/events/{world.event_id}/occupancy/resets"
    assert (await world.ask("POST", path, {"reason": "closing"})).status_code == 201
    assert not await is_written(world, plan)
    assert (await world.inside())["event"] == 0


async def test_a_plan_is_written_once(world: World):
    device, ticket = await world.device(), await world.ticket()
    plan = await planned(world, a_request(world, device, ticket.code))
    assert await is_written(world, plan)
    assert not await is_written(world, plan)


async def test_nothing_is_read_or_written_in_the_name_of_another_organisation(
    world: World, other_tenant: Tenant
):
    """A connection may be set to another organisation, for example by a proxy that shares connections."""
    device = await world.device()
    request = a_request(world, device, UNKNOWN)
    plan = await planned(world, request)
    assert plan.scans
    assert not plan.counts, "nobody is counted, and yet it is noticed"

    async def set_to_another(tx: Transaction) -> None:
        await tx.connection.execute(f"SET voelgoed.organization_id = '{other_tenant.id}'")

    database = world.services.database
    async with database.at_once(world.tenant.id) as tx:
        stations = await read_stations(tx, stations_of([request], {}))
    with pytest.raises(asyncpg.PostgresError, match="another organisation"):
        async with database.at_once(world.tenant.id) as tx:
            await set_to_another(tx)
            await read_facts(tx, [request], {}, stations, {})
    with pytest.raises(asyncpg.PostgresError, match="another organisation"):
        async with database.at_once(world.tenant.id) as tx:
            await set_to_another(tx)
            await read_stations(tx, stations_of([request], {}))
    with pytest.raises(asyncpg.PostgresError, match="another organisation"):
        async with database.at_once(world.tenant.id) as tx:
            await set_to_another(tx)
            await read_gate_levels(tx, [(world.event_id, world.now.date())])
    with pytest.raises(asyncpg.PostgresError, match="another organisation"):
        async with database.at_once(world.tenant.id) as tx:
            await set_to_another(tx)
            await write_plan(tx, plan)
    async with database.transaction(other_tenant.id) as tx:
        assert await tx.value(int, "SELECT count(*) FROM scan") == 0
    assert await is_written(world, plan)


async def test_a_ticket_with_a_hint_is_not_read(world: World):
    device, (first, second) = await world.device(), await world.tickets(2)
    hint = LastEntry(scan_id=uuid4(), gate_id=world.gates[1].id, scan_at=world.now, tier="hot")
    requests = [a_request(world, device, each.code) for each in (first, second)]
    facts = await facts_of(world, *requests, hints={first.code: hint})
    assert facts.tickets.keys() == {second.code}
    assert facts.gates.keys() >= {device.gate.id, world.gates[1].id}


async def test_keys_of_another_event_are_read_where_a_barcode_of_its_tickets_needs_them(
    world: World,
):
    elsewhere = await a_world(world.services, world.client, world.tenant)
    device, ticket = await world.device(), await elsewhere.ticket()
    await world.ticket()  # with the key of its event
    barcode = await elsewhere.barcode(ticket)
    facts = await facts_of(world, a_request(world, device, barcode))
    assert facts.event_keys.keys() == {world.event_id}
    changed = barcode[:-1] + ("A" if barcode[-1] != "A" else "B")
    facts = await facts_of(world, a_request(world, device, changed))
    assert facts.event_keys.keys() == {world.event_id, elsewhere.event_id}


async def test_a_known_scan_comes_with_its_place_and_gate(world: World):
    device, ticket, scan_id = await world.device(world.gates[1]), await world.ticket(), uuid4()
    await world.scan(device, ticket.code, scan_id=str(scan_id))
    async with world.services.database.transaction(world.tenant.id) as tx:
        await tx.run("UPDATE scan_device SET gate_id = $1", world.gates[0].id)
    facts = await facts_of(world, a_request(world, device, ticket.code, scan_id=scan_id))
    known = facts.known[scan_id]
    assert known.place is not None
    assert (known.place.id, known.place.seat_label) == (ticket.id, ticket.seat_label)
    assert known.gate_id == world.gates[1].id
    assert facts.gates.keys() >= {world.gates[0].id, world.gates[1].id}
