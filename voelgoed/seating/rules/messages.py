"""What followers of an event's seats are sent."""

from collections.abc import Collection, Sequence
from datetime import datetime
from functools import lru_cache
from uuid import UUID

import numpy as np

from voelgoed.seating.model.changes import OccupancyChanged
from voelgoed.seating.model.seats import Availability
from voelgoed.seating.rules.counts import percent
from voelgoed.seating.rules.house import House

SEATS, OCCUPANCY = "seats", "occupancy"
TOPICS_MAX = 10_000
"""Names of topics that are remembered: every scan needs one."""
DELTA_SEATS_MAX = 500
"""In a message. A single change of more seats is not listed: a reader loads the map again."""


def seats_topic(event_id: UUID) -> str:
    return f"{SEATS}:{event_id}"


@lru_cache(maxsize=TOPICS_MAX)
def occupancy_topic(organization_id: UUID, event_id: UUID) -> str:
    return f"{OCCUPANCY}:{organization_id}:{event_id}"


def seats_changed(house: House, changes: Sequence[Collection[int]]) -> list[dict[str, object]]:
    """Each seat of these changes once, with its code as it is now, and the companion seats of their
    zones, which are kept or not depending on the wheelchair places beside them and on how full the
    zone is."""
    plan = house.plan
    listed = [np.array(list(positions), np.int32) for positions in changes]
    if any(len(positions) > DELTA_SEATS_MAX for positions in listed):
        return [{"event": "seats_changed", "seats": None}]
    positions = np.unique(np.concatenate(listed))
    is_near = np.isin(plan.zone[plan.companion_of_pair], plan.zone[positions])
    affected = np.union1d(positions, plan.companion_of_pair[is_near])
    pairs = np.column_stack((affected, house.codes[affected])).tolist()
    return [
        {"event": "seats_changed", "seats": pairs[at : at + DELTA_SEATS_MAX]}
        for at in range(0, len(pairs), DELTA_SEATS_MAX)
    ]


def places_changed(counts: Availability, zone_ids: Collection[UUID]) -> dict[str, object]:
    """How many are free where nothing is numbered. No seat is another than before: a reader that
    shows only those has nothing to do."""
    zones = [zone for zone in counts.zones if zone.zone_id in zone_ids]
    places = [[str(zone.zone_id), zone.available] for zone in zones]
    return {"event": "places_changed", "seats": [], "places": places}


def many_places_changed() -> dict[str, object]:
    """In zones that nobody remembers: a reader asks how many are free."""
    return {"event": "places_changed", "seats": [], "places": None}


def layout_changed(event_id: UUID) -> dict[str, object]:
    return {"event": "layout_changed", "event_id": str(event_id)}


def occupancy_changed(
    counts: Availability, changes: Sequence[OccupancyChanged], now: datetime
) -> list[dict[str, object]]:
    """One message for each change, because each names what it is about, all with the counts as they
    are now."""
    capacity = counts.capacity
    current = {
        "event_id": str(counts.event_id),
        "total_available": counts.available,
        "total_held": counts.held,
        "total_sold": counts.sold,
        "percent_available": percent(counts.available, capacity),
        "percent_held": percent(counts.held, capacity),
        "timestamp": now.isoformat(),
    }
    return [{"event": change.event, **current, **change.about} for change in changes]
