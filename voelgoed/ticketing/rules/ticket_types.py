"""Whether a ticket type fits its event and itself. All faults at once, each with its path."""

import re
from collections.abc import Collection, Iterator, Sequence
from uuid import UUID

import msgspec
from msgspec import UNSET

from voelgoed.events.model import Event
from voelgoed.seating.model.event_layout import EventZone
from voelgoed.seating.model.layout import SEATED, Fault
from voelgoed.ticketing.model.ticket_types import (
    Entitlement,
    Price,
    TicketKind,
    TicketType,
    TicketTypeChange,
)

FOR_PLACES: frozenset[Entitlement] = frozenset({"ga_seated", "ga_standing"})
_FIELD = re.compile(r"\w+")


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """What a ticket type has to fit."""

    event: Event
    zones: Sequence[EventZone]
    """None while the event has no layout."""
    gate_ids: Collection[UUID]
    others: Sequence[TicketType]
    """Of the same event; the ticket type itself may be among them."""


def ticket_type_faults(ticket_type: TicketType, around: Surroundings) -> list[Fault]:
    days = {day.date for day in around.event.days}
    kinds: dict[UUID, TicketKind] = {zone.zone.zone_id: _kind(zone) for zone in around.zones}
    return [
        *_entitlement_faults(ticket_type, len(days)),
        *_list_faults("valid_days", ticket_type.valid_days, days, "is no day of this event"),
        *_list_faults("zone_ids", ticket_type.zone_ids, kinds, "is not in this event's layout"),
        *_kind_faults(ticket_type, kinds),
        *_list_faults(
            "gate_ids", ticket_type.gate_ids, around.gate_ids, "is no gate of this event"
        ),
        *_currency_faults(ticket_type, around.others),
        *_price_faults(ticket_type.prices),
        *_quota_faults(ticket_type),
    ]


def change_faults(before: TicketType, after: TicketType, around: Surroundings) -> list[Fault]:
    """Only what the change is to blame for: a type with a zone that the layout has lost since can
    still be taken off sale."""
    known = ticket_type_faults(before, around)

    def is_new(fault: Fault) -> bool:
        [field, *_] = _FIELD.findall(fault.path)
        return fault not in known or getattr(before, field) != getattr(after, field)

    return [fault for fault in ticket_type_faults(after, around) if is_new(fault)]


def entry_limit_of(entitlement: Entitlement, entry_limit: int | None) -> int | None:
    return 1 if entitlement == "single_entry" and entry_limit is None else entry_limit


def with_entry_limit(change: TicketTypeChange, before: TicketType) -> TicketTypeChange:
    """The limit that came with `single_entry` goes with it, unless the change names one."""
    entitlement = before.entitlement if change.entitlement is UNSET else change.entitlement
    limit = change.entry_limit
    if limit is UNSET:
        was_single = before.entitlement == "single_entry" != entitlement
        limit = None if was_single else before.entry_limit
    return msgspec.structs.replace(change, entry_limit=entry_limit_of(entitlement, limit))


def next_number(ticket_types: Sequence[TicketType]) -> int:
    """The smallest that is free. One that was deleted was never on a ticket."""
    numbers = {ticket_type.number for ticket_type in ticket_types}
    return next(number for number in range(1, len(numbers) + 2) if number not in numbers)


def _entitlement_faults(ticket_type: TicketType, event_days: int) -> Iterator[Fault]:
    entitlement = ticket_type.entitlement
    days = event_days if ticket_type.valid_days is None else len(ticket_type.valid_days)
    if entitlement in FOR_PLACES and ticket_type.kind != "ga":
        yield Fault("$.entitlement", "is for ticket types of kind ga")
    if entitlement == "single_entry" and ticket_type.entry_limit != 1:
        yield Fault("$.entry_limit", "must be 1 with entitlement single_entry")
    if entitlement == "limited_reentry_per_day" and ticket_type.max_daily_entries is None:
        yield Fault("$.max_daily_entries", "is needed by entitlement limited_reentry_per_day")
    if entitlement == "unlimited_single_day" and days != 1:
        yield Fault("$.valid_days", "must be one day with entitlement unlimited_single_day")


def _list_faults(
    field: str, named: Sequence[object] | None, known: Collection[object], unknown: str
) -> Iterator[Fault]:
    seen = set[object]()
    for number, name in enumerate(named or ()):
        if name not in known:
            yield Fault(f"$.{field}[{number}]", unknown)
        if name in seen:
            yield Fault(f"$.{field}[{number}]", "is named twice")
        seen.add(name)


def _kind_faults(ticket_type: TicketType, kinds: dict[UUID, TicketKind]) -> Iterator[Fault]:
    for number, zone_id in enumerate(ticket_type.zone_ids or ()):
        kind = kinds.get(zone_id, ticket_type.kind)
        if kind != ticket_type.kind:
            yield Fault(f"$.zone_ids[{number}]", f"is for ticket types of kind {kind}")


def _currency_faults(ticket_type: TicketType, others: Sequence[TicketType]) -> Iterator[Fault]:
    for other in others[:1]:
        if other.currency != ticket_type.currency:
            yield Fault("$.currency", f"must be {other.currency}, as of all others of this event")


def _price_faults(prices: Sequence[Price]) -> Iterator[Fault]:
    rules = [price.pricing_rule_id for price in prices]
    for number, rule in enumerate(rules):
        if rule in rules[:number]:
            yield Fault(f"$.prices[{number}].pricing_rule_id", "has a price already")


def _quota_faults(ticket_type: TicketType) -> Iterator[Fault]:
    quota = ticket_type.quota
    if quota is None:
        return
    if quota < ticket_type.taken:
        yield Fault("$.quota", f"must be at least {ticket_type.taken}: so many are taken")
    if (ticket_type.max_per_order or 0) > quota:
        yield Fault("$.max_per_order", "must not be more than the quota")


def _kind(zone: EventZone) -> TicketKind:
    return "seated" if zone.zone.zone_type in SEATED else "ga"
