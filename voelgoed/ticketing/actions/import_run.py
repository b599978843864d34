"""Works through a file of tickets sold elsewhere.

How far it has come is committed with what it did, so whoever takes it up again goes on from there.
The file is read twice: once to see that all of it can be read, once to import it.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from uuid import UUID

import structlog

from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.model import Caller
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.jobs import RETRIES_MAX
from voelgoed.infra.refusal import Refusal, StorageUnavailable, Unavailable
from voelgoed.seating.model.refusals import SeatsChangedMeanwhile
from voelgoed.ticketing.actions.domain_events import happened
from voelgoed.ticketing.actions.import_batch import Batches, Context, TakenOver
from voelgoed.ticketing.actions.imports import ImportJob, import_of
from voelgoed.ticketing.forms.ticket_table import TicketTable
from voelgoed.ticketing.model.imports import (
    ImportFault,
    Record,
    TicketImport,
    TicketImportNotFound,
    TicketRow,
)
from voelgoed.ticketing.rules.codes import read_code
from voelgoed.ticketing.rules.import_ledger import File
from voelgoed.ticketing.store import imports as store
from voelgoed.ticketing.store.domain_events import insert_domain_events

log = structlog.get_logger()

BATCH_ROWS = 5_000
PASSING = (Unavailable, SeatsChangedMeanwhile)
"""Refusals that may be none the next time."""
GAVE_UP = "could not be finished; import it again"

Report = Callable[[int, int], None]
"""Told how many lines are done, of how many."""


def _silent(_done: int, _total: int) -> None: ...


async def run_import(context: Context, job: ImportJob, report: Report = _silent) -> None:
    """From where it is to its end. Done twice, or by two at once, it is done once."""
    try:
        imported, attempt = await _begin(context.database, job)
    except TicketImportNotFound:
        return  # over, or gone with its event
    run = _Run(context, job.organization_id, imported, report)
    try:
        await run.work()
    except TakenOver:
        if await run.is_running():
            raise  # to look again later whether they finished it
    except Refusal as refusal:
        if isinstance(refusal, PASSING) and attempt <= RETRIES_MAX:
            raise
        await run.fail(refusal.message, [])
    except Exception:
        if attempt > RETRIES_MAX:
            await run.fail(GAVE_UP, [])
        raise


async def _begin(database: Database, job: ImportJob) -> tuple[TicketImport, int]:
    async with database.transaction(job.organization_id) as tx:
        attempt = await store.begin_attempt(tx, job.import_id)
        if attempt is None:
            raise TicketImportNotFound()
        imported = await import_of(tx, job.import_id)
        if imported.dry_run:
            await store.start_over(tx, job.import_id)
        return await import_of(tx, job.import_id), attempt


class _Run:
    def __init__(
        self, context: Context, organization_id: UUID, imported: TicketImport, report: Report
    ) -> None:
        self._context = context
        self._database = context.database
        self._organization_id = organization_id
        self._import = imported
        self._report = report

    async def work(self) -> None:
        table, codes = await self._survey()
        if table.faults:
            first = table.faults[0]
            await self.fail(f"Line {first.line}: {first.field} {first.message}", table.faults)
            return
        async with self._database.transaction(self._organization_id) as tx:
            await store.set_total(tx, self._import.id, table.rows)
        batches = Batches(self._context, self._import, self._organization_id, File(codes))
        upcoming = self._batches()
        rows, done = await anext(upcoming, None), 0
        while rows is not None:
            following = await anext(upcoming, None)
            async with _meanwhile(batches.prepare(following) if following else None):
                await self._do(batches, rows, done, is_last=following is None)
            done += len(rows)
            self._report(done, table.rows)
            rows = following
        await self._finish()

    async def _do(
        self, batches: Batches, rows: list[Record], rows_before: int, *, is_last: bool
    ) -> None:
        done = max(0, min(len(rows), self._import.rows_read - rows_before))
        if done:
            await batches.recall(rows[:done])
        if done < len(rows):
            await batches.do(rows[done:], rows_before + done, is_last=is_last)

    async def _survey(self) -> tuple[TicketTable, dict[str, int]]:
        """What is wrong with the file as a whole; and where each code is first."""
        table, codes = TicketTable(), dict[str, int]()
        async for chunk, is_last in self._chunks():
            await asyncio.to_thread(_survey_chunk, table, codes, chunk, is_last)
            if table.faults:
                break
        return table, codes

    async def _batches(self) -> AsyncIterator[list[Record]]:
        table, waiting = TicketTable(), list[Record]()
        async for chunk, is_last in self._chunks():
            waiting += await asyncio.to_thread(table.feed, chunk, is_last=is_last)
            while len(waiting) >= BATCH_ROWS:
                yield waiting[:BATCH_ROWS]
                del waiting[:BATCH_ROWS]
        if waiting:
            yield waiting

    async def _chunks(self) -> AsyncIterator[tuple[bytes, bool]]:
        """Of the file, and whether it is the last."""
        number, chunk = 0, await self._chunk(0)
        while chunk is not None:
            number += 1
            following = await self._chunk(number)
            yield chunk, following is None
            chunk = following

    async def _chunk(self, number: int) -> bytes | None:
        async with self._database.transaction(self._organization_id) as tx:
            return await store.find_chunk(tx, self._import.id, number)

    async def _finish(self) -> None:
        async with self._database.transaction(self._organization_id) as tx:
            if not await store.mark_done(tx, self._import.id):
                raise TakenOver()
            await store.delete_chunks(tx, self._import.id)
            if not self._import.dry_run:
                await self._tell(tx)

    async def _tell(self, tx: Transaction) -> None:
        imported = await import_of(tx, self._import.id)
        about: dict[str, object] = {
            "event_id": str(imported.event_id),
            "file_name": imported.file_name,
            "rows": imported.rows_read,
            "created": imported.created,
            "unchanged": imported.unchanged,
            "faulty": imported.faulty,
        }
        actor = imported.actor_id
        caller = Caller(
            kind="system" if actor is None else "user", id=actor, organization_id=tx.organization_id
        )
        await record(tx, caller, "tickets_imported", "TicketImport", imported.id, about)
        event = happened(tx, "TicketsImported", imported.event_id, imported.id, about)
        await insert_domain_events(tx, [event])

    async def is_running(self) -> bool:
        async with self._database.transaction(self._organization_id) as tx:
            found = await store.find_import(tx, self._import.id)
        return found is not None and found.status == "running"

    async def fail(self, problem: str, faults: list[ImportFault]) -> None:
        """For good: nobody will try it again."""
        with suppress(StorageUnavailable):
            async with self._database.transaction(self._organization_id) as tx:
                if not await store.mark_failed(tx, self._import.id, problem):
                    return
                await store.delete_chunks(tx, self._import.id)
                if faults:
                    await store.insert_faults(tx, self._import.id, 0, faults)
        log.warning("ticket_import_failed", import_id=str(self._import.id), problem=problem)


@asynccontextmanager
async def _meanwhile(work: Coroutine[None, None, None] | None) -> AsyncGenerator[None]:
    """What would be nice to have; if it fails, it is done again when it is needed."""
    task = asyncio.create_task(work) if work is not None else None
    try:
        yield
    finally:
        if task is not None:
            await asyncio.gather(task, return_exceptions=True)


def _survey_chunk(table: TicketTable, codes: dict[str, int], chunk: bytes, is_last: bool) -> None:
    for row in table.feed(chunk, is_last=is_last):
        if isinstance(row, TicketRow) and row.code:
            code = read_code(row.code)
            if code is not None:
                codes.setdefault(code, row.line)
