from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from uuid import UUID

from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.model import Caller
from voelgoed.accounts.rules.permissions import may
from voelgoed.events.actions.events import changeable_event, visible_event
from voelgoed.events.actions.gates import list_gates
from voelgoed.events.model import EventNotFound
from voelgoed.infra.cache import Cache
from voelgoed.infra.changes import changed
from voelgoed.infra.database import Database, Transaction, refusing
from voelgoed.infra.idempotency import IdempotencyKey, once
from voelgoed.infra.ids import new_id
from voelgoed.infra.refusal import VersionConflict
from voelgoed.seating.actions.views import see
from voelgoed.seating.model.event_layout import EventZone
from voelgoed.seating.model.layout import Fault
from voelgoed.seating.model.refusals import EventLayoutNotFound
from voelgoed.ticketing.model.orders import OrderLine
from voelgoed.ticketing.model.refusals import (
    InvalidTicketType,
    TicketTypeInUse,
    TicketTypeNameTaken,
    TicketTypeNotFound,
    TicketTypeSoldOut,
    TooManyTicketTypes,
)
from voelgoed.ticketing.model.ticket_types import (
    TYPES_MAX,
    NewTicketType,
    TicketType,
    TicketTypeChange,
    ZoneOffers,
)
from voelgoed.ticketing.rules.prices import is_sold_to, left_of, offers
from voelgoed.ticketing.rules.ticket_types import (
    Surroundings,
    change_faults,
    entry_limit_of,
    next_number,
    ticket_type_faults,
    with_entry_limit,
)
from voelgoed.ticketing.store import ticket_types as store

ZonesAndGates = tuple[tuple[EventZone, ...], frozenset[UUID]]
"""Of an event, as its ticket types may name them."""


async def create_ticket_type(
    database: Database,
    cache: Cache,
    caller: Caller,
    event_id: UUID,
    new: NewTicketType,
    key: IdempotencyKey | None,
) -> TicketType:
    named = await _zones_and_gates(database, cache, caller, event_id)
    async with database.transaction(caller.organization_id) as tx:
        return await once(tx, key, TicketType, lambda: _create(tx, caller, event_id, new, named))


async def _create(
    tx: Transaction, caller: Caller, event_id: UUID, new: NewTicketType, named: ZonesAndGates
) -> TicketType:
    await store.lock_event(tx, event_id)
    around = await _surroundings(tx, event_id, named)
    if len(around.others) >= TYPES_MAX:
        raise TooManyTicketTypes()
    ticket_type = TicketType(
        id=new_id(),
        event_id=event_id,
        number=next_number(around.others),
        name=new.name,
        description=new.description,
        kind=new.kind,
        entitlement=new.entitlement,
        entry_limit=entry_limit_of(new.entitlement, new.entry_limit),
        max_daily_entries=new.max_daily_entries,
        valid_days=new.valid_days,
        zone_ids=new.zone_ids,
        gate_ids=new.gate_ids,
        reentry=new.reentry,
        currency=new.currency,
        prices=new.prices,
        quota=new.quota,
        taken=0,
        max_per_order=new.max_per_order,
        sold_by=new.sold_by,
        status=new.status,
        version=1,
        created_at=tx.now,
        updated_at=tx.now,
    )
    _refuse(ticket_type_faults(ticket_type, around))
    with refusing("ticket_type_name_taken", TicketTypeNameTaken):
        await store.insert_type(tx, ticket_type)
    await record(tx, caller, "ticket_type_created", "TicketType", ticket_type.id, new)
    return ticket_type


async def list_ticket_types(database: Database, caller: Caller, event_id: UUID) -> list[TicketType]:
    async with database.transaction(caller.organization_id) as tx:
        await visible_event(tx, caller, event_id)
        found = await store.list_types(tx, event_id)
    return [ticket_type for ticket_type in found if _is_shown(ticket_type, caller)]


async def read_ticket_type(database: Database, caller: Caller, ticket_type_id: UUID) -> TicketType:
    async with database.transaction(caller.organization_id) as tx:
        ticket_type = await _type_of(tx, ticket_type_id)
        try:
            await visible_event(tx, caller, ticket_type.event_id)
        except EventNotFound:
            raise TicketTypeNotFound() from None
    if not _is_shown(ticket_type, caller):
        raise TicketTypeNotFound()
    return ticket_type


async def read_offers(
    database: Database, cache: Cache, caller: Caller, event_id: UUID
) -> list[ZoneOffers]:
    """What this caller could buy, or sell, in each zone."""
    view = await see(database, cache, caller, event_id)
    async with database.transaction(caller.organization_id) as tx:
        found = await store.list_types(tx, event_id)
    staff = _is_staff(caller)
    return offers([each for each in found if is_sold_to(each, staff=staff)], view.zones)


async def change_ticket_type(
    database: Database,
    cache: Cache,
    caller: Caller,
    ticket_type_id: UUID,
    change: TicketTypeChange,
) -> TicketType:
    """For orders from now on: those there are keep the prices they were made with."""
    event_id = (await read_ticket_type(database, caller, ticket_type_id)).event_id
    named = await _zones_and_gates(database, cache, caller, event_id)
    async with database.transaction(caller.organization_id) as tx:
        await store.lock_type(tx, ticket_type_id)  # or the quota could be taken meanwhile
        before = await _type_of(tx, ticket_type_id)
        around = await _surroundings(tx, event_id, named)
        after, differences = changed(before, with_entry_limit(change, before), tx.now)
        _refuse(change_faults(before, after, around))
        with refusing("ticket_type_name_taken", TicketTypeNameTaken):
            if not await store.update_type(tx, after):
                raise VersionConflict()
        await record(tx, caller, "ticket_type_changed", "TicketType", after.id, differences)
        return after


async def delete_ticket_type(database: Database, caller: Caller, ticket_type_id: UUID) -> None:
    async with database.transaction(caller.organization_id) as tx:
        ticket_type = await _type_of(tx, ticket_type_id)
        await changeable_event(tx, ticket_type.event_id)
        with (
            refusing("order_line_organization_id_ticket_type_id_fkey", TicketTypeInUse),
            refusing("ticket_organization_id_ticket_type_id_fkey", TicketTypeInUse),
        ):
            if not await store.delete_type(tx, ticket_type_id):
                raise TicketTypeNotFound()  # somebody else was first
        name: dict[str, object] = {"name": ticket_type.name}
        await record(tx, caller, "ticket_type_deleted", "TicketType", ticket_type_id, name)


async def find_types(
    tx: Transaction, event_id: UUID, ids: Collection[UUID]
) -> dict[UUID, TicketType]:
    """Those of them that the event has."""
    found = await store.find_types(tx, list(ids))
    return {each.id: each for each in found if each.event_id == event_id}


async def types_of(
    tx: Transaction, event_id: UUID, ids: Collection[UUID]
) -> dict[UUID, TicketType]:
    """All of them, or TicketTypeNotFound; whether they are on sale is for the caller to ask."""
    found = await find_types(tx, event_id, ids)
    require_all(ids, found)
    return found


def require_left(types: Mapping[UUID, TicketType], lines: Iterable[OrderLine]) -> None:
    """As far as is known; `take` is what counts."""
    short = [
        types[type_id]
        for type_id, count in counts_of_lines(lines).items()
        if (left := left_of(types[type_id])) is not None and left < count
    ]
    if short:
        raise _sold_out(short)


async def take(tx: Transaction, counts: Mapping[UUID, int]) -> None:
    """So many of each, all or none. Late in a transaction, for others wait for these rows."""
    assert all(count > 0 for count in counts.values())
    missing = counts.keys() - await store.add_taken(tx, counts)
    if not missing:
        return
    short = await store.find_types(tx, list(missing))
    require_all(missing, {each.id for each in short})
    raise _sold_out(short)


def _sold_out(short: Iterable[TicketType]) -> TicketTypeSoldOut:
    return TicketTypeSoldOut(
        ticket_types=[
            {"id": str(each.id), "name": each.name, "left": left_of(each)} for each in short
        ]
    )


def counts_of_lines(lines: Iterable[OrderLine]) -> Counter[UUID]:
    return Counter(line.ticket_type_id for line in lines)


async def give_back(tx: Transaction, counts: Mapping[UUID, int]) -> None:
    assert all(count > 0 for count in counts.values())
    given = await store.add_taken(tx, {each: -count for each, count in counts.items()})
    require_all(counts, given)


async def _zones_and_gates(
    database: Database, cache: Cache, caller: Caller, event_id: UUID
) -> ZonesAndGates:
    """Not inside a transaction, as `see` is not. An event without a layout has no zones yet."""
    gates = frozenset(gate.id for gate in await list_gates(database, caller, event_id))
    try:
        return (await see(database, cache, caller, event_id)).zones, gates
    except EventLayoutNotFound:
        return (), gates


async def _surroundings(tx: Transaction, event_id: UUID, named: ZonesAndGates) -> Surroundings:
    zones, gate_ids = named
    return Surroundings(
        event=await changeable_event(tx, event_id),
        zones=zones,
        gate_ids=gate_ids,
        others=await store.list_types(tx, event_id),
    )


async def _type_of(tx: Transaction, ticket_type_id: UUID) -> TicketType:
    for found in await store.find_types(tx, [ticket_type_id]):
        return found
    raise TicketTypeNotFound()


def require_all(wanted: Collection[UUID], found: Collection[UUID]) -> None:
    for ticket_type_id in wanted:
        if ticket_type_id not in found:
            raise TicketTypeNotFound(ticket_type_id=str(ticket_type_id))


def _refuse(faults: list[Fault]) -> None:
    if faults:
        raise InvalidTicketType(faults=faults)


def _is_staff(caller: Caller) -> bool:
    return may(caller.role, "events.read_unpublished")


def _is_shown(ticket_type: TicketType, caller: Caller) -> bool:
    return _is_staff(caller) or is_sold_to(ticket_type, staff=False)
