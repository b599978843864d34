"""Orders that nobody paid in time: what they had of the quotas is given back."""

from uuid import UUID

from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.model import Caller
from voelgoed.infra.database import Database
from voelgoed.ticketing.actions import ticket_types
from voelgoed.ticketing.actions.domain_events import happened
from voelgoed.ticketing.rules.holds import SWEEP_AFTER
from voelgoed.ticketing.store import holds as hold_store
from voelgoed.ticketing.store import orders
from voelgoed.ticketing.store.domain_events import insert_domain_events

PER_SWEEP_MAX = 500


async def expire_orders(database: Database) -> int:
    before = database.clock.now() - SWEEP_AFTER
    expired = 0
    for organization_id in await orders.organizations_with_orders_over(database, before):
        async with database.transaction(organization_id) as tx:
            due = await orders.pending_orders_over(tx, tx.now - SWEEP_AFTER, PER_SWEEP_MAX)
        for order_id in due:
            expired += await _expire(database, organization_id, order_id)
    return expired


async def _expire(database: Database, organization_id: UUID, order_id: UUID) -> bool:
    nobody = Caller(kind="system", id=None, organization_id=organization_id)
    async with database.transaction(organization_id) as tx:
        order = await orders.lock_order(tx, order_id)
        if order is None or order.status != "pending":
            return False
        lines = await orders.list_lines(tx, order_id)
        holds = await hold_store.find_holds(tx, list({line.hold_id for line in lines}))
        still = [hold for hold in holds if hold.status == "active" and hold.held_until > tx.now]
        if len(still) == len(holds):  # somebody extended them
            await orders.prolong_order(tx, order_id, min(hold.held_until for hold in holds))
            return False
        await ticket_types.give_back(tx, ticket_types.counts_of_lines(lines))
        await orders.update_order(tx, order_id, "expired", 0)
        await record(tx, nobody, "order_expired", "Order", order_id, {"number": order.number})
        about: dict[str, object] = {"order_id": order_id}
        await insert_domain_events(
            tx, [happened(tx, "OrderExpired", order.event_id, order_id, about)]
        )
        return True
