"""What becomes of holds: listed, prolonged, given up, swept away when their time is over."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from uuid import UUID

from voelgoed.accounts.actions.audit import record_all
from voelgoed.accounts.model import Caller, NewAuditEntry, Unauthorized
from voelgoed.accounts.rules.permissions import may
from voelgoed.infra.cache import Cache
from voelgoed.infra.database import Database, Transaction
from voelgoed.seating.actions import places, seats
from voelgoed.seating.actions.views import View, seat_hold_key, see_any
from voelgoed.seating.model.refusals import EventLayoutNotFound
from voelgoed.ticketing.actions.domain_events import expired, released
from voelgoed.ticketing.actions.hold_registry import HoldRegistry
from voelgoed.ticketing.actions.hold_views import shown
from voelgoed.ticketing.model.holds import Hold, SeatHold
from voelgoed.ticketing.model.refusals import HoldEnded, HoldNotFound
from voelgoed.ticketing.rules.holds import SWEEP_AFTER, extension_refusal
from voelgoed.ticketing.store import holds as store
from voelgoed.ticketing.store.domain_events import DomainEvent, insert_domain_events

SWEPT_TOGETHER_MAX = 1_000


async def my_holds(database: Database, cache: Cache, caller: Caller) -> list[Hold]:
    """Those that still hold, the oldest first."""
    if caller.id is None:
        raise Unauthorized()
    async with database.transaction(caller.organization_id) as tx:
        holds = await store.list_holds_of(tx, caller.id, tx.now)
    views = {
        event_id: await see_any(database, cache, caller.organization_id, event_id)
        for event_id in {hold.event_id for hold in holds}
    }
    return [shown(views[hold.event_id], hold, tx.now) for hold in holds]


async def release_hold(
    database: Database, cache: Cache, registry: HoldRegistry, caller: Caller, hold_id: UUID
) -> None:
    """One's own, or anybody's for who sells. What has ended already stays as it ended."""
    view = await _view_of(database, cache, caller, hold_id)
    async with database.transaction(caller.organization_id) as tx:
        [hold] = await store.lock_holds(tx, [hold_id])
        _require_own(caller, hold)
        await end_holds(tx, caller, view, [hold])
    await registry.forget(caller.organization_id, [hold])


async def extend_hold(
    database: Database, cache: Cache, registry: HoldRegistry, caller: Caller, hold_id: UUID
) -> Hold:
    """IdempotencyKey, by as long as a hold lasts from now on, with all that was held together."""
    view = await _view_of(database, cache, caller, hold_id)
    if view is None:
        raise HoldEnded(hold_id=str(hold_id))
    async with database.transaction(caller.organization_id) as tx:
        together = await _booking_of(tx, caller, hold_id)
        found = next(hold for hold in together if hold.id == hold_id)
        if (refusal := extension_refusal(found, tx.now)) is not None:
            raise refusal
        holds = [hold for hold in together if extension_refusal(hold, tx.now) is None]
        ids, until = [hold.id for hold in holds], tx.now + view.hold_ttl
        prolonged = await seats.prolong(tx, view, _positions(view, holds), ids, until)
        prolonged += await places.prolong(tx, view, ids, until)
        if prolonged != len(holds):  # somebody else has one of them by now, or it was blocked
            raise HoldEnded(hold_id=str(hold_id))
        await store.prolong_holds(tx, ids, until)
        changes: dict[str, object] = {"held_until": until.isoformat()}
        await record_all(
            tx,
            [
                NewAuditEntry(caller, "seat_hold_extended", "SeatHold", each, changes)
                for each in ids
            ],
        )
        after = await store.find_holds(tx, ids)
    await registry.forget(caller.organization_id, holds)
    await registry.remember(caller.organization_id, after, tx.now)
    return next(shown(view, hold, tx.now) for hold in after if hold.id == hold_id)


async def _view_of(database: Database, cache: Cache, caller: Caller, hold_id: UUID) -> View | None:
    """None when the event has no layout any more, which it can lose when all holds have ended."""
    async with database.transaction(caller.organization_id) as tx:
        found = await store.find_holds(tx, [hold_id])
    if not found:
        raise HoldNotFound()
    return await _view_if_any(database, cache, caller.organization_id, found[0].event_id)


async def _view_if_any(
    database: Database, cache: Cache, organization_id: UUID, event_id: UUID
) -> View | None:
    try:
        return await see_any(database, cache, organization_id, event_id)
    except EventLayoutNotFound:
        return None


async def _booking_of(tx: Transaction, caller: Caller, hold_id: UUID) -> list[SeatHold]:
    """All that was held together, locked in the order in which everybody locks holds."""
    [hold] = await store.find_holds(tx, [hold_id])
    _require_own(caller, hold)
    return await store.lock_booking(tx, hold.booking_id)


def _require_own(caller: Caller, hold: SeatHold) -> None:
    """Somebody else's does not exist for who does not sell."""
    if hold.user_id != caller.id and not may(caller.role, "sales.write"):
        raise HoldNotFound()


def _positions(view: View, holds: Sequence[SeatHold]) -> list[int]:
    by_id = view.plan.by_id
    return [by_id[hold.seat_id] for hold in holds if hold.seat_id and hold.seat_id in by_id]


class _Ending:
    """How holds end: as what, under which name, told how."""

    def __init__(
        self,
        status: store.Ended,
        action: str,
        event: Callable[[Transaction, SeatHold], DomainEvent],
        seat_word: str,
        place_word: str,
    ) -> None:
        self.status: store.Ended = status
        self.action = action
        self.event = event
        self.seat_word = seat_word
        self.place_word = place_word


CANCELLED = _Ending("cancelled", "seat_released", released, "seat_released", "places_released")
EXPIRED = _Ending(
    "expired", "seat_hold_expired", expired, "seat_hold_expired", "place_hold_expired"
)


async def end_holds(
    tx: Transaction, caller: Caller, view: View | None, holds: Sequence[SeatHold]
) -> None:
    """Those of these, which are locked, that still hold are given up; the others have expired."""
    active = [hold for hold in holds if hold.status == "active"]
    over = [hold for hold in active if hold.held_until <= tx.now]
    given_up = [hold for hold in active if hold.held_until > tx.now]
    for some, how in ((over, EXPIRED), (given_up, CANCELLED)):
        if some:
            await _end(tx, caller, view, some, how)


async def _end(
    tx: Transaction, caller: Caller, view: View | None, holds: Sequence[SeatHold], how: _Ending
) -> None:
    """Active holds of one event, which are locked. Their seats come free unless they are somebody
    else's by now; without a view there are none left, the layout having gone."""
    ids = [hold.id for hold in holds]
    await store.mark_holds(tx, ids, how.status)
    if view is not None:
        freed = await seats.release(tx, view, _positions(view, holds), ids, how.seat_word)
        # Not of those that are somebody else's by now: what is remembered there is theirs.
        tx.drop(*(seat_hold_key(tx.organization_id, view.plan.ids[at]) for at in freed))
        if any(hold.days is not None for hold in holds):
            await places.release_places(tx, view, ids, how.place_word)
    await insert_domain_events(tx, [how.event(tx, hold) for hold in holds])
    await record_all(
        tx,
        [
            NewAuditEntry(caller, how.action, "SeatHold", hold.id, _ended(hold, how))
            for hold in holds
        ],
    )


def _ended(hold: SeatHold, how: _Ending) -> dict[str, object]:
    return {
        "event_id": str(hold.event_id),
        "seat_id": None if hold.seat_id is None else str(hold.seat_id),
        "user_id": str(hold.user_id),
        "status": how.status,
        "held_until": hold.held_until.isoformat(),
    }


async def sweep_all(database: Database, cache: Cache, registry: HoldRegistry) -> int:
    """Everything that ended a while ago, of every organisation. Several processes may do this at
    once: each takes what no other has taken."""
    before = database.clock.now() - SWEEP_AFTER
    swept = 0
    for organization_id in await store.organizations_with_ended_holds(database, before):
        while count := await _sweep(database, cache, registry, organization_id):
            swept += count
    return swept


async def _sweep(
    database: Database, cache: Cache, registry: HoldRegistry, organization_id: UUID
) -> int:
    nobody = Caller(kind="system", id=None, organization_id=organization_id)
    views: dict[UUID, View | None] = {}
    async with database.transaction(organization_id) as tx:
        due = await store.ended_events(tx, tx.now - SWEEP_AFTER)
    for event_id in due:
        views[event_id] = await _view_if_any(database, cache, organization_id, event_id)
    async with database.transaction(organization_id) as tx:
        holds = await store.lock_ended_holds(
            tx, list(views), tx.now - SWEEP_AFTER, SWEPT_TOGETHER_MAX
        )
        of_event = defaultdict[UUID, list[SeatHold]](list)
        for hold in holds:
            of_event[hold.event_id].append(hold)
        for event_id in sorted(of_event):
            await _end(tx, nobody, views[event_id], of_event[event_id], EXPIRED)
    await registry.forget(organization_id, holds)
    return len(holds)
