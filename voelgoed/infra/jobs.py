"""Delayed and periodic work in PostgreSQL, enqueued in the transaction that needs it."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from typing import TypeVar

import msgspec
import structlog
from pgqueuer import AsyncpgDriver, DatabaseRetryEntrypointExecutor, PgQueuer, Queries
from pgqueuer.models import Job, Schedule

from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.keys import key
from voelgoed.infra.metrics import jobs_run

P = TypeVar("P", bound=msgspec.Struct)
log = structlog.get_logger()

RETRIES_MAX = 4
FIRST_RETRY = timedelta(seconds=5)
LONGEST_PAUSE = timedelta(minutes=5)
POLL = timedelta(seconds=5)
RESTART_S = 2.0
STOP_S = 10.0

Register = Callable[[PgQueuer], None]


class Patience(msgspec.Struct, frozen=True):
    """How often, and after which pauses, a job that failed is tried again: each is twice as long
    as the one before, up to the longest."""

    retries_max: int
    first_pause: timedelta
    longest_pause: timedelta


async def enqueue(
    tx: Transaction,
    name: str,
    payload: msgspec.Struct,
    *,
    after: timedelta | None = None,
    only_once_as: str | None = None,
) -> None:
    """Run `name` once this transaction has committed.

    While a job of this organisation with the same `only_once_as` waits or runs, no other is added:
    such a job must look, at its end, whether there is more to do.
    """
    driver = AsyncpgDriver(tx.connection)  # pyright: ignore[reportArgumentType]
    await Queries(driver).enqueue(
        name,
        msgspec.json.encode(payload),
        execute_after=after,
        dedupe_key=only_once_as and key(tx.organization_id, "job", name, only_once_as),
        on_conflict="skip",
    )


class Jobs:
    """Runs the jobs of all domains in this process until stopped; outlives the database's absence."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._registered: list[Register] = []
        self._often: list[tuple[float, str, Callable[[], Awaitable[None]]]] = []
        self._loops: list[asyncio.Task[None]] = []
        self._task: asyncio.Task[None] | None = None
        self._queue: PgQueuer | None = None
        self._stopping = False

    def on(
        self,
        name: str,
        payload: type[P],
        work: Callable[[P], Awaitable[None]],
        *,
        patience: Patience | None = None,
        at_once_max: int = 0,
    ) -> None:
        """Do `work` for every job enqueued as `name`, with so many at once (0: any number); a
        failure is retried, then kept as failed."""
        patience = patience or Patience(RETRIES_MAX, FIRST_RETRY, LONGEST_PAUSE)
        _count_from_zero(name)

        async def run(job: Job) -> None:
            with jobs_run.labels(name, "failed").count_exceptions():
                await work(msgspec.json.decode(job.payload or b"", type=payload))
            jobs_run.labels(name, "done").inc()

        retrying = partial(
            DatabaseRetryEntrypointExecutor,
            max_attempts=patience.retries_max,
            initial_delay=patience.first_pause,
            max_delay=patience.longest_pause,
        )

        def register(queue: PgQueuer) -> None:
            entrypoint = queue.entrypoint(
                name,
                concurrency_limit=at_once_max,
                on_failure="hold",
                executor_factory=retrying,
            )
            entrypoint(run)

        self._registered.append(register)

    def every(self, cron: str, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Do `work` at those times, in one process of all that run jobs."""
        _count_from_zero(name)

        async def run(schedule: Schedule) -> None:
            with jobs_run.labels(name, "failed").count_exceptions():
                await work()
            jobs_run.labels(name, "done").inc()

        self._registered.append(lambda queue: _ignore(queue.schedule(name, cron)(run)))

    def often(self, pause_s: float, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Do `work` again and again with so long a pause, in every process that runs jobs: for what
        cannot wait for the next minute, and can be done by several at once."""
        _count_from_zero(name)
        self._often.append((pause_s, name, work))

    def start(self) -> None:
        self._task = asyncio.create_task(self._run_forever(), name="jobs")
        self._loops = [
            asyncio.create_task(self._repeat(pause_s, name, work), name=name)
            for pause_s, name, work in self._often
        ]

    async def stop(self) -> None:
        self._stopping = True
        for loop in self._loops:
            loop.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        if self._task is None:
            return
        if self._queue is None:
            self._task.cancel()
        else:
            self._queue.shutdown.set()  # running jobs may finish
        await asyncio.wait([self._task], timeout=STOP_S)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _repeat(self, pause_s: float, name: str, work: Callable[[], Awaitable[None]]) -> None:
        while not self._stopping:
            try:
                await work()
                jobs_run.labels(name, "done").inc()
            except Exception as fault:  # whatever it was, the next time may be better
                jobs_run.labels(name, "failed").inc()
                log.warning("job_failed", job=name, reason=repr(fault))
            await asyncio.sleep(pause_s)

    async def _run_forever(self) -> None:
        while not self._stopping:
            try:
                await self._run_until_interrupted()
            except Exception as fault:  # whatever it was, work must go on
                log.warning("jobs_interrupted", reason=repr(fault))
            if not self._stopping:
                await asyncio.sleep(RESTART_S)

    async def _run_until_interrupted(self) -> None:
        connection = await self._database.connect()
        try:
            self._queue = PgQueuer.from_asyncpg_connection(connection)
            connection.add_termination_listener(partial(_shut_down, self._queue))
            for register in self._registered:
                register(self._queue)
            await self._queue.run(dequeue_timeout=POLL, shutdown_on_listener_failure=True)
        finally:
            self._queue = None
            await connection.close(timeout=1)


def _count_from_zero(name: str) -> None:
    """Or nobody would see a first failure as an increase."""
    for outcome in ("done", "failed"):
        jobs_run.labels(name, outcome)


def _shut_down(queue: PgQueuer, _connection: object) -> None:
    queue.shutdown.set()


def _ignore(_registered: object) -> None:
    """The decorators of the queue return their function, which nobody needs again."""
