"""Changing one's own password."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta
from uuid import UUID

import httpx
import pytest

from tests.accounts.support import NEW_PASSWORD, WRONG, log_in, who_am_i
from tests.support import PASSWORD, Tenant
from voelgoed.accounts.actions import sessions as actions
from voelgoed.accounts.model import User
from voelgoed.accounts.store import users
from voelgoed.infra.database import Transaction
from voelgoed.infra.passwords import verify_password
from voelgoed.infra.rate_limit import Limit


async def change_password(
    client: httpx.AsyncClient, tenant: Tenant, current: str, new: str = NEW_PASSWORD
) -> httpx.Response:
    change = {"current_password": current, "new_password": new}
    return await client.put("/api/session/password", json=change, headers=tenant.as_("owner"))


async def test_changing_my_password_keeps_this_session_and_ends_my_others(
    client: httpx.AsyncClient, tenant: Tenant
) -> None:
    other_session = (await log_in(client, tenant)).json()["data"]["token"]
    assert (await change_password(client, tenant, PASSWORD)).status_code == 204
    assert (await who_am_i(client, tenant.tokens["owner"])).status_code == 200
    assert (await who_am_i(client, other_session)).status_code == 401
    assert (await who_am_i(client, tenant.tokens["admin"])).status_code == 200


async def test_after_a_change_only_the_new_password_logs_in(
    client: httpx.AsyncClient, tenant: Tenant
) -> None:
    await change_password(client, tenant, PASSWORD)
    assert (await log_in(client, tenant)).status_code == 401
    assert (await log_in(client, tenant, password=NEW_PASSWORD)).status_code == 201


async def test_changing_a_password_needs_the_current_one(
    client: httpx.AsyncClient, tenant: Tenant
) -> None:
    other_session = (await log_in(client, tenant)).json()["data"]["token"]
    answer = await change_password(client, tenant, WRONG)
    assert (answer.status_code, answer.json()["error"]) == (403, "wrong_password")
    assert (await log_in(client, tenant)).status_code == 201
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


class PausedVerification:
    """Passwords are judged, and then the answer waits, as it would on a busy machine."""

    def __init__(self) -> None:
        self.judged = asyncio.Event()
        self.go_on = asyncio.Event()

    async def verify(self, stored: str | None, password: str) -> bool:
        is_right = await verify_password(stored, password)
        self.judged.set()
        await self.go_on.wait()
        return is_right


@pytest.fixture
def paused(monkeypatch: pytest.MonkeyPatch) -> PausedVerification:
    paused = PausedVerification()
    monkeypatch.setattr(actions, "verify_password", paused.verify)
    return paused


async def answered_after_a_reset(
    client: httpx.AsyncClient,
    tenant: Tenant,
    paused: PausedVerification,
    request: Coroutine[None, None, httpx.Response],
) -> httpx.Response:
    """The customer's password is judged to be right, then reset, then the request goes on."""
    answer = asyncio.create_task(request)
    await paused.judged.wait()
    reset = await client.put(
        f"/api/users/{tenant.users['customer']}/password",
        json={"new_password": NEW_PASSWORD},
        headers=tenant.as_("owner"),
    )
    assert reset.status_code == 204
    paused.go_on.set()
    return await answer


def log_in_of_the_customer(
    client: httpx.AsyncClient, tenant: Tenant
) -> Coroutine[None, None, httpx.Response]:
    return log_in(client, tenant, email="customer@acme.example")


def change_by_the_customer(
    client: httpx.AsyncClient, tenant: Tenant
) -> Coroutine[None, None, httpx.Response]:
    change = {"current_password": PASSWORD, "new_password": "the intruder's password"}
    return client.put("/api/session/password", json=change, headers=tenant.as_("customer"))


async def test_a_log_in_with_a_password_that_is_reset_meanwhile_is_refused(
    client: httpx.AsyncClient, tenant: Tenant, paused: PausedVerification
) -> None:
    request = log_in_of_the_customer(client, tenant)
    assert (await answered_after_a_reset(client, tenant, paused, request)).status_code == 401


async def test_a_change_of_a_password_that_is_reset_meanwhile_is_refused(
    client: httpx.AsyncClient, tenant: Tenant, paused: PausedVerification
) -> None:
    """A reset ends every session of its user: this request was let in before."""
    request = change_by_the_customer(client, tenant)
    answer = await answered_after_a_reset(client, tenant, paused, request)
    assert answer.json()["error"] == "wrong_password"


@pytest.mark.parametrize(
    ("make_request", "status"), [(log_in_of_the_customer, 201), (change_by_the_customer, 204)]
)
async def test_control_both_succeed_where_the_password_is_not_compared_again(
    client: httpx.AsyncClient,
    tenant: Tenant,
    paused: PausedVerification,
    monkeypatch: pytest.MonkeyPatch,
    make_request: Callable[..., Coroutine[None, None, httpx.Response]],
    status: int,
) -> None:
    async def lock_carelessly(tx: Transaction, user_id: UUID, _password_hash: str) -> User | None:
        return await users.find_user(tx, user_id)

    monkeypatch.setattr(users, "lock_user_with", lock_carelessly)
    request = make_request(client, tenant)
    answer = await answered_after_a_reset(client, tenant, paused, request)
    assert answer.status_code == status
