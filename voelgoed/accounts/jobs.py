"""Housekeeping: what has run out is removed, one organisation after the other."""

from voelgoed.accounts.actions.sessions import purge_dead_sessions
from voelgoed.infra import idempotency, live, rate_limit
from voelgoed.infra.database import Database
from voelgoed.infra.jobs import Jobs

EVERY_TEN_MINUTES = "*/10 * * * *"


def register(jobs: Jobs, database: Database) -> None:
    async def purge() -> None:
        await purge_what_has_run_out(database)

    jobs.every(EVERY_TEN_MINUTES, "accounts.purge", purge)


async def purge_what_has_run_out(database: Database) -> None:
    for organization_id in await database.organization_ids():
        async with database.transaction(organization_id) as tx:
            await purge_dead_sessions(tx)
            await idempotency.purge(tx)
            await rate_limit.purge(tx)
            await live.purge(tx)
