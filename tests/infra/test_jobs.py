import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import asyncpg
import msgspec
import pytest
from pgqueuer.adapters.persistence.queries import Queries
from pgqueuer.db import AsyncpgDriver

from tests.infra.jobs_support import HANG_S, SET_DUE, a_connection, looking_together
from tests.support import Tenant
from voelgoed.infra import jobs as module
from voelgoed.infra.embedded import EmbeddedPostgres
from voelgoed.infra.jobs import Jobs, enqueue
from voelgoed.services import Services

pytestmark = pytest.mark.own_database


class Greeting(msgspec.Struct):
    name: str


class Desk:
    """Does the jobs and remembers them; refuses the first few when told to."""

    def __init__(self, refusals: int = 0) -> None:
        self.refusals = refusals
        self.done: list[str] = []
        self.changed = asyncio.Event()

    async def work(self, greeting: Greeting) -> None:
        if self.refusals:
            self.refusals -= 1
            raise ZeroDivisionError("not yet")
        self.done.append(greeting.name)
        self.changed.set()

    async def until(self, count: int) -> list[str]:
        async with asyncio.timeout(HANG_S):
            while len(self.done) < count:
                await self.changed.wait()
                self.changed.clear()
        return self.done


@asynccontextmanager
async def working(services: Services, desk: Desk) -> AsyncIterator[Jobs]:
    jobs = Jobs(services.database)
    jobs.on("greet", Greeting, desk.work)
    jobs.start()
    try:
        yield jobs
    finally:
        await jobs.stop()


async def ask(services: Services, tenant: Tenant, name: str, **how: object) -> None:
    async with services.database.transaction(tenant.id) as tx:
        await enqueue(tx, "greet", Greeting(name), **how)  # type: ignore[arg-type]


async def test_a_job_runs_after_its_transaction_and_never_without_it(
    services: Services, tenant: Tenant
):
    desk = Desk()
    async with working(services, desk):
        with pytest.raises(ZeroDivisionError):
            async with services.database.transaction(tenant.id) as tx:
                await enqueue(tx, "greet", Greeting("never"))
                raise ZeroDivisionError
        await ask(services, tenant, "Anna")
        assert await desk.until(1) == ["Anna"]


async def test_a_job_waits_for_its_time(
    services: Services,
    tenant: Tenant,
    postgres: EmbeddedPostgres,
    database_name: str,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(module, "POLL", timedelta(milliseconds=50))
    desk = Desk()
    async with working(services, desk):
        await ask(services, tenant, "later", after=timedelta(hours=1))
        await ask(services, tenant, "now")
        assert await desk.until(1) == ["now"]
        async with a_connection(postgres.url("postgres", database_name)) as admin:
            await admin.execute("UPDATE pgqueuer SET execute_after = now()")  # the hour is over
        assert await desk.until(2) == ["now", "later"]


async def test_the_same_job_waits_only_once(services: Services, tenant: Tenant):
    desk = Desk()
    for _ in range(3):
        await ask(services, tenant, "once", only_once_as="greet:once")
    async with working(services, desk):
        await ask(services, tenant, "other")
        assert sorted(await desk.until(2)) == ["once", "other"]


async def test_two_workers_do_each_job_once(services: Services, tenant: Tenant):
    desk = Desk()
    async with working(services, desk), working(services, desk):
        for number in range(50):
            await ask(services, tenant, str(number))
        assert sorted(await desk.until(50), key=int) == [str(number) for number in range(50)]


async def test_a_failing_job_is_tried_again(
    services: Services, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "FIRST_RETRY", timedelta(milliseconds=10))
    monkeypatch.setattr(module, "POLL", timedelta(milliseconds=50))
    desk = Desk(refusals=2)
    async with working(services, desk):
        await ask(services, tenant, "at last")
        assert await desk.until(1) == ["at last"]


async def test_work_goes_on_after_the_connection_was_lost(
    services: Services,
    tenant: Tenant,
    postgres: EmbeddedPostgres,
    database_name: str,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(module, "RESTART_S", 0.05)
    desk = Desk()
    async with working(services, desk):
        await ask(services, tenant, "before")
        await desk.until(1)
        admin = await asyncpg.connect(postgres.url("postgres", "postgres"))
        await admin.execute(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = $1 AND application_name = 'voelgoed-listener'
            """,
            database_name,
        )
        await admin.close()
        await ask(services, tenant, "after")
        assert await desk.until(2) == ["before", "after"]


async def test_a_periodic_job_runs_in_one_of_two_workers(
    services: Services, postgres: EmbeddedPostgres, database_name: str
):
    runs: list[int] = []
    ran = asyncio.Event()

    def worker(number: int) -> Jobs:
        async def tick() -> None:
            runs.append(number)
            ran.set()

        jobs = Jobs(services.database)
        jobs.every("0 0 1 1 *", "tick", tick)
        return jobs

    def start() -> None:
        for jobs in workers:
            jobs.start()

    workers = [worker(number) for number in range(2)]
    try:
        admin_url = postgres.url("postgres", database_name)
        async with looking_together(admin_url, len(workers), start) as connection:
            await connection.execute(SET_DUE, "tick")
        async with asyncio.timeout(HANG_S):
            await ran.wait()
    finally:
        for jobs in workers:
            await jobs.stop()  # when it has done what it began
    assert len(runs) == 1


async def test_our_migration_makes_what_the_library_expects(
    postgres: EmbeddedPostgres, database_name: str
):
    connection = await asyncpg.connect(postgres.url("voelgoed_owner", database_name))
    try:
        plan = await Queries(AsyncpgDriver(connection)).plan_upgrade()
    finally:
        await connection.close()
    assert list(plan.statements) == []
