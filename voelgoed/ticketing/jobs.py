"""Every second: holds whose time is over are swept away. And letters are sent, and files imported."""

from voelgoed.infra.cache import Cache
from voelgoed.infra.database import Database
from voelgoed.infra.jobs import Jobs
from voelgoed.ticketing.actions.hold_changes import sweep_all
from voelgoed.ticketing.actions.hold_registry import HoldRegistry
from voelgoed.ticketing.actions.import_batch import Context
from voelgoed.ticketing.actions.import_run import run_import
from voelgoed.ticketing.actions.imports import JOB as IMPORT
from voelgoed.ticketing.actions.imports import ImportJob, give_up_abandoned
from voelgoed.ticketing.actions.issuing import LETTER, Letter
from voelgoed.ticketing.actions.letters import PATIENCE, SENT_AT_ONCE_MAX, Letters
from voelgoed.ticketing.actions.order_expiry import expire_orders
from voelgoed.ticketing.actions.reconcile import reconcile_all

SWEEP_PAUSE_S = 1.0
EVERY_FIVE_MINUTES = "*/5 * * * *"
EVERY_HOUR = "17 * * * *"
IMPORTS_AT_ONCE_MAX = 2


def register(jobs: Jobs, database: Database, cache: Cache, registry: HoldRegistry) -> None:
    async def sweep() -> None:
        await sweep_all(database, cache, registry)

    async def expire() -> None:
        await expire_orders(database)

    async def reconcile() -> None:
        await reconcile_all(database, cache, registry)

    jobs.often(SWEEP_PAUSE_S, "ticketing.sweep", sweep)
    jobs.every(EVERY_FIVE_MINUTES, "ticketing.reconcile", reconcile)
    jobs.often(SWEEP_PAUSE_S, "ticketing.expire_orders", expire)


def register_letters(jobs: Jobs, letters: Letters) -> None:
    jobs.on(LETTER, Letter, letters.send, patience=PATIENCE, at_once_max=SENT_AT_ONCE_MAX)


def register_imports(jobs: Jobs, context: Context) -> None:
    async def run(job: ImportJob) -> None:
        await run_import(context, job)

    async def give_up() -> None:
        await give_up_abandoned(context.database)

    jobs.on(IMPORT, ImportJob, run, at_once_max=IMPORTS_AT_ONCE_MAX)
    jobs.every(EVERY_HOUR, "ticketing.abandoned_imports", give_up)
