"""What supervisors do where the rule is not enough, and what they see."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from voelgoed.infra.shapes import Name, Request, SentId
from voelgoed.scanning.model.decisions import Direction, Reason, ScanStatus
from voelgoed.scanning.model.occupancy import Counted
from voelgoed.scanning.model.outcomes import Outcome
from voelgoed.scanning.model.scan_history import ConflictKind
from voelgoed.scanning.model.scans import Presented, Source
from voelgoed.ticketing.model.tickets import TicketStatus

SearchText = Annotated[str, Meta(max_length=100, pattern=r"^[^\x00]*$")]


class ManualAdmission(Request):
    """Somebody is let through by hand."""

    ticket_code: Presented
    gate_id: UUID
    reason: Name
    direction: Direction = "entry"
    scan_id: SentId | None = None
    """Sent again under it, it is the same one."""


class Annulment(Request):
    reason: Name


class TicketTransition(Request):
    to: Literal["used", "active", "voided"]
    """`active`: as if nobody had come with it."""
    reason: Name


class PastScan(msgspec.Struct, frozen=True, kw_only=True):
    """One of a ticket's scans."""

    id: UUID
    event_id: UUID
    gate_id: UUID
    gate_name: str
    device_name: str
    direction: Direction
    status: ScanStatus
    """The present resolution."""
    status_at_first: ScanStatus
    """The decision at the time when the scan became known."""
    outcome: Outcome | None
    """What a device decided alone; null where it asked."""
    reason_denied: Reason | None
    scanned_at: datetime
    scanned_at_canonical: datetime
    created_at: datetime
    """The moment at which the server stored it."""
    entry_number: int | None
    source: Source
    conflict: bool
    """It contradicts another scan of the ticket, and does not stand because of that."""
    conflict_reason: ConflictKind | None
    annulled_at: datetime | None
    annulled_reason: str | None


class TicketAtGate(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a ticket that gate staff may see: no names, no addresses, no prices."""

    ticket_id: UUID
    ticket_code: str
    status: TicketStatus
    status_reason: str
    seat_label: str | None
    zone_id: UUID | None
    entries: int
    is_inside: bool
    last_scanned_at: datetime | None
    last_gate_name: str | None


class NewOccupancyReset(Request):
    """The venue is declared empty."""

    reason: Name


class GatePresence(msgspec.Struct, frozen=True, kw_only=True):
    """The people present by one gate, as its limit counts them."""

    gate_id: UUID
    inside: int
    irregular: int
    is_limited: bool
    """The gate has a hard limit: who stayed overnight is among those inside."""


class EventOccupancy(msgspec.Struct, frozen=True, kw_only=True):
    event_id: UUID
    day: str
    """The event's day that it is."""
    current: int
    """Everybody who is inside, whether they had a right to come in or not."""
    irregular: int
    """The number of people among them who had no right to come in."""
    capacity: int
    percent_full: int
    gates: list[GatePresence]
    """All gates of the event."""
    counts: list[Counted]
    """The counts of all days, of the event, gates and zones."""
    emptied_at: datetime | None
    """The moment at which somebody last declared the venue empty."""
    emptied_by_id: UUID | None
    """The id of the person who declared it."""
