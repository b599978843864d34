import httpx
import pytest

from tests.scanning.support import World, a_world
from tests.support import Tenant
from voelgoed.services import Services


@pytest.fixture
async def world(services: Services, client: httpx.AsyncClient, tenant: Tenant) -> World:
    return await a_world(services, client, tenant, gates=2)
