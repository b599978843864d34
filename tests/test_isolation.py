"""Organisation B, with the most powerful credentials it has, at every address of A's."""

from pathlib import Path
from typing import Any

import asyncpg
import httpx
import msgspec
import pytest

from tests.support import SOON, Tenant, a_gate, a_venue, an_event
from voelgoed.infra.embedded import EmbeddedPostgres

QUERIES = {"remove_entry": {"email": "friend@acme.example"}}
BODIES: dict[str, dict[str, Any]] = {
    "change_event": {"version": 1, "name": "taken over"},
    "create_gate": a_gate(code="planted"),
    "change_gate": {"version": 1, "status": "open"},
    "move_event": {"to": "cancelled"},
    "change_membership": {"version": 1, "status": "cancelled"},
    "change_user": {"version": 1, "role": "customer"},
    "grant_membership": {"tier": "gold", "valid_from": SOON.isoformat()},
    "reset_password": {"new_password": "a password of mine"},
    "change_venue": {"version": 1, "name": "taken over"},
    "add_entry": {"email": "mallory@rival.example"},
}
"""A right body for every operation that has one and takes an id in its path."""


@pytest.fixture
async def ids(client: httpx.AsyncClient, tenant: Tenant) -> dict[str, str]:
    """One of everything that A has, by the name it has in a path."""

    async def make(path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = await client.post(path, json=body, headers=tenant.as_("owner"))
        assert answer.status_code == 201, answer.text
        return answer.json()["data"]

    venue = await make("/api/venues", a_venue())
    event = await make("/api/events", an_event(venue["id"]))
    gate = await make(f"/api/events/{event['id']}/gates", a_gate())
    user_id = str(tenant.users["customer"])
    member = await make(
        f"/api/users/{user_id}/memberships", {"tier": "gold", "valid_from": SOON.isoformat()}
    )
    whitelist = await make("/api/whitelists", {"name": "friends"})
    await make(f"/api/whitelists/{whitelist['id']}/entries", {"email": "friend@acme.example"})
    return {
        "venue_id": venue["id"],
        "event_id": event["id"],
        "gate_id": gate["id"],
        "user_id": user_id,
        "membership_id": member["membership"]["id"],
        "whitelist_id": whitelist["id"],
    }


@pytest.fixture(scope="module")
def operations(repository: Path) -> list[tuple[str, str, str]]:
    contract = msgspec.json.decode((repository / "contracts" / "openapi.json").read_bytes())
    return [
        (method.upper(), path, operation["operationId"])
        for path, methods in contract["paths"].items()
        for method, operation in methods.items()
    ]


async def rows_of(tenant: Tenant, postgres: EmbeddedPostgres, database_name: str) -> dict[str, str]:
    """Everything that belongs to an organisation, as a superuser sees it."""
    admin = await asyncpg.connect(postgres.url("postgres", database_name))
    try:
        tables = await admin.fetch(
            """
            SELECT table_name FROM information_schema.columns
             WHERE table_schema = 'public' AND column_name = 'organization_id'
            """
        )
        return {
            table[0]: str(
                await admin.fetch(
                    f"SELECT * FROM {table[0]} WHERE organization_id = $1 ORDER BY 1, 2", tenant.id
                )
            )
            for table in tables
        }
    finally:
        await admin.close()


async def test_every_address_with_an_id_of_a_is_not_found_by_b_and_nothing_changes(
    client: httpx.AsyncClient,
    tenant: Tenant,
    other_tenant: Tenant,
    ids: dict[str, str],
    operations: list[tuple[str, str, str]],
    postgres: EmbeddedPostgres,
    database_name: str,
):
    before = await rows_of(tenant, postgres, database_name)
    with_ids = [operation for operation in operations if "{" in operation[1]]
    assert len(with_ids) >= 20
    for method, path, operation in with_ids:
        answer = await client.request(
            method,
            path.format_map(ids),
            json=BODIES.get(operation) if method in ("POST", "PUT", "PATCH") else None,
            params=QUERIES.get(operation),
            headers=other_tenant.as_("owner"),
        )
        assert answer.status_code == 404, (operation, answer.status_code, answer.text)
        assert answer.json()["error"].endswith("not_found")
    assert await rows_of(tenant, postgres, database_name) == before


async def test_the_same_requests_by_a_are_let_through(
    client: httpx.AsyncClient,
    tenant: Tenant,
    ids: dict[str, str],
    operations: list[tuple[str, str, str]],
):
    """The control: the 404 above is about who asks, not about a mistake in the request."""
    order = {"GET": 0, "POST": 1, "PUT": 2, "PATCH": 3, "DELETE": 4}
    with_ids = [operation for operation in operations if "{" in operation[1]]
    for method, path, operation in sorted(with_ids, key=lambda o: (order[o[0]], -len(o[1]))):
        answer = await client.request(
            method,
            path.format_map(ids),
            json=BODIES.get(operation) if method in ("POST", "PUT", "PATCH") else None,
            params=QUERIES.get(operation),
            headers=tenant.as_("owner"),
        )
        assert answer.status_code < 300 or answer.status_code == 409, (operation, answer.text)


async def test_lists_and_answers_of_b_hold_nothing_of_a(
    client: httpx.AsyncClient,
    tenant: Tenant,
    other_tenant: Tenant,
    ids: dict[str, str],
    operations: list[tuple[str, str, str]],
):
    secrets = {*ids.values(), str(tenant.id), *map(str, tenant.users.values()), "acme"}
    readings = [path for method, path, _ in operations if method == "GET" and "{" not in path]
    assert len(readings) >= 8
    for path in readings:
        answer = await client.get(path, headers=other_tenant.as_("owner"))
        assert answer.status_code == 200
        assert not [secret for secret in secrets if secret in answer.text], path


async def test_an_id_of_a_in_a_body_is_not_found(
    client: httpx.AsyncClient, other_tenant: Tenant, ids: dict[str, str]
):
    answer = await client.post(
        "/api/events", json=an_event(ids["venue_id"]), headers=other_tenant.as_("owner")
    )
    assert (answer.status_code, answer.json()["error"]) == (404, "venue_not_found")


async def test_filters_by_ids_of_a_find_nothing(
    client: httpx.AsyncClient, tenant: Tenant, other_tenant: Tenant
):
    answer = await client.get(
        f"/api/audit?actor_id={tenant.users['owner']}", headers=other_tenant.as_("owner")
    )
    assert answer.json()["data"] == []
