"""Places in zones without seats, counted per event day.

A ticket takes a place on each of its days. Every change locks the zone's days in their
order; holds whose time is up are let go of first, so they are free at the moment they end.
Whoever changes several zones in one transaction goes through them in the order of their ids,
and whoever changes seats too does that first: then nobody waits for each other in a circle.
"""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal
from uuid import UUID

import msgspec
import structlog

from voelgoed.infra.database import Transaction
from voelgoed.infra.metrics import seat_changes
from voelgoed.seating.actions.seats import announce_counts
from voelgoed.seating.actions.views import View, require_unchanged
from voelgoed.seating.model.layout import SEATED
from voelgoed.seating.model.refusals import (
    HoldGone,
    PlacesNotSold,
    ZoneFull,
    ZoneHasSeats,
    ZoneNotFound,
)
from voelgoed.seating.model.seats import SeatStatus, ZoneDay
from voelgoed.seating.store import places as store
from voelgoed.seating.store.event_layouts import share_event_layout
from voelgoed.seating.store.places import PlaceHold

log = structlog.get_logger()

PlaceChange = Literal["held", "released", "sold", "given_back"]
BEFORE: dict[PlaceChange, SeatStatus] = {
    "held": "available",
    "released": "held",
    "sold": "held",
    "given_back": "sold",
}
AFTER: dict[PlaceChange, SeatStatus] = {
    "held": "held",
    "released": "available",
    "sold": "sold",
    "given_back": "available",
}


class Places(msgspec.Struct, frozen=True):
    """So many in a zone, on these days."""

    zone_id: UUID
    count: int
    days: list[dt.date]


async def hold_places(
    tx: Transaction,
    view: View,
    wanted: Sequence[Places],
    hold_id: UUID,
    held_until: datetime,
) -> None:
    """All or nothing. A pass and a day ticket in one zone are two of the wanted."""
    await require_unchanged(tx, view)
    event_days = {day.date for day in view.event.days}
    for places in _together(wanted):
        zone = view.zone(places.zone_id)
        if zone.zone.zone_type in SEATED:
            raise ZoneHasSeats(zone_id=str(places.zone_id))
        if not zone.enabled or not places.days or not set(places.days) <= event_days:
            raise ZoneNotFound(zone_id=str(places.zone_id))
        zone_days = await _current_days(tx, view, places.zone_id)
        room = min(
            day.capacity - day.held - day.sold for day in zone_days if day.day in places.days
        )
        if room < places.count:
            raise ZoneFull(zone_id=str(places.zone_id), available=room, asked=places.count)
        await _hold(tx, view, places, hold_id, held_until)


def _together(wanted: Iterable[Places]) -> list[Places]:
    """Those of the same zone and days as one, in the order of locking."""
    counts: Counter[tuple[UUID, tuple[dt.date, ...]]] = Counter()
    for places in wanted:
        counts[places.zone_id, tuple(sorted(set(places.days)))] += places.count
    return [Places(zone_id, counts[zone_id, days], list(days)) for zone_id, days in sorted(counts)]


async def _current_days(tx: Transaction, view: View, zone_id: UUID) -> list[ZoneDay]:
    """Locked, all of the event's, and without the holds that have ended."""
    event_id, days = view.event.id, [day.date for day in view.event.days]
    zone_days = await store.lock_days(tx, event_id, zone_id)
    if not set(days) <= {day.day for day in zone_days}:
        capacity = view.zone(zone_id).zone.capacity
        await store.make_days(tx, event_id, zone_id, days, capacity)
        zone_days = await store.lock_days(tx, event_id, zone_id)
    if await store.let_go_of_ended_holds(tx, event_id, zone_id):
        zone_days = await store.lock_days(tx, event_id, zone_id)
    return zone_days


async def _hold(
    tx: Transaction, view: View, places: Places, hold_id: UUID, held_until: datetime
) -> None:
    event_id = view.event.id
    await store.add_to_days(tx, event_id, places.zone_id, places.days, held=places.count)
    hold = PlaceHold(places.zone_id, hold_id, places.days, places.count, held_until)
    await store.insert_place_hold(tx, event_id, hold)
    _note(tx, view, places, hold_id, "held")


async def release_places(tx: Transaction, view: View, hold_id: UUID) -> int:
    """What the hold still has; doing it twice is doing it once."""
    event_id = view.event.id
    await share_event_layout(tx, event_id)
    freed = 0
    for hold in await store.find_place_holds(tx, event_id, hold_id):
        await store.lock_days(tx, event_id, hold.zone_id)
        if await store.delete_place_hold(tx, hold):
            await store.add_to_days(tx, event_id, hold.zone_id, hold.days, held=-hold.places)
            freed += hold.places
            _note(tx, view, Places(hold.zone_id, hold.places, hold.days), hold_id, "released")
    return freed


async def sell_places(tx: Transaction, view: View, wanted: Sequence[Places], hold_id: UUID) -> None:
    """All that was held, or nothing: a hold that is over in one of its zones is over."""
    event_id = view.event.id
    await share_event_layout(tx, event_id)
    sold: list[Places] = []
    for hold in await store.find_place_holds(tx, event_id, hold_id):
        await store.lock_days(tx, event_id, hold.zone_id)
        if hold.held_until <= tx.now or not await store.delete_place_hold(tx, hold):
            raise HoldGone(hold_id=str(hold_id))
        await store.add_to_days(
            tx, event_id, hold.zone_id, hold.days, held=-hold.places, sold=hold.places
        )
        sold.append(Places(hold.zone_id, hold.places, hold.days))
        _note(tx, view, sold[-1], hold_id, "sold")
    if _together(sold) != _together(wanted):
        raise HoldGone(hold_id=str(hold_id))


async def give_places_back(tx: Transaction, view: View, sold: Sequence[Places]) -> None:
    """Of refunded tickets. Nothing tells one sold place from another, so it is for the owner of
    the tickets to see that each is given back once."""
    event_id = view.event.id
    await share_event_layout(tx, event_id)
    for places in _together(sold):
        zone_days = await store.lock_days(tx, event_id, places.zone_id)
        enough = {day.day for day in zone_days if day.sold >= places.count}
        if not set(places.days) <= enough:
            raise PlacesNotSold(zone_id=str(places.zone_id), asked=places.count)
        await store.add_to_days(tx, event_id, places.zone_id, places.days, sold=-places.count)
        _note(tx, view, places, None, "given_back")


def _note(
    tx: Transaction, view: View, places: Places, hold_id: UUID | None, what: PlaceChange
) -> None:
    announce_counts(tx, view, f"places_{what}")
    about = {
        "org_id": str(tx.organization_id),
        "event_id": str(view.event.id),
        "zone_id": str(places.zone_id),
        "places": places.count,
        "days": [str(day) for day in places.days],
        "status_before": BEFORE[what],
        "status_after": AFTER[what],
        "reason": f"hold {hold_id}" if hold_id else "refunded",
    }

    def note() -> None:
        seat_changes.labels(AFTER[what]).inc(places.count)
        log.info("places_changed", **about)

    tx.once_committed(note)
