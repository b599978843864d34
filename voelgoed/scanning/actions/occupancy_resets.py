"""Somebody declares the venue empty: everybody who came in until then counts as having left."""

import asyncio
from datetime import datetime
from uuid import UUID

from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.model import Caller
from voelgoed.events.actions.events import event_of
from voelgoed.infra.database import ChangedMeanwhile, Database, Transaction
from voelgoed.infra.idempotency import IdempotencyKey, once
from voelgoed.infra.ids import new_id
from voelgoed.infra.refusal import StorageBusy
from voelgoed.scanning.model.occupancy import OccupancyReset
from voelgoed.scanning.model.supervision import NewOccupancyReset
from voelgoed.scanning.rules.messages import recounted
from voelgoed.scanning.rules.occupancy import taken_out
from voelgoed.scanning.store import occupancy
from voelgoed.scanning.store import occupancy_resets as store
from voelgoed.seating.rules.messages import occupancy_topic

ATTEMPTS_MAX = 40
PAUSE_S = 0.05


async def declare_empty(
    database: Database,
    caller: Caller,
    event_id: UUID,
    new: NewOccupancyReset,
    key: IdempotencyKey | None,
) -> OccupancyReset:
    """The moment stays the same for all attempts: scans from before it are soon all written, and then
    nobody of them is missed."""
    at = database.clock.now()
    for _ in range(ATTEMPTS_MAX):
        try:
            async with database.transaction(caller.organization_id) as tx:
                return await once(
                    tx, key, OccupancyReset, lambda tx=tx: _empty(tx, caller, event_id, new, at)
                )
        except ChangedMeanwhile:
            await asyncio.sleep(PAUSE_S)
    raise StorageBusy()


async def _empty(
    tx: Transaction, caller: Caller, event_id: UUID, new: NewOccupancyReset, at: datetime
) -> OccupancyReset:
    """Tickets are locked before counts, as everybody does. Scans of before that moment which were written in
    between are looked for when nobody can write any more."""
    assert caller.id is not None
    await event_of(tx, event_id)
    await store.lock_resets(tx, event_id)
    heads = await store.take_out_tickets(tx, event_id, at)
    await store.lock_counts(tx, event_id, at)
    if await store.has_somebody_left_inside(tx, event_id, at):
        raise ChangedMeanwhile()
    heads += await store.find_heads_without_ticket(tx, event_id, at)
    await occupancy.add_counts(tx, taken_out(event_id, heads))
    reset = OccupancyReset(
        id=new_id(),
        event_id=event_id,
        at=at,
        reason=new.reason,
        actor_id=caller.id,
        inside=len(heads),
        irregular=sum(each.is_irregular for each in heads),
    )
    await store.insert_reset(tx, reset)
    await record(tx, caller, "occupancy_reset", "Event", event_id, reset)
    tx.publish(occupancy_topic(tx.organization_id, event_id), recounted(event_id))
    return reset
