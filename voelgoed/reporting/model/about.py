"""What every report begins with, and what limits it."""

from datetime import datetime
from typing import Literal
from uuid import UUID

import msgspec

from voelgoed.infra.refusal import Invalid, Unavailable

BucketMinutes = Literal[1, 5, 15, 60]
BUCKETS_MAX = 10_000
"""Of one report: a week of minutes, a year of hours."""


class About(msgspec.Struct, frozen=True, kw_only=True):
    event_id: UUID
    event_name: str
    timezone: str
    """Of the venue; days are days there."""
    as_of: datetime
    """All of the report is as it was at this one moment."""


class ZonePlaces(msgspec.Struct, frozen=True):
    """A zone of the event's layout, and how many it has room for."""

    id: UUID
    name: str
    capacity: int


class EmptySpan(Invalid):
    """`since` must be before `until`."""


class TooManyBuckets(Invalid):
    """That would be more rows than a report has; take longer buckets, or a shorter span."""


class ReportsBusy(Unavailable):
    """Other reports are being made; try again shortly."""
