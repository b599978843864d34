"""The scan policy of one event, where it differs from the defaults."""

from datetime import timedelta
from typing import Any

import pytest

from tests.scanning.alert_support import put_policy
from tests.scanning.support import World
from tests.support import MovableClock


async def test_an_event_has_the_default_policy_until_somebody_changes_it(world: World):
    path = f"/api/events/{world.event_id}/scan-policy"
    usual = {
        "event_id": str(world.event_id),
        "dedup_window_s": 300,
        "travel_s": 300,
        "duplicates_per_hour_max": 5,
        "gate_scans_per_minute_max": 60,
        "device_error_rate_max": 0.1,
        "blocks_devices": False,
        "version": 1,
        "updated_at": None,
    }
    assert (await world.ask("GET", path)).json()["data"] == usual
    changed = await put_policy(world, travel_s=60)
    assert changed["updated_at"] is not None
    assert changed | {"updated_at": None} == usual | {"travel_s": 60, "version": 2}
    assert (await world.ask("GET", path)).json()["data"] == changed
    stale = await world.ask("PUT", path, {"version": 1, "travel_s": 30})
    assert (stale.status_code, stale.json()["error"]) == (409, "version_conflict")
    again = await put_policy(world, blocks_devices=True)
    assert (again["travel_s"], again["version"]) == (300, 3), "what is left out is as usual"
    entries = await world.rows(
        "SELECT changes, entity_id FROM audit_entry WHERE action = 'scan_policy_changed' ORDER BY at"
    )
    assert [entry["entity_id"] for entry in entries] == [str(world.event_id)] * 2
    assert entries[0]["changes"] == {"travel_s": {"from": 300, "to": 60}}


async def test_the_duplicate_window_is_the_events_own(world: World, clock: MovableClock):
    await put_policy(world, dedup_window_s=10)
    device, ticket = await world.device(), await world.ticket()
    assert await world.verdict(device, ticket.code) == "admitted"
    clock.ahead += timedelta(seconds=9)
    assert await world.verdict(device, ticket.code) == "already_scanned"
    clock.ahead += timedelta(seconds=2)
    assert await world.verdict(device, ticket.code) == "admitted"


@pytest.mark.parametrize(
    "wrong",
    [
        {"travel_s": -1},
        {"dedup_window_s": 86_401},
        {"duplicates_per_hour_max": 0},
        {"gate_scans_per_minute_max": 10_001},
        {"device_error_rate_max": 1.1},
        {"blocks_devices": 1},
    ],
)
async def test_limits_have_limits(world: World, wrong: dict[str, Any]):
    path = f"/api/events/{world.event_id}/scan-policy"
    answer = await world.ask("PUT", path, {"version": 1} | wrong)
    assert answer.status_code == 422, answer.text
