"""What followers of an event's seats are told."""

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


def seats_changed(before: House, after: House) -> dict[str, object]:
    """The codes that differ, soft-reserved companions and all: [position, code]."""
    changed = np.flatnonzero(before.codes != after.codes)
    if len(changed) > DELTA_SEATS_MAX:
        return {"event": "seats_changed", "seats": None}
    pairs = np.column_stack((changed, after.codes[changed])).tolist()
    return {"event": "seats_changed", "seats": pairs}


def layout_changed(event_id: UUID) -> dict[str, object]:
    return {"event": "layout_changed", "event_id": str(event_id)}


def occupancy_changed(event: str, counts: Availability, now: datetime) -> dict[str, object]:
    capacity = counts.capacity
    return {
        "event": event,
        "event_id": str(counts.event_id),
        "total_available": counts.available,
        "total_held": counts.held,
        "total_sold": counts.sold,
        "percent_available": percent(counts.available, capacity),
        "percent_held": percent(counts.held, capacity),
        "timestamp": now.isoformat(),
    }
