"""Builders of ticket types: bodies of requests, stored ones, and the events they are for."""

import datetime as dt
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from tests.seating.api_support import SeatedEvent
from tests.support import SOON
from voelgoed.events.model import Event, EventDay
from voelgoed.seating.model.event_layout import EventZone
from voelgoed.seating.model.layout import Zone, ZoneType
from voelgoed.ticketing.model.ticket_types import Price, TicketType

DAYS = [(SOON + timedelta(days=number)).date() for number in range(3)]
"""Of the events below, and of one through HTTP with `THREE_DAYS`."""
THREE_DAYS = {"ends_at": (SOON + timedelta(days=2, hours=5)).isoformat()}


def a_ticket_type(**changes: Any) -> dict[str, Any]:
    """The body of a request: a seat anywhere for 150.00."""
    return {
        "name": "Standard",
        "kind": "seated",
        "currency": "ZAR",
        "prices": [{"amount_minor": 15_000}],
        **changes,
    }


def a_stored_type(**changes: Any) -> TicketType:
    given: dict[str, Any] = {
        "id": UUID(int=1),
        "event_id": UUID(int=2),
        "number": 1,
        "name": "Standard",
        "description": "",
        "kind": "seated",
        "entitlement": "unlimited_multi_day",
        "entry_limit": None,
        "max_daily_entries": None,
        "valid_days": None,
        "zone_ids": None,
        "gate_ids": None,
        "reentry": "allowed",
        "currency": "ZAR",
        "prices": [Price(amount_minor=15_000)],
        "quota": None,
        "taken": 0,
        "max_per_order": None,
        "sold_by": "anybody",
        "status": "on_sale",
        "version": 1,
        "created_at": SOON,
        "updated_at": SOON,
    }
    return TicketType(**(given | changes))


def an_event_on(*days: dt.date) -> Event:
    """One evening on each."""
    begin = [datetime.combine(day, SOON.timetz()) for day in days]
    evenings = [EventDay(each.date(), each, each + timedelta(hours=5)) for each in begin]
    return Event(
        id=UUID(int=2),
        venue_id=UUID(int=3),
        name="Festival",
        description="",
        status="published",
        starts_at=evenings[0].starts_at,
        ends_at=evenings[-1].ends_at,
        sale_start=None,
        sale_end=None,
        capacity=100,
        days=evenings,
        version=1,
        created_at=SOON,
        updated_at=SOON,
    )


def an_event_zone(
    number: int = 100,
    zone_type: ZoneType = "reserved_seating",
    *,
    rule: UUID | None = None,
    enabled: bool = True,
) -> EventZone:
    zone = Zone(zone_id=UUID(int=number), zone_type=zone_type, name=f"Zone {number}", capacity=10)
    return EventZone(zone=zone, enabled=enabled, pricing_rule_id=rule)


async def made(event: SeatedEvent, **changes: Any) -> dict[str, Any]:
    """A ticket type of this event, through its route."""
    return await event.office.make(f"{event.path}/ticket-types", a_ticket_type(**changes))
