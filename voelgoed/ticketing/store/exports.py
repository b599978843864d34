"""All of an event's orders, tickets and holds, page by page in the order of their ids."""

from uuid import UUID

from voelgoed.infra.database import Transaction
from voelgoed.ticketing.model.exports import ExportedHold, ExportedOrder, ExportedTicket


async def list_orders(
    tx: Transaction, event_id: UUID, after: UUID, limit: int
) -> list[ExportedOrder]:
    return await tx.rows(
        ExportedOrder,
        """
        SELECT orders.id, number, orders.status, buyer_name, buyer_email, currency, total_minor,
               refunded_minor, note, seller.name AS sold_by, orders.created_at, orders.updated_at,
               (SELECT count(*) FROM order_line
                 WHERE order_line.organization_id = orders.organization_id
                   AND order_line.order_id = orders.id) AS tickets,
               coalesce((SELECT string_agg(DISTINCT method, ' ' ORDER BY method) FROM payment
                          WHERE payment.organization_id = orders.organization_id
                            AND payment.order_id = orders.id AND payment.status <> 'failed'), '')
                   AS payment_methods
          FROM ticket_order AS orders LEFT JOIN app_user AS seller
            ON seller.organization_id = orders.organization_id AND seller.id = sold_by_id
         WHERE event_id = $1 AND orders.id > $2 ORDER BY orders.id LIMIT $3
        """,
        event_id,
        after,
        limit,
    )


async def list_tickets(
    tx: Transaction, event_id: UUID, after: UUID, limit: int
) -> list[ExportedTicket]:
    """With the ids of zones where their names belong."""
    return await tx.rows(
        ExportedTicket,
        """
        SELECT ticket.id, code, ticket.status, ticket_type.name AS type, zone_id::text AS zone,
               seat_label AS seat, holder_name AS name, holder_email AS email, days, price_minor,
               ticket_type.currency, ticket_order.number AS order_number,
               external_reference AS reference, issue, scan_count, scanned_at, last_scanned_at,
               ticket.created_at, ticket.updated_at
          FROM ticket
          JOIN ticket_type ON ticket_type.organization_id = ticket.organization_id
           AND ticket_type.id = ticket_type_id
          LEFT JOIN ticket_order ON ticket_order.organization_id = ticket.organization_id
           AND ticket_order.id = order_id
         WHERE ticket.event_id = $1 AND ticket.id > $2 ORDER BY ticket.id LIMIT $3
        """,
        event_id,
        after,
        limit,
    )


async def list_holds(
    tx: Transaction, event_id: UUID, after: UUID, limit: int
) -> list[ExportedHold]:
    """With the ids of zones and seats where their names belong. What is over is over, whether or
    not it was swept away."""
    return await tx.rows(
        ExportedHold,
        """
        SELECT hold.id, booking_id, zone_id::text AS zone, seat_id::text AS seat, places, days,
               CASE WHEN hold.status = 'active' AND held_until <= $4 THEN 'expired'
                    ELSE hold.status END AS status,
               holder.name, holder.email, source, notes, held_until, hold.created_at,
               hold.updated_at
          FROM seat_hold AS hold LEFT JOIN app_user AS holder
            ON holder.organization_id = hold.organization_id AND holder.id = user_id
         WHERE event_id = $1 AND hold.id > $2 ORDER BY hold.id LIMIT $3
        """,
        event_id,
        after,
        limit,
        tx.now,
    )
