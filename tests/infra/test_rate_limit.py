import asyncio
from datetime import timedelta

import pytest

from tests.support import MovableClock, Tenant
from voelgoed.infra import rate_limit
from voelgoed.infra.rate_limit import Limit, take
from voelgoed.infra.refusal import RateLimited
from voelgoed.services import Services

TEN = Limit(10, timedelta(minutes=5))


async def attempt(services: Services, tenant: Tenant, cost: int = 1) -> bool:
    try:
        async with services.database.transaction(tenant.id) as tx:
            await take(tx, "seats", TEN, cost)
    except RateLimited:
        return False
    return True


async def test_the_eleventh_is_refused_and_told_how_long_to_wait(
    services: Services, tenant: Tenant, clock: MovableClock
):
    assert [await attempt(services, tenant) for _ in range(11)] == [True] * 10 + [False]
    clock.ahead += timedelta(minutes=2)
    with pytest.raises(RateLimited) as refused:
        async with services.database.transaction(tenant.id) as tx:
            await take(tx, "seats", TEN)
    assert 170 <= refused.value.details["retry_after_seconds"] <= 180


async def test_the_window_reopens_when_it_has_passed(
    services: Services, tenant: Tenant, clock: MovableClock
):
    assert await attempt(services, tenant, cost=10)
    assert not await attempt(services, tenant)
    clock.ahead += TEN.period
    assert await attempt(services, tenant)


async def test_a_group_that_does_not_fit_takes_nothing(services: Services, tenant: Tenant):
    assert await attempt(services, tenant, cost=8)
    assert not await attempt(services, tenant, cost=6)
    assert await attempt(services, tenant, cost=2)
    assert not await attempt(services, tenant, cost=1)


async def test_one_that_can_never_fit_is_refused_from_the_first(services: Services, tenant: Tenant):
    assert not await attempt(services, tenant, cost=11)
    assert await attempt(services, tenant, cost=10)


async def test_organisations_do_not_share_a_count(
    services: Services, tenant: Tenant, other_tenant: Tenant
):
    assert await attempt(services, tenant, cost=10)
    assert await attempt(services, other_tenant, cost=10)


async def test_fifty_at_once_get_ten(services: Services, tenant: Tenant):
    for _ in range(5):
        answers = await asyncio.gather(*(attempt(services, tenant) for _ in range(50)))
        assert sum(answers) == 10
        async with services.database.transaction(tenant.id) as tx:
            await rate_limit.give_back(tx, "seats")


async def test_control_fifty_at_once_get_more_when_counting_first_and_writing_after(
    services: Services, tenant: Tenant
):
    """The same without the protection, to show that the test above can fail."""

    async def naive() -> bool:
        async with services.database.transaction(tenant.id) as tx:
            used = await tx.value(int, "SELECT count(*) FROM whitelist") or 0
            if used >= 10:
                return False
            await asyncio.sleep(0)
            await tx.run(
                """
                INSERT INTO whitelist (organization_id, id, name, created_at)
                VALUES (current_organization(), gen_random_uuid(), gen_random_uuid()::text, now())
                """
            )
            return True

    assert sum(await asyncio.gather(*(naive() for _ in range(50)))) > 10


async def test_windows_that_are_over_are_swept(
    services: Services, tenant: Tenant, clock: MovableClock
):
    await attempt(services, tenant)
    clock.ahead += TEN.period * 2
    async with services.database.transaction(tenant.id) as tx:
        assert await rate_limit.purge(tx) == 1
