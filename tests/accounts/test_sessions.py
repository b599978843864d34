"""How long a session lasts, and how it is ended."""

from datetime import datetime, timedelta

import httpx
import pytest

from tests.accounts.support import ELSEWHERE, audit, log_in, who_am_i
from tests.support import PASSWORD, MovableClock, Tenant
from voelgoed.accounts.access import COOKIE
from voelgoed.accounts.rules.sessions import AGE_MAX, IDLE_MAX
from voelgoed.services import Services


async def test_a_session_ends_when_it_was_not_used(
    client: httpx.AsyncClient, tenant: Tenant, clock: MovableClock
) -> None:
    token = tenant.tokens["owner"]
    clock.ahead = IDLE_MAX - timedelta(minutes=5)
    assert (await who_am_i(client, token)).status_code == 200
    clock.ahead += IDLE_MAX - timedelta(minutes=5)  # counted from the last use
    assert (await who_am_i(client, token)).status_code == 200
    clock.ahead += IDLE_MAX
    assert (await who_am_i(client, token)).status_code == 401


async def test_a_session_ends_at_its_age_however_much_it_was_used(
    client: httpx.AsyncClient, tenant: Tenant, clock: MovableClock
) -> None:
    token = tenant.tokens["owner"]
    while clock.ahead < AGE_MAX - timedelta(hours=10):
        clock.ahead += timedelta(hours=10)
        assert (await who_am_i(client, token)).status_code == 200
    clock.ahead = AGE_MAX
    assert (await who_am_i(client, token)).status_code == 401


async def test_the_last_use_is_written_down_at_most_once_a_minute(
    client: httpx.AsyncClient, services: Services, tenant: Tenant, clock: MovableClock
) -> None:
    async def use_at(seconds: int) -> datetime | None:
        clock.ahead = timedelta(seconds=seconds)
        await who_am_i(client, tenant.tokens["owner"])
        async with services.database.transaction(tenant.id) as tx:
            return await tx.value(
                datetime,
                "SELECT last_seen_at FROM session WHERE user_id = $1",
                tenant.users["owner"],
            )

    first, soon, later, soon_after = [await use_at(seconds) for seconds in (0, 20, 65, 85)]
    assert first == soon
    assert soon != later
    assert later == soon_after


async def test_logging_out_ends_this_session_and_takes_the_cookie(
    client: httpx.AsyncClient, tenant: Tenant
) -> None:
    token = (await log_in(client, tenant)).json()["data"]["token"]
    answer = await client.delete("/api/session")
    assert answer.status_code == 204
    assert COOKIE not in client.cookies
    assert (await who_am_i(client, token)).status_code == 401
    assert (await who_am_i(client, tenant.tokens["owner"])).status_code == 200
    [entry] = await audit(client, tenant, "logged_out")
    assert entry["actor_id"] == str(tenant.users["owner"])


async def test_logging_out_everywhere_ends_every_session_of_mine_and_only_mine(
    client: httpx.AsyncClient, tenant: Tenant, other_tenant: Tenant
) -> None:
    mine = [tenant.tokens["owner"]]
    mine += [(await log_in(client, tenant)).json()["data"]["token"] for _ in range(2)]
    client.cookies.clear()
    answer = await client.delete("/api/sessions", headers=tenant.as_("owner"))
    assert answer.status_code == 204
    assert [(await who_am_i(client, token)).status_code for token in mine] == [401] * 3
    assert (await who_am_i(client, tenant.tokens["admin"])).status_code == 200
    assert (await who_am_i(client, other_tenant.tokens["owner"])).status_code == 200


async def test_i_see_where_i_am_logged_in(client: httpx.AsyncClient, tenant: Tenant) -> None:
    await log_in(client, tenant, headers={"User-Agent": "Phone", **ELSEWHERE})
    client.cookies.clear()
    answer = await client.get("/api/sessions", headers=tenant.as_("owner"))
    phone, here = answer.json()["data"]
    assert (phone["ip"], phone["user_agent"], phone["current"]) == ("203.0.113.9", "Phone", False)
    assert here["current"]
    assert "token" not in answer.text


async def test_sessions_that_are_over_are_not_listed(
    client: httpx.AsyncClient, tenant: Tenant, clock: MovableClock
):
    clock.ahead += timedelta(hours=13)
    given = {"organization": tenant.slug, "email": "owner@acme.example", "password": PASSWORD}
    token = (await client.post("/api/sessions", json=given)).json()["data"]["token"]
    listed = await client.get("/api/sessions", headers={"Authorization": f"Bearer {token}"})
    assert [session["current"] for session in listed.json()["data"]] == [True]


async def test_nobody_keeps_more_than_a_hundred_sessions(
    client: httpx.AsyncClient, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("voelgoed.accounts.actions.sessions.SESSIONS_MAX", 3)
    given = {"organization": tenant.slug, "email": "owner@acme.example", "password": PASSWORD}
    tokens = [
        (await client.post("/api/sessions", json=given)).json()["data"]["token"] for _ in range(4)
    ]
    answers = [
        await client.get("/api/session", headers={"Authorization": f"Bearer {token}"})
        for token in tokens
    ]
    assert [answer.status_code for answer in answers] == [401, 200, 200, 200]
