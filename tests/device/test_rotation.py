"""Somebody demands that a device rotates its key: the people at its gate do not notice."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from tests.device.support import Gatehouse
from voelgoed.device.client import Device
from voelgoed.device.model import KeyRefused, Refused, ServerAway, SyncReport
from voelgoed.device.scanning import scan
from voelgoed.device.sync import sync
from voelgoed.device.whole_queue import sync_whole_queue


async def test_a_scan_rotates_the_key_first_and_is_answered_by_the_server(gates: Gatehouse):
    device, [ticket] = await gates.device(), await gates.world.tickets(1)
    before = device.identity.api_key
    await gates.demand_rotation(device)
    answer = await scan(device, await gates.world.barcode(ticket))
    assert (answer.outcome, answer.is_offline) == ("valid", False)
    assert device.identity.api_key != before
    assert device.store.count()["pending"] == 0
    await gates.require_nothing_lost()


async def test_simultaneous_scans_rotate_the_key_once(gates: Gatehouse):
    tickets = await gates.world.tickets(5)
    device = await gates.device()
    barcodes = [await gates.world.barcode(ticket) for ticket in tickets]
    await gates.demand_rotation(device)
    answers = await asyncio.gather(*(scan(device, barcode) for barcode in barcodes), device.beat())
    said = [each for each in answers if each is not None]
    assert [each.outcome for each in said] == ["valid"] * 5
    [kept] = await gates.world.rows("SELECT key_version FROM scan_device")
    assert kept["key_version"] == 2
    await sync(device)
    await gates.require_nothing_lost()


async def test_where_the_next_key_does_not_arrive_the_device_decides_and_no_scan_is_lost(
    gates: Gatehouse,
):
    tickets = await gates.world.tickets(3)
    device = await gates.device()
    first, second, third = [await gates.world.barcode(ticket) for ticket in tickets]
    before = device.identity.api_key
    await gates.demand_rotation(device)
    gates.network.is_down = True
    assert (await scan(device, first)).is_offline
    gates.network.is_down = False
    asked = len(gates.network.answers)

    async def lose_the_key() -> None:
        """The scan is refused, the next key is issued, and that answer does not arrive."""
        while len(gates.network.answers) == asked:
            await asyncio.sleep(0)
        gates.network.will("answer_lost")

    losing = asyncio.create_task(lose_the_key())
    alone = await scan(device, second)
    await losing
    assert (alone.outcome, alone.is_offline) == ("valid", True)
    assert device.store.rotation_id is not None, "it asks for the same key again"
    assert (await scan(device, third)).outcome == "valid"
    report = await sync(device)
    assert (report.failed, report.left) == (0, 0)
    assert device.identity.api_key != before
    assert device.store.rotation_id is None
    await gates.require_nothing_lost()


@pytest.mark.parametrize("deliver", [sync, sync_whole_queue])
async def test_scans_signed_with_the_old_key_are_delivered_with_the_next(
    gates: Gatehouse, deliver: Callable[[Device], Awaitable[SyncReport]]
):
    tickets = await gates.world.tickets(3)
    device = await gates.device()
    for ticket in tickets:
        await scan(device, await gates.world.barcode(ticket), offline=True)
    before = device.identity.api_key
    await gates.demand_rotation(device)
    report = await deliver(device)
    assert (report.synced, report.failed, report.left) == (3, 0, 0)
    assert device.identity.api_key != before
    await gates.require_nothing_lost()
    alerts = await gates.world.rows("SELECT kind FROM scan_alert")
    assert alerts == []


async def test_a_key_that_was_lost_on_its_way_may_itself_have_to_be_rotated(gates: Gatehouse):
    device = await gates.device()
    gates.network.will("answer_lost")
    with pytest.raises(ServerAway):
        await device.rotate()
    await gates.demand_rotation(device)
    await device.beat()
    [kept] = await gates.world.rows("SELECT key_version FROM scan_device")
    assert kept["key_version"] == 3


async def test_a_manifest_is_fetched_with_the_next_key(gates: Gatehouse):
    device = await gates.device()
    before = device.identity.api_key
    await gates.world.tickets(1)
    gates.pass_(seconds=11)
    await gates.demand_rotation(device)
    assert await device.hydrate()
    assert device.identity.api_key != before


async def test_a_device_that_is_revoked_meanwhile_stops(gates: Gatehouse):
    device, [ticket] = await gates.device(), await gates.world.tickets(1)
    barcode = await gates.world.barcode(ticket)
    await gates.demand_rotation(device)
    path = f"/api/scanning/devices/{device.identity.device_id}"
    await gates.world.ask("DELETE", path, by="owner")
    with pytest.raises(KeyRefused):
        await scan(device, barcode)


async def test_a_device_that_exists_is_paired_again_only_by_a_pairing_that_names_it(
    gates: Gatehouse,
):
    device = await gates.device()
    before = device.identity
    body = {"gate_id": str(gates.world.gates[0].id), "name": "Anybody"}
    made = await gates.world.ask("POST", "/api/scanning/pairings", body, by="owner")
    with pytest.raises(Refused, match="Pair again"):
        await device.pair(gates.network.url, made.json()["data"]["pairing_token"])
    assert device.identity == before
    await device.beat()
    await gates.pair(device)
    assert device.identity.device_id == before.device_id
    assert device.identity.api_key != before.api_key
    await device.beat()
