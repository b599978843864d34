"""Scans that are delivered twice, in another batch, in another form or at the same moment, are one scan;
and the clocks of deliveries."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx
import msgspec
import pytest

from tests.scanning.recovery_support import revoke
from tests.scanning.support import TABLET, Device, World, a_world
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
from tests.support import MovableClock, Tenant
from voelgoed.infra.ids import new_id
from voelgoed.scanning.actions import sync_pipeline
from voelgoed.scanning.actions.own_device import own_device, prove
from voelgoed.scanning.model.sync import BatchAnswer, OfflineBatch, SignedBatch, SyncAnswer
from voelgoed.scanning.rules.deliveries import Delivery, OfflineDelivery, SignedDelivery
from voelgoed.scanning.rules.device_clock import clock_of
from voelgoed.scanning.rules.sync_batch import DeliveryPlan, SyncRequest
from voelgoed.services import Services

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


@pytest.fixture
async def world(services: Services, client: httpx.AsyncClient, tenant: Tenant) -> World:
    return await a_world(services, client, tenant, gates=2)


async def deliver_together(
    world: World, device: Device, *deliveries: "Delivery[SyncAnswer] | Delivery[BatchAnswer]"
) -> list[DeliveryPlan]:
    """Delivers in one transaction, as if the batches arrived at the same moment."""
    proven = prove(world.services.master_key, device.api_key, TABLET)
    async with world.services.database.transaction(world.tenant.id) as tx:
        kept = await own_device(tx, proven)
    requests = [
        SyncRequest(
            id=new_id(),
            caller=proven.caller,
            key_version=proven.key_version,
            device=kept,
            delivery=each,
            clock=(clock := clock_of(each.claimed, None, world.now)),
            measured=None,
            scans=each.read(kept, clock, world.now),
        )
        for each in deliveries
    ]
    planned = await world.services.syncs._take_in(world.tenant.id, requests)
    return [planned[request.id] for request in requests]


async def test_a_scan_twice_in_a_transaction_with_another_clock_offset_is_skipped(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = await signed(world, device, ticket)

    def delivery(offset: float) -> SignedDelivery:
        body = signed_batch(device, scan, offset_seconds=offset)
        return SignedDelivery(msgspec.convert(body, SignedBatch), device.api_key, None)

    works = await deliver_together(world, device, delivery(0), delivery(0.4))
    answers = [work.answer for work in works]
    assert all(isinstance(each, SyncAnswer) and not each.rejected for each in answers)
    assert len(await world.rows("SELECT id FROM scan")) == 1


async def test_a_scan_in_both_forms_in_one_transaction_is_one_scan(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = await signed(world, device, ticket)
    alike = offline(world, ticket.code, offline_id=scan["scan_id"], gate_id=scan["gate_id"])
    queue = offline_batch(world, device, alike | {"scanned_at": scan["scanned_at"]})
    works = await deliver_together(
        world,
        device,
        SignedDelivery(
            msgspec.convert(signed_batch(device, scan), SignedBatch), device.api_key, None
        ),
        OfflineDelivery(msgspec.convert(queue, OfflineBatch)),
    )
    assert [work.errors for work in works] == [0, 0]
    assert len(await world.rows("SELECT id FROM scan")) == 1


async def test_a_scan_twice_in_a_transaction_with_another_outcome_is_a_replay(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = await signed(world, device, ticket)
    answer = await sync(world, device, scan, scan | {"outcome": "duplicate"})
    assert [each["error"] for each in answer["rejected"]] == ["replayed_signature"]


async def test_a_denied_scan_is_denied_again(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    scans = offline(world, ticket.code, 10 * MINUTE), offline(world, ticket.code, 9 * MINUTE)
    first = await deliver(world, device, *scans)
    again = await deliver(world, device, *scans)
    assert first["errors"] == again["errors"]
    assert (again["processed_count"], again["summary"]["new_scans"]) == (1, 0)


async def test_a_stored_scan_is_known_however_old_it_is(world: World, clock: MovableClock):
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = offline(world, ticket.code, 23 * HOUR)
    await deliver(world, device, scan)
    clock.ahead += 2 * HOUR
    assert (await deliver(world, device, scan))["errors"] == []


@pytest.mark.parametrize("ago", [MINUTE, HOUR, 48 * HOUR])
async def test_a_claimed_offset_is_compared_with_the_last_measurement_however_old(
    world: World, clock: MovableClock, ago: timedelta
):
    device, [ticket] = await world.device(), await world.tickets(1)
    wrong = {"device_time": iso(world.now - 10 * MINUTE)}
    await world.client.post("/api/scanning/heartbeat", json=wrong, headers=device.headers)
    clock.ahead += ago
    answer = await sync(world, device, await signed(world, device, ticket, 30 * MINUTE))
    assert answer["offset_seconds"] == pytest.approx(600, abs=60)
    kinds = [row["kind"] for row in await world.rows("SELECT kind FROM scan_alert")]
    assert kinds == ["clock_manipulation"]


async def test_the_tolerance_grows_with_the_age_of_the_measurement(
    world: World, clock: MovableClock
):
    device, tickets = await world.device(), await world.tickets(2)
    right = {"device_time": iso(world.now)}
    await world.client.post("/api/scanning/heartbeat", json=right, headers=device.headers)
    scan = await signed(world, device, tickets[0])
    assert (await sync(world, device, scan, offset_seconds=100))["offset_seconds"] < 60
    clock.ahead += 48 * HOUR
    scan = await signed(world, device, tickets[1])
    assert (await sync(world, device, scan, offset_seconds=100))["offset_seconds"] == 100


async def test_a_claim_is_believed_with_an_alert_where_the_clock_was_never_measured(world: World):
    device, tickets = await world.device(), await world.tickets(2)
    answer = await sync(
        world, device, await signed(world, device, tickets[0]), offset_seconds=-7200
    )
    assert answer["offset_seconds"] == -7200
    kinds = [row["kind"] for row in await world.rows("SELECT kind FROM scan_alert")]
    assert kinds == ["clock_skew"]
    far = await signed(world, device, tickets[1])
    answer = await sync(world, device, far, offset_seconds=-100_000)
    assert answer["offset_seconds"] == 0
    kinds = [row["kind"] for row in await world.rows("SELECT kind FROM scan_alert")]
    assert sorted(kinds) == ["clock_manipulation", "clock_skew"]


async def test_a_measurement_of_a_manifest_request_is_compared_with_later_claims(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    path = f"/api/scanning/events/{world.event_id}/manifest"
    right = {"X-Device-Time": iso(world.now)}
    assert (await world.client.get(path, headers=device.headers | right)).status_code == 200
    scan = await signed(world, device, ticket, timedelta())
    answer = await sync(world, device, scan, offset_seconds=-7200)
    assert answer["offset_seconds"] == pytest.approx(0, abs=60)
    kinds = [row["kind"] for row in await world.rows("SELECT kind FROM scan_alert")]
    assert kinds == ["clock_manipulation"]


async def test_a_measurement_of_an_earlier_delivery_stays_valid(world: World, clock: MovableClock):
    device, tickets = await world.device(), await world.tickets(3)
    right = {"X-Device-Time": iso(world.now)}
    first = signed_batch(device, await signed(world, device, tickets[0]))
    assert (await send(world, device, first, **right)).status_code == 200
    for ticket in tickets[1:]:
        clock.ahead += HOUR  # a remembered measurement does not count as a new one
        scan = await signed(world, device, ticket)
        answer = await sync(world, device, scan, offset_seconds=-7200)
        assert answer["offset_seconds"] == pytest.approx(0, abs=60)


async def test_a_false_device_time_with_a_queue_moves_no_scan_to_another_day(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    for false in ("2100-01-01T00:00:00Z", "1990-01-01T00:00:00Z", iso(world.now + 25 * HOUR)):
        body = offline_batch(world, device, offline(world, ticket.code, timedelta()))
        answer = await send_queue(world, device, body, **{"X-Device-Time": false})
        assert [each["reason"] for each in answer.json()["errors"]] in (
            ["timestamp_out_of_range"],
            [],
        )
    for row in await world.rows("SELECT scanned_at_canonical AS at FROM scan"):
        assert abs(world.now - row["at"]) < 24 * HOUR


async def test_a_queue_of_just_now_is_corrected_by_the_device_time_of_its_request_and_a_jump_is_alerted(
    world: World,
):
    device, [ticket] = await world.device(), await world.tickets(1)
    right = {"device_time": iso(world.now)}
    await world.client.post("/api/scanning/heartbeat", json=right, headers=device.headers)
    by_the_old_clock = offline(world, ticket.code, scanned_at=iso(world.now + 2 * HOUR))
    body = offline_batch(world, device, by_the_old_clock)
    answer = await send_queue(world, device, body, **{"X-Device-Time": iso(world.now + 2 * HOUR)})
    assert answer.json()["errors"] == []
    [row] = await world.rows("SELECT scanned_at_canonical AS at FROM scan")
    assert abs(row["at"] - world.now) < MINUTE
    kinds = [row["kind"] for row in await world.rows("SELECT kind FROM scan_alert")]
    assert kinds == ["clock_skew"]


async def test_a_queue_is_answered_as_before_however_old_it_is(world: World, clock: MovableClock):
    device, [ticket] = await world.device(), await world.tickets(1)
    body = offline_batch(world, device, offline(world, ticket.code))
    first = (await send_queue(world, device, body)).json()
    clock.ahead += 25 * HOUR
    again = await send_queue(world, device, body)
    assert again.status_code == 200, again.text
    assert again.json() == first | {"message": "Batch already synced (idempotent)"}


async def test_a_device_that_is_revoked_during_its_delivery_delivers_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    device, [ticket] = await world.device(), await world.tickets(1)
    commit, times = sync_pipeline.commit_history, []

    async def revoked_meanwhile(*given: Any, **more: Any) -> Any:
        if not times:
            await revoke(world, device)
        times.append(1)
        return await commit(*given, **more)

    monkeypatch.setattr(sync_pipeline, "commit_history", revoked_meanwhile)
    body = signed_batch(device, await signed(world, device, ticket))
    answer = await send(world, device, body)
    assert (answer.status_code, answer.json()["error"]) == (401, "device_inactive")
    assert times == [1]
    assert await world.rows("SELECT id FROM scan") == []
    assert await world.inside() == {}


async def test_a_barcode_that_was_altered_on_the_way_moves_no_scan_to_another_ticket(world: World):
    device, (ticket, other) = await world.device(), await world.tickets(2)
    scan = await signed(world, device, ticket, ticket_code=other.code)
    await sync(world, device, scan)
    [row] = await world.rows("SELECT ticket_id, status FROM scan")
    assert (row["ticket_id"], row["status"]) == (ticket.id, "admitted")


async def test_a_typed_code_that_was_altered_on_the_way_is_refused(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = await signed(world, device, None, ticket_code=ticket.code, scan_id=str(uuid4()))
    [rejected] = (await sync(world, device, scan))["rejected"]
    assert rejected["error"] == "invalid_signature"
