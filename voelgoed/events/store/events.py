"""Events with their days. The days are read as one JSON column: one query, one row an event."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.events.model import Event, EventDay, EventStatus
from voelgoed.infra.database import Transaction


async def insert_event(tx: Transaction, event: Event) -> None:
    await tx.run(
        """
        INSERT INTO event (organization_id, id, venue_id, name, description, status, starts_at,
                           ends_at, sale_start, sale_end, capacity, version, created_at, updated_at)
        VALUES (current_organization(), $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 1, $11, $11)
        """,
        event.id,
        event.venue_id,
        event.name,
        event.description,
        event.status,
        event.starts_at,
        event.ends_at,
        event.sale_start,
        event.sale_end,
        event.capacity,
        event.created_at,
    )
    await replace_days(tx, event.id, event.days)


async def replace_days(tx: Transaction, event_id: UUID, days: Sequence[EventDay]) -> None:
    await tx.run("DELETE FROM event_day WHERE event_id = $1", event_id)
    await tx.run(
        """
        INSERT INTO event_day (organization_id, event_id, date, starts_at, ends_at)
        SELECT current_organization(), $1, date, starts_at, ends_at
          FROM unnest($2::date[], $3::timestamptz[], $4::timestamptz[])
               AS day (date, starts_at, ends_at)
        """,
        event_id,
        [day.date for day in days],
        [day.starts_at for day in days],
        [day.ends_at for day in days],
    )


async def find_event(tx: Transaction, event_id: UUID) -> Event | None:
    return await tx.row(
        _event,
        """
        SELECT event.id, venue_id, name, description, status, event.starts_at, event.ends_at,
               sale_start, sale_end, capacity, version, created_at, updated_at,
               (SELECT jsonb_agg(jsonb_build_object(
                           'date', date, 'starts_at', day.starts_at, 'ends_at', day.ends_at)
                       ORDER BY date)
                  FROM event_day AS day WHERE day.event_id = event.id) AS days
          FROM event WHERE event.id = $1
        """,
        event_id,
    )


async def list_events(
    tx: Transaction,
    statuses: Sequence[EventStatus],
    after: tuple[datetime, UUID] | None,
    limit: int,
) -> list[Event]:
    return await tx.rows(
        _event,
        """
        SELECT event.id, venue_id, name, description, status, event.starts_at, event.ends_at,
               sale_start, sale_end, capacity, version, created_at, updated_at,
               (SELECT jsonb_agg(jsonb_build_object(
                           'date', date, 'starts_at', day.starts_at, 'ends_at', day.ends_at)
                       ORDER BY date)
                  FROM event_day AS day WHERE day.event_id = event.id) AS days
          FROM event
         WHERE status = ANY ($1::text[])
           AND ($2::timestamptz IS NULL OR (event.starts_at, event.id) > ($2, $3::uuid))
         ORDER BY event.starts_at, event.id LIMIT $4
        """,
        list(statuses),
        after[0] if after else None,
        after[1] if after else None,
        limit,
    )


async def update_event(tx: Transaction, event: Event) -> int:
    """Writes the next version of what was read; 0 when somebody else was first."""
    return await tx.run(
        """
        UPDATE event SET name = $2, description = $3, status = $4, starts_at = $5, ends_at = $6,
               sale_start = $7, sale_end = $8, capacity = $9, version = $10, updated_at = $11
         WHERE id = $1 AND version = $10 - 1
        """,
        event.id,
        event.name,
        event.description,
        event.status,
        event.starts_at,
        event.ends_at,
        event.sale_start,
        event.sale_end,
        event.capacity,
        event.version,
        event.updated_at,
    )


async def delete_draft(tx: Transaction, event_id: UUID) -> int:
    """0 when it is a draft no longer, which whoever waited for its lock learns only here."""
    return await tx.run("DELETE FROM event WHERE id = $1 AND status = 'draft'", event_id)


def _event(*, days: list[dict[str, str]], **columns: object) -> Event:
    return Event(days=msgspec.convert(days, list[EventDay]), **columns)  # pyright: ignore[reportArgumentType]
