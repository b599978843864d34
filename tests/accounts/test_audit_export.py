"""The audit log as a table, for whoever must keep it elsewhere."""

import csv
from io import StringIO
from typing import Any

import httpx
import pytest

from tests.accounts.test_audit import note, search
from tests.support import Tenant
from voelgoed.accounts.actions import audit
from voelgoed.services import Services

COLUMNS = [
    *("id", "actor_kind", "actor_id", "action", "entity_type", "entity_id", "changes"),
    *("metadata", "at"),
]


async def exported(
    client: httpx.AsyncClient, tenant: Tenant, **params: Any
) -> list[dict[str, str]]:
    answer = await client.get("/api/audit.csv", params=params, headers=tenant.as_("admin"))
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="audit.csv"'
    table = csv.DictReader(StringIO(answer.text, newline=""))
    assert table.fieldnames == COLUMNS
    return list(table)


async def test_what_the_search_finds_is_exported_the_newest_first(
    client: httpx.AsyncClient, services: Services, tenant: Tenant, other_tenant: Tenant
) -> None:
    for number in range(5):
        await note(services, tenant.caller("owner"), f"action_{number % 2}", number)
    await note(services, other_tenant.caller(), "theirs")
    found = await search(client, tenant, action="action_0")
    rows = await exported(client, tenant, action="action_0")
    assert [row["id"] for row in rows] == [entry["id"] for entry in found]
    assert [row["entity_id"] for row in rows] == ["4", "2", "0"]
    assert rows[0]["changes"] == "{}"
    everything = await exported(client, tenant)
    assert {row["action"] for row in everything} == {"action_0", "action_1", "audit_exported"}


async def test_who_takes_the_log_is_in_it_and_what_they_asked_for(
    client: httpx.AsyncClient, services: Services, tenant: Tenant
) -> None:
    await note(services, tenant.caller(), "opened")
    rows = await exported(client, tenant, action="opened", since="2020-01-01T00:00:00Z")
    assert [row["action"] for row in rows] == ["opened"]
    [entry] = await search(client, tenant, action="audit_exported")
    assert entry["actor_id"] == str(tenant.users["admin"])
    assert (entry["entity_type"], entry["entity_id"]) == ("AuditLog", str(tenant.id))
    assert entry["changes"] == {"action": "opened", "since": "2020-01-01T00:00:00Z"}


@pytest.mark.parametrize("page_rows", [1, 2, 3, 7, 8])
@pytest.mark.parametrize(("most", "is_cut"), [(6, True), (7, False), (8, False), (1, True)])
async def test_what_is_cut_says_so_whatever_the_size_of_a_page(
    client: httpx.AsyncClient,
    services: Services,
    tenant: Tenant,
    monkeypatch: pytest.MonkeyPatch,
    page_rows: int,
    most: int,
    is_cut: bool,
) -> None:
    for number in range(7):
        await note(services, tenant.caller(), "opened", number)
    monkeypatch.setattr(audit, "PAGE_ROWS", page_rows)
    monkeypatch.setattr(audit, "EXPORTED_MAX", most)
    rows = await exported(client, tenant, action="opened")
    entries = [row["entity_id"] for row in rows if row["id"]]
    assert entries == [str(number) for number in reversed(range(7))][:most]
    assert [row["action"] for row in rows if not row["id"]] == ["export_cut"] * is_cut
    assert rows[-1]["id"] == "" or not is_cut


async def test_what_would_be_a_formula_is_guarded(
    client: httpx.AsyncClient, services: Services, tenant: Tenant
) -> None:
    await note(services, tenant.caller(), "opened", "=1+1")
    [row] = await exported(client, tenant, action="opened")
    assert row["entity_id"] == "'=1+1"


@pytest.mark.parametrize(
    "params",
    [
        {"since": "yesterday"},
        {"actor_id": "me"},
        {"action": "x" * 201},
        {"action": "a\0b"},
        {"until": "9999-12-31T23:59:59-23:59"},
    ],
)
async def test_a_faulty_question_is_refused_and_nothing_is_recorded(
    client: httpx.AsyncClient, tenant: Tenant, params: dict[str, str]
) -> None:
    answer = await client.get("/api/audit.csv", params=params, headers=tenant.as_("admin"))
    assert (answer.status_code, answer.json()["error"]) == (422, "invalid_request")
    assert await search(client, tenant) == []


@pytest.mark.parametrize("role", ["organiser", "box_office", "gate_supervisor", "customer"])
async def test_only_who_may_read_the_log_may_take_it(
    client: httpx.AsyncClient, tenant: Tenant, role: Any
) -> None:
    answer = await client.get("/api/audit.csv", headers=tenant.as_(role))
    assert (answer.status_code, answer.json()["error"]) == (403, "permission_denied")
    assert await search(client, tenant) == []
