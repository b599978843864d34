"""Files of tickets sold elsewhere: received, listed, looked at. `import_run` works through them."""

from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta
from hashlib import sha256
from uuid import UUID

import msgspec

from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.model import Caller
from voelgoed.events.actions.events import changeable_event, event_of
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.idempotency import IdempotencyKey, once
from voelgoed.infra.ids import new_id
from voelgoed.infra.jobs import enqueue
from voelgoed.infra.refusal import StorageUnavailable
from voelgoed.ticketing.forms.ticket_table import TicketTable
from voelgoed.ticketing.model.imports import (
    UNFINISHED_MAX,
    InvalidTicketFile,
    TicketImport,
    TicketImportNotFound,
    TooManyImports,
)
from voelgoed.ticketing.store import imports as store
from voelgoed.ticketing.store.imports import NumberedFault

JOB = "ticketing.import"
CHUNK_BYTES = 256 * 1024
UNFINISHED_FOR = timedelta(hours=1)
"""Those that stand still for longer are not waited for."""
ABANDONED_AFTER = timedelta(days=1)


class ImportJob(msgspec.Struct):
    organization_id: UUID
    import_id: UUID


class Upload(msgspec.Struct, frozen=True, kw_only=True):
    event_id: UUID
    file_name: str
    dry_run: bool
    key: str | None = None
    """The caller's Idempotency-Key."""
    by_job: bool = True
    """Or else by whoever sent it, right after."""


async def receive_file(
    database: Database, caller: Caller, upload: Upload, pieces: AsyncIterator[bytes]
) -> TicketImport:
    """Stored as it comes in, a piece at a time, so that neither memory nor a transaction is kept
    waiting for a slow sender. What does not arrive whole is forgotten."""
    new = await _begin(database, caller, upload)
    try:
        file_hash, file_bytes = await _store(database, caller, new.id, pieces)
        received = await _finish(database, caller, upload, new, file_hash, file_bytes)
    except BaseException:
        with suppress(StorageUnavailable):
            await _forget(database, caller, new.id)
        raise
    if received.id != new.id:
        await _forget(database, caller, new.id)
    return received


async def _begin(database: Database, caller: Caller, upload: Upload) -> TicketImport:
    async with database.transaction(caller.organization_id) as tx:
        await changeable_event(tx, upload.event_id)
        if await store.count_unfinished(tx, tx.now - UNFINISHED_FOR) >= UNFINISHED_MAX:
            raise TooManyImports()
        new = TicketImport(
            id=new_id(),
            event_id=upload.event_id,
            status="receiving",
            dry_run=upload.dry_run,
            file_name=upload.file_name,
            file_bytes=0,
            rows_total=None,
            rows_read=0,
            created=0,
            unchanged=0,
            faulty=0,
            problem=None,
            actor_id=caller.id,
            created_at=tx.now,
            updated_at=tx.now,
        )
        await store.insert_import(tx, new)
        return new


async def _store(
    database: Database, caller: Caller, import_id: UUID, pieces: AsyncIterator[bytes]
) -> tuple[bytes, int]:
    hashed, size, number = sha256(), 0, 0
    async for chunk, is_last in _chunks(pieces):
        if number == 0:
            _check_beginning(chunk, is_last)
        hashed.update(chunk)
        size += len(chunk)
        async with database.transaction(caller.organization_id) as tx:
            await store.insert_chunk(tx, import_id, number, chunk)
        number += 1
    return hashed.digest(), size


async def _chunks(pieces: AsyncIterator[bytes]) -> AsyncIterator[tuple[bytes, bool]]:
    """Of one size, and whether it is the last; an empty file is one chunk."""
    waiting = bytearray()
    async for piece in pieces:
        waiting += piece
        while len(waiting) > CHUNK_BYTES:
            yield bytes(waiting[:CHUNK_BYTES]), False
            del waiting[:CHUNK_BYTES]
    yield bytes(waiting), True


def _check_beginning(chunk: bytes, is_last: bool) -> None:
    """What can be said at once: that it is no table, or not one of these columns."""
    table = TicketTable()
    table.feed(chunk, is_last=is_last)
    if table.faults:
        raise InvalidTicketFile(table.faults)


async def _finish(
    database: Database,
    caller: Caller,
    upload: Upload,
    new: TicketImport,
    file_hash: bytes,
    file_bytes: int,
) -> TicketImport:
    async def finish() -> TicketImport:
        if not await store.mark_received(tx, new.id, file_hash, file_bytes):
            raise TicketImportNotFound()  # its event was deleted, or it was given up
        changes: dict[str, object] = {
            "event_id": str(upload.event_id),
            "file_name": upload.file_name,
            "file_hash": file_hash.hex(),
            "file_bytes": file_bytes,
            "dry_run": upload.dry_run,
        }
        await record(tx, caller, "ticket_import_requested", "TicketImport", new.id, changes)
        if upload.by_job:
            await enqueue(tx, JOB, ImportJob(tx.organization_id, new.id))
        return await import_of(tx, new.id)

    async with database.transaction(caller.organization_id) as tx:
        return await once(tx, _once(caller, upload, file_hash), TicketImport, finish)


def _once(caller: Caller, upload: Upload, file_hash: bytes) -> IdempotencyKey | None:
    """The file is part of what was sent, and known only now."""
    if upload.key is None or caller.id is None:
        return None
    sent = ("import_tickets", upload.event_id, upload.file_name, upload.dry_run, file_hash)
    return IdempotencyKey(caller.id, upload.key, sha256(msgspec.json.encode(sent)).digest())


async def _forget(database: Database, caller: Caller, import_id: UUID) -> None:
    async with database.transaction(caller.organization_id) as tx:
        await store.delete_import(tx, import_id)


async def import_of(tx: Transaction, import_id: UUID) -> TicketImport:
    found = await store.find_import(tx, import_id)
    if found is None:
        raise TicketImportNotFound()
    return found


async def read_import(database: Database, caller: Caller, import_id: UUID) -> TicketImport:
    async with database.transaction(caller.organization_id) as tx:
        return await import_of(tx, import_id)


async def list_imports(
    database: Database, caller: Caller, event_id: UUID, after: UUID | None, limit: int
) -> list[TicketImport]:
    async with database.transaction(caller.organization_id) as tx:
        await event_of(tx, event_id)
        return await store.list_imports(tx, event_id, after, limit)


async def list_faults(
    database: Database, caller: Caller, import_id: UUID, after: int, limit: int
) -> list[NumberedFault]:
    async with database.transaction(caller.organization_id) as tx:
        await import_of(tx, import_id)
        return await store.list_faults(tx, import_id, after, limit)


async def give_up_abandoned(database: Database) -> int:
    """Files that never arrived whole, and imports whose worker is gone for good."""
    given_up = 0
    for organization_id in await database.organization_ids():
        async with database.transaction(organization_id) as tx:
            for import_id in await store.list_abandoned(tx, tx.now - ABANDONED_AFTER):
                given_up += 1
                if not await store.mark_failed(tx, import_id, "was interrupted; import it again"):
                    await store.delete_import(tx, import_id)
                await store.delete_chunks(tx, import_id)
    return given_up
