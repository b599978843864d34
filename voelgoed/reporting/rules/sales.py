"""From counted tickets to a report. Every part is about the same tickets, so each adds up to the total."""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import get_args
from uuid import UUID

from voelgoed.reporting.model.about import ZonePlaces
from voelgoed.reporting.model.sales import (
    DaySales,
    MethodSales,
    OrderCounts,
    SoldOf,
    TypeSales,
    ZoneSales,
)
from voelgoed.seating.rules.counts import percent
from voelgoed.ticketing.model.orders import OrderStatus

Figures = Mapping[str, int]
"""Those of `Sold` that are counted; the others follow from them."""

NOTHING: Figures = dict.fromkeys(
    (
        *("sold", "complimentary", "imported", "refunded", "voided"),
        *("gross_minor", "refunded_minor", "imported_minor"),
    ),
    0,
)
NO_ZONE = "No zone"


def completed(counted: Figures) -> dict[str, int]:
    valid = counted["sold"] + counted["complimentary"] + counted["imported"]
    return {
        **counted,
        "valid": valid,
        "issued": valid + counted["refunded"] + counted["voided"],
        "net_minor": counted["gross_minor"] - counted["refunded_minor"],
    }


def fullest(on_days: Iterable[tuple[dt.date, int]]) -> int:
    """How many valid tickets there are on the day with most of them."""
    by_day = Counter[dt.date]()
    for day, valid in on_days:
        by_day[day] += valid
    return max(by_day.values(), default=0)


def sold_of(counted: Figures, most_on_a_day: int, capacity: int) -> SoldOf:
    percent_sold = percent(most_on_a_day, capacity)
    return SoldOf(**completed(counted), capacity=capacity, percent_sold=percent_sold)


def type_sales(type_id: UUID, name: str, quota: int | None, counted: Figures) -> TypeSales:
    """A quota is for all days together."""
    figures = completed(counted)
    return TypeSales(
        **figures,
        ticket_type_id=type_id,
        name=name,
        capacity=quota,
        percent_sold=None if quota is None else percent(figures["valid"], quota),
    )


def zone_sales(
    zones: Sequence[ZonePlaces],
    counted: Mapping[UUID | None, Figures],
    most_on_a_day: Mapping[UUID | None, int],
) -> list[ZoneSales]:
    """All zones of the layout, then those that it has no longer, then tickets without one."""
    known = [
        ZoneSales(
            **completed(counted.get(zone.id, NOTHING)),
            zone_id=zone.id,
            name=zone.name,
            capacity=zone.capacity,
            percent_sold=percent(most_on_a_day.get(zone.id, 0), zone.capacity),
        )
        for zone in zones
    ]
    left = [
        ZoneSales(
            **completed(counted[each]),
            zone_id=each,
            name=zone_name(each),
            capacity=None,
            percent_sold=None,
        )
        for each in without(counted, zones)
    ]
    return known + left


def without(found: Iterable[UUID | None], zones: Sequence[ZonePlaces]) -> list[UUID | None]:
    """Zones that were found and are not of the layout; none at all comes last."""
    strange = set(found) - {zone.id for zone in zones}
    return sorted(strange, key=lambda each: (each is None, str(each)))


def zone_name(zone_id: UUID | None) -> str:
    return NO_ZONE if zone_id is None else str(zone_id)


def method_sales(counted: Mapping[tuple[str, str], Figures]) -> list[MethodSales]:
    """The box office first, imports last."""
    order = sorted(counted, key=lambda each: (each[0] != "manual", each[0] == "import", each))
    return [
        MethodSales(**completed(counted[each]), provider=each[0], method=each[1]) for each in order
    ]


def day_sales(counted: Mapping[dt.date, Figures]) -> list[DaySales]:
    return [DaySales(**completed(counted[day]), day=day) for day in sorted(counted)]


def order_counts(counted: Mapping[OrderStatus, int]) -> OrderCounts:
    each = {status: counted.get(status, 0) for status in get_args(OrderStatus)}
    return OrderCounts(placed=sum(counted.values()), **each)
