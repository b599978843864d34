"""Alerts about the content of a batch, or about the way in which it is delivered."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.scanning.alert_support import alerts, kinds
from tests.scanning.node_support import hear, socket, subscribe
from tests.scanning.offline_builders import (
    DEVICE,
    EVENT,
    NOW,
    a_gate_at,
    a_result,
    suspicions,
)
from tests.scanning.recovery_support import revoke
from tests.scanning.support import Device, World
from tests.scanning.sync_support import (
    deliver,
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
from voelgoed.events.model import GateNotFound
from voelgoed.infra.refusal import Refusal
from voelgoed.scanning.model.refusals import (
    InvalidSignature,
    ReplayedSignature,
    ScanIdReused,
    TimestampOutOfRange,
)
from voelgoed.scanning.model.scan_history import Resolution
from voelgoed.scanning.rules.batches import failing_device, revoked_device
from voelgoed.scanning.rules.device_clock import DeviceClock
from voelgoed.scanning.rules.offline_scans import SyncResult

HOUR, MINUTE, SECOND = timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)
DUPLICATE = Resolution("denied", "already_scanned")
UNKNOWN = "0000-0000-0000"


def suspected(results: list[SyncResult], **more: Any) -> list[str]:
    found = suspicions(results, **more)
    assert all(each.at == NOW for each in found)
    return [each.kind for each in found]


def good(count: int = 10) -> list[SyncResult]:
    return [a_result(number, ticket_id=UUID(int=100 + number)) for number in range(count)]


def wrong(count: int) -> list[SyncResult]:
    return [
        a_result(500 + number, ticket_id=UUID(int=500 + number), resolution=DUPLICATE)
        for number in range(count)
    ]


def refused(refusal: Refusal, count: int) -> list[SyncResult]:
    return [a_result(n, refusal=refusal, row=None, ticket_id=None) for n in range(count)]


def test_a_normal_batch_raises_nothing() -> None:
    assert suspected(good()) == []


@pytest.mark.parametrize(("count", "kinds"), [(5, []), (6, ["high_error_rate_batch"])])
def test_more_than_half_of_a_batch_is_wrong(count: int, kinds: Sequence[str]) -> None:
    assert suspected([*good(10 - count), *wrong(count)]) == kinds


@pytest.mark.parametrize(
    ("late", "kinds"), [(8 * HOUR, []), (8 * HOUR + SECOND, ["delayed_batch_submission"])]
)
def test_a_batch_made_more_than_eight_hours_ago(late: timedelta, kinds: Sequence[str]) -> None:
    old = [a_result(1, ago=late)]
    assert suspected(good(), created_at=NOW - late) == kinds
    assert suspected(old, created_at=None) == kinds
    assert suspected(old) == [], "it says itself when it was made"


@pytest.mark.parametrize(("size", "kinds"), [(4_999, []), (5_000, ["batch_size_anomaly"])])
def test_a_batch_of_five_thousand(size: int, kinds: Sequence[str]) -> None:
    away = [a_result(1, scan=a_result(1).scan, ticket_id=UUID(int=1))] * size
    assert [each for each in suspected(away) if each != "impossible_rate"] == kinds


def test_scans_of_unknown_tickets_raise_the_alert() -> None:
    forged, unknown = a_result(1, ticket_id=None, is_forged=True), a_result(2, ticket_id=None)
    assert suspected([*good(), forged, unknown, unknown]) == ["forged_barcode", "ticket_not_found"]


def test_scans_from_the_future_and_false_clocks_raise_alerts() -> None:
    ahead = a_result(1, unverified="from_future")
    assert suspected([*good(), ahead]) == ["unverified_scans", "future_timestamp"]
    lying = DeviceClock(offset=timedelta(), gap=61 * SECOND)
    assert suspected(good(), clock=lying) == ["clock_manipulation"]


def test_the_other_event_gets_the_alert_about_scans_for_its_gate() -> None:
    elsewhere = a_gate_at(UUID(int=77), UUID(int=78), name="Their gate")
    found = suspicions(
        [*good(), *[a_result(n, unverified="foreign_gate", gate=elsewhere) for n in range(3)]]
    )
    assert [(each.kind, each.event_id, each.occurrences) for each in found] == [
        ("unverified_scans", EVENT, 3),
        ("foreign_gate", UUID(int=77), 3),
    ]
    assert found[0].details["causes"] == {"foreign_gate": 3}
    assert found[1].details["gates"] == ["Their gate"]


def test_more_entries_than_a_device_can_scan_raise_an_alert() -> None:
    hundred = [a_result(n, ago=MINUTE + n * timedelta(milliseconds=0.5)) for n in range(100)]
    [found] = suspicions(hundred)
    assert (found.kind, found.details["entries"]) == ("impossible_rate", 100)


def test_entries_of_other_deliveries_count_for_the_rate() -> None:
    """A device that delivers its scans one by one is no faster for that."""
    one, beside = [a_result(1, ago=MINUTE)], [NOW - MINUTE] * 3
    assert suspected(one, nearby_entries=beside[:2]) == []
    assert suspected(one, nearby_entries=beside) == ["impossible_rate"]


@pytest.mark.parametrize(
    ("refusal", "kinds"),
    [
        (InvalidSignature(), ["invalid_signature"]),
        (ReplayedSignature(), ["replayed_signature"]),
        (ScanIdReused(), ["scan_id_reused"]),
        (TimestampOutOfRange(), ["impossible_timestamp"]),
        (GateNotFound(), []),
    ],
)
def test_refused_scans_raise_alerts(refusal: Refusal, kinds: Sequence[str]) -> None:
    assert suspected([*good(), *refused(refusal, 3)]) == kinds


def test_a_failing_device_without_a_gate_raises_nothing() -> None:
    assert failing_device(9, DEVICE, [], "batch_malformed", NOW) is None
    assert revoked_device(DEVICE, [], {"status": "revoked"}, NOW) == []


async def test_a_batch_of_unknown_codes_raises_an_alert(world: World) -> None:
    device, [ticket] = await world.device(), await world.tickets(1)
    await sync(
        world, device, await signed(world, device, ticket), await signed(world, device, None)
    )
    assert await kinds(world) == ["ticket_not_found"]
    later = [await signed(world, device, None, number * HOUR) for number in range(2)]
    await sync(world, device, *later)
    assert set(await kinds(world)) == {"ticket_not_found", "high_error_rate_batch"}


async def test_denied_tickets_are_no_error_of_the_device(world: World) -> None:
    device, tickets = await world.device(), await world.tickets(3)
    turned_away = [await signed(world, device, each, outcome="expired") for each in tickets]
    await sync(world, device, *turned_away)
    assert await kinds(world) == []


async def test_unknown_codes_are_errors_though_they_were_denied(world: World) -> None:
    device = await world.device()
    turned_away = [await signed(world, device, None, outcome="invalid") for _ in range(4)]
    await sync(world, device, *turned_away)
    assert set(await kinds(world)) == {"ticket_not_found", "high_error_rate_batch"}


async def test_a_late_batch_raises_an_alert(world: World) -> None:
    device, (first, second) = await world.device(), await world.tickets(2)
    await deliver(
        world, device, offline(world, first.code), batch_created_at=iso(world.now - 9 * HOUR)
    )
    [alert] = await alerts(world)
    assert (alert["kind"], alert["severity"]) == ("delayed_batch_submission", "low")
    other = await world.device(name="another")
    await sync(world, other, await signed(world, other, second, 9 * HOUR))
    assert len(await alerts(world)) == 2


async def test_a_very_large_batch_raises_an_alert(world: World) -> None:
    device = await world.device()
    codes = [f"{number:04d}-0000-0000" for number in range(5_000)]
    await deliver(world, device, *[offline(world, code, outcome="invalid") for code in codes])
    expected = {"ticket_not_found", "batch_size_anomaly", "high_error_rate_batch"}
    assert set(await kinds(world)) == expected


async def test_scans_from_the_future_raise_an_alert(world: World) -> None:
    device, [ticket] = await world.device(), await world.tickets(1)
    await deliver(world, device, offline(world, ticket.code, -5 * MINUTE))
    assert await kinds(world) == ["future_timestamp", "unverified_scans"]
    assert await world.inside() == {}


async def test_scans_of_another_year_raise_an_alert(world: World) -> None:
    north, south = await world.device(), await world.device(name="another")
    [ticket] = await world.tickets(1)
    answer = await deliver(world, north, offline(world, ticket.code, 48 * HOUR))
    assert [each["reason"] for each in answer["errors"]] == ["timestamp_out_of_range"]
    scan = await signed(world, south, ticket, 9_000 * HOUR)
    assert (await sync(world, south, scan))["processed"] == [scan["scan_id"]]
    [row] = await world.rows("SELECT reason_denied, details FROM scan")
    assert row["reason_denied"] == "unverified"
    assert row["details"]["unverified"] == "before_assignment"
    found = {each["kind"]: each["subject_id"] for each in await alerts(world)}
    assert found["impossible_timestamp"] == str(north.id)
    assert found["unverified_scans"] == str(south.id)


async def test_a_false_clock_raises_an_alert(world: World) -> None:
    device, [ticket] = await world.device(), await world.tickets(1)
    body = signed_batch(device, await signed(world, device, ticket), offset_seconds=-3600)
    answer = await send(world, device, body, **{"X-Device-Time": iso(world.now)})
    assert abs(answer.json()["offset_seconds"]) < 60, "what was measured"
    [alert] = await alerts(world)
    assert (alert["kind"], alert["severity"]) == ("clock_manipulation", "critical")
    assert abs(alert["details"]["gap_seconds"] + 3600) < 60


async def test_a_foreign_signature_raises_an_alert(world: World) -> None:
    device, other = await world.device(), await world.device(name="another")
    [ticket] = await world.tickets(1)
    scan = await signed(world, device, ticket, key=other.api_key)
    answer = await sync(world, device, scan)
    assert [each["error"] for each in answer["rejected"]] == ["invalid_signature"]
    assert "invalid_signature" in await kinds(world)
    assert await world.rows("SELECT 1 FROM scan") == []


async def test_a_replay_with_another_outcome_raises_an_alert(world: World) -> None:
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


async def test_an_alert_about_a_batch_is_published_at_once(world: World) -> None:
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


async def test_five_failed_deliveries_in_a_row_raise_an_alert(world: World) -> None:
    device, [ticket] = await world.device(), await world.tickets(1)
    for _ in range(4):
        await fail(world, device)
    await deliver(world, device, offline(world, ticket.code))
    for _ in range(4):
        await fail(world, device)
    assert await kinds(world) == [], "a success between them"
    await fail(world, device)
    [alert] = await alerts(world)
    assert (alert["kind"], alert["severity"]) == ("repeated_sync_failures", "high")
    assert alert["details"]["failures"] == 5
    assert alert["details"]["error"] == "batch_malformed"
    assert len(await world.rows("SELECT 1 FROM audit_entry WHERE action = 'sync_refused'")) == 9


async def test_an_unreadable_delivery_counts_as_a_failure_too(world: World) -> None:
    device = await world.device()
    headers = device.headers | {"Content-Type": "application/json"}
    contents = [b"nothing", b"{", b"[]", b'{"batch_id": 1}', b"\xff\xfe"]
    for content in contents:
        answer = await world.client.post("/api/scans/sync", content=content, headers=headers)
        assert answer.status_code == 400, answer.text
    [alert] = await alerts(world)
    assert (alert["kind"], alert["details"]["failures"]) == ("repeated_sync_failures", 5)


async def test_a_delivery_by_a_revoked_device_is_recorded_and_raises_an_alert(world: World) -> None:
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


async def test_a_delivery_by_a_deactivated_device_raises_an_alert_too(world: World) -> None:
    device, [ticket] = await world.device(), await world.tickets(1)
    change = {"version": 1, "status": "inactive"}
    answer = await world.ask("PATCH", f"/api/scanning/devices/{device.id}", change)
    assert answer.status_code == 200, answer.text
    body = signed_batch(device, await signed(world, device, ticket))
    assert (await send(world, device, body)).status_code == 401
    [alert] = await alerts(world)
    assert (alert["kind"], alert["details"]["status"]) == ("revoked_device_sync", "inactive")


async def test_a_delivery_with_the_key_before_a_rotation_raises_an_alert_too(world: World) -> None:
    device, [ticket] = await world.device(), await world.tickets(1)
    body = signed_batch(device, await signed(world, device, ticket))
    renewed = await world.client.post(
        "/api/scanning/key-rotations", json={"rotation_id": str(uuid4())}, headers=device.headers
    )
    assert renewed.status_code == 201, renewed.text
    assert (await send(world, device, body)).status_code == 401
    [alert] = await alerts(world)
    assert (alert["kind"], alert["details"]["status"]) == ("revoked_device_sync", "key_rotated")


async def test_a_worthless_key_cannot_fill_the_audit_log(world: World, clock: MovableClock) -> None:
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


async def test_a_batch_of_another_device_is_a_failure_of_the_one_that_delivers_it(
    world: World,
) -> None:
    device, other = await world.device(), await world.device(name="another")
    body = offline_batch(world, device, offline(world, UNKNOWN), device_id=str(other.id))
    answer = await send_queue(world, device, body)
    assert (answer.status_code, answer.json()["error"]) == (403, "device_mismatch")
    rows = await world.rows("SELECT id FROM scan_device WHERE sync_failures = 1")
    assert [row["id"] for row in rows] == [device.id]
