from collections.abc import Collection
from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec

from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.model import Caller
from voelgoed.accounts.rules.permissions import may
from voelgoed.events.actions.venues import venue_of
from voelgoed.events.model import (
    Event,
    EventChange,
    EventFrozen,
    EventHasTickets,
    EventNotDraft,
    EventNotFound,
    EventStatus,
    InvalidSchedule,
    InvalidTransition,
    NewEvent,
    Transition,
    VenueNotFound,
)
from voelgoed.events.rules.days import days_after_move, days_between, misdated_days
from voelgoed.events.rules.lifecycle import CHANGEABLE, NEXT, PUBLIC, may_become
from voelgoed.events.rules.messages import event_changed, event_topic
from voelgoed.events.rules.schedule import schedule_faults
from voelgoed.events.store import events as store
from voelgoed.infra.changes import changed
from voelgoed.infra.database import Database, Transaction, refusing
from voelgoed.infra.idempotency import IdempotencyKey, once
from voelgoed.infra.ids import new_id
from voelgoed.infra.refusal import VersionConflict


async def create_event(
    database: Database, caller: Caller, new: NewEvent, key: IdempotencyKey | None
) -> Event:
    async with database.transaction(caller.organization_id) as tx:
        return await once(tx, key, Event, lambda: _create(tx, caller, new))


async def _create(tx: Transaction, caller: Caller, new: NewEvent) -> Event:
    venue = await venue_of(tx, new.venue_id)
    timezone = ZoneInfo(venue.timezone)
    days = new.days or days_between(new.starts_at, new.ends_at, timezone)
    event = Event(
        id=new_id(),
        venue_id=venue.id,
        name=new.name,
        description=new.description,
        status="draft",
        starts_at=new.starts_at,
        ends_at=new.ends_at,
        sale_start=new.sale_start,
        sale_end=new.sale_end,
        capacity=new.capacity,
        days=days,
        version=1,
        created_at=tx.now,
        updated_at=tx.now,
    )
    _check_schedule(event, timezone)
    with refusing("event_organization_id_venue_id_fkey", VenueNotFound):
        await store.insert_event(tx, event)
    await record(tx, caller, "event_created", "Event", event.id, new)
    return event


async def read_event(database: Database, caller: Caller, event_id: UUID) -> Event:
    async with database.transaction(caller.organization_id) as tx:
        return await visible_event(tx, caller, event_id)


async def list_events(
    database: Database,
    caller: Caller,
    statuses: Collection[EventStatus],
    after: tuple[datetime, UUID] | None,
    limit: int,
) -> list[Event]:
    wanted = set(statuses or NEXT) & _visible_to(caller)
    async with database.transaction(caller.organization_id) as tx:
        return await store.list_events(tx, sorted(wanted), after, limit)


async def change_event(
    database: Database, caller: Caller, event_id: UUID, change: EventChange
) -> Event:
    async with database.transaction(caller.organization_id) as tx:
        before = await changeable_event(tx, event_id)
        after, differences = changed(before, change, tx.now)
        timezone = ZoneInfo((await venue_of(tx, before.venue_id)).timezone)
        if change.days is msgspec.UNSET and {"starts_at", "ends_at"} & differences.keys():
            days = days_after_move(before, after, timezone)
            after = msgspec.structs.replace(after, days=days)
        _check_schedule(after, timezone)
        await _write(tx, after)
        await store.replace_days(tx, event_id, after.days)
        await record(tx, caller, "event_changed", "Event", event_id, differences)
        return after


async def move_event(
    database: Database, caller: Caller, event_id: UUID, transition: Transition
) -> Event:
    """To another state. Asking for the state it is in already changes nothing."""
    async with database.transaction(caller.organization_id) as tx:
        before = await event_of(tx, event_id)
        if before.status == transition.to:
            return before
        if not may_become(before.status, transition.to):
            raise InvalidTransition(status=before.status, allowed=sorted(NEXT[before.status]))
        after = msgspec.structs.replace(
            before, status=transition.to, version=before.version + 1, updated_at=tx.now
        )
        await _write(tx, after)
        changes: dict[str, object] = {"status": {"from": before.status, "to": after.status}}
        await record(tx, caller, "event_moved", "Event", event_id, changes)
        return after


async def delete_event(database: Database, caller: Caller, event_id: UUID) -> None:
    async with database.transaction(caller.organization_id) as tx:
        event = await event_of(tx, event_id)
        with (
            refusing("ticket_organization_id_event_id_fkey", EventHasTickets),
            refusing("ticket_organization_id_ticket_type_id_fkey", EventHasTickets),
        ):
            if not await store.delete_draft(tx, event_id):
                raise EventNotDraft()
        await record(tx, caller, "event_deleted", "Event", event_id, {"name": event.name})


async def event_of(tx: Transaction, event_id: UUID) -> Event:
    event = await store.find_event(tx, event_id)
    if event is None:
        raise EventNotFound()
    return event


async def changeable_event(tx: Transaction, event_id: UUID) -> Event:
    event = await event_of(tx, event_id)
    if event.status not in CHANGEABLE:
        raise EventFrozen(status=event.status)
    return event


async def visible_event(tx: Transaction, caller: Caller, event_id: UUID) -> Event:
    """What this caller may not see does not exist for them."""
    event = await event_of(tx, event_id)
    if event.status not in _visible_to(caller):
        raise EventNotFound()
    return event


async def _write(tx: Transaction, event: Event) -> None:
    if not await store.update_event(tx, event):
        raise VersionConflict()
    tx.publish(event_topic(event.id), event_changed(event))


def _visible_to(caller: Caller) -> frozenset[EventStatus]:
    return frozenset(NEXT) if may(caller.role, "events.read_unpublished") else PUBLIC


def _check_schedule(event: Event, timezone: ZoneInfo) -> None:
    faults = misdated_days(event.days, timezone) + schedule_faults(
        starts_at=event.starts_at,
        ends_at=event.ends_at,
        sale_start=event.sale_start,
        sale_end=event.sale_end,
        days=event.days,
    )
    if faults:
        raise InvalidSchedule(faults=faults)
