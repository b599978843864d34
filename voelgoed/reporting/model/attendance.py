"""Who came, when and where. Only scans that stand count, as they stand now."""

import datetime as dt
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.reporting.model.about import About, BucketMinutes
from voelgoed.scanning.model.decisions import Reason


class Passed(msgspec.Struct, frozen=True, kw_only=True):
    entries: int
    """First entries and re-entries."""
    first_entries: int
    """Of a ticket that had not come in before, on whatever day."""
    reentries: int
    exits: int


class Attended(Passed, frozen=True, kw_only=True):
    denied: int
    """Attempts that were turned away, or that do not count though a device that was alone let them in."""
    inside: int
    """At the end: tickets whose last passage was an entry, and was this way."""


class DayAttendance(Passed, frozen=True, kw_only=True):
    day: dt.date
    """Of the event, that the scan counts for. Who is denied is denied on no day."""
    inside: int
    """Who came in on that day and was not seen leaving, nor coming again on another."""


class GateAttendance(Attended, frozen=True, kw_only=True):
    gate_id: UUID
    code: str | None
    """Null: the gate was deleted since."""
    name: str


class ZoneAttendance(Attended, frozen=True, kw_only=True):
    zone_id: UUID | None
    """Null: of tickets without a zone, and of what is no ticket."""
    name: str
    capacity: int | None


class DeniedFor(msgspec.Struct, frozen=True):
    reason: Reason
    denied: int


class Bucket(Attended, frozen=True, kw_only=True):
    """`inside` is at its end, on the event's day that it then is."""

    since: datetime


class Busiest(msgspec.Struct, frozen=True):
    """The minute with most entries."""

    since: datetime
    entries: int


class Fullest(msgspec.Struct, frozen=True):
    """The bucket at whose end most were inside."""

    since: datetime
    inside: int


class AttendanceReport(About, frozen=True, kw_only=True):
    since: datetime | None
    until: datetime | None
    bucket_minutes: BucketMinutes
    total: Attended
    days: list[DayAttendance]
    gates: list[GateAttendance]
    zones: list[ZoneAttendance]
    reasons: list[DeniedFor]
    """The most frequent first."""
    buckets: list[Bucket]
    """Those in which anything happened. In between, as many are inside as before."""
    busiest_minute: Busiest | None
    fullest: Fullest | None
