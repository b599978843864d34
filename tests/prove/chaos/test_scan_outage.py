"""PostgreSQL is away while people stand at the gate."""

import asyncio

import pytest

from tests.conftest import MASTER_KEY, serving
from tests.processes import HANG_S, Installation
from tests.scanning.support import a_world
from tests.seating.race_support import a_node
from tests.support import MovableClock, a_client, a_tenant

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
