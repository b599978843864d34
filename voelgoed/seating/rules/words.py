"""What customers are told about the seats that were found for them."""

from collections.abc import Sequence

from voelgoed.seating.rules.plan import Plan
from voelgoed.seating.rules.search import Choice


def describe(plan: Plan, choice: Choice) -> str:
    """`4 seats together in Row A, Stalls, 2 seats in Row B (1 row back).`"""
    first, *others = choice.parts
    zone = plan.zones[int(plan.rows.zone_of_row[plan.rows.row[first[0]]])].name
    parts = [f"{_part(plan, first, ' together' if len(first) > 1 else '')}, {zone}"]
    parts += [f"{_part(plan, part)} ({_whereabouts(plan, first, part)})" for part in others]
    return ", ".join(parts) + "."


def _part(plan: Plan, steps: Sequence[int], together: str = "") -> str:
    row = plan.rows.name_of_row[int(plan.rows.row[steps[0]])]
    where = f"at table {row}" if plan.at_table_by_step[steps[0]] else f"in Row {row}"
    return f"{len(steps)} seat{'s' if len(steps) > 1 else ''}{together} {where}"


def _whereabouts(plan: Plan, first: Sequence[int], part: Sequence[int]) -> str:
    rows = plan.rows
    one, other = int(rows.row[first[0]]), int(rows.row[part[0]])
    if rows.zone_of_row[one] != rows.zone_of_row[other]:
        return plan.zones[int(rows.zone_of_row[other])].name
    if plan.at_table_by_step[first[0]] or plan.at_table_by_step[part[0]]:
        return "nearby"
    back = int(rows.rank_of_row[other] - rows.rank_of_row[one])
    if back == 0:
        return "same row"
    count = f"{abs(back)} row{'s' if abs(back) > 1 else ''}"
    return f"{count} back" if back > 0 else f"{count} in front"


def seat_names(plan: Plan, steps: Sequence[int]) -> list[str]:
    return [plan.seats[int(plan.rows.position[step])].seat_id for step in steps]
