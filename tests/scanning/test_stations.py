"""What a process remembers of devices, gates and events: never after it has changed."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from tests.scanning.admission_support import a_request, facts_of
from tests.scanning.support import World, a_world
from tests.scanning.sync_support import signed, sync
from voelgoed.scanning.actions import event_context
from voelgoed.scanning.model.stations import WantedStations


async def version(world: World) -> UUID | None:
    async with world.services.database.transaction(world.tenant.id) as tx:
        return await tx.value(UUID, "SELECT version FROM station_version")


CHANGES = {
    "a device gets another name": "UPDATE scan_device SET name = 'Other' WHERE id = $1",
    "a device is moved": "UPDATE scan_device SET gate_id = NULL WHERE id = $1",
    "a device is stopped": "UPDATE scan_device SET status = 'inactive' WHERE id = $1",
    "a device is revoked": "UPDATE scan_device SET deleted_at = now() WHERE id = $1",
    "a device has its next key": "UPDATE scan_device SET key_version = 2 WHERE id = $1",
    "a rotation is demanded": "UPDATE scan_device SET rotation_demanded_at = now() WHERE id = $1",
    "gates are closed": "UPDATE gate SET status = 'closed'",
    "gates get a limit": "UPDATE gate SET hard_capacity_limit = 1",
    "a gate is deleted": "DELETE FROM gate WHERE id = (SELECT id FROM gate LIMIT 1)",
    "an event ends": "UPDATE event SET status = 'ended'",
    "an event gets another version": "UPDATE event SET version = version + 1",
    "an event gets other days": "UPDATE event_day SET ends_at = ends_at + interval '1 minute'",
    "an event gets another capacity": "UPDATE event SET capacity = 1",
    "an event gets another layout": "UPDATE event_layout SET layout_id = layout_id",
    "an event gets another key": """
        INSERT INTO event_key SELECT organization_id, event_id, 2, public_key, sealed_private_key, now()
          FROM event_key""",
    "an event is scanned otherwise": """
        INSERT INTO scan_policy (organization_id, event_id, dedup_window_s, travel_s,
                                 duplicates_per_hour_max, gate_scans_per_minute_max,
                                 device_error_rate_max, blocks_devices, version, updated_at)
        SELECT organization_id, id, 1, 1, 1, 1, 1, false, 1, now() FROM event""",
    "a venue is declared empty": """
        INSERT INTO occupancy_reset (organization_id, id, event_id, at, reason, actor_id, inside, irregular)
        SELECT organization_id, gen_random_uuid(), id, now(), '', id, 0, 0 FROM event""",
}


@pytest.mark.parametrize("query", CHANGES.values(), ids=CHANGES)
async def test_every_change_that_matters_to_decisions_makes_a_new_version(world: World, query: str):
    device = await world.device()
    await world.ticket()  # with a key of its event
    before = await version(world)
    values = [device.id] if "$1" in query else []
    assert await world.rows(f"{query} RETURNING 1", *values), "something is changed"
    assert await version(world) not in (None, before)


async def test_a_transaction_whose_number_another_cluster_used_leaves_its_mark(world: World):
    """After a dump was restored into a new cluster, which counts its transactions anew."""
    device, (first, second) = await world.device(), await world.tickets(2)
    assert await world.verdict(device, first.code) == "admitted"
    async with world.services.database.transaction(world.tenant.id) as tx:
        before = await tx.value(UUID, "SELECT version FROM station_version")
        await tx.run("UPDATE station_version SET changed_by = pg_current_xact_id()")
        await tx.run("UPDATE gate SET status = 'closed' WHERE id = $1", device.gate.id)
    assert await version(world) != before
    assert await world.verdict(device, second.code) == "gate_closed"


async def test_days_that_changed_under_the_same_version_of_the_event_are_read_anew(world: World):
    """As after a restore, which may give the days of an earlier evening the number of a later one."""
    device, (first, second) = await world.device(), await world.tickets(2)
    assert await world.verdict(device, first.code) == "admitted"
    async with world.services.database.transaction(world.tenant.id) as tx:
        await tx.run("UPDATE event_day SET date = date - 1")
    assert await world.verdict(device, second.code) == "not_valid_today"


async def test_only_gates_of_the_scanned_events_are_counted(world: World):
    elsewhere = await a_world(world.services, world.client, world.tenant)
    async with world.services.database.transaction(world.tenant.id) as tx:
        await tx.run("UPDATE gate SET hard_capacity_limit = 100")
    here, there = await world.device(), await elsewhere.device()
    (ticket, another), other = await world.tickets(2), await elsewhere.ticket()
    for place, device, code in ((world, here, ticket.code), (elsewhere, there, other.code)):
        assert await place.verdict(device, code) == "admitted"
    facts = await facts_of(world, a_request(world, here, another.code))
    assert facts.gates.keys() >= {here.gate.id, there.gate.id}, "both are remembered"
    assert facts.inside.keys() == {here.gate.id}


async def test_a_change_that_is_rolled_back_leaves_the_version(world: World):
    before = await version(world)
    with pytest.raises(ZeroDivisionError):
        async with world.services.database.transaction(world.tenant.id) as tx:
            await tx.run("UPDATE gate SET status = 'closed'")
            raise ZeroDivisionError
    assert await version(world) == before


async def test_frequent_changes_that_do_not_matter_keep_the_version(world: World):
    """Otherwise every scan would read everything."""
    device, (online, delivered) = await world.device(), await world.tickets(2)
    before = await version(world)
    assert await world.verdict(device, online.code) == "admitted"
    await sync(world, device, await signed(world, device, delivered, timedelta(0)))
    heartbeat = {"device_time": world.now.isoformat(), "queue_length": 3}
    path = "/api/scanning/heartbeat"
    answer = await world.client.post(path, json=heartbeat, headers=device.headers)
    assert answer.status_code == 200, answer.text
    await world.services.signs_of_life.is_idle()
    assert await version(world) == before


async def test_a_device_that_is_revoked_is_refused_at_once(world: World):
    device, (first, second) = await world.device(), await world.tickets(2)
    assert await world.verdict(device, first.code) == "admitted"
    gone = await world.ask("DELETE", f"/api/scanning/devices/{device.id}")
    assert gone.status_code in (200, 204), gone.text
    assert (await world.scan(device, second.code)).status_code == 401


async def test_a_gate_that_is_closed_lets_nobody_in_a_moment_later(world: World):
    device, (first, second) = await world.device(), await world.tickets(2)
    assert await world.verdict(device, first.code) == "admitted"
    async with world.services.database.transaction(world.tenant.id) as tx:
        await tx.run("UPDATE gate SET status = 'closed' WHERE id = $1", device.gate.id)
    assert await world.verdict(device, second.code) == "gate_closed"


async def test_of_very_many_stations_the_most_recent_are_remembered(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(event_context, "STATIONS_MAX", 2)
    context = event_context.EventContext(world.services.database, world.services.cache)
    one, two = WantedStations(frozenset({uuid4()})), WantedStations(frozenset({uuid4(), uuid4()}))
    async with world.services.database.at_once(world.tenant.id) as tx:
        for wanted in (one, two):
            await context.stations(tx, wanted)
            assert context.has_stations(world.tenant.id, wanted)
    assert not context.has_stations(world.tenant.id, one)
