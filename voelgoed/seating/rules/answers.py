"""Choices in the words and shapes that are given to people and programs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from voelgoed.seating.model.seats import AVAILABLE, Cluster, Proposal, SeatRef
from voelgoed.seating.rules.apart import nearest_apart
from voelgoed.seating.rules.best import best, largest_together
from voelgoed.seating.rules.house import House
from voelgoed.seating.rules.orphans import orphans_after
from voelgoed.seating.rules.plan import WHEELCHAIR, Plan
from voelgoed.seating.rules.search import Choice, Search, search_for
from voelgoed.seating.rules.stretches import Stretches
from voelgoed.seating.rules.wheelchairs import best_with_wheelchairs
from voelgoed.seating.rules.words import describe, seat_names


@dataclass(frozen=True)
class WhatWouldFit:
    message: str
    together: list[str]
    """The most seats side by side that there are."""
    apart: Proposal | None
    in_other_zones: Proposal | None


def best_for(search: Search) -> Choice | None:
    return best_with_wheelchairs(search) if search.wish.wheelchair_places else best(search)


def what_would_fit(house: House, search: Search, open_zones: frozenset[int]) -> WhatWouldFit:
    """Instead of what does not: fewer people together, the party apart, or other zones."""
    wish, policy = search.wish, house.policy
    apart = elsewhere = None
    together: list[int] = []
    if not wish.wheelchair_places:
        together = largest_together(search)[: wish.party]
        apart = None if policy.group_adjacency_strict else nearest_apart(search)
    if wish.zones != open_zones:
        elsewhere_search = search_for(house, replace(wish, zones=open_zones))
        elsewhere = best_for(elsewhere_search)
    return WhatWouldFit(
        _message(house, search, together, apart is not None, elsewhere is not None),
        seat_names(house.plan, together),
        apart and proposal(house, search.free, apart),
        elsewhere and proposal(house, search.free, elsewhere),
    )


def _message(
    house: House, search: Search, together: Sequence[int], apart: bool, elsewhere: bool
) -> str:
    plan, wish = house.plan, search.wish
    if wish.wheelchair_places:
        words = _wheelchair_words(house, search)
    elif not together:
        words = "There are no numbered seats free there."
    elif house.policy.group_adjacency_strict and wish.party == 2:
        words = "No suitable seat pairs available."
    else:
        row = plan.rows.name_of_row[int(plan.rows.row[together[0]])]
        count = f"{len(together)} seat{'s are' if len(together) > 1 else ' is'}"
        words = f"At most {count} free side by side there, in Row {row}."
    if apart:
        words += " Your party could sit apart."
    return words + (" Other zones have room for you." if elsewhere else "")


def _wheelchair_words(house: House, search: Search) -> str:
    plan, wish = house.plan, search.wish
    free = (plan.category == WHEELCHAIR) & (house.codes == AVAILABLE)
    if wish.zones is not None:
        free &= np.isin(plan.zone, sorted(wish.zones))
    count = int(np.count_nonzero(free))
    if count == 0:
        return "There is no wheelchair place free there."
    places = f"{count} wheelchair place{'s are' if count > 1 else ' is'} free there"
    if count < wish.wheelchair_places:
        return f"Only {places}."
    return f"{places[0].upper()}{places[1:]}, but not with room for your party nearby."


def proposal(house: House, free: Stretches, choice: Choice) -> Proposal:
    plan, rows = house.plan, house.plan.rows
    clusters = [
        Cluster(
            zone_id=plan.zones[int(rows.zone_of_row[rows.row[part[0]]])].zone_id,
            row=rows.name_of_row[int(rows.row[part[0]])],
            seat_ids=seat_names(plan, part),
        )
        for part in choice.parts
    ]
    return Proposal(
        seats=[seat_ref(plan, int(rows.position[step])) for step in choice.steps],
        clusters=clusters,
        together=len(choice.parts) == 1,
        score=choice.cost,
        orphans=seat_names(plan, orphans_after(house, free, set(choice.steps))),
        message=describe(plan, choice),
    )


def seat_ref(plan: Plan, position: int) -> SeatRef:
    seat = plan.seats[position]
    return SeatRef(
        id=plan.ids[position],
        seat_id=seat.seat_id,
        zone_id=plan.zones[int(plan.zone[position])].zone_id,
        row=seat.row,
        number=seat.number,
        category=seat.category,
    )
