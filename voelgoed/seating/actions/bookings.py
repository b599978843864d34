"""Whether seats may be booked together, decided where nobody can change the answer.

What a booking leaves behind, and whether a companion seat is kept, depend on the seats of the
same rows only. So those rows are what is locked: two bookings in one row go one after the
other, all others go side by side. Several parties can be decided in one transaction.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

import structlog

from voelgoed.accounts.model import Caller
from voelgoed.accounts.rules.permissions import may
from voelgoed.infra.database import Transaction
from voelgoed.infra.refusal import Refusal
from voelgoed.seating.actions.access import denied_zones
from voelgoed.seating.actions.seats import states_of
from voelgoed.seating.actions.views import View, snapshot_in
from voelgoed.seating.model.refusals import BookingRefused, SeatNoLongerAvailable, SeatNotAvailable
from voelgoed.seating.model.seats import SeatState, Snapshot
from voelgoed.seating.rules.answers import proposal
from voelgoed.seating.rules.board import Board, around, with_held, without_held
from voelgoed.seating.rules.house import House
from voelgoed.seating.rules.plan import Plan
from voelgoed.seating.rules.selection import Booker, Verdict, check_selection
from voelgoed.seating.rules.states import seconds_left, status_at
from voelgoed.seating.rules.stretches import stretches
from voelgoed.seating.store.seats import held_by, lock_rows, lock_seats

log = structlog.get_logger()

WHILE_CHOOSING = frozenset({"seats_not_together", "would_orphan_seats"})
"""Problems that more seats may solve: not yet any for who takes them one by one."""
CHOSEN_BY_US = WHILE_CHOOSING | {"seats_are_chosen_for_you"}
"""Problems that whoever was given their seats need not hear of."""


class Bookings:
    """Of one event, in one transaction, in the order in which they are asked for."""

    def __init__(self, tx: Transaction, view: View, board: Board) -> None:
        self._tx = tx
        self._view = view
        self._board = board
        self._snapshot: Snapshot | None = None

    def state(self, position: int) -> SeatState:
        return self._board.states[position]

    def take(self, positions: Sequence[int]) -> None:
        """From now on they are not free for others."""
        self._board.take(positions)

    async def refusal(
        self,
        caller: Caller,
        positions: Sequence[int],
        own: Callable[[Caller], Iterable[int]] = lambda _: (),
        overlooked: frozenset[str] = frozenset(),
    ) -> Refusal | None:
        """Why this caller cannot have these seats, after what was taken before. `own` gives what
        they took earlier in this transaction, `overlooked` are problems that do not matter."""
        if (gone := self._unavailable(positions)) is not None:
            return gone
        if self._board.is_plain(positions, spare_neighbours="would_orphan_seats" in overlooked):
            return None
        house = await self._house()
        booker = await self._booker(caller, own(caller))
        verdict = check_selection(house, positions, booker)
        problems = [each for each in verdict.problems if each.code not in overlooked]
        if not problems:
            self._note_orphans(verdict)
            return None
        free = stretches(house)
        return BookingRefused(
            problems[0].message,
            problems=problems,
            alternatives=[proposal(house, free, choice) for choice in verdict.alternatives],
        )

    def _unavailable(self, positions: Sequence[int]) -> Refusal | None:
        board = self._board
        for position in positions:
            if board.is_free(position):
                continue
            seat_id, state = self._view.plan.seats[position].seat_id, self.state(position)
            if position in board.taken:
                return SeatNoLongerAvailable(seat_id=seat_id)
            status = status_at(state, board.now)
            left = seconds_left(state, board.now)
            return SeatNotAvailable(
                seat_id=seat_id,
                current_status="blocked" if status == "available" else status,
                expires_in_seconds=left,
            )
        return None

    async def _house(self) -> House:
        """Read once; what is taken meanwhile is laid over it."""
        if self._snapshot is None:
            self._snapshot = await snapshot_in(self._tx, self._view.event.id)
        taken, now = self._board.taken, self._board.now
        if not taken:
            return self._view.house(self._snapshot, now)
        ttl = self._view.hold_ttl
        return self._view.house(with_held(self._snapshot, taken, now + ttl), now)

    async def _booker(self, caller: Caller, own: Iterable[int]) -> Booker:
        staff = may(caller.role, "seats.sell_withheld")
        denied = await denied_zones(self._tx, caller, self._view)
        zones = frozenset(range(len(self._view.zones))) - denied.keys()
        if caller.id is None:
            return Booker(frozenset(own), staff, zones)
        mine = await held_by(self._tx, self._view.event.id, caller.id, self._board.now)
        return Booker(frozenset([*own, *(state.position for state in mine)]), staff, zones)

    def _note_orphans(self, verdict: Verdict) -> None:
        if not verdict.orphans:
            return
        seats = self._view.plan.seats
        lonely = [seats[position].seat_id for position in verdict.orphans]
        about = {"org_id": str(self._tx.organization_id), "event_id": str(self._view.event.id)}
        self._tx.once_committed(
            lambda: log.info(
                "orphans_created",
                **about,
                orphans_created=lonely,
                reason="allowed by the policy, or no other choice",
            )
        )


def judge_selection(
    view: View, snapshot: Snapshot, positions: Sequence[int], now: datetime
) -> Refusal | None:
    """Seats that somebody took one by one, as if they were all taken now: what they leave alone, and
    whether they sit together."""
    house = view.house(without_held(snapshot, positions), now)
    verdict = check_selection(house, positions, Booker(zones=None))
    problems = [each for each in verdict.problems if each.code in WHILE_CHOOSING]
    if not problems:
        return None
    free = stretches(house)
    return BookingRefused(
        problems[0].message,
        problems=problems,
        alternatives=[proposal(house, free, choice) for choice in verdict.alternatives],
    )


async def lock_bookings(
    tx: Transaction, view: View, positions: Sequence[int], *, before_places: bool = False
) -> None:
    """All the seats that anybody wants in this transaction, before any of them is read. Who wants
    places too, whose zones are locked next, must have the seats before: whoever ends holds of both
    goes in this order."""
    if positions:
        await lock_rows(tx, view.event.id, _rows_of(view.plan, positions))
    if positions and before_places:
        await lock_seats(tx, view.event.id, [view.plan.ids[at] for at in positions])


async def open_bookings(tx: Transaction, view: View, positions: Sequence[int]) -> Bookings:
    """Of seats that were locked by `lock_bookings`, in a transaction that has made sure that the
    event's layout is the view's."""
    near = sorted(around(view.plan, positions))
    states = {state.position: state for state in await states_of(tx, view, near)}
    return Bookings(tx, view, Board(view.plan, view.policy, states, view.closed(near), tx.now))


def _rows_of(plan: Plan, positions: Sequence[int]) -> list[int]:
    """Of the seats, and of the places and companions that they belong to."""
    concerned = set(positions)
    for position in positions:
        if position in plan.paired:
            concerned.update(plan.companions(position), plan.wheelchairs(position))
    return sorted({int(plan.rows.row[plan.step[seat]]) for seat in concerned})
