"""/api/live over a real websocket."""

import asyncio
import contextlib
import json
from typing import Any
from uuid import uuid4

import httpx
import pytest
import websockets
from websockets.asyncio.client import ClientConnection, connect

from tests.support import MovableClock, Tenant, a_gate, a_venue, an_event
from voelgoed import live as module
from voelgoed.services import Services


@contextlib.asynccontextmanager
async def socket(url: str, headers: dict[str, str]):
    address = url.replace("http://", "ws://") + "/api/live"
    async with connect(address, additional_headers=headers) as connection:
        yield connection


async def hear(connection: ClientConnection) -> dict[str, Any]:
    async with asyncio.timeout(10):
        return json.loads(await connection.recv())


async def say(connection: ClientConnection, **frame: str) -> None:
    await connection.send(json.dumps(frame))


async def subscribe(connection: ClientConnection, topic: str) -> dict[str, Any]:
    await say(connection, type="subscribe", topic=topic)
    return await hear(connection)


@pytest.fixture
async def event(client: httpx.AsyncClient, tenant: Tenant) -> dict[str, Any]:
    headers = tenant.as_("owner")
    venue = (await client.post("/api/venues", json=a_venue(), headers=headers)).json()["data"]
    body = an_event(venue["id"])
    return (await client.post("/api/events", json=body, headers=headers)).json()["data"]


async def test_a_follower_hears_numbered_changes(
    client: httpx.AsyncClient, url: str, tenant: Tenant, event: dict[str, Any]
):
    topic = f"event:{event['id']}"
    gates = f"/api/events/{event['id']}/gates"
    headers = tenant.as_("gate_supervisor")
    async with socket(url, tenant.as_("organiser")) as connection:
        assert await subscribe(connection, topic) == {
            "type": "subscribed",
            "topic": topic,
            "seq": 0,
        }
        gate = (await client.post(gates, json=a_gate(), headers=headers)).json()["data"]
        await client.patch(
            f"{gates}/{gate['id']}", json={"version": 1, "status": "open"}, headers=headers
        )
        first, second = await hear(connection), await hear(connection)
        assert (first["type"], first["seq"], second["seq"]) == ("message", 1, 2)
        assert second["data"] == {"event": "gate_changed", "id": gate["id"], "version": 2}
    async with socket(url, tenant.as_("organiser")) as connection:
        assert (await subscribe(connection, topic))["seq"] == 2


async def test_who_has_unsubscribed_hears_no_more(
    client: httpx.AsyncClient, url: str, tenant: Tenant, event: dict[str, Any]
):
    topic = f"event:{event['id']}"
    async with socket(url, tenant.as_("owner")) as connection:
        await subscribe(connection, topic)
        await say(connection, type="unsubscribe", topic=topic)
        await subscribe(connection, f"event:{uuid4()}")  # answered after the above was read
        body = {"to": "published"}
        await client.post(
            f"/api/events/{event['id']}/transitions", json=body, headers=tenant.as_("owner")
        )
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await connection.recv()


async def test_topics_that_are_unknown_foreign_or_hidden_are_refused_alike(
    url: str, tenant: Tenant, other_tenant: Tenant, event: dict[str, Any]
):
    topic = f"event:{event['id']}"
    for headers, wanted in (
        (tenant.as_("owner"), "nothing"),
        (tenant.as_("owner"), "event:"),
        (tenant.as_("owner"), f"event:{event['id'].upper()}"),
        (tenant.as_("owner"), f"event:{uuid4()}"),
        (other_tenant.as_("owner"), topic),
        (tenant.as_("customer"), topic),  # still a draft
    ):
        async with socket(url, headers) as connection:
            answer = await subscribe(connection, wanted)
            assert answer["type"] == "refused"
            assert answer["error"] in ("unknown_topic", "event_not_found")


async def closing(url: str, headers: dict[str, str], *frames: str | bytes) -> int:
    async with socket(url, headers) as connection:
        with contextlib.suppress(websockets.ConnectionClosed):
            for frame in frames:
                await connection.send(frame)
        with pytest.raises(websockets.ConnectionClosed) as closed:
            async with asyncio.timeout(10):
                while True:
                    await connection.recv()
    assert closed.value.rcvd is not None
    return closed.value.rcvd.code


async def test_strangers_are_turned_away(url: str):
    assert await closing(url, {}) == module.CLOSE_UNAUTHORIZED
    assert await closing(url, {"Authorization": "Bearer vgs_x"}) == module.CLOSE_UNAUTHORIZED


@pytest.mark.parametrize(
    "frame", ["", "{", "[]", '{"type":"subscribe"}', '{"type":"x","topic":"y"}']
)
async def test_nonsense_ends_the_connection(url: str, tenant: Tenant, frame: str):
    assert await closing(url, tenant.as_("owner"), frame) == module.CLOSE_BAD_FRAME


async def test_a_hundred_topics_and_no_more(
    url: str, tenant: Tenant, event: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "TOPICS_MAX", 0)
    async with socket(url, tenant.as_("owner")) as connection:
        answer = await subscribe(connection, f"event:{event['id']}")
        assert answer["error"] == "too_many_topics"


async def test_an_open_socket_shows_it_is_alive_and_ends_with_its_session(
    client: httpx.AsyncClient, url: str, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "RECHECK_S", 0.1)
    async with socket(url, tenant.as_("organiser")) as connection:
        assert await hear(connection) == {"type": "alive"}
        await client.delete("/api/session", headers=tenant.as_("organiser"))
        with pytest.raises(websockets.ConnectionClosed) as closed:
            async with asyncio.timeout(10):
                while True:
                    await connection.recv()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == module.CLOSE_UNAUTHORIZED


async def test_a_quiet_topic_that_was_forgotten_is_heard_again(
    client: httpx.AsyncClient,
    url: str,
    tenant: Tenant,
    event: dict[str, Any],
    services: Services,
    clock: MovableClock,
):
    """Its numbers begin anew; a reader from before must not take them for known."""
    transitions = f"/api/events/{event['id']}/transitions"
    headers = tenant.as_("owner")
    await client.post(transitions, json={"to": "published"}, headers=headers)
    async with socket(url, headers) as connection:
        await subscribe(connection, f"event:{event['id']}")
        async with services.database.transaction(tenant.id) as tx:
            await tx.run("DELETE FROM live_topic")
        await client.post(transitions, json={"to": "live"}, headers=headers)
        heard = await hear(connection)
        while heard.get("data", {}).get("status") != "live":  # what was told late comes first
            heard = await hear(connection)


async def test_who_may_no_longer_see_an_event_hears_no_more_of_it(
    client: httpx.AsyncClient,
    url: str,
    tenant: Tenant,
    event: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(module, "RECHECK_S", 0.1)
    transitions = f"/api/events/{event['id']}/transitions"
    await client.post(transitions, json={"to": "published"}, headers=tenant.as_("owner"))
    async with socket(url, tenant.as_("customer")) as connection:
        await subscribe(connection, f"event:{event['id']}")
        await client.post(transitions, json={"to": "cancelled"}, headers=tenant.as_("owner"))
        frame = await hear(connection)
        while frame["type"] != "refused":
            frame = await hear(connection)
        assert frame["error"] == "event_not_found"
