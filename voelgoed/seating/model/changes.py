"""What changed about an event's seats, for the projections in `seating/live.py`."""

from collections.abc import Mapping
from uuid import UUID

import msgspec

from voelgoed.seating.model.event_layout import Assignment


class SeatStatesChanged(msgspec.Struct, frozen=True):
    event_id: UUID
    assignment: Assignment
    """The layout that the positions are of."""
    positions: tuple[int, ...]


class ZonePlacesChanged(msgspec.Struct, frozen=True):
    """How many places are free in a zone without seats."""

    event_id: UUID
    zone_id: UUID


class OccupancyChanged(msgspec.Struct, frozen=True):
    """The event's counts."""

    event_id: UUID
    event: str
    """What its followers call it, such as `seat_held`."""
    about: Mapping[str, object]
    """The seat, zone or hold that it is about, if it is about a single one."""
