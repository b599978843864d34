"""Occupancy: how many people are inside, where, and how many came and went."""

import datetime as dt
from datetime import datetime
from typing import Literal
from uuid import UUID

import msgspec

from voelgoed.events.model import EventDay
from voelgoed.scanning.model.decisions import Direction

Scope = Literal["event", "gate", "zone"]


class Counted(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """The counts of one day, at the event, at one of its gates, or in one of its zones; also the
    change of such counts."""

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


class OccupancyFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The known counts of people inside at an event."""

    days: list[EventDay]
    counts: list[Counted]
    """The counts of all days."""
    limited_gates: frozenset[UUID]
    """The gates with a hard limit: people who came in there stay counted overnight."""


class CountedHead(msgspec.Struct, frozen=True, kw_only=True):
    """One person who counts as inside: by which gate, in which zone, since which day."""

    gate_id: UUID
    zone_id: UUID | None
    day: dt.date
    is_irregular: bool
    """They had no right to come in."""


class Heads(msgspec.Struct, frozen=True, kw_only=True):
    """How many people are present."""

    inside: int
    irregular: int
    """How many of them had no right to come in."""


NOBODY = Heads(inside=0, irregular=0)


class Presence(msgspec.Struct, frozen=True, kw_only=True):
    """The people present at one moment. Gates and zones that are not named have nobody."""

    today: dt.date | None
    """The event's day that it is; None where the event has no days."""
    event: Heads = NOBODY
    gates: dict[UUID, Heads] = {}
    zones: dict[UUID, Heads] = {}


class OccupancyReset(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody declared the venue empty: everybody who came in until then has left."""

    id: UUID
    event_id: UUID
    at: datetime
    reason: str
    actor_id: UUID
    inside: int
    """How many counted as inside until then."""
    irregular: int
    """How many of them had no right to come in."""


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


class KnownReset(msgspec.Struct, frozen=True):
    """The moment at which an event's venue was last declared empty, as far as a decision knew."""

    event_id: UUID
    at: datetime


class CapacityCheck(msgspec.Struct, frozen=True):
    """The number of people who may be inside by a gate, on a day."""

    gate_id: UUID
    day: dt.date
    most: int


class GateLevels(msgspec.Struct, frozen=True):
    """The levels of all gates of an event on a day."""

    event_id: UUID
    day: dt.date
    gates: msgspec.Raw
    """The message for followers of the event: of each gate its id, occupancy, capacity and
    percentage."""
