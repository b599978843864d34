"""The parts one process is made of, started and stopped together."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from voelgoed.accounts import jobs as accounts_jobs
from voelgoed.accounts.actions.sessions import SessionLookup
from voelgoed.config import Settings, key_bytes
from voelgoed.infra.cache import Cache
from voelgoed.infra.clock import Clock
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.jobs import Jobs
from voelgoed.infra.live import Live
from voelgoed.infra.mail import Mail
from voelgoed.infra.master_key import MasterKey, key_kept_in
from voelgoed.infra.supervisor import PostgresSupervisor
from voelgoed.reporting.actions.desk import ReportDesk
from voelgoed.scanning import jobs as scanning_jobs
from voelgoed.scanning.actions.manifests import Manifests
from voelgoed.scanning.actions.scan_pipeline import ScanPipeline
from voelgoed.scanning.actions.signs_of_life import SignsOfLife
from voelgoed.scanning.actions.sync_pipeline import SyncPipeline
from voelgoed.scanning.actions.watch import FraudWatch
from voelgoed.seating import jobs as seating_jobs
from voelgoed.seating import live as seating_live
from voelgoed.ticketing import jobs as ticketing_jobs
from voelgoed.ticketing.actions.checkout import Checkout
from voelgoed.ticketing.actions.documents import Documents
from voelgoed.ticketing.actions.hold_desk import HoldDesk
from voelgoed.ticketing.actions.import_batch import Context
from voelgoed.ticketing.actions.letters import Letters
from voelgoed.ticketing.actions.providers import Providers


@dataclass(frozen=True)
class Services:
    settings: Settings
    clock: Clock
    database: Database
    cache: Cache
    live: Live
    jobs: Jobs
    master_key: MasterKey
    session_lookup: SessionLookup
    holds: HoldDesk
    checkout: Checkout
    mail: Mail
    documents: Documents
    letters: Letters
    scans: ScanPipeline
    syncs: SyncPipeline
    watch: FraudWatch
    signs_of_life: SignsOfLife
    manifests: Manifests
    reports: ReportDesk
    supervisor: PostgresSupervisor | None = None
    """Of the embedded PostgreSQL; None where the database is somebody else's to keep running."""


def master_key_of(settings: Settings) -> MasterKey:
    """Nodes that share an outside database must share its key too, so none makes one for it."""
    current = key_bytes(settings.master_key)
    if current is None and settings.database_url is None:
        current = key_kept_in(settings.data.resolve())
    return MasterKey(current, key_bytes(settings.previous_master_key))


def build_services(
    settings: Settings,
    database_url: str,
    clock: Clock | None = None,
    master_key: MasterKey | None = None,
    supervisor: PostgresSupervisor | None = None,
) -> Services:
    clock = clock or Clock()
    database = Database(
        database_url, clock=clock, connections_max=settings.database_connections_max
    )
    cache = Cache(settings.redis_url)
    live = Live(
        database, cache.distrust, cache.forget_all, seating_live.projections(database, cache)
    )

    async def after_commit(tx: Transaction) -> None:
        if tx.dropped_keys:  # first, so that who hears of the change and reads, reads it
            live.post_dropped_keys(tx.organization_id, tx.dropped_keys)
            await cache.drop(tx.dropped_keys)
        live.post(tx.organization_id, tx.messages, tx.dropped_keys)

    database.after_commit = after_commit
    jobs = Jobs(database)
    accounts_jobs.register(jobs, database)
    seating_jobs.register(jobs, database, cache)
    holds = HoldDesk(database, cache)
    ticketing_jobs.register(jobs, database, cache, holds.registry)
    scanning_jobs.register(jobs, database)
    key = master_key or MasterKey()
    ticketing_jobs.register_imports(jobs, Context(database, cache, key))
    session_lookup = SessionLookup(database)
    mail = Mail(settings.smtp_url, settings.mail_from)
    providers = Providers(key, settings.public_url)
    checkout = Checkout(database, cache, key, providers, mails=mail.enabled)
    documents = Documents(database, cache, key)
    letters = Letters(database, documents, mail, settings.public_url)
    if mail.enabled:  # or they wait for a process that can send them
        ticketing_jobs.register_letters(jobs, letters)
    watch = FraudWatch(database)
    scans = ScanPipeline(database, cache, live, watch)
    return Services(
        settings=settings,
        clock=clock,
        database=database,
        cache=cache,
        live=live,
        jobs=jobs,
        master_key=key,
        session_lookup=session_lookup,
        holds=holds,
        checkout=checkout,
        mail=mail,
        documents=documents,
        letters=letters,
        scans=scans,
        syncs=SyncPipeline(database, scans.last_scans, settings.sync_batches_per_minute_max),
        watch=watch,
        signs_of_life=SignsOfLife(database),
        manifests=Manifests(database, cache, key),
        reports=ReportDesk(database, cache),
        supervisor=supervisor,
    )


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
        await services.manifests.stop()
        await services.scans.stop()
        await services.watch.stop()
        await services.signs_of_life.stop()
        await services.live.stop()
        await services.cache.close()
        await services.database.close()
