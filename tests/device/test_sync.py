"""Scans that a device made alone arrive, once, whatever happens on the way."""

import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from uuid import UUID, uuid4

import httpx
import msgspec
import pytest

from tests.device.network import Fault
from tests.device.support import Gatehouse, LiveClocks, Sleeper
from voelgoed.device.client import Device
from voelgoed.device.clock import CHANGE_S_MIN
from voelgoed.device.ledger import signed
from voelgoed.device.model import (
    DeviceFault,
    KeyRefused,
    LoggedScan,
    Outgoing,
    ServerAway,
    SyncReport,
)
from voelgoed.device.scanning import scan
from voelgoed.device.sync import ATTEMPTS_MAX, FRUITLESS_MAX, sync
from voelgoed.device.whole_queue import export_queue, sync_whole_queue

FLIPS = 40
Deliver = Callable[[Device], Awaitable[SyncReport]]


async def scanned(gates: Gatehouse, count: int, **changes: object) -> None:
    """A new device with so many scans that it made without a network."""
    tickets = await gates.world.tickets(count)
    device = await gates.device(**changes)
    for ticket in tickets:
        answer = await scan(device, await gates.world.barcode(ticket), offline=True)
        assert answer.outcome == "valid"


async def test_a_queue_arrives_in_batches_of_fifty_in_its_order(gates: Gatehouse):
    await scanned(gates, 120)
    [device] = gates.devices
    report = await sync(device)
    assert (report.synced, report.failed, report.left, report.requests) == (120, 0, 0, 3)
    await gates.require_nothing_lost()
    again = await sync(device)
    assert (again.synced, again.requests) == (0, 0)


@pytest.mark.parametrize("fault", ["down", "answer_lost", "answer_cut", "request_cut"])
async def test_a_batch_that_was_lost_on_the_way_is_sent_again_unchanged(
    gates: Gatehouse, fault: Fault
):
    await scanned(gates, 7)
    [device] = gates.devices
    gates.network.will(fault, fault)
    report = await sync(device)
    assert gates.network.happened == [fault, fault]
    assert (report.synced, report.left) == (7, 0)
    await gates.require_nothing_lost()
    [batches] = await gates.world.rows("SELECT count(*) AS n FROM batch_sync")
    assert batches["n"] == 1


@pytest.mark.parametrize("deliver", [sync, sync_whole_queue])
async def test_a_flipped_bit_anywhere_in_a_batch_loses_and_changes_no_scan(
    gates: Gatehouse, deliver: Deliver
):
    luck = random.Random(7)
    flips = [(luck.randrange(10_000), luck.randrange(8)) for _ in range(FLIPS)]
    await delivered_through(gates, flips, deliver)


async def test_a_flipped_bit_of_the_offset_moves_no_scan(gates: Gatehouse):
    """The offset is not signed."""
    an_id = str(uuid4())
    before = f'{{"device_id":"{an_id}","sync_batch_id":"{an_id}","offset_seconds":'
    flips = [(len(before) + at, bit) for at in range(4) for bit in range(4)]
    await delivered_through(gates, flips, sync)


async def delivered_through(
    gates: Gatehouse, flips: list[tuple[int, int]], deliver: Deliver
) -> None:
    """Delivers, for each flipped bit, two new scans in a batch with that bit wrong."""
    barcodes = [await gates.world.barcode(each) for each in await gates.world.tickets(7)]
    device = await gates.device(clock=LiveClocks(timedelta(seconds=15)).device_clock())
    made: dict[UUID, LoggedScan] = {}
    for number, (at, bit) in enumerate(flips):
        for text in (barcodes[number % 7], f"rubbish {number}"):
            await scan(device, text, offline=True)
        made |= {each.scan_id: each for each in device.store.scans("pending")}
        gates.network.flip_at, gates.network.flip_bit = at, bit
        gates.network.will("bit_flipped")
        for _ in range(
            2
        ):  # once more for scans that were left for later, as the device would do later
            with suppress(DeviceFault):
                await deliver(device)
        await _forget_limit(gates)
        assert device.store.scans("pending") == []
    assert gates.network.happened == ["bit_flipped"] * len(flips)
    await gates.require_nothing_lost()
    kept = await gates.kept()
    assert kept.keys() == made.keys()
    for scan_id, was in made.items():
        row = kept[scan_id]
        same = (row["ticket_id"], row["outcome"], row["gate_id"], row["scanned_at"])
        assert same == (was.ticket_id, was.outcome, UUID(was.gate_id), was.scanned_at)
        moved = row["scanned_at_canonical"] - was.scanned_at_corrected
        assert abs(moved) < timedelta(seconds=CHANGE_S_MIN)
    assert await gates.differences() == []


async def _forget_limit(gates: Gatehouse) -> None:
    async with gates.world.services.database.transaction(gates.world.tenant.id) as tx:
        await tx.connection.execute("DELETE FROM rate_limit")


async def test_a_scan_whose_online_answer_was_lost_counts_once(gates: Gatehouse):
    ticket = await gates.world.ticket()
    device = await gates.device()
    gates.network.will("answer_lost")
    answer = await scan(device, await gates.world.barcode(ticket))
    assert (answer.outcome, answer.is_offline) == ("valid", True)
    assert answer.scan_id in await gates.kept()
    report = await sync(device)
    assert (report.synced, report.conflicts) == (1, [])
    await gates.require_nothing_lost()
    assert await gates.resolutions(ticket) == {answer.scan_id: "admitted"}


@pytest.mark.parametrize("deliver", [sync, sync_whole_queue])
async def test_of_what_waits_for_review_a_device_is_told_which_and_why(
    gates: Gatehouse, deliver: Deliver
):
    await scanned(gates, 2)
    [device] = gates.devices
    later = gates.world.now + timedelta(days=3)
    await gates.world.rows(
        "UPDATE event_day SET starts_at = greatest(starts_at, $1::timestamptz)", later
    )
    made = device.store.scans("pending")
    report = await deliver(device)
    assert (report.synced, report.failed) == (2, 0)
    assert report.unverified == {each.scan_id: "outside_event_time" for each in made}


async def test_a_device_that_crashes_during_a_delivery_continues_it(gates: Gatehouse):
    await scanned(gates, 3)
    [device] = gates.devices
    gates.network.will(*["answer_lost"] * ATTEMPTS_MAX)
    report = await sync(device)
    assert (report.left, report.synced) == (3, 0)
    sent = device.store.outgoing
    assert sent is not None
    again = gates.reopened(device)
    assert again.store.outgoing == sent
    assert (await sync(again)).synced == 3
    await gates.require_nothing_lost()


async def test_it_waits_longer_every_time_and_then_leaves_the_queue_for_later(gates: Gatehouse):
    sleeper = Sleeper()
    await scanned(gates, 1, sleep=sleeper)
    [device] = gates.devices
    gates.network.is_down = True
    report = await sync(device)
    assert report.requests == ATTEMPTS_MAX
    assert report.reason is not None
    for wait, base in zip(sleeper.slept, (1, 2, 4, 8), strict=True):
        assert base * 0.5 <= wait <= base * 1.5
    [waiting] = device.store.scans("pending")
    assert waiting.retry_count == ATTEMPTS_MAX
    gates.network.is_down = False
    assert (await sync(device)).synced == 1


async def test_it_waits_as_long_as_the_server_asks(gates: Gatehouse):
    async def meanwhile(seconds: float) -> None:
        await _forget_limit(gates)

    sleeper = Sleeper(meanwhile)
    barcode = await gates.world.barcode(await gates.world.ticket())
    device = await gates.device(sleep=sleeper)
    for _ in range(11):
        await scan(device, barcode, offline=True)
        await sync(device)
    assert len(sleeper.slept) == 1
    assert 1 <= sleeper.slept[0] <= 70
    await gates.require_nothing_lost()


async def test_a_key_that_is_refused_keeps_the_queue(gates: Gatehouse):
    await scanned(gates, 2)
    [device] = gates.devices
    await gates.world.ask(
        "DELETE", f"/api/scanning/devices/{device.identity.device_id}", by="owner"
    )
    report = await sync(device)
    assert (report.left, report.requests) == (2, 1)
    assert report.reason == str(KeyRefused())


async def test_a_device_that_is_paired_again_delivers_its_queue(gates: Gatehouse):
    await scanned(gates, 2)
    [device] = gates.devices
    before = device.identity
    await gates.world.ask("DELETE", f"/api/scanning/devices/{before.device_id}", by="owner")
    await gates.pair(device)
    assert device.identity.device_id == before.device_id
    assert device.identity.api_key != before.api_key
    assert (await sync(device)).synced == 2
    await gates.require_nothing_lost()


async def test_a_key_that_is_rotated_during_a_delivery(gates: Gatehouse):
    await scanned(gates, 2)
    [device] = gates.devices
    gates.network.will(*["answer_lost"] * ATTEMPTS_MAX)
    await sync(device)
    await device.rotate()
    assert (await sync(device)).synced == 2
    await gates.require_nothing_lost()


async def test_a_rotation_whose_answer_is_lost_is_repeated(gates: Gatehouse):
    await scanned(gates, 2)
    [device] = gates.devices
    before = device.identity.api_key
    path = f"/api/scanning/devices/{device.identity.device_id}/key-rotations"
    assert (await gates.world.ask("POST", path, by="owner")).status_code == 202
    gates.network.will("answer_lost")
    with pytest.raises(Exception, match="does not answer"):
        await device.rotate()
    again = gates.reopened(device)
    assert (await sync(again)).synced == 2
    assert again.identity.api_key != before
    assert again.store.rotation_id is None
    await gates.require_nothing_lost()


async def test_a_lost_rotation_answer_followed_by_an_outage_loses_no_scan(gates: Gatehouse):
    """The batch on its way is signed with the old key, and all its attempts were in vain."""
    await scanned(gates, 3)
    [device] = gates.devices
    before = device.identity.api_key
    gates.network.will(*["request_cut"] * ATTEMPTS_MAX)
    assert (await sync(device)).left == 3
    path = f"/api/scanning/devices/{device.identity.device_id}/key-rotations"
    assert (await gates.world.ask("POST", path, by="owner")).status_code == 202
    gates.network.will("answer_lost")
    with pytest.raises(ServerAway):
        await device.rotate()
    gates.network.is_down = True
    for _ in range(3):
        assert (await sync(device)).left == 3
    gates.network.is_down = False
    report = await sync(device)
    assert (report.synced, report.failed, report.left, report.requests) == (3, 0, 0, 2)
    assert device.identity.api_key != before
    await gates.require_nothing_lost()


async def test_a_key_that_is_rotated_between_two_attempts(gates: Gatehouse):
    """A heartbeat does not wait for a queue that waits."""
    await scanned(gates, 2)
    [device] = gates.devices

    async def meanwhile(seconds: float) -> None:
        await device.rotate()

    device.sleep = Sleeper(meanwhile)
    gates.network.will("down")
    report = await sync(device)
    assert (report.synced, report.failed, report.requests) == (2, 0, 2)
    assert {scan.refusal_count for scan in device.store.scans()} == {0}
    await gates.require_nothing_lost()


async def test_a_heartbeat_rotates_the_key_on_demand(gates: Gatehouse):
    device = await gates.device()
    before = device.identity.api_key
    path = f"/api/scanning/devices/{device.identity.device_id}/key-rotations"
    await gates.world.ask("POST", path, by="owner")
    await device.beat()
    assert device.identity.api_key != before
    await device.beat()


async def test_a_scan_that_the_server_cannot_read_does_not_block_the_others(gates: Gatehouse):
    """A scan that this version of the server refuses, between others."""
    await scanned(gates, 6)
    [device] = gates.devices
    scans = device.store.scans()
    odd = signed(msgspec.structs.replace(scans[2], gate_id="no such ☂ gate"), "whatever")
    device.store._connection.execute(  # pyright: ignore[reportPrivateUsage]
        "UPDATE scan SET gate_id = ? WHERE scan_id = ?", (odd.gate_id, str(odd.scan_id))
    )
    await _forget_limit(gates)

    async def meanwhile(seconds: float) -> None:
        await _forget_limit(gates)

    device.sleep = Sleeper(meanwhile)
    report = await sync(device)
    assert (report.synced, report.failed, report.left) == (5, 1, 0)
    [failed] = device.store.scans("failed")
    assert failed.scan_id == odd.scan_id
    assert failed.last_error is not None


async def test_a_rejected_scan_is_kept_with_its_reason(gates: Gatehouse):
    await scanned(gates, 2)
    [device] = gates.devices
    [first, second] = device.store.scans()
    unknown = msgspec.structs.replace(first, gate_id="gate-9")
    device.store._connection.execute(  # pyright: ignore[reportPrivateUsage]
        "UPDATE scan SET gate_id = 'gate-9', signature = ? WHERE scan_id = ?",
        (signed(unknown, device.identity.api_key).signature, str(first.scan_id)),
    )
    report = await sync(device)
    assert (report.synced, report.failed) == (1, 1)
    [failed] = device.store.scans("failed")
    assert failed.scan_id == first.scan_id
    assert "gate_not_found" in str(failed.last_error)
    assert second.scan_id in await gates.kept()
    assert export_queue(device, gates.directory / "queue.json") == 1


async def test_a_batch_id_that_is_taken_is_replaced(gates: Gatehouse):
    await scanned(gates, 2)
    [device] = gates.devices
    [one, other] = device.store.scans()
    gates.network.will(*["answer_lost"] * ATTEMPTS_MAX)
    await sync(device)
    sent = device.store.outgoing
    assert sent is not None
    spoilt = sent.body.replace(one.signature[-8:].encode(), b"00000000")
    device.store.keep_outgoing(Outgoing(sent.batch_id, spoilt, sent.scan_ids, sent.offset_seconds))
    report = await sync(device)
    assert (report.synced, report.requests) == (2, 2)
    assert other.scan_id in await gates.kept()
    await gates.require_nothing_lost()


async def test_a_server_that_answers_for_no_scan_is_not_asked_for_ever(gates: Gatehouse):
    await scanned(gates, 1)
    [device] = gates.devices

    async def never_names(request: httpx.Request) -> httpx.Response:
        body = {"processed": [], "skipped": [], "rejected": [], "conflicts": []}
        more = {"offset_seconds": 0.0, "server_time": "2026-06-05T18:00:00Z"}
        return httpx.Response(200, json=body | more)

    transport = httpx.MockTransport(never_names)  # there is no such server to run
    async with httpx.AsyncClient(transport=transport) as odd:
        device.link._client = odd  # pyright: ignore[reportPrivateUsage]
        report = await sync(device)
    assert (report.left, report.requests) == (1, FRUITLESS_MAX)


async def test_the_whole_queue_is_delivered_at_once(gates: Gatehouse):
    await scanned(gates, 60)
    [device] = gates.devices
    await scan(device, "nonsense that nobody can read", offline=True)
    report = await sync_whole_queue(device)
    assert (report.synced, report.failed, report.requests) == (61, 0, 1)
    await gates.require_nothing_lost()


async def test_a_scan_delivered_in_both_ways_is_one_scan(gates: Gatehouse):
    await scanned(gates, 3)
    [device] = gates.devices
    gates.network.will(*["answer_lost"] * ATTEMPTS_MAX)
    await sync(device)
    assert (await sync_whole_queue(device)).failed == 0
    await gates.require_nothing_lost()


async def test_every_scan_with_a_shown_verdict_is_delivered(gates: Gatehouse):
    genuine = await gates.world.barcode(await gates.world.ticket())
    device = await gates.device()
    for text in (
        genuine,
        genuine[:-1],
        genuine[:-1] + ("A" if genuine[-1] != "A" else "B"),
        "7K2M-9QXD-4F1A",
        "rubbish",
        "x" * 5000,
        "zero\0byte",
        "\N{TICKET}" * 200,
        "\ud800 half a letter",
        "null",
    ):
        await scan(device, text, offline=True)
    report = await sync(device)
    assert (report.synced, report.failed, report.left) == (10, 0, 0)
    await gates.require_nothing_lost()


async def test_an_export_has_the_scans_that_the_server_does_not_have(gates: Gatehouse):
    await scanned(gates, 3)
    [device] = gates.devices
    path = gates.directory / "queue.json"
    assert export_queue(device, path) == 3
    exported = msgspec.json.decode(path.read_bytes())
    assert exported["device_id"] == str(device.identity.device_id)
    for exported_scan, kept in zip(exported["scans"], device.store.scans(), strict=True):
        assert exported_scan["scan_id"] == str(kept.scan_id)
        assert exported_scan["signature"] == kept.signature
        offset = timedelta(seconds=exported_scan["offset_seconds"])
        assert kept.scanned_at + offset == kept.scanned_at_corrected
    await sync(device)
    assert export_queue(device, path) == 0
    assert uuid4() not in await gates.kept()
