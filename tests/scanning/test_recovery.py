"""A file of scans that a device could not send: it is stored at once, and counts for nothing."""

from datetime import timedelta
from uuid import uuid4

import pytest

from tests.conftest import MASTER_KEY
from tests.scanning.alert_support import alerts, kinds
from tests.scanning.node_support import another_node, hear, socket, subscribe
from tests.scanning.recovery_support import (
    PATH,
    accept,
    decide,
    exported,
    recover,
    revoke,
    send_file,
    shown,
)
from tests.scanning.support import Device, World
from tests.scanning.sync_support import conflicts, iso, send, signed, signed_batch, sync
from tests.support import MovableClock, Tenant
from voelgoed.infra.master_key import MasterKey

NOW, MINUTE, DAY = timedelta(0), timedelta(minutes=1), timedelta(days=1)


async def test_scans_of_a_revoked_device_are_stored_and_count_for_nothing(world: World):
    device, (first, second) = await world.device(), await world.tickets(2)
    scans = [await signed(world, device, each, NOW) for each in (first, second)]
    await revoke(world, device)
    refused = await send(world, device, signed_batch(device, *scans))
    assert (refused.status_code, refused.json()["error"]) == (401, "device_inactive")
    imported = await recover(world, device, *scans)
    assert (imported["kept"], imported["known"], imported["rejected"]) == (2, 0, 0)
    assert (imported["wrong_signatures"], imported["doubtful"]) == (0, 0)
    assert [each["result"] for each in imported["results"]] == ["kept", "kept"]
    assert all(each["signature_valid"] for each in imported["results"])
    rows = await world.rows("SELECT source, status, reason_denied, outcome FROM scan")
    assert [tuple(row.values()) for row in rows] == [
        ("recovered", "denied", "unverified", "valid")
    ] * 2
    assert await world.inside() == {}
    assert await conflicts(world) == []
    other = await world.device(name="another")
    assert await world.verdict(other, first.code) == "admitted"


async def test_the_same_file_twice_is_the_same_import(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    file = exported(world, device, await signed(world, device, ticket))
    first, again = await send_file(world, file), await send_file(world, file)
    assert first.json() == again.json()
    assert len(await world.rows("SELECT 1 FROM batch_sync")) == 1
    assert len(await world.rows("SELECT 1 FROM scan")) == 1
    another = (await send_file(world, file | {"exported_at": "2026-01-01T00:00:00Z"})).json()[
        "data"
    ]
    assert another["batch_id"] != first.json()["data"]["batch_id"]
    assert (another["kept"], another["known"]) == (0, 1)


async def test_a_scan_that_was_delivered_after_all_is_known(world: World):
    device, (first, second) = await world.device(), await world.tickets(2)
    sent, kept_back = await signed(world, device, first), await signed(world, device, second)
    await sync(world, device, sent)
    imported = await recover(world, device, sent, kept_back)
    assert [each["result"] for each in imported["results"]] == ["known", "kept"]
    assert (await world.inside())["event"] == 1


async def test_a_scan_that_somebody_changed_is_stored_and_flagged(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = await signed(world, device, ticket)
    changed = await signed(world, device, ticket) | {"signature": scan["signature"]}
    imported = await recover(world, device, scan, changed)
    assert [each["signature_valid"] for each in imported["results"]] == [True, False]
    assert (imported["kept"], imported["wrong_signatures"]) == (2, 1)
    kept = (await shown(world, imported))["scans"]
    assert [each["id"] for each in kept if each["signature_valid"]] == [scan["scan_id"]]
    [other] = [each for each in kept if not each["signature_valid"]]
    assert other["id"] != changed["scan_id"], "that is kept for whoever can sign it"


async def test_a_file_that_somebody_changed_does_not_block_the_genuine_scan(world: World):
    device, (first, second) = await world.device(), await world.tickets(2)
    sent, in_a_file = await signed(world, device, first), await signed(world, device, second)
    long_ago = {"scanned_at": iso(world.now - 30 * MINUTE)}
    forged = await recover(world, device, sent | long_ago, in_a_file | long_ago)
    assert (forged["kept"], forged["wrong_signatures"]) == (2, 2)
    await decide(world, forged, "rejected", "forged")
    assert (await sync(world, device, sent))["processed"] == [sent["scan_id"]]
    genuine = await recover(world, device, in_a_file)
    assert (genuine["kept"], genuine["wrong_signatures"]) == (1, 0)
    await accept(world, genuine)
    assert (await world.inside())["event"] == 2


@pytest.mark.parametrize(("in_file", "did"), [("duplicate", "valid"), ("valid", "duplicate")])
async def test_the_device_itself_corrects_unsigned_fields_of_a_file(
    world: World, in_file: str, did: str
):
    device, [ticket] = await world.device(), await world.tickets(1)
    genuine = await signed(world, device, ticket, outcome=did)
    await recover(world, device, genuine | {"outcome": in_file})
    answer = await sync(world, device, genuine)
    assert (answer["processed"], answer["rejected"]) == ([genuine["scan_id"]], [])
    inside = 1 if did == "valid" else 0
    assert (await world.inside()).get("event", 0) == inside
    late = await signed(world, device, ticket, 8 * MINUTE, outcome="duplicate")
    await sync(world, device, late)  # the ticket's history is judged again
    assert (await world.inside()).get("event", 0) == inside
    assert (await sync(world, device, genuine))["processed"] == [genuine["scan_id"]]


async def test_one_id_for_two_scans_is_rejected_with_a_reason(world: World):
    device, (first, second) = await world.device(), await world.tickets(2)
    scan = await signed(world, device, first)
    other = await signed(world, device, second, scan_id=scan["scan_id"])
    nowhere = await signed(world, device, second, gate_id="nowhere")
    imported = await recover(world, device, scan, other, nowhere)
    errors = [each["error"] for each in imported["results"]]
    assert errors == [None, "scan_id_reused", "gate_not_found"]
    assert (imported["kept"], imported["rejected"]) == (1, 2)
    refused = await world.rows("SELECT changes FROM audit_entry WHERE action = 'scan_refused'")
    assert len(refused) == 2


async def test_signatures_by_earlier_keys_of_the_device_are_valid(world: World):
    device, (first, second) = await world.device(), await world.tickets(2)
    old = await signed(world, device, first)
    path, body = "/api/scanning/key-rotations", {"rotation_id": str(uuid4())}
    answer = await world.client.post(path, json=body, headers=device.headers)
    renewed = Device(device.id, answer.json()["data"]["api_key"], device.gate)
    new = await signed(world, renewed, second)
    imported = await recover(world, device, old, new)
    assert [each["signature_valid"] for each in imported["results"]] == [True, True]


async def test_signatures_from_before_a_change_of_the_master_key_are_valid(
    world: World, database_url: str, clock: MovableClock
):
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = await signed(world, device, ticket)
    old, new = bytes(range(32)), bytes(reversed(range(32)))
    async with another_node(world, database_url, clock, MasterKey(new, old)) as node:
        imported = await recover(node, device, scan)
        assert imported["wrong_signatures"] == 0
    other_key = MasterKey(new)
    assert other_key.id != MASTER_KEY.id
    async with another_node(world, database_url, clock, other_key) as node:
        imported = await recover(node, device, await signed(world, device, ticket))
        assert imported["wrong_signatures"] == 1


async def test_doubtful_moments_are_flagged_and_not_refused(world: World, clock: MovableClock):
    device, tickets = await world.device(), await world.tickets(4)
    scans = [
        await signed(world, device, tickets[0], 400 * DAY),
        await signed(world, device, tickets[1], -2 * DAY),
        await signed(world, device, tickets[2], timedelta(0)),
    ]
    clock.ahead += timedelta(minutes=1)
    await revoke(world, device)
    clock.ahead += timedelta(hours=1)
    scans.append(await signed(world, device, tickets[3], timedelta(minutes=5)))
    imported = await recover(world, device, *scans)
    doubts = [each["doubts"] for each in imported["results"]]
    assert doubts[0] == ["before_pairing"]
    assert doubts[1] == ["from_future", "after_revocation"]
    assert doubts[2:] == [[], ["after_revocation"]]
    assert (imported["kept"], imported["doubtful"]) == (4, 3)


async def test_each_scan_is_corrected_by_the_offset_of_its_own_time(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = await signed(world, device, ticket, timedelta(hours=2))
    await recover(world, device, scan, offset_seconds=3600)
    [row] = await world.rows("SELECT scanned_at_canonical - scanned_at AS by FROM scan")
    assert row["by"] == timedelta(hours=1)


async def test_an_alert_says_that_scans_wait(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    topic = f"alerts:{world.event_id}"
    async with socket(world, world.tenant.as_("gate_supervisor")) as connection:
        await subscribe(connection, topic)
        imported = await recover(world, device, await signed(world, device, ticket))
        heard = [(await hear(connection, topic))["data"] for _ in range(2)]
    assert {each["event"] for each in heard} == {"alert_raised", "scans_recovered"}
    [alert] = await alerts(world)
    assert (alert["kind"], alert["severity"]) == ("unverified_scans", "high")
    assert (alert["subject_type"], alert["subject_id"]) == ("device", str(device.id))
    assert alert["details"]["batch_id"] == imported["batch_id"]
    [entry] = await world.rows("SELECT * FROM audit_entry WHERE action = 'scans_recovered'")
    assert entry["actor_id"] == world.tenant.users["admin"]
    assert entry["changes"]["kept"] == 1


async def test_imports_are_listed_the_newest_first_and_their_scans_page_by_page(world: World):
    device, tickets = await world.device(), await world.tickets(3)
    scans = [await signed(world, device, ticket) for ticket in tickets]
    older = await recover(world, device, *scans)
    newer = await recover(world, device, await signed(world, device, None))
    path = f"/api/scanning/events/{world.event_id}/recoveries?limit=1"
    first = (await world.ask("GET", path)).json()
    rest = (await world.ask("GET", f"{path}&after={first['next']}")).json()
    listed = [each["batch_id"] for each in (*first["data"], *rest["data"])]
    assert listed == [newer["batch_id"], older["batch_id"]]
    assert rest["next"] is None
    path = f"{PATH}/{older['batch_id']}?limit=2"
    first = (await world.ask("GET", path)).json()["data"]
    rest = (await world.ask("GET", f"{path}&after={first['next']}")).json()["data"]
    ids = [each["id"] for each in (*first["scans"], *rest["scans"])]
    assert ids == sorted(scan["scan_id"] for scan in scans)
    assert rest["next"] is None
    assert first["recovery"]["state"] == "unverified"


async def test_a_device_of_another_organisation_is_not_found(world: World, other_tenant: Tenant):
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = await signed(world, device, ticket)
    unknown = exported(world, device, scan, device_id=str(uuid4()))
    assert (await send_file(world, unknown)).json()["error"] == "device_not_found"
    file, other_key = exported(world, device, scan), other_tenant.as_("owner")
    answer = await world.client.post(PATH, json=file, headers=other_key)
    assert (answer.status_code, answer.json()["error"]) == (404, "device_not_found")
    imported = await recover(world, device, scan)
    path = f"{PATH}/{imported['batch_id']}"
    assert (await world.client.get(path, headers=other_key)).status_code == 404
    decision = {"to": "accepted"}
    answer = await world.client.post(f"{path}/transitions", json=decision, headers=other_key)
    assert (answer.status_code, answer.json()["error"]) == (404, "recovery_not_found")


async def test_staff_who_do_not_look_after_devices_may_not_import(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    file = exported(world, device, await signed(world, device, ticket))
    assert (await world.ask("POST", PATH, file, by="box_office")).status_code == 403
    assert (await world.client.post(PATH, json=file, headers=device.headers)).status_code == 401


async def test_a_file_has_at_least_one_scan_and_at_most_ten_thousand(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = await signed(world, device, ticket)
    assert (await send_file(world, exported(world, device))).status_code == 422
    assert (await send_file(world, exported(world, device, *[scan] * 10_001))).status_code == 422
    imported = await recover(world, device, *[scan] * 10_000)
    assert (imported["kept"], imported["known"]) == (1, 9_999)


async def test_a_whole_night_of_ten_thousand_is_one_import(world: World):
    device = await world.device()
    scans = [await signed(world, device, None) for _ in range(10_000)]
    assert (await recover(world, device, *scans))["kept"] == 10_000


async def test_no_alert_is_raised_where_nothing_was_stored(world: World):
    device, [ticket] = await world.device(), await world.tickets(1)
    scan = await signed(world, device, ticket)
    await sync(world, device, scan)
    assert (await recover(world, device, scan))["kept"] == 0
    assert "unverified_scans" not in await kinds(world)
