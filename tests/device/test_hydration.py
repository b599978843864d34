"""A manifest that is not signed for this device, or is older than the present one, is not kept."""

import random
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from tests.device.support import Gatehouse, a_device
from tests.scanning.support import World
from tests.support import MovableClock
from voelgoed.device.client import Device
from voelgoed.device.model import DeviceFault, ForgedManifest, NotPaired, Refused
from voelgoed.device.scanning import scan
from voelgoed.scanning.rules.manifest import body_of, cut, sign, tail_text

FLIPS = 120
CODE_KEY = bytes(32)


@pytest.fixture
async def plain(gates: Gatehouse) -> Device:
    """A device with a manifest, whose answers are not compressed."""
    await gates.world.tickets(3)
    device = await gates.device()
    gates.line.headers["Accept-Encoding"] = "identity"
    return device


async def wait_for_changes(world: World) -> None:
    clock = world.services.clock
    assert isinstance(clock, MovableClock)
    clock.ahead += timedelta(minutes=1)


async def body_of_manifest(device: Device, since: int = 0) -> bytes:
    path = f"/api/scanning/events/{device.identity.event_id}/manifest?since={since}"
    answered = await device.ask("GET", path)
    assert answered.status == 200
    return answered.body


def forget(device: Device) -> None:
    device.store.forget_manifest()
    device.register = None


async def test_every_byte_of_a_manifest_flipped_in_turn_is_refused(gates: Gatehouse, plain: Device):
    body = await body_of_manifest(plain)
    parts = cut(body)
    assert parts is not None
    document, tail = parts
    luck = random.Random(1)
    unsigned = range(len(document) - 1, body.rindex(b',"signature"'))
    refused = 0
    sample = sorted(luck.sample(range(len(body)), min(FLIPS, len(body))))
    for at in [*sample, 0, len(body) - 1, len(document) - 2, len(body) - 3]:
        forget(plain)
        gates.network.flip_at, gates.network.flip_bit = at, luck.randrange(8)
        gates.network.will("answer_flipped")
        try:
            await plain.hydrate()
        except DeviceFault:
            refused += 1
            assert plain.store.manifest is None
            assert plain.register is None
        else:
            # The signature covers neither the clock offset nor the key for typed codes.
            assert at in unsigned
            kept = plain.store.manifest
            assert kept is not None
            assert kept[0] == document
    assert refused > FLIPS // 2
    assert tail.signature == sign(document, plain.identity.api_key)


async def test_flipped_bits_in_a_compressed_answer_are_refused_too(gates: Gatehouse):
    await gates.world.tickets(3)
    device = await gates.device()
    before = device.store.manifest
    assert before is not None
    luck, refused = random.Random(2), 0
    for _ in range(40):
        forget(device)
        gates.network.flip_at, gates.network.flip_bit = luck.randrange(5000), luck.randrange(8)
        gates.network.will("answer_flipped")
        try:
            await device.hydrate()
        except DeviceFault:
            refused += 1
            assert device.store.manifest is None
        else:
            kept = device.store.manifest
            assert kept is not None
            assert kept[0] == before[0]
    assert refused >= 25


async def test_a_forged_delta_leaves_the_manifest_as_it_was(gates: Gatehouse, plain: Device):
    before = plain.store.manifest
    assert plain.register is not None
    version = plain.register.manifest.manifest_version
    await gates.world.tickets(2)
    await wait_for_changes(gates.world)
    delta = await body_of_manifest(plain, version)
    assert b'"since"' in delta
    for at in range(0, delta.rindex(b',"offset_seconds"'), 29):
        gates.network.flip_at = at
        gates.network.will("answer_flipped")
        with pytest.raises(DeviceFault):
            await plain.hydrate()
        assert plain.store.manifest == before
    assert await plain.hydrate()
    assert plain.register.manifest.manifest_version > version


async def answered_with(device: Device, body: bytes) -> None:
    """Hydrates from a server that is not ours."""

    async def forge(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=body)

    async with httpx.AsyncClient(transport=httpx.MockTransport(forge)) as forger:
        honest = device.link._client  # pyright: ignore[reportPrivateUsage]
        device.link._client = forger  # pyright: ignore[reportPrivateUsage]
        try:
            await device.hydrate()
        finally:
            device.link._client = honest  # pyright: ignore[reportPrivateUsage]


async def test_a_manifest_for_another_device_is_refused(gates: Gatehouse, plain: Device):
    other = await gates.device(1)
    theirs = await body_of_manifest(other)
    before = plain.store.manifest
    with pytest.raises(ForgedManifest):
        await answered_with(plain, theirs)
    assert plain.store.manifest == before


async def test_a_manifest_of_another_event_is_refused_though_it_is_signed(
    gates: Gatehouse, plain: Device
):
    assert plain.store.manifest is not None
    document = plain.store.manifest[0]
    event_id = str(plain.identity.event_id).encode()
    other = document.replace(event_id, b"0190a1b2-0000-7000-8000-000000000001")
    with pytest.raises(ForgedManifest, match="another event"):
        await answered_with(plain, signed(plain, other))


async def test_an_older_manifest_is_refused_though_it_is_signed(gates: Gatehouse, plain: Device):
    old = await body_of_manifest(plain)
    await gates.world.tickets(1)
    await wait_for_changes(gates.world)
    assert await plain.hydrate()
    before = plain.store.manifest
    with pytest.raises(ForgedManifest, match="older"):
        await answered_with(plain, old)
    assert plain.store.manifest == before


async def test_a_signed_manifest_that_cannot_be_read_is_not_kept(gates: Gatehouse, plain: Device):
    before = plain.store.manifest
    with pytest.raises(Refused, match="cannot be read"):
        await answered_with(plain, signed(plain, b'{"event_id":"?","tickets":[]}'))
    assert plain.store.manifest == before


def signed(device: Device, document: bytes) -> bytes:
    signature = sign(document, device.identity.api_key)
    return body_of(document, tail_text(None, CODE_KEY, signature))


async def test_a_delta_that_does_not_fit_is_followed_by_the_whole_manifest(
    gates: Gatehouse, plain: Device
):
    kept = plain.store.manifest
    assert kept is not None
    spoilt = kept[0].replace(b'"issue":1', b'"issue":9')
    plain.store.keep_manifest(spoilt, kept[1])
    await gates.world.tickets(1)
    await wait_for_changes(gates.world)
    assert await plain.hydrate()
    after = plain.store.manifest
    assert after is not None
    assert b'"issue":9' not in after[0]


async def test_a_hydrated_manifest_is_there_after_a_crash(gates: Gatehouse):
    [ticket] = await gates.world.tickets(1)
    device = await gates.device()
    again = gates.reopened(device)
    gates.network.is_down = True
    answer = await scan(again, await gates.world.barcode(ticket))
    assert (answer.colour, answer.is_offline) == ("green", True)
    typed = await scan(again, ticket.code.lower().replace("-", ""))
    assert (typed.reason, typed.ticket_id) == ("already_scanned", ticket.id)


async def test_a_ticket_sold_since_is_admitted_by_its_signature(gates: Gatehouse):
    await gates.world.tickets(1)
    device = await gates.device()
    [ticket] = await gates.world.tickets(1)
    gates.network.is_down = True
    answer = await scan(device, await gates.world.barcode(ticket))
    assert (answer.colour, answer.ticket_id) == ("green", ticket.id)
    [logged] = device.store.scans()
    assert logged.ticket_code is not None


async def test_a_reissued_ticket(gates: Gatehouse):
    [ticket] = await gates.world.tickets(1)
    old = await gates.world.barcode(ticket)
    before = await gates.device(0)
    new = (await gates.world.sales.reissue(ticket.id)).barcode
    assert new is not None
    await wait_for_changes(gates.world)
    after = await gates.device(1)
    assert (await scan(after, old, offline=True)).reason == "barcode_revoked"
    assert (await scan(after, new, offline=True)).colour == "green"
    assert (await scan(before, new, offline=True)).colour == "green"


async def test_an_unpaired_device_reports_that(tmp_path: Path, line: httpx.AsyncClient):
    device = a_device(tmp_path / "device.db", line)
    for ask in (device.hydrate, device.beat, device.rotate):
        with pytest.raises(NotPaired):
            await ask()
    with pytest.raises(NotPaired):
        await scan(device, "7K2M-9QXD-4F1A")
    assert device.store.scans() == []
    device.close()
