"""Attempts to break the gates over HTTP, with wrong, repeated, late or foreign data from devices and
people."""

from datetime import timedelta
from typing import Any

import httpx
import pytest

from tests.scanning.recovery_support import PATH, recover
from tests.scanning.support import Device, World, a_world
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
from tests.scanning.test_gate_findings import (
    HOUR,
    MINUTE,
    alerts_of,
    heads,
    move,
    resolutions,
    review,
    ticket_now,
    void,
)
from tests.support import MovableClock, Tenant
from voelgoed.services import Services
from voelgoed.ticketing.model.tickets import Ticket

NOBODY = {"inside": 0, "irregular": 0, "entries": 0}


async def waiting(world: World, device: Device, ticket: Ticket) -> tuple[str, str]:
    """A scan that waits for review, from long before the event: the ids of its delivery and of itself."""
    scan = await signed(world, device, ticket, timedelta(days=100))
    body = signed_batch(device, scan)
    assert (await send(world, device, body)).status_code == 200
    return body["sync_batch_id"], scan["scan_id"]


# Reviews of scans that wait.


async def test_a_review_that_finds_an_invalid_admission_raises_the_alert(
    world: World, clock: MovableClock
):
    device, [ticket] = await world.device(), await world.tickets(1)
    await void(world, ticket)
    clock.ahead += HOUR
    ahead = await signed(world, device, ticket, -10 * MINUTE)
    body = signed_batch(device, ahead)
    await send(world, device, body)
    assert await alerts_of(world, "invalid_admission") == []
    for _ in range(2):
        assert (await review(world, body["sync_batch_id"])).status_code == 200
    [alert] = await alerts_of(world, "invalid_admission")
    assert (alert["subject_id"], alert["occurrences"]) == (str(ticket.id), 1)
    assert await heads(world) == {"inside": 1, "irregular": 1, "entries": 0}


async def test_only_reviewers_of_the_organisation_may_review(world: World, other_tenant: Tenant):
    device, [ticket] = await world.device(), await world.tickets(1)
    batch_id, _ = await waiting(world, device, ticket)
    path, body = f"{PATH}/{batch_id}/transitions", {"to": "accepted", "note": ""}
    wrong = await world.ask("POST", path, body, by="box_office")
    assert wrong.status_code == 403
    theirs = await world.client.post(path, json=body, headers=other_tenant.as_("owner"))
    assert theirs.status_code == 404
    by_device = await world.client.post(path, json=body, headers=device.headers)
    assert by_device.status_code in (401, 403)
    assert await heads(world) == NOBODY
    assert (await review(world, batch_id, "rejected")).status_code == 200
    assert (await review(world, batch_id, "accepted")).status_code == 409
    assert await heads(world) == NOBODY


async def test_after_acceptance_and_annulment_nobody_is_inside(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    batch_id, scan_id = await waiting(world, device, ticket)
    path = f"/api/scanning/scans/{scan_id}/annulment"
    refused = await world.ask("POST", path, {"reason": "not yet"})
    assert (refused.status_code, refused.json()["error"]) == (409, "scan_not_admitted")
    await review(world, batch_id)
    assert (await heads(world))["inside"] == 1
    assert (await world.ask("POST", path, {"reason": "wrong person"})).is_success
    assert (await review(world, batch_id)).status_code == 200
    assert await heads(world) == NOBODY
    assert (await ticket_now(world, ticket))["status"] == "active"


async def test_a_ticket_that_was_voided_before_its_scan_was_accepted_stays_void(
    world: World, clock: MovableClock
):
    """The ticket was valid at the moment of the scan."""
    device, [ticket] = await world.device(), await world.tickets(1)
    batch_id, scan_id = await waiting(world, device, ticket)
    await void(world, ticket)
    assert (await review(world, batch_id)).status_code == 200
    assert (await ticket_now(world, ticket))["status"] == "voided"
    assert (await resolutions(world, ticket))[scan_id] == ("admitted", None)


@pytest.mark.parametrize("to", ["accepted", "rejected"])
@pytest.mark.parametrize("has_ticket", [True, False])
@pytest.mark.parametrize("file_first", [True, False])
async def test_a_file_and_the_device_itself_deliver_one_person(
    world: World, file_first: bool, has_ticket: bool, to: str
):
    """Whatever somebody decides about the file, the device itself proves what it did."""
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = await signed(world, device, ticket if has_ticket else None)
    if file_first:
        imported = await recover(world, device, scan)
        await sync(world, device, scan, scan)
    else:
        await sync(world, device, scan)
        imported = await recover(world, device, scan)
    expected = {"inside": 1, "irregular": int(not has_ticket), "entries": int(has_ticket)}
    assert await heads(world) == expected
    assert (await review(world, imported["batch_id"], to)).status_code == 200
    assert await heads(world) == expected
    await sync(world, device, scan)
    assert await heads(world) == expected


# Heads without a right to be there.


async def test_a_person_who_came_in_irregularly_leaves_online_and_is_no_longer_counted(
    world: World, clock: MovableClock
):
    device, [ticket] = await world.device(), await world.tickets(1)
    await void(world, ticket)
    clock.ahead += HOUR
    for ago in (20 * MINUTE, 19 * MINUTE):
        await sync(world, device, await signed(world, device, ticket, ago))
    for left in (1, 0):
        assert await world.verdict(device, ticket.code, direction="exit") == "admitted"
        assert await heads(world) == {"inside": left, "irregular": left, "entries": 0}
    assert await world.verdict(device, ticket.code, direction="exit") == "not_inside"


async def test_a_hard_limit_counts_everybody_inside(
    services: Services, client: httpx.AsyncClient, tenant: Tenant, clock: MovableClock
):
    world = await a_world(services, client, tenant, gate={"hard_capacity_limit": 3})
    device, (bad, good, late) = await world.device(), await world.tickets(3)
    await void(world, bad)
    clock.ahead += HOUR
    for ago in (20 * MINUTE, 19 * MINUTE):
        await sync(world, device, await signed(world, device, bad, ago))
    assert await world.verdict(device, good.code) == "admitted"
    full = (await world.scan(device, late.code)).json()
    assert (full["reason"], full["capacity"], full["current"]) == ("gate_at_capacity", 3, 3)
    assert await world.verdict(device, bad.code, direction="exit") == "admitted"
    assert await world.verdict(device, late.code) == "admitted"


async def test_a_device_that_missed_our_denial_and_let_somebody_in_raises_an_alert(
    world: World,
):
    device, [ticket] = await world.device(), await world.tickets(1)
    await void(world, ticket)
    scan = await signed(world, device, ticket, timedelta())
    answer = await world.verdict(
        device, ticket.code, scan_id=scan["scan_id"], scanned_at=scan["scanned_at"]
    )
    assert answer == "ticket_voided"
    for _ in range(2):
        await sync(world, device, scan)
    assert await heads(world) == {"inside": 1, "irregular": 1, "entries": 0}
    [alert] = await alerts_of(world, "invalid_admission")
    assert alert["occurrences"] == 1


# Devices that were at another gate or event.


async def test_a_queue_of_a_device_that_was_moved_to_an_event_that_is_not_live_yet(
    world: World, services: Services, client: httpx.AsyncClient, tenant: Tenant, clock: MovableClock
):
    tomorrow = await a_world(services, client, tenant)
    await world.rows("UPDATE event SET status = 'published' WHERE id = $1", tomorrow.event_id)
    device, [ticket] = await world.device(), await world.tickets(1)
    clock.ahead += HOUR
    await move(world, device, tomorrow.gates[0].id)
    answer = await deliver(world, device, offline(world, ticket.code, 20 * MINUTE))
    assert answer["processed_count"] == 1
    assert (await heads(world))["inside"] == 1
    clock.ahead += MINUTE
    early = offline_batch(world, device, offline(world, ticket.code, timedelta(seconds=1)))
    refused = await send_queue(world, device, early)
    assert (refused.status_code, refused.json()["error"]) == (400, "event_not_live")


async def test_a_delivery_of_two_events_counts_at_each(
    world: World, services: Services, client: httpx.AsyncClient, tenant: Tenant, clock: MovableClock
):
    elsewhere = await a_world(services, client, tenant)
    device, [here], [there] = (
        await world.device(),
        await world.tickets(1),
        await elsewhere.tickets(1),
    )
    clock.ahead += HOUR
    await move(world, device, elsewhere.gates[0].id)
    clock.ahead += HOUR
    before = await signed(world, device, here, 90 * MINUTE, gate_id=str(world.gates[0].id))
    after = await signed(world, device, there, 30 * MINUTE, gate_id=elsewhere.gates[0].code)
    swapped = await signed(world, device, here, 30 * MINUTE, gate_id=str(world.gates[0].id))
    body = signed_batch(device, before, after, swapped)
    assert (await send(world, device, body)).status_code == 200
    assert await heads(world) == await heads(elsewhere)
    assert await heads(world) == {"inside": 1, "irregular": 0, "entries": 1}
    assert (await resolutions(world, here))[swapped["scan_id"]] == ("denied", "unverified")
    assert len(await alerts_of(world, "foreign_gate")) == 1
    assert (await review(world, body["sync_batch_id"])).status_code == 200
    assert (await heads(world))["inside"] >= 1


async def test_ids_of_other_organisations_are_unknown(
    world: World, services: Services, client: httpx.AsyncClient, other_tenant: Tenant
):
    rival = await a_world(services, client, other_tenant)
    theirs, [their_ticket] = await rival.device(), await rival.tickets(1)
    their_scan = await signed(rival, theirs, their_ticket)
    their_body = signed_batch(theirs, their_scan)
    assert (await send(rival, theirs, their_body)).status_code == 200
    device, [ticket] = await world.device(), await world.tickets(1)
    at_their_gate = await signed(world, device, ticket, gate_id=str(theirs.gate.id))
    with_their_id = await signed(world, device, ticket, scan_id=their_scan["scan_id"])
    body = signed_batch(device, at_their_gate, with_their_id)
    body["sync_batch_id"] = their_body["sync_batch_id"]
    answer = (await send(world, device, body)).json()
    assert [(each["scan_id"], each["error"]) for each in answer["rejected"]] == [
        (at_their_gate["scan_id"], "gate_not_found")
    ]
    assert answer["processed"] == [with_their_id["scan_id"]]
    assert (await heads(world))["inside"] == (await heads(rival))["inside"] == 1
    theirs_named = await signed(world, device, None, ticket_id=str(their_ticket.id))
    await sync(world, device, theirs_named)
    assert (await ticket_now(rival, their_ticket))["scan_count"] == 1


# The clock.


@pytest.mark.parametrize(("claimed", "is_believed"), [(60, True), (61, False), (-60, True)])
async def test_a_claim_exactly_at_the_tolerance_is_believed(
    world: World, claimed: int, is_believed: bool
):
    device, [ticket] = await world.device(), await world.tickets(1)
    body = signed_batch(device, await signed(world, device, ticket), offset_seconds=claimed)
    answer = await send(world, device, body, **{"X-Device-Time": iso(world.now)})
    used = answer.json()["offset_seconds"]
    # the network delay of the request is part of the measurement
    assert (used == claimed) is is_believed or abs(used) < 1 < abs(claimed) == 60
    assert len(await alerts_of(world, "clock_manipulation")) == int(used != claimed)


# Requests that are no scans.


def deep(levels: int) -> Any:
    return "[" * levels + "]" * levels


@pytest.mark.parametrize(
    "more",
    [
        {"gate_id": 5},
        {"gate_id": {}},
        {"gate_id": "x" * 10_000},
        {"gate_id": "\x00"},
        {"gate_id": ""},
        {"offline_id": 7},
        {"offline_id": ""},
        {"offline_id": "\x00"},
        {"offline_id": "x" * 10_000},
        {"offline_id": None},
        {"ticket_code": "\x00"},
        {"ticket_code": "A\x00B"},
        {"ticket_code": ""},
        {"ticket_code": "x" * 100_000},
        {"ticket_code": None},
        {"ticket_code": "🎟" * 50},
        {"scanned_at": 0},
        {"scanned_at": "0001-01-01T00:00:00Z"},
        {"scanned_at": "9999-12-31T23:59:59Z"},
        {"scanned_at": "2026-02-30T00:00:00Z"},
        {"direction": "sideways"},
        {"outcome": "valid "},
        {"outcome": None},
        {"status": {"a": [1, {"b": None}]}},
        {"sync_attempts": 10**40},
    ],
)
async def test_nonsense_in_a_queue_is_never_a_server_error(world: World, more: dict[str, Any]):
    device, [ticket] = await world.device(), await world.tickets(1)
    body = offline_batch(world, device, offline(world, ticket.code) | more)
    answer = await send_queue(world, device, body)
    assert answer.status_code in (200, 400, 422), (answer.status_code, answer.text)


@pytest.mark.parametrize(
    "more",
    [
        {"gate_id": "\x00"},
        {"gate_id": "x" * 10_000},
        {"ticket_code": "\x00"},
        {"ticket_code": "x" * 100_000},
        {"scan_id": "\x00"},
        {"ticket_id": "nobody"},
        {"barcode_hash": "sha256:" + "g" * 64},
        {"barcode_hash": "sha256:" + "A" * 64},
        {"barcode_hash": ""},
        {"scanned_at": "9999-12-31T23:59:59Z"},
        {"scanned_at": "0001-01-01T00:00:00Z"},
        {"outcome": {}},
        {"direction": 1},
        {"signature": "\x00"},
    ],
)
async def test_nonsense_in_a_signed_delivery_is_never_a_server_error(
    world: World, more: dict[str, Any]
):
    device, [ticket] = await world.device(), await world.tickets(1)
    try:
        scan = await signed(world, device, ticket, **more)
    except TypeError:
        scan = await signed(world, device, ticket) | more
    answer = await send(world, device, signed_batch(device, scan))
    assert answer.status_code in (200, 400, 422), (answer.status_code, answer.text)


@pytest.mark.parametrize("path", ["/api/scans", "/api/scans/sync", "/api/scanning/sync", PATH])
@pytest.mark.parametrize(
    "content",
    [
        deep(100_000).encode(),
        b'{"scans": ' + deep(50_000).encode() + b"}",
        b'{"a": "\xed\xa0\x80"}',
        b"null",
        b"[]",
        b'{"scans": {}}',
    ],
)
async def test_a_body_that_is_no_delivery_is_refused(world: World, path: str, content: bytes):
    device = await world.device()
    headers = world.tenant.as_("admin") if path == PATH else device.headers
    answer = await world.client.post(
        path, content=content, headers=headers | {"Content-Type": "application/json"}
    )
    assert answer.status_code in (400, 413, 422), (answer.status_code, answer.text)
