"""Signed scans, fifty at a time: POST /api/scanning/sync."""

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any
from uuid import uuid4

import pytest

from tests.scanning.manifest_support import fetch
from tests.scanning.node_support import another_node
from tests.scanning.recovery_support import accept, recover
from tests.scanning.support import Device, World
from tests.scanning.sync_support import conflicts, iso, send, signed, signed_batch, sync
from tests.support import MovableClock
from voelgoed.events.actions.events import move_event
from voelgoed.events.model import Transition
from voelgoed.scanning.actions.recount import recount_event
from voelgoed.ticketing.model.tickets import Ticket

MINUTE = timedelta(minutes=1)


async def test_offline_scans_are_stored_and_counted(world: World):
    device, (first, second) = await world.device(), await world.tickets(2)
    scans = [await signed(world, device, first), await signed(world, device, second)]
    answer = await sync(world, device, *scans)
    assert answer["processed"] == [each["scan_id"] for each in scans]
    assert (answer["skipped"], answer["rejected"], answer["conflicts"]) == ([], [], [])
    assert (await world.inside())["event"] == 2
    rows = await world.rows("SELECT source, outcome, status, batch_id FROM scan")
    assert {tuple(row.values())[:3] for row in rows} == {("offline_sync", "valid", "admitted")}


async def test_an_earlier_scan_that_arrives_later_is_the_first_entry(world: World):
    [ticket] = await world.tickets(1)
    north, south = await world.device(world.gates[0]), await world.device(world.gates[1])
    later = await signed(world, north, ticket, 10 * MINUTE)
    earlier = await signed(world, south, ticket, 11 * MINUTE)
    assert (await sync(world, north, later))["conflicts"] == []
    answer = await sync(world, south, earlier)
    [found] = answer["conflicts"]
    assert found == {
        "scan_id": later["scan_id"],
        "winner_scan_id": earlier["scan_id"],
        "kind": "double_entry",
        "severity": "critical",
    }
    assert await world.inside() == {
        "event": 2,
        "gate-0": 1,
        "gate-1": 1,
        str(ticket.zone_id): 2,
    }
    [kept] = await conflicts(world)
    assert kept["scan"]["status"] == "denied"
    assert kept["scan"]["reason_denied"] == "already_scanned"
    assert kept["winner"]["status"] == "admitted"


async def test_a_repeated_batch_gets_the_same_answer(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    await fetch(world, device)
    body = signed_batch(device, await signed(world, device, ticket))
    first = (await send(world, device, body)).json()
    again = (await send(world, device, body)).json()
    assert first["manifest_version"] is not None
    assert again.pop("message") == "Batch already synced (idempotent)"
    assert first.pop("server_time") <= again.pop("server_time")
    assert first == again


async def test_a_repeated_batch_whose_id_has_other_letters_is_another_batch(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    body = signed_batch(device, await signed(world, device, ticket))
    body["sync_batch_id"] = body["sync_batch_id"][:-4].lower() + "abcd"
    assert (await send(world, device, body)).status_code == 200
    body["sync_batch_id"] = body["sync_batch_id"].upper()
    answer = await send(world, device, body)
    assert (answer.status_code, answer.json()["error"]) == (409, "batch_id_reused")


async def test_a_denied_scan_does_not_count(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = await signed(world, device, ticket, outcome="gate_access_denied")
    await sync(world, device, scan)
    [kept] = await world.rows("SELECT status, reason_denied, outcome FROM scan")
    assert tuple(kept.values()) == ("denied", "wrong_gate", "gate_access_denied")
    assert await world.verdict(device, ticket.code) == "admitted"


async def test_the_audit_entry_of_a_scan_says_what_became_of_it(world: World):
    device, (let_in, turned_away) = await world.device(), await world.tickets(2)
    scans = [
        await signed(world, device, let_in),
        await signed(world, device, turned_away, outcome="gate_access_denied"),
    ]
    body = signed_batch(device, *scans)
    assert (await send(world, device, body)).status_code == 200
    entries = {
        entry["entity_id"]: entry
        for entry in await world.rows(
            "SELECT action, actor_kind, actor_id, entity_id, changes FROM audit_entry"
            " WHERE entity_type = 'Scan'"
        )
    }
    expected: dict[str, object] = {
        "gate_id": str(world.gates[0].id),
        "gate_name": world.gates[0].name,
        "device_id": str(device.id),
        "device_name": "iPad-Gate-1",
        "direction": "entry",
        "batch_id": body["sync_batch_id"],
    }
    first, second = (entries[scan["scan_id"]] for scan in scans)
    assert (first["action"], second["action"]) == ("ticket_scanned", "ticket_scan_denied")
    assert (second["actor_kind"], second["actor_id"]) == ("device", device.id)
    assert first["changes"] == expected | {
        "ticket_id": str(let_in.id),
        "ticket_code": let_in.code,
        "status": "admitted",
        "outcome": "valid",
        "scan_count": 1,
    }
    assert second["changes"] == expected | {
        "ticket_id": str(turned_away.id),
        "ticket_code": turned_away.code,
        "status": "denied",
        "outcome": "gate_access_denied",
        "reason": "wrong_gate",
    }


async def test_a_scan_signed_by_another_device_is_not_stored(world: World):
    device, other, [ticket] = await world.device(), await world.device(), await world.tickets(1)
    scan = await signed(world, device, ticket, key=other.api_key)
    answer = await sync(world, device, scan)
    assert answer["status"] == "partial_success"
    [rejected] = answer["rejected"]
    assert (rejected["scan_id"], rejected["error"]) == (scan["scan_id"], "invalid_signature")
    assert await world.rows("SELECT 1 FROM scan") == []
    [entry] = await world.rows("SELECT changes FROM audit_entry WHERE action = 'scan_refused'")
    assert entry["changes"]["error"] == "invalid_signature"


@pytest.mark.parametrize(
    "change",
    [
        {"scanned_at": "2026-01-01T00:00:00Z"},
        {"gate_id": "gate-1"},
        {"barcode_hash": "sha256:" + "1" * 64},
        {"ticket_id": None},
        {"scan_id": "00000000-0000-0000-0000-000000000001"},
    ],
)
async def test_a_signed_field_cannot_be_changed(world: World, change: dict[str, Any]):
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = await signed(world, device, ticket)
    answer = await sync(world, device, scan | change)
    assert [each["error"] for each in answer["rejected"]] == ["invalid_signature"]
    assert await world.rows("SELECT 1 FROM scan") == []


async def test_one_bad_scan_does_not_affect_the_others(world: World):
    device, tickets = await world.device(), await world.tickets(3)
    scans = [await signed(world, device, each) for each in tickets]
    scans[1]["signature"] = "HMAC-SHA256=" + "0" * 64
    answer = await sync(world, device, *scans)
    assert answer["processed"] == [scans[0]["scan_id"], scans[2]["scan_id"]]
    assert (await world.inside())["event"] == 2


async def test_the_same_scan_id_from_two_devices_is_the_first_ones(world: World):
    north, south = await world.device(world.gates[0]), await world.device(world.gates[1])
    one, two = await world.tickets(2)
    first = await signed(world, north, one)
    await sync(world, north, first)
    second = await signed(world, south, two, scan_id=first["scan_id"])
    [rejected] = (await sync(world, south, second))["rejected"]
    assert rejected["error"] == "scan_id_reused"
    assert len(await world.rows("SELECT 1 FROM scan")) == 1


async def test_a_scan_sent_again_with_another_outcome_is_a_replay(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = await signed(world, device, ticket)
    await sync(world, device, scan)
    [rejected] = (await sync(world, device, scan | {"outcome": "duplicate"}))["rejected"]
    assert rejected["error"] == "replayed_signature"
    assert (await world.inside())["event"] == 1


async def test_a_clock_that_is_off_is_corrected(world: World):
    """The clock is fifteen seconds behind, as the device knows: its scan came after the other, not
    before."""
    [ticket] = await world.tickets(1)
    slow, right = await world.device(world.gates[0]), await world.device(world.gates[1])
    behind = timedelta(seconds=15)
    now = world.now
    late = await signed(world, slow, ticket, at=now - MINUTE + timedelta(seconds=10) - behind)
    await sync(world, right, await signed(world, right, ticket, at=now - MINUTE))
    body = signed_batch(slow, late, offset_seconds=15)
    answer = await send(world, slow, body, **{"X-Device-Time": iso(world.now - behind)})
    reply = answer.json()
    assert reply["offset_seconds"] == 15
    assert 14 < reply["measured_offset_seconds"] < 60
    [found] = reply["conflicts"]
    assert found["scan_id"] == late["scan_id"]
    [kept] = await world.rows(
        "SELECT scanned_at, scanned_at_canonical FROM scan WHERE device_id = $1", slow.id
    )
    assert kept["scanned_at_canonical"] - kept["scanned_at"] == behind


async def test_a_device_that_lies_about_its_clock_is_not_believed(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = await signed(world, device, ticket, MINUTE)
    body = signed_batch(device, scan, offset_seconds=-3600)
    answer = await send(world, device, body, **{"X-Device-Time": iso(world.now)})
    assert abs(answer.json()["offset_seconds"]) < 60
    [kept] = await world.rows("SELECT scanned_at, scanned_at_canonical FROM scan")
    assert abs(kept["scanned_at_canonical"] - kept["scanned_at"]) < MINUTE
    alerts = await world.rows("SELECT kind, severity FROM scan_alert")
    assert [tuple(each.values()) for each in alerts] == [("clock_manipulation", "critical")]


async def test_a_scan_from_the_future_waits_for_review(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    await sync(world, device, await signed(world, device, ticket, -timedelta(hours=3)))
    [kept] = await world.rows("SELECT status, reason_denied, details FROM scan")
    assert (kept["status"], kept["reason_denied"]) == ("denied", "unverified")
    assert kept["details"]["unverified"] == "from_future"
    assert await world.inside() == {}
    kinds = {row["kind"] for row in await world.rows("SELECT kind FROM scan_alert")}
    assert kinds >= {"future_timestamp", "unverified_scans"}


async def test_the_device_is_told_which_of_its_scans_wait_for_review_and_why(world: World):
    device, (one, two, three) = await world.device(), await world.tickets(3)
    counted = await signed(world, device, one)
    ahead = await signed(world, device, two, -timedelta(hours=3), scan_id=str(uuid4()).upper())
    early = await signed(world, device, three, timedelta(days=90))
    told = await sync(world, device, counted, ahead, early)
    assert told["processed"] == [each["scan_id"] for each in (counted, ahead, early)]
    waiting = [
        {"scan_id": ahead["scan_id"], "reason": "from_future"},
        {"scan_id": early["scan_id"], "reason": "before_assignment"},
    ]
    assert (told["status"], told["rejected"], told["unverified"]) == ("completed", [], waiting)
    assert (await sync(world, device, counted, ahead, early))["unverified"] == waiting
    [kept] = await world.rows("SELECT batch_id FROM batch_sync WHERE state = 'unverified'")
    await accept(world, kept)
    again = await sync(world, device, counted, ahead, early)
    assert again["unverified"] == [], "somebody has decided"
    assert again["processed"] == told["processed"]


async def test_what_only_a_file_had_brought_waits_on_where_the_device_cannot_have_made_it(
    world: World,
):
    device, ticket = await world.device(), await world.ticket()
    scan = await signed(world, device, ticket, -timedelta(hours=3))
    await recover(world, device, scan)
    told = await sync(world, device, scan)
    assert told["unverified"] == [{"scan_id": scan["scan_id"], "reason": "from_future"}]


class TestTheRateLimit:
    """Ten batches a minute, and when to come again. While time stands still, only chance can make a
    difference."""

    @pytest.fixture
    def clock(self, clock: MovableClock) -> MovableClock:
        return clock.stop()

    async def refused(self, world: World, device: Device, tickets: list[Ticket]) -> int:
        """Ten batches are accepted; returns how long to wait with the eleventh."""
        scans = [await signed(world, device, each) for each in tickets]
        for scan in scans[:10]:
            await sync(world, device, scan)
        refused = await send(world, device, signed_batch(device, scans[10]))
        assert (refused.status_code, refused.json()["error"]) == (429, "rate_limited")
        return int(refused.headers["Retry-After"])

    async def test_each_device_gets_another_moment_after_its_minute(self, world: World):
        tickets = await world.tickets(11)
        waits = [await self.refused(world, await world.device(), tickets) for _ in range(10)]
        assert all(60 < wait <= 65 for wait in waits)
        assert len(set(waits)) > 1

    async def test_a_device_that_waited_so_long_is_accepted(
        self, world: World, clock: MovableClock
    ):
        device, tickets = await world.device(), await world.tickets(11)
        wait = await self.refused(world, device, tickets)
        eleventh = await signed(world, device, tickets[10])
        clock.ahead += timedelta(seconds=59)
        assert (await send(world, device, signed_batch(device, eleventh))).status_code == 429
        other = await world.device()
        await sync(world, other, await signed(world, other, tickets[10]))
        clock.ahead += timedelta(seconds=wait - 59)
        await sync(world, device, eleventh)


async def test_the_limit_is_one_for_all_nodes(world: World, database_url: str, clock: MovableClock):
    device, tickets = await world.device(), await world.tickets(11)
    scans = [await signed(world, device, each) for each in tickets]
    async with another_node(world, database_url, clock) as second:
        for at, scan in enumerate(scans[:10]):
            await sync(world if at % 2 else second, device, scan)
        for node in (world, second):
            refused = await send(node, device, signed_batch(device, scans[10]))
            assert refused.status_code == 429


async def test_an_unknown_and_a_forged_ticket_are_stored_as_denied(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    text = await world.barcode(ticket)
    forged = text[:-1] + ("0" if text[-1] != "0" else "1")
    unknown = await signed(world, device, None, outcome="invalid")
    hashed = f"sha256:{sha256(forged.encode()).hexdigest()}"
    false = await signed(
        world, device, None, outcome="invalid", ticket_code=forged, barcode_hash=hashed
    )
    answer = await sync(world, device, unknown, false)
    assert len(answer["processed"]) == 2
    rows = await world.rows("SELECT reason_denied, ticket_id FROM scan")
    assert {tuple(row.values()) for row in rows} == {("ticket_not_found", None)}
    kinds = {row["kind"] for row in await world.rows("SELECT kind FROM scan_alert")}
    assert kinds == {"forged_barcode", "ticket_not_found", "high_error_rate_batch"}


async def test_a_text_that_does_not_match_its_hash_is_not_stored(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    text = await world.barcode(ticket)
    scan = await signed(world, device, ticket, ticket_code=text[:-1] + "%")
    [rejected] = (await sync(world, device, scan))["rejected"]
    assert rejected["error"] == "invalid_signature"
    assert (await sync(world, device, scan | {"ticket_code": text}))["rejected"] == []


async def test_a_device_that_believes_it_is_1970(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    behind = world.now - datetime(1970, 1, 1, tzinfo=UTC)
    scan = await signed(world, device, ticket, behind + MINUTE)
    body = signed_batch(device, scan, offset_seconds=behind.total_seconds())
    answer = await send(world, device, body, **{"X-Device-Time": iso(world.now - behind)})
    assert answer.json()["processed"] == [scan["scan_id"]]
    [kept] = await world.rows("SELECT scanned_at_canonical FROM scan")
    assert timedelta(0) < world.now - kept["scanned_at_canonical"] < 2 * MINUTE


@pytest.mark.parametrize("moment", ["9999-12-31T23:59:58Z", "0001-01-01T00:00:00Z"])
async def test_an_invalid_moment_is_refused(world: World, moment: str):
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = await signed(world, device, ticket, scanned_at=moment)
    answer = await send(world, device, signed_batch(device, scan, offset_seconds=15))
    assert (answer.status_code, answer.json()["error"]) == (400, "batch_malformed")


class TestLostAnswers:
    """The server decided, the answer got lost, and the device decided alone, under the same id."""

    async def test_the_same_decision_is_processed_once(self, world: World):
        device, [ticket] = await world.device(), await world.tickets(1)
        scan = await signed(world, device, ticket, timedelta())
        await world.verdict(device, ticket.code, scan_id=scan["scan_id"])
        answer = await sync(world, device, scan)
        assert (answer["processed"], answer["skipped"]) == ([scan["scan_id"]], [])
        assert (await world.inside())["event"] == 1

    async def test_the_server_denied_and_the_device_let_in(self, world: World):
        north, south = await world.device(world.gates[0]), await world.device(world.gates[1])
        [ticket] = await world.tickets(1)
        assert await world.verdict(north, ticket.code) == "admitted"
        scan = await signed(world, south, ticket, timedelta())
        denied = await world.verdict(south, ticket.code, scan_id=scan["scan_id"])
        assert denied == "already_scanned"
        answer = await sync(world, south, scan)
        assert answer["processed"] == [scan["scan_id"]]
        [found] = answer["conflicts"]
        assert (found["kind"], found["scan_id"]) == ("double_entry", scan["scan_id"])
        assert (await sync(world, south, scan))["processed"] == [scan["scan_id"]]
        assert len(await conflicts(world)) == 1
        [kept] = await world.rows(
            f"SELECT source, outcome FROM scan WHERE id = '{scan['scan_id']}'"
        )
        assert tuple(kept.values()) == ("online", None), (
            "the scan stays what it was, a ruling says more"
        )

    async def test_the_server_admitted_and_the_device_denied(self, world: World):
        device, [ticket] = await world.device(), await world.tickets(1)
        scan = await signed(world, device, ticket, timedelta(), outcome="gate_access_denied")
        assert await world.verdict(device, ticket.code, scan_id=scan["scan_id"]) == "admitted"
        assert (await sync(world, device, scan))["processed"] == [scan["scan_id"]]
        assert (await world.inside())["event"] == 0
        assert (await sync(world, device, scan))["processed"] == [scan["scan_id"]]
        assert await world.verdict(device, ticket.code) == "admitted"
        database = world.services.database
        assert await recount_event(database, world.tenant.id, world.event_id) == []

    async def test_a_device_that_changes_its_outcome_is_believed_each_time(self, world: World):
        device, [ticket] = await world.device(), await world.tickets(1)
        scan = await signed(world, device, ticket, timedelta(), outcome="invalid")
        assert await world.verdict(device, ticket.code, scan_id=scan["scan_id"]) == "admitted"
        for outcome, inside in (("invalid", 0), ("valid", 1), ("invalid", 0)):
            answer = await sync(world, device, scan | {"outcome": outcome})
            assert answer["processed"] == [scan["scan_id"]]
            assert (await world.inside())["event"] == inside
        database = world.services.database
        assert await recount_event(database, world.tenant.id, world.event_id) == []

    async def test_an_exit_for_which_the_server_knew_no_entry(self, world: World):
        device, [ticket] = await world.device(), await world.tickets(1)
        entry = await signed(world, device, ticket, MINUTE)
        leaving = await signed(world, device, ticket, timedelta(), direction="exit")
        reply = await world.verdict(
            device, ticket.code, scan_id=leaving["scan_id"], direction="exit"
        )
        assert reply == "not_inside"
        await sync(world, device, entry, leaving)
        assert (await world.inside())["event"] == 0
        rows = await world.rows("SELECT entries, exits FROM occupancy WHERE scope = 'event'")
        assert [tuple(row.values()) for row in rows] == [(1, 1)]


async def test_after_an_annulment_of_the_winner_the_other_entry_counts(world: World):
    north, south = await world.device(world.gates[0]), await world.device(world.gates[1])
    [ticket] = await world.tickets(1)
    first, second = [
        await signed(world, d, ticket, n * MINUTE) for d, n in ((north, 9), (south, 8))
    ]
    await sync(world, north, first)
    await sync(world, south, second)
    path = f"/api/scanning/scans/{first['scan_id']}/annulment"
    assert (await world.ask("POST", path, {"reason": "turnstile"})).status_code < 300
    assert await conflicts(world) == []
    inside = await world.inside()
    assert (inside["gate-0"], inside["gate-1"]) == (0, 1)
    database = world.services.database
    assert await recount_event(database, world.tenant.id, world.event_id) == []


async def test_a_revoked_device_delivers_nothing(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = await signed(world, device, ticket)
    await world.ask("DELETE", f"/api/scanning/devices/{device.id}")
    answer = await send(world, device, signed_batch(device, scan))
    assert (answer.status_code, answer.json()["error"]) == (401, "device_inactive")
    assert await world.rows("SELECT 1 FROM scan") == []


async def test_a_device_cannot_deliver_in_the_name_of_another(world: World):
    device, other, [ticket] = await world.device(), await world.device(), await world.tickets(1)
    scan = await signed(world, device, ticket)
    answer = await send(world, device, signed_batch(device, scan, device_id=str(other.id)))
    assert (answer.status_code, answer.json()["error"]) == (403, "device_mismatch")


async def test_scans_at_an_unknown_gate_are_rejected(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    wrong = await signed(world, device, ticket, gate_id="nowhere")
    by_id = await signed(world, device, ticket, gate_id=str(world.gates[1].id))
    answer = await sync(world, device, wrong, by_id)
    assert [each["error"] for each in answer["rejected"]] == ["gate_not_found"]
    assert (await world.inside())["gate-1"] == 1


async def test_scans_of_the_event_can_be_delivered_after_it(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = await signed(world, device, ticket)
    owner = world.tenant.caller("owner")
    await move_event(world.services.database, owner, world.event_id, Transition(to="ended"))
    await sync(world, device, scan)
    assert (await world.inside())["event"] == 1
