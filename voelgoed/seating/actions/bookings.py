"""Whether seats may be booked together, decided where nobody can change the answer.

What a booking leaves behind, and whether a companion seat is kept, depend on the seats of the
same rows only. So those rows are what is locked: two bookings in one row go one after the
other, all others go side by side.
"""

from collections.abc import Sequence

import structlog

from voelgoed.infra.database import Transaction
from voelgoed.seating.actions.views import View, require_unchanged, snapshot_in
from voelgoed.seating.model.refusals import BookingRefused
from voelgoed.seating.rules.plan import Plan
from voelgoed.seating.rules.selection import Booker, Verdict, check_selection
from voelgoed.seating.store.seats import lock_rows

log = structlog.get_logger()


async def require_bookable(
    tx: Transaction, view: View, positions: Sequence[int], booker: Booker
) -> Verdict:
    """Raises what refuses the booking; gives what is worth a warning. Then `seats.hold` them."""
    await require_unchanged(tx, view)
    await lock_rows(tx, view.event.id, _rows_of(view.plan, positions))
    house = view.house(await snapshot_in(tx, view.event.id), tx.now)
    verdict = check_selection(house, positions, booker)
    if verdict.problems:
        raise BookingRefused(verdict.problems[0].message, problems=verdict.problems)
    if verdict.orphans:
        about = {"org_id": str(tx.organization_id), "event_id": str(view.event.id)}
        lonely = [view.plan.seats[position].seat_id for position in verdict.orphans]
        tx.once_committed(
            lambda: log.info(
                "orphans_created",
                **about,
                orphans_created=lonely,
                reason="allowed by the policy, or no other choice",
            )
        )
    return verdict


def _rows_of(plan: Plan, positions: Sequence[int]) -> list[int]:
    """Of the seats, and of the places and companions that they belong to."""
    concerned = {
        seat
        for position in positions
        for seat in (position, *plan.companions(position), *plan.wheelchairs(position))
    }
    return sorted({int(plan.rows.row[plan.step[seat]]) for seat in concerned})
