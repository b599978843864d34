"""A ticket as a gate sees it: what it allows, and who came with it before."""

import datetime as dt
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.ticketing.model.ticket_types import Reentry
from voelgoed.ticketing.model.tickets import TicketStatus


class IrregularHeads(msgspec.Struct, frozen=True, kw_only=True):
    """People who are inside with a ticket and had no right to come in, by the gate, the zone and the day that
    they count for."""

    gate_id: UUID
    zone_id: UUID | None
    day: dt.date
    last_at: datetime
    """When the last of them came."""
    count: int = 1
    """None are left where it is 0, but whoever comes in next may be in a conflict with them."""


class ScannedTicket(msgspec.Struct, frozen=True, kw_only=True):
    id: UUID
    event_id: UUID
    code: str
    issue: int
    barcode_hash: str
    """SHA-256 of the only text that is its barcode, in hex."""
    status: TicketStatus
    zone_id: UUID | None
    seat_id: UUID | None
    seat_label: str | None
    days: list[str]
    entry_limit: int | None
    max_daily_entries: int | None
    gate_ids: list[UUID] | None
    reentry: Reentry
    is_membership_active: bool | None
    """None where it takes no membership."""
    scan_count: int
    day_entries: int
    last_entry_day: str | None
    scanned_at: datetime | None
    last_scanned_at: datetime | None
    last_exit_at: datetime | None
    last_gate_id: UUID | None
    last_gate_name: str | None
    is_inside: bool
    irregular: list[IrregularHeads]
    """Who else is inside with it, in the order in which they first came."""
    status_since: datetime | None
    """Since when it is voided, refunded or used; None while it is none of these."""
    seen: str
    """Another as soon as anybody changes anything of the ticket."""


class Reissued(msgspec.Struct, frozen=True):
    """Since when one of a ticket's barcodes is worthless."""

    ticket_id: UUID
    issue: int
    at: datetime
    barcode_hash: str | None = None
    """Of that barcode, in hex; None where it was replaced before hashes were kept."""


class TicketPlace(msgspec.Struct, frozen=True):
    """Where a ticket is for."""

    id: UUID
    zone_id: UUID | None
    seat_id: UUID | None
    seat_label: str | None


class Attendance(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the coming and going with a ticket, as it is written."""

    id: UUID
    status: TicketStatus
    scanned_at: datetime | None
    last_scanned_at: datetime | None
    last_exit_at: datetime | None
    last_gate_id: UUID | None
    last_entry_day: dt.date | None
    day_entries: int
    is_inside: bool
    scan_count: int
    irregular: list[IrregularHeads]
    """Who else is inside with the ticket, in the order in which they first came."""
    seen: str | None
    """As what the ticket was read before this; None where it is locked."""


class FoundTicket(msgspec.Struct, frozen=True, kw_only=True):
    """What a search at the gate may tell."""

    id: UUID
    code: str
    status: TicketStatus
    status_reason: str
    seat_label: str | None
    zone_id: UUID | None
    scan_count: int
    is_inside: bool
    last_scanned_at: datetime | None
    last_gate_name: str | None
