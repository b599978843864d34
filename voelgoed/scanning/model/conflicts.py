"""Conflicts: pairs of scans of a ticket that contradict each other, and their reviews."""

from datetime import datetime
from typing import Literal
from uuid import UUID

import msgspec

from voelgoed.infra.shapes import Note, Request, Version
from voelgoed.scanning.model.decisions import Direction, Reason, ScanStatus
from voelgoed.scanning.model.outcomes import Outcome
from voelgoed.scanning.model.scan_history import ConflictKind, ConflictSeverity
from voelgoed.scanning.model.scans import Source

ConflictState = Literal["open", "reviewed", "dismissed"]


class Conflict(msgspec.Struct, frozen=True, kw_only=True):
    id: UUID
    event_id: UUID
    ticket_id: UUID
    kind: ConflictKind
    """`double_entry`: somebody was let in beyond what the ticket allows."""
    severity: ConflictSeverity
    scan_id: UUID
    """The scan that let in one person too many."""
    winner_scan_id: UUID
    """The entry because of which it is one too many."""
    state: ConflictState
    detected_at: datetime
    reviewed_by_id: UUID | None
    reviewed_at: datetime | None
    note: str
    version: int


class ConflictingScan(msgspec.Struct, frozen=True, kw_only=True):
    """A scan in a conflict: as it was made, and as it stands now."""

    id: UUID
    ticket_code: str
    device_id: UUID | None
    device_name: str
    gate_id: UUID
    gate_name: str
    direction: Direction
    outcome: Outcome | None
    """What the device decided alone; null where it asked."""
    source: Source
    scanned_at: datetime
    scanned_at_canonical: datetime
    received_at: datetime
    status: ScanStatus
    reason_denied: Reason | None


class ConflictInFull(msgspec.Struct, frozen=True, kw_only=True):
    conflict: Conflict
    scan: ConflictingScan
    winner: ConflictingScan


class ConflictTransition(Request):
    to: ConflictState
    version: Version
    note: Note = ""
