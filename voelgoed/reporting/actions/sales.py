from uuid import UUID

import msgspec

from voelgoed.accounts.model import Caller
from voelgoed.reporting.actions.desk import ReportDesk, about
from voelgoed.reporting.model.sales import SalesReport
from voelgoed.reporting.rules.sales import (
    NOTHING,
    Figures,
    day_sales,
    fullest,
    method_sales,
    order_counts,
    sold_of,
    type_sales,
    zone_sales,
)
from voelgoed.reporting.store import sales as store
from voelgoed.reporting.store.sales import SoldRow


async def report_sales(desk: ReportDesk, caller: Caller, event_id: UUID) -> SalesReport:
    zones = await desk.zones_of(caller, event_id)
    async with desk.reading(caller) as tx:
        event, _, told = await about(tx, event_id)
        counted = await store.count_tickets(tx, event_id, told["timezone"])
        on_days = await store.count_on_days(tx, event_id, [day.date for day in event.days])
        types = await store.list_types(tx, event_id)
        orders = await store.count_orders(tx, event_id)
        payments = await store.count_payments(tx, event_id)
    [total] = [_figures(row) for row in counted if row.part == "total"]
    by_type = {row.ticket_type_id: _figures(row) for row in counted if row.part == "ticket_type"}
    most_on_a_day = {
        zone_id: fullest((each.day, each.valid) for each in on_days if each.zone_id == zone_id)
        for zone_id in {each.zone_id for each in on_days}
    }
    return SalesReport(
        **told,
        as_of=tx.now,
        currency=types[0].currency if types else None,
        orders=order_counts(orders),
        total=sold_of(total, fullest((each.day, each.valid) for each in on_days), event.capacity),
        ticket_types=[
            type_sales(each.id, each.name, each.quota, by_type.get(each.id, NOTHING))
            for each in types
        ],
        zones=zone_sales(
            zones,
            {row.zone_id: _figures(row) for row in counted if row.part == "zone"},
            most_on_a_day,
        ),
        methods=method_sales(
            {
                (row.provider or "", row.method or ""): _figures(row)
                for row in counted
                if row.part == "method"
            }
        ),
        days=day_sales({row.day: _figures(row) for row in counted if row.day is not None}),
        payments=payments,
    )


def _figures(row: SoldRow) -> Figures:
    told = msgspec.structs.asdict(row)
    return {name: told[name] for name in NOTHING}
