"""kill -9: what was answered is kept, what was not is done once when it is repeated."""

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any
from uuid import uuid4

import asyncpg
import httpx
import pytest

from tests.processes import (
    HANG_S,
    Installation,
    a_client,
    a_follower,
    ask,
    eventually,
    frame,
    runs_of,
)
from tests.support import a_venue

pytestmark = pytest.mark.own_database

CLIENTS = 4
KEYS_MAX = 5_000
PURGE = "accounts.purge"


class Clients:
    """They create venues, each under a key of its own and called by it, and keep the answers."""

    def __init__(self, url: str, token: str) -> None:
        self.sent: list[str] = []
        self.created: dict[str, str] = {}
        self.refused: list[dict[str, Any]] = []
        self._url, self._token = url, token
        self._enough = threading.Event()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        with ThreadPoolExecutor(CLIENTS) as pool:
            clients = [pool.submit(self._work) for _ in range(CLIENTS)]
            try:
                yield
            finally:
                self._enough.set()
        for client in clients:
            client.result()

    def _work(self) -> None:
        with a_client(self._url, self._token) as client:
            while not self._enough.is_set() and len(self.sent) < KEYS_MAX:
                self.sent.append(key := str(uuid4()))
                with suppress(httpx.TransportError):
                    self.create(client, key)
                if key not in self.created:
                    time.sleep(0.05)  # something is dead; do not fill the list meanwhile

    def create(self, client: httpx.Client, key: str) -> None:
        headers = {"Idempotency-Key": key}
        answer = client.post("/api/venues", json=a_venue(name=key), headers=headers)
        if answer.status_code == 503:
            self.refused.append(answer.json())
        else:
            self.created[key] = answer.raise_for_status().json()["data"]["id"]


def log_in(demo: dict[str, Any]) -> str:
    who = {"organization": demo["organization_slug"], **demo["users"]["owner"]}
    answer = httpx.post(f"{demo['url']}/api/sessions", json=who, trust_env=False, timeout=HANG_S)
    return answer.raise_for_status().json()["data"]["token"]


def all_venues(client: httpx.Client) -> list[tuple[str, str]]:
    found, after = [], {}
    while True:
        page = client.get("/api/venues", params={"limit": 200} | after).raise_for_status().json()
        found += [(venue["name"], venue["id"]) for venue in page["data"]]
        if page["next"] is None:
            return found
        after = {"after": page["next"]}


def check_nothing_lost_and_nothing_doubled(clients: Clients, url: str, token: str) -> None:
    with a_client(url, token) as client:
        kept = dict(all_venues(client))
        assert clients.created.items() <= kept.items()
        for key in set(clients.sent) - clients.created.keys():
            clients.create(client, key)
        venues = [venue for venue in all_venues(client) if venue[0] in set(clients.sent)]
    assert set(venues) == set(clients.created.items())
    assert set(Counter(name for name, _ in venues).values()) == {1}
    assert len(venues) == len(set(clients.sent))


def test_kill_9_of_server_and_database_loses_nothing_that_was_answered(here: Installation) -> None:
    server = here.up()
    token = log_in(here.demo)
    for database_too in (True, False):
        clients = Clients(server.url, token)
        with clients.at_work():
            eventually(lambda: len(clients.created) >= 100)  # noqa: B023
            server.end(signal.SIGKILL)
            if database_too:
                here.kill_database()
            eventually(lambda: len(clients.created) < len(clients.sent))  # noqa: B023
        server = here.up()
        check_nothing_lost_and_nothing_doubled(clients, server.url, token)


def test_kill_9_of_the_database_alone_is_outlived_by_the_server(here: Installation) -> None:
    server = here.up()
    clients = Clients(server.url, token := log_in(here.demo))
    with clients.at_work():
        eventually(lambda: len(clients.created) >= 100)
        here.kill_postmaster()
        eventually(lambda: clients.refused)
        before = len(clients.created)
        eventually(lambda: len(clients.created) >= before + 100)
    assert {refused["error"] for refused in clients.refused} == {"storage_unavailable"}
    check_nothing_lost_and_nothing_doubled(clients, server.url, token)


WAYS = {"postmaster": Installation.kill_postmaster, "all": Installation.kill_database}


@pytest.mark.parametrize("way", WAYS)
def test_a_killed_database_comes_back_by_itself_each_time(here: Installation, way: str) -> None:
    server = here.up()
    with a_client(server.url, log_in(here.demo)) as client:
        for number in range(2):
            kept = f"{way} {number}"
            client.post("/api/venues", json=a_venue(name=kept)).raise_for_status()
            WAYS[way](here)
            killed_at = time.monotonic()
            absence = client.get("/health/ready").json()
            assert absence["error"] == "storage_unavailable"
            assert absence["details"]["postgres"] in ("running", "restarting")  # if not yet noticed
            eventually(lambda: client.get("/health/ready").is_success)
            print(f"back {time.monotonic() - killed_at:.1f} s after kill -9 of: {way}")
            assert kept in dict(all_venues(client))
            eventually(lambda: server.err.count("database_back") == number + 1)  # noqa: B023
    assert server.err.count("database_gone") == 2


@pytest.mark.parametrize("late", [0.0, 0.1, 0.5])
def test_a_database_killed_while_the_server_stops_is_not_started_again(
    here: Installation, late: float
) -> None:
    server = here.up()
    pids = here.database_processes()
    with ThreadPoolExecutor(1) as pool:
        ending = pool.submit(server.end, signal.SIGTERM)
        time.sleep(late)  # a different moment of stopping each time; each must end well
        with suppress(ProcessLookupError):
            os.kill(pids[0], signal.SIGKILL)
    assert ending.result() == 0
    eventually(lambda: not here.database_processes())
    assert "database_back" not in server.err


def test_jobs_and_live_messages_go_on_after_the_database_was_away(here: Installation) -> None:
    server = here.up()
    token = log_in(demo := here.demo)
    topic = f"event:{demo['event_id']}"
    gate = f"/api/events/{demo['event_id']}/gates/{demo['gates'][0]['id']}"
    with a_client(server.url, token) as client, a_follower(server.url, token, topic) as early:
        before = rename(client, gate, "Before")
        assert frame(early)["data"]["version"] == before
        with a_follower(server.url, token, topic) as late:
            last = rename(client, gate, "Last")
            assert frame(early)["data"]["version"] == frame(late)["data"]["version"] == last
            # The numbers of live messages may be set back by this crash; no message may be missed.
            let_nobody_connect(here)
            here.kill_database()
            assert client.get("/health/ready").json()["error"] == "storage_unavailable"
            assert client.get("/health/live").status_code == 200
            ran = runs_of(PURGE, server)
            eventually(lambda: answers_superusers(here))
            let_all_connect_when_the_periodic_job_is_due(here)
            assert frame(early)["type"] == frame(late)["type"] == "resync"
            after = rename(client, gate, "After")
            assert frame(early)["data"]["version"] == frame(late)["data"]["version"] == after
    eventually(lambda: runs_of(PURGE, server) > ran)


def rename(client: httpx.Client, gate: str, name: str) -> int:
    """Gives the version that this made."""
    version = client.get(gate).raise_for_status().json()["data"]["version"]
    client.patch(gate, json={"version": version, "name": name}).raise_for_status()
    return version + 1


def let_nobody_connect(here: Installation) -> None:
    """But superusers, and those who are connected. It holds when the database is back, too."""
    url = here.postgres.url("postgres")
    eventually(lambda: ask(url, "SELECT 1 FROM pgqueuer_schedules"))
    ask(url, "ALTER DATABASE voelgoed CONNECTION LIMIT 0")


def answers_superusers(here: Installation) -> bool:
    with suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
        return ask(here.postgres.url("postgres"), "SELECT 1") == [1]
    return False


def let_all_connect_when_the_periodic_job_is_due(here: Installation) -> None:
    """A process looks what is due when it has connected again, and then by its own count."""
    url = here.postgres.url("postgres")
    due = "status = 'queued', next_run = now() - interval '1 second'"
    ask(url, f"UPDATE pgqueuer_schedules SET {due} WHERE entrypoint = '{PURGE}'")
    ask(url, "ALTER DATABASE voelgoed CONNECTION LIMIT -1")
