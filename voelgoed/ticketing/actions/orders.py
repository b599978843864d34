"""Orders, looked for."""

from uuid import UUID

from voelgoed.accounts.model import Caller
from voelgoed.accounts.rules.permissions import may
from voelgoed.infra.database import Database
from voelgoed.ticketing.model.orders import Order, OrderStatus
from voelgoed.ticketing.rules.codes import read_order_number
from voelgoed.ticketing.store import orders as store
from voelgoed.ticketing.store.orders import OrderFilter


async def list_orders(
    database: Database,
    caller: Caller,
    event_id: UUID | None,
    status: OrderStatus | None,
    number: str | None,
    email: str | None,
    after: UUID | None,
    limit: int,
) -> list[Order]:
    """A number as people say it finds its order; one that is none finds nothing."""
    wanted = OrderFilter(
        event_id=event_id,
        user_id=None if may(caller.role, "sales.read") else caller.id,
        status=status,
        number=number and (read_order_number(number) or "none"),
        email=email,
    )
    async with database.transaction(caller.organization_id) as tx:
        return await store.list_orders(tx, wanted, after, limit)
