from uuid import UUID
from zoneinfo import available_timezones

from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.model import Caller
from voelgoed.events.model import (
    InvalidTimezone,
    NewVenue,
    TimezoneInUse,
    Venue,
    VenueChange,
    VenueInUse,
    VenueNotFound,
)
from voelgoed.events.store import venues as store
from voelgoed.infra.changes import changed
from voelgoed.infra.database import Database, Transaction, refusing
from voelgoed.infra.idempotency import IdempotencyKey, once
from voelgoed.infra.ids import new_id
from voelgoed.infra.refusal import VersionConflict

TIMEZONES = available_timezones() - {"Factory", "localtime"}  # no place has these


async def create_venue(
    database: Database, caller: Caller, new: NewVenue, key: IdempotencyKey | None
) -> Venue:
    _check_timezone(new.timezone)
    async with database.transaction(caller.organization_id) as tx:
        return await once(tx, key, Venue, lambda: _create(tx, caller, new))


async def _create(tx: Transaction, caller: Caller, new: NewVenue) -> Venue:
    venue = Venue(
        id=new_id(),
        name=new.name,
        address=new.address,
        timezone=new.timezone,
        version=1,
        created_at=tx.now,
        updated_at=tx.now,
    )
    await store.insert_venue(tx, venue)
    await record(tx, caller, "venue_created", "Venue", venue.id, new)
    return venue


async def read_venue(database: Database, caller: Caller, venue_id: UUID) -> Venue:
    async with database.transaction(caller.organization_id) as tx:
        return await venue_of(tx, venue_id)


async def list_venues(
    database: Database, caller: Caller, after: UUID | None, limit: int
) -> list[Venue]:
    async with database.transaction(caller.organization_id) as tx:
        return await store.list_venues(tx, after, limit)


async def change_venue(
    database: Database, caller: Caller, venue_id: UUID, change: VenueChange
) -> Venue:
    async with database.transaction(caller.organization_id) as tx:
        after, differences = changed(await venue_of(tx, venue_id), change, tx.now)
        _check_timezone(after.timezone)
        if "timezone" in differences and await store.has_events(tx, venue_id):
            raise TimezoneInUse()
        if not await store.update_venue(tx, after):
            raise VersionConflict()
        await record(tx, caller, "venue_changed", "Venue", venue_id, differences)
        return after


async def delete_venue(database: Database, caller: Caller, venue_id: UUID) -> None:
    async with database.transaction(caller.organization_id) as tx:
        with (
            refusing("event_organization_id_venue_id_fkey", VenueInUse),
            refusing("layout_organization_id_venue_id_fkey", VenueInUse),
        ):
            if not await store.delete_venue(tx, venue_id):
                raise VenueNotFound()
        await record(tx, caller, "venue_deleted", "Venue", venue_id)


async def venue_of(tx: Transaction, venue_id: UUID) -> Venue:
    venue = await store.find_venue(tx, venue_id)
    if venue is None:
        raise VenueNotFound()
    return venue


def _check_timezone(name: str) -> None:
    if name not in TIMEZONES:
        raise InvalidTimezone(timezone=name)
