"""The counters proven by the scans: every few minutes, and whenever somebody asks.

Nothing is put right unasked. A difference is a fault of ours, or somebody wrote to the database
behind our back; either should be known before it is gone.
"""

from uuid import UUID

import structlog

from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.model import Caller
from voelgoed.infra.database import Database, Transaction
from voelgoed.scanning.metrics import occupancy_differences
from voelgoed.scanning.model.recount import Difference
from voelgoed.scanning.rules.messages import recounted
from voelgoed.scanning.rules.recount import differences
from voelgoed.scanning.store import occupancy
from voelgoed.scanning.store import recount as store
from voelgoed.seating.rules.messages import occupancy_topic

log = structlog.get_logger()

LOGGED_MAX = 100
"""Differences of one event. Where there are more, one thing is wrong with all of them."""


async def recount_all(database: Database, *, repair: bool = False) -> tuple[int, list[Difference]]:
    """The number of live events, and all differences that were found."""
    events, found = 0, list[Difference]()
    for organization_id in await database.organization_ids():
        async with database.transaction(organization_id) as tx:
            live = await store.find_live_events(tx)
        for event in live:
            events += 1
            look = repair_event if repair else recount_event
            found += await look(database, organization_id, event.id)
    return events, found


async def recount_event(
    database: Database, organization_id: UUID, event_id: UUID
) -> list[Difference]:
    async with database.transaction(organization_id) as tx:
        found = differences(await store.read_counts(tx, event_id))
    _report(organization_id, found)
    return found


async def repair_event(
    database: Database, organization_id: UUID, event_id: UUID
) -> list[Difference]:
    """Adds what is missing to the counters and does not overwrite them, so that scans go on
    meanwhile: whatever they add, they add to both sides."""
    async with database.transaction(organization_id) as tx:
        await store.lock_repairs(tx, event_id)
        found = differences(await store.read_counts(tx, event_id))
        if found:
            await occupancy.add_counts(tx, [each.correction for each in found])
            await _record(tx, event_id, found)
            tx.publish(occupancy_topic(organization_id, event_id), recounted(event_id))
    _report(organization_id, found)
    return found


async def _record(tx: Transaction, event_id: UUID, found: list[Difference]) -> None:
    system = Caller(kind="system", id=None, organization_id=tx.organization_id)
    changes: dict[str, object] = {"differences": found[:LOGGED_MAX], "count": len(found)}
    await record(tx, system, "occupancy_repaired", "Event", event_id, changes)


def _report(organization_id: UUID, found: list[Difference]) -> None:
    occupancy_differences.inc(len(found))
    for each in found[:LOGGED_MAX]:
        log.warning(
            "occupancy_differs",
            org_id=str(organization_id),
            event_id=str(each.event_id),
            day=each.day.isoformat(),
            scope=each.scope,
            scope_id=str(each.scope_id),
            counted=[each.entries, each.exits, each.inside, each.irregular],
            by_scans=[
                each.entries_by_scans,
                each.exits_by_scans,
                each.inside_by_scans,
                each.irregular_by_scans,
            ],
            differences=len(found),
        )
