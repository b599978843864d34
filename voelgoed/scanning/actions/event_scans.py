"""All that was scanned at an event."""

from uuid import UUID

from voelgoed.accounts.model import Caller
from voelgoed.events.actions.events import event_of
from voelgoed.infra.database import Database
from voelgoed.scanning.model.event_scans import EventScan
from voelgoed.scanning.store.event_scans import list_event_scans


async def scans_at(
    database: Database, caller: Caller, event_id: UUID, after: UUID | None, limit: int
) -> list[EventScan]:
    async with database.transaction(caller.organization_id) as tx:
        await event_of(tx, event_id)
        return await list_event_scans(tx, event_id, after, limit)
