import asyncio
from collections.abc import Mapping
from datetime import timedelta
from random import Random

import asyncpg
import pytest

from tests.support import MovableClock, Tenant
from voelgoed.infra import rate_limit
from voelgoed.infra.rate_limit import Limit, Window, take, take_all, windows
from voelgoed.infra.refusal import RateLimited, StorageUnavailable
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


async def test_control_all_at_once_get_it_when_counting_first_and_writing_after(
    services: Services, tenant: Tenant
):
    """The same without the protection, to show that the test above can fail."""
    counted = asyncio.Barrier(8)

    async def naive() -> bool:
        async with services.database.transaction(tenant.id) as tx:
            used = await tx.value(int, "SELECT count(*) FROM whitelist") or 0
            if used >= 5:
                return False
            await counted.wait()
            await tx.run(
                """
                INSERT INTO whitelist (organization_id, id, name, created_at)
                VALUES (current_organization(), gen_random_uuid(), gen_random_uuid()::text, now())
                """
            )
            return True

    assert sum(await asyncio.gather(*(naive() for _ in range(8)))) == 8


async def test_windows_that_are_over_are_swept(
    services: Services, tenant: Tenant, clock: MovableClock
):
    await attempt(services, tenant)
    clock.ahead += TEN.period * 2
    async with services.database.transaction(tenant.id) as tx:
        assert await rate_limit.purge(tx) == 1


# Many keys at once.


async def attempt_all(
    services: Services, tenant: Tenant, costs: Mapping[str, int], limit: Limit = TEN
) -> bool:
    """As whoever uses it must: all of it, or nothing stays."""
    try:
        async with services.database.transaction(tenant.id) as tx:
            if not await take_all(tx, costs, dict.fromkeys(costs, limit)):
                raise RateLimited()
    except RateLimited:
        return False
    return True


async def used(services: Services, tenant: Tenant) -> dict[str, int]:
    async with services.database.transaction(tenant.id) as tx:
        rows = await tx.connection.fetch("SELECT key, used FROM rate_limit")
    return {row["key"]: row["used"] for row in rows}


async def open_windows(services: Services, tenant: Tenant, *keys: str) -> dict[str, Window]:
    async with services.database.transaction(tenant.id) as tx:
        return await windows(tx, keys)


async def test_many_keys_are_counted_together(services: Services, tenant: Tenant):
    assert await attempt_all(services, tenant, {"b": 3, "a": 10, "c": 1})
    assert await attempt_all(services, tenant, {"b": 7, "c": 2})
    assert await used(services, tenant) == {"a": 10, "b": 10, "c": 3}


async def test_where_one_key_has_not_that_much_left_nothing_is_counted(
    services: Services, tenant: Tenant
):
    assert await attempt_all(services, tenant, {"a": 8})
    assert not await attempt_all(services, tenant, {"a": 3, "b": 1})
    assert not await attempt_all(services, tenant, {"b": 1, "c": 11}), "which never fits"
    assert await used(services, tenant) == {"a": 8}
    assert await attempt_all(services, tenant, {"a": 2, "b": 1})


async def test_each_key_has_its_own_limit(services: Services, tenant: Tenant):
    limits = {"user": Limit(2, timedelta(minutes=5)), "address": Limit(50, timedelta(hours=1))}

    async def take_both(cost: int) -> bool:
        async with services.database.transaction(tenant.id) as tx:
            return await take_all(tx, dict.fromkeys(limits, cost), limits)

    assert await take_both(2)
    found = await open_windows(services, tenant, "user", "address")
    assert found["address"].ends_at - found["user"].ends_at == timedelta(minutes=55)
    assert not await take_both(1)


async def test_nothing_to_count_is_granted(services: Services, tenant: Tenant):
    assert await attempt_all(services, tenant, {})


async def test_windows_of_many_keys_reopen_each_when_it_has_passed(
    services: Services, tenant: Tenant, clock: MovableClock
):
    assert await attempt_all(services, tenant, {"a": 10})
    clock.ahead += timedelta(minutes=3)
    assert await attempt_all(services, tenant, {"b": 10})
    clock.ahead += timedelta(minutes=2)
    assert not await attempt_all(services, tenant, {"a": 1, "b": 1})
    assert await attempt_all(services, tenant, {"a": 4})
    assert await used(services, tenant) == {"a": 4, "b": 10}


async def test_open_windows_tell_how_much_was_used_and_until_when(
    services: Services, tenant: Tenant, other_tenant: Tenant, clock: MovableClock
):
    assert await open_windows(services, tenant, "a", "b") == {}
    await attempt_all(services, tenant, {"a": 4, "c": 1})
    found = await open_windows(services, tenant, "a", "b")
    assert set(found) == {"a"}
    assert (found["a"].key, found["a"].used) == ("a", 4)
    left = found["a"].ends_at - clock.now()
    assert timedelta(minutes=4, seconds=30) < left <= TEN.period
    assert await open_windows(services, other_tenant, "a") == {}, "each organisation has its own"
    assert await open_windows(services, tenant) == {}
    clock.ahead += TEN.period
    assert await open_windows(services, tenant, "a") == {}, "it has passed"


async def test_one_key_and_many_keys_count_the_same(services: Services, tenant: Tenant):
    assert await attempt(services, tenant, cost=6)
    assert not await attempt_all(services, tenant, {"seats": 5})
    assert await attempt_all(services, tenant, {"seats": 4})
    assert not await attempt(services, tenant)


async def test_many_at_once_get_no_more_than_there_is_and_never_wait_in_a_circle(
    services: Services, tenant: Tenant
):
    """A circle would be an error, not a refusal, and fail here."""
    random = Random(3)
    keys = list("abcdef")
    wishes = [
        {key: random.randint(1, 3) for key in random.sample(keys, random.randint(1, 4))}
        for _ in range(60)
    ]
    granted = await asyncio.gather(*(attempt_all(services, tenant, wish) for wish in wishes))
    got = [wish for wish, was in zip(wishes, granted, strict=True) if was]
    total = {key: sum(wish.get(key, 0) for wish in got) for key in keys}
    assert await used(services, tenant) == {key: count for key, count in total.items() if count}
    assert all(count <= 10 for count in total.values())
    assert got


async def test_control_many_at_once_in_their_own_order_wait_in_a_circle(
    services: Services, tenant: Tenant
):
    await attempt_all(services, tenant, {"a": 1, "b": 1})
    half_way = asyncio.Barrier(2)

    async def one_by_one(*keys: str) -> bool:
        try:
            async with services.database.transaction(tenant.id) as tx:
                await take(tx, keys[0], TEN)
                await half_way.wait()
                await take(tx, keys[1], TEN)
        except StorageUnavailable as busy:
            return isinstance(busy.__cause__, asyncpg.DeadlockDetectedError)
        return False

    assert sum(await asyncio.gather(one_by_one("a", "b"), one_by_one("b", "a"))) == 1
