"""Judges scans once more that were ahead of their arrival, when their moment has come."""

import asyncio
from functools import partial

from voelgoed.accounts.model import Caller
from voelgoed.infra.database import ChangedMeanwhile, Database
from voelgoed.infra.ids import new_id
from voelgoed.infra.refusal import StorageBusy
from voelgoed.scanning.actions.history_commit import DueScans, commit_history, forget_last_scans
from voelgoed.scanning.model.sync_facts import question_about_scans
from voelgoed.scanning.rules.invalid_admissions import each_by_ticket
from voelgoed.scanning.rules.messages import recounted
from voelgoed.scanning.rules.second_look import look_again
from voelgoed.scanning.store import offline
from voelgoed.seating.rules.messages import occupancy_topic

ATTEMPTS_MAX = 10


async def take_second_look(database: Database, due: DueScans) -> None:
    """Scans whose moment is still to come wait for another look. Doing it twice is doing it once."""
    for _ in range(ATTEMPTS_MAX):
        try:
            return await _look(database, due)
        except ChangedMeanwhile:
            continue
    raise StorageBusy()


async def _look(database: Database, due: DueScans) -> None:
    system = Caller(kind="system", id=None, organization_id=due.organization_id)
    async with database.transaction(due.organization_id) as tx:
        facts = await offline.read_facts(tx, question_about_scans(scan_ids=due.scan_ids))
        looked = partial(look_again, due.scan_ids, facts, tx.now, iter(new_id, None))
        second = await asyncio.to_thread(looked)
        counts = await commit_history(
            tx, system, second.history, suspicions=each_by_ticket(second.invalid, tx.now)
        )
        forget_last_scans(tx, second.changed_codes)
        for event_id in {each.event_id for each in counts}:
            tx.publish(occupancy_topic(tx.organization_id, event_id), recounted(event_id))
