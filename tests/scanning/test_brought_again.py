"""What is brought a second time, in another batch, another form, or at the same moment: it is one scan,
and is answered as it stands."""

from datetime import timedelta
from uuid import uuid4

import httpx
import msgspec
import pytest

from tests.scanning.support import TABLET, Device, World, a_world
from tests.scanning.sync_support import (
    bring,
    iso,
    offline,
    offline_batch,
    signed,
    signed_batch,
    sync,
)
from tests.support import MovableClock, Tenant
from voelgoed.scanning.actions.deliveries import Delivery, OfflineDelivery, SignedDelivery
from voelgoed.scanning.actions.own_device import own_device, prove
from voelgoed.scanning.actions.sync_batch import SyncBatch, Work
from voelgoed.scanning.model.sync import BatchAnswer, OfflineBatch, SignedBatch, SyncAnswer
from voelgoed.scanning.rules.synced import clock_of
from voelgoed.services import Services

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


@pytest.fixture
async def world(services: Services, client: httpx.AsyncClient, tenant: Tenant) -> World:
    return await a_world(services, client, tenant, gates=2)


async def together(
    world: World, device: Device, *deliveries: "Delivery[SyncAnswer] | Delivery[BatchAnswer]"
) -> list[Work]:
    """By one transaction, as when they arrive at the same moment."""
    proven = prove(world.services.master_key, device.api_key, TABLET)
    async with world.services.database.transaction(world.tenant.id) as tx:
        kept = await own_device(tx, proven)
    works = [Work(proven, kept, each, clock_of(each.claimed, None), None) for each in deliveries]
    batch = SyncBatch(world.services.database, world.services.scans.around, works)
    await batch.take_in(world.tenant.id)
    return works


async def test_at_once_with_another_reading_of_the_clock_it_is_skipped(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = await signed(world, device, ticket)

    def delivery(offset: float) -> SignedDelivery:
        body = signed_batch(device, scan, offset_seconds=offset)
        return SignedDelivery(msgspec.convert(body, SignedBatch), device.api_key, None)

    works = await together(world, device, delivery(0), delivery(0.4))
    answers = [work.answer for work in works]
    assert all(isinstance(each, SyncAnswer) and not each.rejected for each in answers)
    assert len(await world.rows("SELECT id FROM scan")) == 1


async def test_at_once_in_both_forms_it_is_one(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = await signed(world, device, ticket)
    alike = offline(world, ticket.code, offline_id=scan["scan_id"], gate_id=scan["gate_id"])
    queue = offline_batch(world, device, alike | {"scanned_at": scan["scanned_at"]})
    works = await together(
        world,
        device,
        SignedDelivery(
            msgspec.convert(signed_batch(device, scan), SignedBatch), device.api_key, None
        ),
        OfflineDelivery(msgspec.convert(queue, OfflineBatch)),
    )
    assert [work.errors for work in works] == [0, 0]
    assert len(await world.rows("SELECT id FROM scan")) == 1


async def test_at_once_and_saying_something_else_it_is_a_replay(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = await signed(world, device, ticket)
    answer = await sync(world, device, scan, scan | {"outcome": "duplicate"})
    assert [each["error"] for each in answer["rejected"]] == ["replayed_signature"]


async def test_what_was_denied_is_denied_again(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    scans = offline(world, ticket.code, 10 * MINUTE), offline(world, ticket.code, 9 * MINUTE)
    first = await bring(world, device, *scans)
    again = await bring(world, device, *scans)
    assert first["errors"] == again["errors"]
    assert (again["processed_count"], again["summary"]["new_scans"]) == (1, 0)


async def test_what_is_kept_is_known_however_old_it_is_by_now(world: World, clock: MovableClock):
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = offline(world, ticket.code, 23 * HOUR)
    await bring(world, device, scan)
    clock.ahead += 2 * HOUR
    assert (await bring(world, device, scan))["errors"] == []


async def test_a_reading_of_the_clock_of_an_hour_ago_proves_nothing(
    world: World, clock: MovableClock
):
    device, [ticket] = await world.device(), await world.tickets(1)
    wrong = {"device_time": iso(world.now - 10 * MINUTE)}
    await world.client.post("/api/scanning/heartbeat", json=wrong, headers=device.headers)
    clock.ahead += HOUR
    answer = await sync(world, device, await signed(world, device, ticket, 30 * MINUTE))
    assert answer["offset_seconds"] == 0
    assert await world.rows("SELECT kind FROM scan_alert") == []


async def test_a_reading_of_a_minute_ago_does(world: World, clock: MovableClock):
    device, [ticket] = await world.device(), await world.tickets(1)
    wrong = {"device_time": iso(world.now - 10 * MINUTE)}
    await world.client.post("/api/scanning/heartbeat", json=wrong, headers=device.headers)
    clock.ahead += MINUTE
    answer = await sync(world, device, await signed(world, device, ticket, 30 * MINUTE))
    assert answer["offset_seconds"] == pytest.approx(600, abs=5)
    kinds = [row["kind"] for row in await world.rows("SELECT kind FROM scan_alert")]
    assert kinds == ["clock_manipulation"]


async def test_a_code_that_was_altered_on_the_way_moves_no_scan_to_another_ticket(world: World):
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
