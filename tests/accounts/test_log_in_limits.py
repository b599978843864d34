"""How often one may try to log in."""

import asyncio
from collections import Counter
from datetime import timedelta

import httpx
import pytest

from tests.accounts.support import ELSEWHERE, WRONG, log_in
from tests.support import MovableClock, Tenant
from voelgoed.accounts.actions import sessions as actions
from voelgoed.infra.database import Transaction
from voelgoed.infra.rate_limit import Limit
from voelgoed.infra.refusal import RateLimited


async def test_the_eleventh_attempt_must_wait_even_with_the_right_password(
    client: httpx.AsyncClient, tenant: Tenant
) -> None:
    for _ in range(10):
        assert (await log_in(client, tenant, password=WRONG)).status_code == 401
    answer = await log_in(client, tenant)
    assert (answer.status_code, answer.json()["error"]) == (429, "rate_limited")
    assert 0 < int(answer.headers["retry-after"]) <= 15 * 60


async def test_a_limit_is_for_one_address_book_entry_at_one_place(
    client: httpx.AsyncClient, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "PER_EMAIL_AND_IP", Limit(1, timedelta(minutes=15)))
    await log_in(client, tenant, password=WRONG)
    assert (await log_in(client, tenant, email="OWNER@acme.example")).status_code == 429
    assert (await log_in(client, tenant, email="admin@acme.example")).status_code == 201
    assert (await log_in(client, tenant, headers=ELSEWHERE)).status_code == 201


async def test_the_right_password_forgives_the_wrong_ones_before_it(
    client: httpx.AsyncClient, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "PER_EMAIL_AND_IP", Limit(3, timedelta(minutes=15)))
    for _ in range(3):
        await log_in(client, tenant, password=WRONG)
        await log_in(client, tenant, password=WRONG)
        assert (await log_in(client, tenant)).status_code == 201


async def test_after_a_while_one_may_try_again(
    client: httpx.AsyncClient,
    tenant: Tenant,
    clock: MovableClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(actions, "PER_EMAIL_AND_IP", Limit(1, timedelta(minutes=15)))
    await log_in(client, tenant, password=WRONG)
    refused = await log_in(client, tenant)
    clock.ahead = timedelta(seconds=int(refused.headers["retry-after"]))
    assert (await log_in(client, tenant)).status_code == 201


@pytest.mark.parametrize("limit", ["PER_EMAIL", "PER_IP"])
async def test_guessing_is_limited_over_all_places_and_over_all_accounts_too(
    client: httpx.AsyncClient, tenant: Tenant, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(actions, limit, Limit(2, timedelta(minutes=15)))
    for guess in range(3):
        place = {"X-Forwarded-For": f"203.0.113.{guess}"} if limit == "PER_EMAIL" else None
        email = f"{guess}@acme.example" if limit == "PER_IP" else "owner@acme.example"
        answer = await log_in(client, tenant, headers=place, email=email, password=WRONG)
        assert answer.status_code == (401 if guess < 2 else 429)


ATTEMPTS_AT_ONCE = 8  # fewer than the pool has connections, so that all can wait for each other


async def attempts_at_once(client: httpx.AsyncClient, tenant: Tenant, email: str) -> Counter[int]:
    attempts = (
        log_in(client, tenant, email=email, password=WRONG) for _ in range(ATTEMPTS_AT_ONCE)
    )
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
        verdicts = await attempts_at_once(client, tenant, f"{number}@acme.example")
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
    assert await attempts_at_once(client, tenant, "owner@acme.example") == {401: ATTEMPTS_AT_ONCE}
