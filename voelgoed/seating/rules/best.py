"""Best available: the seats for a party that cost least.

Cost is the mean distance to the focal point, in seats, plus what is left behind: cutting a
stretch in two costs, using one up exactly gains, a lonely seat costs much, or in strict mode
is not left at all as long as there is another choice. Together in one row comes before any
split; a split has as few parts as possible, in different stretches, in rows of one zone not
too far apart, and nobody sits alone. The search is exact: `bench/seating.py` and the tests
hold it against trying everything.
"""

from voelgoed.seating.rules.search import Choice, Search, windows_of_size
from voelgoed.seating.rules.splits import split


def best(search: Search) -> Choice | None:
    """None when the party fits nowhere."""
    policy = search.house.policy
    splitting = not policy.group_adjacency_strict
    for strict in (True, False) if policy.orphan_avoidance_strict else (False,):
        choice = together(search, strict=strict)
        if choice is None and splitting:
            choice = split(search, strict=strict)
        if choice is not None:
            return choice
    return None


def together(search: Search, *, strict: bool) -> Choice | None:
    found = windows_of_size(search, search.wish.party, strict=strict)
    if not len(found):
        return None
    at = int(found.cost.argmin())
    return Choice((found.steps(at),), float(found.cost[at]), int(found.orphans[at]))


def largest_together(search: Search) -> list[int]:
    """The steps of the most seats side by side that there are."""
    begin, end = search.ground.begin, search.ground.end
    if not len(begin):
        return []
    at = int((end - begin).argmax())
    return list(range(int(begin[at]), int(end[at])))
