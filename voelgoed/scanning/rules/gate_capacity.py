"""Whether a gate had capacity for all whom the rule let in, though nothing was locked meanwhile.

A batch is decided on counts that others may change before it is written. What it must not find then:
that, with them, more were inside than a gate lets in when the rule let somebody in.
"""

import datetime as dt
from dataclasses import dataclass
from uuid import UUID

from voelgoed.scanning.model.occupancy import CapacityCheck
from voelgoed.scanning.rules.tally import Tally


@dataclass(slots=True)
class _Limited:
    event_id: UUID
    most: int
    filled: int
    """By how many at most this batch alone had filled it, right after the rule let somebody in."""


class GateCapacity:
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
        """How many may be inside when all of it is written. After the gate was fullest others may
        have left, or been let in by hand."""
        return [
            CapacityCheck(gate_id, day, each.most - each.filled + self._inside(each, gate_id, day))
            for (gate_id, day), each in self._limited.items()
        ]

    def _inside(self, limited: _Limited, gate_id: UUID, day: dt.date) -> int:
        return self._tally.inside(limited.event_id, gate_id, day)
