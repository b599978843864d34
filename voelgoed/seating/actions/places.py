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
from voelgoed.infra.refusal import Refusal
from voelgoed.seating.actions.seats import announce_counts, announce_places
from voelgoed.seating.actions.views import View, require_unchanged
from voelgoed.seating.model.layout import SEATED
from voelgoed.seating.model.refusals import (
    BlockAtCapacity,
    HoldGone,
    PlacesNotSold,
    ZoneHasSeats,
    ZoneNotFound,
)
from voelgoed.seating.model.seats import SeatStatus, ZoneDay
from voelgoed.seating.rules.rooms import Rooms
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


class HeldPlaces(msgspec.Struct, frozen=True):
    """Places, and whose they are to be."""

    places: Places
    hold_id: UUID
    held_until: datetime


async def hold_places(
    tx: Transaction,
    view: View,
    wanted: Sequence[Places],
    hold_id: UUID,
    held_until: datetime,
) -> None:
    """All or nothing. A pass and a day ticket in one zone are two of the wanted."""
    await require_unchanged(tx, view)
    together = _together(wanted)
    rooms = await open_zones(tx, view, {places.zone_id for places in together})
    if (refusal := refuse_places(view, rooms, together)) is not None:
        raise refusal
    await take_places(tx, view, [HeldPlaces(places, hold_id, held_until) for places in together])


async def open_zones(tx: Transaction, view: View, zone_ids: Iterable[UUID]) -> Rooms:
    """Locked, until the transaction ends, in the order of their ids. What is not a zone of places
    is left out, for `refuse_places` to say so."""
    return Rooms(
        [
            day
            for zone_id in sorted(zone_ids)
            if _is_zone_of_places(view, zone_id)
            for day in await _current_days(tx, view, zone_id)
        ]
    )


def _is_zone_of_places(view: View, zone_id: UUID) -> bool:
    index = view.plan.zone_index.get(zone_id)
    return index is not None and view.zones[index].zone.zone_type not in SEATED


def refuse_places(view: View, rooms: Rooms, wanted: Iterable[Places]) -> Refusal | None:
    """Why there is no room for these. Where there is room it is taken: for a party that in the end
    does not get all it wants, `rooms.undo()`."""
    event_days = {day.date for day in view.event.days}
    for places in _together(wanted):
        zone_id = str(places.zone_id)
        zone = view.zone(places.zone_id)
        if zone.zone.zone_type in SEATED:
            return ZoneHasSeats(zone_id=zone_id)
        if not zone.enabled or not places.days or not set(places.days) <= event_days:
            return ZoneNotFound(zone_id=zone_id)
        room = rooms.room(places.zone_id, places.days)
        if room < places.count:
            return BlockAtCapacity(zone_id=zone_id, available=room, asked=places.count)
        rooms.take(places.zone_id, places.days, places.count)
    return None


async def take_places(tx: Transaction, view: View, wanted: Sequence[HeldPlaces]) -> None:
    """Of zones that are open, and have room."""
    if not wanted:
        return
    holds = [
        PlaceHold(
            held.places.zone_id,
            held.hold_id,
            sorted(set(held.places.days)),
            held.places.count,
            held.held_until,
        )
        for held in wanted
    ]
    await _add(tx, view, holds, held=1)
    await store.insert_place_holds(tx, view.event.id, holds)
    for hold in holds:
        _note(tx, view, Places(hold.zone_id, hold.places, hold.days), hold.hold_id, "held")


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


async def release_places(
    tx: Transaction, view: View, hold_ids: Sequence[UUID], event: str = "places_released"
) -> int:
    """What these holds still have; doing it twice is doing it once."""
    await share_event_layout(tx, view.event.id)
    freed = await _end_holds(tx, view, hold_ids)
    await _add(tx, view, freed, held=-1)
    _note_all(tx, view, freed, "released", event)
    return sum(hold.places for hold in freed)


async def sell_places(
    tx: Transaction, view: View, wanted: Sequence[Places], hold_ids: Sequence[UUID]
) -> None:
    """All that was held, or nothing: a hold that is over in one of its zones is over."""
    await share_event_layout(tx, view.event.id)
    ended = await _end_holds(tx, view, hold_ids)
    sold = [Places(hold.zone_id, hold.places, hold.days) for hold in ended]
    if any(hold.held_until <= tx.now for hold in ended) or _together(sold) != _together(wanted):
        raise HoldGone(hold_ids=[str(hold_id) for hold_id in hold_ids])
    await _add(tx, view, ended, held=-1, sold=1)
    _note_all(tx, view, ended, "sold", "places_sold")


async def _end_holds(tx: Transaction, view: View, hold_ids: Sequence[UUID]) -> list[PlaceHold]:
    """Nobody else may change the counts because of these: they are whoever's was first."""
    event_id = view.event.id
    for zone_id in await store.zones_of_holds(tx, event_id, hold_ids):
        await store.lock_days(tx, event_id, zone_id)
    return await store.delete_place_holds(tx, event_id, hold_ids)


async def _add(
    tx: Transaction, view: View, holds: Sequence[PlaceHold], *, held: int, sold: int = 0
) -> None:
    """So many times their places, to the counters of zones and days that are locked."""
    counts: Counter[tuple[UUID, dt.date]] = Counter()
    for hold in holds:
        for day in hold.days:
            counts[hold.zone_id, day] += hold.places
    if counts:
        changes = [
            (zone_id, day, held * count, sold * count)
            for (zone_id, day), count in sorted(counts.items())
        ]
        await store.add_to_days(tx, view.event.id, changes)


async def prolong(
    tx: Transaction, view: View, hold_ids: Sequence[UUID], held_until: datetime
) -> int:
    """Of holds that have not ended."""
    await share_event_layout(tx, view.event.id)
    return await store.prolong_place_holds(tx, view.event.id, hold_ids, held_until)


async def give_places_back(tx: Transaction, view: View, sold: Sequence[Places]) -> None:
    """Of refunded tickets. Nothing tells one sold place from another, so it is for the owner of
    the tickets to see that each is given back once."""
    await share_event_layout(tx, view.event.id)
    for places in _together(sold):
        zone_days = await store.lock_days(tx, view.event.id, places.zone_id)
        enough = {day.day for day in zone_days if day.sold >= places.count}
        if not set(places.days) <= enough:
            raise PlacesNotSold(zone_id=str(places.zone_id), asked=places.count)
        changes = [(places.zone_id, day, 0, -places.count) for day in places.days]
        await store.add_to_days(tx, view.event.id, changes)
        _note(tx, view, places, None, "given_back")


def _note_all(
    tx: Transaction, view: View, holds: Sequence[PlaceHold], what: PlaceChange, event: str
) -> None:
    """Holds of the same zone and days as one, however many there are."""
    places = _together(Places(hold.zone_id, hold.places, hold.days) for hold in holds)
    for each in places:
        _note(tx, view, each, holds[0].hold_id if len(holds) == 1 else None, what, event)


def _note(
    tx: Transaction,
    view: View,
    places: Places,
    hold_id: UUID | None,
    what: PlaceChange,
    event: str | None = None,
) -> None:
    told: dict[str, object] = {"zone_id": str(places.zone_id), "hold_id": str(hold_id)}
    announce_places(tx, view, places.zone_id)
    announce_counts(tx, view, event or f"places_{what}", [told] if hold_id else [])
    about = {
        "org_id": str(tx.organization_id),
        "event_id": str(view.event.id),
        "zone_id": str(places.zone_id),
        "places": places.count,
        "days": [str(day) for day in places.days],
        "status_before": BEFORE[what],
        "status_after": AFTER[what],
        "reason": f"hold {hold_id}" if hold_id else what,
    }

    def note() -> None:
        seat_changes.labels(AFTER[what]).inc(places.count)
        log.info("places_changed", **about)

    tx.once_committed(note)
