"""A report is of one moment, writes nothing, and waits for its turn."""

import asyncio

import asyncpg
import pytest

from tests.support import Tenant
from tests.ticketing.sales_support import sales
from voelgoed.reporting.actions import desk as desk_module
from voelgoed.reporting.model.about import ReportsBusy
from voelgoed.reporting.store.sales import count_tickets
from voelgoed.services import Services


async def test_what_is_sold_while_a_report_is_made_is_not_in_it(
    services: Services, tenant: Tenant
) -> None:
    sold = await sales(services, tenant)
    await sold.sell("A1")
    event_id, caller = sold.stage.event_id, tenant.caller("box_office")
    async with services.reports.reading(caller) as tx:
        before = await count_tickets(tx, event_id, "UTC")
        await sold.sell("A3")
        assert await count_tickets(tx, event_id, "UTC") == before
    async with services.reports.reading(caller) as tx:
        assert await count_tickets(tx, event_id, "UTC") != before


async def test_a_report_cannot_write(services: Services, tenant: Tenant) -> None:
    with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
        async with services.reports.reading(tenant.caller()) as tx:
            await tx.run("UPDATE venue SET name = 'x'")


async def test_who_waits_too_long_for_others_is_told_so_and_may_come_again(
    services: Services, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller, reports = tenant.caller(), services.reports
    monkeypatch.setattr(desk_module, "TURN_S_MAX", 0.05)
    begun, done = asyncio.Semaphore(0), asyncio.Event()

    async def read_slowly() -> None:
        async with reports.reading(caller):
            begun.release()
            await done.wait()

    slow = [asyncio.create_task(read_slowly()) for _ in range(desk_module.AT_ONCE_MAX)]
    for _ in slow:
        await begun.acquire()
    with pytest.raises(ReportsBusy):
        async with reports.reading(caller):
            pass
    done.set()
    await asyncio.gather(*slow)
    async with reports.reading(caller) as tx:
        assert tx.now is not None
