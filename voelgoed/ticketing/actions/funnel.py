from datetime import datetime
from uuid import UUID

from voelgoed.accounts.model import Caller
from voelgoed.events.actions.events import visible_event
from voelgoed.infra.database import Database
from voelgoed.ticketing.model.funnel import Funnel
from voelgoed.ticketing.rules.funnel import FIELDS, funnel
from voelgoed.ticketing.store.domain_events import count_events


async def read_funnel(
    database: Database,
    caller: Caller,
    event_id: UUID,
    since: datetime | None,
    until: datetime | None,
    step_s: int,
) -> Funnel:
    async with database.transaction(caller.organization_id) as tx:
        await visible_event(tx, caller, event_id)
        recorded = await count_events(tx, event_id, sorted(FIELDS), since, until, step_s)
    return funnel(event_id, since, until, recorded)
