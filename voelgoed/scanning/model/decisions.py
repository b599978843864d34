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
"""Because of what was scanned before, and of that alone."""
REASONS_OF_THE_MOMENT: frozenset[Reason] = frozenset({"gate_closed", "gate_at_capacity"})
"""True then and there; whoever was let in all the same is inside."""
REASONS_THAT_PASS: frozenset[Reason] = frozenset(
    {*REASONS_OF_HISTORY, *REASONS_OF_THE_MOMENT, "not_inside"}
)
"""Which do not hold for good: more may become known, or it was only then and there."""


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody holds something before a scanner."""

    at: datetime
    """In the server's time, whoever's clock it was read from."""
    direction: Direction
    issue: int | None
    """Which of a ticket's barcodes it was; None where the code was typed."""


class EventFacts(msgspec.Struct, frozen=True, kw_only=True):
    id: UUID
    status: EventStatus
    ends_at: datetime
    days: list[EventDay]
    dedup_window_s: int
    resets: list[datetime] = []
    """When somebody declared the venue empty."""


class GateFacts(msgspec.Struct, frozen=True, kw_only=True):
    id: UUID
    status: GateStatus
    allowed_zones: list[UUID] | None
    """None: every zone."""
    hard_capacity_limit: int | None
    inside: int
    """Who came in here today and has not left."""


class TicketFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A ticket with what its type allows."""

    id: UUID
    event_id: UUID
    status: TicketStatus
    issue: int
    zone_id: UUID | None
    days: list[str]
    """Dates of the event's days on which it is valid; none: all of them."""
    entry_limit: int | None
    max_daily_entries: int | None
    gate_ids: list[UUID] | None
    """None: every gate that its zone is let in at."""
    reentry: Reentry
    is_membership_active: bool | None
    """None where it takes no membership."""


class History(msgspec.Struct, frozen=True, kw_only=True):
    """What was admitted with a ticket before."""

    entries: int
    entries_by_day: dict[str, int]
    last_scanned_at: datetime | None
    """Of its last entry."""
    inside_day: str | None
    """The event's day on which they came in, if nobody saw them leave since."""
    irregular: int = 0
    """How many are inside with the ticket who had no right to come in."""
    left_at: datetime | None = None
    """When they left after their last entry. None while they are inside, or nobody saw them leave."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    status: ScanStatus
    reason: Reason | None = None
    entry_number: int | None = None
    """How manyeth entry with this ticket, if it is one."""
    day: str | None = None
    """The event's day that an entry counts for."""
    seconds_since_last_scan: int | None = None
    """Of a ticket that was scanned already."""
    left_at: datetime | None = None
    """When the person left, if the ticket is denied because of its earlier entries."""
    may_return_at: datetime | None = None
    """From when a person who left is let in again; None where the ticket has no entry left."""
