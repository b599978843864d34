"""Every few minutes: caches compared with PostgreSQL, figures for the operators."""

from voelgoed.infra.cache import Cache
from voelgoed.infra.database import Database
from voelgoed.infra.jobs import Jobs
from voelgoed.seating.actions.rebuild import publish_figures, rebuild_all

EVERY_FIVE_MINUTES = "*/5 * * * *"


def register(jobs: Jobs, database: Database, cache: Cache) -> None:
    async def rebuild() -> None:
        await rebuild_all(database, cache)
        await publish_figures(database, cache)

    jobs.every(EVERY_FIVE_MINUTES, "seating.rebuild", rebuild)
