"""How many are inside, where, and how many came and went."""

import datetime as dt
from datetime import datetime
from typing import Literal
from uuid import UUID

import msgspec

from voelgoed.scanning.model.decisions import Direction

Scope = Literal["event", "gate", "zone"]


class Counted(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """Of one day, at the event, at one of its gates, or in one of its zones. Also: by how much that
    changes."""

    event_id: UUID
    day: dt.date
    scope: Scope
    scope_id: UUID
    entries: int
    exits: int
    inside: int
    """How many people came in here on that day and have not left, whether they had a right to or not."""
    irregular: int = 0
    """How many of those inside had no right to come in. They are not among the entries."""


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """One admission of a ticket that counts."""

    id: UUID
    event_id: UUID
    gate_id: UUID
    zone_id: UUID | None
    device_id: UUID | None
    direction: Direction
    scanned_at_canonical: datetime
    day: dt.date


class CapacityCheck(msgspec.Struct, frozen=True):
    """How many may be inside by a gate, on a day."""

    gate_id: UUID
    day: dt.date
    most: int


class GateLevels(msgspec.Struct, frozen=True):
    """How full all gates of an event are on a day."""

    event_id: UUID
    day: dt.date
    gates: msgspec.Raw
    """As followers of the event are told: of each gate its id, occupancy, capacity and percentage."""


class WrittenCounts(msgspec.Struct, frozen=True):
    """Counts right after scans were written."""

    counts: list[Counted]
    """Those that changed."""
    levels: list[GateLevels]
    """Of each event and day that somebody passed on."""
