"""Devices by other makers, built to the letter of the documents: the server reads them tolerantly."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from tests.scanning.support import Device, World
from tests.scanning.sync_support import (
    conflicts,
    deliver,
    iso,
    offline_batch,
    send,
    send_queue,
    signed,
    signed_batch,
)

TEN_MINUTES = timedelta(minutes=10)


def pending_scan(world: World, device: Device, code: str, offline_id: str) -> dict[str, Any]:
    """A record as step 2 of the document stores it, sent unchanged."""
    return {
        "offline_id": offline_id,
        "ticket_code": code,
        "scanned_at": iso(world.now - TEN_MINUTES),
        "device_id": str(device.id),
        "gate_id": str(device.gate.id),
        "status": "pending",
        "sync_attempts": 0,
        "last_sync_error": None,
    }


async def test_the_records_of_the_document_are_accepted_unchanged(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = pending_scan(world, device, ticket.code, "uuid-local-abc123")
    unknown = pending_scan(world, device, "0000-0000-0000", "uuid-local-002")
    answer = await deliver(world, device, scan, unknown)
    assert (answer["processed_count"], answer["summary"]["new_scans"]) == (1, 1)
    assert [each["offline_id"] for each in answer["errors"]] == ["uuid-local-002"]
    assert (await world.inside())["event"] == 2
    tried_again = scan | {"sync_attempts": 3, "last_sync_error": "timeout"}
    again = await deliver(world, device, tried_again)
    assert (again["processed_count"], again["summary"]["new_scans"]) == (1, 0)
    assert await conflicts(world) == []


async def test_two_devices_may_give_their_scans_the_same_names(world: World):
    one, other = await world.device(world.gates[0]), await world.device(world.gates[1])
    first, second = await world.tickets(2)
    await deliver(world, one, pending_scan(world, one, first.code, "1"))
    answer = await deliver(world, other, pending_scan(world, other, second.code, "1"))
    assert answer["summary"]["new_scans"] == 1
    assert (await world.inside())["event"] == 2


async def test_a_scan_without_an_id_in_another_batch_is_the_same_scan(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = {"ticket_code": ticket.code, "scanned_at": iso(world.now - TEN_MINUTES)}
    first = await deliver(world, device, scan, scan)
    assert (first["processed_count"], first["summary"]["new_scans"]) == (2, 1)
    again = await deliver(world, device, scan)
    assert (again["processed_count"], again["summary"]["new_scans"]) == (1, 0)
    assert await conflicts(world) == []
    assert (await world.rows("SELECT count(*) FROM scan"))[0]["count"] == 1


async def test_ids_are_returned_as_they_were_sent(world: World):
    device, (first, second) = await world.device(), await world.tickets(2)
    scan = await signed(world, device, first)
    loud = await signed(world, device, second, scan_id=scan["scan_id"][:-4].upper() + "ABCD")
    body = signed_batch(device, loud)
    body["sync_batch_id"] = body["sync_batch_id"].upper()
    answer = (await send(world, device, body)).json()
    assert answer["processed"] == [loud["scan_id"]]
    assert answer["sync_batch_id"] == body["sync_batch_id"]
    queue = offline_batch(world, device, pending_scan(world, device, "0000-0000-0000", "ABC"))
    queue["batch_id"] = queue["batch_id"].upper()
    heard = (await send_queue(world, device, queue)).json()
    assert heard["batch_id"] == queue["batch_id"]
    assert heard["errors"][0]["offline_id"] == "ABC"


@pytest.mark.parametrize("code", ["valid", "unknown"])
async def test_the_id_of_an_online_scan_is_returned_as_it_was_sent(world: World, code: str):
    device, ticket = await world.device(), await world.ticket()
    shown = ticket.code if code == "valid" else "ZZZZ-0000-0009"
    loud = str(uuid4())[:-4].upper() + "ABCD"
    for sent in (loud, loud.lower(), loud):  # one scan, however its id is written
        assert (await world.scan(device, shown, scan_id=sent)).json()["scan_id"] == sent
    assert (await world.rows("SELECT count(*) FROM scan"))[0]["count"] == 1


async def test_unknown_fields_are_ignored(world: World):
    device, (first, second) = await world.device(), await world.tickets(2)
    scan = await signed(world, device, first) | {"battery": 80}
    answer = await send(world, device, signed_batch(device, scan) | {"app": {"build": 7}})
    assert (answer.status_code, answer.json()["processed"]) == (200, [scan["scan_id"]])
    assert await world.verdict(device, second.code, offline_batch=False, retries=2) == "admitted"


async def test_a_known_scan_is_processed_as_the_document_says(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = await signed(world, device, ticket)
    for _ in range(2):
        answer = (await send(world, device, signed_batch(device, scan))).json()
        assert (answer["processed"], answer["skipped"]) == ([scan["scan_id"]], [])
    assert (await world.inside())["event"] == 1
