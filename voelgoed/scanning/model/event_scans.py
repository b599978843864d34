"""An event's scans, one after the other."""

from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.scanning.model.decisions import Direction, Reason, ScanStatus
from voelgoed.scanning.model.outcomes import Outcome
from voelgoed.scanning.model.scan_history import ConflictKind
from voelgoed.scanning.model.scans import Source


class EventScan(msgspec.Struct, frozen=True, kw_only=True):
    """A scan in an event's list. It has no ticket code, because a code is enough to come in."""

    id: UUID
    event_id: UUID
    ticket_id: UUID | None
    """Null where there is none by what was shown."""
    device_id: UUID | None
    device_name: str
    """The name that the device had then; empty where somebody scanned without a device."""
    gate_id: UUID
    gate_name: str
    """The name that the gate had then."""
    direction: Direction
    status: ScanStatus
    """The present resolution."""
    reason_denied: Reason | None
    outcome: Outcome | None
    """What a device decided alone; null where it asked."""
    scanned_at: datetime
    scanned_at_canonical: datetime
    created_at: datetime
    """The moment at which the server stored it; later than `scanned_at` where a device was
    offline."""
    source: Source
    conflict: bool
    """It contradicts another scan of the ticket, and does not stand because of that."""
    conflict_reason: ConflictKind | None
