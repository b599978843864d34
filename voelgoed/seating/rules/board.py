"""Several parties after the same seats, decided one after the other.

Most bookings are plain: ordinary seats, all free, nobody left alone beside them. That is seen from
the seats themselves and two on either side, so nothing else is read for them. Whatever is not plain
is decided by `check_selection` over the whole house.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

import msgspec
import numpy as np

from voelgoed.seating.model.policy import SeatingPolicy
from voelgoed.seating.model.seats import SeatState, Snapshot
from voelgoed.seating.rules.house import microseconds
from voelgoed.seating.rules.plan import Plan
from voelgoed.seating.rules.states import status_at

AROUND = 2
"""Seats on either side of one that is taken: its neighbour, and the neighbour's neighbour."""


def around(plan: Plan, positions: Iterable[int]) -> set[int]:
    """These and what has to be known of the seats beside them."""
    run, of_step = plan.rows.run, plan.rows.position
    seen: set[int] = set()
    for position in positions:
        step = int(plan.step[position])
        first, end = max(0, step - AROUND), min(len(run), step + AROUND + 1)
        seen.update(int(of_step[at]) for at in range(first, end) if run[at] == run[step])
    return seen


class Board:
    def __init__(
        self,
        plan: Plan,
        policy: SeatingPolicy,
        states: Mapping[int, SeatState],
        closed: Collection[int],
        now: datetime,
    ) -> None:
        """`states` are of all seats around those that are wanted, `closed` those of them that the
        event's layout does not sell."""
        self.plan = plan
        self.policy = policy
        self.states = states
        self.now = now
        self.taken: set[int] = set()
        """By parties that were decided before."""
        self._closed = closed

    def is_free(self, position: int) -> bool:
        return (
            position not in self.taken
            and position not in self._closed
            and status_at(self.states[position], self.now) == "available"
        )

    def take(self, positions: Iterable[int]) -> None:
        self.taken.update(positions)

    def is_plain(self, positions: Sequence[int], *, spare_neighbours: bool = False) -> bool:
        """Whether the rules cannot have anything against it; with `spare_neighbours`, who is left
        alone beside them does not matter."""
        policy = self.policy
        if len(positions) > policy.max_seats_per_booking or policy.prefer_clustering_over_selection:
            return False
        if policy.group_adjacency_strict and len(positions) > 1:
            return False
        if not all(self._is_ordinary(at) and self.is_free(at) for at in positions):
            return False
        if spare_neighbours:
            return True
        steps = {int(self.plan.step[position]) for position in positions}
        return not any(
            self._would_be_alone(beside, steps)
            for step in steps
            for beside in self._neighbours(step)
            if beside not in steps
        )

    def _is_ordinary(self, position: int) -> bool:
        """Sold to anybody: no wheelchair place, no companion's, no table's, not kept back."""
        groups = self.plan.groups
        return bool(
            self.plan.ordinary[position]
            and groups.table[position] < 0
            and not groups.withheld[position]
        )

    def _would_be_alone(self, step: int, taken: Collection[int]) -> bool:
        """Or might be, for all that can be seen from here."""
        position = int(self.plan.rows.position[step])
        if not self._is_ordinary(position):
            return True
        if not self.is_free(position):
            return False
        return not any(
            beside not in taken
            and self._is_ordinary(at := int(self.plan.rows.position[beside]))
            and self.is_free(at)
            for beside in self._neighbours(step)
        )

    def _neighbours(self, step: int) -> list[int]:
        run = self.plan.rows.run
        return [
            beside
            for beside in (step - 1, step + 1)
            if 0 <= beside < len(run) and run[beside] == run[step]
        ]


def with_held(snapshot: Snapshot, positions: Collection[int], until: datetime) -> Snapshot:
    """As if these were held too."""
    held = np.array(sorted(positions), ">i4").tobytes()
    ends = np.full(len(positions), microseconds(until), ">i8").tobytes()
    return msgspec.structs.replace(
        snapshot, held=snapshot.held + held, held_until=snapshot.held_until + ends
    )


def without_held(snapshot: Snapshot, positions: Collection[int]) -> Snapshot:
    """As if these were not held."""
    held = np.frombuffer(snapshot.held, ">i4")
    kept = ~np.isin(held, list(positions))
    return msgspec.structs.replace(
        snapshot,
        held=held[kept].tobytes(),
        held_until=np.frombuffer(snapshot.held_until, ">i8")[kept].tobytes(),
    )
