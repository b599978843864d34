"""Who sits where: parties side by side, with gaps that somebody can still sit in."""

from collections.abc import Iterator
from itertools import groupby
from random import Random
from uuid import UUID

import msgspec

from voelgoed.seating.model.layout import LayoutConfig
from voelgoed.seating.rules.plan import COMPANION, WHEELCHAIR, Plan, compile_plan

SIZES = (1, 2, 2, 2, 3, 4, 4, 5, 6)
"""Most people come as two."""
GAPS = (2, 3, 4, 5)
"""Never one seat: nobody likes to sit in it, and the policy refuses who would leave it."""

FIRST = (
    "Amahle", "Andile", "Bongani", "Carla", "Charl", "Chantal", "Daniël", "Dineo", "Emma", "Gideon",
    "Hanlie", "Imraan", "Johan", "Karabo", "Kobus", "Lerato", "Lwazi", "Marlene", "Megan", "Naledi",
    "Nomsa", "Riaan", "Ruan", "Shanice", "Tebogo", "Werner", "Yusuf", "Zanele",
)  # fmt: skip
LAST = (
    "Adams", "Barnard", "Coetzee", "de Villiers", "du Plessis", "Fourie", "Govender", "Hendricks",
    "Jacobs", "Khumalo", "Louw", "Mabaso", "Naidoo", "Ndlovu", "Oosthuizen", "Pillay", "Potgieter",
    "Radebe", "Smit", "Venter",
)  # fmt: skip


class Party(msgspec.Struct, frozen=True):
    """Seats side by side, or so many places of a zone."""

    name: str
    seats: tuple[str, ...] = ()
    zone_id: UUID | None = None
    places: int = 0


def a_name(luck: Random) -> str:
    return f"{luck.choice(FIRST)} {luck.choice(LAST)}"


def seat_parties(
    config: LayoutConfig, zones: set[str], rows: set[str] | None, fill: float, luck: Random
) -> list[list[Party]]:
    """For each stretch of seats the parties in it, from one end to the other: who books in this order
    leaves nobody a single seat. Where wheelchair users sit, and groups, nobody is put."""
    plan = compile_plan(config, UUID(int=0))
    return [
        parties for run in _runs(plan, zones, rows) if (parties := list(_along(run, fill, luck)))
    ]


def _runs(plan: Plan, zones: set[str], rows: set[str] | None) -> Iterator[list[str]]:
    steps = range(len(plan))
    for _, several in groupby(steps, key=lambda step: int(plan.rows.run[step])):
        positions = [int(plan.rows.position[step]) for step in several]
        is_wanted = plan.zones[int(plan.zone[positions[0]])].name in zones and (
            rows is None or plan.seats[positions[0]].row in rows
        )
        if is_wanted and all(_is_ordinary(plan, position) for position in positions):
            yield [plan.seats[position].seat_id for position in positions]


def _is_ordinary(plan: Plan, position: int) -> bool:
    groups = plan.groups
    return (
        plan.category[position] not in (WHEELCHAIR, COMPANION)
        and groups.table[position] < 0
        and not groups.withheld[position]
        and groups.family_party[position] == 0
    )


def _along(run: list[str], fill: float, luck: Random) -> Iterator[Party]:
    at = 0
    while (left := len(run) - at) >= 2:
        if luck.random() > fill:
            at += luck.choice(GAPS)
            continue
        size = min(luck.choice(SIZES), left)
        if left - size == 1:
            size = left
        yield Party(a_name(luck), tuple(run[at : at + size]))
        at += size
