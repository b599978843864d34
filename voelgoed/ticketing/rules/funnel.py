"""From what was recorded to what it says."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from voelgoed.ticketing.model.funnel import Funnel, Recorded, Step

FIELDS = {
    "SeatReserved": "held",
    "SeatReleased": "released",
    "SeatHoldExpired": "expired",
    "SeatHoldConverted": "converted",
    "OrderPlaced": "orders_placed",
    "OrderPaid": "orders_paid",
    "OrderExpired": "orders_expired",
    "OrderRefunded": "orders_refunded",
}
STEP_FIELDS = tuple(field for field in FIELDS.values() if field != "orders_refunded")


def funnel(
    event_id: UUID,
    since: datetime | None,
    until: datetime | None,
    recorded: Sequence[Recorded],
) -> Funnel:
    total: dict[str, int] = dict.fromkeys(FIELDS.values(), 0)
    by_step: dict[datetime, dict[str, int]] = defaultdict(lambda: dict.fromkeys(STEP_FIELDS, 0))
    for each in recorded:
        field = FIELDS[each.name]
        total[field] += each.count
        if field in STEP_FIELDS:
            by_step[each.since][field] += each.count
    left = total["released"] + total["expired"]
    return Funnel(
        event_id=event_id,
        since=since,
        until=until,
        **total,
        conversion_percent=_percent(total["converted"], total["converted"] + left),
        abandonment_percent=_percent(left, total["converted"] + left),
        checkout_percent=_percent(
            total["orders_paid"], total["orders_paid"] + total["orders_expired"]
        ),
        steps=[Step(since=at, **by_step[at]) for at in sorted(by_step)],
    )


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 2) if whole else 0.0
