"""A hot route's short way calls the handler that is declared: with or without it, the same answers.

Each request is sent twice, the second time with the short way switched off, so that the framework
finds the handler. What the requests change must not matter for the answers; these refuse, deny, or
give again what is there.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.scanning.support import Device, World, a_world
from tests.seating.api_support import SeatedEvent, a_seated_event
from tests.support import Tenant
from tests.ticketing.hold_support import Customer, customers
from voelgoed import http, protocol
from voelgoed.infra.refusal import StorageUnavailable
from voelgoed.infra.web import BODY_BYTES_MAX, Reply
from voelgoed.services import Services

JSON = {"Content-Type": "application/json"}
NEW_EACH_TIME = {"date", "content-length", "retry-after"}
"""Headers; a pause after an outage is drawn by lot."""
VARYING = {"scan_id", "scanned_at", "seconds_since_last_scan", "remaining_seconds"}


@contextmanager
def by_the_framework(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    async def never(*_: object) -> Reply:
        raise AssertionError("this went the short way")

    with monkeypatch.context() as patched:
        patched.setattr(http, "hot_route", lambda _method, _path: None)
        patched.setattr(protocol, "_hot_route", lambda _url: None)
        patched.setattr(http, "answer_hot", never)
        patched.setattr(protocol, "answer_hot", never)
        yield


async def both_ways(
    monkeypatch: pytest.MonkeyPatch, client: httpx.AsyncClient, path: str, **request: Any
) -> httpx.Response:
    """Gives the answer of the short way, when that of the framework is the same."""
    short = await client.post(path, **request)
    with by_the_framework(monkeypatch):
        long = await client.post(path, **request)
    assert long.status_code == short.status_code
    assert _lasting(long.headers) == _lasting(short.headers)
    assert long.headers.keys() == short.headers.keys()
    assert _without_times(long.json()) == _without_times(short.json())
    assert list(long.json()) == list(short.json()), "in the same order"
    return short


def _lasting(headers: httpx.Headers) -> list[tuple[str, str]]:
    return sorted((name, value) for name, value in headers.items() if name not in NEW_EACH_TIME)


def _without_times(body: Any) -> Any:
    if isinstance(body, dict):
        return {name: _without_times(value) for name, value in body.items() if name not in VARYING}
    return body


# Scans.


@pytest.fixture
async def world(services: Services, client: httpx.AsyncClient, tenant: Tenant) -> World:
    return await a_world(services, client, tenant)


@pytest.fixture
async def device(world: World) -> Device:
    return await world.device()


async def test_both_ways_a_scan_is_denied_with_the_same_answer(
    world: World, device: Device, monkeypatch: pytest.MonkeyPatch
):
    ticket = await world.ticket()
    assert await world.verdict(device, ticket.code) == "admitted"
    for code, status, reason in (
        (ticket.code, 200, "already_scanned"),
        ("ZZZZ-ZZZZ-ZZZZ", 404, "ticket_not_found"),
    ):
        body = {**world.body(device, code), "scan_id": str(uuid4())}
        answer = await both_ways(
            monkeypatch, world.client, "/api/scans", json=body, headers=device.headers
        )
        assert (answer.status_code, answer.json()["reason"]) == (status, reason)


async def test_by_the_framework_a_scan_admits(
    world: World, device: Device, monkeypatch: pytest.MonkeyPatch
):
    first, second = await world.tickets(2)
    short = await world.scan(device, first.code)
    with by_the_framework(monkeypatch):
        long = await world.scan(device, second.code)
    assert long.status_code == short.status_code == 200
    assert long.json()["status"] == short.json()["status"] == "admitted"
    assert long.json().keys() == short.json().keys()
    assert _lasting(long.headers) == _lasting(short.headers)


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        (b"", 400, "invalid_json"),
        (b"{nope", 400, "invalid_json"),
        (b"{}", 422, "invalid_request"),
        (b'{"ticket_code": 5}', 422, "invalid_request"),
        (b"\xff\xfe", 400, "invalid_json"),
        (b" " * (BODY_BYTES_MAX + 1), 413, "body_too_large"),
    ],
)
async def test_both_ways_a_scan_that_cannot_be_read_is_refused_the_same(
    world: World,
    device: Device,
    monkeypatch: pytest.MonkeyPatch,
    body: bytes,
    status: int,
    error: str,
):
    headers = device.headers | JSON
    answer = await both_ways(monkeypatch, world.client, "/api/scans", content=body, headers=headers)
    assert (answer.status_code, answer.json()["error"]) == (status, error)


@pytest.mark.parametrize("key", ["", "Bearer vgd_nobody", "Basic x"])
async def test_both_ways_a_strangers_scan_is_refused_the_same(
    world: World, device: Device, monkeypatch: pytest.MonkeyPatch, key: str
):
    """Before its body is read."""
    answer = await both_ways(
        monkeypatch,
        world.client,
        "/api/scans/",
        content=b"{nope",
        headers=JSON | {"Authorization": key},
    )
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_device_token")
    assert answer.headers["www-authenticate"] == "Bearer"


async def test_both_ways_a_device_decides_by_itself_when_the_database_is_away(
    world: World, device: Device, monkeypatch: pytest.MonkeyPatch
):
    async def away(*_: object) -> None:
        raise StorageUnavailable()

    monkeypatch.setattr(world.services.scans, "scan", away)
    answer = await both_ways(
        monkeypatch,
        world.client,
        "/api/scans",
        json=world.body(device, "ZZZZ-ZZZZ-ZZZZ"),
        headers=device.headers,
    )
    assert (answer.status_code, answer.json()["fallback"]) == (503, "offline")
    assert "retry-after" in answer.headers


# Seats.


@pytest.fixture
async def event(client: httpx.AsyncClient, tenant: Tenant) -> SeatedEvent:
    return await a_seated_event(client, tenant)


@pytest.fixture
async def pair(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
) -> tuple[Customer, Customer]:
    anna, ben = await customers(services, client, tenant, 2)
    return anna, ben


async def test_both_ways_a_seat_is_given_again_or_refused_the_same(
    event: SeatedEvent, pair: tuple[Customer, Customer], monkeypatch: pytest.MonkeyPatch
):
    anna, ben = pair
    await anna.held(event, "A1")
    for customer, seat, status in (
        (anna, "A1", 200),
        (ben, "A1", 409),
        (ben, "Z99", 404),
        (ben, "x" * 64, 404),
        (ben, str(uuid4()), 404),
    ):
        path = f"{event.path}/seats/{seat}/reserve"
        answer = await both_ways(
            monkeypatch, customer.client, path, json={}, headers=customer.headers
        )
        assert answer.status_code == status, seat


async def test_by_the_framework_a_seat_is_held(
    event: SeatedEvent, pair: tuple[Customer, Customer], monkeypatch: pytest.MonkeyPatch
):
    anna, ben = pair
    short = await anna.client.post(f"{event.path}/seats/A1/reserve", headers=anna.headers)
    with by_the_framework(monkeypatch):
        long = await ben.client.post(f"{event.path}/seats/B1/reserve", headers=ben.headers)
    assert long.status_code == short.status_code == 201
    assert long.json()["data"].keys() == short.json()["data"].keys()
    assert _lasting(long.headers) == _lasting(short.headers)


@pytest.mark.parametrize(
    ("event_id", "body", "path"),
    [
        (None, b'{"source": "fax"}', "$.source"),
        (None, b'{"price": 1}', "$"),
        (None, b"[]", "$"),
        (None, b"{nope", "$"),
        (None, b"\xff", "$"),
        ("nonsense", b"{}", "event_id"),
        ("nonsense", b"", "event_id"),
        ("nonsense", b"[]", "$"),
    ],
)
async def test_both_ways_a_faulty_reservation_is_refused_the_same(
    event: SeatedEvent,
    pair: tuple[Customer, Customer],
    monkeypatch: pytest.MonkeyPatch,
    event_id: str | None,
    body: bytes,
    path: str,
):
    anna, _ = pair
    url = f"/api/events/{event_id or event.event_id}/seats/A1/reserve"
    answer = await both_ways(
        monkeypatch, anna.client, url, content=body, headers=anna.headers | JSON
    )
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")
    assert answer.json()["details"]["faults"][0]["path"] == path


async def test_both_ways_who_may_not_reserve_is_refused_the_same(
    event: SeatedEvent, client: httpx.AsyncClient, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
):
    path = f"{event.path}/seats/A1/reserve"
    for headers, status in (({}, 401), (tenant.as_("gate_supervisor"), 403)):
        answer = await both_ways(monkeypatch, client, path, content=b"[]", headers=headers | JSON)
        assert answer.status_code == status
