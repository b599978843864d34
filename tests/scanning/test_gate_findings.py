"""The faults that black-box trials of the gates found (issue 16), one after the other, as devices and
people meet them over HTTP. The numbers are those of the issue; 6 and 11 have files of their own."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from tests.scanning.alert_support import UNKNOWN, alerts
from tests.scanning.node_support import hear, socket, subscribe
from tests.scanning.recovery_support import PATH
from tests.scanning.support import Device, World, a_world
from tests.scanning.sync_support import (
    conflicts,
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
from voelgoed.infra.database import Transaction
from voelgoed.scanning.model.sync_facts import SyncFacts, SyncQuestion
from voelgoed.scanning.rules.devices import SILENT_MAX
from voelgoed.scanning.store import offline as store
from voelgoed.services import Services
from voelgoed.ticketing.model.tickets import Ticket

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DEVICES = "/api/scanning/devices"


async def void(world: World, ticket: Ticket) -> None:
    path = f"/api/tickets/{ticket.id}/void"
    answer = await world.ask("POST", path, {"reason": "lost"}, by="box_office")
    assert answer.status_code == 200, answer.text


async def heads(world: World) -> dict[str, int]:
    """The heads inside at the event, over all days."""
    answer = await world.ask("GET", f"/api/scanning/events/{world.event_id}/occupancy")
    counts = [each for each in answer.json()["data"]["counts"] if each["scope"] == "event"]
    names = ("inside", "irregular", "entries")
    return {name: sum(each[name] for each in counts) for name in names}


async def alerts_of(world: World, kind: str) -> list[dict[str, Any]]:
    return [each for each in await alerts(world) if each["kind"] == kind]


async def ticket_now(world: World, ticket: Ticket) -> dict[str, Any]:
    answer = await world.client.get(f"/api/tickets/{ticket.id}", headers=world.tenant.as_("owner"))
    return answer.json()["data"]["ticket"]


async def move(world: World, device: Device, gate_id: UUID) -> None:
    path = f"{DEVICES}/{device.id}"
    version = (await world.ask("GET", path)).json()["data"]["version"]
    answer = await world.ask("PATCH", path, {"version": version, "gate_id": str(gate_id)})
    assert answer.status_code == 200, answer.text


async def review(world: World, batch_id: str, to: str = "accepted") -> httpx.Response:
    return await world.ask("POST", f"{PATH}/{batch_id}/transitions", {"to": to, "note": ""})


async def resolutions(world: World, ticket: Ticket) -> dict[str, tuple[str, str | None]]:
    answer = await world.ask("GET", f"/api/scanning/tickets/{ticket.id}/scans")
    return {each["id"]: (each["status"], each["reason_denied"]) for each in answer.json()["data"]}


# 1


async def test_1_of_three_let_in_with_a_void_ticket_two_are_conflicts_and_all_are_counted(
    services: Services, client: httpx.AsyncClient, tenant: Tenant, clock: MovableClock
):
    world = await a_world(services, client, tenant, gates=3)
    [ticket] = await world.tickets(1)
    devices = [await world.device(gate) for gate in world.gates]
    await void(world, ticket)
    clock.ahead += HOUR
    for at, device in enumerate(devices):
        await sync(world, device, await signed(world, device, ticket, (30 - at) * MINUTE))
    assert len(await conflicts(world)) == 2
    assert await heads(world) == {"inside": 3, "irregular": 3, "entries": 0}
    [alert] = await alerts_of(world, "invalid_admission")
    assert (alert["subject_id"], alert["occurrences"]) == (str(ticket.id), 3)


async def test_1_of_two_let_in_with_one_ticket_at_a_wrong_gate_one_is_a_conflict(
    world: World, clock: MovableClock
):
    device, [ticket] = await world.device(), await world.tickets(1)
    await world.rows(
        "UPDATE ticket_type SET gate_ids = ARRAY[$1::uuid] WHERE event_id = $2",
        world.gates[1].id,
        world.event_id,
    )
    first = await signed(world, device, ticket, 20 * MINUTE)
    second = await signed(world, device, ticket, 19 * MINUTE)
    await sync(world, device, first)
    await sync(world, device, second)
    [found] = await conflicts(world)
    assert (found["scan"]["id"], found["winner"]["id"]) == (second["scan_id"], first["scan_id"])
    assert await heads(world) == {"inside": 2, "irregular": 2, "entries": 0}


# 2


async def test_2_a_claimed_offset_is_compared_with_an_old_measurement(
    world: World, clock: MovableClock
):
    one, other = await world.device(world.gates[0]), await world.device(world.gates[1])
    [ticket] = await world.tickets(1)
    beat = {"device_time": iso(world.now), "app_version": "1"}
    answer = await world.client.post("/api/scanning/heartbeat", json=beat, headers=one.headers)
    assert answer.status_code == 200, answer.text
    clock.ahead += 3 * HOUR
    await sync(world, other, await signed(world, other, ticket, 10 * MINUTE))
    lie = await signed(world, one, ticket, 11 * MINUTE)
    answer = await sync(world, one, lie, offset_seconds=-7200)
    assert abs(answer["offset_seconds"]) < 60
    assert len(await conflicts(world)) == 1
    [alert] = await alerts_of(world, "clock_manipulation")
    assert abs(alert["details"]["gap_seconds"] + 7200) < 60


async def test_2_a_scan_of_700_days_ago_waits_for_review_and_counts_when_accepted(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    old = await signed(world, device, ticket, timedelta(days=700))
    new = await signed(world, device, ticket, 10 * MINUTE)
    body = signed_batch(device, old)
    answer = (await send(world, device, body)).json()
    assert answer["processed"] == [old["scan_id"]]
    assert (await ticket_now(world, ticket))["scanned_at"] is None
    assert await heads(world) == {"inside": 0, "irregular": 0, "entries": 0}
    await sync(world, device, new)
    assert (await ticket_now(world, ticket))["scan_count"] == 1
    assert (await resolutions(world, ticket))[old["scan_id"]] == ("denied", "unverified")
    [alert] = await alerts_of(world, "unverified_scans")
    assert alert["details"]["batch_id"] == body["sync_batch_id"]
    assert (await review(world, body["sync_batch_id"])).status_code == 200
    assert (await resolutions(world, ticket))[old["scan_id"]] == ("admitted", None)
    assert (await ticket_now(world, ticket))["scan_count"] == 2


# 3


async def test_3_scans_for_a_gate_of_another_event_mark_no_ticket_and_raise_an_alert_there(
    world: World, services: Services, client: httpx.AsyncClient, tenant: Tenant
):
    elsewhere = await a_world(services, client, tenant)
    device, tickets = await world.device(), await elsewhere.tickets(2)
    foreign = str(elsewhere.gates[0].id)
    await deliver(world, device, offline(world, tickets[0].code, gate_id=foreign))
    unnamed = await signed(world, device, tickets[1], gate_id=foreign, ticket_id=None)
    await sync(world, device, unnamed)
    for ticket in tickets:
        [kept] = (await resolutions(elsewhere, ticket)).values()
        assert kept == ("denied", "unverified")
        assert (await ticket_now(elsewhere, ticket))["status"] == "active"
    assert await heads(elsewhere) == {"inside": 0, "irregular": 0, "entries": 0}
    [alert] = await alerts_of(elsewhere, "foreign_gate")
    assert (alert["subject_id"], alert["occurrences"]) == (str(device.id), 2)
    guard = await elsewhere.device()
    for ticket in tickets:
        assert await elsewhere.verdict(guard, ticket.code) == "admitted"


async def test_3_a_code_names_a_gate_of_the_devices_own_event(
    world: World, services: Services, client: httpx.AsyncClient, tenant: Tenant
):
    """`gate-0` is a gate of both events."""
    elsewhere = await a_world(services, client, tenant)
    device, [ticket] = await world.device(world.gates[1]), await elsewhere.tickets(1)
    scan = offline(world, ticket.code, gate_id=elsewhere.gates[0].code)
    answer = await deliver(world, device, scan)
    assert [each["reason"] for each in answer["errors"]] == ["wrong_event"]
    assert (await ticket_now(elsewhere, ticket))["status"] == "active"


async def test_3_a_hundred_entries_within_fifty_milliseconds_raise_an_alert(world: World):
    device, tickets = await world.device(), await world.tickets(100)
    begun = world.now - 10 * MINUTE
    scans = [
        offline(world, ticket.code, scanned_at=iso(begun + timedelta(microseconds=500 * number)))
        for number, ticket in enumerate(tickets)
    ]
    await deliver(world, device, *scans)
    [alert] = await alerts_of(world, "impossible_rate")
    assert alert["details"]["entries"] == 100
    assert alert["details"]["seconds"] <= 0.05


async def test_3_what_a_device_scanned_before_it_was_moved_counts_where_it_was(
    world: World, services: Services, client: httpx.AsyncClient, tenant: Tenant, clock: MovableClock
):
    elsewhere = await a_world(services, client, tenant)
    device, tickets = await world.device(world.gates[0]), await world.tickets(3)
    clock.ahead += HOUR
    await move(world, device, elsewhere.gates[0].id)
    by_code = await signed(world, device, tickets[0], 20 * MINUTE)
    await sync(world, device, by_code)
    named = offline(world, tickets[1].code, 20 * MINUTE, gate_id=world.gates[0].code)
    nowhere = offline(world, tickets[2].code, 20 * MINUTE)
    await deliver(world, device, named, nowhere)
    assert await heads(world) == {"inside": 3, "irregular": 0, "entries": 3}
    assert await heads(elsewhere) == {"inside": 0, "irregular": 0, "entries": 0}
    assert await alerts(elsewhere) == await alerts(world) == []


# 4


async def test_4_a_client_built_to_the_letter_of_the_document_is_served(world: World):
    device, (first, second) = await world.device(), await world.tickets(2)
    items: list[dict[str, Any]] = [
        {
            "offline_id": f"uuid-local-{number}",
            "ticket_code": ticket.code,
            "scanned_at": iso(world.now - 10 * MINUTE),
            "device_id": str(device.id),
            "gate_id": str(device.gate.id),
            "status": "pending",
            "sync_attempts": 0,
            "last_sync_error": None,
        }
        for number, ticket in enumerate((first, second))
    ]
    answer = await deliver(world, device, *items)
    assert (answer["processed_count"], answer["error_count"], answer["errors"]) == (2, 0, [])


async def test_4_a_scan_without_an_id_delivered_again_is_no_second_person(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = {"ticket_code": ticket.code, "scanned_at": iso(world.now - 10 * MINUTE)}
    for _ in range(2):
        assert (await deliver(world, device, scan))["processed_count"] == 1
    assert await conflicts(world) == []
    assert (await heads(world))["inside"] == 1


async def test_4_a_scan_without_an_id_is_the_same_however_code_and_gate_are_written(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    at = world.now - 10 * MINUTE
    for code, more in (
        (ticket.code, {}),
        (ticket.code.lower(), {}),
        (f" {ticket.code.replace('-', '')}", {}),
        (ticket.code, {"gate_id": str(device.gate.id)}),
        (ticket.code, {"gate_id": device.gate.code}),
    ):
        scan = {"ticket_code": code, "scanned_at": iso(at), **more}
        assert (await deliver(world, device, scan))["processed_count"] == 1
    assert (await heads(world))["inside"] == 1
    later = {"ticket_code": ticket.code, "scanned_at": iso(at + timedelta(microseconds=1))}
    assert (await deliver(world, device, later))["error_count"] == 1


async def test_4_ids_are_returned_as_sent_and_known_scans_are_processed(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = await signed(world, device, ticket, scan_id=str(uuid4()).upper())
    for _ in range(2):
        answer = await sync(world, device, scan)
        assert (answer["processed"], answer["skipped"]) == ([scan["scan_id"]], [])


async def test_4_a_scan_without_ticket_id_belongs_to_the_ticket_of_its_hash(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = await signed(world, device, ticket, ticket_id=None)
    await sync(world, device, scan)
    assert await resolutions(world, ticket) == {scan["scan_id"]: ("admitted", None)}


# 5


async def test_5_a_delivery_of_more_than_a_hundred_invalid_admissions_is_counted_exactly(
    world: World, clock: MovableClock
):
    device, tickets = await world.device(), await world.tickets(130)
    for ticket in tickets:
        await void(world, ticket)
    clock.ahead += HOUR
    await deliver(world, device, *(offline(world, each.code, 20 * MINUTE) for each in tickets))
    [alert] = await alerts_of(world, "invalid_admission")
    assert alert["occurrences"] == 130
    assert {each["ticket_id"] for each in alert["details"]["occasions"]} == {
        str(each.id) for each in tickets
    }
    assert await heads(world) == {"inside": 130, "irregular": 130, "entries": 0}


async def test_5_each_of_two_such_deliveries_has_a_list_of_its_own(
    world: World, clock: MovableClock
):
    device, tickets = await world.device(), await world.tickets(220)
    for ticket in tickets:
        await void(world, ticket)
    clock.ahead += HOUR
    halves = [tickets[:110], tickets[110:]]
    for half in halves:
        await deliver(world, device, *(offline(world, each.code, 20 * MINUTE) for each in half))
    told = await alerts_of(world, "invalid_admission")
    assert [each["occurrences"] for each in told] == [110, 110]
    listed = [{one["ticket_id"] for one in each["details"]["occasions"]} for each in told]
    assert sorted(map(sorted, listed)) == sorted(
        sorted(str(one.id) for one in half) for half in halves
    )


async def test_5_repeats_within_five_seconds_count(world: World):
    device = await world.device()
    await asyncio.gather(*(world.scan(device, UNKNOWN) for _ in range(7)))
    [alert] = await alerts_of(world, "ticket_not_found")
    assert alert["occurrences"] == 7


# 7


async def test_7_a_pairing_with_the_id_of_an_active_device_does_not_evict_it(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    body = {"gate_id": str(device.gate.id), "name": "iPad", "device_type": "ipad"}
    made = await world.client.post(
        "/api/scanning/pairings", json=body, headers=world.tenant.as_("owner")
    )
    given = {
        "pairing_token": made.json()["data"]["pairing_token"],
        "device_id": str(device.id),
    }
    answer = await world.client.post("/api/scanning/pair", json=given)
    assert answer.status_code == 409, answer.text
    assert await world.verdict(device, ticket.code) == "admitted"


async def test_7_a_demanded_rotation_leaves_the_old_key_good_for_the_rotation_only(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    assert (await world.ask("POST", f"{DEVICES}/{device.id}/key-rotations")).status_code == 202
    assert (await world.scan(device, ticket.code)).status_code == 401
    delivered = await send_queue(
        world, device, offline_batch(world, device, offline(world, ticket.code))
    )
    assert delivered.status_code == 401
    rotated = await world.client.post(
        "/api/scanning/key-rotations", json={"rotation_id": str(uuid4())}, headers=device.headers
    )
    renewed = Device(device.id, rotated.json()["data"]["api_key"], device.gate)
    assert await world.verdict(renewed, ticket.code) == "admitted"


async def test_7_a_device_that_scans_and_sends_no_heartbeat_is_not_offline(
    world: World, clock: MovableClock
):
    device, [ticket] = await world.device(), await world.tickets(1)
    clock.ahead += 2 * SILENT_MAX
    assert await world.verdict(device, ticket.code) == "admitted"
    await world.services.signs_of_life.is_idle()
    shown = (await world.ask("GET", f"{DEVICES}/{device.id}")).json()["data"]
    assert (shown["status"], shown["last_heartbeat"]) == ("active", None)


# 8


async def test_8_a_scan_that_device_and_server_deny_is_no_conflict(
    world: World, clock: MovableClock
):
    device, [ticket] = await world.device(), await world.tickets(1)
    assert await world.verdict(device, ticket.code) == "admitted"
    clock.ahead += MINUTE
    denied = await signed(world, device, ticket, timedelta(seconds=30), outcome="duplicate")
    answer = await sync(world, device, denied)
    assert (answer["processed"], answer["conflicts"]) == ([denied["scan_id"]], [])
    assert await conflicts(world) == []
    assert await alerts_of(world, "double_entry") == []
    listed = (await world.ask("GET", f"/api/scanning/tickets/{ticket.id}/scans")).json()["data"]
    assert [each["conflict"] for each in listed] == [False, False]


# 9


async def test_9_a_person_who_left_learns_when_and_from_when_to_return(
    world: World, clock: MovableClock
):
    device, [ticket] = await world.device(), await world.tickets(1)
    entered = (await world.scan(device, ticket.code)).json()
    clock.ahead += MINUTE
    left = (await world.scan(device, ticket.code, direction="exit")).json()
    clock.ahead += MINUTE
    answer = (await world.scan(device, ticket.code)).json()
    assert (answer["status"], answer["left_at"]) == ("denied", left["scanned_at"])
    assert answer["may_return_at"] > left["scanned_at"] > entered["scanned_at"]
    assert "Left" in answer["message"]


# 10


async def test_10_a_code_of_the_wrong_length_has_a_reason_of_its_own(world: World):
    device = await world.device()
    answer = await world.scan(device, "AB1")
    assert answer.json()["error"] == "invalid_ticket_code_length", answer.text
    assert answer.json()["details"]["provided"] == 3


async def test_10_a_full_gate_says_how_full_and_a_soft_limit_warns(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
):
    world = await a_world(
        services, client, tenant, gates=1, gate={"capacity": 1, "hard_capacity_limit": 2}
    )
    device, tickets = await world.device(), await world.tickets(3)
    first, second, third = [(await world.scan(device, each.code)).json() for each in tickets]
    assert "warning" not in first
    assert second["status"] == "admitted"
    assert second["warning"]
    assert (third["reason"], third["capacity"], third["current"]) == ("gate_at_capacity", 2, 2)


async def test_10_followers_of_the_occupancy_receive_all_gates(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    topic = f"occupancy:{world.tenant.id}:{world.event_id}"
    async with socket(world, world.tenant.as_("gate_supervisor")) as connection:
        await world.services.live.is_idle()  # the sale has changed the counts of seats, too
        await subscribe(connection, topic)
        await world.scan(device, ticket.code)
        message = (await hear(connection, topic))["data"]
    gates = {each["gate_id"]: each["occupancy"] for each in message["occupancy_levels"]["gates"]}
    assert gates == {str(world.gates[0].id): 1, str(world.gates[1].id): 0}


async def test_10_audit_entries_have_device_address_and_agent_one_for_each_scan(world: World):
    device, (first, second) = await world.device(), await world.tickets(2)
    await world.scan(device, first.code)
    await sync(world, device, await signed(world, device, second))
    answer = await world.client.get(
        "/api/audit?action=ticket_scanned", headers=world.tenant.as_("owner")
    )
    found = answer.json()["data"]
    assert len(found) == 2, answer.text
    for each in found:
        assert each["metadata"]["device_name"] == "iPad-Gate-1"
        assert each["metadata"]["ip_address"]
        assert each["metadata"]["user_agent"] == "Scanner-PWA/1.0"


# 12


async def test_12_a_ticket_shown_thousands_of_times_costs_no_more_than_another(
    world: World, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
):
    """The cost is measured by how much of the ticket's history is read."""
    device, [ticket] = await world.device(), await world.tickets(1)
    begun = world.now - HOUR
    scans = [
        offline(world, ticket.code, scanned_at=iso(begun + timedelta(seconds=at)))
        for at in range(2_000)
    ]
    await deliver(world, device, *scans)
    read: list[int] = []
    read_facts = store.read_facts

    async def counting(tx: Transaction, question: SyncQuestion) -> SyncFacts:
        facts = await read_facts(tx, question)
        read.append(sum(len(each) for each in facts.histories.values()))
        return facts

    monkeypatch.setattr(store, "read_facts", counting)
    clock.ahead += 10 * MINUTE
    await deliver(world, device, offline(world, ticket.code, 5 * MINUTE))
    await sync(world, device, await signed(world, device, ticket, 4 * MINUTE))
    clock.ahead += 10 * MINUTE
    assert await world.verdict(device, ticket.code) == "admitted"
    assert await world.verdict(device, ticket.code, direction="exit") == "admitted"
    assert read
    assert max(read) <= 5, read


async def test_12_a_void_after_very_many_scans_stays(world: World, clock: MovableClock):
    """Of many scans only a checkpoint is read; the ticket's status is the present one."""
    device, [ticket] = await world.device(), await world.tickets(1)
    scans = [offline(world, ticket.code, 40 * MINUTE - timedelta(seconds=n)) for n in range(120)]
    await deliver(world, device, *scans)
    await void(world, ticket)
    clock.ahead += 10 * MINUTE
    await deliver(world, device, offline(world, ticket.code, MINUTE))
    assert (await ticket_now(world, ticket))["status"] == "voided"
    assert await world.verdict(device, ticket.code) == "ticket_voided"


async def test_12_an_annulment_before_or_after_a_late_scan_gives_the_same(
    world: World, clock: MovableClock
):
    one, other = await world.device(world.gates[0]), await world.device(world.gates[1])
    tickets = await world.tickets(2)
    clock.ahead += HOUR
    found: list[Any] = []
    for ticket, annuls_first in zip(tickets, (True, False), strict=True):
        early = await signed(world, one, ticket, 30 * MINUTE)
        late = await signed(world, other, ticket, 29 * MINUTE)
        await sync(world, one, early)
        for step in ("annul", "deliver") if annuls_first else ("deliver", "annul"):
            if step == "deliver":
                await sync(world, other, late)
                continue
            path = f"/api/scanning/scans/{early['scan_id']}/annulment"
            answer = await world.ask("POST", path, {"reason": "a child pressed the button"})
            assert answer.status_code in (200, 201, 204), answer.text
        now = await ticket_now(world, ticket)
        stand = await resolutions(world, ticket)
        found.append(
            (now["status"], now["scan_count"], now["last_gate_id"], stand[late["scan_id"]])
        )
    assert found[0] == found[1] == ("scanned", 1, str(world.gates[1].id), ("admitted", None))
    assert await conflicts(world) == []
    assert await heads(world) == {"inside": 2, "irregular": 0, "entries": 2}


async def test_12_a_scan_that_claims_the_future_waits_and_does_not_displace_the_present(
    world: World,
):
    device, [ticket] = await world.device(), await world.tickets(1)
    body = signed_batch(device, await signed(world, device, ticket, -2 * HOUR))
    assert (await send(world, device, body)).status_code == 200
    assert await world.verdict(device, ticket.code) == "admitted"
    assert [each["kind"] for each in await alerts(world)].count("future_timestamp") == 1
    assert (await ticket_now(world, ticket))["scan_count"] == 1
    assert await conflicts(world) == []
