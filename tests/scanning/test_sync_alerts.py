"""What in a batch, or in how it is brought, somebody should look at."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from tests.scanning.alert_support import alerts, kinds
from tests.scanning.node_support import hear, socket, subscribe
from tests.scanning.recovery_support import revoke
from tests.scanning.support import Device, World
from tests.scanning.sync_support import (
    bring,
    iso,
    offline,
    offline_batch,
    send,
    send_queue,
    signed,
    signed_batch,
    sync,
)
from tests.support import MovableClock
from voelgoed.scanning.model.sync import BatchSync
from voelgoed.scanning.rules.batches import Facts, failing_device, revoked_device, suspicions_of
from voelgoed.scanning.rules.device_clock import DeviceClock

NOW = datetime(2026, 11, 16, 20, tzinfo=UTC)
HOUR, MINUTE, SECOND = timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)
DEVICE = UUID(int=7)
UNKNOWN = "0000-0000-0000"


def suspected(*, size: int = 10, gap: timedelta | None = None, **more: Any) -> list[str]:
    """Of a batch that is as it should be, but for this."""
    batch = BatchSync(
        id=UUID(int=1),
        batch_id=UUID(int=2),
        source="offline_sync",
        device_id=DEVICE,
        event_id=UUID(int=3),
        status="completed",
        batch_size=size,
        processed_count=size,
        error_count=0,
        offset_seconds=0.0,
        processed_scan_ids=[],
        synced_at=NOW,
    )
    usual: dict[str, Any] = {
        "created_at": NOW,
        "newest": NOW,
        "errors": {},
        "wrong": 0,
        "from_future": 0,
        "forged": 0,
        "unknown": 0,
    }
    facts = Facts(
        batch=batch,
        device_name="iPad",
        clock=DeviceClock(offset=timedelta(), gap=gap),
        **(usual | more),
    )
    found = suspicions_of(facts)
    assert all(each.subject_id == DEVICE and each.at == NOW for each in found)
    assert all(each.details["device_name"] == "iPad" for each in found)
    return [each.kind for each in found]


def test_a_batch_that_is_as_it_should_be_is_no_matter() -> None:
    assert suspected() == []


@pytest.mark.parametrize(("wrong", "kinds"), [(5, []), (6, ["high_error_rate_batch"])])
def test_more_than_half_of_a_batch_is_wrong(wrong: int, kinds: Sequence[str]) -> None:
    assert suspected(wrong=wrong) == kinds


@pytest.mark.parametrize(
    ("late", "kinds"), [(8 * HOUR, []), (8 * HOUR + SECOND, ["delayed_batch_submission"])]
)
def test_a_batch_made_more_than_eight_hours_ago(late: timedelta, kinds: Sequence[str]) -> None:
    assert suspected(created_at=NOW - late) == kinds
    assert suspected(created_at=None, newest=NOW - late) == kinds
    assert suspected(newest=NOW - late) == [], "it says itself when it was made"


@pytest.mark.parametrize(("size", "kinds"), [(4_999, []), (5_000, ["batch_size_anomaly"])])
def test_a_batch_of_five_thousand(size: int, kinds: Sequence[str]) -> None:
    assert suspected(size=size) == kinds


def test_what_is_no_ticket_of_ours() -> None:
    assert suspected(forged=1, unknown=2) == ["forged_barcode", "ticket_not_found"]


def test_scans_of_the_future_and_clocks_that_lie() -> None:
    assert suspected(from_future=1) == ["future_timestamp"]
    assert suspected(gap=61 * SECOND) == ["clock_manipulation"]


@pytest.mark.parametrize(
    ("error", "kinds"),
    [
        ("invalid_signature", ["invalid_signature"]),
        ("replayed_signature", ["replayed_signature"]),
        ("scan_id_reused", ["scan_id_reused"]),
        ("timestamp_out_of_range", ["impossible_timestamp"]),
        ("gate_not_found", []),
    ],
)
def test_scans_that_were_refused(error: str, kinds: Sequence[str]) -> None:
    assert suspected(errors={error: 3}) == kinds


def test_a_device_at_no_gate_fails_unheard() -> None:
    assert failing_device(9, DEVICE, [], "batch_malformed", NOW) is None
    assert revoked_device(DEVICE, [], {"status": "revoked"}, NOW) == []


async def test_a_batch_of_codes_that_nobody_has(world: World) -> None:
    device, [ticket] = await world.device(), await world.tickets(1)
    await sync(
        world, device, await signed(world, device, ticket), await signed(world, device, None)
    )
    assert await kinds(world) == ["ticket_not_found"]
    await sync(world, device, *[await signed(world, device, None) for _ in range(2)])
    assert set(await kinds(world)) == {"ticket_not_found", "high_error_rate_batch"}


async def test_tickets_turned_away_are_no_error_of_the_device(world: World) -> None:
    device, tickets = await world.device(), await world.tickets(3)
    turned_away = [await signed(world, device, each, outcome="expired") for each in tickets]
    await sync(world, device, *turned_away)
    assert await kinds(world) == []


async def test_codes_that_are_nobodys_are_errors_though_they_were_turned_away(world: World) -> None:
    device = await world.device()
    turned_away = [await signed(world, device, None, outcome="invalid") for _ in range(4)]
    await sync(world, device, *turned_away)
    assert set(await kinds(world)) == {"ticket_not_found", "high_error_rate_batch"}


async def test_a_batch_that_comes_late(world: World) -> None:
    device, (first, second) = await world.device(), await world.tickets(2)
    await bring(
        world, device, offline(world, first.code), batch_created_at=iso(world.now - 9 * HOUR)
    )
    [alert] = await alerts(world)
    assert (alert["kind"], alert["severity"]) == ("delayed_batch_submission", "low")
    other = await world.device(name="another")
    await sync(world, other, await signed(world, other, second, 9 * HOUR))
    assert len(await alerts(world)) == 2


async def test_a_batch_as_large_as_no_night(world: World) -> None:
    device = await world.device()
    codes = [f"{number:04d}-0000-0000" for number in range(5_000)]
    await bring(world, device, *[offline(world, code, outcome="invalid") for code in codes])
    told = {"ticket_not_found", "batch_size_anomaly", "high_error_rate_batch"}
    assert set(await kinds(world)) == told


async def test_scans_that_are_yet_to_be_made(world: World) -> None:
    device, [ticket] = await world.device(), await world.tickets(1)
    await bring(world, device, offline(world, ticket.code, -5 * MINUTE))
    assert await kinds(world) == ["future_timestamp"]
    [row] = await world.rows("SELECT scanned_at_canonical <= created_at AS is_past FROM scan")
    assert row["is_past"]


async def test_scans_of_another_year(world: World) -> None:
    north, south = await world.device(), await world.device(name="another")
    [ticket] = await world.tickets(1)
    answer = await bring(world, north, offline(world, ticket.code, 48 * HOUR))
    assert [each["reason"] for each in answer["errors"]] == ["timestamp_out_of_range"]
    answer = await sync(world, south, await signed(world, south, ticket, 9_000 * HOUR))
    assert [each["error"] for each in answer["rejected"]] == ["timestamp_out_of_range"]
    found = [each["subject_id"] for each in await alerts(world) if "impossible" in each["kind"]]
    assert sorted(found) == sorted([str(north.id), str(south.id)])


async def test_a_device_that_lies_about_its_clock(world: World) -> None:
    device, [ticket] = await world.device(), await world.tickets(1)
    body = signed_batch(device, await signed(world, device, ticket), offset_seconds=-3600)
    answer = await send(world, device, body, **{"X-Device-Time": iso(world.now)})
    assert abs(answer.json()["offset_seconds"]) < 60, "what was measured"
    [alert] = await alerts(world)
    assert (alert["kind"], alert["severity"]) == ("clock_manipulation", "critical")
    assert abs(alert["details"]["gap_seconds"] + 3600) < 60


async def test_a_signature_of_somebody_else(world: World) -> None:
    device, other = await world.device(), await world.device(name="another")
    [ticket] = await world.tickets(1)
    scan = await signed(world, device, ticket, key=other.api_key)
    answer = await sync(world, device, scan)
    assert [each["error"] for each in answer["rejected"]] == ["invalid_signature"]
    assert "invalid_signature" in await kinds(world)
    assert await world.rows("SELECT 1 FROM scan") == []


async def test_a_scan_sent_again_that_says_something_else(world: World) -> None:
    device, (first, second) = await world.device(), await world.tickets(2)
    scan = await signed(world, device, first)
    await sync(world, device, scan)
    answer = await sync(world, device, scan | {"outcome": "duplicate"})
    assert [each["error"] for each in answer["rejected"]] == ["replayed_signature"]
    reused = await signed(world, device, second, scan_id=scan["scan_id"])
    answer = await sync(world, device, reused)
    assert [each["error"] for each in answer["rejected"]] == ["scan_id_reused"]
    assert {"replayed_signature", "scan_id_reused"} <= set(await kinds(world))
    assert (await world.inside())["event"] == 1


async def test_an_alert_about_a_batch_is_heard_at_once(world: World) -> None:
    device, topic = await world.device(), f"alerts:{world.event_id}"
    async with socket(world, world.tenant.as_("gate_supervisor")) as connection:
        await subscribe(connection, topic)
        await sync(world, device, await signed(world, device, None))
        heard = (await hear(connection, topic))["data"]
    assert heard["event"] == "alert_raised"
    assert heard["alert"]["kind"] == "high_error_rate_batch"
    assert heard["alert"]["details"]["batch_size"] == 1


async def fail(world: World, device: Device) -> None:
    body = offline_batch(world, device, offline(world, UNKNOWN), batch_size=7)
    answer = await send_queue(world, device, body)
    assert (answer.status_code, answer.json()["error"]) == (400, "batch_malformed")


async def test_a_device_that_fails_five_times_in_a_row(world: World) -> None:
    device, [ticket] = await world.device(), await world.tickets(1)
    for _ in range(4):
        await fail(world, device)
    await bring(world, device, offline(world, ticket.code))
    for _ in range(4):
        await fail(world, device)
    assert await kinds(world) == [], "a success between them"
    await fail(world, device)
    [alert] = await alerts(world)
    assert (alert["kind"], alert["severity"]) == ("repeated_sync_failures", "high")
    assert alert["details"]["failures"] == 5
    assert alert["details"]["error"] == "batch_malformed"
    assert len(await world.rows("SELECT 1 FROM audit_entry WHERE action = 'sync_refused'")) == 9


async def test_what_cannot_be_read_at_all_counts_too(world: World) -> None:
    device = await world.device()
    headers = device.headers | {"Content-Type": "application/json"}
    contents = [b"nothing", b"{", b"[]", b'{"batch_id": 1}', b"\xff\xfe"]
    for content in contents:
        answer = await world.client.post("/api/scans/sync", content=content, headers=headers)
        assert answer.status_code == 400, answer.text
    [alert] = await alerts(world)
    assert (alert["kind"], alert["details"]["failures"]) == ("repeated_sync_failures", 5)


async def test_a_revoked_device_that_still_sends_is_noted_and_told(world: World) -> None:
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = await signed(world, device, ticket)
    await revoke(world, device)
    for sent in (
        await send(world, device, signed_batch(device, scan)),
        await send_queue(world, device, offline_batch(world, device, offline(world, ticket.code))),
    ):
        assert (sent.status_code, sent.json()["error"]) == (401, "device_inactive")
    [alert] = await alerts(world)
    assert (alert["kind"], alert["severity"]) == ("revoked_device_sync", "critical")
    assert alert["subject_id"] == str(device.id)
    assert alert["details"]["status"] == "revoked"
    entries = await world.rows("SELECT * FROM audit_entry WHERE action = 'sync_refused'")
    assert [entry["actor_id"] for entry in entries] == [device.id] * 2
    assert entries[0]["changes"] == {"error": "device_inactive", "status": "revoked"}
    assert await world.rows("SELECT 1 FROM scan") == []


async def test_a_deactivated_device_too(world: World) -> None:
    device, [ticket] = await world.device(), await world.tickets(1)
    change = {"version": 1, "status": "inactive"}
    answer = await world.ask("PATCH", f"/api/scanning/devices/{device.id}", change)
    assert answer.status_code == 200, answer.text
    body = signed_batch(device, await signed(world, device, ticket))
    assert (await send(world, device, body)).status_code == 401
    [alert] = await alerts(world)
    assert (alert["kind"], alert["details"]["status"]) == ("revoked_device_sync", "inactive")


async def test_whoever_has_a_worthless_key_cannot_fill_the_audit_log(
    world: World, clock: MovableClock
) -> None:
    device = await world.device()
    await revoke(world, device)
    body = offline_batch(world, device, offline(world, UNKNOWN))
    for _ in range(25):
        assert (await send_queue(world, device, body)).status_code == 401
    noted = "SELECT 1 FROM audit_entry WHERE action = 'sync_refused'"
    assert len(await world.rows(noted)) == 20
    clock.ahead += 2 * MINUTE
    await send_queue(world, device, body)
    assert len(await world.rows(noted)) == 21


async def test_a_batch_of_another_device_is_a_failure_of_the_one_that_brings_it(
    world: World,
) -> None:
    device, other = await world.device(), await world.device(name="another")
    body = offline_batch(world, device, offline(world, UNKNOWN), device_id=str(other.id))
    answer = await send_queue(world, device, body)
    assert (answer.status_code, answer.json()["error"]) == (403, "device_mismatch")
    rows = await world.rows("SELECT id FROM scan_device WHERE sync_failures = 1")
    assert [row["id"] for row in rows] == [device.id]
