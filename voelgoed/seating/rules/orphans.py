"""Lonely seats: free, with no free seat beside them, because somebody booked around them."""

from collections.abc import Collection

import numpy as np

from voelgoed.seating.rules.house import House
from voelgoed.seating.rules.stretches import Stretches


def orphans_after(house: House, free: Stretches, taken: Collection[int]) -> list[int]:
    """The steps left alone by taking these steps; those that were alone before are not among them."""
    run = house.plan.rows.run

    def is_free(step: int, beside: int) -> bool:
        return (
            0 <= step < len(run)
            and run[step] == run[beside]
            and bool(free.open[step])
            and step not in taken
        )

    lonely = {
        beside
        for step in taken
        if free.open[step]  # else the seat beside it had no neighbour here to lose
        for beside in (step - 1, step + 1)
        if is_free(beside, step)
        and not free.spared[free.at(beside)]
        and not is_free(beside - 1, beside)
        and not is_free(beside + 1, beside)
    }
    return sorted(lonely)


def orphan_count(house: House, free: Stretches) -> int:
    """Free seats of the whole house with no free seat beside them; not those that never had a
    neighbour, nor where a lonely seat does not count."""
    alone = free.begin[(free.end - free.begin == 1) & ~free.spared]
    return int(np.count_nonzero(house.plan.rows.seats_of_run[house.plan.rows.run[alone]] > 1))
