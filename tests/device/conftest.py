from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest

from tests.device.network import Network, a_network
from tests.device.support import Gatehouse
from tests.scanning.support import World, a_world
from tests.support import PATIENCE_S, Tenant
from voelgoed.services import Services


@pytest.fixture
async def world(services: Services, client: httpx.AsyncClient, tenant: Tenant) -> World:
    return await a_world(services, client, tenant, gates=2)


@pytest.fixture
async def network(url: str) -> AsyncIterator[Network]:
    async with a_network(url) as network:
        yield network


@pytest.fixture
async def line() -> AsyncIterator[httpx.AsyncClient]:
    """The HTTP client of the devices; each request has a connection of its own."""
    limits = httpx.Limits(max_keepalive_connections=0)
    async with httpx.AsyncClient(verify=False, limits=limits, timeout=PATIENCE_S) as line:
        yield line


@pytest.fixture
def gates(
    world: World, network: Network, line: httpx.AsyncClient, tmp_path: Path
) -> Iterator[Gatehouse]:
    gates = Gatehouse(world, network, line, tmp_path)
    yield gates
    for device in gates.devices:
        device.close()
