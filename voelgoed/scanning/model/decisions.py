"""What is scanned, where, and what a decision is made from."""

from datetime import datetime
from typing import Literal
from uuid import UUID

import msgspec

from voelgoed.events.model import EventDay, EventStatus, GateStatus
from voelgoed.ticketing.model.ticket_types import Reentry
from voelgoed.ticketing.model.tickets import TicketStatus

Direction = Literal["entry", "exit"]
ScanStatus = Literal["admitted", "denied"]
Reason = Literal[
    "ticket_not_found",
    "wrong_event",
    "barcode_revoked",
    "ticket_already_used",
    "ticket_voided",
    "ticket_refunded",
    "already_scanned",
    "event_not_live",
    "event_ended",
    "gate_closed",
    "wrong_gate",
    "not_valid_today",
    "membership_not_active",
    "reentry_not_allowed",
    "exit_required",
    "entry_limit_reached",
    "daily_limit_reached",
    "gate_at_capacity",
    "not_inside",
    "unverified",
]
"""Why somebody is not let through, in the order in which it is asked."""
REASONS_OF_HISTORY: frozenset[Reason] = frozenset(
    {
        "already_scanned",
        "reentry_not_allowed",
        "exit_required",
        "entry_limit_reached",
        "daily_limit_reached",
    }
)
"""Reasons that follow from earlier scans of the ticket alone."""
REASONS_OF_THE_MOMENT: frozenset[Reason] = frozenset({"gate_closed", "gate_at_capacity"})
"""Reasons that held only at that gate and moment; a person who was let in all the same is inside."""
REASONS_THAT_PASS: frozenset[Reason] = frozenset(
    {*REASONS_OF_HISTORY, *REASONS_OF_THE_MOMENT, "not_inside"}
)
"""Reasons that may cease to hold: more may become known, or they held only at that moment."""


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody holds something before a scanner."""

    at: datetime
    """The moment in the server's time, also where a device's clock was read."""
    direction: Direction
    issue: int | None
    """The number of the ticket's barcode that was shown; None where the code was typed."""


class EventFacts(msgspec.Struct, frozen=True, kw_only=True):
    id: UUID
    status: EventStatus
    ends_at: datetime
    days: list[EventDay]
    dedup_window_s: int
    resets: list[datetime] = []
    """The moment at which somebody declared the venue empty."""


class GateFacts(msgspec.Struct, frozen=True, kw_only=True):
    id: UUID
    status: GateStatus
    allowed_zones: list[UUID] | None
    """None where every zone is allowed."""
    hard_capacity_limit: int | None
    inside: int
    """The number of people who came in here today and have not left."""


class TicketFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A ticket with what its type allows."""

    id: UUID
    event_id: UUID
    status: TicketStatus
    issue: int
    zone_id: UUID | None
    days: list[str]
    """Dates of the event's days on which the ticket is valid; empty where it is valid on all."""
    entry_limit: int | None
    max_daily_entries: int | None
    gate_ids: list[UUID] | None
    """None where the ticket is good at every gate that lets its zone in."""
    reentry: Reentry
    is_membership_active: bool | None
    """None where the ticket needs no membership."""


class History(msgspec.Struct, frozen=True, kw_only=True):
    """The earlier entries and exits of a ticket."""

    entries: int
    entries_by_day: dict[str, int]
    last_scanned_at: datetime | None
    """The moment of the last entry; None before the first."""
    inside_day: str | None
    """The event's day on which they came in, if nobody saw them leave since."""
    inside_gate_id: UUID | None = None
    """The gate by which they came in, if nobody saw them leave since."""
    irregular: int = 0
    """The number of people inside with the ticket who had no right to come in."""
    left_at: datetime | None = None
    """The exit after the last entry. None while the person is inside, or nobody saw the person
    leave."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    status: ScanStatus
    reason: Reason | None = None
    entry_number: int | None = None
    """The number of this entry among those with the ticket, from 1; None where it is no entry."""
    day: str | None = None
    """The event's day that an entry counts for."""
    seconds_since_last_scan: int | None = None
    """The seconds since the last entry; None where the ticket is not denied as scanned."""
    left_at: datetime | None = None
    """The moment at which the person left, if the ticket is denied because of its earlier
    entries."""
    may_return_at: datetime | None = None
    """The moment from which a person who left is admitted again; None where the ticket has no entry
    left."""
