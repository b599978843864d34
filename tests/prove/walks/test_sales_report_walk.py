"""Whatever is sold, refunded and paid, all parts of the report on sales add up."""

import random
from datetime import timedelta
from typing import Any

import pytest

from tests.prove.length import seeds
from tests.reporting.support import require_sales_add_up, sales_report
from tests.support import MovableClock, Tenant
from tests.ticketing.sales_support import CASH, ELSEWHERE, Sales, sales
from voelgoed.infra.refusal import Refusal
from voelgoed.services import Services
from voelgoed.ticketing.actions.refunds import settle_refund
from voelgoed.ticketing.model.orders import Because, NewPayment, OrderDetails

TERMINAL = NewPayment(provider="manual", method="card_terminal")
FREE = NewPayment(provider="manual", method="complimentary")
STEPS = 60


class TillWalk:
    """Somebody at a till, who does whatever can be done."""

    def __init__(self, sold: Sales, clock: MovableClock, seed: int) -> None:
        self.sold, self.clock, self.random = sold, clock, random.Random(seed)
        self.orders: list[OrderDetails] = []
        self.did: list[str] = []

    async def step(self) -> None:
        kinds = [
            "sell",
            "sell",
            "begin",
            "tell",
            "pay",
            "refund",
            "refund",
            "void",
            "settle",
            "cancel",
        ]
        kind = self.random.choice(kinds)
        self.clock.ahead += timedelta(hours=self.random.choice([0, 0, 0, 5]))
        try:
            await getattr(self, kind)()
        except Refusal:
            return
        self.did.append(kind)

    async def sell(self) -> None:
        seats = f"A{self.random.randint(1, 60)}" if self.random.random() < 0.5 else ""
        holds = await self.sold.hold(seats, self.random.randint(0 if seats else 1, 3))
        payment = self.random.choice([CASH, TERMINAL, FREE])
        self.orders.append(await self.sold.order(holds, payment))

    async def begin(self) -> None:
        holds = await self.sold.hold(floor=self.random.randint(1, 3))
        self.orders.append(await self.sold.order(holds, self.random.choice([ELSEWHERE, None])))

    async def order(self) -> OrderDetails:
        return await self.sold.read(self.random.choice(self.orders[-6:]))

    async def tell(self) -> None:
        order = await self.order()
        if order.payments:
            more: dict[str, Any] = self.random.choice([{}, {}, {"amount_minor": 77}])
            status = self.random.choice(["succeeded", "succeeded", "failed", "refunded"])
            await self.sold.tell(order, status, **more)

    async def pay(self) -> None:
        await self.sold.pay(await self.order(), self.random.choice([CASH, ELSEWHERE]))

    async def refund(self) -> None:
        order = await self.order()
        some = [each.id for each in order.tickets if self.random.random() < 0.5]
        await self.sold.refund(order, some or None)

    async def void(self) -> None:
        order = await self.order()
        if order.tickets:
            await self.sold.void(self.random.choice(order.tickets).id)

    async def settle(self) -> None:
        for payment in (await self.order()).payments:
            because = Because(reason="given back")
            checkout, till = self.sold.services.checkout, self.sold.till
            await settle_refund(checkout, till, payment.id, because)

    async def cancel(self) -> None:
        await self.sold.cancel(await self.order())


@pytest.mark.parametrize("seed", seeds(short=2, full=50))
async def test_whatever_is_sold_refunded_and_paid_all_parts_add_up(
    services: Services, tenant: Tenant, clock: MovableClock, seed: int
) -> None:
    sold = await sales(services, tenant)
    walk = TillWalk(sold, clock, seed)
    await walk.sell()
    for number in range(STEPS):
        await walk.step()
        if number % 10 == 0:
            require_sales_add_up(await sales_report(sold))
    found = await sales_report(sold)
    require_sales_add_up(found)
    assert {"sell", "refund", "void"} < set(walk.did)
    async with services.database.transaction(tenant.id) as tx:
        [kept] = await tx.connection.fetch(
            """
            SELECT count(*) AS issued, count(*) FILTER (WHERE is_valid) AS valid,
                   (SELECT count(*) FROM ticket_order) AS orders,
                   (SELECT sum(total_minor) FROM ticket_order AS sale
                     WHERE status IN ('paid', 'partially_refunded', 'refunded')
                       AND NOT EXISTS (SELECT 1 FROM payment WHERE order_id = sale.id
                                          AND method = 'complimentary')) AS gross,
                   (SELECT sum(refunded_minor) FROM ticket_order AS sale
                     WHERE NOT EXISTS (SELECT 1 FROM payment WHERE order_id = sale.id
                                          AND method = 'complimentary')) AS refunded
              FROM ticket
            """
        )
    total = found.total
    assert (total.issued, total.valid) == (kept["issued"], kept["valid"])
    assert (total.gross_minor, total.refunded_minor) == (kept["gross"], kept["refunded"])
    assert found.orders.placed == kept["orders"]
