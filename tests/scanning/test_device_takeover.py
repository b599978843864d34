"""A pairing takes over an existing device only if the administrator who made it said so."""

import asyncio
from uuid import UUID, uuid4

import httpx
import pytest

from tests.scanning.support import Device, World, a_world
from tests.scanning.test_devices import (
    PAIRINGS,
    a_challenge,
    approve,
    as_device,
    is_known,
    is_meant_for_another,
    is_unknown,
    pair,
)
from tests.support import Tenant
from voelgoed.scanning.model.refusals import DeviceAlreadyPaired, PairingForAnotherDevice
from voelgoed.scanning.rules import devices as rules
from voelgoed.scanning.rules.devices import refusal_to_pair
from voelgoed.services import Services

ROUNDS = 15
MINE, OTHER = UUID(int=1), UUID(int=2)


@pytest.mark.parametrize(
    ("asked", "is_known", "replaces", "refusal"),
    [
        (None, False, None, None),
        (MINE, False, None, None),
        (MINE, True, None, DeviceAlreadyPaired),
        (MINE, True, MINE, None),
        (None, True, MINE, None),
        (OTHER, True, MINE, PairingForAnotherDevice),
        (OTHER, False, MINE, PairingForAnotherDevice),
    ],
)
def test_only_the_pairing_that_names_a_device_takes_it_over(
    asked: UUID | None, is_known: bool, replaces: UUID | None, refusal: type | None
):
    found = refusal_to_pair(asked, is_known, replaces)
    assert (found and type(found)) == refusal


@pytest.mark.parametrize("is_shown_by_device", [False, True])
async def test_a_pairing_that_names_no_device_evicts_none(world: World, is_shown_by_device: bool):
    device, tickets = await world.device(), await world.tickets(2)
    before = await world.rows("SELECT * FROM scan_device")
    token, shown = a_challenge()
    if is_shown_by_device:
        await approve(world, challenge=shown)
    else:
        token = (await approve(world))["pairing_token"]
    assert is_known(await pair(world.client, token, device_id=str(device.id)))
    assert await world.rows("SELECT * FROM scan_device") == before
    assert await world.verdict(device, tickets[0].code) == "admitted", "with the key that it had"
    another = as_device(await pair(world.client, token), world)
    assert another.id != device.id, "the token is still good, for a device that is new"
    assert await world.verdict(another, tickets[1].code) == "admitted"


@pytest.mark.parametrize("is_shown_by_device", [False, True])
@pytest.mark.parametrize("knows_its_id", [False, True])
async def test_a_pairing_that_names_a_device_takes_it_over(
    world: World, is_shown_by_device: bool, knows_its_id: bool
):
    """A tablet that lost its data does not know which device it was."""
    device, ticket = await world.device(), await world.ticket()
    token, shown = a_challenge()
    replaces = {"replaces_device_id": str(device.id)}
    if is_shown_by_device:
        await approve(world, challenge=shown, **replaces)
    else:
        token = (await approve(world, **replaces))["pairing_token"]
    said = {"device_id": str(device.id)} if knows_its_id else {}
    again = as_device(await pair(world.client, token, **said), world)
    assert again.id == device.id
    assert (await world.scan(device, ticket.code)).status_code == 401
    assert await world.verdict(again, ticket.code) == "admitted"
    assert is_unknown(await pair(world.client, token))
    *_, made, paired = await world.rows(
        "SELECT changes FROM audit_entry WHERE action LIKE 'device_pair%' ORDER BY id"
    )
    assert made["changes"]["replaces_device_id"] == str(device.id)
    assert paired["changes"]["is_taken_over"] is True


async def test_a_pairing_that_names_a_device_is_for_no_other(world: World):
    device, beside, ticket = await world.device(), await world.device(), await world.ticket()
    token = (await approve(world, replaces_device_id=str(device.id)))["pairing_token"]
    for other in (beside.id, uuid4()):
        assert is_meant_for_another(await pair(world.client, token, device_id=str(other)))
    assert await world.verdict(beside, ticket.code) == "admitted"
    as_device(await pair(world.client, token, device_id=str(device.id)), world)


async def test_the_device_to_be_paired_again_must_be_of_the_organisation(
    world: World, services: Services, client: httpx.AsyncClient, other_tenant: Tenant
):
    rival = await a_world(services, client, other_tenant)
    theirs = await rival.device()
    for unknown in (theirs.id, uuid4()):
        body = {
            "gate_id": str(world.gates[0].id),
            "name": "iPad",
            "replaces_device_id": str(unknown),
        }
        answer = await world.ask("POST", PAIRINGS, body)
        assert (answer.status_code, answer.json()["error"]) == (404, "device_not_found")


async def paired_at_once(world: World) -> list[list[httpx.Response]]:
    """Two tokens that name no device, used at the same moment by two devices with the same id."""
    answers: list[list[httpx.Response]] = []
    for _ in range(ROUNDS):
        tokens = [(await approve(world))["pairing_token"] for _ in range(2)]
        chosen = str(uuid4())
        both = [pair(world.client, token, device_id=chosen) for token in tokens]
        answers.append(list(await asyncio.gather(*both)))
    return answers


async def test_of_two_that_choose_the_same_id_at_once_one_becomes_the_device(world: World):
    for both in await paired_at_once(world):
        [won] = [answer for answer in both if answer.status_code == 201]
        [lost] = [answer for answer in both if answer is not won]
        assert is_known(lost)
        assert await can_scan(world, as_device(won, world))


async def test_without_the_rule_the_second_would_evict_the_first(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    """The control of the race above."""
    monkeypatch.setattr(rules, "DeviceAlreadyPaired", lambda: None)
    for both in await paired_at_once(world):
        devices = [as_device(answer, world) for answer in both]
        assert [await can_scan(world, device) for device in devices].count(True) == 1


async def test_of_two_pairings_that_name_one_device_the_last_key_is_the_device(world: World):
    for _ in range(ROUNDS):
        device = await world.device()
        naming = {"replaces_device_id": str(device.id)}
        tokens = [(await approve(world, **naming))["pairing_token"] for _ in range(2)]
        answers = await asyncio.gather(*(pair(world.client, token) for token in tokens))
        both = [as_device(answer, world) for answer in answers]
        assert {each.id for each in both} == {device.id}
        assert [await can_scan(world, each) for each in (device, *both)].count(True) == 1
        [kept] = await world.rows("SELECT key_version FROM scan_device WHERE id = $1", device.id)
        assert kept["key_version"] == 3


async def can_scan(world: World, device: Device) -> bool:
    return (await world.scan(device, "0000-0000-0000")).status_code == 404
