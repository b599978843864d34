"""Best available in a stadium of 50,000, against trying everything in plain Python.

CPU time of one search, with the making of the house from a snapshot, as an API request has it.
The reference is made to answer the same questions, each right after us; `worse` counts those in
which our answer costs more than its.
"""

import json
import random
import time
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from statistics import median, quantiles
from typing import TypeVar
from uuid import UUID

import numpy as np

from bench.seating_reference import Found, best_of_everything
from voelgoed.seating.model.event_layout import EventZone
from voelgoed.seating.model.policy import SeatingPolicy
from voelgoed.seating.model.seats import Snapshot
from voelgoed.seating.rules.best import best
from voelgoed.seating.rules.house import House, house
from voelgoed.seating.rules.plan import Plan, compile_plan
from voelgoed.seating.rules.search import Choice, Wish, search_for
from voelgoed.seating.samples import stadium

SEATS = 50_000
PARTIES = (2, 6, 10)
SHARES_SOLD = (0.0, 0.5, 0.95)
HOUSES = 40
"""Of each kind; every one is searched once, as nobody asks the same question twice."""
COMPARED = 10
SEARCHES_TRACED = 200
LARGEST_SALE = 8
TOLERANCE = 1e-5
"""Costs are rounded to six digits, part by part."""

T = TypeVar("T")

NOW = datetime(2026, 6, 1, 18, tzinfo=UTC)
POLICY = SeatingPolicy(id=UUID(int=1), created_at=NOW, updated_at=NOW)


def main() -> None:
    plan = compile_plan(stadium(SEATS), UUID(int=2))
    for share in SHARES_SOLD:
        for sales in (_one_by_one, _in_groups) if share else (_one_by_one,):
            snapshots = [_snapshot(sales(plan, share, seed)) for seed in range(HOUSES)]
            for party in PARTIES:
                _report(share, sales, party, _measure(plan, snapshots, Wish(party)))
    _report_memory(plan)


def _measure(plan: Plan, snapshots: list[Snapshot], wish: Wish) -> dict[str, float]:
    _search(plan, snapshots[0], wish)  # warm
    ours = [_cpu_ms(partial(_search, plan, each, wish)) for each in snapshots[COMPARED:]]
    pairs = [
        (
            _cpu_ms(partial(_search, plan, each, wish)),
            _cpu_ms(partial(_reference, plan, each, wish)),
        )
        for each in snapshots[:COMPARED]
    ]
    ours += [mine for mine, _ in pairs]
    answers = [(mine, other) for (_, mine), (_, other) in pairs]
    mine_ms, their_ms = [ms for ms, _ in ours], [ms for _, (ms, _) in pairs]
    return {
        "cpu_ms_p50": round(median(mine_ms), 2),
        "cpu_ms_p95": round(quantiles(mine_ms, n=20)[18], 2),
        "reference_cpu_ms_p50": round(median(their_ms), 1),
        "times_faster_than_reference": round(median(their_ms) / median(mine_ms), 1),
        "found": sum(choice is not None for _, choice in ours) / len(ours),
        "compared": len(answers),
        "worse": sum(_is_worse(mine, other) for mine, other in answers),
    }


def _search(plan: Plan, snapshot: Snapshot, wish: Wish) -> Choice | None:
    return best(search_for(_house(plan, snapshot), wish))


def _reference(plan: Plan, snapshot: Snapshot, wish: Wish) -> Found | None:
    return best_of_everything(_house(plan, snapshot), wish)


def _house(plan: Plan, snapshot: Snapshot) -> House:
    zones = tuple(EventZone(zone=zone, enabled=True, pricing_rule_id=None) for zone in plan.zones)
    return house(plan, zones, (), POLICY, snapshot, NOW)


def _cpu_ms(work: Callable[[], T]) -> tuple[float, T]:
    begun = time.process_time_ns()
    result = work()
    return (time.process_time_ns() - begun) / 1e6, result


def _is_worse(mine: Choice | None, other: Found | None) -> bool:
    """A choice that leaves seats alone, or has more parts, is worse whatever it costs."""
    if mine is None or other is None:
        return mine is None and other is not None
    one = (mine.orphans > 0, len(mine.parts), mine.cost - TOLERANCE)
    return one > (other.orphans > 0, len(other.parts), other.cost)


def _one_by_one(plan: Plan, share: float, seed: int) -> list[int]:
    """Any seats, which leaves as few together as can be."""
    return random.Random(seed).sample(range(len(plan)), round(share * len(plan)))


def _in_groups(plan: Plan, share: float, seed: int) -> list[int]:
    """Up to eight side by side, which is how people buy."""
    chance = random.Random(seed)
    sold: dict[int, None] = {}
    run, position = plan.rows.run.tolist(), plan.rows.position.tolist()
    while len(sold) < round(share * len(plan)):
        first = chance.randrange(len(plan))
        for step in range(first, min(first + chance.randint(1, LARGEST_SALE), len(plan))):
            if run[step] == run[first]:
                sold[position[step]] = None
    return list(sold)[: round(share * len(plan))]


def _snapshot(sold: list[int]) -> Snapshot:
    packed = np.array(sorted(sold), ">i4").tobytes()
    return Snapshot(seq=0, held=b"", held_until=b"", sold=packed, blocked=b"")


def _report(
    share: float, sales: Callable[..., list[int]], party: int, figures: dict[str, float]
) -> None:
    case = f"best_{party}_of_{SEATS}_{share:.0%}_sold" + (sales.__name__ if share else "")
    print(json.dumps({"bench": "seating", "case": case, **figures}), flush=True)


def _report_memory(plan: Plan) -> None:
    """Flat: the peak of the last searches is that of the first."""
    snapshots = [_snapshot(_in_groups(plan, share, 0)) for share in SHARES_SOLD]

    def peaks() -> Iterator[int]:
        for number in range(SEARCHES_TRACED):
            tracemalloc.reset_peak()
            wish = Wish(PARTIES[number % len(PARTIES)])
            _search(plan, snapshots[number // len(PARTIES) % len(snapshots)], wish)
            yield tracemalloc.get_traced_memory()[1]

    _search(plan, snapshots[0], Wish(PARTIES[0]))  # what a plan keeps is made once
    tracemalloc.start()
    kept_before, _ = tracemalloc.get_traced_memory()
    peak = list(peaks())
    kept_after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    half = SEARCHES_TRACED // 2
    figures = {
        "searches": SEARCHES_TRACED,
        "peak_mb": round(max(peak) / 1e6, 2),
        "ratio_of_peaks_second_half_to_first": round(max(peak[half:]) / max(peak[:half]), 3),
        "kept_kb": round((kept_after - kept_before) / 1e3, 1),
    }
    print(json.dumps({"bench": "seating", "case": "memory", **figures}), flush=True)
