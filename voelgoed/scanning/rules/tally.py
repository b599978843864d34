"""What coming and going does to the counts. A ticket is inside once, where it last came in."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from uuid import UUID

import msgspec

from voelgoed.scanning.model.occupancy import Counted, Scope

Place = tuple[UUID, dt.date, Scope, UUID]


class Presence(msgspec.Struct, frozen=True):
    """Where somebody counts as inside."""

    event_id: UUID
    day: dt.date
    gate_id: UUID
    zone_id: UUID | None

    def places(self) -> Iterator[Place]:
        yield self.event_id, self.day, "event", self.event_id
        yield self.event_id, self.day, "gate", self.gate_id
        if self.zone_id is not None:
            yield self.event_id, self.day, "zone", self.zone_id


class Move(msgspec.Struct, frozen=True, kw_only=True):
    """One admitted scan. Whoever comes in and counts as inside already has left unseen."""

    at: Presence
    """Where, and on which day, somebody passed."""
    before: Presence | None
    """Where they counted as inside until then."""
    is_entry: bool

    def changes(self) -> Iterator[tuple[Place, int, int, int]]:
        """Entries, exits and who is inside, by place."""
        entry = int(self.is_entry)
        for place in self.at.places():
            yield place, entry, 1 - entry, entry
        for place in self.before.places() if self.before else ():
            yield place, 0, 0, -1


def tally(moves: Sequence[Move], sign: int = 1) -> list[Counted]:
    """All of them together; with -1, taken back."""
    sums: dict[Place, list[int]] = {}
    for move in moves:
        for place, entries, exits, inside in move.changes():
            total = sums.setdefault(place, [0, 0, 0])
            total[0] += sign * entries
            total[1] += sign * exits
            total[2] += sign * inside
    return [
        Counted(
            event_id=event_id,
            day=day,
            scope=scope,
            scope_id=scope_id,
            entries=entries,
            exits=exits,
            inside=inside,
        )
        for (event_id, day, scope, scope_id), (entries, exits, inside) in sums.items()
    ]


def running(moves: Sequence[Move], afterwards: Mapping[Place, int]) -> Iterator[tuple[int, int]]:
    """After each of the moves: who is inside at its gate, and at the event, on its day."""
    present = dict(afterwards)
    for move in moves:
        for place, _, _, inside in move.changes():
            present[place] -= inside
    for move in moves:
        for place, _, _, inside in move.changes():
            present[place] += inside
        event, gate, *_ = move.at.places()
        yield max(present[gate], 0), max(present[event], 0)
