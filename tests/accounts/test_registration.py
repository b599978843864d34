"""Customers open their own accounts."""

from datetime import timedelta

import httpx
import pytest

from tests.accounts.support import log_in, register
from tests.support import Tenant
from voelgoed.accounts.actions import sessions as actions
from voelgoed.infra.rate_limit import Limit


async def test_who_registers_is_a_customer_and_logged_in(
    client: httpx.AsyncClient, tenant: Tenant
) -> None:
    answer = await register(client, tenant, email="Ann@Visitor.example")
    assert answer.status_code == 201
    user = answer.json()["data"]["user"]
    assert (user["email"], user["role"], user["status"]) == (
        "ann@visitor.example",
        "customer",
        "active",
    )
    assert (await client.get("/api/session")).json()["data"]["user"] == user
    assert (await log_in(client, tenant, email="ann@visitor.example")).status_code == 201


async def test_nobody_registers_with_a_role_of_their_choice(
    client: httpx.AsyncClient, tenant: Tenant
) -> None:
    answer = await register(client, tenant, role="owner")
    assert (answer.status_code, answer.json()["error"]) == (422, "invalid_request")


@pytest.mark.parametrize("broken", [{"password": "short"}, {"email": "x"}, {"name": "  "}])
async def test_a_faulty_registration_is_refused(
    client: httpx.AsyncClient, tenant: Tenant, broken: dict[str, str]
) -> None:
    answer = await register(client, tenant, **broken)
    [path] = [fault["path"] for fault in answer.json()["details"]["faults"]]
    assert (answer.status_code, path) == (422, f"$.{next(iter(broken))}")


async def test_nobody_registers_at_an_organisation_that_does_not_exist(
    client: httpx.AsyncClient, tenant: Tenant
) -> None:
    assert (await register(client, tenant, organization="no-such-place")).status_code == 401


async def test_an_address_registers_once_in_each_organisation(
    client: httpx.AsyncClient, tenant: Tenant, other_tenant: Tenant
) -> None:
    assert (await register(client, tenant)).status_code == 201
    again = await register(client, tenant, email="ANN@visitor.example")
    assert (again.status_code, again.json()["error"]) == (409, "email_taken")
    assert (await register(client, other_tenant)).status_code == 201


async def test_registrations_from_one_place_are_limited(
    client: httpx.AsyncClient, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "REGISTRATIONS_PER_IP", Limit(2, timedelta(hours=1)))
    answers = [await register(client, tenant, email=f"{n}@visitor.example") for n in range(3)]
    assert [answer.status_code for answer in answers] == [201, 201, 429]
    assert int(answers[-1].headers["retry-after"]) > 0
