"""kill -9 while a device delivers its queue: all of a batch is stored or nothing, and a repeated delivery
learns its result."""

import asyncio
import json
import signal
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from uuid import uuid4

import asyncpg
import httpx
import pytest

from tests.processes import (
    HANG_S,
    Installation,
    Process,
    ServerProcess,
    a_client,
    ask,
    eventually,
)
from tests.prove.chaos.test_kill import log_in
from tests.prove.length import luck, rounds
from tests.scanning.support import Device, World, a_world
from tests.scanning.sync_support import (
    conflicts,
    offline,
    offline_batch,
    signed,
    signed_batch,
)
from tests.seating.api_support import a_config, a_new_layout
from tests.support import Tenant, a_gate, a_venue, an_event
from tests.support import a_client as a_line
from tests.ticketing.support import a_ticket_type
from voelgoed.infra.embedded import EmbeddedPostgres
from voelgoed.scanning.actions.recount import recount_event
from voelgoed.services import Services
from voelgoed.ticketing.model.tickets import Ticket
from voelgoed.ticketing.rules.codes import code_from

pytestmark = pytest.mark.own_database

BATCH = 500
WAYS = ("server", "server and database") * rounds(1, 5)
KILLED_AFTER_S = (0.0, 0.35)
MINUTE = timedelta(minutes=1)


def codes() -> list[str]:
    random = Random(6)  # the codes are the same at every call
    return [code_from(random.randbytes(8)) for _ in range(BATCH * len(WAYS))]


def furnish(client: httpx.Client) -> tuple[str, dict[str, Any]]:
    """A live event with as many tickets as there will be scans, and a device: returns both."""

    def make(path: str, body: Any) -> Any:
        answer = client.post(path, json=body)
        assert answer.is_success, answer.text
        return answer.json().get("data", answer.json())

    config = a_config(["...."], places={"Floor": 2 * BATCH * len(WAYS)})
    venue = make("/api/venues", a_venue())["id"]
    layout = make(f"/api/venues/{venue}/layouts", a_new_layout(config))
    now = datetime.now(UTC).replace(microsecond=0)
    times = {
        "starts_at": (now - timedelta(hours=1)).isoformat(),
        "ends_at": (now + timedelta(hours=8)).isoformat(),
    }
    event = make("/api/events", an_event(venue, capacity=20_000, **times))["id"]
    path = f"/api/events/{event}"
    make(f"{path}/transitions", {"to": "published"})
    body = {"layout_id": layout["id"], "version": None}
    client.put(f"{path}/layout", json=body).raise_for_status()
    make(f"{path}/ticket-types", a_ticket_type(name="Floor", kind="ga", entitlement="ga_standing"))
    lines = ["type,zone,code", *(f"Floor,Floor,{code}" for code in codes())]
    headers = {"Content-Type": "text/csv"}
    given = client.post(f"{path}/ticket-imports", content="\n".join(lines), headers=headers)
    assert given.is_success, given.text
    imported = f"/api/ticket-imports/{given.json()['data']['id']}"
    eventually(lambda: client.get(imported).json()["data"]["status"] == "done")
    assert client.get(imported).json()["data"]["created"] == BATCH * len(WAYS)
    make(f"{path}/transitions", {"to": "live"})
    gate = make(f"{path}/gates", a_gate(status="open"))
    pairing = make("/api/scanning/pairings", {"gate_id": gate["id"], "name": "iPad"})
    return event, make("/api/scanning/pair", {"pairing_token": pairing["pairing_token"]})


def a_batch(device_id: str, some: list[str]) -> dict[str, Any]:
    begun = datetime.now(UTC) - timedelta(seconds=30)
    return {
        "batch_id": str(uuid4()),
        "device_id": device_id,
        "batch_created_at": datetime.now(UTC).isoformat(),
        "batch_size": len(some),
        "scans": [
            {
                "ticket_code": code,
                "scanned_at": (begun + timedelta(milliseconds=50 * at)).isoformat(),
            }
            for at, code in enumerate(some)
        ],
    }


def test_a_batch_is_kept_whole_or_not_at_all(here: Installation) -> None:
    random, server = luck("a batch"), here.up()
    token = log_in(here.demo)
    with a_client(server.url, token) as client:
        event, device = furnish(client)
    url, left = here.postgres.url("postgres"), codes()
    for number, way in enumerate(WAYS):
        batch = a_batch(device["device_id"], left[:BATCH])
        left = left[BATCH:]
        kept = f"SELECT count(*) FROM scan WHERE batch_id = '{batch['batch_id']}'"
        with ThreadPoolExecutor(1) as pool:
            heard = pool.submit(send, server.url, device["api_key"], batch)
            time.sleep(random.uniform(*KILLED_AFTER_S))
            server = die_and_come_back(here, server, way)
        before = ask(url, kept)[0]
        assert before in (0, BATCH)
        if heard.result() is not None:
            assert before == BATCH, "what was answered is kept"
        answer = send(server.url, device["api_key"], batch)
        assert answer is not None
        assert answer["processed_count"] == BATCH
        assert ("message" in answer) == (before == BATCH)
        assert ask(url, kept) == [BATCH]
        inside = f"SELECT inside FROM occupancy WHERE scope_id = '{event}'"
        assert ask(url, inside) == [BATCH * (number + 1)]
    others = f"SELECT count(*) FROM ticket WHERE event_id = '{event}' AND scan_count <> 1"
    assert ask(url, others) == [0]
    assert ask(url, f"SELECT count(*) FROM scan_conflict WHERE event_id = '{event}'") == [0]


def send(url: str, api_key: str, batch: dict[str, Any]) -> dict[str, Any] | None:
    """The answer; None where the server did not answer."""
    with suppress(httpx.TransportError), a_client(url, api_key) as client:
        answer = client.post("/api/scans/sync", json=batch)
        if answer.status_code == 503:
            return None
        assert answer.status_code == 200, answer.text
        return answer.json()
    return None


def die_and_come_back(here: Installation, server: Process, way: str) -> Process:
    server.end(signal.SIGKILL)
    if way == "server and database":
        here.kill_database()
    return here.up()


# In the middle of a batch: another transaction holds a row that the batch needs next.


@dataclass(frozen=True)
class Point:
    """A point at which a batch is held up, by a lock on one row, and the tables that its one statement
    writes."""

    lock: str
    written: frozenset[str]


TICKETS = Point(
    "SELECT 1 FROM ticket WHERE id = $1 FOR UPDATE",
    frozenset({"ticket", "scan", "occupancy", "batch_sync", "audit_entry"}),
)
COUNTS = Point(
    "SELECT 1 FROM occupancy WHERE scope_id = $1 FOR UPDATE",
    frozenset({"ticket", "scan", "scan_ruling", "scan_conflict", "occupancy"}),
)
TABLES = (
    "scan",
    "scan_ruling",
    "scan_conflict",
    "scan_alert",
    "ticket",
    "occupancy",
    "batch_sync",
    "audit_entry",
)


@pytest.fixture
async def world(services: Services, client: httpx.AsyncClient, tenant: Tenant) -> World:
    return await a_world(services, client, tenant)


@pytest.fixture
async def admin(
    postgres: EmbeddedPostgres, database_name: str
) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(postgres.url("postgres", database_name))
    yield connection
    await connection.close()


async def a_signed_batch(
    world: World, device: Device, tickets: list[Ticket]
) -> tuple[str, dict[str, Any]]:
    scans = [await signed(world, device, ticket, MINUTE) for ticket in tickets[:50]]
    return "/api/scanning/sync", signed_batch(device, *scans)


async def a_whole_queue(
    world: World, device: Device, tickets: list[Ticket]
) -> tuple[str, dict[str, Any]]:
    scans = [offline(world, ticket.code, MINUTE) for ticket in tickets]
    return "/api/scans/sync", offline_batch(world, device, *scans)


@pytest.mark.parametrize("make", [a_signed_batch, a_whole_queue])
@pytest.mark.parametrize("point", [TICKETS, COUNTS], ids=["tickets", "counts"])
async def test_a_server_killed_in_the_middle_of_a_batch_has_stored_nothing_of_it(
    world: World, server: ServerProcess, admin: asyncpg.Connection, make: Any, point: Point
):
    device, tickets = await world.device(), await world.tickets(60)
    assert await world.verdict(device, tickets[0].code) == "admitted"
    path, batch = await make(world, device, tickets)
    count, before = len(batch["scans"]), await tables(world)
    url = await server.start()
    async with admin.transaction():
        last = max(ticket.id for ticket in tickets[:count])
        assert await admin.fetch(point.lock, last if point is TICKETS else world.event_id)
        sending = asyncio.create_task(delivered(url, path, device, batch))
        backend = await held_up(admin, point)
        await server.kill()
    assert await sending is None
    await gone(admin, backend)
    assert await tables(world) == before

    url = await server.start()
    answer = await delivered(url, path, device, batch)
    assert answer is not None
    assert "message" not in answer, "nobody has brought it before"
    kept = await tables(world)
    assert len(kept["scan"]) == count + 1
    assert len(kept["batch_sync"]) == 1
    assert await world.rows("SELECT 1 FROM ticket WHERE scan_count > 1") == []
    assert (await world.inside())["event"] == count + 1
    assert [each["conflict"]["kind"] for each in await conflicts(world)] == ["double_entry"]
    database = world.services.database
    assert await recount_event(database, world.tenant.id, world.event_id) == []
    again = await delivered(url, path, device, batch)
    assert again is not None
    assert again.pop("message") == "Batch already synced (idempotent)"
    for each in (answer, again):
        each.pop("server_time", None), each.pop("manifest_version", None)
    assert again == answer
    assert await tables(world) == kept


async def tables(world: World) -> dict[str, list[str]]:
    """All rows in which a batch is stored."""
    found: dict[str, list[str]] = {}
    for name in TABLES:
        rows = await world.rows(f"SELECT to_jsonb({name}) AS told FROM {name}")
        found[name] = sorted(json.dumps(row["told"], sort_keys=True) for row in rows)
    return found


async def delivered(
    url: str, path: str, device: Device, batch: dict[str, Any]
) -> dict[str, Any] | None:
    """The answer; None where the server did not answer."""
    async with a_line(url) as line:
        with suppress(httpx.TransportError):
            answer = await line.post(path, json=batch, headers=device.headers)
            assert answer.status_code == 200, answer.text
            return answer.json()
    return None


async def held_up(admin: asyncpg.Connection, point: Point) -> int:
    """Waits until a transaction that has written waits for ours; returns its process at the database."""
    query = """
        SELECT pid, array(SELECT relation::regclass::text FROM pg_locks
                           WHERE pg_locks.pid = activity.pid AND mode = 'RowExclusiveLock') AS written
          FROM pg_stat_activity AS activity
         WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid)) AND backend_xid IS NOT NULL
        """
    async with asyncio.timeout(HANG_S):
        while not (waiting := await admin.fetch(query)):
            await asyncio.sleep(0.005)
            await admin.execute(
                "SELECT pg_stat_clear_snapshot()"
            )  # otherwise it would look only once
    [(pid, written)] = waiting
    assert point.written <= set(written)
    return pid


async def gone(admin: asyncpg.Connection, backend: int) -> None:
    async with asyncio.timeout(HANG_S):
        while await admin.fetch("SELECT 1 FROM pg_stat_activity WHERE pid = $1", backend):
            await asyncio.sleep(0.005)
