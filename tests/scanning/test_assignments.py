"""The assignments of devices to gates: every way in which they begin and end."""

import asyncio
import shutil
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest

from tests.scanning.alert_support import UNKNOWN, kinds, put_policy
from tests.scanning.support import Device, World
from tests.support import MovableClock, a_gate, an_event
from voelgoed.infra.embedded import EmbeddedPostgres
from voelgoed.infra.migrate import MIGRATIONS, migrate
from voelgoed.scanning.model.devices import DeviceAssignment
from voelgoed.scanning.store.devices import find_assignments

DEVICES = "/api/scanning/devices"
LATER = timedelta(minutes=1)


async def assignments(world: World, *devices: Device) -> list[DeviceAssignment]:
    """The assignments since their devices were paired."""
    async with world.services.database.transaction(world.tenant.id) as tx:
        found = await find_assignments(tx, [device.id for device in devices])
    return [each for each in found if each.from_at > world.now - timedelta(days=1)]


async def places(world: World, device: Device) -> list[tuple[UUID, bool]]:
    """The gates that the device had, each with whether it has it now."""
    found = await assignments(world, device)
    return [(each.gate_id, each.until_at is None) for each in found]


async def change(world: World, device: Device, **changes: Any) -> None:
    path = f"{DEVICES}/{device.id}"
    version = (await world.ask("GET", path)).json()["data"]["version"]
    answer = await world.ask("PATCH", path, {"version": version, **changes})
    assert answer.status_code == 200, answer.text


async def test_an_assignment_begins_when_a_device_is_paired(world: World):
    before = world.now
    device, beside = await world.device(), await world.device(world.gates[1])
    found = await assignments(world, device, beside)
    assert {(each.device_id, each.gate_id, each.event_id, each.until_at) for each in found} == {
        (device.id, world.gates[0].id, world.event_id, None),
        (beside.id, world.gates[1].id, world.event_id, None),
    }
    assert all(before <= each.from_at <= world.now for each in found)


async def test_a_device_that_gets_another_gate_has_two_assignments(
    world: World, clock: MovableClock
):
    device, (first, second) = await world.device(), world.gates
    clock.ahead += LATER
    await change(world, device, gate_id=str(second.id))
    [old, new] = await assignments(world, device)
    assert (old.gate_id, new.gate_id, new.until_at) == (first.id, second.id, None)
    assert old.until_at == new.from_at
    assert new.from_at - old.from_at >= LATER


async def test_an_assignment_ends_without_a_gate_and_another_begins_with_one(world: World):
    device, first = await world.device(), world.gates[0].id
    await change(world, device, gate_id=None)
    assert await places(world, device) == [(first, False)]
    await change(world, device, gate_id=str(first))
    assert await places(world, device) == [(first, False), (first, True)]
    [old, new] = await assignments(world, device)
    assert old.until_at is not None
    assert old.until_at <= new.from_at


async def test_a_deactivated_device_is_assigned_nowhere_until_it_is_active(world: World):
    device, (first, second) = await world.device(), world.gates
    await change(world, device, status="inactive")
    assert await places(world, device) == [(first.id, False)]
    await change(world, device, gate_id=str(second.id))
    assert await places(world, device) == [(first.id, False)], "a gate, and it may not scan"
    await change(world, device, status="active")
    assert await places(world, device) == [(first.id, False), (second.id, True)]


async def test_an_assignment_ends_when_the_device_is_revoked(world: World):
    device, first = await world.device(), world.gates[0].id
    for _ in range(2):
        assert (await world.ask("DELETE", f"{DEVICES}/{device.id}")).status_code == 204
    assert await places(world, device) == [(first, False)]


async def test_an_assignment_ends_when_the_device_is_blocked(world: World):
    await put_policy(world, device_error_rate_max=0, blocks_devices=True)
    device = await world.device()
    for _ in range(20):
        await world.scan(device, UNKNOWN)
    assert "device_malfunction" in await kinds(world)
    assert await places(world, device) == [(device.gate.id, False)]


async def test_a_change_that_keeps_the_gate_changes_no_assignment(world: World):
    device = await world.device()
    before = await assignments(world, device)
    await change(world, device, name="North")
    await world.ask("POST", f"{DEVICES}/{device.id}/key-rotations")
    answer = await world.client.post(
        "/api/scanning/key-rotations", json={"rotation_id": str(uuid4())}, headers=device.headers
    )
    assert answer.status_code == 201, answer.text
    assert await assignments(world, device) == before


async def test_a_deleted_gate_ends_the_assignments_of_its_devices(world: World):
    owner = world.tenant.as_("owner")
    events = "/api/events"
    draft = (await world.ask("GET", f"{events}/{world.event_id}")).json()["data"]
    body = an_event(draft["venue_id"])
    made = await world.client.post(events, json=body, headers=owner | {"Idempotency-Key": "event"})
    assert made.status_code == 201, made.text
    event_id = made.json()["data"]["id"]
    gates = f"{events}/{event_id}/gates"
    made = await world.client.post(
        gates, json=a_gate(code="west"), headers=owner | {"Idempotency-Key": "gate"}
    )
    gate_id = made.json()["data"]["id"]
    device = await world.device()
    await change(world, device, gate_id=gate_id)
    assert await places(world, device) == [(world.gates[0].id, False), (UUID(gate_id), True)]
    deleted = await world.client.delete(f"{gates}/{gate_id}", headers=owner)
    assert deleted.status_code == 204, deleted.text
    assert await places(world, device) == [(world.gates[0].id, False), (UUID(gate_id), False)]
    assert (await assignments(world, device))[1].event_id == UUID(event_id), "it is remembered"


async def test_simultaneous_changes_leave_one_assignment_without_gaps(world: World):
    device = await world.device()
    path = f"{DEVICES}/{device.id}"
    for _ in range(5):
        version = (await world.ask("GET", path)).json()["data"]["version"]
        bodies = [{"version": version, "gate_id": str(gate.id)} for gate in world.gates]
        answers = await asyncio.gather(*(world.ask("PATCH", path, body) for body in bodies * 2))
        assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]
        found = await assignments(world, device)
        assert [each.until_at for each in found[:-1]] == [each.from_at for each in found[1:]]
        kept = (await world.ask("GET", path)).json()["data"]["gate_id"]
        assert (str(found[-1].gate_id), found[-1].until_at) == (kept, None)


async def test_an_assignment_that_began_can_end_and_is_not_rewritten_otherwise(world: World):
    await world.device()
    for wrong in (
        "UPDATE device_assignment SET from_at = now() - interval '1 year'",
        "UPDATE device_assignment SET gate_id = gen_random_uuid()",
        "DELETE FROM device_assignment",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await world.rows(wrong)


PAIRED = datetime.fromisoformat("2026-05-01T10:00:00+00:00")


@pytest.mark.own_database
async def test_existing_devices_are_assigned_since_they_were_paired(
    postgres: EmbeddedPostgres, tmp_path: Path
):
    admin = await asyncpg.connect(postgres.url("postgres", "postgres"))
    await admin.execute("CREATE DATABASE before OWNER voelgoed_owner")
    url = postgres.url("voelgoed_owner", "before")
    for path in MIGRATIONS.glob("*.sql"):
        if path.stem < "0012":
            shutil.copy(path, tmp_path)
    try:
        await migrate(url, tmp_path)
        super_user = await asyncpg.connect(postgres.url("postgres", "before"))
        organization, gate, event = uuid4(), uuid4(), uuid4()
        ended = PAIRED + timedelta(days=3)
        try:
            await super_user.execute("SET session_replication_role = replica")
            await super_user.execute(
                "INSERT INTO organization VALUES ($1, 'old', 'Old', $2)", organization, PAIRED
            )
            await super_user.execute(
                """
                INSERT INTO gate (organization_id, id, event_id, code, name, status, created_at,
                                  updated_at)
                VALUES ($1, $2, $3, 'west', 'West', 'open', $4, $4)
                """,
                organization,
                gate,
                event,
                PAIRED,
            )
            devices = [uuid4() for _ in range(4)]
            for device, gate_id, status, deleted_at in zip(
                devices,
                (gate, gate, gate, None),
                ("active", "inactive", "active", "active"),
                (None, None, ended, None),
                strict=True,
            ):
                await super_user.execute(
                    """
                    INSERT INTO scan_device (organization_id, id, name, device_type, gate_id, status,
                                             key_version, key_rotated_at, paired_at, paired_by_id,
                                             deleted_at, created_at, updated_at)
                    VALUES ($1, $2, 'iPad', 'ipad', $3, $4, 1, $5, $5, $1, $6, $5, $7)
                    """,
                    organization,
                    device,
                    gate_id,
                    status,
                    PAIRED,
                    deleted_at,
                    ended,
                )
            await migrate(url)
            found = await super_user.fetch(
                "SELECT device_id, gate_id, event_id, from_at, until_at FROM device_assignment"
            )
        finally:
            await super_user.close()
        assert {tuple(row) for row in found} == {
            (devices[0], gate, event, PAIRED, None),
            (devices[1], gate, event, PAIRED, ended),
            (devices[2], gate, event, PAIRED, ended),
        }
    finally:
        await admin.execute("DROP DATABASE before WITH (FORCE)")
        await admin.close()
