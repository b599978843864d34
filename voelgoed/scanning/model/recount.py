"""The results of a recount: the places where counters and scans do not agree."""

import datetime as dt
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.scanning.model.decisions import Direction
from voelgoed.scanning.model.occupancy import Counted, Scope


class ContestedPassage(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody came in or left with a ticket of which not every entry counts, or with no ticket at all."""

    ticket_id: UUID | None
    """The ticket; None where the text was no ticket of the event."""
    day: dt.date
    gate_id: UUID
    zone_id: UUID | None
    direction: Direction
    is_admitted: bool
    """Whether the entry counts; otherwise it is an irregular entry."""
    is_conflict: bool
    """Another person is known to have come in with the ticket."""
    at: datetime


class RecountFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The counters of an event and what they are proven by, at one moment."""

    event_id: UUID
    kept: list[Counted]
    by_scans: list[Counted]
    """The attendance by the admissions alone, without irregular entries."""
    contested: list[ContestedPassage]
    """The passages in canonical order."""
    resets: list[datetime]


class Difference(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """One place on one day: what its counters say, and what they should."""

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
    irregular: int
    irregular_by_scans: int

    @property
    def correction(self) -> Counted:
        """The change that corrects the counters."""
        return Counted(
            event_id=self.event_id,
            day=self.day,
            scope=self.scope,
            scope_id=self.scope_id,
            entries=self.entries_by_scans - self.entries,
            exits=self.exits_by_scans - self.exits,
            inside=self.inside_by_scans - self.inside,
            irregular=self.irregular_by_scans - self.irregular,
        )
