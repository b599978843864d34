"""People who buy."""

import httpx
import pytest

from tests.support import Tenant
from tests.ticketing.hold_support import Customer, customers
from voelgoed.services import Services


@pytest.fixture
async def anna(services: Services, client: httpx.AsyncClient, tenant: Tenant) -> Customer:
    [customer] = await customers(services, client, tenant, 1)
    return customer


@pytest.fixture
async def ben(services: Services, client: httpx.AsyncClient, tenant: Tenant) -> Customer:
    [customer] = await customers(services, client, tenant, 1)
    return customer
