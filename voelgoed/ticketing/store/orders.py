from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.infra.database import Database, Transaction, json_text
from voelgoed.ticketing.model.orders import Order, OrderLine, OrderStatus


async def insert_orders(tx: Transaction, orders: Sequence[tuple[Order, str]]) -> None:
    """Each with its secret."""
    if not orders:
        return
    await tx.run(
        """
        INSERT INTO ticket_order (organization_id, id, number, event_id, user_id, sold_by_id,
                                  buyer_name, buyer_email, status, currency, total_minor, secret,
                                  held_until, note, created_at, updated_at)
        SELECT current_organization(), id, number, event_id, user_id, sold_by_id, buyer_name,
               buyer_email, status, currency, total_minor, secret, held_until, note, $3, $3
          FROM ROWS FROM (
                 json_to_recordset($1::json)
                   AS (id uuid, number text, event_id uuid, user_id uuid, sold_by_id uuid,
                       buyer_name text, buyer_email text, status text, currency text,
                       total_minor bigint, held_until timestamptz, note text),
                 unnest($2::text[])
               ) AS new (id, number, event_id, user_id, sold_by_id, buyer_name, buyer_email, status,
                         currency, total_minor, held_until, note, secret)
        """,
        json_text([order for order, _ in orders]),
        [secret for _, secret in orders],
        tx.now,
    )


async def insert_lines(tx: Transaction, lines: Sequence[tuple[UUID, OrderLine]]) -> None:
    """Each with its order."""
    if not lines:
        return
    await tx.run(
        """
        INSERT INTO order_line (organization_id, order_id, line, hold_id, ticket_type_id, zone_id,
                                seat_id, seat_label, days, holder_name, price_minor,
                                associated_membership_id)
        SELECT current_organization(), order_id, line, hold_id, ticket_type_id, zone_id, seat_id,
               seat_label, days, holder_name, price_minor, associated_membership_id
          FROM ROWS FROM (
                 json_to_recordset($1::json)
                   AS (line smallint, hold_id uuid, ticket_type_id uuid, zone_id uuid, seat_id uuid,
                       seat_label text, days date[], holder_name text, price_minor bigint,
                       associated_membership_id uuid),
                 unnest($2::uuid[])
               ) AS new (line, hold_id, ticket_type_id, zone_id, seat_id, seat_label, days,
                         holder_name, price_minor, associated_membership_id, order_id)
        """,
        json_text([line for _, line in lines]),
        [order_id for order_id, _ in lines],
    )


async def find_order(tx: Transaction, order_id: UUID) -> Order | None:
    return await tx.row(
        Order,
        """
        SELECT id, number, event_id, user_id, sold_by_id, buyer_name, buyer_email, status, currency,
               total_minor, refunded_minor, held_until, note, version, created_at, updated_at
          FROM ticket_order WHERE id = $1
        """,
        order_id,
    )


async def lock_order(tx: Transaction, order_id: UUID) -> Order | None:
    """Before its holds and tickets: whoever changes an order does it in this order."""
    return await tx.row(
        Order,
        """
        SELECT id, number, event_id, user_id, sold_by_id, buyer_name, buyer_email, status, currency,
               total_minor, refunded_minor, held_until, note, version, created_at, updated_at
          FROM ticket_order WHERE id = $1 FOR NO KEY UPDATE
        """,
        order_id,
    )


async def find_secret(tx: Transaction, order_id: UUID) -> str | None:
    return await tx.value(str, "SELECT secret FROM ticket_order WHERE id = $1", order_id)


async def list_lines(tx: Transaction, order_id: UUID) -> list[OrderLine]:
    return await tx.rows(
        OrderLine,
        """
        SELECT line, hold_id, ticket_type_id, zone_id, seat_id, seat_label, days, holder_name,
               price_minor, associated_membership_id
          FROM order_line WHERE order_id = $1 ORDER BY line
        """,
        order_id,
    )


class OrderFilter(msgspec.Struct, frozen=True, kw_only=True):
    event_id: UUID | None = None
    user_id: UUID | None = None
    status: OrderStatus | None = None
    number: str | None = None
    email: str | None = None


async def list_orders(
    tx: Transaction, wanted: OrderFilter, after: UUID | None, limit: int
) -> list[Order]:
    """The newest first."""
    return await tx.rows(
        Order,
        """
        SELECT id, number, event_id, user_id, sold_by_id, buyer_name, buyer_email, status, currency,
               total_minor, refunded_minor, held_until, note, version, created_at, updated_at
          FROM ticket_order
         WHERE ($1::uuid IS NULL OR event_id = $1) AND ($2::uuid IS NULL OR user_id = $2)
           AND ($3::text IS NULL OR status = $3) AND ($4::text IS NULL OR number = $4)
           AND ($5::text IS NULL OR lower(buyer_email) = lower($5))
           AND ($6::uuid IS NULL OR id < $6)
         ORDER BY id DESC LIMIT $7
        """,
        wanted.event_id,
        wanted.user_id,
        wanted.status,
        wanted.number,
        wanted.email,
        after,
        limit,
    )


async def update_order(
    tx: Transaction, order_id: UUID, status: OrderStatus, refunded_minor: int
) -> None:
    """Of an order that is locked."""
    await tx.run(
        """
        UPDATE ticket_order
           SET status = $2, refunded_minor = $3, version = version + 1, updated_at = $4
         WHERE id = $1
        """,
        order_id,
        status,
        refunded_minor,
        tx.now,
    )


async def pending_orders_over(tx: Transaction, before: datetime, limit: int) -> list[UUID]:
    return await tx.rows(
        _id,
        """
        SELECT id AS found FROM ticket_order
         WHERE status = 'pending' AND held_until <= $1 ORDER BY held_until LIMIT $2
        """,
        before,
        limit,
    )


async def prolong_order(tx: Transaction, order_id: UUID, held_until: datetime) -> None:
    await tx.run("UPDATE ticket_order SET held_until = $2 WHERE id = $1", order_id, held_until)


def _id(found: UUID) -> UUID:
    return found


async def organizations_with_orders_over(database: Database, before: datetime) -> list[UUID]:
    return await database.organizations_with("SELECT organizations_with_orders_over($1)", before)
