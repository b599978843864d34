from collections.abc import Mapping, Sequence
from uuid import UUID

import msgspec

from voelgoed.infra.database import Transaction
from voelgoed.ticketing.model.ticket_types import Price, TicketType


async def lock_event(tx: Transaction, event_id: UUID) -> None:
    """Until the transaction ends nobody else adds a ticket type to this event, nor moves it to
    another state. Who orders tickets does not wait."""
    await tx.run("SELECT 1 FROM event WHERE id = $1 FOR NO KEY UPDATE", event_id)


async def insert_type(tx: Transaction, ticket_type: TicketType) -> None:
    await tx.run(
        """
        INSERT INTO ticket_type (organization_id, id, event_id, number, name, description, kind,
                                 entitlement, entry_limit, max_daily_entries, valid_days, zone_ids,
                                 gate_ids, reentry, currency, prices, quota, max_per_order, sold_by,
                                 status, version, created_at, updated_at)
        VALUES (current_organization(), $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
                $15, $16, $17, $18, $19, 1, $20, $20)
        """,
        ticket_type.id,
        ticket_type.event_id,
        ticket_type.number,
        ticket_type.name,
        ticket_type.description,
        ticket_type.kind,
        ticket_type.entitlement,
        ticket_type.entry_limit,
        ticket_type.max_daily_entries,
        ticket_type.valid_days,
        ticket_type.zone_ids,
        ticket_type.gate_ids,
        ticket_type.reentry,
        ticket_type.currency,
        ticket_type.prices,
        ticket_type.quota,
        ticket_type.max_per_order,
        ticket_type.sold_by,
        ticket_type.status,
        ticket_type.created_at,
    )


async def find_types(tx: Transaction, ids: Sequence[UUID]) -> list[TicketType]:
    return await tx.rows(
        _ticket_type,
        """
        SELECT id, event_id, number, name, description, kind, entitlement, entry_limit,
               max_daily_entries, valid_days, zone_ids, gate_ids, reentry, currency, prices, quota,
               taken, max_per_order, sold_by, status, version, created_at, updated_at
          FROM ticket_type WHERE id = ANY($1::uuid[]) ORDER BY id
        """,
        ids,
    )


async def list_types(tx: Transaction, event_id: UUID) -> list[TicketType]:
    return await tx.rows(
        _ticket_type,
        """
        SELECT id, event_id, number, name, description, kind, entitlement, entry_limit,
               max_daily_entries, valid_days, zone_ids, gate_ids, reentry, currency, prices, quota,
               taken, max_per_order, sold_by, status, version, created_at, updated_at
          FROM ticket_type WHERE event_id = $1 ORDER BY number
        """,
        event_id,
    )


async def lock_type(tx: Transaction, ticket_type_id: UUID) -> None:
    """Until the transaction ends nobody takes one."""
    await tx.run("SELECT 1 FROM ticket_type WHERE id = $1 FOR NO KEY UPDATE", ticket_type_id)


async def update_type(tx: Transaction, ticket_type: TicketType) -> int:
    """Writes the next version of what was read; 0 when somebody else was first."""
    return await tx.run(
        """
        UPDATE ticket_type
           SET name = $2, description = $3, entitlement = $4, entry_limit = $5,
               max_daily_entries = $6, valid_days = $7, zone_ids = $8, gate_ids = $9, reentry = $10,
               prices = $11, quota = $12, max_per_order = $13, sold_by = $14, status = $15,
               version = $16, updated_at = $17
         WHERE id = $1 AND version = $16 - 1
        """,
        ticket_type.id,
        ticket_type.name,
        ticket_type.description,
        ticket_type.entitlement,
        ticket_type.entry_limit,
        ticket_type.max_daily_entries,
        ticket_type.valid_days,
        ticket_type.zone_ids,
        ticket_type.gate_ids,
        ticket_type.reentry,
        ticket_type.prices,
        ticket_type.quota,
        ticket_type.max_per_order,
        ticket_type.sold_by,
        ticket_type.status,
        ticket_type.version,
        ticket_type.updated_at,
    )


async def delete_type(tx: Transaction, ticket_type_id: UUID) -> int:
    return await tx.run("DELETE FROM ticket_type WHERE id = $1", ticket_type_id)


async def add_taken(tx: Transaction, counts: Mapping[UUID, int]) -> set[UUID]:
    """Those that had so many left; the others stay as they were. One after the other in the order of
    their ids, so that no two orders wait for each other. Not locked before they are changed: with
    others who only refer to the row (new tickets do), PostgreSQL sees a deadlock in that."""
    added: set[UUID] = set()
    for ticket_type_id in sorted(counts):
        if await tx.run(
            """
            UPDATE ticket_type SET taken = taken + $2
             WHERE id = $1 AND (quota IS NULL OR taken + $2 <= quota)
            """,
            ticket_type_id,
            counts[ticket_type_id],
        ):
            added.add(ticket_type_id)
    return added


def _ticket_type(prices: list[dict[str, object]], **columns: object) -> TicketType:
    given = msgspec.convert(prices, list[Price])
    return TicketType(prices=given, **columns)  # pyright: ignore[reportArgumentType]
