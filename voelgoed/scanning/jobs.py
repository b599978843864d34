"""Every few seconds: figures for the operators. Every few minutes: the counters proven."""

from voelgoed.infra.database import Database
from voelgoed.infra.jobs import Jobs
from voelgoed.scanning.actions.devices import purge_pairings
from voelgoed.scanning.actions.figures import publish_figures
from voelgoed.scanning.actions.history_commit import SECOND_LOOK, DueScans
from voelgoed.scanning.actions.recount import recount_all
from voelgoed.scanning.actions.second_look import take_second_look

FIGURES_PAUSE_S = 15.0
SECOND_LOOKS_AT_ONCE_MAX = 2
EVERY_FIVE_MINUTES = "*/5 * * * *"


def register(jobs: Jobs, database: Database) -> None:
    async def figures() -> None:
        await publish_figures(database)

    async def recount() -> None:
        await recount_all(database)

    async def purge() -> None:
        for organization_id in await database.organization_ids():
            async with database.transaction(organization_id) as tx:
                await purge_pairings(tx)

    async def second_look(due: DueScans) -> None:
        await take_second_look(database, due)

    jobs.on(SECOND_LOOK, DueScans, second_look, at_once_max=SECOND_LOOKS_AT_ONCE_MAX)
    # In every process, because each publishes its own figures.
    jobs.often(FIGURES_PAUSE_S, "scanning.figures", figures)
    jobs.every(EVERY_FIVE_MINUTES, "scanning.recount", recount)
    jobs.every(EVERY_FIVE_MINUTES, "scanning.purge", purge)
