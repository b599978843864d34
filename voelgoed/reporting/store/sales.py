"""Tickets, orders and payments of an event, counted.

What the figures rest on (tests/reporting/test_sales.py holds it): an order that is paid has one ticket
for each line, at the line's price; what is refunded of an order is the sum of the prices of its refunded
tickets, and exactly that is given back, or due, of its payments; a payment that bought nothing is due,
or was given back, in full. So what the tickets earned is what the payments keep.
"""

import datetime as dt
from collections.abc import Sequence
from typing import Literal
from uuid import UUID

import msgspec

from voelgoed.infra.database import Transaction
from voelgoed.reporting.model.sales import Payments
from voelgoed.ticketing.model.orders import OrderStatus

Part = Literal["total", "ticket_type", "zone", "method", "day"]


class SoldRow(msgspec.Struct, frozen=True, kw_only=True):
    part: Part
    ticket_type_id: UUID | None
    zone_id: UUID | None
    provider: str | None
    method: str | None
    day: dt.date | None
    sold: int
    complimentary: int
    imported: int
    refunded: int
    voided: int
    gross_minor: int
    refunded_minor: int
    imported_minor: int


async def count_tickets(tx: Transaction, event_id: UUID, timezone: str) -> list[SoldRow]:
    """Altogether, and by each of the parts.

    An order's tickets were bought by the payment that was taken by hand, if one was: that buys or is
    not taken. Among those made elsewhere, by the one of which most is kept. That is found out once,
    also while PostgreSQL does not know yet how many there are: it would do so for every ticket.
    """
    return await tx.rows(
        SoldRow,
        """
        WITH bought AS MATERIALIZED (
            SELECT DISTINCT ON (payment.order_id) payment.order_id, provider, method
              FROM ticket_order AS sale
              JOIN payment ON payment.organization_id = sale.organization_id
                          AND payment.order_id = sale.id
             WHERE sale.event_id = $1 AND payment.status NOT IN ('pending', 'failed')
             ORDER BY payment.order_id, provider <> 'manual',
                      amount_minor - payment.refunded_minor - refund_due_minor DESC, payment.id
        ), told AS (
            SELECT ticket_type_id, zone_id, (created_at AT TIME ZONE $2)::date AS day, price_minor,
                   CASE WHEN ticket.order_id IS NULL THEN 'import' ELSE provider END AS provider,
                   CASE WHEN ticket.order_id IS NULL THEN 'import' ELSE method END AS method,
                   status = 'refunded' AS is_refunded, status = 'voided' AS is_voided, is_valid,
                   ticket.order_id IS NULL AS is_imported,
                   coalesce(method = 'complimentary', false) AS is_free
              FROM ticket LEFT JOIN bought ON bought.order_id = ticket.order_id
             WHERE event_id = $1
        )
        SELECT CASE WHEN grouping(ticket_type_id) = 0 THEN 'ticket_type'
                    WHEN grouping(zone_id) = 0 THEN 'zone'
                    WHEN grouping(provider) = 0 THEN 'method'
                    WHEN grouping(day) = 0 THEN 'day'
                    ELSE 'total' END AS part,
               ticket_type_id, zone_id, provider, method, day,
               count(*) FILTER (WHERE is_valid AND NOT is_imported AND NOT is_free) AS sold,
               count(*) FILTER (WHERE is_valid AND is_free) AS complimentary,
               count(*) FILTER (WHERE is_valid AND is_imported) AS imported,
               count(*) FILTER (WHERE is_refunded) AS refunded,
               count(*) FILTER (WHERE is_voided) AS voided,
               coalesce(sum(price_minor) FILTER (WHERE NOT is_imported AND NOT is_free), 0)::bigint
                   AS gross_minor,
               coalesce(sum(price_minor) FILTER (
                   WHERE is_refunded AND NOT is_imported AND NOT is_free), 0)::bigint
                   AS refunded_minor,
               coalesce(sum(price_minor) FILTER (WHERE is_valid AND is_imported), 0)::bigint
                   AS imported_minor
          FROM told
         GROUP BY GROUPING SETS ((), (ticket_type_id), (zone_id), (provider, method), (day))
        """,
        event_id,
        timezone,
    )


class OnDay(msgspec.Struct, frozen=True):
    """Valid tickets in a zone on one of the event's days."""

    zone_id: UUID | None
    day: dt.date
    valid: int


async def count_on_days(tx: Transaction, event_id: UUID, days: Sequence[dt.date]) -> list[OnDay]:
    """A ticket that names no days is for all of them."""
    return await tx.rows(
        OnDay,
        """
        SELECT zone_id, day, sum(alike)::bigint AS valid
          FROM (SELECT zone_id, days, count(*) AS alike FROM ticket
                 WHERE event_id = $1 AND is_valid GROUP BY zone_id, days) AS valid,
               unnest(CASE WHEN cardinality(days) = 0 THEN $2::date[] ELSE days END) AS day
         GROUP BY zone_id, day
        """,
        event_id,
        days,
    )


class TypeNamed(msgspec.Struct, frozen=True):
    id: UUID
    name: str
    quota: int | None
    currency: str


async def list_types(tx: Transaction, event_id: UUID) -> list[TypeNamed]:
    return await tx.rows(
        TypeNamed,
        "SELECT id, name, quota, currency FROM ticket_type WHERE event_id = $1 ORDER BY number",
        event_id,
    )


async def count_orders(tx: Transaction, event_id: UUID) -> dict[OrderStatus, int]:
    found = await tx.rows(
        _counted,
        "SELECT status, count(*) AS orders FROM ticket_order WHERE event_id = $1 GROUP BY status",
        event_id,
    )
    return dict(found)


def _counted(status: OrderStatus, orders: int) -> tuple[OrderStatus, int]:
    return status, orders


async def count_payments(tx: Transaction, event_id: UUID) -> list[Payments]:
    return await tx.rows(
        Payments,
        """
        SELECT provider, method, payment.currency, count(*) AS payments,
               sum(amount_minor)::bigint AS received_minor,
               sum(payment.refunded_minor)::bigint AS refunded_minor,
               sum(refund_due_minor)::bigint AS refund_due_minor,
               sum(amount_minor - payment.refunded_minor - refund_due_minor)::bigint AS kept_minor
          FROM ticket_order AS sale
          JOIN payment ON payment.organization_id = sale.organization_id
                      AND payment.order_id = sale.id
         WHERE sale.event_id = $1 AND payment.status NOT IN ('pending', 'failed')
         GROUP BY provider, method, payment.currency
         ORDER BY provider <> 'manual', provider, method, payment.currency
        """,
        event_id,
    )
