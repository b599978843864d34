import asyncio
from datetime import timedelta
from uuid import UUID, uuid4

import msgspec
import pytest

from tests.support import MovableClock, Tenant
from voelgoed.infra import idempotency
from voelgoed.infra.idempotency import IdempotencyKeyReused, Once, once
from voelgoed.services import Services

ACTOR = uuid4()


class Made(msgspec.Struct):
    id: UUID


async def make(services: Services, tenant: Tenant, key: Once | None) -> Made:
    async def work() -> Made:
        await tx.run(
            """
            INSERT INTO whitelist (organization_id, id, name, created_at)
            VALUES (current_organization(), gen_random_uuid(), gen_random_uuid()::text, now())
            """
        )
        return Made(uuid4())

    async with services.database.transaction(tenant.id) as tx:
        return await once(tx, key, Made, work)


async def made(services: Services, tenant: Tenant) -> int:
    async with services.database.transaction(tenant.id) as tx:
        return await tx.value(int, "SELECT count(*) FROM whitelist") or 0


async def test_the_second_time_gives_the_first_answer(services: Services, tenant: Tenant):
    key = Once(ACTOR, "k", b"body")
    assert await make(services, tenant, key) == await make(services, tenant, key)
    assert await made(services, tenant) == 1


async def test_another_body_under_the_same_key_is_refused(services: Services, tenant: Tenant):
    await make(services, tenant, Once(ACTOR, "k", b"body"))
    with pytest.raises(IdempotencyKeyReused):
        await make(services, tenant, Once(ACTOR, "k", b"other"))


async def test_keys_belong_to_one_actor_and_one_organisation(
    services: Services, tenant: Tenant, other_tenant: Tenant
):
    answers = [
        await make(services, tenant, Once(ACTOR, "k", b"body")),
        await make(services, tenant, Once(uuid4(), "k", b"body")),
        await make(services, other_tenant, Once(ACTOR, "k", b"body")),
    ]
    assert len({answer.id for answer in answers}) == 3


async def test_a_failed_first_attempt_leaves_the_key_free(services: Services, tenant: Tenant):
    key = Once(ACTOR, "k", b"body")

    async def fail() -> Made:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        async with services.database.transaction(tenant.id) as tx:
            await once(tx, key, Made, fail)
    await make(services, tenant, key)
    assert await made(services, tenant) == 1


async def test_ten_at_once_with_one_key_do_it_once(services: Services, tenant: Tenant):
    for number in range(1, 11):
        key = Once(ACTOR, f"k{number}", b"body")
        answers = await asyncio.gather(*(make(services, tenant, key) for _ in range(10)))
        assert len({answer.id for answer in answers}) == 1
        assert await made(services, tenant) == number


async def test_control_ten_at_once_without_a_key_do_it_ten_times(
    services: Services, tenant: Tenant
):
    await asyncio.gather(*(make(services, tenant, None) for _ in range(10)))
    assert await made(services, tenant) == 10


async def test_old_keys_are_forgotten(services: Services, tenant: Tenant, clock: MovableClock):
    key = Once(ACTOR, "k", b"body")
    await make(services, tenant, key)
    clock.ahead += idempotency.KEPT + timedelta(seconds=1)
    async with services.database.transaction(tenant.id) as tx:
        assert await idempotency.purge(tx) == 1
