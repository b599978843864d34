"""Who has a ticket that is good, and did not come."""

import datetime as dt
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.reporting.model.about import About


class Came(msgspec.Struct, frozen=True, kw_only=True):
    valid: int
    """Tickets that are good: came and no_shows."""
    came: int
    """With at least one entry that counts."""
    no_shows: int
    """With none. Before the end they may still come."""
    no_show_percent: float


class TypeNoShows(Came, frozen=True, kw_only=True):
    ticket_type_id: UUID
    name: str


class ZoneNoShows(Came, frozen=True, kw_only=True):
    zone_id: UUID | None
    name: str


class DayNoShows(Came, frozen=True, kw_only=True):
    """Of tickets that are valid on that day, with an entry that counts for it."""

    day: dt.date
    ends_at: datetime
    is_over: bool


class NoShowReport(About, frozen=True, kw_only=True):
    is_over: bool
    """The event has ended: nobody of them will come."""
    total: Came
    ticket_types: list[TypeNoShows]
    zones: list[ZoneNoShows]
    days: list[DayNoShows]


class NoShow(msgspec.Struct, frozen=True, kw_only=True):
    """A ticket that nobody came in with. Whose it is stands in the export of tickets."""

    id: UUID
    code: str
    type: str
    zone: str | None
    seat: str | None
    days: list[dt.date]
    order_number: str | None
    reference: str | None
    """Of an imported ticket."""
