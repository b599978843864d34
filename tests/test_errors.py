"""Bad requests of every kind: always 4xx, always one shape, never a stack trace."""

import asyncio
from typing import Any

import httpx
import pytest

from tests.support import Tenant, a_venue, an_event
from voelgoed.services import Services

JSON = {"Content-Type": "application/json"}


def assert_is_error(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert set(body) == {"error", "message", "details"}
    assert body["error"] == code
    assert body["message"]
    assert "Traceback" not in answer.text
    return body["details"]


@pytest.mark.parametrize(
    "path", ["/nothing", "/api/nothing", "/api/events/nothing", "/api", "/dashboardx"]
)
async def test_an_unknown_address(client: httpx.AsyncClient, path: str):
    assert_is_error(await client.get(path), 404, "not_found")


async def test_a_wrong_method(client: httpx.AsyncClient):
    assert_is_error(await client.put("/api/venues"), 405, "method_not_allowed")


@pytest.mark.parametrize("body", [b"{", b"nonsense", b'{"name":}', b"\xff\xfe", b'{"name": NaN}'])
async def test_broken_json(client: httpx.AsyncClient, tenant: Tenant, body: bytes):
    headers = tenant.as_("owner") | JSON
    assert_is_error(
        await client.post("/api/venues", content=body, headers=headers), 400, "invalid_json"
    )


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ("", "$"),
        ("[]", "$"),
        ("null", "$"),
        ("5", "$"),
        ("{}", "$"),
        ('{"name": 5, "timezone": "UTC"}', "$.name"),
        ('{"name": "", "timezone": "UTC"}', "$.name"),
        ('{"name": "   ", "timezone": "UTC"}', "$.name"),
        ('{"name": "a\\u0000b", "timezone": "UTC"}', "$.name"),
        ('{"name": "x", "timezone": "UTC", "colour": "blue"}', "$"),
        ('{"name": "x", "timezone": ["UTC"]}', "$.timezone"),
    ],
)
async def test_a_wrong_body_names_the_place(
    client: httpx.AsyncClient, tenant: Tenant, body: str, path: str
):
    answer = await client.post("/api/venues", content=body, headers=tenant.as_("owner") | JSON)
    [fault] = assert_is_error(answer, 422, "invalid_request")["faults"]
    assert fault["path"] == path
    assert fault["message"]


async def test_a_lone_surrogate_cannot_be_stored_and_says_so(
    client: httpx.AsyncClient, tenant: Tenant
):
    body = b'{"name": "\\ud800", "timezone": "UTC"}'
    answer = await client.post("/api/venues", content=body, headers=tenant.as_("owner") | JSON)
    assert 400 <= answer.status_code < 500
    assert answer.json()["error"] in ("invalid_request", "invalid_json")


async def test_too_large_a_body(client: httpx.AsyncClient, tenant: Tenant):
    body = a_venue(address="x" * 70_000)
    answer = await client.post("/api/venues", json=body, headers=tenant.as_("owner"))
    assert_is_error(answer, 413, "body_too_large")


async def test_a_body_that_grows_too_large_while_it_is_sent(
    client: httpx.AsyncClient, tenant: Tenant
):
    async def endless():
        for _ in range(100):
            yield b" " * 1_000

    answer = await client.post("/api/venues", content=endless(), headers=tenant.as_("owner") | JSON)
    assert_is_error(answer, 413, "body_too_large")


async def test_a_body_of_another_kind(client: httpx.AsyncClient, tenant: Tenant):
    answer = await client.post("/api/venues", data={"name": "x"}, headers=tenant.as_("owner"))
    assert_is_error(answer, 415, "unsupported_media_type")


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=201", "limit=x", "limit=1e9", "status=sold", "after=%00", "after=x"]
)
async def test_wrong_query_parameters(client: httpx.AsyncClient, tenant: Tenant, query: str):
    answer = await client.get(f"/api/events?{query}", headers=tenant.as_("owner"))
    assert_is_error(answer, 422, "invalid_request")


@pytest.mark.parametrize("broken", ["x", "123", "01a1e103-7dfe-725d-8bf3", "%00"])
async def test_an_address_that_is_no_uuid(client: httpx.AsyncClient, tenant: Tenant, broken: str):
    answer = await client.get(f"/api/events/{broken}", headers=tenant.as_("owner"))
    assert_is_error(answer, 404, "not_found")


@pytest.mark.parametrize(
    "moment", ["2026-01-01T00:00:00", "yesterday", "0000-00-00T00:00:00Z", 5, None]
)
async def test_a_time_without_its_timezone_or_no_time_at_all(
    client: httpx.AsyncClient, tenant: Tenant, moment: object
):
    venue_id = "01a1e103-7dfe-725d-8bf3-a07322fb1c93"
    body = an_event(venue_id, starts_at=moment)
    answer = await client.post("/api/events", json=body, headers=tenant.as_("owner"))
    [fault] = assert_is_error(answer, 422, "invalid_request")["faults"]
    assert fault["path"] == "$.starts_at"


@pytest.mark.parametrize("key", ["", "x" * 201, "with blank", "ümlaut".encode("latin-1")])
async def test_a_wrong_idempotency_key(client: httpx.AsyncClient, tenant: Tenant, key: str | bytes):
    headers = [(b"Authorization", f"Bearer {tenant.tokens['owner']}".encode())]
    headers.append((b"Idempotency-Key", key if isinstance(key, bytes) else key.encode()))
    answer = await client.post("/api/venues", json=a_venue(), headers=headers)
    assert_is_error(answer, 422, "invalid_request")


async def test_our_own_mistake_is_noted_and_tells_nothing(
    client: httpx.AsyncClient, tenant: Tenant, services: Services, monkeypatch: pytest.MonkeyPatch
):
    def broken(*_: object) -> None:
        raise RuntimeError("the secret inside")

    monkeypatch.setattr("voelgoed.events.api.venues.actions.list_venues", broken)
    answer = await client.get("/api/venues", headers=tenant.as_("owner"))
    assert_is_error(answer, 500, "internal_error")
    assert "secret" not in answer.text


@pytest.mark.parametrize(
    ("field", "value"),
    [("capacity", "5"), ("capacity", 5.5), ("capacity", True), ("name", 5), ("starts_at", 0)],
)
async def test_nothing_is_guessed_from_a_wrong_type(
    client: httpx.AsyncClient, tenant: Tenant, field: str, value: object
):
    body = an_event("01a1e103-7dfe-725d-8bf3-a07322fb1c93") | {field: value}
    answer = await client.post("/api/events", json=body, headers=tenant.as_("owner"))
    [fault] = assert_is_error(answer, 422, "invalid_request")["faults"]
    assert fault["path"] == f"$.{field}"


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+14:00", "9999-12-31T10:00:00Z"])
async def test_moments_at_the_edge_of_time(client: httpx.AsyncClient, tenant: Tenant, moment: str):
    body = an_event("01a1e103-7dfe-725d-8bf3-a07322fb1c93", ends_at=moment)
    answer = await client.post("/api/events", json=body, headers=tenant.as_("owner"))
    assert_is_error(answer, 422, "invalid_request")
    answer = await client.get("/api/audit", params={"since": moment}, headers=tenant.as_("owner"))
    assert answer.status_code in (200, 422)


async def test_a_line_break_at_the_end_is_part_of_the_text(
    client: httpx.AsyncClient, tenant: Tenant
):
    event = f"/api/events/{tenant.id}/gates"
    answer = await client.post(
        event, json={"code": "north\n", "name": "North"}, headers=tenant.as_("owner")
    )
    [fault] = assert_is_error(answer, 422, "invalid_request")["faults"]
    assert fault["path"] == "$.code"


async def test_a_body_that_never_comes(
    client: httpx.AsyncClient, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("voelgoed.http.BODY_S", 0.1)

    async def stalling():
        yield b"{"
        await asyncio.sleep(1)
        yield b"}"

    answer = await client.post(
        "/api/venues", content=stalling(), headers=tenant.as_("owner") | JSON
    )
    assert_is_error(answer, 408, "body_too_slow")


async def test_an_address_of_the_client_that_is_none(client: httpx.AsyncClient, tenant: Tenant):
    given = {"organization": tenant.slug, "email": "a@b.example", "password": "wrong password"}
    headers = {"X-Forwarded-For": "x" * 9_000}
    answer = await client.post("/api/sessions", json=given, headers=headers)
    assert_is_error(answer, 401, "invalid_credentials")
