"""People who buy."""

import httpx
import pytest

from tests.support import Tenant
from tests.ticketing.hold_support import Customer, customers
from voelgoed.infra import cache as cache_module
from voelgoed.services import Services


@pytest.fixture
async def anna(services: Services, client: httpx.AsyncClient, tenant: Tenant) -> Customer:
    [customer] = await customers(services, client, tenant, 1)
    return customer


@pytest.fixture
async def ben(services: Services, client: httpx.AsyncClient, tenant: Tenant) -> Customer:
    [customer] = await customers(services, client, tenant, 1)
    return customer


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that is busy with other tests is not a Valkey that is away."""
    monkeypatch.setattr(cache_module, "WARM_TIMEOUT_S", 5.0)
