"""How many of those who held bought."""

from datetime import datetime
from uuid import UUID

import msgspec


class Recorded(msgspec.Struct, frozen=True):
    """So many of one kind, in one span of time."""

    name: str
    since: datetime
    count: int


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """In one span of time, by when it happened."""

    since: datetime
    held: int
    released: int
    expired: int
    converted: int
    orders_placed: int
    orders_paid: int
    orders_expired: int


class Funnel(msgspec.Struct, frozen=True, kw_only=True):
    event_id: UUID
    since: datetime | None
    until: datetime | None
    held: int
    """Seats and places."""
    released: int
    expired: int
    converted: int
    orders_placed: int
    orders_paid: int
    orders_expired: int
    orders_refunded: int
    conversion_percent: float
    """Converted, of what ended one way or the other."""
    abandonment_percent: float
    """Released or expired, likewise."""
    checkout_percent: float
    """Orders that were paid, of those that ended one way or the other."""
    steps: list[Step]
