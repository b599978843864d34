"""Works that go on side by side, whose statements go to PostgreSQL as one."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import LiteralString
from uuid import UUID

import asyncpg
import msgspec
import pytest
from asyncpg.connection import LoggedQuery

from tests.support import Tenant
from voelgoed.infra.database import Transaction
from voelgoed.infra.ids import new_id
from voelgoed.infra.refusal import NotFound
from voelgoed.services import Services


class Topic(msgspec.Struct):
    topic: str
    seq: int
    touched_at: datetime


class Organization(msgspec.Struct):
    id: UUID
    name: str


@asynccontextmanager
async def counted(tx: Transaction) -> AsyncIterator[list[str]]:
    """What goes over the wire, but for what the driver asks once about types."""
    trips: list[str] = []

    def note(logged: LoggedQuery) -> None:
        if "pg_catalog" not in logged.query and "'jit'" not in logged.query:
            trips.append(logged.query)

    with tx.connection.query_logger(note):
        yield trips
        await asyncio.sleep(0)  # the driver tells at the loop's next turn


async def add(tx: Transaction, *topics: str, seq: int = 1) -> int:
    return await tx.run(
        "INSERT INTO live_topic (organization_id, topic, seq, touched_at)"
        " SELECT current_organization(), topic, $2, $3 FROM unnest($1::text[]) AS topic"
        " ON CONFLICT DO NOTHING",
        topics,
        seq,
        tx.now,
    )


async def topics(tx: Transaction) -> list[Topic]:
    return await tx.rows(Topic, "SELECT topic, seq, touched_at FROM live_topic ORDER BY topic")


async def test_each_gets_its_own_answer_after_one_round_trip(services: Services, tenant: Tenant):
    found: dict[str, object] = {}

    async def write(tx: Transaction) -> None:
        found["added"] = await add(tx, "a", "b", "c", seq=7)

    async def rename(tx: Transaction) -> None:
        found["renamed"] = await tx.run("UPDATE organization SET name = $1", "New")

    async def read(tx: Transaction, name: str) -> None:
        query = "SELECT id, name FROM organization WHERE name = $1"
        found[name] = await tx.row(Organization, query, name)

    async def lock(tx: Transaction) -> None:
        query = "SELECT pg_advisory_xact_lock(number) FROM unnest($1::integer[]) AS number"
        found["locked"] = await tx.run(query, [1, 2])

    async with services.database.transaction(tenant.id) as tx:
        async with counted(tx) as trips:
            await tx.gather(write(tx), rename(tx), read(tx, "Acme"), read(tx, "Else"), lock(tx))
        assert len(trips) == 1
        held = await tx.value(
            int,
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()",
        )
        assert held == 2, "a lock that nobody asks the result of is taken all the same"
        assert [(each.topic, each.seq, each.touched_at) for each in await topics(tx)] == [
            (name, 7, tx.now) for name in "abc"
        ]
    assert found == {
        "added": 3,
        "renamed": 1,
        "Acme": Organization(tenant.id, "Acme"),
        "Else": None,
        "locked": 2,
    }


async def test_whoever_needs_fewer_steps_holds_nobody_up(services: Services, tenant: Tenant):
    seen: list[list[str]] = []

    async def nothing() -> None:
        pass

    async def once(tx: Transaction) -> None:
        assert await add(tx, "a") == 1

    async def twice(tx: Transaction) -> None:
        seen.append([each.topic for each in await topics(tx)])
        seen.append([each.topic for each in await topics(tx)])

    async with services.database.transaction(tenant.id) as tx:
        async with counted(tx) as trips:
            await tx.gather(nothing(), once(tx), twice(tx), nothing())
            await tx.gather()
        assert len(trips) == 2
        assert await add(tx, "b") == 1, "alone again"
    assert seen == [[], ["a"]], "in one step nobody sees what others write; in the next they do"


async def test_one_who_fails_takes_all_along(services: Services, tenant: Tenant):
    went_on: list[str] = []

    async def fail() -> None:
        raise ZeroDivisionError

    async def violate(tx: Transaction) -> None:
        await tx.run("UPDATE organization SET name = $1", None)
        went_on.append("violate")

    async def write(tx: Transaction) -> None:
        await add(tx, "a")
        went_on.append("write")

    for failing, fault in (
        (lambda _: fail(), ZeroDivisionError),
        (violate, asyncpg.NotNullViolationError),
    ):
        with pytest.raises(fault):
            async with services.database.transaction(tenant.id) as tx:
                await tx.gather(write(tx), failing(tx), write(tx))
    async with services.database.transaction(tenant.id) as tx:
        assert await topics(tx) == []
    assert went_on == []


async def test_a_fault_is_told_to_each_in_its_own_place(services: Services, tenant: Tenant):
    """Also to who expects one, and whoever of them sent the statement."""
    told: list[str] = []

    async def expecting(tx: Transaction, name: str, query: LiteralString) -> None:
        try:
            await tx.run(query, None)
        except asyncpg.NotNullViolationError:
            told.append(name)
            raise

    rename: LiteralString = "UPDATE organization SET name = $1"
    insert: LiteralString = (
        "INSERT INTO live_topic (organization_id, topic, seq, touched_at)"
        " SELECT current_organization(), coalesce($1, 'a'), 1, now()"
    )
    for first, second in ((rename, insert), (insert, rename)):
        told.clear()
        with pytest.raises(asyncpg.NotNullViolationError):
            async with asyncio.timeout(60), services.database.transaction(tenant.id) as tx:
                await tx.gather(expecting(tx, "first", first), expecting(tx, "second", second))
        assert sorted(told) == ["first", "second"]


async def test_the_order_of_works_is_that_of_their_statements_in_every_step(
    services: Services, tenant: Tenant
):
    names: list[LiteralString] = ["one", "two", "three", "four"]

    async def twice(tx: Transaction, name: LiteralString) -> None:
        for _ in range(2):
            await tx.run("SELECT pg_advisory_xact_lock($1) AS " + name, 1)

    async with services.database.transaction(tenant.id) as tx, counted(tx) as trips:
        await tx.gather(*(twice(tx, name) for name in names))
    assert [re.findall(r"AS (one|two|three|four)\b", trip) for trip in trips] == [names, names]


async def test_parameters_keep_their_numbers(services: Services, tenant: Tenant):
    """Also beyond nine."""
    marks = [str(new_id()) for _ in range(12)]
    async with services.database.transaction(tenant.id) as tx:

        async def one(mark: str) -> None:
            assert await add(tx, mark, seq=len(mark)) == 1

        await tx.gather(*(one(mark) for mark in marks))
        assert [each.topic for each in await topics(tx)] == sorted(marks)


async def test_a_fault_that_one_of_them_knows_is_told_in_its_words(
    services: Services, tenant: Tenant
):
    async def violate(tx: Transaction) -> None:
        try:
            await tx.run("UPDATE organization SET name = $1", None)
        except asyncpg.NotNullViolationError:
            raise NotFound() from None

    async def write(tx: Transaction) -> None:
        await add(tx, "a")

    for works in ((violate, write), (write, violate)):
        with pytest.raises(NotFound):
            async with services.database.transaction(tenant.id) as tx:
                await tx.gather(*(work(tx) for work in works))


async def test_who_waits_for_something_else_is_told_so(services: Services, tenant: Tenant):
    async with services.database.transaction(tenant.id) as tx:
        with pytest.raises(TypeError, match="PostgreSQL and nothing else"):
            await tx.gather(add(tx, "a"), asyncio.sleep(0.001))
        assert await add(tx, "b") == 1, "alone again"
