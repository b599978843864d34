"""Reports are made a few at a time: whoever sells or scans must not wait for who counts."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TypedDict
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np

from voelgoed.accounts.model import Caller
from voelgoed.events.actions.events import event_of
from voelgoed.events.actions.venues import venue_of
from voelgoed.events.model import Event
from voelgoed.infra.cache import Cache
from voelgoed.infra.database import Database, Transaction
from voelgoed.reporting.model.about import ReportsBusy, ZonePlaces
from voelgoed.seating.actions.views import see_any
from voelgoed.seating.model.layout import SEATED
from voelgoed.seating.model.refusals import EventLayoutNotFound

AT_ONCE_MAX = 2
"""In one process."""
TURN_S_MAX = 10.0
"""For others to be done."""


class AboutEvent(TypedDict):
    event_id: UUID
    event_name: str
    timezone: str


class ReportDesk:
    def __init__(self, database: Database, cache: Cache) -> None:
        self.database = database
        self._cache = cache
        self._turns = asyncio.Semaphore(AT_ONCE_MAX)

    @asynccontextmanager
    async def reading(self, caller: Caller) -> AsyncGenerator[Transaction]:
        """All that is read for a report is of one moment."""
        try:
            async with asyncio.timeout(TURN_S_MAX):
                await self._turns.acquire()
        except TimeoutError:
            raise ReportsBusy() from None
        try:
            async with self.database.transaction(caller.organization_id, at_one_moment=True) as tx:
                yield tx
        finally:
            self._turns.release()

    async def zones_of(self, caller: Caller, event_id: UUID) -> list[ZonePlaces]:
        """Names and places, from the layout; an event without one has none. Not inside a transaction."""
        try:
            view = await see_any(self.database, self._cache, caller.organization_id, event_id)
        except EventLayoutNotFound:
            return []
        seats = np.bincount(view.plan.zone, minlength=len(view.zones)).tolist()
        return [
            ZonePlaces(
                each.zone.zone_id,
                each.zone.name,
                seats[index] if each.zone.zone_type in SEATED else each.zone.capacity,
            )
            for index, each in enumerate(view.zones)
        ]


async def about(tx: Transaction, event_id: UUID) -> tuple[Event, ZoneInfo, AboutEvent]:
    event = await event_of(tx, event_id)
    timezone = (await venue_of(tx, event.venue_id)).timezone
    told = AboutEvent(event_id=event.id, event_name=event.name, timezone=timezone)
    return event, ZoneInfo(timezone), told
