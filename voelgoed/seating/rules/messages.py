"""What followers of an event's seats are told."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import numpy as np

from voelgoed.seating.model.seats import Availability
from voelgoed.seating.rules.counts import percent
from voelgoed.seating.rules.house import House

DELTA_SEATS_MAX = 500
"""More changes than these are not listed: a reader loads the map again."""


def seats_topic(event_id: UUID) -> str:
    return f"seats:{event_id}"


def occupancy_topic(organization_id: UUID, event_id: UUID) -> str:
    return f"occupancy:{organization_id}:{event_id}"


def seats_changed(house: House, positions: Sequence[int]) -> dict[str, object]:
    """The codes of these, and of the companion seats of their zones, which are kept or not as
    the wheelchair places beside them and the fullness of the zone will have it."""
    plan = house.plan
    zones = plan.zone[list(positions)]
    companions = plan.companion_of_pair[np.isin(plan.zone[plan.companion_of_pair], zones)]
    told = np.union1d(np.array(positions, np.int32), companions)
    if len(told) > DELTA_SEATS_MAX:
        return {"event": "seats_changed", "seats": None}
    pairs = np.column_stack((told, house.codes[told])).tolist()
    return {"event": "seats_changed", "seats": pairs}


def places_changed(counts: Availability, zone_id: UUID) -> dict[str, object]:
    """How many are free where nothing is numbered. No seat is another than before: who watches only
    those has nothing to do."""
    free = [[str(zone.zone_id), zone.available] for zone in counts.zones if zone.zone_id == zone_id]
    return {"event": "places_changed", "seats": [], "places": free}


def many_places_changed() -> dict[str, object]:
    """In zones that nobody remembers: a reader asks how many are free."""
    return {"event": "places_changed", "seats": [], "places": None}


def layout_changed(event_id: UUID) -> dict[str, object]:
    return {"event": "layout_changed", "event_id": str(event_id)}


def occupancy_counts(counts: Availability, now: datetime) -> dict[str, object]:
    capacity = counts.capacity
    return {
        "event_id": str(counts.event_id),
        "total_available": counts.available,
        "total_held": counts.held,
        "total_sold": counts.sold,
        "percent_available": percent(counts.available, capacity),
        "percent_held": percent(counts.held, capacity),
        "timestamp": now.isoformat(),
    }
