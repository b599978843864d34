"""Files of tickets sold elsewhere: their contents, how far they have come, what was wrong."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.infra.database import Transaction, json_text
from voelgoed.ticketing.model.imports import ImportFault, TicketImport


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """Of lines that were dealt with together."""

    rows: int
    created: int
    unchanged: int
    faulty: int
    faults_kept: int


class NumberedFault(msgspec.Struct, frozen=True):
    number: int
    fault: ImportFault


async def insert_import(tx: Transaction, new: TicketImport) -> None:
    await tx.run(
        """
        INSERT INTO ticket_import (organization_id, id, event_id, status, dry_run, file_name,
                                   actor_id, created_at, updated_at)
        VALUES (current_organization(), $1, $2, $3, $4, $5, $6, $7, $7)
        """,
        new.id,
        new.event_id,
        new.status,
        new.dry_run,
        new.file_name,
        new.actor_id,
        new.created_at,
    )


async def insert_chunk(tx: Transaction, import_id: UUID, number: int, content: bytes) -> None:
    await tx.run(
        """
        INSERT INTO ticket_import_chunk (organization_id, import_id, number, content)
        VALUES (current_organization(), $1, $2, $3)
        """,
        import_id,
        number,
        content,
    )


async def find_chunk(tx: Transaction, import_id: UUID, number: int) -> bytes | None:
    return await tx.value(
        bytes,
        "SELECT content FROM ticket_import_chunk WHERE import_id = $1 AND number = $2",
        import_id,
        number,
    )


async def delete_chunks(tx: Transaction, import_id: UUID) -> None:
    await tx.run("DELETE FROM ticket_import_chunk WHERE import_id = $1", import_id)


async def mark_received(tx: Transaction, import_id: UUID, file_hash: bytes, file_bytes: int) -> int:
    return await tx.run(
        """
        UPDATE ticket_import SET status = 'waiting', file_hash = $2, file_bytes = $3, updated_at = $4
         WHERE id = $1 AND status = 'receiving'
        """,
        import_id,
        file_hash,
        file_bytes,
        tx.now,
    )


async def delete_import(tx: Transaction, import_id: UUID) -> None:
    await tx.run("DELETE FROM ticket_import WHERE id = $1", import_id)


async def find_import(tx: Transaction, import_id: UUID) -> TicketImport | None:
    return await tx.row(
        TicketImport,
        """
        SELECT id, event_id, status, dry_run, file_name, file_bytes, rows_total, rows_read, created,
               unchanged, faulty, problem, actor_id, created_at, updated_at
          FROM ticket_import WHERE id = $1
        """,
        import_id,
    )


async def list_imports(
    tx: Transaction, event_id: UUID, after: UUID | None, limit: int
) -> list[TicketImport]:
    """The newest first."""
    return await tx.rows(
        TicketImport,
        """
        SELECT id, event_id, status, dry_run, file_name, file_bytes, rows_total, rows_read, created,
               unchanged, faulty, problem, actor_id, created_at, updated_at
          FROM ticket_import WHERE event_id = $1 AND ($2::uuid IS NULL OR id < $2)
         ORDER BY id DESC LIMIT $3
        """,
        event_id,
        after,
        limit,
    )


async def count_unfinished(tx: Transaction, since: datetime) -> int:
    found = await tx.value(
        int,
        """
        SELECT count(*) FROM ticket_import
         WHERE status IN ('receiving', 'waiting', 'running') AND updated_at > $1
        """,
        since,
    )
    return found or 0


async def begin_attempt(tx: Transaction, import_id: UUID) -> int | None:
    """Which one it is, from 1; None for one that is over."""
    return await tx.value(
        int,
        """
        UPDATE ticket_import SET status = 'running', attempts = attempts + 1, updated_at = $2
         WHERE id = $1 AND status IN ('waiting', 'running') RETURNING attempts
        """,
        import_id,
        tx.now,
    )


async def set_total(tx: Transaction, import_id: UUID, rows_total: int) -> None:
    await tx.run(
        "UPDATE ticket_import SET rows_total = $2, updated_at = $3 WHERE id = $1",
        import_id,
        rows_total,
        tx.now,
    )


async def start_over(tx: Transaction, import_id: UUID) -> None:
    """A dry run remembers nothing but what it has found so far."""
    await tx.run("DELETE FROM ticket_import_fault WHERE import_id = $1", import_id)
    await tx.run(
        """
        UPDATE ticket_import
           SET rows_read = 0, created = 0, unchanged = 0, faulty = 0, faults_kept = 0
         WHERE id = $1
        """,
        import_id,
    )


class Reached(msgspec.Struct, frozen=True):
    rows_read: int
    faults_kept: int


async def lock_running(tx: Transaction, import_id: UUID) -> Reached | None:
    """How far it is, and nobody else takes it further until the transaction ends."""
    return await tx.row(
        Reached,
        """
        SELECT rows_read, faults_kept FROM ticket_import
         WHERE id = $1 AND status = 'running' FOR UPDATE
        """,
        import_id,
    )


async def lock_event_imports(tx: Transaction, event_id: UUID) -> None:
    """One after the other: what one adds, the next one finds."""
    await tx.run(
        "SELECT pg_advisory_xact_lock(hashtextextended('ticket-import:' || $1::uuid, 0))", event_id
    )


async def add_progress(tx: Transaction, import_id: UUID, done: Progress) -> None:
    await tx.run(
        """
        UPDATE ticket_import
           SET rows_read = rows_read + $2, created = created + $3, unchanged = unchanged + $4,
               faulty = faulty + $5, faults_kept = faults_kept + $6, updated_at = $7
         WHERE id = $1
        """,
        import_id,
        done.rows,
        done.created,
        done.unchanged,
        done.faulty,
        done.faults_kept,
        tx.now,
    )


async def insert_faults(
    tx: Transaction, import_id: UUID, after: int, faults: Sequence[ImportFault]
) -> None:
    await tx.run(
        """
        INSERT INTO ticket_import_fault (organization_id, import_id, number, line, field, message)
        SELECT current_organization(), $1, $2 + number, line, field, message
          FROM ROWS FROM (json_to_recordset($3::json) AS (line integer, field text, message text))
               WITH ORDINALITY AS fault (line, field, message, number)
        """,
        import_id,
        after,
        json_text(faults),
    )


async def list_faults(
    tx: Transaction, import_id: UUID, after: int, limit: int
) -> list[NumberedFault]:
    return await tx.rows(
        _numbered,
        """
        SELECT number, line, field, message FROM ticket_import_fault
         WHERE import_id = $1 AND number > $2 ORDER BY number LIMIT $3
        """,
        import_id,
        after,
        limit,
    )


async def mark_done(tx: Transaction, import_id: UUID) -> int:
    return await tx.run(
        "UPDATE ticket_import SET status = 'done', updated_at = $2 WHERE id = $1 AND status = 'running'",
        import_id,
        tx.now,
    )


async def mark_failed(tx: Transaction, import_id: UUID, problem: str) -> int:
    return await tx.run(
        """
        UPDATE ticket_import SET status = 'failed', problem = $2, updated_at = $3
         WHERE id = $1 AND status IN ('waiting', 'running')
        """,
        import_id,
        problem,
        tx.now,
    )


async def list_abandoned(tx: Transaction, before: datetime) -> list[UUID]:
    """Those that nobody has done anything about since."""
    return await tx.rows(
        _id,
        """
        SELECT id AS found FROM ticket_import
         WHERE status IN ('receiving', 'waiting', 'running') AND updated_at <= $1
        """,
        before,
    )


def _numbered(number: int, **columns: object) -> NumberedFault:
    return NumberedFault(number, ImportFault(**columns))  # pyright: ignore[reportArgumentType]


def _id(found: UUID) -> UUID:
    return found
