"""Recoveries: scans that a device could not send, imported from a file, kept, and reviewed by
people."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from voelgoed.infra.shapes import Moment, Note, Request
from voelgoed.scanning.model.decisions import Direction, Reason, ScanStatus
from voelgoed.scanning.model.outcomes import Outcome
from voelgoed.scanning.model.scans import Doubt, UnverifiedCause
from voelgoed.scanning.model.sync import SCANS_MAX, Offset, RecoveryState, SignedScan

Fate = Literal["kept", "known", "rejected"]


class ExportedScan(SignedScan, kw_only=True):
    offset_seconds: Offset
    """The server's time minus the device's, as the device knew it when it scanned."""


class ExportedQueue(Request):
    """The file, as the device wrote it."""

    device_id: UUID
    exported_at: Moment
    scans: Annotated[list[ExportedScan], Meta(min_length=1, max_length=SCANS_MAX)]


class ScanFate(msgspec.Struct, frozen=True, kw_only=True):
    """The result for one of the scans."""

    scan_id: UUID
    result: Fate
    """`known`: it was here already."""
    outcome: Outcome
    signature_valid: bool
    doubts: list[Doubt]
    error: str | None
    """Why it was rejected."""
    message: str | None


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    batch_id: UUID
    """An id of these scans, the same whenever and however often they are imported."""
    device_id: UUID
    device_name: str
    event_id: UUID
    exported_at: datetime
    imported_at: datetime
    total: int
    kept: int
    known: int
    rejected: int
    wrong_signatures: int
    """The scans that are kept with a wrong signature. They never count."""
    doubtful: int
    results: list[ScanFate]


class Recovery(msgspec.Struct, frozen=True, kw_only=True):
    """An import, or a delivery with scans that wait for review, and whether somebody has decided."""

    batch_id: UUID
    id: UUID
    device_id: UUID
    device_name: str
    event_id: UUID
    source: Literal["offline_sync", "recovered"]
    """`recovered` from a file, or delivered by the device itself."""
    total: int
    kept: int
    rejected: int
    imported_at: datetime
    state: RecoveryState
    reviewed_by_id: UUID | None
    reviewed_at: datetime | None
    note: str


class RecoveredScan(msgspec.Struct, frozen=True, kw_only=True):
    """One that is kept, as it stands."""

    id: UUID
    ticket_id: UUID | None
    ticket_code: str
    gate_id: UUID
    gate_name: str
    direction: Direction
    outcome: Outcome
    scanned_at: datetime
    scanned_at_canonical: datetime
    status: ScanStatus
    reason_denied: Reason | None
    signature_valid: bool
    doubts: list[Doubt]
    unverified: UnverifiedCause | None
    """What is against the place or the moment of the scan."""


class RecoveryInFull(msgspec.Struct, frozen=True, kw_only=True):
    recovery: Recovery
    scans: list[RecoveredScan]
    next: UUID | None
    """Give this as `after` to read on; null at the end."""


class RecoveryTransition(Request):
    to: Literal["accepted", "rejected"]
    note: Note = ""
