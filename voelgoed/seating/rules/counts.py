"""How full the house is, zone by zone."""

import datetime as dt
from collections.abc import Sequence
from typing import Literal
from uuid import UUID

import msgspec
import numpy as np

from voelgoed.seating.model.event_layout import EventLayout, EventZone
from voelgoed.seating.model.layout import SEATED, VIP
from voelgoed.seating.model.seats import (
    SOLD,
    Availability,
    DayCount,
    SeatingReport,
    ZoneCount,
    ZoneDay,
)
from voelgoed.seating.rules.house import House
from voelgoed.seating.rules.orphans import orphan_count
from voelgoed.seating.rules.plan import WHEELCHAIR
from voelgoed.seating.rules.stretches import stretches

CODES = 6
ORPHAN_RATIO_MAX = 0.10
VIP_UTILISATION = (0.40, 0.95)
ACCESSIBILITY_UTILISATION_MAX = 0.05
JUDGED_FROM_PERCENT = 50.0


def availability(
    event_layout: EventLayout,
    house: House,
    zone_days: Sequence[ZoneDay],
    days: Sequence[dt.date],
) -> Availability:
    by_zone = np.bincount(
        house.plan.zone * CODES + house.codes, minlength=len(house.zones) * CODES
    ).reshape(-1, CODES)
    zones = [
        _seated(zone, by_zone[index].tolist())
        if zone.zone.zone_type in SEATED
        else _unseated(zone, zone_days, days)
        for index, zone in enumerate(house.zones)
    ]
    total = _Total(zones)
    return Availability(
        event_id=event_layout.event_id,
        layout_id=event_layout.layout_id,
        layout_version=event_layout.layout_version,
        capacity=total.of("capacity"),
        available=total.of("available"),
        held=total.of("held"),
        sold=total.of("sold"),
        blocked=total.of("blocked"),
        soft_reserved=total.of("soft_reserved"),
        withheld=total.of("withheld"),
        percent_full=percent(
            total.of("held") + total.of("sold"), total.of("capacity") - total.of("blocked")
        ),
        zones=zones,
    )


def percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 2) if whole > 0 else 0.0


class _Total:
    def __init__(self, zones: Sequence[ZoneCount]) -> None:
        self._zones = zones

    def of(self, field: str) -> int:
        return sum(getattr(zone, field) for zone in self._zones)


def _seated(zone: EventZone, counts: list[int]) -> ZoneCount:
    available, held, sold, blocked, soft_reserved, withheld = counts
    capacity = sum(counts)
    return ZoneCount(
        zone_id=zone.zone.zone_id,
        name=zone.zone.name,
        zone_type=zone.zone.zone_type,
        enabled=zone.enabled,
        availability_status=_status(zone, available),
        capacity=capacity,
        available=available,
        held=held,
        sold=sold,
        blocked=blocked,
        soft_reserved=soft_reserved,
        withheld=withheld,
        percent_full=percent(held + sold, capacity - blocked),
    )


def _unseated(zone: EventZone, zone_days: Sequence[ZoneDay], days: Sequence[dt.date]) -> ZoneCount:
    """A zone is as full as it is on its fullest day."""
    capacity = zone.zone.capacity
    taken = {each.day: each for each in zone_days if each.zone_id == zone.zone.zone_id}
    counts = [
        DayCount(
            day=day,
            available=capacity - taken[day].held - taken[day].sold if day in taken else capacity,
            held=taken[day].held if day in taken else 0,
            sold=taken[day].sold if day in taken else 0,
        )
        for day in sorted(set(days) | taken.keys())
    ]
    fullest = min(counts, key=lambda count: count.available, default=None)
    held, sold = (fullest.held, fullest.sold) if fullest else (0, 0)
    return ZoneCount(
        zone_id=zone.zone.zone_id,
        name=zone.zone.name,
        zone_type=zone.zone.zone_type,
        enabled=zone.enabled,
        availability_status=_status(zone, capacity - held - sold),
        capacity=capacity,
        available=capacity - held - sold if zone.enabled else 0,
        held=held,
        sold=sold,
        blocked=0 if zone.enabled else capacity - held - sold,
        soft_reserved=0,
        withheld=0,
        percent_full=percent(held + sold, capacity),
        days=counts,
    )


def _status(zone: EventZone, available: int) -> Literal["available", "sold_out", "disabled"]:
    if not zone.enabled:
        return "disabled"
    return "available" if available > 0 else "sold_out"


def report(event_id: UUID, house: House, counts: Availability) -> SeatingReport:
    lonely = orphan_count(house, stretches(house))
    sellable = int(house.sellable.sum())
    vip = [zone for zone in counts.zones if zone.zone_type in VIP and zone.enabled]
    vip_capacity = sum(zone.capacity - zone.blocked for zone in vip)
    vip_taken = sum(zone.held + zone.sold for zone in vip)
    sold = house.codes == SOLD
    wheelchairs = int(np.count_nonzero(sold & (house.plan.category == WHEELCHAIR)))
    figures = SeatingReport(
        event_id=event_id,
        orphan_seats=lonely,
        orphan_ratio=_ratio(lonely, sellable) or 0.0,
        vip_utilisation=_ratio(vip_taken, vip_capacity),
        accessibility_utilisation=_ratio(wheelchairs, int(np.count_nonzero(sold))),
        wheelchair_places_sold=wheelchairs,
        unusual=[],
    )
    return msgspec.structs.replace(figures, unusual=_unusual(figures, counts.percent_full))


def _ratio(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _unusual(figures: SeatingReport, percent_full: float) -> list[str]:
    """Use is judged once half of the house has gone: before that it says nothing."""
    low, high = VIP_UTILISATION
    vip, accessibility = figures.vip_utilisation, figures.accessibility_utilisation
    judged = percent_full >= JUDGED_FROM_PERCENT
    found = {
        "orphan_ratio": figures.orphan_ratio > ORPHAN_RATIO_MAX,
        "vip_utilisation": judged and vip is not None and not low <= vip <= high,
        "accessibility_utilisation": judged
        and accessibility is not None
        and not 0 < accessibility <= ACCESSIBILITY_UTILISATION_MAX,
    }
    return [name for name, unusual in found.items() if unusual]
