"""Valid tickets, and who of them came."""

import datetime as dt
from collections.abc import Sequence
from typing import Literal
from uuid import UUID

import msgspec

from voelgoed.infra.database import Transaction
from voelgoed.reporting.model.no_shows import NoShow


class CameRow(msgspec.Struct, frozen=True, kw_only=True):
    part: Literal["total", "ticket_type", "zone"]
    ticket_type_id: UUID | None
    zone_id: UUID | None
    valid: int
    came: int


async def count_came(tx: Transaction, event_id: UUID) -> list[CameRow]:
    """`scan_count` is of entries that stand; scanning keeps it so whatever becomes known later."""
    return await tx.rows(
        CameRow,
        """
        SELECT CASE WHEN grouping(ticket_type_id) = 0 THEN 'ticket_type'
                    WHEN grouping(zone_id) = 0 THEN 'zone' ELSE 'total' END AS part,
               ticket_type_id, zone_id, count(*) AS valid,
               count(*) FILTER (WHERE scan_count > 0) AS came
          FROM ticket WHERE event_id = $1 AND is_valid
         GROUP BY GROUPING SETS ((), (ticket_type_id), (zone_id))
        """,
        event_id,
    )


class CameOnDay(msgspec.Struct, frozen=True):
    day: dt.date
    valid: int
    came: int


async def count_came_on_days(
    tx: Transaction, event_id: UUID, days: Sequence[dt.date]
) -> list[CameOnDay]:
    """A ticket that names no days is for all of them."""
    await tx.run("SET LOCAL work_mem = '64MB'")
    await tx.run("SET LOCAL max_parallel_workers_per_gather = 0")  # the gates need the rest
    return await tx.rows(
        CameOnDay,
        """
        WITH ruling AS (
            SELECT DISTINCT ON (scan_id) scan_id, status, day FROM scan_ruling
             WHERE event_id = $1 ORDER BY scan_id, number DESC
        ), entry AS (
            SELECT DISTINCT ticket_id, coalesce(ruling.day, scan.day) AS day
              FROM scan LEFT JOIN ruling ON ruling.scan_id = scan.id
             WHERE event_id = $1 AND direction = 'entry'
               AND coalesce(ruling.status, scan.status) = 'admitted'
               AND NOT EXISTS (SELECT 1 FROM scan_annulment
                                WHERE scan_annulment.organization_id = scan.organization_id
                                  AND scan_annulment.scan_id = scan.id)
        ), valid AS (
            SELECT id, for_day AS day
              FROM ticket,
                   unnest(CASE WHEN cardinality(days) = 0 THEN $2::date[] ELSE days END) AS for_day
             WHERE event_id = $1 AND is_valid
        )
        SELECT valid.day, count(*) AS valid, count(entry.ticket_id) AS came
          FROM valid LEFT JOIN entry ON entry.ticket_id = valid.id AND entry.day = valid.day
         GROUP BY valid.day ORDER BY valid.day
        """,
        event_id,
        days,
    )


async def list_no_shows(
    tx: Transaction, event_id: UUID, after: UUID | None, limit: int
) -> list[NoShow]:
    """In the order of their ids, with the ids of zones where their names belong."""
    return await tx.rows(
        NoShow,
        """
        SELECT ticket.id, code, ticket_type.name AS type, zone_id::text AS zone, seat_label AS seat,
               days, ticket_order.number AS order_number, external_reference AS reference
          FROM ticket
          JOIN ticket_type ON ticket_type.organization_id = ticket.organization_id
           AND ticket_type.id = ticket_type_id
          LEFT JOIN ticket_order ON ticket_order.organization_id = ticket.organization_id
           AND ticket_order.id = order_id
         WHERE ticket.event_id = $1 AND is_valid AND scan_count = 0
           AND ($2::uuid IS NULL OR ticket.id > $2)
         ORDER BY ticket.id LIMIT $3
        """,
        event_id,
        after,
        limit,
    )
