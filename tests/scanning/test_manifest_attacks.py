"""Requests for manifests that no honest device sends, and unusual events."""

import asyncio
import json
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import msgspec
import pytest

from tests.scanning.manifest_support import a_reader, fetch
from tests.scanning.node_support import another_node
from tests.scanning.support import World, a_world
from tests.support import MovableClock, Tenant, a_gate, a_tenant, a_venue, an_event
from voelgoed.events.actions.gates import create_gate
from voelgoed.events.model import NewGate
from voelgoed.scanning.actions import manifests
from voelgoed.scanning.rules.manifest import verify
from voelgoed.services import Services

LATER = timedelta(seconds=11)


@pytest.mark.parametrize(
    "accepted",
    ["", ",", ";;;", "gzip;q=", "gzip;q=x", "zstd;q=0", "*;q=0", "identity;q=0", "zstd" * 200,
     "gzip;q=1;q=0", "\xff", "br\t;\tq=0.5"],
)  # fmt: skip
async def test_for_every_accepted_encoding_something_readable_is_sent(world: World, accepted: str):
    reader = await a_reader(world)
    headers = {"Accept-Encoding": accepted.encode("latin-1")}
    answer = await fetch(world, reader.device, headers=headers)
    assert verify(answer.content, reader.device.api_key) == reader.document


@pytest.mark.parametrize("known", ["", '"', "W/", "W/*", '"1-"', ",,,", "x" * 999, "\xe9"])
async def test_an_invalid_tag_is_no_match(world: World, known: str):
    reader = await a_reader(world)
    headers = {"If-None-Match": known.encode("latin-1")}
    answer = await fetch(world, reader.device, headers=headers)
    assert answer.status_code == (304 if known == "W/*" else 200)


async def test_headers_that_are_too_long_are_refused(world: World):
    reader = await a_reader(world)
    for name in ("If-None-Match", "Accept-Encoding", "X-Device-Time"):
        answer = await fetch(world, reader.device, headers={name: "x" * 1_001})
        assert answer.status_code == 422, name


async def test_a_draft_without_layout_types_or_tickets_has_a_manifest(
    services: Services, client: httpx.AsyncClient, tenant: Tenant, world: World
):
    owner = tenant.as_("owner")
    venue = (await client.post("/api/venues", json=a_venue(), headers=owner)).json()["data"]
    event = (await client.post("/api/events", json=an_event(venue["id"]), headers=owner)).json()
    new, event_id = msgspec.convert(a_gate(), NewGate), UUID(event["data"]["id"])
    gate = await create_gate(services.database, tenant.caller(), event_id, new, None)
    device = await world.device(gate)
    answer = await fetch(world, device, event_id=gate.event_id)
    assert answer.status_code == 200, answer.text
    manifest = json.loads(answer.content)
    assert manifest["event"]["status"] == "draft"
    for empty in ("tickets", "zones", "ticket_types", "public_keys", "seat_notes", "occupancy"):
        assert manifest[empty] == []


async def test_events_of_two_tenants_have_nothing_in_common(
    services: Services, client: httpx.AsyncClient, world: World
):
    rival = await a_world(services, client, await a_tenant(services, "rival"))
    mine, theirs = await a_reader(world), await a_reader(rival)
    ticket = await world.ticket("A1")
    assert str(ticket.id) not in theirs.document.decode()
    assert mine.tail is not None
    assert theirs.tail is not None
    assert mine.tail.code_key != theirs.tail.code_key
    crossed = await fetch(world, mine.device, event_id=rival.event_id)
    assert crossed.status_code == 404


async def test_a_deactivated_device_gets_no_manifest(world: World):
    reader = await a_reader(world)
    path, change = f"/api/scanning/devices/{reader.device.id}", {"version": 1, "status": "inactive"}
    await world.ask("PATCH", path, change, by="owner")
    answer = await fetch(world, reader.device)
    assert (answer.status_code, answer.json()["error"]) == (401, "device_inactive")


async def test_a_rotated_key_gets_no_manifest_and_the_next_one_signs(world: World):
    reader = await a_reader(world)
    body = {"rotation_id": "0190a1b2-c3d4-4e5f-8a9b-0c1d2e3f4a5b"}
    headers = reader.device.headers
    made = await world.client.post("/api/scanning/key-rotations", json=body, headers=headers)
    assert (await fetch(world, reader.device)).status_code == 401
    headers = {"Authorization": f"Bearer {made.json()['data']['api_key']}"}
    answer = await fetch(world, reader.device, headers=headers)
    assert verify(answer.content, reader.device.api_key) is None
    assert verify(answer.content, made.json()["data"]["api_key"]) == reader.document


async def test_simultaneous_requests_build_and_compress_it_once(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    await world.tickets(10)
    devices = [await world.device() for _ in range(20)]
    made: list[Any] = []
    opening = manifests.open_stream

    def counting(encoding: Any, first: bytes) -> Any:
        made.append(encoding)
        return opening(encoding, first)

    monkeypatch.setattr(manifests, "open_stream", counting)
    answers = await asyncio.gather(
        *(
            fetch(world, device, headers={"Accept-Encoding": encoding})
            for device in devices
            for encoding in ("br", "gzip")
        )
    )
    assert {answer.headers["x-manifest-version"] for answer in answers} == {"1"}
    assert sorted(made) == ["br", "gzip"]
    for device, answer in zip(devices, answers[::2], strict=True):
        assert verify(answer.content, device.api_key) is not None


async def test_a_manifest_that_does_not_fit_in_memory_is_sent_all_the_same(
    world: World, database_url: str, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(manifests, "TEXT_BYTES_MAX", 100)
    monkeypatch.setattr(manifests, "OPENED_BYTES_MAX", 100)
    await world.tickets(10)
    async with another_node(world, database_url, clock) as small:
        reader = await a_reader(small, await world.device())
        await world.tickets(2)
        clock.ahead += LATER
        await reader.update()
        assert reader.version == 2


async def test_a_newer_version_during_the_read_is_no_fault(
    world: World, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
):
    """Between the read of the version and the read of the document another node builds the next version."""
    reader = await a_reader(world)
    service = world.services.manifests
    await world.tickets(1)
    clock.ahead += LATER
    fresh = service._fresh  # pyright: ignore[reportPrivateUsage]

    async def slowly(*given: Any) -> Any:
        manifest = await fresh(*given)
        await world.tickets(1)
        await service.refresh(world.tenant.id, world.event_id, is_forced=True)
        service._texts.clear()  # pyright: ignore[reportPrivateUsage]
        return manifest

    with monkeypatch.context() as raced:
        raced.setattr(service, "_fresh", slowly)
        await reader.hydrate()
    assert reader.version == 3
