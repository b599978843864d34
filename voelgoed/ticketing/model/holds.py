"""Seats and places kept for somebody for a few minutes."""

import datetime as dt
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from voelgoed.events.model import DAYS_MAX
from voelgoed.infra.shapes import Email, Note, Request
from voelgoed.seating.model.layout import ZONES_MAX, SeatId
from voelgoed.seating.model.policy import PARTY_MAX, Party
from voelgoed.seating.model.seats import GUESTS_MAX, BestRequest

HoldStatus = Literal["active", "converted", "expired", "cancelled"]
Source = Literal["web", "scanner"]


class SeatHold(msgspec.Struct, frozen=True, kw_only=True):
    """One seat, or so many places of a zone, kept for somebody. As the table has it."""

    id: UUID
    event_id: UUID
    booking_id: UUID
    user_id: UUID
    seat_id: UUID | None
    zone_id: UUID
    places: int
    days: list[dt.date] | None
    """Of places; a seat is held for the whole event."""
    status: HoldStatus
    held_until: datetime
    extended: bool
    source: Source
    is_judged: bool
    """Whether the whole selection was, when it was taken; else it is when it is bought."""
    notes: str | None
    associated_membership_id: UUID | None
    created_at: datetime
    updated_at: datetime


class Hold(msgspec.Struct, frozen=True, kw_only=True):
    """A hold as its holder sees it."""

    hold_id: UUID
    booking_id: UUID
    """What was held together has one."""
    event_id: UUID
    seat_id: UUID | None
    """Null for places of a zone without seats."""
    seat_label: str | None
    zone_id: UUID
    block_name: str
    row: str | None
    seat_number: str | None
    places: int
    days: list[dt.date] | None
    status: Literal["held", "converted", "expired", "cancelled"]
    held_until: datetime
    held_until_unix: int
    expires_in_seconds: int
    can_extend: bool
    message: str


class Booking(msgspec.Struct, frozen=True, kw_only=True):
    """What was held together."""

    booking_id: UUID
    event_id: UUID
    held_until: datetime
    """Of the first of them to end."""
    expires_in_seconds: int
    holds: list[Hold]


class Reservation(Request, frozen=True):  # pyright: ignore[reportGeneralTypeIssues]
    """Frozen, so that it can be the default of a parameter."""

    source: Source = "web"


class PlacesWish(Request):
    """So many places in a zone without seats."""

    zone_id: UUID
    count: Party
    days: Annotated[list[dt.date], Meta(min_length=1, max_length=DAYS_MAX)] | None = None
    """Those of the tickets they are for; left out, every day of the event."""


class NewBooking(Request):
    """Seats by name, or the best for so many, or places, or a mix of them: all or nothing."""

    seat_ids: Annotated[list[SeatId], Meta(max_length=PARTY_MAX)] = []
    best: BestRequest | None = None
    places: Annotated[list[PlacesWish], Meta(max_length=ZONES_MAX)] = []
    guests: Annotated[list[Email], Meta(max_length=GUESTS_MAX)] = []
    """Who comes along, in zones that are not open to everybody."""
    source: Source = "web"
    notes: Note = ""
