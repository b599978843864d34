"""PostgreSQL is away while people stand at the gate."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import psutil
import pytest

from tests.conftest import MASTER_KEY, serving
from tests.processes import HANG_S, Installation
from tests.scanning.support import a_world
from tests.seating.race_support import a_node
from tests.support import MovableClock, a_client, a_tenant
from voelgoed.infra import database
from voelgoed.infra.embedded import EmbeddedPostgres
from voelgoed.scanning.actions import scan_pipeline

pytestmark = pytest.mark.own_database


async def test_without_postgresql_a_device_is_told_to_decide_itself_and_afterwards_is_answered(
    here: Installation, clock: MovableClock
):
    cluster = here.postgres
    await asyncio.to_thread(cluster.start)
    try:
        async with (
            a_node(cluster.url(), clock, master_key=MASTER_KEY) as services,
            serving(services) as url,
            a_client(url) as client,
        ):
            world = await a_world(services, client, await a_tenant(services, "acme"))
            device, (known, new) = await world.device(), await world.tickets(2)
            assert await world.verdict(device, known.code) == "admitted"
            sent = world.body(device, new.code)
            await asyncio.to_thread(cluster.stop)
            for body in (sent, world.body(device, known.code)):
                answer = await client.post("/api/scans", json=body, headers=device.headers)
                assert answer.status_code == 503, "no false admission, not even a denial by memory"
                assert answer.json()["fallback"] == "offline"
                assert answer.json()["error"] == "storage_unavailable"
                assert 1 <= int(answer.headers["Retry-After"]) <= 5, "not all at once"
            await asyncio.to_thread(cluster.start)
            async with asyncio.timeout(HANG_S):
                while answer.status_code != 200:
                    await asyncio.sleep(0.05)
                    answer = await client.post("/api/scans", json=sent, headers=device.headers)
            assert answer.json()["status"] == "admitted"
            assert answer.json()["scan_id"] == sent["scan_id"]
            assert len(await world.rows("SELECT 1 FROM scan")) == 2
    finally:
        await asyncio.to_thread(cluster.stop)


@contextmanager
def frozen(cluster: EmbeddedPostgres) -> Iterator[None]:
    """PostgreSQL is alive to the kernel: connections are accepted and never answered."""
    postmaster = psutil.Process(int((cluster.data / "postmaster.pid").read_text().split()[0]))
    postmaster.send_signal(signal.SIGSTOP)  # first, so that it starts no more
    processes = [postmaster, *postmaster.children(recursive=True)]
    for each in processes:
        each.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for each in processes:
            each.send_signal(signal.SIGCONT)


async def test_while_postgresql_is_frozen_a_device_is_told_to_decide_itself(
    here: Installation, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
):
    """More requests than there are connections: each is answered before PostgreSQL is, and afterwards each of
    them is one scan."""
    monkeypatch.setattr(scan_pipeline, "BUSY_S", 0.1)
    cluster = here.postgres
    await asyncio.to_thread(cluster.start)
    try:
        async with (
            a_node(cluster.url(), clock, master_key=MASTER_KEY) as services,
            serving(services) as url,
            a_client(url) as client,
        ):
            world = await a_world(services, client, await a_tenant(services, "acme"))
            device, tickets = await world.device(), await world.tickets(2)
            bodies = [world.body(device, tickets[0].code), world.body(device, tickets[1].code)]

            async def ask(body: dict[str, object]) -> httpx.Response:
                return await client.post("/api/scans", json=body, headers=device.headers)

            monkeypatch.setattr(scan_pipeline, "ANSWER_S", 20.0)
            assert (await ask(bodies[0])).json()["status"] == "admitted"
            await services.scans.is_idle()
            monkeypatch.setattr(scan_pipeline, "ANSWER_S", 0.3)
            with frozen(cluster):
                for _ in range(database.AT_ONCE_CONNECTIONS_MAX + 2):
                    answer = await ask(bodies[1])
                    assert answer.status_code == 503, answer.text
                    assert answer.json()["fallback"] == "offline"
            monkeypatch.setattr(scan_pipeline, "ANSWER_S", 20.0)
            async with asyncio.timeout(HANG_S):
                while answer.status_code != 200:
                    answer = await ask(bodies[1])
            assert answer.json()["status"] == "admitted"
            assert (await world.inside())["event"] == 2
            assert len(await world.rows("SELECT 1 FROM scan")) == 2
    finally:
        await asyncio.to_thread(cluster.stop)
