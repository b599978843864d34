"""Logging in over HTTP, by bearer and by cookie."""

import dataclasses
from base64 import urlsafe_b64decode
from datetime import timedelta
from hashlib import sha256
from http.cookies import SimpleCookie

import httpx
import pytest

from tests.accounts.support import ELSEWHERE, WRONG, audit, log_in, register, who_am_i
from tests.conftest import serving
from tests.support import PASSWORD, Tenant, a_client
from voelgoed.accounts.access import COOKIE
from voelgoed.accounts.rules.sessions import AGE_MAX, PREFIX, session_token
from voelgoed.config import Settings
from voelgoed.services import Services


async def test_the_token_of_a_log_in_serves_as_bearer(
    client: httpx.AsyncClient, tenant: Tenant
) -> None:
    answer = await log_in(client, tenant)
    assert answer.status_code == 201
    client.cookies.clear()
    me = (await who_am_i(client, answer.json()["data"]["token"])).json()["data"]
    assert me["user"]["id"] == str(tenant.users["owner"])
    assert me["organization"]["slug"] == tenant.slug
    assert "users.write" in me["permissions"]
    assert me["expires_at"] == answer.json()["data"]["expires_at"]


async def test_browsers_stay_logged_in_by_cookie(client: httpx.AsyncClient, tenant: Tenant) -> None:
    await log_in(client, tenant)
    me = await client.get("/api/session")
    assert me.json()["data"]["user"]["email"] == "owner@acme.example"


async def test_scripts_and_other_sites_never_get_the_cookie(
    client: httpx.AsyncClient, tenant: Tenant
) -> None:
    cookie = SimpleCookie((await log_in(client, tenant)).headers["set-cookie"])[COOKIE]
    assert cookie["httponly"]
    assert cookie["samesite"].lower() == "strict"
    assert cookie["path"] == "/"
    assert not cookie["domain"]
    assert timedelta(seconds=int(cookie["max-age"])) == AGE_MAX
    assert not cookie["secure"]  # plain http on one's own machine


async def test_the_cookie_is_secure_where_browsers_reach_us_by_https(
    services: Services, tenant: Tenant
) -> None:
    public = dataclasses.replace(services, settings=Settings(public_url="https://tickets.example"))
    async with serving(public) as url, a_client(url) as client:
        cookie = SimpleCookie((await log_in(client, tenant)).headers["set-cookie"])[COOKIE]
    assert cookie["secure"]


async def test_an_answer_never_tells_which_part_was_wrong(
    client: httpx.AsyncClient, tenant: Tenant
) -> None:
    await client.patch(
        f"/api/users/{tenant.users['customer']}",
        json={"version": 1, "status": "disabled"},
        headers=tenant.as_("owner"),
    )
    answers = [
        await log_in(client, tenant, password=WRONG),
        await log_in(client, tenant, email="nobody@acme.example"),
        await log_in(client, tenant, organization="no-such-place"),
        await log_in(client, tenant, email="customer@acme.example"),  # disabled
    ]
    assert [answer.status_code for answer in answers] == [401] * 4
    assert len({answer.content for answer in answers}) == 1
    assert answers[0].json()["error"] == "invalid_credentials"
    assert not any("set-cookie" in answer.headers for answer in answers)


async def test_a_user_of_another_organisation_is_nobody_here(
    client: httpx.AsyncClient, tenant: Tenant, other_tenant: Tenant
) -> None:
    assert (await log_in(client, tenant, email="owner@rival.example")).status_code == 401
    answer = await log_in(client, other_tenant, email="owner@rival.example")
    assert answer.json()["data"]["user"]["organization_id"] == str(other_tenant.id)


async def test_email_addresses_are_the_same_in_capitals(
    client: httpx.AsyncClient, tenant: Tenant
) -> None:
    answer = await log_in(client, tenant, email="Owner@ACME.Example")
    assert answer.json()["data"]["user"]["id"] == str(tenant.users["owner"])


@pytest.mark.parametrize(
    "broken",
    [
        {"email": "no address"},
        {"password": ""},
        {"organization": "Not A Slug"},
        {"remember_me": "yes"},
    ],
)
async def test_a_malformed_log_in_is_told_what_is_wrong(
    client: httpx.AsyncClient, tenant: Tenant, broken: dict[str, str]
) -> None:
    answer = await log_in(client, tenant, **broken)
    assert (answer.status_code, answer.json()["error"]) == (422, "invalid_request")


async def test_the_database_knows_a_token_only_by_its_hash(
    client: httpx.AsyncClient, services: Services, tenant: Tenant
) -> None:
    token = (await log_in(client, tenant)).json()["data"]["token"]
    secret = urlsafe_b64decode(token.removeprefix(PREFIX))[16:]
    async with services.database.transaction(tenant.id) as tx:
        rows = await tx.connection.fetch(
            """
            SELECT session::text FROM session UNION ALL
            SELECT audit_entry::text FROM audit_entry UNION ALL
            SELECT rate_limit::text FROM rate_limit
            """
        )
        found = await tx.value(
            int,
            "SELECT count(*) FROM session WHERE token_hash = $1",
            sha256(token.encode()).digest(),
        )
    stored = " ".join(row[0] for row in rows)
    assert found == 1
    assert token not in stored
    assert secret.hex() not in stored


async def test_the_database_knows_a_password_only_by_its_argon2id_hash(
    client: httpx.AsyncClient, services: Services, tenant: Tenant
) -> None:
    await register(client, tenant)
    async with services.database.transaction(tenant.id) as tx:
        stored = await tx.value(
            str, "SELECT password_hash FROM app_user WHERE email = 'ann@visitor.example'"
        )
    assert stored is not None
    assert stored.startswith("$argon2id$")
    assert PASSWORD not in stored


@pytest.mark.parametrize("authorization", ["", "Bearer", "Bearer nonsense", "Basic YTpi"])
async def test_a_credential_that_is_none_is_refused(
    client: httpx.AsyncClient, tenant: Tenant, authorization: str
) -> None:
    answer = await client.get("/api/session", headers={"Authorization": authorization})
    assert (answer.status_code, answer.json()["error"]) == (401, "unauthorized")
    assert answer.headers["www-authenticate"] == "Bearer"


async def test_a_token_with_another_organisation_spliced_in_is_refused(
    client: httpx.AsyncClient, tenant: Tenant, other_tenant: Tenant
) -> None:
    mine = tenant.tokens["owner"]
    secret = urlsafe_b64decode(mine.removeprefix(PREFIX))[16:]
    spliced = session_token(other_tenant.id, secret)
    assert (await who_am_i(client, spliced)).status_code == 401
    assert (await who_am_i(client, mine)).status_code == 200


async def test_failed_log_ins_are_in_the_audit_log(
    client: httpx.AsyncClient, tenant: Tenant
) -> None:
    await log_in(client, tenant, headers={"User-Agent": "Guesser", **ELSEWHERE}, password=WRONG)
    await log_in(client, tenant, email="Nobody@acme.example")
    nobody, owner = await audit(client, tenant, "log_in_failed")
    assert (owner["entity_type"], owner["entity_id"]) == ("User", "owner@acme.example")
    assert owner["actor_id"] is None
    assert owner["metadata"] == {"ip_address": "203.0.113.9", "user_agent": "Guesser"}
    assert nobody["entity_id"] == "nobody@acme.example"


async def test_log_ins_are_in_the_audit_log(client: httpx.AsyncClient, tenant: Tenant) -> None:
    await log_in(client, tenant)
    [entry] = await audit(client, tenant, "logged_in")
    assert entry["actor_id"] == str(tenant.users["owner"])
