"""Organisation B, with the most powerful credentials it has, at every address of A's."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import msgspec
import pytest

from tests.everything import CSV, EMPTY_TABLE, Rows, one_of_everything
from tests.seating.api_support import a_config, a_new_layout, a_zone
from tests.support import SOON, Tenant, a_gate, a_venue, an_event
from tests.ticketing.support import a_ticket_type
from voelgoed.infra.embedded import EmbeddedPostgres
from voelgoed.services import Services

QUERIES = {
    "remove_entry": {"email": "friend@acme.example"},
    "search_tickets": {"search": "Anna"},
}
BODIES: dict[str, dict[str, Any]] = {
    "change_event": {"version": 1, "name": "taken over"},
    "create_gate": a_gate(code="planted"),
    "change_gate": {"version": 1, "status": "open"},
    "change_device": {"version": 1, "name": "taken over"},
    "put_scan_policy": {"version": 1, "travel_s": 0},
    "annul_admission": {"reason": "taken over"},
    "declare_empty": {"reason": "taken over"},
    "move_ticket": {"to": "used", "reason": "taken over"},
    "move_alert": {"version": 1, "to": "resolved", "note": "taken over"},
    "move_conflict": {"version": 1, "to": "dismissed", "note": "taken over"},
    "review_recovery": {"to": "rejected", "note": "taken over"},
    "move_event": {"to": "cancelled"},
    "change_membership": {"version": 1, "status": "cancelled"},
    "change_user": {"version": 1, "role": "customer"},
    "grant_membership": {"tier": "gold", "valid_from": SOON.isoformat()},
    "reset_password": {"new_password": "a password of mine"},
    "change_venue": {"version": 1, "name": "taken over"},
    "add_entry": {"email": "mallory@rival.example"},
    "create_layout": a_new_layout(name="planted"),
    "create_layout_version": a_new_layout(name="taken over"),
    "move_layout": {"to": "archived"},
    "put_event_layout": {"layout_id": "{layout_id}", "version": 1},
    "find_best_available": {"party": 2},
    "check_selection": {"seat_ids": ["A1"]},
    "check_zone_access": {"guests": ["friend@acme.example"]},
    "block_seats": {"seat_ids": ["A1"], "reason": "taken over"},
    "unblock_seats": {"seat_ids": ["A1"], "reason": "taken over"},
    "create_ticket_type": a_ticket_type(name="planted"),
    "change_ticket_type": {"version": 1, "prices": [{"amount_minor": 0}]},
    "reserve_seat": {},
    "hold_seats": {"seat_ids": ["A1"]},
    "pay_order": {"provider": "manual", "method": "cash"},
    "refund_order": {"reason": "taken over"},
    "settle_refund": {"reason": "taken over"},
    "void_ticket": {"reason": "taken over"},
    "reissue_ticket": {"reason": "taken over"},
}
"""A right body for every operation that has one and takes an id in its path."""
DEVICES = [{"device": []}]
"""What is for devices: their keys say whose they are. See tests/scanning/test_devices.py."""
TABLES = {"import_tickets": EMPTY_TABLE}
"""Where that is a file."""
ITS_OWN = {
    "put_payment_account",  # of whoever asks: its path names a provider, and nothing of anybody's
    "take_payment_notice",  # signed with the organisation's secret: see tests/ticketing/test_payments
}


@pytest.fixture
async def ids(client: httpx.AsyncClient, tenant: Tenant, services: Services) -> dict[str, str]:
    return await one_of_everything(client, tenant, services)


@pytest.fixture
async def superuser(
    postgres: EmbeddedPostgres, database_name: str
) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    connection = await asyncpg.connect(postgres.url("postgres", database_name))
    yield connection
    await connection.close()


async def send(
    client: httpx.AsyncClient,
    method: str,
    path: str,
    operation: str,
    ids: dict[str, str],
    headers: dict[str, str],
) -> httpx.Response:
    """With ids of A in the path, and where the body names one."""
    path, query = path.format_map(ids), QUERIES.get(operation)
    if operation in TABLES:
        return await client.request(
            method, path, content=TABLES[operation], params=query, headers=headers | CSV
        )
    body = body_of(method, operation, ids)
    return await client.request(method, path, json=body, params=query, headers=headers)


def body_of(method: str, operation: str, ids: dict[str, str]) -> dict[str, Any] | None:
    if method not in ("POST", "PUT", "PATCH") or operation not in BODIES:
        return None
    return {
        name: value.format_map(ids) if isinstance(value, str) else value
        for name, value in BODIES[operation].items()
    }


@pytest.fixture(scope="module")
def operations(repository: Path) -> list[tuple[str, str, str]]:
    contract = msgspec.json.decode((repository / "contracts" / "openapi.json").read_bytes())
    return [
        (method.upper(), path, operation["operationId"])
        for path, methods in contract["paths"].items()
        for method, operation in methods.items()
        if operation["operationId"] not in ITS_OWN and operation.get("security") != DEVICES
    ]


async def test_every_address_with_an_id_of_a_is_not_found_by_b_and_nothing_changes(
    client: httpx.AsyncClient,
    tenant: Tenant,
    other_tenant: Tenant,
    ids: dict[str, str],
    operations: list[tuple[str, str, str]],
    superuser: "asyncpg.Connection[asyncpg.Record]",
):
    rows = Rows(superuser, tenant.id)
    before = await rows.read()
    with_ids = [operation for operation in operations if "{" in operation[1]]
    assert len(with_ids) >= 40
    for method, path, operation in with_ids:
        answer = await send(client, method, path, operation, ids, other_tenant.as_("owner"))
        assert answer.status_code == 404, (operation, answer.status_code, answer.text)
        assert answer.json()["error"].endswith("not_found")
    assert await rows.read() == before


async def test_the_same_requests_by_a_are_let_through(
    client: httpx.AsyncClient,
    tenant: Tenant,
    ids: dict[str, str],
    operations: list[tuple[str, str, str]],
):
    """The control: the 404 above is about who asks, not about a mistake in the request."""
    order = {"GET": 0, "POST": 1, "PUT": 2, "PATCH": 3, "DELETE": 4}
    with_ids = [operation for operation in operations if "{" in operation[1]]

    def turn(each: tuple[str, str, str]) -> tuple[int, bool, int]:
        method, path, operation = each
        return order[method], operation == "move_event", -len(path)  # which cancels it

    for method, path, operation in sorted(with_ids, key=turn):
        answer = await send(client, method, path, operation, ids, tenant.as_("owner"))
        assert answer.status_code < 300 or answer.status_code == 409, (operation, answer.text)


async def test_lists_and_answers_of_b_hold_nothing_of_a(
    client: httpx.AsyncClient,
    tenant: Tenant,
    other_tenant: Tenant,
    ids: dict[str, str],
    operations: list[tuple[str, str, str]],
):
    names = {"zone_id", "seat_id", "what"}  # of everybody's choice: they need not differ
    own = {value for name, value in ids.items() if name not in names}
    secrets = {*own, str(tenant.id), *map(str, tenant.users.values()), "acme"}
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


async def test_a_layout_or_whitelist_of_a_cannot_be_used_by_b(
    client: httpx.AsyncClient, other_tenant: Tenant, ids: dict[str, str]
):
    headers = other_tenant.as_("owner")
    venue = (await client.post("/api/venues", json=a_venue(), headers=headers)).json()["data"]
    event = await client.post("/api/events", json=an_event(venue["id"]), headers=headers)
    path = f"/api/events/{event.json()['data']['id']}/layout"
    answer = await client.put(path, json={"layout_id": ids["layout_id"]}, headers=headers)
    assert (answer.status_code, answer.json()["error"]) == (404, "layout_not_found")
    config = a_zone(a_config(), access_mode="whitelist", whitelist_id=ids["whitelist_id"])
    answer = await client.post(
        f"/api/venues/{venue['id']}/layouts", json=a_new_layout(config), headers=headers
    )
    assert (answer.status_code, answer.json()["error"]) == (422, "invalid_layout")
    [fault] = answer.json()["details"]["faults"]
    assert fault["path"] == "$.zones[0].whitelist_id"


async def test_filters_by_ids_of_a_find_nothing(
    client: httpx.AsyncClient, tenant: Tenant, other_tenant: Tenant
):
    answer = await client.get(
        f"/api/audit?actor_id={tenant.users['owner']}", headers=other_tenant.as_("owner")
    )
    assert answer.json()["data"] == []
