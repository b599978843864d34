"""Two `voelgoed serve` on one database are one system, with no Redis between them."""

import asyncio
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.infra.jobs_support import SET_DUE, looking_together
from tests.processes import (
    HANG_S,
    Process,
    a_client,
    a_follower,
    ask,
    eventually,
    frame,
    overheard,
    runs_of,
    servers,
)
from tests.prove.length import rounds
from tests.support import PASSWORD, Tenant, a_gate, a_tenant, a_venue, an_event
from voelgoed.config import Settings
from voelgoed.infra.embedded import EmbeddedPostgres
from voelgoed.services import build_services

pytestmark = pytest.mark.own_database

PURGE = "accounts.purge"
"""It is due every ten minutes."""
LISTENERS = (
    "FROM pg_stat_activity"
    " WHERE datname = current_database() AND application_name = 'voelgoed-listener'"
)


@pytest.fixture(scope="module")
def database_name(postgres: EmbeddedPostgres) -> Iterator[str]:
    """One for all tests of this file, because two processes take seconds to start."""
    name = f"two_processes_{os.getpid()}"
    ask(postgres.url("postgres", "postgres"), f"CREATE DATABASE {name} TEMPLATE voelgoed")
    yield name
    ask(postgres.url("postgres", "postgres"), f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="module")
def tenant(postgres: EmbeddedPostgres, database_name: str) -> Tenant:
    services = build_services(Settings(), postgres.url(database=database_name))

    async def prepare() -> Tenant:
        await services.database.open()
        try:
            return await a_tenant(services, "acme")
        finally:
            await services.database.close()

    return asyncio.run(prepare())


@pytest.fixture(scope="module")
def both(postgres: EmbeddedPostgres, database_name: str) -> Iterator[list[Process]]:
    with servers(2, postgres.url(database=database_name)) as started:
        yield started


@pytest.fixture
def admin_url(postgres: EmbeddedPostgres, database_name: str) -> str:
    return postgres.url("postgres", database_name)


def an_event_at(client: httpx.Client) -> dict[str, Any]:
    venue = client.post("/api/venues", json=a_venue()).raise_for_status().json()["data"]
    return client.post("/api/events", json=an_event(venue["id"])).raise_for_status().json()["data"]


def end_every_listener(admin_url: str) -> None:
    everyone_listens(admin_url)
    ask(admin_url, f"SELECT pg_terminate_backend(pid) {LISTENERS}")


def everyone_listens(admin_url: str) -> None:
    """For live messages and for jobs, in both processes."""
    eventually(lambda: len(ask(admin_url, f"SELECT pid {LISTENERS}")) == 4)


def test_gate_changes_through_one_reach_followers_of_the_other_in_order_without_gaps(
    both: list[Process], tenant: Tenant
) -> None:
    here, there = both
    token = tenant.tokens["owner"]
    with a_client(there.url, token) as client:
        event = an_event_at(client)
        gates = f"/api/events/{event['id']}/gates"
        with a_follower(here.url, token, f"event:{event['id']}") as follower:
            gate = client.post(gates, json=a_gate()).raise_for_status().json()["data"]
            for number in range(20):
                change = {"version": gate["version"], "name": f"Gate {number}"}
                answer = client.patch(f"{gates}/{gate['id']}", json=change)
                gate = answer.raise_for_status().json()["data"]
            frames = [frame(follower) for _ in range(21)]
    assert [each["data"]["version"] for each in frames] == list(range(1, 22))
    first = frames[0]["seq"]
    assert [each["seq"] for each in frames] == list(range(first, first + 21))


def test_a_rename_through_one_is_read_through_the_other_at_once(
    both: list[Process], tenant: Tenant
) -> None:
    here, there = both
    token = tenant.tokens["owner"]
    with a_client(here.url, token) as reader, a_client(there.url, token) as writer:
        for number in range(5):
            reader.get("/api/organization").raise_for_status()  # now it is in memory here
            writer.patch("/api/organization", json={"name": f"Name {number}"}).raise_for_status()
            eventually(lambda: f"Name {number}" in reader.get("/api/organization").text)  # noqa: B023


def test_a_rename_that_the_other_could_not_hear_is_read_once_it_listens_again(
    both: list[Process], tenant: Tenant, admin_url: str, database_name: str
) -> None:
    here, there = both
    token = tenant.tokens["owner"]
    with a_client(here.url, token) as reader, a_client(there.url, token) as writer:
        assert "Unheard" not in reader.get("/api/organization").text
        # Superusers are exempt.
        ask(admin_url, f"ALTER DATABASE {database_name} CONNECTION LIMIT 0")
        end_every_listener(admin_url)
        # Its jobs may have the connection that it kept, and then it gets no other.
        renamed = {"name": "Unheard"}
        with overheard(admin_url) as messages:
            eventually(lambda: writer.patch("/api/organization", json=renamed).is_success)
            eventually(lambda: any(str(tenant.id) in each for each in messages))  # but to neither
        ask(admin_url, f"ALTER DATABASE {database_name} CONNECTION LIMIT -1")
        eventually(lambda: "Unheard" in reader.get("/api/organization").text)


def test_logging_out_everywhere_through_one_ends_the_session_at_the_other(
    both: list[Process], tenant: Tenant
) -> None:
    here, there = both
    token = tenant.tokens["organiser"]
    with a_client(here.url, token) as one, a_client(there.url, token) as other:
        assert one.get("/api/session").status_code == other.get("/api/session").status_code == 200
        assert one.delete("/api/sessions").status_code == 204
        assert one.get("/api/session").status_code == other.get("/api/session").status_code == 401


def test_wrong_passwords_are_counted_over_both(both: list[Process], tenant: Tenant) -> None:
    who = {"organization": tenant.slug, "email": "owner@acme.example"}

    def attempt(number: int, password: str = "wrong-password") -> int:
        url = f"{both[number % 2].url}/api/sessions"
        sent = who | {"password": password}
        return httpx.post(url, json=sent, trust_env=False, timeout=HANG_S).status_code

    assert [attempt(number) for number in range(10)] == [401] * 10
    assert [attempt(number, PASSWORD) for number in range(2)] == [429] * 2


def test_a_periodic_job_runs_once_for_both(both: list[Process], admin_url: str) -> None:
    everyone_listens(admin_url)
    begun = periods(admin_url)
    count = rounds(2, 20)
    first = asyncio.run(look_together(both, admin_url, due=""))
    for done in range(count):
        asyncio.run(look_together(both, admin_url, PURGE))
        eventually(lambda: runs(both) > first + done)  # noqa: B023
    last = asyncio.run(look_together(both, admin_url, due=""))
    passed = periods(admin_url) - begun  # for each it was due once more
    assert count <= last - first <= count + passed


async def look_together(both: list[Process], admin_url: str, due: str) -> int:
    """Both connect again and look which job is due. Gives how often it had run before that."""

    def end_every_listener() -> None:
        ending = a_thread.submit(ask, admin_url, f"SELECT pg_terminate_backend(pid) {LISTENERS}")
        assert ending.result()

    with ThreadPoolExecutor(1) as a_thread:
        async with looking_together(admin_url, len(both), end_every_listener) as connection:
            ran = await asyncio.to_thread(runs, both)
            await connection.execute(SET_DUE, due)
            return ran


def runs(both: list[Process]) -> int:
    return sum(runs_of(PURGE, process) for process in both)


def periods(admin_url: str) -> int:
    """So many times ten minutes have passed since the beginning of time."""
    return ask(admin_url, "SELECT extract(epoch FROM now())::bigint / 600")[0]
