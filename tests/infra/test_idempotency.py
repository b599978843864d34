import asyncio
from datetime import timedelta
from uuid import UUID, uuid4

import msgspec
import pytest

from tests.support import MovableClock, Tenant
from voelgoed.infra import idempotency
from voelgoed.infra.idempotency import (
    IdempotencyKey,
    IdempotencyKeyReused,
    keep_answers,
    kept_answers,
    once,
)
from voelgoed.services import Services

ACTOR = uuid4()


class Made(msgspec.Struct):
    id: UUID


async def make(services: Services, tenant: Tenant, key: IdempotencyKey | None) -> Made:
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
    key = IdempotencyKey(ACTOR, "k", b"body")
    assert await make(services, tenant, key) == await make(services, tenant, key)
    assert await made(services, tenant) == 1


async def test_another_body_under_the_same_key_is_refused(services: Services, tenant: Tenant):
    await make(services, tenant, IdempotencyKey(ACTOR, "k", b"body"))
    with pytest.raises(IdempotencyKeyReused):
        await make(services, tenant, IdempotencyKey(ACTOR, "k", b"other"))


async def test_keys_belong_to_one_actor_and_one_organisation(
    services: Services, tenant: Tenant, other_tenant: Tenant
):
    answers = [
        await make(services, tenant, IdempotencyKey(ACTOR, "k", b"body")),
        await make(services, tenant, IdempotencyKey(uuid4(), "k", b"body")),
        await make(services, other_tenant, IdempotencyKey(ACTOR, "k", b"body")),
    ]
    assert len({answer.id for answer in answers}) == 3


async def test_a_failed_first_attempt_leaves_the_key_free(services: Services, tenant: Tenant):
    key = IdempotencyKey(ACTOR, "k", b"body")

    async def fail() -> Made:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        async with services.database.transaction(tenant.id) as tx:
            await once(tx, key, Made, fail)
    await make(services, tenant, key)
    assert await made(services, tenant) == 1


async def test_ten_at_once_with_one_key_do_it_once(services: Services, tenant: Tenant):
    for number in range(1, 11):
        key = IdempotencyKey(ACTOR, f"k{number}", b"body")
        answers = await asyncio.gather(*(make(services, tenant, key) for _ in range(10)))
        assert len({answer.id for answer in answers}) == 1
        assert await made(services, tenant) == number


async def test_control_ten_at_once_without_a_key_do_it_ten_times(
    services: Services, tenant: Tenant
):
    await asyncio.gather(*(make(services, tenant, None) for _ in range(10)))
    assert await made(services, tenant) == 10


async def test_old_keys_are_forgotten(services: Services, tenant: Tenant, clock: MovableClock):
    key = IdempotencyKey(ACTOR, "k", b"body")
    await make(services, tenant, key)
    clock.ahead += idempotency.KEPT + timedelta(seconds=1)
    async with services.database.transaction(tenant.id) as tx:
        assert await idempotency.purge(tx) == 1


# Many answers at once.


async def keep(
    services: Services, tenant: Tenant, answers: dict[IdempotencyKey, Made]
) -> list[IdempotencyKey]:
    async with services.database.transaction(tenant.id) as tx:
        return await keep_answers(tx, answers)


async def kept(
    services: Services, tenant: Tenant, *keys: IdempotencyKey
) -> dict[IdempotencyKey, Made | IdempotencyKeyReused]:
    async with services.database.transaction(tenant.id) as tx:
        return await kept_answers(tx, keys, Made)


async def test_many_answers_are_kept_and_given_again(services: Services, tenant: Tenant):
    answers = {IdempotencyKey(uuid4(), f"k{number}", b"body"): Made(uuid4()) for number in range(5)}
    assert await keep(services, tenant, answers) == []
    unused = IdempotencyKey(ACTOR, "unused", b"body")
    assert await kept(services, tenant, *answers, unused) == answers
    assert await kept(services, tenant) == {}
    assert await keep(services, tenant, {}) == []


async def test_a_kept_answer_is_given_for_the_same_request_only(services: Services, tenant: Tenant):
    key, other = IdempotencyKey(ACTOR, "k", b"body"), IdempotencyKey(ACTOR, "k", b"other")
    await keep(services, tenant, {key: Made(uuid4())})
    found = await kept(services, tenant, key, other)
    assert isinstance(found[key], Made)
    assert isinstance(found[other], IdempotencyKeyReused)


async def test_kept_answers_belong_to_one_actor_and_one_organisation(
    services: Services, tenant: Tenant, other_tenant: Tenant
):
    key = IdempotencyKey(ACTOR, "k", b"body")
    await keep(services, tenant, {key: Made(uuid4())})
    assert await kept(services, tenant, IdempotencyKey(uuid4(), "k", b"body")) == {}
    assert await kept(services, other_tenant, key) == {}


async def test_keys_are_not_mixed_up_with_other_actors_keys(services: Services, tenant: Tenant):
    """Two actors, two keys, and of the four pairs two that were used."""
    other = uuid4()
    used = {
        IdempotencyKey(ACTOR, "a", b"body"): Made(uuid4()),
        IdempotencyKey(other, "b", b"body"): Made(uuid4()),
    }
    await keep(services, tenant, used)
    crosswise = [IdempotencyKey(ACTOR, "b", b"body"), IdempotencyKey(other, "a", b"body")]
    assert await kept(services, tenant, *used, *crosswise) == used


async def test_a_key_that_was_used_is_given_back_and_its_answer_stays(
    services: Services, tenant: Tenant
):
    key, new = IdempotencyKey(ACTOR, "k", b"body"), IdempotencyKey(ACTOR, "new", b"body")
    first = Made(uuid4())
    await keep(services, tenant, {key: first})
    assert await keep(services, tenant, {key: Made(uuid4()), new: Made(uuid4())}) == [key]
    assert (await kept(services, tenant, key))[key] == first


async def test_of_two_requests_under_one_key_one_is_kept(services: Services, tenant: Tenant):
    one, two = IdempotencyKey(ACTOR, "k", b"one"), IdempotencyKey(ACTOR, "k", b"two")
    [given_back] = await keep(services, tenant, {one: Made(uuid4()), two: Made(uuid4())})
    found = await kept(services, tenant, one, two)
    assert isinstance(found[given_back], IdempotencyKeyReused)
    assert sum(isinstance(each, Made) for each in found.values()) == 1


async def test_an_answer_that_cannot_be_read_any_more_is_none(services: Services, tenant: Tenant):
    """Kept by another version of this program: it takes nobody else's with it."""

    class Old(msgspec.Struct):
        number: int

    key, other = IdempotencyKey(ACTOR, "k", b"body"), IdempotencyKey(ACTOR, "other", b"body")
    async with services.database.transaction(tenant.id) as tx:
        await keep_answers(tx, {key: Old(1)})
    await keep(services, tenant, {other: Made(uuid4())})
    found = await kept(services, tenant, key, other)
    assert isinstance(found[key], IdempotencyKeyReused)
    assert isinstance(found[other], Made)


async def test_one_at_a_time_and_many_at_once_share_their_keys(services: Services, tenant: Tenant):
    key = IdempotencyKey(ACTOR, "k", b"body")
    answer = await make(services, tenant, key)
    assert await kept(services, tenant, key) == {key: answer}
    assert await keep(services, tenant, {key: Made(uuid4())}) == [key]
    other = IdempotencyKey(ACTOR, "other", b"body")
    await keep(services, tenant, {other: Made(ACTOR)})
    assert await make(services, tenant, other) == Made(ACTOR)


async def test_of_ten_who_keep_an_answer_at_once_one_does(services: Services, tenant: Tenant):
    for number in range(10):
        keys = [
            IdempotencyKey(ACTOR, f"k{number}", b"body"),
            IdempotencyKey(ACTOR, f"l{number}", b"body"),
        ]
        given_back = await asyncio.gather(
            *(
                keep(services, tenant, {key: Made(uuid4()) for key in keys[:: 1 if n % 2 else -1]})
                for n in range(10)
            )
        )
        assert sorted(map(len, given_back)) == [0] + [2] * 9, "all of them, in one order"
