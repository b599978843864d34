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
from voelgoed.seating.rules.best import Choice, Search, Wish, search_for, split
from voelgoed.seating.rules.house import House
from voelgoed.seating.rules.orphans import orphans_after
from voelgoed.seating.rules.plan import WHEELCHAIR
from voelgoed.seating.rules.stretches import stretches, windows

ALTERNATIVES_MAX = 3
TAKEN_WORDS = {HELD: "held by somebody", SOLD: "sold", BLOCKED: "blocked"}


@dataclass(frozen=True)
class Booker:
    """Who would book, as far as it matters here."""

    own: frozenset[int] = frozenset()
    """Positions held by, or sold to, the same person already."""
    staff: bool = False
    """May sell withheld seats, and choose seats where customers may not."""


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
        refused = house.policy.orphan_avoidance_strict and bool(alternatives)
        (problems if refused else warnings).append(_left_alone(house, orphans))
    lonely = [int(house.plan.rows.position[step]) for step in orphans]
    return Verdict(problems, warnings, lonely, _companions(house, positions), alternatives)


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
    steps = np.sort(house.plan.step[list(positions)])
    run = house.plan.rows.run[steps]
    if steps[-1] - steps[0] != len(steps) - 1 or run[0] != run[-1]:
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
    """Side by side, leaving no seat alone, in the same zones, the nearest first.

    None for a wheelchair user and companion, who belong where their seats are.
    """
    plan = house.plan
    elsewhere = _not_bound_to_a_place(house, positions, booker)
    if not elsewhere or len(elsewhere) > house.policy.max_seats_per_booking:
        return []
    zones = frozenset(int(plan.zone[at]) for at in positions)
    search = search_for(house, Wish(party=len(elsewhere), zones=zones))
    found = windows(search.free, search.ground, len(elsewhere), len(elsewhere), strict=True)
    steps = plan.step[elsewhere]
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


def _not_bound_to_a_place(house: House, positions: Sequence[int], booker: Booker) -> list[int]:
    plan, mine = house.plan, booker.own.union(positions)
    return [
        at
        for at in positions
        if plan.category[at] != WHEELCHAIR and mine.isdisjoint(plan.wheelchairs(at))
    ]


def _alternative_split(search: Search) -> list[Choice]:
    if search.house.policy.group_adjacency_strict:
        return []
    choice = split(search, strict=True)
    return [] if choice is None else [choice]


def _companions(house: House, positions: Sequence[int]) -> list[int]:
    if not house.policy.enforce_accessibility_rules:
        return []
    plan = house.plan
    kept = {
        companion
        for position in positions
        if plan.category[position] == WHEELCHAIR
        for companion in plan.companions(position)
        if house.codes[companion] == AVAILABLE and companion not in positions
    }
    return sorted(kept)


def _names(house: House, positions: Collection[int]) -> list[str]:
    return [house.plan.seats[position].seat_id for position in positions]
