"""The messages that followers of a gate and of an event's occupancy receive: staff and devices, on every
node."""

import asyncio
import contextlib
import json
import socket as sockets
from datetime import datetime
from typing import Any
from uuid import uuid4

import httpx
import pytest
from prometheus_client import REGISTRY
from websockets.asyncio.client import ClientConnection

from tests.scanning.node_support import (
    another_node,
    closed_with,
    hear,
    socket,
    subscribe,
    unsubscribe,
)
from tests.scanning.support import LATER, Device, World, a_world
from tests.support import MovableClock, Tenant
from voelgoed import live as module
from voelgoed.events.model import Gate
from voelgoed.infra.database import Message
from voelgoed.scanning.actions import scan_follow_up
from voelgoed.services import Services


def of_gate(gate: Gate) -> str:
    return f"gate:{gate.id}"


def of_event(world: World) -> str:
    return f"occupancy:{world.tenant.id}:{world.event_id}"


async def next_message(connection: ClientConnection, topic: str) -> dict[str, Any]:
    frame = await hear(connection, topic)
    assert frame["type"] == "message", frame
    return frame["data"]


async def revoke(world: World, device: Device) -> None:
    answer = await world.ask("DELETE", f"/api/scanning/devices/{device.id}")
    assert answer.status_code == 204, answer.text


async def test_followers_of_the_gate_receive_the_documented_message(world: World):
    device, ticket = await world.device(), await world.ticket("A7")
    topic = of_gate(device.gate)
    async with (
        socket(world, device.headers) as tablet,
        socket(world, world.tenant.as_("gate_supervisor")) as staff,
    ):
        for connection in (tablet, staff):
            assert (await subscribe(connection, topic))["type"] == "subscribed"
        answers = [
            (await world.scan(device, ticket.code)).json(),
            (await world.scan(device, ticket.code)).json(),
            (await world.scan(device, ticket.code, direction="exit")).json(),
        ]
        for connection in (tablet, staff):
            admitted, denied, left = [await next_message(connection, topic) for _ in answers]
            assert admitted == {
                "event": "ticket_admitted",
                "scan_id": answers[0]["scan_id"],
                "ticket_code": ticket.code,
                "status": "admitted",
                "seat_info": answers[0]["seat_info"],
                "scanned_at": answers[0]["scanned_at"],
                "scan_time": answers[0]["scanned_at"],
                "gate_occupancy": 1,
                "timestamp": answers[0]["scanned_at"],
            }
            assert admitted["seat_info"]["block_name"] == "Hall"
            assert admitted["seat_info"]["seat_number"] == "7"
            assert denied == {
                "event": "ticket_denied",
                "scan_id": answers[1]["scan_id"],
                "ticket_code": ticket.code,
                "status": "denied",
                "reason": "already_scanned",
                "timestamp": answers[1]["scanned_at"],
            }
            assert (left["event"], left["gate_occupancy"]) == ("ticket_exited", 0)


async def test_followers_of_the_event_receive_the_documented_message(world: World):
    device, ticket = await world.device(world.gates[1]), await world.ticket()
    topic = of_event(world)
    async with socket(world, world.tenant.as_("organiser")) as staff:
        await world.services.live.is_idle()  # the sale has changed the counts of seats, too
        await subscribe(staff, topic)
        await world.scan(device, ticket.code)
        scanned = await next_message(staff, topic)
        while scanned["event"] != "ticket_scanned":
            scanned = await next_message(staff, topic)
        datetime.fromisoformat(scanned.pop("timestamp"))
        assert scanned == {
            "event": "ticket_scanned",
            "direction": "entry",
            "ticket_id": str(ticket.id),
            "gate_id": str(world.gates[1].id),
            "gate_name": "Gate 1",
            "gate_occupancy": 1,
            "total_occupancy": 1,
            "percent_full": 0,
            "occupancy_levels": {
                "gates": [
                    {
                        "gate_id": str(gate.id),
                        "occupancy": int(gate is world.gates[1]),
                        "capacity": 500,
                        "percent": 0,
                    }
                    for gate in world.gates
                ]
            },
        }
        await world.scan(device, ticket.code)  # denied: nobody was counted
        await world.scan(device, ticket.code, direction="exit")
        left = await next_message(staff, topic)
        assert (left["direction"], left["total_occupancy"], left["gate_occupancy"]) == (
            "exit",
            0,
            0,
        )


async def test_messages_have_no_names_and_no_money(world: World):
    device, ticket = await world.device(), await world.ticket()
    async with socket(world, world.tenant.as_("gate_supervisor")) as staff:
        for topic in (of_gate(device.gate), of_event(world)):
            await subscribe(staff, topic)
        await world.scan(device, ticket.code)
        heard = [
            await next_message(staff, of_gate(device.gate)),
            await next_message(staff, of_event(world)),
        ]
        for word in ("Anna", "Botha", "15000", "ZAR", "price", "email"):
            assert word not in json.dumps(heard)


async def test_a_browser_offers_its_key_as_a_subprotocol(world: World):
    device, ticket = await world.device(), await world.ticket()
    topic = of_gate(device.gate)
    async with socket(world, subprotocols=["voelgoed", device.api_key]) as tablet:
        assert tablet.subprotocol == "voelgoed", "never the key, which would be echoed"
        assert (await subscribe(tablet, topic))["type"] == "subscribed"
        await world.scan(device, ticket.code)
        assert (await next_message(tablet, topic))["ticket_code"] == ticket.code


@pytest.mark.parametrize("between", [", ", ",", " , "])
async def test_blanks_between_subprotocols_do_not_matter(world: World, between: str):
    device = await world.device()
    accepted = await _handshake(world, between.join(["voelgoed", device.api_key]))
    assert "101 switching protocols" in accepted
    assert "sec-websocket-protocol: voelgoed\r\n" in accepted


async def _handshake(world: World, offered: str) -> str:
    """Sends a handshake in a form that no library writes."""
    address = world.client.base_url
    reader, writer = await asyncio.open_connection(address.host, address.port)
    lines = (
        "GET /api/live HTTP/1.1",
        f"Host: {address.host}:{address.port}",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        f"Sec-WebSocket-Protocol: {offered}",
    )
    writer.write("".join(f"{line}\r\n" for line in (*lines, "")).encode())
    try:
        async with asyncio.timeout(10):
            return (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    finally:
        writer.close()


async def test_invalid_keys_are_refused(world: World):
    device = await world.device()
    await revoke(world, device)
    for headers in (device.headers, {"Authorization": "Bearer vgd_x"}, {}):
        async with socket(world, headers) as connection:
            assert await closed_with(connection) == module.CLOSE_UNAUTHORIZED
    for key in (["vgd_x"], [device.api_key.rstrip("=")], []):
        async with socket(world, subprotocols=["voelgoed", *key]) as connection:
            assert await closed_with(connection) == module.CLOSE_UNAUTHORIZED


async def test_a_device_follows_its_own_gate_and_event_and_nothing_else(
    world: World, services: Services, client: httpx.AsyncClient, other_tenant: Tenant
):
    rival = await a_world(services, client, other_tenant)
    elsewhere = await a_world(services, client, world.tenant)  # another event of ours
    device, beside = await world.device(), await world.device(world.gates[1])
    allowed = (of_gate(device.gate), of_event(world), f"event:{world.event_id}")
    refused = (
        of_gate(world.gates[1]),
        of_gate(elsewhere.gates[0]),
        of_gate(rival.gates[0]),
        of_event(elsewhere),
        of_event(rival),
        f"occupancy:{rival.tenant.id}:{world.event_id}",
        f"occupancy:{world.tenant.id}:{rival.event_id}",
        f"event:{elsewhere.event_id}",
        f"event:{rival.event_id}",
        f"device:{beside.id}",
        f"gate:{uuid4()}",
        f"gate:{str(device.gate.id).upper()}",
        "gate:",
    )
    async with socket(world, device.headers) as tablet:
        for topic in allowed:
            assert (await subscribe(tablet, topic))["type"] == "subscribed", topic
        for topic in refused:
            assert (await subscribe(tablet, topic))["type"] == "refused", topic


async def test_a_device_cannot_follow_the_seats_of_another_event(world: World):
    elsewhere = await a_world(world.services, world.client, world.tenant)
    device = await world.device()
    async with socket(world, device.headers) as tablet:
        answer = await subscribe(tablet, f"seats:{elsewhere.event_id}")
        assert (answer["type"], answer["error"]) == ("refused", "event_not_found")


async def test_staff_follow_gates_of_their_own_organisation_only(
    world: World, other_tenant: Tenant
):
    device = await world.device()
    topics = (of_gate(device.gate), of_event(world))
    for headers, role_may in (
        (world.tenant.as_("gate_supervisor"), True),
        (world.tenant.as_("box_office"), True),
        (other_tenant.as_("owner"), False),
    ):
        async with socket(world, headers) as connection:
            for topic in topics:
                answer = await subscribe(connection, topic)
                assert (answer["type"] == "subscribed") == role_may, (topic, answer)
            answer = await subscribe(connection, f"device:{device.id}")
            assert answer["type"] == "refused"
    async with socket(world, world.tenant.as_("customer")) as connection:
        assert (await subscribe(connection, topics[0]))["error"] == "gate_not_found"


async def test_messages_reach_followers_on_another_node(
    world: World, database_url: str, clock: MovableClock
):
    device, ticket = await world.device(), await world.ticket()
    async with (
        another_node(world, database_url, clock) as beside,
        socket(beside, device.headers) as tablet,
        socket(beside, world.tenant.as_("gate_supervisor")) as staff,
    ):
        await subscribe(tablet, of_gate(device.gate))
        await subscribe(staff, of_event(world))
        answer = (await world.scan(device, ticket.code)).json()
        heard = await next_message(tablet, of_gate(device.gate))
        assert heard["scan_id"] == answer["scan_id"]
        counted = await next_message(staff, of_event(world))
        while counted["event"] != "ticket_scanned":
            counted = await next_message(staff, of_event(world))
        assert counted["total_occupancy"] == 1


async def test_a_device_that_is_moved_follows_its_new_gate(world: World):
    device = await world.device()
    async with socket(world, device.headers) as tablet:
        await subscribe(tablet, of_gate(world.gates[0]))
        body = {"version": 1, "gate_id": str(world.gates[1].id)}
        moved = await world.ask("PATCH", f"/api/scanning/devices/{device.id}", body)
        assert moved.status_code == 200
        assert (await next_message(tablet, f"device:{device.id}"))["event"] == "device_changed"
        refused = await hear(tablet, of_gate(world.gates[0]))
        assert (refused["type"], refused["error"]) == ("refused", "gate_not_found")
        assert (await subscribe(tablet, of_gate(world.gates[1])))["type"] == "subscribed"


async def test_the_socket_of_a_revoked_device_is_closed_at_once_on_every_node(
    world: World, database_url: str, clock: MovableClock
):
    device, safe = await world.device(), await world.device()
    async with (
        another_node(world, database_url, clock) as beside,
        socket(world, device.headers) as here,
        socket(beside, device.headers) as there,
        socket(beside, safe.headers) as other,
    ):
        for connection in (here, there, other):
            await subscribe(connection, of_gate(device.gate))
        await revoke(world, device)
        for connection in (here, there):
            assert await closed_with(connection) == module.CLOSE_UNAUTHORIZED
        await world.scan(safe, (await world.ticket()).code)
        assert (await next_message(other, of_gate(device.gate)))["event"] == "ticket_admitted"


async def test_the_socket_of_a_device_that_is_deactivated_is_closed_at_once(world: World):
    device = await world.device()
    async with socket(world, device.headers) as tablet:
        await subscribe(tablet, of_gate(device.gate))
        body = {"version": 1, "status": "inactive"}
        await world.ask("PATCH", f"/api/scanning/devices/{device.id}", body)
        assert await closed_with(tablet) == module.CLOSE_UNAUTHORIZED


async def test_a_stolen_key_cannot_unsubscribe_from_the_revocation(world: World):
    device = await world.device()
    async with socket(world, device.headers) as tablet:
        await subscribe(tablet, of_gate(device.gate))
        await unsubscribe(tablet, f"device:{device.id}")
        await revoke(world, device)
        assert await closed_with(tablet) == module.CLOSE_UNAUTHORIZED


async def test_the_socket_of_an_old_key_is_closed_once_the_device_is_paired_again(world: World):
    device = await world.device()
    async with socket(world, device.headers) as tablet:
        await subscribe(tablet, of_gate(device.gate))
        body = {
            "gate_id": str(device.gate.id),
            "name": "Again",
            "replaces_device_id": str(device.id),
        }
        token = (await world.ask("POST", "/api/scanning/pairings", body)).json()["data"]
        again = {"pairing_token": token["pairing_token"], "device_id": str(device.id)}
        assert (await world.client.post("/api/scanning/pair", json=again)).status_code == 201
        assert await closed_with(tablet) == module.CLOSE_UNAUTHORIZED


def missed() -> float:
    """The number of times that a reader's messages were dropped."""
    return REGISTRY.get_sample_value("voelgoed_live_missed_total") or 0


@contextlib.asynccontextmanager
async def a_reader_that_does_not_read(world: World, headers: dict[str, str]):
    """Its socket has as little room as the kernel allows for data in flight."""
    address = world.client.base_url
    narrow = sockets.socket()
    narrow.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4_096)
    narrow.setblocking(False)
    await asyncio.get_running_loop().sock_connect(narrow, (address.host, address.port))
    async with socket(world, headers, sock=narrow, max_queue=1, ping_interval=None) as connection:
        yield connection
        connection.transport.abort()  # it would have to read everything to close the connection properly


async def test_a_reader_that_does_not_read_never_slows_a_scan_and_gets_a_resync(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("voelgoed.infra.live.SUBSCRIPTION_QUEUE_MAX", 16)
    device, tickets = await world.device(), await world.tickets(10)
    topic, live = of_gate(device.gate), world.services.live
    async with a_reader_that_does_not_read(world, world.tenant.as_("gate_supervisor")) as idle:
        await subscribe(idle, topic)
        # As many messages as thousands of scans make, until no buffer between us can hold more.
        filler = [Message(topic, {"event": "filler", "text": "x" * 7_000})] * 100
        before = missed()
        async with asyncio.timeout(60):
            while missed() == before:
                live.post(world.tenant.id, filler)
                await live.is_idle()
        answers = await asyncio.gather(*(world.scan(device, each.code) for each in tickets))
        assert [answer.json()["status"] for answer in answers] == ["admitted"] * 10
        await live.is_idle()
        frame = await hear(idle, topic)
        while frame["type"] != "resync":
            frame = await hear(idle, topic)


async def test_occupancy_levels_are_of_the_day_on_which_a_person_comes(
    world: World, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
):
    """This holds also for a person who counts as inside since another day, whose counts change too."""
    monkeypatch.setattr(scan_follow_up, "LEVELS_S", 0.0)
    device, ticket = await world.device(), await world.ticket()
    assert await world.verdict(device, ticket.code) == "admitted"
    async with world.services.database.transaction(world.tenant.id) as tx:
        await tx.run("UPDATE ticket SET last_entry_day = last_entry_day + 1")
        await tx.run("UPDATE occupancy SET day = day + 1")
    clock.ahead += LATER
    topic = of_event(world)
    async with socket(world, world.tenant.as_("organiser")) as staff:
        await world.services.live.is_idle()
        await subscribe(staff, topic)
        assert await world.verdict(device, ticket.code) == "admitted"
        gates = (await next_message(staff, topic))["occupancy_levels"]["gates"]
        levels = {each["gate_id"]: each["occupancy"] for each in gates}
        assert levels == {str(gate.id): int(gate is world.gates[0]) for gate in world.gates}


async def test_levels_of_all_gates_are_published_at_intervals(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    """Every message has the level of its own gate."""
    monkeypatch.setattr(scan_follow_up, "LEVELS_S", 3600.0)
    device, tickets = await world.device(), await world.tickets(2)
    topic = of_event(world)
    async with socket(world, world.tenant.as_("organiser")) as staff:
        await world.services.live.is_idle()
        await subscribe(staff, topic)
        for ticket in tickets:
            assert await world.verdict(device, ticket.code) == "admitted"
        first, second = await next_message(staff, topic), await next_message(staff, topic)
    assert len(first["occupancy_levels"]["gates"]) == len(world.gates)
    assert "occupancy_levels" not in second
    assert (first["gate_occupancy"], second["gate_occupancy"]) == (1, 2)
