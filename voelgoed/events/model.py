"""Venues, events, their days and gates, and why they are refused."""

import datetime as dt
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, UnsetType

from voelgoed.infra.refusal import Conflict, Invalid, Missing
from voelgoed.infra.shapes import Count, Moment, Name, Request, Text, Version, in_utc

EventStatus = Literal["draft", "published", "live", "ended", "archived", "cancelled"]
GateStatus = Literal["open", "closed"]
GateCode = Annotated[str, msgspec.Meta(max_length=63, pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$(?!\n)")]
DAYS_MAX = 60
ZONES_MAX = 200
GATES_MAX = 500


class Venue(msgspec.Struct, frozen=True, kw_only=True):
    id: UUID
    name: str
    address: str
    timezone: str
    version: int
    created_at: datetime
    updated_at: datetime


class EventDay(msgspec.Struct, frozen=True):
    """A day of the event as visitors see it: named by the date it began on, at the venue."""

    date: dt.date
    starts_at: Moment
    ends_at: Moment

    def __post_init__(self) -> None:
        in_utc(self)


class Event(msgspec.Struct, frozen=True, kw_only=True):
    id: UUID
    venue_id: UUID
    name: str
    description: str
    status: EventStatus
    starts_at: datetime
    ends_at: datetime
    sale_start: datetime | None
    sale_end: datetime | None
    capacity: int
    days: list[EventDay]
    version: int
    created_at: datetime
    updated_at: datetime


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    id: UUID
    event_id: UUID
    code: str
    name: str
    allowed_zones: list[UUID] | None
    capacity: int | None
    hard_capacity_limit: int | None
    status: GateStatus
    version: int
    created_at: datetime
    updated_at: datetime


class NewVenue(Request):
    name: Name
    timezone: Name
    address: Text = ""


class VenueChange(Request):
    version: Version
    name: Name | UnsetType = UNSET
    timezone: Name | UnsetType = UNSET
    address: Text | UnsetType = UNSET


class NewEvent(Request):
    venue_id: UUID
    name: Name
    starts_at: Moment
    ends_at: Moment
    capacity: Count
    description: Text = ""
    sale_start: Moment | None = None
    sale_end: Moment | None = None
    days: Annotated[list[EventDay], msgspec.Meta(min_length=1, max_length=DAYS_MAX)] | None = None
    """Left out, they follow from start and end: a night belongs to the day it began on."""


class EventChange(Request):
    version: Version
    name: Name | UnsetType = UNSET
    description: Text | UnsetType = UNSET
    starts_at: Moment | UnsetType = UNSET
    ends_at: Moment | UnsetType = UNSET
    sale_start: Moment | None | UnsetType = UNSET
    sale_end: Moment | None | UnsetType = UNSET
    capacity: Count | UnsetType = UNSET
    days: Annotated[list[EventDay], msgspec.Meta(min_length=1, max_length=DAYS_MAX)] | UnsetType = (
        UNSET
    )


class Transition(Request):
    to: EventStatus


Zones = Annotated[list[UUID], msgspec.Meta(min_length=1, max_length=ZONES_MAX)]


class NewGate(Request):
    code: GateCode
    name: Name
    allowed_zones: Zones | None = None
    capacity: Count | None = None
    hard_capacity_limit: Count | None = None
    status: GateStatus = "closed"


class GateChange(Request):
    version: Version
    name: Name | UnsetType = UNSET
    allowed_zones: Zones | None | UnsetType = UNSET
    capacity: Count | None | UnsetType = UNSET
    hard_capacity_limit: Count | None | UnsetType = UNSET
    status: GateStatus | UnsetType = UNSET


class VenueNotFound(Missing):
    """There is no such venue."""


class EventNotFound(Missing):
    """There is no such event."""


class GateNotFound(Missing):
    """There is no such gate at this event."""


class GateCodeTaken(Conflict):
    """There is a gate with this code at this event already."""


class InvalidTransition(Conflict):
    """An event cannot go from its present state to that one."""


class EventFrozen(Conflict):
    """An event that has ended, or was cancelled or archived, can no longer be changed."""


class VenueInUse(Conflict):
    """This venue has events or layouts; it cannot be deleted."""


class TimezoneInUse(Conflict):
    """Events take place at this venue, and their days follow its timezone."""


class EventNotDraft(Conflict):
    """Only a draft can be deleted; cancel the event instead."""


class EventHasTickets(Conflict):
    """There are tickets for this event; cancel it instead."""


class GateInUse(Conflict):
    """Gates of a live event can be closed, not deleted."""


class TooManyGates(Conflict):
    """An event has at most 500 gates."""


class InvalidTimezone(Invalid):
    """That is not a timezone name such as Africa/Johannesburg."""


class InvalidSchedule(Invalid):
    """The dates of this event contradict each other; `details.faults` says where."""
