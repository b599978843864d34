"""The last resort: seats near each other, some of them perhaps alone."""

import numpy as np

from voelgoed.seating.rules.orphans import orphans_after
from voelgoed.seating.rules.rows import Floats
from voelgoed.seating.rules.search import Choice, Search, seat_costs, side_by_side
from voelgoed.seating.rules.splits import SPREAD_COST
from voelgoed.seating.rules.stretches import Steps

ANCHORS_MAX = 32


def nearest_apart(search: Search) -> Choice | None:
    """Around each of the best free seats take those that are nearest; keep the best lot."""
    steps = np.flatnonzero(search.eligible)
    party = search.wish.party
    if len(steps) < party or search.wish.wheelchair_places:  # who cannot sit just anywhere
        return None
    rows, cost = search.house.plan.rows, seat_costs(search.house, search.wish)[steps]
    x, y = rows.x[steps], rows.y[steps]
    lots: list[tuple[float, list[int]]] = []
    for anchor in _least(cost, min(ANCHORS_MAX, len(steps))).tolist():
        total = cost + SPREAD_COST * np.hypot(x - x[anchor], y - y[anchor])
        nearest = _least(total, party)
        lots.append((round(float(total[nearest].mean()), 6), steps[nearest].tolist()))
    best_cost, chosen = min(lots)
    orphans = len(orphans_after(search.house, search.free, set(chosen)))
    return Choice(side_by_side(search.house.plan, chosen), best_cost, orphans)


def _least(values: Floats, count: int) -> Steps:
    """Where the least of them are; of equal ones the first."""
    values = values.round(6)
    among = np.flatnonzero(values <= np.partition(values, count - 1)[count - 1])
    return np.sort(among[np.argsort(values[among], kind="stable")[:count]])
