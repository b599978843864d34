"""Who may follow an event's seats, who its counts, and what they are sent."""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from voelgoed.accounts.model import Caller
from voelgoed.accounts.rules.permissions import may
from voelgoed.events.actions.events import visible_event
from voelgoed.events.model import EventNotFound
from voelgoed.infra.cache import Cache
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.publisher import Projection
from voelgoed.seating.actions.views import snapshot_in, view_in
from voelgoed.seating.model.changes import OccupancyChanged, SeatStatesChanged, ZonePlacesChanged
from voelgoed.seating.model.event_layout import Assignment
from voelgoed.seating.model.seats import Availability
from voelgoed.seating.rules.counts import availability
from voelgoed.seating.rules.house import House
from voelgoed.seating.rules.messages import (
    OCCUPANCY,
    SEATS,
    occupancy_changed,
    places_changed,
    seats_changed,
)
from voelgoed.seating.store.places import read_days


async def may_follow_seats(tx: Transaction, caller: Caller, event_id: UUID) -> None:
    await visible_event(tx, caller, event_id)


async def may_follow_occupancy(
    tx: Transaction, caller: Caller, organization_id: UUID, event_id: UUID
) -> None:
    """Staff of the organisation; for others there is no such thing."""
    if organization_id != caller.organization_id or not may(caller.role, "layouts.read"):
        raise EventNotFound()
    await visible_event(tx, caller, event_id)


def projections(database: Database, cache: Cache) -> dict[str, Projection]:
    """By the first word of the topics they are for."""
    seating = SeatingProjections(database, cache)
    return {SEATS: seating.seats, OCCUPANCY: seating.occupancy}


class _Current(msgspec.Struct, frozen=True):
    """An event's seats and places when its messages are numbered."""

    assignment: Assignment
    house: House
    counts: Availability


class SeatingProjections:
    """Whatever changed, followers are sent how it is when their message is numbered: of two
    transactions that change seats at once, neither knows what the other did."""

    def __init__(self, database: Database, cache: Cache) -> None:
        self._database = database
        self._cache = cache

    async def seats(
        self, tx: Transaction, changes: Sequence[SeatStatesChanged | ZonePlacesChanged]
    ) -> Sequence[dict[str, object] | None]:
        """Seats that changed more than once are sent once. Positions of an earlier layout mean
        nothing now: then followers read again."""
        current = await self._current(tx, changes[0].event_id)
        if current is None:
            return [None]
        seats = [each for each in changes if isinstance(each, SeatStatesChanged)]
        zone_ids = {each.zone_id for each in changes if isinstance(each, ZonePlacesChanged)}
        listed = [each.positions for each in seats if each.assignment == current.assignment]
        messages: list[dict[str, object] | None] = [None] if len(listed) < len(seats) else []
        if listed:
            messages += seats_changed(current.house, listed)
        if zone_ids:
            messages.append(places_changed(current.counts, zone_ids))
        return messages

    async def occupancy(
        self, tx: Transaction, changes: Sequence[OccupancyChanged]
    ) -> Sequence[dict[str, object] | None]:
        current = await self._current(tx, changes[0].event_id)
        return [None] if current is None else occupancy_changed(current.counts, changes, tx.now)

    async def _current(self, tx: Transaction, event_id: UUID) -> _Current | None:
        """None while the event has no layout. Read once for both topics of an event."""
        key = (_Current, event_id)
        if key not in tx.seen:
            tx.seen[key] = await self._read(tx, event_id)
        found = tx.seen[key]
        return found if isinstance(found, _Current) else None

    async def _read(self, tx: Transaction, event_id: UUID) -> _Current | None:
        view = await view_in(tx, self._database, self._cache, event_id)
        if view is None:
            return None
        house = view.house(await snapshot_in(tx, event_id), tx.now)
        zone_days = await read_days(tx, event_id, tx.now)
        days = [day.date for day in view.event.days]
        counts = availability(view.event_layout, house, zone_days, days)
        return _Current(view.assignment, house, counts)
