"""Changing one's own password."""

import asyncio
from datetime import timedelta

import httpx
import pytest

from tests.accounts.support import NEW_PASSWORD, WRONG, log_in, who_am_i
from tests.support import PASSWORD, Tenant
from voelgoed.accounts.actions import sessions as actions
from voelgoed.infra.rate_limit import Limit


async def change_password(
    client: httpx.AsyncClient, tenant: Tenant, current: str, new: str = NEW_PASSWORD
) -> httpx.Response:
    change = {"current_password": current, "new_password": new}
    return await client.put("/api/session/password", json=change, headers=tenant.as_("owner"))


async def test_changing_my_password_keeps_this_session_and_ends_my_others(
    client: httpx.AsyncClient, tenant: Tenant
) -> None:
    other_session = (await log_in(client)).json()["data"]["token"]
    assert (await change_password(client, tenant, PASSWORD)).status_code == 204
    assert (await who_am_i(client, tenant.tokens["owner"])).status_code == 200
    assert (await who_am_i(client, other_session)).status_code == 401
    assert (await who_am_i(client, tenant.tokens["admin"])).status_code == 200


async def test_after_a_change_only_the_new_password_logs_in(
    client: httpx.AsyncClient, tenant: Tenant
) -> None:
    await change_password(client, tenant, PASSWORD)
    assert (await log_in(client)).status_code == 401
    assert (await log_in(client, password=NEW_PASSWORD)).status_code == 201


async def test_changing_a_password_needs_the_current_one(
    client: httpx.AsyncClient, tenant: Tenant
) -> None:
    other_session = (await log_in(client)).json()["data"]["token"]
    answer = await change_password(client, tenant, WRONG)
    assert (answer.status_code, answer.json()["error"]) == (403, "wrong_password")
    assert (await log_in(client)).status_code == 201
    assert (await who_am_i(client, other_session)).status_code == 200


async def test_a_new_password_has_at_least_ten_characters(
    client: httpx.AsyncClient, tenant: Tenant
) -> None:
    answer = await change_password(client, tenant, PASSWORD, new="ninechars")
    [fault] = answer.json()["details"]["faults"]
    assert (answer.status_code, fault["path"]) == (422, "$.new_password")


async def test_guessing_the_current_password_is_limited(
    client: httpx.AsyncClient, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "PER_EMAIL_AND_IP", Limit(1, timedelta(minutes=15)))
    assert (await change_password(client, tenant, WRONG)).status_code == 403
    assert (await change_password(client, tenant, PASSWORD)).status_code == 429


@pytest.fixture
def slow_verification(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Verification waits for this event, as it would on a busy machine."""
    verify, go_on = actions.verify_password, asyncio.Event()

    async def slowly(stored: str | None, password: str) -> bool:
        right = await verify(stored, password)
        await go_on.wait()
        return right

    monkeypatch.setattr(actions, "verify_password", slowly)
    return go_on


async def reset(client: httpx.AsyncClient, tenant: Tenant) -> None:
    answer = await client.put(
        f"/api/users/{tenant.users['customer']}/password",
        json={"new_password": NEW_PASSWORD},
        headers=tenant.as_("owner"),
    )
    assert answer.status_code == 204


async def test_who_is_logging_in_with_a_password_that_is_just_reset_is_refused(
    client: httpx.AsyncClient, tenant: Tenant, slow_verification: asyncio.Event
) -> None:
    given = {"organization": "acme", "email": "customer@acme.example", "password": PASSWORD}
    logging_in = asyncio.create_task(client.post("/api/sessions", json=given))
    await asyncio.sleep(0.2)
    await reset(client, tenant)
    slow_verification.set()
    assert (await logging_in).status_code == 401


async def test_who_is_changing_a_password_that_is_just_reset_is_refused(
    client: httpx.AsyncClient, tenant: Tenant, slow_verification: asyncio.Event
) -> None:
    change = {"current_password": PASSWORD, "new_password": "the intruder's password"}
    headers = tenant.as_("customer")
    changing = asyncio.create_task(
        client.put("/api/session/password", json=change, headers=headers)
    )
    await asyncio.sleep(0.2)
    await reset(client, tenant)
    slow_verification.set()
    assert (await changing).json()["error"] == "wrong_password"
