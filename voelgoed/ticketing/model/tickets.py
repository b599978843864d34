"""Tickets as they are kept."""

import datetime as dt
from datetime import datetime
from typing import Literal
from uuid import UUID

import msgspec

TicketStatus = Literal["active", "scanned", "used", "voided", "refunded"]
VALID: frozenset[TicketStatus] = frozenset({"active", "scanned", "used"})
"""Those that are somebody's; the others let nobody in and hold no seat."""


class Ticket(msgspec.Struct, frozen=True, kw_only=True):
    id: UUID
    event_id: UUID
    code: str
    issue: int
    """A reissued ticket has the next; barcodes of earlier issues are worthless."""
    key_number: int
    """Of the event key that signed the barcode."""
    status: TicketStatus
    status_reason: str
    ticket_type_id: UUID
    order_id: UUID | None
    """Null for a ticket sold elsewhere and imported."""
    zone_id: UUID | None
    seat_id: UUID | None
    seat_label: str | None
    days: list[dt.date]
    holder_name: str
    holder_email: str | None
    price_minor: int
    associated_membership_id: UUID | None
    external_reference: str | None
    scanned_at: datetime | None
    last_scanned_at: datetime | None
    last_gate_id: UUID | None
    """The gate of the last entry."""
    scan_count: int
    version: int
    created_at: datetime
    updated_at: datetime
