"""Any authenticated request of a device is a sign of life, and a scan does not pay for it."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scanning.node_support import socket, subscribe
from tests.scanning.support import Device, World
from tests.scanning.sync_support import signed, sync
from tests.scanning.test_device_keys import a_device, rotate
from tests.support import MovableClock
from voelgoed.scanning.actions import signs_of_life as module
from voelgoed.scanning.rules.devices import SILENT_MAX, last_heard, shown_status, silence
from voelgoed.services import build_services

LONG = SILENT_MAX + timedelta(minutes=1)


async def shown(world: World, device: Device) -> dict[str, Any]:
    """The device as the API shows it, after all noted signs were written."""
    await world.services.signs_of_life.is_idle()
    return (await world.ask("GET", f"/api/scanning/devices/{device.id}")).json()["data"]


async def scan(world: World, device: Device) -> None:
    assert await world.verdict(device, "0000-0000-0000") == "ticket_not_found"


async def ask_where_it_is(world: World, device: Device) -> None:
    answer = await world.client.get("/api/scanning/station", headers=device.headers)
    assert answer.status_code == 200


async def fetch_the_list(world: World, device: Device) -> None:
    path = f"/api/scanning/events/{world.event_id}/manifest"
    assert (await world.client.get(path, headers=device.headers)).status_code == 200


async def deliver(world: World, device: Device) -> None:
    await sync(world, device, await signed(world, device, None, timedelta()))


async def send_nonsense(world: World, device: Device) -> None:
    answer = await world.client.post("/api/scans", json={}, headers=device.headers)
    assert answer.status_code == 422


async def listen(world: World, device: Device) -> None:
    async with socket(world, device.headers) as connection:
        await subscribe(connection, "nothing")


@pytest.mark.parametrize(
    "request_of", [scan, ask_where_it_is, fetch_the_list, deliver, send_nonsense, listen]
)
async def test_any_request_with_the_key_is_a_sign_of_life(
    world: World, clock: MovableClock, request_of: Any
):
    device, beside = await world.device(), await world.device()
    clock.ahead += LONG
    assert (await shown(world, device))["status"] == "offline"
    await request_of(world, device)
    seen = await shown(world, device)
    assert (seen["status"], seen["last_heartbeat"]) == ("active", None)
    assert seen["silent_seconds"] < 60
    assert seen["last_seen_at"] > seen["paired_at"]
    assert (await shown(world, beside))["status"] == "offline"


async def test_a_device_that_must_rotate_is_alive(world: World, clock: MovableClock):
    device = await world.device()
    clock.ahead += LONG
    await world.ask("POST", f"/api/scanning/devices/{device.id}/key-rotations")
    assert (await world.scan(device, "0000-0000-0000")).status_code == 401
    assert (await shown(world, device))["status"] == "active"


async def test_a_request_with_a_copied_old_key_is_no_sign_of_the_device(
    world: World, clock: MovableClock
):
    device = await world.device()
    renewed = await rotate(world, device)
    clock.ahead += LONG
    await shown(world, renewed)
    before = (await world.rows("SELECT last_seen_at FROM scan_device"))[0]["last_seen_at"]
    for _ in range(3):
        assert (await world.scan(device, "0000-0000-0000")).status_code == 401
    seen = await shown(world, renewed)
    assert seen["status"] == "offline"
    assert (await world.rows("SELECT last_seen_at FROM scan_device"))[0]["last_seen_at"] == before
    await scan(world, renewed)
    assert (await shown(world, renewed))["status"] == "active"


async def test_a_device_that_scans_all_the_time_is_not_written_all_the_time(
    world: World, clock: MovableClock
):
    device = await world.device()
    written: set[datetime] = set()
    for _ in range(20):
        clock.ahead += timedelta(seconds=2)
        await scan(world, device)
        await world.services.signs_of_life.is_idle()
        [kept] = await world.rows("SELECT last_seen_at FROM scan_device")
        assert world.now - kept["last_seen_at"] < timedelta(seconds=30)
        written.add(kept["last_seen_at"])
    assert len(written) <= 5, "of forty seconds, every ten"


async def test_a_sign_of_life_makes_no_new_version_of_the_device(world: World):
    device = await world.device()
    before = await shown(world, device)
    await scan(world, device)
    after = await shown(world, device)
    assert after["version"] == before["version"]
    body = {"version": before["version"], "name": "Renamed"}
    assert (await world.ask("PATCH", f"/api/scanning/devices/{device.id}", body)).is_success


async def test_the_number_of_remembered_devices_is_limited(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    first, second = await world.device(), await world.device()
    await world.services.signs_of_life.is_idle()
    monkeypatch.setattr(module, "REMEMBERED_MAX", 1)
    for device in (first, second, first):
        await scan(world, device)
    await world.services.signs_of_life.is_idle()
    seen = await world.rows("SELECT id FROM scan_device WHERE last_seen_at IS NOT NULL")
    assert [row["id"] for row in seen] == [first.id]
    await scan(world, second)
    await world.services.signs_of_life.is_idle()
    seen = await world.rows("SELECT id FROM scan_device WHERE last_seen_at IS NOT NULL")
    assert {row["id"] for row in seen} == {first.id, second.id}


async def test_without_the_database_a_sign_of_life_is_dropped_and_nothing_waits(world: World):
    away = build_services(world.services.settings, "postgresql://nobody@127.0.0.1:1/none")
    proven = module.DeviceCaller(world.tenant.caller("owner"), 1)
    away.signs_of_life.note(proven)
    await away.signs_of_life.is_idle()
    await away.signs_of_life.stop()


@given(st.integers(0, 1_000), st.integers(0, 1_000) | st.none(), st.integers(0, 1_000) | st.none())
def test_the_last_sign_of_life_says_whether_a_device_is_offline(
    paired: int, beaten: int | None, seen: int | None
):
    now = datetime(2030, 6, 1, tzinfo=UTC)

    def ago(seconds: int | None) -> datetime | None:
        return None if seconds is None else now - timedelta(seconds=seconds)

    device = msgspec.structs.replace(
        a_device(1, uuid4(), now - timedelta(seconds=paired)),
        last_heartbeat=ago(beaten),
        last_seen_at=ago(seen),
    )
    least = min(each for each in (paired, beaten, seen) if each is not None)
    assert silence(device, now) == timedelta(seconds=least)
    assert last_heard(device) == ago(least)
    assert shown_status(device, now) == ("active" if least <= 300 else "offline")
    assert silence(device, now - timedelta(days=1)) == timedelta(), "a clock that was put back"
    for away in ({"status": "inactive"}, {"deleted_at": now}):
        put_away = msgspec.structs.replace(device, **away)
        assert shown_status(put_away, now) == "inactive"
