"""How many of those who held bought."""

from datetime import datetime

import msgspec

from voelgoed.reporting.model.about import About, BucketMinutes


class Recorded(msgspec.Struct, frozen=True):
    """So many of one kind, in one bucket."""

    name: str
    since: datetime
    count: int


class Happened(msgspec.Struct, frozen=True, kw_only=True):
    """By when it happened: what was held in one bucket may be bought in the next."""

    held: int
    """Seats and places."""
    released: int
    expired: int
    converted: int
    orders_placed: int
    orders_paid: int
    orders_expired: int
    orders_cancelled: int
    orders_refunded: int


class FunnelBucket(Happened, frozen=True, kw_only=True):
    since: datetime


class FunnelTotal(Happened, frozen=True, kw_only=True):
    conversion_percent: float
    """Converted, of what ended one way or the other."""
    abandonment_percent: float
    """Released or expired, likewise."""
    checkout_percent: float
    """Orders that were paid, of those that ended one way or the other."""


class FunnelReport(About, frozen=True, kw_only=True):
    since: datetime | None
    until: datetime | None
    bucket_minutes: BucketMinutes
    total: FunnelTotal
    buckets: list[FunnelBucket]
    """Those in which anything happened."""
