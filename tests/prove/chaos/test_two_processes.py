"""Two `voelgoed serve` on one database are one system, with no Redis between them."""

import asyncio
import os
import time
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import httpx
import pytest

from tests.processes import (
    HANG_S,
    Process,
    a_client,
    a_follower,
    ask,
    eventually,
    frame,
    runs_of,
    servers,
)
from tests.support import PASSWORD, Tenant, a_gate, a_tenant, a_venue, an_event
from voelgoed.config import Settings
from voelgoed.infra.embedded import EmbeddedPostgres
from voelgoed.services import build_services

pytestmark = pytest.mark.own_database

TEN_MINUTES_S = 600
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
        ask(
            admin_url, f"ALTER DATABASE {database_name} CONNECTION LIMIT 0"
        )  # superusers are exempt
        end_every_listener(admin_url)
        # Its jobs may have the connection that it kept, and then it gets no other.
        renamed = {"name": "Unheard"}
        eventually(lambda: writer.patch("/api/organization", json=renamed).is_success)
        time.sleep(0.3)  # it is told to all who listen: nobody
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
    if datetime.now().timestamp() % TEN_MINUTES_S > TEN_MINUTES_S - 20:
        time.sleep(22)  # or it would become due a second time meanwhile
    eventually(lambda: ask(admin_url, "SELECT 1 FROM pgqueuer_schedules"))
    before = sum(runs_of("accounts.purge", process) for process in both)
    ask(admin_url, "UPDATE pgqueuer_schedules SET next_run = now() - interval '1 second'")
    end_every_listener(admin_url)  # who connects again looks at once for what is due
    eventually(lambda: sum(runs_of("accounts.purge", process) for process in both) > before)
    everyone_listens(admin_url)
    time.sleep(0.5)
    assert sum(runs_of("accounts.purge", process) for process in both) == before + 1
