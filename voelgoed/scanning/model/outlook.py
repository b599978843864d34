"""The outlook of the gates."""

import datetime as dt
from uuid import UUID

import msgspec


class OpenWork(msgspec.Struct, frozen=True, kw_only=True):
    """Matters that wait for somebody to look at them."""

    alerts: int
    critical_alerts: int
    """The critical ones among them."""
    conflicts: int
    recoveries: int


class EventOutlook(msgspec.Struct, frozen=True, kw_only=True):
    event_id: UUID
    day: dt.date | None
    """The event's day that it is; null where it has none."""
    to_come: int
    """Tickets that are good on that day and did not come in on it yet."""
    open: OpenWork
