"""From what was recorded to what it says."""

from collections import defaultdict
from collections.abc import Sequence

from voelgoed.reporting.model.funnel import FunnelBucket, FunnelTotal, Recorded
from voelgoed.seating.rules.counts import percent

FIELDS = {
    "SeatReserved": "held",
    "SeatReleased": "released",
    "SeatHoldExpired": "expired",
    "SeatHoldConverted": "converted",
    "OrderPlaced": "orders_placed",
    "OrderPaid": "orders_paid",
    "OrderExpired": "orders_expired",
    "OrderCancelled": "orders_cancelled",
    "OrderRefunded": "orders_refunded",
}


def funnel_total(recorded: Sequence[Recorded]) -> FunnelTotal:
    total = dict.fromkeys(FIELDS.values(), 0)
    for each in recorded:
        total[FIELDS[each.name]] += each.count
    left = total["released"] + total["expired"]
    unpaid = total["orders_expired"] + total["orders_cancelled"]
    return FunnelTotal(
        **total,
        conversion_percent=percent(total["converted"], total["converted"] + left),
        abandonment_percent=percent(left, total["converted"] + left),
        checkout_percent=percent(total["orders_paid"], total["orders_paid"] + unpaid),
    )


def funnel_buckets(recorded: Sequence[Recorded]) -> list[FunnelBucket]:
    by_bucket = defaultdict[object, dict[str, int]](lambda: dict.fromkeys(FIELDS.values(), 0))
    for each in recorded:
        by_bucket[each.since][FIELDS[each.name]] = each.count
    return [
        FunnelBucket(since=since, **by_bucket[since])
        for since in sorted({each.since for each in recorded})
    ]
