"""The manifests that devices get to decide alone."""

import json
from base64 import b64encode, urlsafe_b64decode
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.scanning.manifest_support import Reader, a_reader, fetch
from tests.scanning.support import World, a_world
from tests.support import MovableClock, Tenant
from voelgoed.scanning.rules.manifest import barcode_hash, code_hash, moment_text, verify
from voelgoed.services import Services

LATER = timedelta(seconds=11)
"""A time that is longer than a manifest stays fresh."""


@pytest.fixture
async def reader(world: World) -> Reader:
    return await a_reader(world)


async def test_a_manifest_has_these_fields_and_no_others(world: World, clock: MovableClock):
    ticket = await world.ticket("A1")
    reader = await a_reader(world)
    manifest = reader.manifest
    assert list(manifest) == [
        "event_id", "event_name", "manifest_version", "generated_at", "expires_at", "occupancy",
        "event", "gates", "zones", "ticket_types", "public_keys", "seat_notes", "tickets",
    ]  # fmt: skip
    event = (await world.ask("GET", f"/api/events/{world.event_id}")).json()["data"]
    assert manifest["event_id"] == str(world.event_id)
    assert manifest["event_name"] == event["name"]
    assert manifest["manifest_version"] == 1
    assert manifest["expires_at"] == manifest["event"]["ends_at"]
    assert manifest["event"]["status"] == "live"
    assert manifest["event"]["dedup_window_s"] == 300
    assert list(manifest["event"]["days"][0]) == ["date", "starts_at", "ends_at"]
    assert manifest["occupancy"] == []
    gate = world.gates[0]
    assert manifest["gates"][0] == {
        "gate_id": gate.code,
        "id": str(gate.id),
        "name": gate.name,
        "status": "open",
        "access_rules": {
            "zones": None,
            "max_concurrent": 500,
            "hard_capacity_limit": None,
            "entry_rules": ["check_ticket_valid", "check_not_duplicate"],
        },
    }
    assert manifest["zones"][0]["number"] == 1
    kind = next(each for each in manifest["ticket_types"] if each["number"] == 1)
    assert list(kind) == [
        "number", "name", "entry_limit", "max_daily_entries", "reentry", "gate_ids",
    ]  # fmt: skip
    keys = await world.rows("SELECT number, public_key FROM event_key")
    assert manifest["public_keys"] == [
        {"number": key["number"], "public_key": b64encode(key["public_key"]).decode()}
        for key in keys
    ]
    assert reader.tail is not None
    code_key = urlsafe_b64decode(reader.tail.code_key + "=")
    entry = reader.entry(ticket.id)
    assert entry == {
        "ticket_id": str(ticket.id),
        "barcode_hash": barcode_hash(await world.barcode(ticket)),
        "zone": str(ticket.zone_id),
        "gate_ids": None,
        "entry_limit": None,
        "is_valid": True,
        "expires_at": manifest["event"]["days"][-1]["ends_at"],
        "code_hash": code_hash(code_key, ticket.code),
        "status": "active",
        "issue": 1,
        "type": 1,
        "seat": ticket.seat_label,
    }
    assert list(entry)[:7] == [
        "ticket_id", "barcode_hash", "zone", "gate_ids", "entry_limit", "is_valid", "expires_at",
    ]  # fmt: skip


async def test_a_scan_at_another_gate_is_in_the_manifest(world: World, clock: MovableClock):
    ticket = await world.ticket("A1")
    reader = await a_reader(world)
    other = await world.device(world.gates[1])
    at = world.now
    assert await world.verdict(other, ticket.code) == "admitted"
    clock.ahead += LATER
    await reader.update()
    entry = reader.entry(ticket.id)
    assert entry["status"] == "scanned"
    assert (entry["entries"], entry["day_entries"], entry["is_inside"]) == (1, 1, True)
    assert entry["last_gate"] == world.gates[1].code
    assert entry["day"] == reader.manifest["event"]["days"][0]["date"]
    assert moment_text(at) <= entry["last_scanned_at"] <= moment_text(world.now)
    assert list(entry)[-6:] == [
        "entries", "day", "day_entries", "last_scanned_at", "last_gate", "is_inside",
    ]  # fmt: skip
    [delta] = reader.deltas
    assert [each["ticket_id"] for each in delta["tickets"]] == [str(ticket.id)]
    assert "settings" not in delta


async def test_an_exit_at_another_gate_is_in_the_manifest(world: World, clock: MovableClock):
    ticket = await world.ticket("A1")
    reader = await a_reader(world)
    other = await world.device(world.gates[1])
    assert await world.verdict(other, ticket.code) == "admitted"
    left = (await world.scan(other, ticket.code, direction="exit")).json()
    clock.ahead += LATER
    await reader.update()
    entry = reader.entry(ticket.id)
    assert "is_inside" not in entry
    assert entry["last_exit_at"] == moment_text(datetime.fromisoformat(left["scanned_at"]))
    clock.ahead += timedelta(seconds=300)
    assert await world.verdict(other, ticket.code) == "admitted"
    clock.ahead += LATER
    await reader.update()
    assert "last_exit_at" not in reader.entry(ticket.id), "somebody came in with it again"


async def test_a_manifest_has_no_personal_data_and_no_codes(world: World):
    ticket = await world.ticket("A1")
    assert ticket.holder_name == "Anna Botha"
    async with world.services.database.transaction(world.tenant.id) as tx:
        await tx.run("UPDATE ticket SET holder_email = 'anna@botha.example'")
    reader = await a_reader(world)
    answer = await fetch(world, reader.device)
    for seen in (answer.text, str(answer.headers)):
        for secret in (
            "Anna",
            "Botha",
            "botha",
            "@",
            ticket.code,
            ticket.code.replace("-", ""),
        ):
            assert secret not in seen
    # The document alone does not allow trying codes out: that takes the key, which is not in it.
    assert reader.tail is not None
    assert reader.tail.code_key.encode() not in reader.document
    entry = reader.entry(ticket.id)
    for guess in (ticket.code, ticket.code.replace("-", "")):
        assert sha256(guess.encode()).hexdigest()[:32] != entry["code_hash"]


async def test_a_manifest_is_signed_for_each_device_with_its_own_key(world: World):
    await world.ticket("A1")
    one, two = await a_reader(world), await a_reader(world)
    assert one.document == two.document
    assert one.tail is not None
    assert two.tail is not None
    assert one.tail.signature != two.tail.signature
    assert one.tail.code_key == two.tail.code_key
    answer = await fetch(world, one.device)
    assert verify(answer.content, two.device.api_key) is None


def changes() -> dict[str, Any]:
    async def void(world: World, ticket: Any) -> Any:
        return await world.ask(
            "POST", f"/api/tickets/{ticket.id}/void", {"reason": "lost"}, by="box_office"
        )

    async def reissue(world: World, ticket: Any) -> Any:
        return await world.ask(
            "POST", f"/api/tickets/{ticket.id}/reissues", {"reason": "lost"}, by="box_office"
        )

    async def refund(world: World, ticket: Any) -> Any:
        return await world.ask(
            "POST",
            f"/api/orders/{ticket.order_id}/refunds",
            {"reason": "ill", "ticket_ids": [str(ticket.id)]},
            by="owner",
        )

    async def scan(world: World, ticket: Any) -> Any:
        return await world.scan(world.devices[0], ticket.code)

    async def sell(world: World, ticket: Any) -> None:
        await world.ticket("A3")

    async def close_gate(world: World, ticket: Any) -> Any:
        gate = world.gates[1]
        path = f"/api/events/{world.event_id}/gates/{gate.id}"
        return await world.ask("PATCH", path, {"version": gate.version, "status": "closed"})

    async def limit(world: World, ticket: Any) -> Any:
        path = f"/api/ticket-types/{ticket.ticket_type_id}"
        kind = (await world.ask("GET", path, by="owner")).json()["data"]
        return await world.ask(
            "PATCH", path, {"version": kind["version"], "entry_limit": 3}, by="owner"
        )

    async def policy(world: World, ticket: Any) -> Any:
        path = f"/api/events/{world.event_id}/scan-policy"
        return await world.ask("PUT", path, {"version": 1, "dedup_window_s": 17}, by="owner")

    async def rename(world: World, ticket: Any) -> Any:
        path = f"/api/events/{world.event_id}"
        event = (await world.ask("GET", path)).json()["data"]
        begin = "UPDATE event_day SET starts_at = $2 WHERE event_id = $1 AND starts_at < $2"
        await world.rows(begin, world.event_id, datetime.fromisoformat(event["starts_at"]))
        return await world.ask(
            "PATCH", path, {"version": event["version"], "name": "Other"}, by="owner"
        )

    async def rotate(world: World, ticket: Any) -> Any:
        return await world.ask("POST", f"/api/events/{world.event_id}/keys", {}, by="owner")

    return {
        "voided": (void, "status", "voided"),
        "reissued": (reissue, "issue", 2),
        "refunded": (refund, "status", "refunded"),
        "scanned": (scan, "status", "scanned"),
        "another sold": (sell, None, None),
        "gate closed": (close_gate, None, "closed"),
        "type limited": (limit, "entry_limit", 3),
        "policy changed": (policy, None, 17),
        "event renamed": (rename, None, "Other"),
        "key rotated": (rotate, None, None),
    }


@pytest.mark.parametrize("what", changes())
async def test_a_change_makes_a_new_version_and_a_delta_leads_to_it(
    what: str, world: World, clock: MovableClock
):
    ticket, _ = await world.ticket("A1"), await world.ticket("A2")
    reader = await a_reader(world)
    change, key, value = changes()[what]
    answer = await change(world, ticket)
    assert answer is None or answer.status_code < 300, answer.text
    clock.ahead += LATER
    await reader.update()
    assert reader.version == 2
    if key is not None:
        assert reader.entry(ticket.id)[key] == value
    if what in ("voided", "refunded"):
        assert reader.entry(ticket.id)["is_valid"] is False
    seen = {
        "another sold": len(reader.manifest["tickets"]) == 3,
        "gate closed": reader.manifest["gates"][1]["status"] == "closed",
        "policy changed": reader.manifest["event"]["dedup_window_s"] == 17,
        "event renamed": reader.manifest["event_name"] == "Other",
        "key rotated": len(reader.manifest["public_keys"]) == 2,
    }
    assert seen.get(what, True)
    clock.ahead += LATER
    assert (await reader.update()).status_code == 304
    assert reader.version == 2


async def test_an_unchanged_manifest_has_the_same_version_and_is_not_sent_again(
    world: World, reader: Reader, clock: MovableClock
):
    tag = (await fetch(world, reader.device)).headers["etag"]
    for _ in range(3):
        clock.ahead += LATER
        for known in (tag, tag.removeprefix("W/"), f'"other", {tag}', "*"):
            answer = await fetch(world, reader.device, headers={"If-None-Match": known})
            assert answer.status_code == 304
            assert answer.content == b""
            assert answer.headers["x-manifest-version"] == "1"
            assert answer.headers["etag"] == tag
            assert "x-signature" not in answer.headers
    answer = await fetch(world, reader.device, headers={"If-None-Match": '"other", W/"1"'})
    assert answer.status_code == 200


@pytest.mark.parametrize("accepted", ["zstd", "br", "gzip", "identity", "br;q=0, gzip;q=0.5"])
async def test_every_encoding_has_the_same_content(world: World, reader: Reader, accepted: str):
    await world.tickets(12)
    headers = {"Accept-Encoding": accepted}
    answer = await fetch(world, reader.device, headers=headers)
    assert verify(answer.content, reader.device.api_key) == reader.document
    assert answer.headers["vary"] == "Accept-Encoding"
    assert answer.headers["cache-control"] == "private, no-store"
    assert answer.headers["content-type"] == "application/json"


async def test_a_delta_comes_in_every_encoding_too(
    world: World, reader: Reader, clock: MovableClock
):
    ticket = await world.ticket("A1")
    clock.ahead += LATER
    for accepted in ("zstd", "br", "gzip", "identity"):
        headers = {"Accept-Encoding": accepted}
        answer = await fetch(world, reader.device, since=1, headers=headers)
        delta = verify(answer.content, reader.device.api_key)
        assert delta is not None
        seen = json.loads(delta)
        assert list(seen) == [
            "event_id", "since", "manifest_version", "generated_at", "expires_at", "event_name",
            "content_hash", "occupancy", "settings", "tickets",
        ]  # fmt: skip
        # The key that signed the first ticket came with it.
        assert list(seen["settings"]) == [
            "event", "gates", "zones", "ticket_types", "public_keys", "seat_notes",
        ]  # fmt: skip
        assert [each["ticket_id"] for each in seen["tickets"]] == [str(ticket.id)]
        assert answer.headers["etag"].endswith('-1"')


@pytest.mark.parametrize("since", [0, 2, 99, 2**53])
async def test_for_an_unknown_version_the_whole_manifest_is_sent(
    world: World, reader: Reader, since: int
):
    await reader.hydrate(since=since)
    assert reader.version == 1


@pytest.mark.parametrize("since", [-1, 1.5, "abc", "", 2**53 + 1, 10**40, "1e3", "0x1"])
async def test_a_since_that_is_no_version_is_refused(world: World, reader: Reader, since: Any):
    answer = await fetch(world, reader.device, since=since)
    if since == "1e3":  # the number 1000
        assert answer.status_code == 200
    else:
        assert answer.status_code == 422, answer.text
        assert answer.json()["error"] == "invalid_request"


async def test_the_clock_is_measured_and_kept(world: World, reader: Reader):
    wrong = world.now - timedelta(minutes=7)
    await reader.hydrate(headers={"X-Device-Time": wrong.isoformat()})
    assert reader.tail is not None
    assert reader.tail.offset_seconds == pytest.approx(420, abs=60)
    [row] = await world.rows("SELECT clock_offset_seconds FROM scan_device")
    assert row["clock_offset_seconds"] == reader.tail.offset_seconds
    await reader.hydrate()
    assert reader.tail.offset_seconds is None
    [row] = await world.rows("SELECT clock_offset_seconds FROM scan_device")
    assert row["clock_offset_seconds"] is not None


@pytest.mark.parametrize(
    "time",
    ["", "now", "2026-11-16", "2026-11-16T12:00:00", "1763294400", "0001-01-01T00:00:00Z",
     "9999-12-31T23:59:59Z", "2026-13-40T25:61:61Z", "x" * 65],
)  # fmt: skip
async def test_an_invalid_device_time_is_refused(world: World, reader: Reader, time: str):
    answer = await fetch(world, reader.device, headers={"X-Device-Time": time})
    assert answer.status_code == 422
    assert answer.json()["error"] == "invalid_request"
    assert "time" in json.dumps(answer.json()["details"]).lower()


async def test_the_manifest_has_the_people_inside_by_gates_with_a_limit(
    services: Services, client: httpx.AsyncClient, tenant: Tenant, clock: MovableClock
):
    world = await a_world(services, client, tenant, gates=2, gate={"hard_capacity_limit": 5})
    ticket = await world.ticket("A1")
    reader = await a_reader(world)
    codes = [gate.code for gate in world.gates]
    assert reader.manifest["occupancy"] == [{"gate_id": code, "inside": 0} for code in codes]
    assert reader.manifest["gates"][0]["access_rules"]["hard_capacity_limit"] == 5
    await world.scan(reader.device, ticket.code)
    clock.ahead += LATER
    await reader.update()
    assert reader.manifest["occupancy"][0] == {"gate_id": codes[0], "inside": 1}


async def test_a_manifest_is_built_every_ten_seconds_at_most(
    world: World, reader: Reader, clock: MovableClock
):
    await world.ticket("A1")
    await reader.hydrate()
    assert reader.version == 1
    clock.ahead += timedelta(seconds=10)
    await reader.hydrate()
    assert reader.version == 2


async def test_a_device_gets_the_manifest_of_its_own_event_only(
    world: World, reader: Reader, other_tenant: Tenant
):
    for other in (uuid4(), other_tenant.id):
        answer = await fetch(world, reader.device, event_id=other)
        assert (answer.status_code, answer.json()["error"]) == (404, "event_not_found")
    answer = await fetch(world, reader.device, event_id="not-an-id")
    assert answer.status_code == 404


async def test_a_device_without_a_gate_gets_no_manifest(world: World, reader: Reader):
    path = f"/api/scanning/devices/{reader.device.id}"
    await world.ask("PATCH", path, {"version": 1, "gate_id": None}, by="owner")
    answer = await fetch(world, reader.device)
    assert (answer.status_code, answer.json()["error"]) == (403, "device_not_assigned_to_gate")


async def test_a_revoked_device_gets_no_manifest(world: World, reader: Reader):
    await world.ask("DELETE", f"/api/scanning/devices/{reader.device.id}", by="owner")
    answer = await fetch(world, reader.device)
    assert (answer.status_code, answer.json()["error"]) == (401, "device_inactive")
    for key in ("x", "vgd_nonsense", reader.device.api_key[:-1]):
        headers = {"Authorization": f"Bearer {key}"}
        answer = await fetch(world, reader.device, headers=headers)
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_device_token")
    staff = world.tenant.as_("owner")
    assert (await fetch(world, reader.device, headers=staff)).status_code == 401


async def test_an_event_without_tickets_has_a_manifest_too(world: World, reader: Reader):
    assert reader.manifest["tickets"] == []
    assert reader.document.endswith(b'"tickets":[]}')


async def test_heartbeats_have_the_version_and_keep_the_manifest_fresh(
    world: World, clock: MovableClock
):
    device = await world.device()
    headers = device.headers

    async def beat(version: int | None = None) -> Any:
        body = {"device_time": world.now.isoformat(), "manifest_version": version}
        answer = await world.client.post("/api/scanning/heartbeat", json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]["manifest_version"]

    assert await beat() is None, "nobody has asked for one"
    reader = await a_reader(world, device)
    assert await beat(1) == 1
    await world.ticket("A1")
    clock.ahead += LATER
    await beat(1)
    await world.services.manifests.is_idle()
    assert await beat(1) == 2
    station = await world.client.get("/api/scanning/station", headers=headers)
    assert station.json()["data"]["manifest_version"] == 2
    await reader.update()
    assert reader.version == 2


async def test_staff_see_which_version_devices_have(world: World, reader: Reader):
    silent = await world.device()
    body = {"device_time": world.now.isoformat(), "manifest_version": 1}
    await world.client.post("/api/scanning/heartbeat", json=body, headers=reader.device.headers)
    answer = await world.ask("GET", f"/api/scanning/events/{world.event_id}/manifest-status")
    assert answer.status_code == 200, answer.text
    seen = answer.json()["data"]
    assert seen["manifest_version"] == 1
    assert seen["tickets"] == 0
    assert seen["bytes"] == len(reader.document)
    assert seen["content_hash"] == "sha256:" + sha256(reader.document).hexdigest()
    assert seen["devices"] == [{"version": 1, "devices": 1}, {"version": None, "devices": 1}]
    assert silent.id
    missing = await world.ask("GET", f"/api/scanning/events/{uuid4()}/manifest-status")
    assert missing.status_code == 404


async def test_staff_see_that_a_device_has_no_manifest_yet(world: World):
    answer = await world.ask("GET", f"/api/scanning/events/{world.event_id}/manifest-status")
    seen = answer.json()["data"]
    assert (seen["manifest_version"], seen["content_hash"], seen["devices"]) == (None, None, [])
