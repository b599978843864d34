"""The keys of an event through HTTP, and what a server says that cannot use them."""

import asyncio
from base64 import b64decode
from collections.abc import AsyncIterator
from uuid import UUID

import httpx
import pytest

from tests.conftest import serving
from tests.processes import an_installation
from tests.support import Tenant, a_client
from tests.ticketing.test_event_keys import WRONG_KEY, a_new_event, a_signer, public_keys
from voelgoed.services import Services, build_services, running


@pytest.fixture
async def event_id(client: httpx.AsyncClient, tenant: Tenant) -> UUID:
    return await a_new_event(client, tenant)


async def test_keys_are_listed_without_what_is_secret_and_rotated(
    client: httpx.AsyncClient, tenant: Tenant, services: Services, event_id: UUID
) -> None:
    path, headers = f"/api/events/{event_id}/keys", tenant.as_("organiser")
    assert (await client.get(path, headers=headers)).json() == {"data": []}
    await a_signer(services, tenant, event_id)
    answer = await client.post(path, headers=headers)
    assert answer.status_code == 201
    assert answer.json()["data"]["number"] == 2
    first, second = (await client.get(path, headers=headers)).json()["data"]
    assert second == answer.json()["data"]
    assert set(first) == {"number", "public_key", "created_at", "retired_at"}
    assert (first["number"], second["retired_at"]) == (1, None)
    assert first["retired_at"] is not None
    keys = await public_keys(services, tenant, event_id)
    assert {key["number"]: b64decode(key["public_key"]) for key in (first, second)} == keys


async def test_a_rotation_repeated_with_its_key_is_done_once(
    client: httpx.AsyncClient, tenant: Tenant, event_id: UUID
) -> None:
    path = f"/api/events/{event_id}/keys"
    headers = tenant.as_("owner") | {"Idempotency-Key": "one"}
    one, again = [await client.post(path, headers=headers) for _ in range(2)]
    assert one.json() == again.json()
    assert one.status_code == again.status_code == 201
    assert (await client.post(path, headers=tenant.as_("owner"))).json()["data"]["number"] == 2
    other = await a_new_event(client, tenant)
    reused = await client.post(f"/api/events/{other}/keys", headers=headers)
    assert (reused.status_code, reused.json()["error"]) == (409, "idempotency_key_reused")


async def test_a_rotation_is_in_the_audit_log(
    client: httpx.AsyncClient, tenant: Tenant, event_id: UUID
) -> None:
    for _ in range(2):
        await client.post(f"/api/events/{event_id}/keys", headers=tenant.as_("owner"))
    found = await client.get(
        "/api/audit", params={"action": "event_key_rotated"}, headers=tenant.as_("owner")
    )
    last, first = found.json()["data"]
    assert first["changes"] == {"key_number": {"from": None, "to": 1}}
    assert last["changes"] == {"key_number": {"from": 1, "to": 2}}
    assert last["entity_id"] == str(event_id)


async def test_another_organisation_finds_no_event_and_customers_may_not_look(
    client: httpx.AsyncClient, tenant: Tenant, other_tenant: Tenant, event_id: UUID
) -> None:
    path = f"/api/events/{event_id}/keys"
    for method in ("GET", "POST"):
        answer = await client.request(method, path, headers=other_tenant.as_("owner"))
        assert (answer.status_code, answer.json()["error"]) == (404, "event_not_found")
        answer = await client.request(method, path, headers=tenant.as_("customer"))
        assert (answer.status_code, answer.json()["error"]) == (403, "permission_denied")
        assert (await client.request(method, path)).status_code == 401
    for role in ("box_office", "gate_supervisor"):
        assert (await client.get(path, headers=tenant.as_(role))).status_code == 200
        assert (await client.post(path, headers=tenant.as_(role))).status_code == 403


@pytest.fixture
async def keyless(services: Services) -> AsyncIterator[httpx.AsyncClient]:
    without = build_services(services.settings, services.database.url, services.clock)
    async with (
        running(without, with_jobs=False),
        serving(without) as url,
        a_client(url) as client,
    ):
        yield client


async def test_a_server_without_a_master_key_says_so_and_does_the_rest(
    keyless: httpx.AsyncClient, tenant: Tenant, event_id: UUID
) -> None:
    path, headers = f"/api/events/{event_id}/keys", tenant.as_("owner")
    refused = await keyless.post(path, headers=headers)
    assert (refused.status_code, refused.json()["error"]) == (503, "master_key_missing")
    assert "VOELGOED_MASTER_KEY" in refused.json()["message"]
    assert (await keyless.get(path, headers=headers)).json() == {"data": []}


@pytest.mark.own_database
async def test_a_server_that_starts_without_a_master_key_or_with_a_wrong_one_says_so(
    services: Services, tenant: Tenant, event_id: UUID
) -> None:
    await a_signer(services, tenant, event_id)
    expected = {
        "No tickets can be signed before VOELGOED_MASTER_KEY is set": {},
        "The master key is not what this database's event keys were sealed with": {
            "master_key": WRONG_KEY.hex()
        },
        "": {"master_key": WRONG_KEY.hex(), "previous_master_key": bytes(range(32)).hex()},
    }
    url = services.database.url
    with an_installation() as installation:
        started = [installation.serve(url, **settings) for settings in expected.values()]
        for process, line in zip(started, expected, strict=True):
            await asyncio.to_thread(process.wait_for, "Serving http")
            assert [said for said in expected if said and said in process.err] == [line][
                : bool(line)
            ]
