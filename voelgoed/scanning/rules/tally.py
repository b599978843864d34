"""The effect of entries and exits on the counts. A ticket is inside once, where it last came in."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from voelgoed.scanning.model.occupancy import CapacityCheck, Counted, Scope


@dataclass(eq=False, slots=True)
class Place:
    """A place that is counted by itself: an event, a gate or a zone, on one day; also the change of
    its counts."""

    event_id: UUID
    day: dt.date
    scope: Scope
    scope_id: UUID
    entries: int = 0
    exits: int = 0
    inside: int = 0
    irregular: int = 0
    ahead: int = 0
    """The changes of `inside` by later moves of the batch."""


@dataclass(eq=False, slots=True)
class Move:
    """One admitted scan. A person who comes in while counted as inside has left unseen."""

    at: Sequence[Place]
    """The places on a day at which somebody passed: the event, the gate, and perhaps a zone."""
    before: Sequence[Place]
    """The places where they counted as inside until then."""
    is_entry: bool
    is_irregular: bool = False
    """The person who leaves had come in without a right to."""


class Tally:
    def __init__(self) -> None:
        self._presences: dict[tuple[UUID, UUID | None, dt.date], Sequence[Place]] = {}
        self._places: dict[tuple[UUID, UUID, dt.date], Place] = {}
        """Places by event too, because events that share a layout share its zones."""
        self._moves: list[Move] = []

    def presence(
        self, event_id: UUID, day: dt.date, gate_id: UUID, zone_id: UUID | None
    ) -> Sequence[Place]:
        """The places where a person counts who came in at that gate on that day."""
        known = self._presences.get((gate_id, zone_id, day))
        if known is None:
            known = [self._place(event_id, day, "event", event_id)]
            known.append(self._place(event_id, day, "gate", gate_id))
            if zone_id is not None:
                known.append(self._place(event_id, day, "zone", zone_id))
            self._presences[gate_id, zone_id, day] = known
        return known

    def _place(self, event_id: UUID, day: dt.date, scope: Scope, scope_id: UUID) -> Place:
        place = self._places.get((event_id, scope_id, day))
        if place is None:
            place = Place(event_id, day, scope, scope_id)
            self._places[event_id, scope_id, day] = place
        return place

    def add(self, move: Move) -> None:
        self._moves.append(move)
        if move.is_entry:
            self.change(move.at, entries=1, inside=1)
        else:
            self.change(move.at, exits=1)
        self.change(move.before, inside=-1, irregular=-1 if move.is_irregular else 0)

    def change(
        self,
        presence: Sequence[Place],
        *,
        entries: int = 0,
        exits: int = 0,
        inside: int = 0,
        irregular: int = 0,
    ) -> None:
        for place in presence:
            place.entries += entries
            place.exits += exits
            place.inside += inside
            place.irregular += irregular

    def inside(self, event_id: UUID, gate_id: UUID, day: dt.date) -> int:
        """The change of the counts at a gate."""
        place = self._places.get((event_id, gate_id, day))
        return place.inside if place else 0

    def inside_by(self, gate_id: UUID) -> int:
        """The change of the counts at a gate, on all days."""
        return sum(each.inside for each in self._places.values() if each.scope_id == gate_id)

    def changes(self) -> list[Counted]:
        return [
            Counted(
                event_id=place.event_id,
                day=place.day,
                scope=place.scope,
                scope_id=place.scope_id,
                entries=place.entries,
                exits=place.exits,
                inside=place.inside,
                irregular=place.irregular,
            )
            for place in self._places.values()
            if place.entries or place.exits or place.inside or place.irregular
        ]

    def ahead(self) -> list[tuple[int, int]]:
        """For each of the moves: the changes by the moves after it of the people inside at its
        gate, and at the event, on its day."""
        for place in self._places.values():
            place.ahead = place.inside
        counts: list[tuple[int, int]] = []
        for move in self._moves:
            for place in move.at:
                place.ahead -= move.is_entry
            for place in move.before:
                place.ahead += 1
            event, gate = move.at[:2]
            counts.append((gate.ahead, event.ahead))
        return counts


@dataclass(slots=True)
class _Limited:
    event_id: UUID
    most: int
    filled: int
    """The largest number of people that this batch alone had added, right after the rule admitted
    somebody."""


class GateCapacity:
    """Whether a gate had capacity for all whom the rule let in, though nothing was locked meanwhile. A batch is
    decided on counts that others may change before it is written. What it must not find then: that, with
    them, more were inside than a gate lets in when the rule let somebody in."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._limited: dict[tuple[UUID, dt.date], _Limited] = {}

    def let_in(self, event_id: UUID, gate_id: UUID, day: dt.date, most: int) -> None:
        """The rule let somebody in, who is counted already."""
        filled = self._tally.inside(event_id, gate_id, day)
        if (before := self._limited.get((gate_id, day))) is not None:
            filled = max(filled, before.filled)
        self._limited[gate_id, day] = _Limited(event_id, most, filled)

    def afterwards(self) -> list[CapacityCheck]:
        """The number of people who may be inside when all of it is written. After the gate was
        fullest others may have left, or been let in by hand."""
        return [
            CapacityCheck(gate_id, day, each.most - each.filled + self._inside(each, gate_id, day))
            for (gate_id, day), each in self._limited.items()
        ]

    def _inside(self, limited: _Limited, gate_id: UUID, day: dt.date) -> int:
        return self._tally.inside(limited.event_id, gate_id, day)
