"""Taking, giving back, selling and blocking seats.

`hold`, `release`, `sell` and `give_back` are for the domain that owns holds and tickets:
they work in its transaction and do nothing but what they say. PostgreSQL has the last word:
every write names the version it was decided on, or the hold it belongs to.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import TypeVar
from uuid import UUID

import msgspec
import structlog

from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.model import Caller
from voelgoed.infra.cache import Cache
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.metrics import seat_changes
from voelgoed.seating.actions.views import (
    View,
    bitmap_key,
    occupancy_key,
    require_unchanged,
    seat_hold_key,
    see,
)
from voelgoed.seating.model.changes import (
    OccupancyChanged,
    SeatStatesChanged,
    ZonePlacesChanged,
)
from voelgoed.seating.model.refusals import (
    HoldGone,
    SeatBlockedByLayout,
    SeatNotAvailable,
    SeatsChangedMeanwhile,
    SeatTaken,
)
from voelgoed.seating.model.seats import (
    STATUSES,
    SeatBlock,
    SeatsChanged,
    SeatState,
    SeatStatus,
    SeatUnblock,
)
from voelgoed.seating.rules.messages import occupancy_topic, seats_topic
from voelgoed.seating.rules.plan import WHEELCHAIR
from voelgoed.seating.rules.states import seconds_left, status_at
from voelgoed.seating.store import seats as store
from voelgoed.seating.store.event_layouts import share_event_layout

log = structlog.get_logger()
T = TypeVar("T")

RETRY_AFTER_S = (0.010, 0.020, 0.040)
LOGGED_SEATS_MAX = 50


class SeatHold(msgspec.Struct, frozen=True):
    """For whom, and until when."""

    id: UUID
    holder_id: UUID | None
    held_until: datetime


class HeldSeat(msgspec.Struct, frozen=True):
    """A seat as it was read, and whose it is to be."""

    state: SeatState
    hold: SeatHold


async def retrying(work: Callable[[], Awaitable[T]]) -> T:
    """Once more, from the start, when somebody else changed the same seats meanwhile."""
    for pause_s in RETRY_AFTER_S:
        try:
            return await work()
        except SeatsChangedMeanwhile:
            await asyncio.sleep(pause_s)
    return await work()


async def hold(
    tx: Transaction, caller: Caller, view: View, positions: Sequence[int], by: SeatHold
) -> None:
    """Seats that are available. Whether they may be booked together, by this person, is for
    `Bookings` to say, earlier in the same transaction."""
    await require_unchanged(tx, view)
    states = await states_of(tx, view, positions)
    closed = view.closed(positions)
    for state in states:
        status = "blocked" if state.position in closed else status_at(state, tx.now)
        if status != "available":
            raise SeatNotAvailable(
                seat_id=_name(view, state.position),
                current_status=status,
                expires_in_seconds=seconds_left(state, tx.now),
            )
    await take(tx, view, [HeldSeat(state, by) for state in states])
    await note_wheelchairs(tx, caller, view, positions)


async def take(tx: Transaction, view: View, seats: Sequence[HeldSeat]) -> None:
    """Each from the version that was read; all, or the transaction is to be tried again."""
    if not seats:
        return
    wanted = [
        store.WantedSeat(
            seat_id=seat.state.seat_id,
            position=seat.state.position,
            version=seat.state.version,
            hold_id=seat.hold.id,
            holder_id=seat.hold.holder_id,
            held_until=seat.hold.held_until,
        )
        for seat in seats
    ]
    got = await store.hold_seats(tx, view.event.id, wanted)
    if got != len(seats):
        raise SeatsChangedMeanwhile()
    positions = [seat.state.position for seat in seats]
    about: list[dict[str, object]] = [
        {"seat_id": seat.state.seat_id, "hold_id": seat.hold.id} for seat in seats
    ]
    announce(tx, view, positions, "seat_held", about)
    holds = [
        {
            "seat_id": _name(view, seat.state.position),
            "user_id": seat.hold.holder_id,
            "held_until": seat.hold.held_until,
        }
        for seat in seats[:LOGGED_SEATS_MAX]
    ]
    _log(tx, view, positions, ("available", "held"), "held", holds=holds)


async def release(
    tx: Transaction,
    view: View,
    positions: Sequence[int],
    hold_ids: Sequence[UUID],
    event: str = "seat_released",
) -> list[int]:
    """What these holds still have; doing it twice is doing it once. Gives what came free."""
    await share_event_layout(tx, view.event.id)
    freed = _at(view, await store.release_seats(tx, view.event.id, _ids(view, positions), hold_ids))
    _note(tx, view, freed, ("held", "available", event), hold_ids)
    return freed


async def prolong(
    tx: Transaction,
    view: View,
    positions: Sequence[int],
    hold_ids: Sequence[UUID],
    held_until: datetime,
) -> int:
    """Of holds that have not ended. Nobody need be told: to everybody else they stay held."""
    await share_event_layout(tx, view.event.id)
    drop_caches(tx, view.event.id)
    ids = _ids(view, positions)
    return await store.prolong_seats(tx, view.event.id, ids, hold_ids, held_until)


async def sell(
    tx: Transaction, view: View, positions: Sequence[int], hold_ids: Sequence[UUID]
) -> None:
    """All of them, or none: a hold that is over, or lost a seat, sells nothing."""
    await require_unchanged(tx, view)
    sold = await store.sell_seats(tx, view.event.id, _ids(view, positions), hold_ids)
    if len(sold) != len(set(positions)):
        raise HoldGone(hold_ids=[str(hold_id) for hold_id in hold_ids])
    _note(tx, view, _at(view, sold), ("held", "sold", "seat_sold"), hold_ids)


async def give_back(
    tx: Transaction, view: View, positions: Sequence[int], hold_ids: Sequence[UUID]
) -> int:
    """Sold seats of tickets that were refunded or voided."""
    await share_event_layout(tx, view.event.id)
    freed = await store.return_seats(tx, view.event.id, _ids(view, positions), hold_ids)
    _note(tx, view, _at(view, freed), ("sold", "available", "seat_given_back"), hold_ids)
    return len(freed)


async def block_seats(
    database: Database, cache: Cache, caller: Caller, event_id: UUID, block: SeatBlock
) -> SeatsChanged:
    """Any seat, also a held or sold one if that is said; blocked ones stay as they are."""

    async def work(tx: Transaction, view: View, states: list[SeatState]) -> list[SeatState]:
        wanted = [state for state in states if state.status != "blocked"]
        taken = [state for state in wanted if status_at(state, tx.now) != "available"]
        if taken and not block.including_taken:
            raise SeatTaken(seat_ids=[_name(view, state.position) for state in taken])
        if await store.block_seats(tx, event_id, wanted, block.reason) != len(wanted):
            raise SeatsChangedMeanwhile()
        return wanted

    return await _change(database, cache, caller, event_id, block, "seats_blocked", work)


async def unblock_seats(
    database: Database, cache: Cache, caller: Caller, event_id: UUID, unblock: SeatUnblock
) -> SeatsChanged:
    """A seat that was sold before it was blocked is sold again; any other is available."""

    async def work(tx: Transaction, view: View, states: list[SeatState]) -> list[SeatState]:
        wanted = [state for state in states if state.status == "blocked"]
        others = [state.position for state in states if state.status != "blocked"]
        if stuck := view.closed(others):
            raise SeatBlockedByLayout(seat_ids=[_name(view, at) for at in sorted(stuck)])
        if await store.unblock_seats(tx, event_id, wanted) != len(wanted):
            raise SeatsChangedMeanwhile()
        return wanted

    return await _change(database, cache, caller, event_id, unblock, "seats_unblocked", work)


async def _change(
    database: Database,
    cache: Cache,
    caller: Caller,
    event_id: UUID,
    request: SeatBlock | SeatUnblock,
    action: str,
    work: Callable[[Transaction, View, list[SeatState]], Awaitable[list[SeatState]]],
) -> SeatsChanged:
    async def once() -> SeatsChanged:
        view = await see(database, cache, caller, event_id)
        positions = sorted({view.position(seat_id) for seat_id in request.seat_ids})
        async with database.transaction(caller.organization_id) as tx:
            await require_unchanged(tx, view)
            states = await states_of(tx, view, positions)
            changed = await work(tx, view, states)
            names = [_name(view, state.position) for state in changed]
            if changed:
                changes: dict[str, object] = {"seat_ids": names, "reason": request.reason}
                await record(tx, caller, action, "EventLayout", view.event_layout.id, changes)
                _log_changes(tx, view, changed, action, request.reason)
                announce(tx, view, [state.position for state in changed], action)
                tx.drop(*(seat_hold_key(tx.organization_id, state.seat_id) for state in changed))
            same = sorted(set(positions).difference(state.position for state in changed))
            return SeatsChanged(
                changed=names, unchanged=[_name(view, position) for position in same]
            )

    return await retrying(once)


def announce(
    tx: Transaction,
    view: View,
    positions: Sequence[int],
    event: str,
    about: Sequence[dict[str, object]] = (),
) -> None:
    """Publish that these seats and the event's counts changed, and drop what caches know of them.
    Followers of the counts get one message, or one for each thing that it is `about`."""
    change = SeatStatesChanged(view.event.id, view.assignment, tuple(positions))
    tx.publish_change(seats_topic(view.event.id), change)
    announce_counts(tx, view, event, about)


def announce_places(tx: Transaction, view: View, zone_id: UUID) -> None:
    """On the topic of the seats, because customers may not follow the counts."""
    tx.publish_change(seats_topic(view.event.id), ZonePlacesChanged(view.event.id, zone_id))


def announce_counts(
    tx: Transaction, view: View, event: str, about: Sequence[dict[str, object]] = ()
) -> None:
    topic = occupancy_topic(tx.organization_id, view.event.id)
    for each in about or ({},):
        tx.publish_change(topic, OccupancyChanged(view.event.id, event, each))
    drop_caches(tx, view.event.id)


def drop_caches(tx: Transaction, event_id: UUID) -> None:
    keys = (bitmap_key(tx.organization_id, event_id), occupancy_key(tx.organization_id, event_id))
    tx.drop(*keys)
    about = {"org_id": str(tx.organization_id), "event_id": str(event_id)}
    tx.once_committed(lambda: log.info("cache_invalidated", **about, keys_invalidated=keys))


async def states_of(tx: Transaction, view: View, positions: Sequence[int]) -> list[SeatState]:
    """In the order of positions; a seat that nobody ever touched is available, version 0."""
    ids = _ids(view, positions)
    known = {state.position: state for state in await store.find_states(tx, view.event.id, ids)}
    return [
        known.get(position)
        or SeatState(
            seat_id=view.plan.ids[position],
            position=position,
            status="available",
            held_until=None,
            seat_hold_id=None,
            holder_id=None,
            sold_when_blocked=False,
            version=0,
        )
        for position in sorted(set(positions))
    ]


async def note_wheelchairs(
    tx: Transaction, caller: Caller, view: View, positions: Sequence[int]
) -> None:
    """Of the seats that one party took."""
    for position in positions:
        if view.plan.category[position] != WHEELCHAIR:
            continue
        others = [each for each in view.plan.companions(position) if each not in positions]
        companions = [_name(view, companion) for companion in others]
        kept = view.policy.enforce_accessibility_rules and bool(companions)
        changes: dict[str, object] = {
            "event_id": str(view.event.id),
            "seat_id": _name(view, position),
            "companion_seat_ids": companions,
            "companion_soft_reserved": kept,
        }
        _log_wheelchair(tx, changes)
        if view.policy.accessibility_audit_enabled:
            await record(tx, caller, "wheelchair_booking", "Seat", view.plan.ids[position], changes)


def _log_wheelchair(tx: Transaction, changes: dict[str, object]) -> None:
    organization_id = str(tx.organization_id)
    tx.once_committed(lambda: log.info("wheelchair_booking", org_id=organization_id, **changes))


def _note(
    tx: Transaction,
    view: View,
    positions: Sequence[int],
    change: tuple[SeatStatus, SeatStatus, str],
    hold_ids: Sequence[UUID],
) -> None:
    """`change` is from which state, to which, and what its followers call it."""
    if positions:
        before, after, event = change
        announce(tx, view, positions, event)
        named = ", ".join(str(hold_id) for hold_id in hold_ids[:LOGGED_SEATS_MAX])
        _log(tx, view, positions, (before, after), f"hold {named}")


def _log_changes(
    tx: Transaction, view: View, states: Sequence[SeatState], action: str, reason: str
) -> None:
    """One line for each state the seats came from."""
    after = action.removeprefix("seats_")
    for before in STATUSES:
        if positions := [state.position for state in states if state.status == before]:
            _log(tx, view, positions, (before, after), reason)


def _log(
    tx: Transaction,
    view: View,
    positions: Sequence[int],
    change: tuple[str, str],
    reason: str,
    **more: object,
) -> None:
    before, after = change

    def note() -> None:
        seat_changes.labels(after).inc(len(positions))
        log.info(
            "seats_changed",
            org_id=str(tx.organization_id),
            event_id=str(view.event.id),
            seat_ids=[_name(view, position) for position in positions[:LOGGED_SEATS_MAX]],
            seats=len(positions),
            status_before=before,
            status_after=after,
            reason=reason,
            **more,
        )

    tx.once_committed(note)


def _at(view: View, seat_ids: Sequence[UUID]) -> list[int]:
    return sorted(view.plan.by_id[seat_id] for seat_id in seat_ids)


def _ids(view: View, positions: Sequence[int]) -> list[UUID]:
    return [view.plan.ids[position] for position in positions]


def _name(view: View, position: int) -> str:
    return view.plan.seats[position].seat_id
