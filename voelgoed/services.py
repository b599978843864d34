"""The parts one process is made of, started and stopped together."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from voelgoed.accounts import jobs as accounts_jobs
from voelgoed.config import Settings
from voelgoed.infra.cache import Cache
from voelgoed.infra.clock import Clock
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.jobs import Jobs
from voelgoed.infra.live import Live
from voelgoed.seating import jobs as seating_jobs


@dataclass(frozen=True)
class Services:
    settings: Settings
    clock: Clock
    database: Database
    cache: Cache
    live: Live
    jobs: Jobs


def build_services(settings: Settings, database_url: str, clock: Clock | None = None) -> Services:
    clock = clock or Clock()
    database = Database(
        database_url, clock=clock, connections_max=settings.database_connections_max
    )
    cache = Cache(settings.redis_url)
    live = Live(database, cache.distrust, cache.forget_all)

    async def after_commit(tx: Transaction) -> None:
        if tx.dropped_keys:  # first, so that who hears of the change and reads, reads it
            live.post_dropped_keys(tx.organization_id, tx.dropped_keys)
            await cache.drop(tx.dropped_keys)
        live.post(tx.organization_id, tx.messages)

    database.after_commit = after_commit
    jobs = Jobs(database)
    accounts_jobs.register(jobs, database)
    seating_jobs.register(jobs, database, cache)
    return Services(settings, clock, database, cache, live, jobs)


@asynccontextmanager
async def running(services: Services, *, with_jobs: bool) -> AsyncGenerator[None]:
    await services.database.open()
    await services.live.start()
    if with_jobs:
        services.jobs.start()
    try:
        yield
    finally:
        await services.jobs.stop()
        await services.live.stop()
        await services.cache.close()
        await services.database.close()
