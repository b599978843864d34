"""The seven scenarios of the specification (scanner_offline_sync.md, section 12), and worse ones, with
the reference device over real HTTP."""

import asyncio
import math
import re
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import msgspec
import pytest

from tests.device.support import Gatehouse, LiveClocks, Sleeper
from tests.processes import EXECUTABLE, ServerProcess
from tests.scanning.support import a_world
from tests.support import MovableClock, free_port
from voelgoed.device.client import Device
from voelgoed.device.link import Link
from voelgoed.device.model import KeyRefused, ScanAnswer, ServerAway, SyncReport
from voelgoed.device.scanning import scan
from voelgoed.device.sync import TOGETHER_MAX, sync
from voelgoed.device.whole_queue import export_queue, sync_whole_queue
from voelgoed.scanning.rules.manifest import moment_text
from voelgoed.ticketing.model.tickets import Ticket

DEVICES = 20
SCANS_EACH = 51
"""More scans than fit into a batch."""


async def shown(gates: Gatehouse, device: Device, ticket: Ticket) -> ScanAnswer:
    return await scan(device, await gates.world.barcode(ticket), offline=True)


async def canonical(gates: Gatehouse, scan_id: UUID) -> object:
    return (await gates.kept())[scan_id]["scanned_at_canonical"]


async def test_1_from_the_manifest_to_the_conflict(gates: Gatehouse):
    one, two = await gates.world.tickets(2)
    north, south = await gates.device(0), await gates.device(1)
    first = await shown(gates, north, one)
    other = await shown(gates, north, two)
    again = await shown(gates, north, one)
    gates.pass_(seconds=10)
    elsewhere = await shown(gates, south, one)
    assert [first.colour, other.colour, again.colour] == ["green", "green", "red"]
    assert (again.outcome, again.reason) == ("duplicate", "already_scanned")
    assert elsewhere.colour == "green", "south cannot know of north"
    assert (await sync(north)).conflicts == [], "north and the server denied the same scan"
    report = await sync(south)
    assert report.conflicts == [elsewhere.scan_id]
    await gates.require_nothing_lost()
    assert await gates.resolutions(one) == {
        first.scan_id: "admitted",
        again.scan_id: "already_scanned",
        elsewhere.scan_id: "already_scanned",
    }
    conflicts = await gates.conflicts()
    assert {each["winner_scan_id"] for each in conflicts} == {str(first.scan_id)}
    assert {UUID(each["scan_id"]): (each["kind"], each["severity"]) for each in conflicts} == {
        elsewhere.scan_id: ("double_entry", "critical"),
    }


async def test_a_person_who_left_and_comes_too_early_learns_when_to_return(gates: Gatehouse):
    [ticket] = await gates.world.tickets(1)
    north = await gates.device(0)
    barcode = await gates.world.barcode(ticket)
    await scan(north, barcode, offline=True)
    gates.pass_(seconds=50)
    await scan(north, barcode, "exit", offline=True)
    gates.pass_(seconds=10)
    alone = await scan(north, barcode, offline=True)
    entered, left, _ = north.store.scans()
    assert alone.left_at == left.scanned_at_corrected
    assert alone.may_return_at == entered.scanned_at_corrected + timedelta(seconds=300)
    assert re.search(r" Left \d+ s ago\. May return in \d+ min\.$", alone.message)
    await sync(north)
    kept = await gates.kept()
    left_at = kept[left.scan_id]["scanned_at_canonical"]
    returns_at = kept[entered.scan_id]["scanned_at_canonical"] + timedelta(seconds=300)
    online = await scan(north, barcode)
    assert not online.is_offline
    assert (online.left_at, online.may_return_at) == (left_at, returns_at)


async def test_2_an_earlier_scan_that_arrives_later_is_the_first_entry(gates: Gatehouse):
    [ticket] = await gates.world.tickets(1)
    north, south = await gates.device(0), await gates.device(1)
    first = await shown(gates, north, ticket)
    gates.pass_(seconds=10)
    second = await shown(gates, south, ticket)
    await sync(south)
    assert await gates.resolutions(ticket) == {second.scan_id: "admitted"}
    report = await sync(north)
    assert len(report.conflicts) == 1
    assert await gates.resolutions(ticket) == {
        first.scan_id: "admitted",
        second.scan_id: "already_scanned",
    }
    [conflict] = await gates.conflicts()
    assert (conflict["kind"], conflict["severity"]) == ("double_entry", "critical")
    assert conflict["winner_scan_id"] == str(first.scan_id)


async def test_3_a_clock_that_is_15_seconds_off_is_corrected(gates: Gatehouse):
    [ticket] = await gates.world.tickets(1)
    fast = LiveClocks(timedelta(seconds=15))
    north = await gates.device(0, clock=fast.device_clock())
    south = await gates.device(1)
    first = await shown(gates, north, ticket)
    gates.pass_(seconds=10)
    fast.pass_(seconds=10)
    second = await shown(gates, south, ticket)
    by_device = {
        scan.scan_id: scan.scanned_at for each in gates.devices for scan in each.store.scans()
    }
    assert by_device[first.scan_id] > by_device[second.scan_id]
    await sync(north)
    await sync(south)
    assert await canonical(gates, first.scan_id) < await canonical(gates, second.scan_id)
    assert (await gates.resolutions(ticket))[first.scan_id] == "admitted"
    for device in gates.devices:
        for kept in device.store.scans():
            assert kept.scanned_at_corrected == await canonical(gates, kept.scan_id)


async def test_4_a_network_that_fails_in_the_middle_loses_nothing(gates: Gatehouse):
    tickets = await gates.world.tickets(120)
    device = await gates.device()
    for ticket in tickets:
        await shown(gates, device, ticket)

    async def gone_after_two_batches(seconds: float) -> None:
        gates.network.is_down = False

    device.sleep = Sleeper(gone_after_two_batches)
    gates.network.will("answer_lost", "request_cut", "down", "answer_cut")
    report = await sync(device)
    assert (report.synced, report.left) == (120, 0)
    assert gates.network.happened == ["answer_lost", "request_cut", "down", "answer_cut"]
    await gates.require_nothing_lost()
    assert await gates.conflicts() == []


async def informed_of_changes(gates: Gatehouse, device: Device) -> None:
    """Servers look for changes at intervals; a device learns of them with a heartbeat after that."""
    clock, manifests = gates.world.services.clock, gates.world.services.manifests
    assert isinstance(clock, MovableClock)
    clock.ahead += timedelta(minutes=1)
    await device.beat()
    await manifests.is_idle()
    await device.beat()


async def test_5_a_device_fetches_changes_and_refuses_an_expired_manifest(gates: Gatehouse):
    device = await gates.device()
    assert device.register is not None
    version = device.register.manifest.manifest_version
    [ticket] = await gates.world.tickets(1)
    voided = await gates.world.ticket("A1")
    await informed_of_changes(gates, device)
    assert device.register.manifest.manifest_version > version
    assert {ticket.id, voided.id} <= device.register.by_ticket.keys()
    await gates.world.sales.void(voided.id)
    await informed_of_changes(gates, device)
    assert device.register.by_ticket[voided.id].status == "voided"
    assert not await device.hydrate()
    assert (await shown(gates, device, ticket)).colour == "green"
    clocks = LiveClocks()
    again = gates.reopened(device, clock=clocks.device_clock())
    clocks.pass_(days=365 * 10)
    late = await shown(gates, again, ticket)
    assert (late.colour, late.outcome) == ("red", "expired")
    assert "expired" in late.message


async def test_6_scans_of_a_lost_device_are_flagged_until_somebody_has_reviewed_them(
    gates: Gatehouse,
):
    """It was revoked with a queue; one person in that queue came in at another gate too, afterwards."""
    world = gates.world
    one, two, contested = tickets = await world.tickets(3)
    lost, south = await gates.device(0), await gates.device(1)
    alone = [await shown(gates, lost, ticket) for ticket in tickets]
    assert {each.colour for each in alone} == {"green"}
    gates.pass_(seconds=10)
    elsewhere = await scan(south, await world.barcode(contested))
    assert (elsewhere.colour, elsewhere.is_offline) == ("green", False)

    path = f"/api/scanning/devices/{lost.identity.device_id}"
    assert (await world.ask("DELETE", path, by="owner")).status_code == 204
    report = await sync(lost)
    assert (report.left, report.reason) == (3, str(KeyRefused()))
    with pytest.raises(KeyRefused):
        await scan(lost, one.code)
    assert (lost.register, lost.store.manifest) == (None, None), "it has no business with the list"
    assert set(await gates.kept()) == {elsewhere.scan_id}
    file = await exported(lost, gates.directory / "queue.json")

    answer = await world.ask("POST", "/api/scanning/recoveries", file, by="admin")
    assert answer.status_code == 200, answer.text
    imported = answer.json()["data"]
    assert (imported["kept"], imported["known"], imported["rejected"]) == (3, 0, 0)
    assert (imported["wrong_signatures"], imported["doubtful"]) == (0, 0)
    kept = await gates.kept()
    for each in alone:
        scan_row = kept[each.scan_id]
        assert (scan_row["source"], scan_row["reason_denied"]) == ("recovered", "unverified")
    assert await gates.resolutions(one) == {alone[0].scan_id: "unverified"}
    assert (await world.inside())["event"] == 1
    assert await entries(gates, tickets) == [0, 0, 1]
    assert await gates.conflicts() == []
    listed = await world.ask("GET", f"/api/scanning/events/{world.event_id}/recoveries")
    assert [each["state"] for each in listed.json()["data"]] == ["unverified"]
    alerts = await world.ask("GET", f"/api/scanning/events/{world.event_id}/alerts")
    found = {each["kind"] for each in alerts.json()["data"]}
    assert {"revoked_device_sync", "unverified_scans"} <= found

    path = f"/api/scanning/recoveries/{imported['batch_id']}"
    looked_at = (await world.ask("GET", path)).json()["data"]["scans"]
    assert {each["id"] for each in looked_at} == {str(each.scan_id) for each in alone}
    assert all(each["signature_valid"] for each in looked_at)
    reviewed = await world.ask("POST", f"{path}/transitions", {"to": "accepted", "note": "found"})
    assert reviewed.json()["data"]["state"] == "accepted"
    assert await gates.resolutions(one) == {alone[0].scan_id: "admitted"}
    assert await gates.resolutions(two) == {alone[1].scan_id: "admitted"}
    assert await gates.resolutions(contested) == {
        alone[2].scan_id: "admitted",
        elsewhere.scan_id: "already_scanned",
    }
    inside = await world.inside()
    assert (inside["event"], inside["gate-0"], inside["gate-1"]) == (4, 3, 1)
    assert await entries(gates, tickets) == [1, 1, 1]
    assert await gates.differences() == []
    [conflict] = await gates.conflicts()
    assert (conflict["kind"], conflict["severity"]) == ("double_entry", "critical")
    assert conflict["scan_id"] == str(elsewhere.scan_id)
    assert conflict["winner_scan_id"] == str(alone[2].scan_id)


async def exported(device: Device, file: Path) -> Any:
    """Exports by the command, as the person who finds the device would do it."""
    device.close()
    command = [EXECUTABLE, "device", "export", file, "--state", device.store.path]
    process = await asyncio.create_subprocess_exec(*command)
    assert await process.wait() == 0
    return msgspec.json.decode(file.read_bytes())


async def entries(gates: Gatehouse, tickets: Sequence[Ticket]) -> list[int]:
    """Entries with each of the tickets."""
    rows = await gates.world.rows("SELECT id, scan_count FROM ticket")
    counts = {row["id"]: row["scan_count"] for row in rows}
    return [counts[ticket.id] for ticket in tickets]


@pytest.mark.own_database
async def test_7_many_devices_come_back_at_once_after_an_outage(
    gates: Gatehouse, server: ServerProcess
):
    """Each device has a queue for which one minute's limit is not enough. The server is not overloaded, and
    nothing is lost."""
    tickets = await gates.world.tickets(SCANS_EACH)
    barcodes = [await gates.world.barcode(ticket) for ticket in tickets]
    sleepers = [await ready_for_the_outage(gates, number) for number in range(DEVICES)]
    gates.network.lead_to(f"http://127.0.0.1:{free_port()}")
    gates.network.answers.clear()
    for place in range(SCANS_EACH):
        for number, device in enumerate(gates.devices):
            await scan(device, barcodes[(number + place) % SCANS_EACH], offline=True)
    reports = await asyncio.gather(*(sync(device) for device in gates.devices))
    assert {report.left for report in reports} == {SCANS_EACH}
    assert gates.network.answers == [], "nobody is there"

    gates.network.lead_to(await server.start(sync_batches_per_minute_max="1"))
    reports = await asyncio.gather(*(sync(device) for device in gates.devices))
    assert {(report.synced, report.failed, report.left) for report in reports} == {
        (SCANS_EACH, 0, 0)
    }
    await gates.require_nothing_lost()
    batches = math.ceil(SCANS_EACH / TOGETHER_MAX)
    for device in gates.devices:
        heard = [
            (answer.path, answer.status)
            for answer in gates.network.answers
            if answer.api_key == device.identity.api_key
        ]
        was_taken, was_refused = ("/api/scanning/sync", 200), ("/api/scanning/sync", 429)
        assert heard == [was_taken, *[was_refused, was_taken] * (batches - 1)]
    late = [each for sleeper in sleepers for each in sleeper.late_s]
    assert len(late) == DEVICES * (batches - 1)
    assert max(late) - min(late) > 2, "they would all return at once"
    for ticket in tickets:
        resolutions = list((await gates.resolutions(ticket)).values())
        assert len(resolutions) == DEVICES
        assert resolutions.count("admitted") == 1
    assert (await gates.world.inside())["event"] == DEVICES * len(tickets), "every head counts"
    assert await gates.differences() == []
    [kept] = await gates.world.rows("SELECT count(*) AS batches FROM batch_sync")
    assert kept["batches"] == DEVICES * batches


async def ready_for_the_outage(gates: Gatehouse, number: int) -> "RateLimitWait":
    waiting = RateLimitWait(gates)
    waiting.device = await gates.device(number % 2, sleep=waiting)
    return waiting


class RateLimitWait:
    """A device waits only as far as the server's limit can notice."""

    device: Device

    def __init__(self, gates: Gatehouse) -> None:
        self._gates = gates
        self.late_s: list[float] = []
        """How long after the end of its minute a device is to come again."""

    async def __call__(self, seconds: float) -> None:
        api_key, key = self.device.identity.api_key, f"sync:%:{self.device.identity.device_id}"
        world = self._gates.world
        async with world.services.database.transaction(world.tenant.id) as tx:
            left = await tx.connection.fetchval(
                "SELECT window_ends_at - now() FROM rate_limit WHERE key LIKE $1", key
            )
            await tx.connection.execute(
                "UPDATE rate_limit SET window_ends_at = window_ends_at - $2::interval WHERE key LIKE $1",
                key,
                timedelta(seconds=seconds),
            )
        asked = [each for each in self._gates.network.answers if each.api_key == api_key][-1:]
        if asked and asked[0].retry_after_s is not None:
            self.late_s.append(asked[0].retry_after_s - left.total_seconds())


async def test_a_scan_that_another_device_signed_is_not_kept(gates: Gatehouse):
    [ticket] = await gates.world.tickets(1)
    north, south = await gates.device(0), await gates.device(1)
    await shown(gates, north, ticket)
    with south.store.transaction():
        south.store.add_scan(north.store.scans()[0])
    report = await sync(south)
    assert (report.synced, report.failed) == (0, 1)
    assert "invalid_signature" in str(south.store.scans("failed")[0].last_error)
    assert await gates.kept() == {}
    assert (await sync(north)).synced == 1


async def test_the_same_scan_id_from_two_devices_is_the_first_ones(gates: Gatehouse):
    one, two = await gates.world.tickets(2)
    north, south = await gates.device(0), await gates.device(1)
    first = await shown(gates, north, one)
    south.new_id = lambda: first.scan_id
    await shown(gates, south, two)
    del south.new_id
    await sync(north)
    report = await sync(south)
    assert (report.synced, report.failed) == (0, 1)
    assert "scan_id_reused" in str(south.store.scans("failed")[0].last_error)
    [kept] = (await gates.kept()).values()
    assert kept["device_id"] == north.identity.device_id


async def test_a_false_claim_about_a_clock_raises_the_alert(gates: Gatehouse):
    [ticket] = await gates.world.tickets(1)
    device = await gates.device()
    answer = await shown(gates, device, ticket)
    [honest] = device.store.scans()
    lie = msgspec.structs.replace(
        honest, scanned_at_corrected=honest.scanned_at - timedelta(minutes=30)
    )
    body = {
        "device_id": device.identity.device_id,
        "sync_batch_id": device.new_id(),
        "offset_seconds": -1800.0,
        "scans": [
            {
                "scan_id": lie.scan_id,
                "ticket_id": lie.ticket_id,
                "barcode_hash": lie.barcode_hash,
                "scanned_at": moment_text(lie.scanned_at),
                "gate_id": lie.gate_id,
                "outcome": lie.outcome,
                "signature": lie.signature,
            }
        ],
    }
    reply = await device.ask("POST", "/api/scanning/sync", msgspec.json.encode(body))
    assert reply.status == 200, reply.body
    assert abs(msgspec.json.decode(reply.body)["offset_seconds"]) < 60
    at = await canonical(gates, answer.scan_id)
    assert abs(at - honest.scanned_at) < timedelta(seconds=60)
    alerts = await gates.world.ask("GET", f"/api/scanning/events/{gates.world.event_id}/alerts")
    assert "clock_manipulation" in {each["kind"] for each in alerts.json()["data"]}


async def test_a_clock_that_jumps_back_between_two_scans(gates: Gatehouse):
    """Nobody is let in twice because of it, the server stores both scans in their order, and somebody is told."""
    one, two = await gates.world.tickets(2)
    clocks = LiveClocks()
    device = await gates.device(clock=clocks.device_clock())
    first = await shown(gates, device, one)
    for each in (gates, clocks):  # an offset is as exact as the answer was quick
        each.pass_(seconds=10)
    clocks.off -= timedelta(hours=2)
    again = await shown(gates, device, one)
    other = await shown(gates, device, two)
    assert (again.reason, other.colour) == ("already_scanned", "green")
    report = await sync(device)
    assert (report.synced, report.failed) == (3, 0)
    moments = [await canonical(gates, each.scan_id) for each in (first, again, other)]
    assert moments == sorted(moments)
    assert moments[2] - moments[0] < timedelta(minutes=1)
    assert (await gates.resolutions(one))[first.scan_id] == "admitted"
    alerts = await gates.world.ask("GET", f"/api/scanning/events/{gates.world.event_id}/alerts")
    assert [each["kind"] for each in alerts.json()["data"]] == ["clock_skew"]


async def test_scans_of_a_clock_that_only_seemed_to_jump_are_corrected_afterwards(
    gates: Gatehouse,
):
    """A device that slept, and has no clock that goes on meanwhile, takes the elapsed time for a jump."""
    [ticket] = await gates.world.tickets(1)
    clocks = LiveClocks(timedelta(hours=-2))
    device = await gates.device(clock=clocks.device_clock())
    clocks.off = timedelta()
    device.clock.offset = timedelta()  # a server for which the two hours passed as well
    answer = await shown(gates, device, ticket)
    [kept] = device.store.scans()
    assert not kept.is_measured
    assert abs(kept.scanned_at_corrected - gates.world.now) > timedelta(hours=1)
    assert (await sync(device)).synced == 1
    at = await canonical(gates, answer.scan_id)
    assert abs(at - gates.world.now) < timedelta(minutes=1)


async def test_scans_of_a_clock_that_was_never_compared_are_corrected_afterwards(gates: Gatehouse):
    """The device was paired, and then alone with a wrong clock; the first answer corrects its scans."""
    [ticket] = await gates.world.tickets(1)
    clocks = LiveClocks(timedelta(minutes=-20))
    device = await gates.device(clock=clocks.device_clock())
    device.clock.is_measured, device.clock.offset = False, timedelta()
    answer = await shown(gates, device, ticket)
    await device.beat()
    await sync(device)
    at = await canonical(gates, answer.scan_id)
    assert abs(at - gates.world.now) < timedelta(minutes=1)


async def test_a_scan_is_corrected_again_when_the_first_answer_took_long(gates: Gatehouse):
    [ticket] = await gates.world.tickets(1)
    clocks = LiveClocks(timedelta(minutes=-20))
    device = await gates.device(clock=clocks.device_clock())
    device.clock.is_measured, device.clock.offset = False, timedelta()
    answer = await shown(gates, device, ticket)
    device.ledger.learn(1900.0, 1000.0)
    [kept] = device.store.scans()
    assert kept.scanned_at_corrected - kept.scanned_at == timedelta(seconds=1400)
    assert not kept.is_measured
    assert (await sync(device)).synced == 1
    [kept] = device.store.scans()
    assert kept.scanned_at_corrected == await canonical(gates, answer.scan_id)
    error = kept.scanned_at_corrected - kept.scanned_at - timedelta(minutes=20)
    assert abs(error) < timedelta(seconds=60)


async def test_online_while_the_clock_is_known_to_be_an_hour_off_the_server_decides(
    gates: Gatehouse,
):
    [ticket] = await gates.world.tickets(1)
    clocks = LiveClocks(timedelta(hours=1))
    device = await gates.device(clock=clocks.device_clock())
    answer = await scan(device, await gates.world.barcode(ticket))
    assert (answer.outcome, answer.is_offline) == ("valid", False)
    await gates.require_nothing_lost()
    at = await canonical(gates, answer.scan_id)
    assert abs(at - gates.world.now) < timedelta(minutes=1)


async def test_online_while_the_error_of_the_clock_is_unknown_the_device_decides(
    gates: Gatehouse,
):
    [ticket] = await gates.world.tickets(1)
    clocks = LiveClocks(timedelta(hours=1))
    device = await gates.device(clock=clocks.device_clock())
    device.clock.is_measured, device.clock.offset = False, timedelta()
    answer = await scan(device, await gates.world.barcode(ticket))
    assert answer.is_offline
    await sync(device)
    await gates.require_nothing_lost()
    at = await canonical(gates, answer.scan_id)
    assert abs(at - gates.world.now) < timedelta(minutes=1)


SIGN_IN = "<html>Welcome to the stadium's network. Please sign in.</html>"


@pytest.mark.parametrize("status", [200, 302, 400, 401, 403, 404, 409, 413, 422, 429, 511])
async def test_an_answer_from_something_other_than_the_server_is_no_answer(
    gates: Gatehouse, status: int
):
    """The device decides, and its scans go on waiting."""
    [ticket] = await gates.world.tickets(1)
    device = await gates.device()
    with device.store.transaction():
        device.store.keep_rotation_id(device.new_id())
    headers = {"Location": "http://sign-in.test/", "Content-Type": "text/html"}
    transport = httpx.MockTransport(lambda _: httpx.Response(status, headers=headers, text=SIGN_IN))
    ours = device.link
    async with httpx.AsyncClient(transport=transport) as portal:
        device.link = Link(portal)
        answer = await scan(device, await gates.world.barcode(ticket))
        assert (answer.outcome, answer.is_offline) == ("valid", True)
        for _ in range(3):
            report = await sync(device)
            assert (report.left, report.failed) == (1, 0)
    device.link = ours
    with device.store.transaction():
        device.store.forget_rotation_id()
    assert (await sync(device)).synced == 1
    await gates.require_nothing_lost()


async def test_nobody_at_a_gate_waits_for_a_new_key(gates: Gatehouse):
    [ticket] = await gates.world.tickets(1)
    device = await gates.device()
    before = device.identity.api_key
    path = f"/api/scanning/devices/{device.identity.device_id}/key-rotations"
    await gates.world.ask("POST", path, by="owner")
    gates.network.will("answer_lost")
    with pytest.raises(ServerAway):
        await device.rotate()
    answer = await scan(device, await gates.world.barcode(ticket))
    assert (answer.outcome, answer.is_offline) == ("valid", True)
    assert device.identity.api_key == before
    assert (await sync(device)).synced == 1
    assert device.identity.api_key != before
    await gates.require_nothing_lost()


async def test_online_and_offline_scans_take_turns(gates: Gatehouse):
    """An online admission is known offline, and an offline one online."""
    one, two = await gates.world.tickets(2)
    device = await gates.device()
    barcode, other = [await gates.world.barcode(each) for each in (one, two)]
    assert (await scan(device, barcode)).colour == "green"
    assert (await scan(device, barcode, offline=True)).reason == "already_scanned"
    assert (await scan(device, other, offline=True)).colour == "green"
    await sync(device)
    assert (await scan(device, other)).reason == "already_scanned"
    await device.hydrate()
    assert (await scan(device, barcode, offline=True)).reason == "already_scanned"
    assert (await scan(device, barcode, "exit", offline=True)).colour == "green"
    assert (await scan(device, barcode, "exit", offline=True)).reason == "not_inside"
    await sync(device)
    await gates.require_nothing_lost()


@pytest.mark.parametrize("deliver", [sync, sync_whole_queue])
async def test_scans_of_one_event_count_there_though_the_device_is_at_another(
    gates: Gatehouse, deliver: Callable[[Device], Awaitable[SyncReport]]
):
    """Both events have gates with the same codes."""
    world = gates.world
    elsewhere = await a_world(world.services, world.client, world.tenant, gates=2)
    assert [gate.code for gate in elsewhere.gates] == [gate.code for gate in world.gates]
    one, two = await world.tickets(2)
    device = await gates.device()
    first = [await shown(gates, device, each) for each in (one, two)]
    assert {each.colour for each in first} == {"green"}
    await gates.move(device, elsewhere.gates[0])
    await device.beat()
    assert device.identity.event_id == elsewhere.event_id
    export_queue(device, gates.directory / "queue.json")
    exported = msgspec.json.decode((gates.directory / "queue.json").read_bytes())
    assert {each["gate_id"] for each in exported["scans"]} == {str(world.gates[0].id)}
    report = await deliver(device)
    assert (report.synced, report.failed, report.conflicts) == (2, 0, [])
    await gates.require_nothing_lost()
    for kept in (await gates.kept()).values():
        assert (kept["event_id"], kept["gate_id"]) == (world.event_id, world.gates[0].id)
        assert kept["status"] == "admitted"


@pytest.mark.own_database
async def test_a_server_that_is_killed_and_started_again_in_between(
    gates: Gatehouse, server: ServerProcess
):
    """It is killed after it has stored the first batch, and before its answer is sent."""
    tickets = await gates.world.tickets(60)
    device = await gates.device()
    for ticket in tickets:
        await shown(gates, device, ticket)
    gates.network.lead_to(await server.start())
    gates.network.answers.clear()
    gates.network.will("answer_lost")

    async def meanwhile(seconds: float) -> None:
        if len(slept.slept) == 1:
            await server.kill()
        elif len(slept.slept) == 3:
            gates.network.lead_to(await server.start())

    device.sleep = slept = Sleeper(meanwhile)
    report = await sync(device)
    assert (report.synced, report.left, report.requests) == (60, 0, 5)
    assert (server.starts, len(slept.slept)) == (2, 3)
    assert [answer.status for answer in gates.network.answers] == [200] * 3
    await gates.require_nothing_lost()
    [kept] = await gates.world.rows("SELECT count(*) AS batches FROM batch_sync")
    assert kept["batches"] == 2
    assert (await gates.world.inside())["event"] == 60
