"""How many places are left in zones without seats, while parties take some one after the other."""

import datetime as dt
from collections.abc import Iterable, Sequence
from uuid import UUID

from voelgoed.seating.model.seats import ZoneDay


class Rooms:
    def __init__(self, days: Iterable[ZoneDay]) -> None:
        self._left = {(day.zone_id, day.day): day.capacity - day.held - day.sold for day in days}
        self._undone = dict(self._left)

    def begin(self) -> None:
        """Of a party; what it takes can be undone."""
        self._undone = dict(self._left)

    def undo(self) -> None:
        self._left = self._undone

    def room(self, zone_id: UUID, days: Sequence[dt.date]) -> int:
        """A place is free for a ticket when it is on all of its days."""
        return min(self._left[zone_id, day] for day in days)

    def take(self, zone_id: UUID, days: Sequence[dt.date], count: int) -> None:
        for day in days:
            self._left[zone_id, day] -= count
