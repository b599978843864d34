"""Logging in and out over HTTP: by bearer, by cookie, for how long, and how often."""

import asyncio
import dataclasses
from base64 import urlsafe_b64decode
from collections import Counter
from datetime import datetime, timedelta
from hashlib import sha256
from http.cookies import SimpleCookie
from typing import Any

import httpx
import pytest

from tests.conftest import serving
from tests.support import PASSWORD, MovableClock, Tenant
from voelgoed.accounts.access import COOKIE
from voelgoed.accounts.actions import sessions as actions
from voelgoed.accounts.rules.sessions import AGE_MAX, IDLE_MAX, PREFIX, session_token
from voelgoed.config import Settings
from voelgoed.infra.database import Transaction
from voelgoed.infra.rate_limit import Limit
from voelgoed.infra.refusal import RateLimited
from voelgoed.services import Services

WRONG = "not the right password"
NEW_PASSWORD = "a much better password"
ELSEWHERE = {"X-Forwarded-For": "203.0.113.9"}


async def log_in(
    client: httpx.AsyncClient, headers: dict[str, str] | None = None, **changes: str
) -> httpx.Response:
    given = {"organization": "acme", "email": "owner@acme.example", "password": PASSWORD}
    return await client.post("/api/sessions", json=given | changes, headers=headers)


async def register(client: httpx.AsyncClient, **changes: str) -> httpx.Response:
    given = {
        "organization": "acme",
        "email": "ann@visitor.example",
        "name": "Ann",
        "password": PASSWORD,
    }
    return await client.post("/api/registrations", json=given | changes)


async def who_am_i(client: httpx.AsyncClient, token: str) -> httpx.Response:
    return await client.get("/api/session", headers={"Authorization": f"Bearer {token}"})


async def audit(client: httpx.AsyncClient, tenant: Tenant, action: str) -> list[dict[str, Any]]:
    answer = await client.get("/api/audit", params={"action": action}, headers=tenant.as_("owner"))
    return answer.json()["data"]


async def test_the_token_of_a_log_in_serves_as_bearer(
    client: httpx.AsyncClient, tenant: Tenant
) -> None:
    answer = await log_in(client)
    assert answer.status_code == 201
    client.cookies.clear()
    me = (await who_am_i(client, answer.json()["data"]["token"])).json()["data"]
    assert me["user"]["id"] == str(tenant.users["owner"])
    assert me["organization"]["slug"] == "acme"
    assert "users.write" in me["permissions"]
    assert me["expires_at"] == answer.json()["data"]["expires_at"]


async def test_browsers_stay_logged_in_by_cookie(client: httpx.AsyncClient, tenant: Tenant) -> None:
    await log_in(client)
    me = await client.get("/api/session")
    assert me.json()["data"]["user"]["email"] == "owner@acme.example"


async def test_scripts_and_other_sites_never_get_the_cookie(
    client: httpx.AsyncClient, tenant: Tenant
) -> None:
    cookie = SimpleCookie((await log_in(client)).headers["set-cookie"])[COOKIE]
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
    async with serving(public) as url, httpx.AsyncClient(base_url=url) as client:
        cookie = SimpleCookie((await log_in(client)).headers["set-cookie"])[COOKIE]
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
        await log_in(client, password=WRONG),
        await log_in(client, email="nobody@acme.example"),
        await log_in(client, organization="no-such-place"),
        await log_in(client, email="customer@acme.example"),  # disabled
    ]
    assert [answer.status_code for answer in answers] == [401] * 4
    assert len({answer.content for answer in answers}) == 1
    assert answers[0].json()["error"] == "invalid_credentials"
    assert not any("set-cookie" in answer.headers for answer in answers)


async def test_a_user_of_another_organisation_is_nobody_here(
    client: httpx.AsyncClient, tenant: Tenant, other_tenant: Tenant
) -> None:
    assert (await log_in(client, email="owner@rival.example")).status_code == 401
    answer = await log_in(client, email="owner@rival.example", organization="rival")
    assert answer.json()["data"]["user"]["organization_id"] == str(other_tenant.id)


async def test_email_addresses_are_the_same_in_capitals(
    client: httpx.AsyncClient, tenant: Tenant
) -> None:
    answer = await log_in(client, email="Owner@ACME.Example")
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
    answer = await log_in(client, **broken)
    assert (answer.status_code, answer.json()["error"]) == (422, "invalid_request")


async def test_the_database_knows_a_token_only_by_its_hash(
    client: httpx.AsyncClient, services: Services, tenant: Tenant
) -> None:
    token = (await log_in(client)).json()["data"]["token"]
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
    await register(client)
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
    token = (await log_in(client)).json()["data"]["token"]
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
    mine += [(await log_in(client)).json()["data"]["token"] for _ in range(2)]
    client.cookies.clear()
    answer = await client.delete("/api/sessions", headers=tenant.as_("owner"))
    assert answer.status_code == 204
    assert [(await who_am_i(client, token)).status_code for token in mine] == [401] * 3
    assert (await who_am_i(client, tenant.tokens["admin"])).status_code == 200
    assert (await who_am_i(client, other_tenant.tokens["owner"])).status_code == 200


async def test_i_see_where_i_am_logged_in(client: httpx.AsyncClient, tenant: Tenant) -> None:
    await log_in(client, headers={"User-Agent": "Phone", **ELSEWHERE})
    client.cookies.clear()
    answer = await client.get("/api/sessions", headers=tenant.as_("owner"))
    phone, here = answer.json()["data"]
    assert (phone["ip"], phone["user_agent"], phone["current"]) == ("203.0.113.9", "Phone", False)
    assert here["current"]
    assert "token" not in answer.text


async def test_the_eleventh_attempt_must_wait_even_with_the_right_password(
    client: httpx.AsyncClient, tenant: Tenant
) -> None:
    for _ in range(10):
        assert (await log_in(client, password=WRONG)).status_code == 401
    answer = await log_in(client)
    assert (answer.status_code, answer.json()["error"]) == (429, "rate_limited")
    assert 0 < int(answer.headers["retry-after"]) <= 15 * 60


async def test_a_limit_is_for_one_address_book_entry_at_one_place(
    client: httpx.AsyncClient, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "PER_EMAIL_AND_IP", Limit(1, timedelta(minutes=15)))
    await log_in(client, password=WRONG)
    assert (await log_in(client, email="OWNER@acme.example")).status_code == 429
    assert (await log_in(client, email="admin@acme.example")).status_code == 201
    assert (await log_in(client, headers=ELSEWHERE)).status_code == 201


async def test_the_right_password_forgives_the_wrong_ones_before_it(
    client: httpx.AsyncClient, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "PER_EMAIL_AND_IP", Limit(3, timedelta(minutes=15)))
    for _ in range(3):
        await log_in(client, password=WRONG)
        await log_in(client, password=WRONG)
        assert (await log_in(client)).status_code == 201


async def test_after_a_while_one_may_try_again(
    client: httpx.AsyncClient,
    tenant: Tenant,
    clock: MovableClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(actions, "PER_EMAIL_AND_IP", Limit(1, timedelta(minutes=15)))
    await log_in(client, password=WRONG)
    refused = await log_in(client)
    clock.ahead = timedelta(seconds=int(refused.headers["retry-after"]))
    assert (await log_in(client)).status_code == 201


@pytest.mark.parametrize("limit", ["PER_EMAIL", "PER_IP"])
async def test_guessing_is_limited_over_all_places_and_over_all_accounts_too(
    client: httpx.AsyncClient, tenant: Tenant, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(actions, limit, Limit(2, timedelta(minutes=15)))
    for guess in range(3):
        place = {"X-Forwarded-For": f"203.0.113.{guess}"} if limit == "PER_EMAIL" else None
        email = f"{guess}@acme.example" if limit == "PER_IP" else "owner@acme.example"
        answer = await log_in(client, headers=place, email=email, password=WRONG)
        assert answer.status_code == (401 if guess < 2 else 429)


ATTEMPTS_AT_ONCE = 8  # fewer than the pool has connections, so that all can wait for each other


async def attempts_at_once(client: httpx.AsyncClient, email: str) -> Counter[int]:
    attempts = (log_in(client, email=email, password=WRONG) for _ in range(ATTEMPTS_AT_ONCE))
    return Counter(answer.status_code for answer in await asyncio.gather(*attempts))


@pytest.fixture
def quick_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every password is wrong, and at once: these races are about counting."""

    async def verify(_stored_hash: str | None, _password: str) -> bool:
        return False

    monkeypatch.setattr(actions, "verify_password", verify)


@pytest.mark.usefixtures("quick_passwords")
async def test_attempts_at_the_same_moment_never_exceed_the_limit(
    client: httpx.AsyncClient, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "PER_EMAIL_AND_IP", Limit(3, timedelta(minutes=15)))
    for number in range(8):
        verdicts = await attempts_at_once(client, f"{number}@acme.example")
        assert verdicts == {401: 3, 429: ATTEMPTS_AT_ONCE - 3}


@pytest.mark.usefixtures("quick_passwords")
async def test_control_they_do_where_reading_and_counting_are_two_steps(
    client: httpx.AsyncClient, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_have_read = asyncio.Barrier(ATTEMPTS_AT_ONCE)

    async def take_carelessly(tx: Transaction, key: str, limit: Limit) -> None:
        used = await tx.value(int, "SELECT used FROM rate_limit WHERE key = $1", key) or 0
        if ":from:" in key:
            await all_have_read.wait()
        if used >= limit.count:
            raise RateLimited()
        await tx.run(
            """
            INSERT INTO rate_limit VALUES (current_organization(), $1, $2, $2, 1)
            ON CONFLICT (organization_id, key) DO UPDATE SET used = rate_limit.used + 1
            """,
            key,
            tx.now,
        )

    monkeypatch.setattr(actions, "PER_EMAIL_AND_IP", Limit(3, timedelta(minutes=15)))
    monkeypatch.setattr(actions, "take", take_carelessly)
    assert await attempts_at_once(client, "owner@acme.example") == {401: ATTEMPTS_AT_ONCE}


async def test_failed_log_ins_are_in_the_audit_log(
    client: httpx.AsyncClient, tenant: Tenant
) -> None:
    await log_in(client, headers={"User-Agent": "Guesser", **ELSEWHERE}, password=WRONG)
    await log_in(client, email="Nobody@acme.example")
    nobody, owner = await audit(client, tenant, "log_in_failed")
    assert (owner["entity_type"], owner["entity_id"]) == ("User", "owner@acme.example")
    assert (owner["actor_id"], owner["ip"], owner["user_agent"]) == (
        None,
        "203.0.113.9",
        "Guesser",
    )
    assert nobody["entity_id"] == "nobody@acme.example"


async def test_log_ins_are_in_the_audit_log(client: httpx.AsyncClient, tenant: Tenant) -> None:
    await log_in(client)
    [entry] = await audit(client, tenant, "logged_in")
    assert entry["actor_id"] == str(tenant.users["owner"])


async def test_who_registers_is_a_customer_and_logged_in(
    client: httpx.AsyncClient, tenant: Tenant
) -> None:
    answer = await register(client, email="Ann@Visitor.example")
    assert answer.status_code == 201
    user = answer.json()["data"]["user"]
    assert (user["email"], user["role"], user["status"]) == (
        "ann@visitor.example",
        "customer",
        "active",
    )
    assert (await client.get("/api/session")).json()["data"]["user"] == user
    assert (await log_in(client, email="ann@visitor.example")).status_code == 201


async def test_nobody_registers_with_a_role_of_their_choice(
    client: httpx.AsyncClient, tenant: Tenant
) -> None:
    answer = await register(client, role="owner")
    assert (answer.status_code, answer.json()["error"]) == (422, "invalid_request")


@pytest.mark.parametrize("broken", [{"password": "short"}, {"email": "x"}, {"name": "  "}])
async def test_a_faulty_registration_is_refused(
    client: httpx.AsyncClient, tenant: Tenant, broken: dict[str, str]
) -> None:
    answer = await register(client, **broken)
    [path] = [fault["path"] for fault in answer.json()["details"]["faults"]]
    assert (answer.status_code, path) == (422, f"$.{next(iter(broken))}")


async def test_nobody_registers_at_an_organisation_that_does_not_exist(
    client: httpx.AsyncClient, tenant: Tenant
) -> None:
    assert (await register(client, organization="no-such-place")).status_code == 401


async def test_an_address_registers_once_in_each_organisation(
    client: httpx.AsyncClient, tenant: Tenant, other_tenant: Tenant
) -> None:
    assert (await register(client)).status_code == 201
    again = await register(client, email="ANN@visitor.example")
    assert (again.status_code, again.json()["error"]) == (409, "email_taken")
    assert (await register(client, organization="rival")).status_code == 201


async def test_registrations_from_one_place_are_limited(
    client: httpx.AsyncClient, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "REGISTRATIONS_PER_IP", Limit(2, timedelta(hours=1)))
    answers = [await register(client, email=f"{n}@visitor.example") for n in range(3)]
    assert [answer.status_code for answer in answers] == [201, 201, 429]
    assert int(answers[-1].headers["retry-after"]) > 0


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


async def test_sessions_that_are_over_are_not_listed(
    client: httpx.AsyncClient, tenant: Tenant, clock: MovableClock
):
    clock.ahead += timedelta(hours=13)
    given = {"organization": "acme", "email": "owner@acme.example", "password": PASSWORD}
    token = (await client.post("/api/sessions", json=given)).json()["data"]["token"]
    listed = await client.get("/api/sessions", headers={"Authorization": f"Bearer {token}"})
    assert [session["current"] for session in listed.json()["data"]] == [True]


async def test_nobody_keeps_more_than_a_hundred_sessions(
    client: httpx.AsyncClient, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("voelgoed.accounts.actions.sessions.SESSIONS_MAX", 3)
    given = {"organization": "acme", "email": "owner@acme.example", "password": PASSWORD}
    tokens = [
        (await client.post("/api/sessions", json=given)).json()["data"]["token"] for _ in range(4)
    ]
    answers = [
        await client.get("/api/session", headers={"Authorization": f"Bearer {token}"})
        for token in tokens
    ]
    assert [answer.status_code for answer in answers] == [401, 200, 200, 200]
