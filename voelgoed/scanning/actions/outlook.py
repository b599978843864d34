"""The outlook of the gates: the tickets still expected, and the matters that wait for a
decision."""

import datetime as dt
from uuid import UUID

from voelgoed.accounts.model import Caller
from voelgoed.events.actions.events import event_of
from voelgoed.infra.database import Database
from voelgoed.scanning.model.outlook import EventOutlook
from voelgoed.scanning.rules.decision import day_of
from voelgoed.scanning.store.outlook import count_open
from voelgoed.ticketing.actions.admissions import count_to_come


async def read_outlook(database: Database, caller: Caller, event_id: UUID) -> EventOutlook:
    async with database.transaction(caller.organization_id) as tx:
        event = await event_of(tx, event_id)
        today = day_of(event.days, tx.now)
        day = dt.date.fromisoformat(today) if today else None
        return EventOutlook(
            event_id=event_id,
            day=day,
            to_come=await count_to_come(tx, event_id, day) if day else 0,
            open=await count_open(tx, event_id),
        )
