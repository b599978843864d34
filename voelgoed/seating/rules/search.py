"""A party's wish, asked of a house: which seats would do, and what each would cost."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from voelgoed.seating.rules.house import House
from voelgoed.seating.rules.plan import RESTRICTED_VIEW, Plan
from voelgoed.seating.rules.rows import Bools, Floats, running_total
from voelgoed.seating.rules.stretches import (
    Ground,
    Stretches,
    Windows,
    ground,
    stretches,
    windows,
)

RESTRICTED_VIEW_COST = 6.0
FAMILY_COST = 5.0
"""For a seat of a family block given to a party that is no family."""


@dataclass(frozen=True)
class Wish:
    party: int
    zones: frozenset[int] | None = None
    """Indexes of zones; None for any."""
    categories: frozenset[int] | None = None
    wheelchair_places: int = 0
    apart: bool = False


@dataclass(frozen=True)
class Choice:
    parts: tuple[tuple[int, ...], ...]
    """The steps of each part, the largest first."""
    cost: float
    orphans: int

    @property
    def steps(self) -> list[int]:
        return [step for part in self.parts for step in part]


@dataclass(frozen=True, eq=False)
class Search:
    """One question asked of one house, and what all its parts need."""

    house: House
    wish: Wish
    free: Stretches
    eligible: Bools
    ground: Ground


def search_for(house: House, wish: Wish) -> Search:
    free = stretches(house)
    eligible = _eligible(house, wish, free)
    return Search(house, wish, free, eligible, ground(house, free, eligible, _total(house, wish)))


def seat_costs(house: House, wish: Wish) -> Floats:
    plan = house.plan
    return (
        plan.rows.distance
        + RESTRICTED_VIEW_COST * (plan.category_by_step == RESTRICTED_VIEW)
        + FAMILY_COST * (plan.family_party_by_step > wish.party)
    )


def _total(house: House, wish: Wish) -> Floats:
    if house.plan.are_alike:
        return house.plan.rows.distance_total
    return running_total(seat_costs(house, wish))


def _eligible(house: House, wish: Wish, free: Stretches) -> Bools:
    plan = house.plan
    eligible = free.open.copy()
    if wish.zones is not None:
        allowed = np.zeros(len(plan.zones), np.bool_)
        allowed[sorted(wish.zones)] = True
        eligible &= allowed[plan.zone[plan.rows.position]]
    if wish.categories is not None:
        eligible &= np.isin(plan.category_by_step, sorted(wish.categories))
    if plan.groups.whole_tables:
        # A party with wheelchair users is divided, so that it would not fill a table.
        _leave_tables_whole(plan, eligible, 0 if wish.wheelchair_places else wish.party)
    return eligible


def _leave_tables_whole(plan: Plan, eligible: Bools, party: int) -> None:
    """A table that is taken whole is for the party that fills it, if all of it is free."""
    steps = np.flatnonzero(plan.whole_table_by_step >= 0)
    table = plan.whole_table_by_step[steps]
    free = np.bincount(table[eligible[steps]], minlength=len(plan.table_party))
    filled = (free == party) & (plan.table_party == party)
    eligible[steps] &= filled[table]


def windows_of_size(search: Search, size: int, *, strict: bool) -> Windows:
    return windows(search.free, search.ground, size, search.wish.party, strict=strict)


def side_by_side(plan: Plan, steps: Collection[int]) -> tuple[tuple[int, ...], ...]:
    """The parts which these seats are in, the largest first."""
    parts: list[list[int]] = []
    for step in sorted(steps):
        if parts and parts[-1][-1] == step - 1 and plan.rows.beside_next[step - 1]:
            parts[-1].append(step)
        else:
            parts.append([step])
    return tuple(tuple(part) for part in sorted(parts, key=lambda part: (-len(part), part)))
