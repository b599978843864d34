"""How devices join an organisation: pairing in both directions, once, within five minutes."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from hashlib import sha256
from secrets import token_urlsafe
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from tests.scanning.support import Device, World, a_world
from tests.support import MovableClock, Tenant
from voelgoed.infra.database import Database
from voelgoed.infra.jobs import Jobs
from voelgoed.scanning import jobs as scanning_jobs
from voelgoed.scanning.actions import devices as module
from voelgoed.services import Services

PAIRINGS, PAIR = "/api/scanning/pairings", "/api/scanning/pair"
ROTATION = str(uuid4())


async def approve(world: World, **more: Any) -> dict[str, Any]:
    body = {"gate_id": str(world.gates[0].id), "name": "iPad North", **more}
    answer = await world.ask("POST", PAIRINGS, body)
    assert answer.status_code == 201, answer.text
    return answer.json()["data"]


async def pair(client: httpx.AsyncClient, token: str, **more: Any) -> httpx.Response:
    return await client.post(PAIR, json={"pairing_token": token, **more})


async def rotate(world: World, device: Device) -> httpx.Response:
    body = {"rotation_id": ROTATION}
    return await world.client.post("/api/scanning/key-rotations", json=body, headers=device.headers)


def a_challenge() -> tuple[str, str]:
    """A token that a device makes, and the hash that it shows of it."""
    token = token_urlsafe(32)
    return token, sha256(token.encode()).hexdigest()


def is_unknown(answer: httpx.Response) -> bool:
    return (answer.status_code, answer.json()["error"]) == (404, "pairing_token_not_found")


def is_known(answer: httpx.Response) -> bool:
    return (answer.status_code, answer.json()["error"]) == (409, "device_already_paired")


def is_meant_for_another(answer: httpx.Response) -> bool:
    return (answer.status_code, answer.json()["error"]) == (409, "pairing_for_another_device")


def as_device(paired: httpx.Response, world: World) -> Device:
    assert paired.status_code == 201, paired.text
    return Device(UUID(paired.json()["device_id"]), paired.json()["api_key"], world.gates[0])


async def test_a_device_joins_by_a_token_that_an_admin_shows_it(world: World):
    pairing = await approve(world, device_type="ipad")
    answer = await pair(world.client, pairing["pairing_token"], app_version="1.4.0")
    assert answer.status_code == 201
    paired = answer.json()
    device = as_device(answer, world)
    assert paired.pop("api_key").startswith("vgd_")
    assert paired == {
        "device_id": str(device.id),
        "organization_id": str(world.tenant.id),
        "organization_name": "Acme",
        "name": "iPad North",
        "gate_id": str(world.gates[0].id),
        "event_id": str(world.event_id),
    }
    [kept] = await world.rows("SELECT * FROM scan_device")
    assert (kept["id"], kept["device_type"], kept["app_version"]) == (device.id, "ipad", "1.4.0")
    assert kept["paired_by_id"] == world.tenant.users["gate_supervisor"]
    audit = await world.rows(
        "SELECT action, actor_kind, actor_id FROM audit_entry WHERE action LIKE 'device%' ORDER BY id"
    )
    supervisor = world.tenant.users["gate_supervisor"]
    assert [tuple(entry.values()) for entry in audit] == [
        ("device_pairing_created", "user", supervisor),
        ("device_paired", "device", device.id),
    ]
    assert await world.verdict(device, (await world.ticket()).code) == "admitted"


async def test_a_token_may_be_typed_in_any_spelling(world: World):
    for between in ("-", "", " "):
        token: str = (await approve(world))["pairing_token"]
        typed = token.lower().replace("-", between)
        as_device(await pair(world.client, typed), world)


async def test_a_device_that_shows_its_own_token_collects_its_key_once_it_is_approved(world: World):
    token, shown = a_challenge()
    assert is_unknown(await pair(world.client, token)), "nobody approved it yet"
    pairing = await approve(world, challenge=shown)
    assert pairing["pairing_token"] is None
    assert is_unknown(await pair(world.client, shown)), "who only saw it has nothing"
    device = as_device(await pair(world.client, token), world)
    assert is_unknown(await pair(world.client, token))
    assert await world.verdict(device, (await world.ticket()).code) == "admitted"


async def test_a_device_may_make_any_token_it_likes(world: World):
    token = "pfnq7a2m9xkd"
    await approve(world, challenge=sha256(token.encode()).hexdigest())
    as_device(await pair(world.client, token), world)


async def test_an_approval_cannot_be_given_twice(world: World):
    _, shown = a_challenge()
    await approve(world, challenge=shown)
    body = {"gate_id": str(world.gates[1].id), "name": "Again", "challenge": shown}
    answer = await world.ask("POST", PAIRINGS, body)
    assert (answer.status_code, answer.json()["error"]) == (409, "pairing_token_taken")


async def test_of_two_that_use_a_token_at_the_same_moment_one_is_paired(world: World):
    for _ in range(5):
        token = (await approve(world))["pairing_token"]
        answers = await asyncio.gather(*(pair(world.client, token) for _ in range(4)))
        assert sorted(answer.status_code for answer in answers) == [201, 404, 404, 404]
        assert is_unknown(await pair(world.client, token))
    assert len(await world.rows("SELECT 1 FROM scan_device")) == 5


async def test_a_token_works_for_five_minutes(world: World, clock: MovableClock):
    early, late = await approve(world), await approve(world)
    token, shown = a_challenge()
    await approve(world, challenge=shown)
    clock.ahead += timedelta(minutes=4, seconds=30)
    as_device(await pair(world.client, early["pairing_token"]), world)
    clock.ahead += timedelta(seconds=31)
    assert is_unknown(await pair(world.client, late["pairing_token"]))
    assert is_unknown(await pair(world.client, token))


async def test_a_text_that_is_no_token_is_refused(world: World):
    for token in ("", "short", "x" * 201, "with\nnewline12", "with\x00null12"):
        assert (await pair(world.client, token)).status_code == 422
    assert is_unknown(await pair(world.client, "0000-0000-0000"))
    for shown in ("A" * 64, "0" * 63, "0" * 64 + "\n"):
        body = {"gate_id": str(world.gates[0].id), "name": "iPad", "challenge": shown}
        assert (await world.ask("POST", PAIRINGS, body)).status_code == 422


async def test_the_token_determines_the_organisation_and_nothing_else(
    world: World, other_tenant: Tenant
):
    token = (await approve(world))["pairing_token"]
    answer = await world.client.post(
        PAIR, json={"pairing_token": token}, headers=other_tenant.as_("owner")
    )
    assert answer.json()["organization_id"] == str(world.tenant.id)
    body = {"gate_id": str(world.gates[0].id), "name": "iPad"}
    foreign = await world.client.post(PAIRINGS, json=body, headers=other_tenant.as_("owner"))
    assert (foreign.status_code, foreign.json()["error"]) == (404, "gate_not_found")


async def test_a_device_that_two_organisations_approved_belongs_to_neither(
    world: World, services: Services, client: httpx.AsyncClient, other_tenant: Tenant
):
    rival = await a_world(services, client, other_tenant)
    token, shown = a_challenge()
    await approve(world, challenge=shown)
    await approve(rival, challenge=shown)
    assert is_unknown(await pair(client, token))
    assert await world.rows("SELECT 1 FROM scan_device") == []
    assert await rival.rows("SELECT 1 FROM scan_device") == []


async def test_a_device_that_is_paired_again_keeps_its_id_and_its_old_key_is_worthless(
    world: World,
):
    first = await world.device()
    pairing = await approve(
        world, gate_id=str(world.gates[1].id), name="Moved", replaces_device_id=str(first.id)
    )
    assert pairing["replaces_device_id"] == str(first.id)
    token = pairing["pairing_token"]
    again = await pair(world.client, token, device_id=str(first.id))
    assert again.json()["device_id"] == str(first.id)
    assert again.json()["api_key"] != first.api_key
    second = as_device(again, world)
    assert (await world.scan(first, "0000-0000-0000")).status_code == 401
    rotation = await rotate(world, first)
    assert rotation.status_code == 401, "nor does it give the key after it"
    answer = await world.scan(second, (await world.ticket()).code)
    assert answer.json()["gate"]["gate_id"] == str(world.gates[1].id)
    [kept] = await world.rows("SELECT id, name FROM scan_device")
    assert kept == {"id": first.id, "name": "Moved"}


async def test_a_rotated_key_does_not_lead_to_the_key_of_a_later_pairing(world: World):
    first = await world.device()
    assert (await rotate(world, first)).status_code == 201
    token = (await approve(world, replaces_device_id=str(first.id)))["pairing_token"]
    as_device(await pair(world.client, token, device_id=str(first.id)), world)
    for _ in range(3):
        rotation = await rotate(world, first)
        assert rotation.status_code == 401


async def test_a_revoked_device_comes_back_only_by_pairing_it_again(world: World):
    device = await world.device()
    path = f"/api/scanning/devices/{device.id}"
    assert (await world.ask("DELETE", path)).status_code == 204
    token = (await approve(world))["pairing_token"]
    assert is_known(await pair(world.client, token, device_id=str(device.id)))
    token = (await approve(world, replaces_device_id=str(device.id)))["pairing_token"]
    back = as_device(await pair(world.client, token, device_id=str(device.id)), world)
    assert back.id == device.id
    assert (await world.scan(device, "0000-0000-0000")).status_code == 401
    assert (await world.scan(back, "0000-0000-0000")).status_code == 404
    assert (await world.ask("GET", path)).json()["data"]["is_revoked"] is False


async def test_the_number_of_devices_is_limited(world: World, monkeypatch: pytest.MonkeyPatch):
    device, revoked = await world.device(), await world.device()
    await world.ask("DELETE", f"/api/scanning/devices/{revoked.id}")
    monkeypatch.setattr(module, "DEVICES_MAX", 1)
    for chosen in ({}, {"replaces_device_id": str(revoked.id)}):
        answer = await pair(world.client, (await approve(world, **chosen))["pairing_token"])
        assert (answer.status_code, answer.json()["error"]) == (409, "too_many_devices")
    token = (await approve(world, replaces_device_id=str(device.id)))["pairing_token"]
    as_device(await pair(world.client, token), world)


class ManualJobs(Jobs):
    """Keeps periodic jobs, so that a test can run them when it wants."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.works: list[Callable[[], Awaitable[None]]] = []

    def every(self, cron: str, name: str, work: Callable[[], Awaitable[None]]) -> None:
        self.works.append(work)


@pytest.mark.own_database
async def test_old_tokens_are_deleted(world: World, clock: MovableClock):
    await approve(world)
    clock.ahead += timedelta(days=1, hours=1)
    database = world.services.database
    jobs = ManualJobs(database)
    scanning_jobs.register(jobs, database)
    for work in jobs.works:
        await work()
    assert await world.rows("SELECT 1 FROM device_pairing") == []


async def test_two_organisations_may_have_devices_with_the_same_id(
    world: World, services: Services, client: httpx.AsyncClient, other_tenant: Tenant
):
    rival, chosen = await a_world(services, client, other_tenant), str(uuid4())
    devices: list[Device] = []
    for each in (world, rival):
        token = (await approve(each))["pairing_token"]
        devices.append(as_device(await pair(client, token, device_id=chosen), each))
    ours, theirs = devices
    assert ours.id == theirs.id
    assert ours.api_key != theirs.api_key
    ticket = await world.ticket()
    assert await rival.verdict(theirs, ticket.code) == "ticket_not_found"
    assert await world.verdict(ours, ticket.code) == "admitted"
    assert (await rival.ask("DELETE", f"/api/scanning/devices/{chosen}")).status_code == 204
    assert await world.verdict(ours, ticket.code) == "already_scanned"


@pytest.mark.parametrize("role", ["customer", "box_office"])
async def test_only_staff_who_run_gates_or_arrange_events_may_approve(world: World, role: Any):
    body = {"gate_id": str(world.gates[0].id), "name": "iPad"}
    answer = await world.ask("POST", PAIRINGS, body, by=role)
    assert answer.status_code == 403
