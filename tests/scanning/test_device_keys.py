"""The keys of devices: derived, never stored; rotated, and worthless at once when revoked."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import MASTER_KEY
from tests.scanning.node_support import another_node
from tests.scanning.support import TABLET, Device, World
from tests.support import MovableClock
from voelgoed.infra.embedded import EmbeddedPostgres
from voelgoed.infra.ids import new_id
from voelgoed.infra.master_key import MasterKey
from voelgoed.scanning.actions.own_device import prove
from voelgoed.scanning.model.devices import Device as KeptDevice
from voelgoed.scanning.model.refusals import InvalidDeviceToken
from voelgoed.scanning.rules.device_keys import DeviceKey, key_text, read_key
from voelgoed.scanning.rules.devices import rotated

STATION, ROTATIONS = "/api/scanning/station", "/api/scanning/key-rotations"
GRACE = timedelta(minutes=5)


async def station(world: World, device: Device) -> httpx.Response:
    return await world.client.get(STATION, headers=device.headers)


async def ask_for_the_next(world: World, device: Device, rotation_id: UUID) -> httpx.Response:
    body = {"rotation_id": str(rotation_id)}
    return await world.client.post(ROTATIONS, json=body, headers=device.headers)


async def rotate(world: World, device: Device, rotation_id: UUID | None = None) -> Device:
    answer = await ask_for_the_next(world, device, rotation_id or uuid4())
    assert answer.status_code == 201, answer.text
    return Device(device.id, answer.json()["data"]["api_key"], device.gate)


def is_refused(answer: httpx.Response, error: str, **details: str) -> bool:
    body = answer.json()
    shown = {name: body["details"].get(name) for name in details}
    return (answer.status_code, body["error"], shown) == (401, error, details)


def genuine(device: Device) -> DeviceKey:
    key = read_key(device.api_key)
    assert key is not None
    return key


async def test_no_part_of_a_key_is_in_the_database(
    world: World, postgres: EmbeddedPostgres, database_name: str
):
    device = await world.device(name="The one we look for")
    await world.scan(device, (await world.ticket()).code)
    used = [device, await rotate(world, device)]
    await world.scan(used[1], "0000-0000-0000")
    everything = await _everything_in(postgres.url("postgres", database_name))
    assert "The one we look for" in everything
    for each in used:
        key = genuine(each)
        secret = key.secret.hex()
        body = each.api_key.removeprefix("vgd_")
        for piece in (secret, secret[:16], secret[-16:], body, body[-20:], body[48:68]):
            assert piece.lower() not in everything.lower()


async def _everything_in(url: str) -> str:
    """All rows of all tables, as text; bytes in hex."""
    connection = await asyncpg.connect(url)
    try:
        tables = await connection.fetch(
            "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables"
            " WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
        )
        rows: list[str] = []
        for table in tables:
            found = await connection.fetch(f"SELECT each::text FROM {table['name']} AS each")
            rows += [row[0] for row in found]
        return "\n".join(rows)
    finally:
        await connection.close()


async def test_every_byte_of_a_key_matters(world: World):
    device = await world.device()
    key = genuine(device)
    raw = key.organization_id.bytes + key.device_id.bytes + key.version.to_bytes(4, "big")
    raw += key.secret
    assert (await station(world, device)).status_code == 200
    for at in range(len(raw)):
        flipped = raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :]
        forged = DeviceKey(
            type(key.organization_id)(bytes=flipped[:16]),
            type(key.device_id)(bytes=flipped[16:32]),
            int.from_bytes(flipped[32:36], "big"),
            flipped[36:],
        )
        answer = await station(world, Device(device.id, key_text(forged), device.gate))
        assert is_refused(answer, "invalid_device_token"), at


async def test_a_key_has_one_text(world: World):
    text = (await world.device()).api_key
    others = [
        text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1 :] for at in range(len(text))
    ]
    others += [text[:at] + text[at + 1 :] for at in range(len(text))]
    others += [
        text + "=",
        text + "A",
        text + "\n",
        " " + text,
        text.lower(),
        text.upper(),
        "",
        "vgd_",
    ]
    others += [text.replace("-", "+").replace("_", "/"), f"{text[:40]}\n{text[40:]}", "vgd_é"]
    assert prove(MASTER_KEY, text, TABLET).key_version == 1
    for other in set(others) - {text}:
        with pytest.raises(InvalidDeviceToken):
            prove(MASTER_KEY, other, TABLET)


async def test_a_secret_is_good_for_one_device_of_one_organisation_in_one_version(world: World):
    mine, beside = await world.device(), await world.device()
    key = genuine(mine)
    for changes in (
        {"organization_id": new_id()},
        {"device_id": beside.id},
        {"device_id": new_id()},
        {"version": key.version + 1},
    ):
        forged = key_text(msgspec.structs.replace(key, **changes))
        assert is_refused(
            await station(world, Device(mine.id, forged, mine.gate)), "invalid_device_token"
        )


async def test_a_request_without_a_device_key_is_refused(world: World):
    session = world.tenant.as_("owner")
    body = {"device_time": world.now.isoformat()}
    for headers in ({}, session, {"Authorization": "Bearer vgd_"}, {"Authorization": "Basic x"}):
        for method, path, sent in (
            ("GET", STATION, None),
            ("POST", "/api/scanning/heartbeat", body),
            ("POST", ROTATIONS, None),
            ("POST", "/api/scans", {}),
        ):
            answer = await world.client.request(method, path, json=sent, headers=headers)
            assert is_refused(answer, "invalid_device_token"), (method, path, headers)


async def test_a_device_key_gives_no_access_to_staff_addresses(world: World):
    device = await world.device()
    for path in ("devices", f"devices/{device.id}", f"events/{world.event_id}/occupancy"):
        answer = await world.client.get(f"/api/scanning/{path}", headers=device.headers)
        assert answer.status_code == 401


async def test_a_genuine_key_of_a_device_that_never_existed_is_refused(world: World):
    device_id = new_id()
    secret = MASTER_KEY.derive(
        "device-key", world.tenant.id.bytes, device_id.bytes, (1).to_bytes(4, "big")
    )
    text = key_text(DeviceKey(world.tenant.id, device_id, 1, secret))
    ghost = Device(device_id, text, world.gates[0])
    assert is_refused(await station(world, ghost), "invalid_device_token")
    assert is_refused(await world.scan(ghost, "0000-0000-0000"), "invalid_device_token")


async def test_keys_survive_a_change_of_the_master_key_until_the_previous_one_is_removed(
    world: World, database_url: str, clock: MovableClock
):
    device, ticket = await world.device(), await world.ticket()
    fresh = bytes(reversed(range(32)))
    both = MasterKey(fresh, bytes(range(32)))
    async with another_node(world, database_url, clock, both) as later:
        assert await later.verdict(device, ticket.code) == "admitted"
        renewed = await rotate(later, device)
        left_behind = await world.device()
        assert (await station(later, renewed)).status_code == 200
    async with another_node(world, database_url, clock, MasterKey(fresh)) as afterwards:
        assert (await station(afterwards, renewed)).status_code == 200
        assert is_refused(await station(afterwards, left_behind), "invalid_device_token")
    assert is_refused(await station(world, renewed), "invalid_device_token"), "by the old key alone"


async def test_the_next_key_makes_the_present_one_worthless(world: World):
    device, ticket = await world.device(), await world.ticket()
    renewed = await rotate(world, device)
    assert genuine(renewed).version == genuine(device).version + 1
    assert is_refused(await station(world, device), "device_inactive", status="key_rotated")
    answer = await world.scan(device, ticket.code)
    assert is_refused(answer, "device_inactive", status="key_rotated"), answer.text
    assert await world.verdict(renewed, ticket.code) == "admitted"
    [entry] = await world.rows("SELECT * FROM audit_entry WHERE action = 'device_key_rotated'")
    assert (entry["actor_id"], entry["changes"]["key_version"]) == (device.id, 2)


async def test_a_lost_answer_can_be_repeated_for_five_minutes(world: World, clock: MovableClock):
    device, first = await world.device(), uuid4()
    renewed = await rotate(world, device, first)
    clock.ahead += GRACE - timedelta(seconds=30)
    assert await rotate(world, device, first) == renewed, "the same one, not another"
    [kept] = await world.rows("SELECT key_version FROM scan_device")
    assert kept["key_version"] == 2
    clock.ahead += timedelta(seconds=31)
    answer = await ask_for_the_next(world, device, first)
    assert is_refused(answer, "device_inactive", status="key_rotated")
    third = await rotate(world, renewed, first)
    answer = await ask_for_the_next(world, device, first)
    assert is_refused(answer, "device_inactive"), "two versions back there is no grace"
    assert (await station(world, third)).status_code == 200


async def test_a_rotation_that_is_repeated_with_the_new_key_is_done_once(
    world: World, clock: MovableClock
):
    device, first = await world.device(), uuid4()
    renewed = await rotate(world, device, first)
    clock.ahead += GRACE - timedelta(seconds=30)
    assert await rotate(world, renewed, first) == renewed, "the same one, not another"
    assert (await station(world, renewed)).status_code == 200
    rotations = "SELECT 1 FROM audit_entry WHERE action = 'device_key_rotated'"
    assert len(await world.rows(rotations)) == 1
    other = await rotate(world, renewed, uuid4())
    assert genuine(other).version == genuine(renewed).version + 1, "by another id it is another"
    assert is_refused(await station(world, renewed), "device_inactive", status="key_rotated")
    assert len(await world.rows(rotations)) == 2


async def test_a_repeated_rotation_does_not_answer_a_demand_that_came_after_it(world: World):
    device, first = await world.device(), uuid4()
    renewed = await rotate(world, device, first)
    path = f"/api/scanning/devices/{device.id}/key-rotations"
    assert (await world.ask("POST", path)).status_code == 202
    assert await rotate(world, renewed, first) == renewed
    answer = await station(world, renewed)
    assert is_refused(answer, "device_inactive", status="rotation_demanded")
    other = await rotate(world, renewed, uuid4())
    assert (await station(world, other)).status_code == 200


async def test_a_copy_of_the_old_key_does_not_get_the_next_one(world: World):
    device = await world.device()
    renewed = await rotate(world, device)
    for guess in (uuid4(), UUID(int=0), device.id):
        answer = await ask_for_the_next(world, device, guess)
        assert is_refused(answer, "device_inactive", status="key_rotated")
    assert (await station(world, renewed)).status_code == 200


async def test_of_two_programs_with_the_same_key_one_gets_the_next(world: World):
    for _ in range(5):
        device = await world.device()
        answers = await asyncio.gather(
            *(ask_for_the_next(world, device, uuid4()) for _ in range(4))
        )
        assert sorted(answer.status_code for answer in answers) == [201, 401, 401, 401]


async def test_a_rotation_needs_an_id(world: World):
    device = await world.device()
    for body in (None, {}, {"rotation_id": "x"}):
        answer = await world.client.post(ROTATIONS, json=body, headers=device.headers)
        assert answer.status_code in (400, 422), answer.text
    assert (await station(world, device)).status_code == 200


async def test_revocation_is_effective_at_once_on_every_node(
    world: World, database_url: str, clock: MovableClock
):
    async with another_node(world, database_url, clock) as beside:
        device, tickets = await world.device(), await world.tickets(3)
        assert await beside.verdict(device, tickets[0].code) == "admitted"
        path = f"/api/scanning/devices/{device.id}"
        assert (await world.ask("DELETE", path)).status_code == 204
        for node in (beside, world):
            for code in (
                tickets[0].code,
                tickets[1].code,
            ):  # one key that a cache remembers, one that it does not
                answer = await node.scan(device, code)
                assert is_refused(answer, "device_inactive", status="revoked")
            assert is_refused(await station(node, device), "device_inactive", status="revoked")
            answer = await ask_for_the_next(node, device, uuid4())
            assert is_refused(answer, "device_inactive", status="revoked")
        assert (await world.ask("DELETE", path)).status_code == 204, "twice is once"
    entries = await world.rows("SELECT * FROM audit_entry WHERE action = 'device_revoked'")
    assert len(entries) == 1
    [kept] = await world.rows("SELECT deleted_at FROM scan_device")
    assert kept["deleted_at"] is not None
    assert len(await world.rows("SELECT 1 FROM scan")) == 1


async def test_a_revoked_device_cannot_read_its_old_answers(world: World):
    """The scan_id is known, and the server still gives no answer for it."""
    device, ticket = await world.device(), await world.ticket()
    sent: dict[str, Any] = world.body(device, ticket.code)
    assert (await world.client.post("/api/scans", json=sent, headers=device.headers)).is_success
    await world.ask("DELETE", f"/api/scanning/devices/{device.id}")
    again = await world.client.post("/api/scans", json=sent, headers=device.headers)
    assert is_refused(again, "device_inactive", status="revoked")


@given(st.integers(1, 9), st.integers(1, 9), st.booleans(), st.integers(0, 600))
def test_a_key_leads_to_the_next_one_once_or_again_to_the_same(
    present: int, version: int, is_same: bool, seconds: int
):
    first, now = uuid4(), datetime(2030, 6, 1, tzinfo=UTC)
    device = a_device(present, first, rotated_at=now - timedelta(seconds=seconds))
    after = rotated(device, version, first if is_same else uuid4(), now)
    is_again = is_same and seconds <= GRACE.total_seconds()
    if is_again and version in (present, present - 1):
        assert after is device
    elif version == present:
        assert after is not None
        assert (after.key_version, after.rotation_demanded_at) == (present + 1, None)
        assert after.updated_at == device.updated_at, "its errors still count"
    else:
        assert after is None


def a_device(key_version: int, rotation_id: UUID, rotated_at: datetime) -> KeptDevice:
    return KeptDevice(
        id=new_id(),
        name="iPad",
        device_type="ipad",
        gate_id=None,
        status="active",
        key_version=key_version,
        key_rotated_at=rotated_at,
        rotation_demanded_at=rotated_at,
        rotation_id=rotation_id,
        paired_at=rotated_at,
        paired_by_id=new_id(),
        deleted_at=None,
        last_heartbeat=None,
        last_seen_at=None,
        battery_percent=None,
        queue_length=None,
        app_version=None,
        manifest_version=None,
        clock_offset_seconds=None,
        clock_measured_at=None,
        last_sync_at=None,
        version=1,
        created_at=rotated_at,
        updated_at=rotated_at,
    )
