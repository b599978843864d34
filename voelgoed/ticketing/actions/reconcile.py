"""What Redis remembers of holds, compared with PostgreSQL and put right.

Redis may have been away when a hold was made or ended, or have come back with what it had before:
then it refuses seats that are free, or does not know of holds that there are. Nothing is granted by
it either way; this is so that it is not wrong for longer than until the next look.
"""

from contextlib import suppress
from uuid import UUID

import structlog

from voelgoed.infra.cache import Cache
from voelgoed.infra.database import Database
from voelgoed.infra.refusal import Refusal
from voelgoed.seating.actions.rebuild import events_on_sale
from voelgoed.seating.actions.views import seat_hold_key, see_any
from voelgoed.ticketing.actions.hold_registry import HoldRegistry
from voelgoed.ticketing.store import holds as store

log = structlog.get_logger()


async def reconcile_all(database: Database, cache: Cache, registry: HoldRegistry) -> int:
    """Of all events on sale: how many entries were put right."""
    if not cache.has_warm:
        return 0
    count = 0
    for organization_id in await database.organization_ids():
        for event_id in await events_on_sale(database, organization_id):
            with suppress(Refusal):  # it ended, or lost its layout, since it was listed
                count += await reconcile_event(database, cache, registry, organization_id, event_id)
    return count


async def reconcile_event(
    database: Database, cache: Cache, registry: HoldRegistry, organization_id: UUID, event_id: UUID
) -> int:
    """First Redis, then PostgreSQL: what is told meanwhile is told after it was committed, so that
    the later look knows of it."""
    view = await see_any(database, cache, organization_id, event_id)
    told = await registry.told(organization_id, event_id, view.plan.ids)
    if told is None:
        return 0
    async with database.transaction(organization_id) as tx:
        holds = await store.list_held_seats(tx, event_id)
    done = await registry.put_right(organization_id, event_id, told, holds, tx.now)
    async with database.transaction(organization_id) as tx:
        after = await store.find_holds(tx, [hold.id for hold in done.written])
        ended = [hold for hold in after if hold.status != "active"]  # while we were writing them
        seat_ids = [*done.freed, *(hold.seat_id for hold in ended if hold.seat_id)]
        tx.drop(*(seat_hold_key(organization_id, seat_id) for seat_id in seat_ids))
    await registry.forget(organization_id, ended)
    if done.count:
        about = {"org_id": str(organization_id), "event_id": str(event_id)}
        log.warning("hold_cache_reconciled", **about, entries=done.count)
    return done.count
