"""Whether these seats can be booked together, and if not, why and what could be instead."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from voelgoed.seating.model.seats import (
    AVAILABLE,
    BLOCKED,
    HELD,
    SOFT_RESERVED,
    SOLD,
    WITHHELD,
    Problem,
)
from voelgoed.seating.rules.house import House
from voelgoed.seating.rules.orphans import orphans_after
from voelgoed.seating.rules.plan import WHEELCHAIR
from voelgoed.seating.rules.rows import Ints
from voelgoed.seating.rules.search import Choice, Search, Wish, search_for, side_by_side
from voelgoed.seating.rules.splits import split
from voelgoed.seating.rules.stretches import stretches, windows
from voelgoed.seating.rules.wheelchairs import best_with_wheelchairs, is_together

ALTERNATIVES_MAX = 3
TAKEN_WORDS = {HELD: "held by somebody", SOLD: "sold", BLOCKED: "blocked"}


@dataclass(frozen=True)
class Booker:
    """Who would book, as far as it matters here."""

    own: frozenset[int] = frozenset()
    """Positions held by, or sold to, the same person already."""
    staff: bool = False
    """May sell withheld seats, and choose seats where customers may not."""
    zones: frozenset[int] | None = None
    """Indexes of those they may book in; None for any."""


@dataclass(frozen=True)
class Verdict:
    problems: list[Problem]
    warnings: list[Problem]
    orphans: list[int]
    companions: list[int]
    """Positions that are kept for companions from now on."""
    alternatives: list[Choice]


def check_selection(house: House, positions: Sequence[int], booker: Booker) -> Verdict:
    free = stretches(house)
    problems = [
        *_too_many(house, positions, booker),
        *_unavailable(house, positions, booker),
        *_broken_tables(house, positions),
        *_not_together(house, positions),
    ]
    taken = {int(house.plan.step[position]) for position in positions}
    orphans = orphans_after(house, free, taken)
    alternatives = _alternatives(house, positions, booker) if orphans or problems else []
    warnings: list[Problem] = []
    if orphans:
        refused = house.policy.orphan_avoidance_strict and _as_close(house, taken, alternatives)
        (problems if refused else warnings).append(_left_alone(house, orphans))
    lonely = [int(house.plan.rows.position[step]) for step in orphans]
    return Verdict(problems, warnings, lonely, _companions(house, positions), alternatives)


def _as_close(house: House, taken: Collection[int], alternatives: Sequence[Choice]) -> bool:
    """Whether one of them keeps the party as close together; else nobody is sent there."""
    parts = len(side_by_side(house.plan, taken))
    return any(len(choice.parts) <= parts for choice in alternatives)


def _too_many(house: House, positions: Sequence[int], booker: Booker) -> Iterator[Problem]:
    policy, plan = house.policy, house.plan
    if policy.prefer_clustering_over_selection and not booker.staff:
        yield Problem(
            code="seats_are_chosen_for_you",
            message="At this event seats are chosen for you; say how many you need.",
        )
    if len(positions) > policy.max_seats_per_booking:
        yield Problem(
            code="too_many_seats",
            message=f"One booking has at most {policy.max_seats_per_booking} seats.",
        )
    wheelchairs = [at for at in positions if plan.category[at] == WHEELCHAIR]
    if len(wheelchairs) > policy.max_wheelchair_seats_per_booking:
        most = policy.max_wheelchair_seats_per_booking
        yield Problem(
            code="too_many_wheelchair_seats",
            message=f"One booking has at most {most} wheelchair place{'s' * (most > 1)}.",
            seat_ids=_names(house, wheelchairs),
        )


def _unavailable(house: House, positions: Sequence[int], booker: Booker) -> Iterator[Problem]:
    mine = booker.own.union(positions)
    for position in positions:
        code = int(house.codes[position])
        name = house.plan.seats[position].seat_id
        if code in TAKEN_WORDS:
            yield Problem(
                code="seat_not_available",
                message=f"Seat {name} is {TAKEN_WORDS[code]}.",
                seat_ids=[name],
            )
        elif code == WITHHELD and not booker.staff:
            yield Problem(
                code="seat_withheld",
                message=f"Seat {name} is kept back; the box office can sell it.",
                seat_ids=[name],
            )
        elif code == SOFT_RESERVED and not mine.intersection(house.plan.wheelchairs(position)):
            yield Problem(
                code="seat_soft_reserved",
                message=f"Seat {name} is kept for the companion of a wheelchair user.",
                seat_ids=[name],
            )


def _broken_tables(house: House, positions: Sequence[int]) -> Iterator[Problem]:
    groups = house.plan.groups
    for table in sorted({int(groups.table[at]) for at in positions} & groups.whole_tables):
        seats = groups.table_seats[table].tolist()
        if not set(seats) <= set(positions):
            yield Problem(
                code="table_is_sold_whole",
                message="This table is sold as a whole; take all of its seats.",
                seat_ids=_names(house, seats),
            )


def _not_together(house: House, positions: Sequence[int]) -> Iterator[Problem]:
    if not house.policy.group_adjacency_strict or len(positions) < 2:
        return
    tables = house.plan.groups.table[list(positions)]
    at_one_table = tables[0] >= 0 and (tables == tables[0]).all()
    parts = side_by_side(house.plan, house.plan.step[list(positions)].tolist())
    if not at_one_table and not is_together(house.plan, parts):
        yield Problem(
            code="seats_not_together",
            message="At this event a group sits side by side in one row.",
            seat_ids=_names(house, positions),
        )


def _left_alone(house: House, orphans: Sequence[int]) -> Problem:
    names = _names(house, [int(house.plan.rows.position[step]) for step in orphans])
    one = len(names) == 1
    return Problem(
        code="would_orphan_seats",
        message=f"Seat{'' if one else 's'} {', '.join(names)} would be left alone, "
        f"with no free seat beside {'it' if one else 'them'}.",
        seat_ids=names,
    )


def _alternatives(house: House, positions: Sequence[int], booker: Booker) -> list[Choice]:
    """Leaving no seat alone, in the same zones if the booker may, the nearest first.

    None for a companion alone, who belongs where the wheelchair place is.
    """
    plan, policy = house.plan, house.policy
    chosen_for_them = policy.prefer_clustering_over_selection and not booker.staff
    if len(positions) > policy.max_seats_per_booking or chosen_for_them:
        return []
    zones = frozenset(int(plan.zone[at]) for at in positions)
    if booker.zones is not None:
        zones = zones & booker.zones or booker.zones
    wheelchairs = int(np.count_nonzero(plan.category[list(positions)] == WHEELCHAIR))
    wish = Wish(party=len(positions), zones=zones, wheelchair_places=wheelchairs)
    if wheelchairs:
        choice = best_with_wheelchairs(search_for(house, wish))
        return [choice] if choice is not None and not choice.orphans else []
    if any(not booker.own.isdisjoint(plan.wheelchairs(at)) for at in positions):
        return []
    return _nearest(house, wish, plan.step[list(positions)])


def _nearest(house: House, wish: Wish, steps: Ints) -> list[Choice]:
    """Side by side, if there are any such."""
    plan, search = house.plan, search_for(house, wish)
    found = windows(search.free, search.ground, wish.party, wish.party, strict=True)
    x, y = found.middle(np.arange(len(found)))
    apart = np.hypot(x - plan.rows.x[steps].mean(), y - plan.rows.y[steps].mean())
    chosen: list[Choice] = []
    used: set[int] = set()
    for at in np.lexsort((found.cost, apart.round(6))).tolist():
        part = found.steps(at)
        if used.isdisjoint(part):
            chosen.append(Choice((part,), float(found.cost[at]), 0))
            used.update(part)
        if len(chosen) == ALTERNATIVES_MAX:
            break
    return chosen or _alternative_split(search)


def _alternative_split(search: Search) -> list[Choice]:
    if search.house.policy.group_adjacency_strict:
        return []
    choice = split(search, strict=True)
    return [] if choice is None else [choice]


def _companions(house: House, positions: Sequence[int]) -> list[int]:
    """Beside the wheelchair places, unless so full a zone keeps none."""
    plan = house.plan
    kept = {
        companion
        for position in positions
        if plan.category[position] == WHEELCHAIR
        for companion in plan.companions(position)
        if house.codes[companion] == AVAILABLE
        and companion not in positions
        and not house.released[plan.zone[companion]]
    }
    return sorted(kept)


def _names(house: House, positions: Collection[int]) -> list[str]:
    return [house.plan.seats[position].seat_id for position in positions]
