"""What a recount finds where counters and scans do not agree."""

import datetime as dt
from uuid import UUID

import msgspec

from voelgoed.scanning.model.occupancy import Counted, Scope


class Difference(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """Of one place on one day: what its counters say, and what they should."""

    event_id: UUID
    day: dt.date
    scope: Scope
    scope_id: UUID
    entries: int
    exits: int
    inside: int
    entries_by_scans: int
    exits_by_scans: int
    inside_by_scans: int

    @property
    def correction(self) -> Counted:
        """By how much the counters must change."""
        return Counted(
            event_id=self.event_id,
            day=self.day,
            scope=self.scope,
            scope_id=self.scope_id,
            entries=self.entries_by_scans - self.entries,
            exits=self.exits_by_scans - self.exits,
            inside=self.inside_by_scans - self.inside,
        )
