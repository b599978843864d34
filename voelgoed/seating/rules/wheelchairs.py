"""Best available for parties with wheelchair users: place, companions and the others as one unit."""

from collections.abc import Iterator, Sequence

import numpy as np

from voelgoed.seating.model.seats import AVAILABLE
from voelgoed.seating.rules.orphans import orphans_after
from voelgoed.seating.rules.plan import COMPANION, WHEELCHAIR, Plan
from voelgoed.seating.rules.rows import Bools, Floats, Ints
from voelgoed.seating.rules.search import Choice, Search, seat_costs, side_by_side
from voelgoed.seating.rules.splits import SPLIT_COST, SPREAD_COST
from voelgoed.seating.rules.stretches import (
    FIT_GAIN,
    ORPHAN_COST,
    Windows,
    ground,
    stretches_of,
    windows,
)


def best_with_wheelchairs(search: Search) -> Choice | None:
    """Whoever has no seat beside a wheelchair place sits together nearby."""
    cost = seat_costs(search.house, search.wish)
    groups = [(_bound(search, cost, places), places) for places in _groups_of_places(search)]
    best: Choice | None = None
    for bound, places in sorted(groups):
        if best and not any(_blemishes(search, best)) and best.cost <= bound:
            break
        choices = [choice for choice in (best, _seat_around(search, cost, places)) if choice]
        best = min(
            choices,
            key=lambda choice: (_blemishes(search, choice), choice.cost, choice.parts),
            default=None,
        )
    return best


def _bound(search: Search, cost: Floats, places: list[int]) -> float:
    """What a party around these places costs at least: all others in the best seat nearby."""
    low, high = _steps_near(search, places)
    seats = [*range(low, high), *_free_companions(search, places)]
    least = float(cost[seats].min())
    others = search.wish.party - len(places)
    return _cost_of(search, cost, places) + others * least / search.wish.party - FIT_GAIN


def _blemishes(search: Search, choice: Choice) -> tuple[int, bool]:
    """People alone, then, if the policy is strict, seats left alone: what any other comes before."""
    alone = sum(len(part) == 1 for part in choice.parts) if search.wish.party > 1 else 0
    return alone, search.house.policy.orphan_avoidance_strict and choice.orphans > 0


def _groups_of_places(search: Search) -> Iterator[list[int]]:
    """From every free wheelchair place on: it and those nearest to it, in rows near each other."""
    plan, wish = search.house.plan, search.wish
    free = (plan.category == WHEELCHAIR) & (search.house.codes == AVAILABLE)
    if wish.zones is not None:
        free &= np.isin(plan.zone, sorted(wish.zones))
    steps = np.sort(plan.step[np.flatnonzero(free)])
    steps = steps[plan.whole_table_by_step[steps] < 0]
    for step in steps.tolist():
        group = [step]
        low, high = _steps_near(search, group)
        near = steps[(low <= steps) & (steps < high) & (steps != step)]
        for other in near[np.argsort(_distances(search, step, near), kind="stable")].tolist():
            low, high = _steps_near(search, group)
            if len(group) < wish.wheelchair_places and low <= other < high:
                group.append(other)
        if len(group) == wish.wheelchair_places:
            yield group


def _seat_around(search: Search, cost: Floats, places: list[int]) -> Choice | None:
    """With as many companions as it can be."""
    others = search.wish.party - len(places)
    companions = _free_companions(search, places)
    best: Choice | None = None
    # Giving a companion seat back may let two people sit together instead of one alone.
    for beside in range(min(others, len(companions)), -1, -1):
        unit = [*places, *companions[:beside]]
        for choice in _with_the_rest(search, cost, unit, others - beside):
            if not _is_together_enough(search, choice):
                continue
            if not any(_blemishes(search, choice)):
                return choice
            if best is None or _blemishes(search, choice) < _blemishes(search, best):
                best = choice
    return best


def _is_together_enough(search: Search, choice: Choice) -> bool:
    strict = search.house.policy.group_adjacency_strict
    return not strict or is_together(search.house.plan, choice.parts)


def is_together(plan: Plan, parts: Sequence[Sequence[int]]) -> bool:
    """Side by side; but companions may sit where the layout has their seats."""
    category = plan.category_by_step
    return sum(bool((category[list(part)] != COMPANION).any()) for part in parts) <= 1


def _free_companions(search: Search, places: list[int]) -> list[int]:
    plan, codes = search.house.plan, search.house.codes
    each = [plan.companions(int(plan.rows.position[place])) for place in places]
    # One for every wheelchair user before a second one for anybody.
    in_turn = [
        companions[turn]
        for turn in range(max(map(len, each), default=0))
        for companions in each
        if turn < len(companions)
    ]
    free = [position for position in dict.fromkeys(in_turn) if codes[position] == AVAILABLE]
    return plan.step[free].tolist()


def _with_the_rest(search: Search, cost: Floats, unit: list[int], rest: int) -> Iterator[Choice]:
    """Leaving no seat alone if the policy is strict, then whatever is left alone."""
    if not rest:
        yield _choice(search, _cost_of(search, cost, unit), unit)
        return
    house = search.house
    low, high = _steps_near(search, unit)
    is_open = np.zeros(len(search.free.open), np.bool_)
    is_open[low:high] = search.free.open[low:high]
    is_open[unit] = False
    free = stretches_of(house, is_open)
    near = ground(house, free, is_open & search.eligible, search.ground.cost)
    for strict in (True, False) if house.policy.orphan_avoidance_strict else (False,):
        found = windows(free, near, rest, search.wish.party, strict=strict)
        beside = _is_beside(search, unit, found)
        total = found.cost + _spread(search, unit, found) + SPLIT_COST * ~beside
        if rest == 1 or house.policy.group_adjacency_strict:
            total = np.where(beside, total, np.inf)
        if len(total) and np.isfinite(total.min()):
            at = int(total.argmin())
            paid = float(total[at]) - ORPHAN_COST * float(found.orphans[at])
            steps = [*unit, *found.steps(at)]
            yield _choice(search, _cost_of(search, cost, unit) + paid, steps)


def _choice(search: Search, cost: float, steps: list[int]) -> Choice:
    orphans = len(orphans_after(search.house, search.free, set(steps)))
    parts = side_by_side(search.house.plan, steps)
    return Choice(parts, round(cost + ORPHAN_COST * orphans, 6), orphans)


def _cost_of(search: Search, cost: Floats, unit: list[int]) -> float:
    return round(float(cost[unit].sum()) / search.wish.party, 6)


def _is_beside(search: Search, unit: list[int], found: Windows) -> Bools:
    """Whether windows begin or end right beside a seat of the unit."""
    run = search.house.plan.rows.run
    after = {step + 1 for step in unit if step + 1 < len(run) and run[step + 1] == run[step]}
    before = {step - 1 for step in unit if step > 0 and run[step - 1] == run[step]}
    last = found.first + found.size - 1
    return np.isin(found.first, sorted(after)) | np.isin(last, sorted(before))


def _spread(search: Search, unit: list[int], found: Windows) -> Floats:
    rows = search.house.plan.rows
    x, y = found.middle(np.arange(len(found)))
    return SPREAD_COST * np.hypot(x - rows.x[unit].mean(), y - rows.y[unit].mean())


def _steps_near(search: Search, unit: list[int]) -> tuple[int, int]:
    """Of its zone the rows that are not too far from any of the unit's: from one step to another."""
    rows, apart = search.house.plan.rows, search.house.policy.max_group_split
    own = rows.row[unit]
    low = max(int(own.max()) - apart, int(rows.zone_begin[own[0]]))
    high = min(int(own.min()) + apart + 1, int(rows.zone_end[own[0]]))
    return int(rows.first_step[low]), int(rows.first_step[max(low, high)])


def _distances(search: Search, step: int, steps: Ints) -> Floats:
    rows = search.house.plan.rows
    return np.hypot(rows.x[steps] - rows.x[step], rows.y[steps] - rows.y[step])
