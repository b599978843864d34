"""Deliveries of devices after a time without a network, and the answers to them."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from voelgoed.infra.shapes import DeviceRequest, Moment, SentId
from voelgoed.scanning.model.decisions import Direction
from voelgoed.scanning.model.outcomes import Outcome
from voelgoed.scanning.model.scan_history import ConflictKind, ConflictSeverity
from voelgoed.scanning.model.scans import Presented, UnverifiedCause

SCANS_MAX = 10_000
SIGNED_SCANS_MAX = 50
OFFSET_S_MAX = 200 * 365 * 86_400
"""A device whose battery was empty may believe that it is 1970."""

_MOMENT = r"^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:?\d\d)$(?!\n)"
OfflineId = Annotated[str, Meta(min_length=1, max_length=100, pattern=r"^[^\x00]*$")]
"""The name that a device gave to a scan, echoed as it was sent."""
When = Annotated[str, Meta(max_length=40, pattern=_MOMENT)]
GateName = Annotated[str, Meta(min_length=1, max_length=63, pattern=r"^[0-9a-zA-Z-]+$(?!\n)")]
"""Its code or its id."""
BarcodeHash = Annotated[str, Meta(pattern=r"^sha256:[0-9a-fA-F]{64}$(?!\n)")]
Signature = Annotated[str, Meta(pattern=r"^HMAC-SHA256=[0-9a-f]{64}$(?!\n)")]
Offset = Annotated[float, Meta(ge=-OFFSET_S_MAX, le=OFFSET_S_MAX)]

BatchStatus = Literal["completed", "partial_success"]
RecoveryState = Literal["unverified", "accepted", "rejected"]


class SignedScan(msgspec.Struct, kw_only=True):
    """One that a device made alone and signed."""

    scan_id: SentId
    ticket_id: SentId | None
    """The ticket's id in the manifest or the barcode; null for a text that is in neither."""
    barcode_hash: BarcodeHash
    scanned_at: When
    """The moment by the device's clock."""
    gate_id: GateName
    outcome: Outcome
    signature: Signature
    direction: Direction = "entry"
    ticket_code: Presented | None = None
    """The text that was read, where no manifest has it."""


class SignedBatch(DeviceRequest):
    device_id: UUID
    sync_batch_id: SentId
    offset_seconds: Offset
    """The server's time minus the device's, as the device last learnt it."""
    scans: Annotated[list[SignedScan], Meta(min_length=1, max_length=SIGNED_SCANS_MAX)]


class RejectedScan(msgspec.Struct, frozen=True, kw_only=True):
    """It is not kept here: keep it, and show somebody why."""

    scan_id: str
    error: str
    message: str


class FoundConflict(msgspec.Struct, frozen=True, kw_only=True):
    scan_id: str
    winner_scan_id: str
    kind: ConflictKind
    severity: ConflictSeverity


class UnverifiedScan(msgspec.Struct, frozen=True, kw_only=True):
    """It is kept here, counts for nothing yet, and waits for somebody to review it."""

    scan_id: str
    reason: UnverifiedCause


class SyncAnswer(msgspec.Struct, frozen=True, kw_only=True):
    sync_batch_id: str
    status: BatchStatus
    processed: list[str]
    """The scans that are kept here for good, whether they were new or known."""
    skipped: Annotated[
        list[str], Meta(description="Always empty: a scan that is sent again is processed, once.")
    ]
    rejected: list[RejectedScan]
    conflicts: list[FoundConflict]
    unverified: list[UnverifiedScan] = []
    """Of the processed scans those that wait for review, and why."""
    offset_seconds: float
    """The offset by which the moments were corrected."""
    measured_offset_seconds: Annotated[
        float | None,
        Meta(description="The server's time minus `X-Device-Time`; null without that header."),
    ]
    server_time: datetime
    """A moment after all of it was stored."""
    manifest_version: int | None = None
    """The present one of the event; null where none was made yet."""
    message: str | UnsetType = UNSET


class QueuedScan(DeviceRequest):
    ticket_code: Presented
    """The code, as somebody types it, or the whole text of the barcode."""
    scanned_at: Moment
    offline_id: OfflineId | None = None
    """Made by the device, a UUID or any text of its own. Left out, it is made of device, direction,
    code and moment, so that the same scan sent again is the same."""
    gate_id: GateName | None = None
    """Left out: where the device is."""
    direction: Direction = "entry"
    outcome: Outcome = "valid"
    """What the device did. Left out: somebody was let through."""


class OfflineBatch(DeviceRequest):
    batch_id: SentId
    device_id: UUID
    batch_created_at: Moment
    scans: Annotated[list[QueuedScan], Meta(min_length=1, max_length=SCANS_MAX)]
    batch_size: Annotated[int, Meta(ge=1, le=SCANS_MAX)]


class BatchError(msgspec.Struct, frozen=True, kw_only=True):
    offline_id: str
    index: int | UnsetType = UNSET
    """The place of the scan in the request, counted from 0: one that was sent without an id has only that. Left
    out in the answer to a batch that is sent again, if places were not kept yet when it was first sent."""
    ticket_code: str
    reason: str
    """Why nobody should have been let through; or why it is not kept here at all."""
    is_kept: bool
    unverified: UnverifiedCause | UnsetType = UNSET
    """Why it waits for review; left out where it does not."""
    last_scan_at: Annotated[
        datetime | UnsetType,
        Meta(
            description="The moment of the entry because of which this scan is none. Left out where "
            "there is none."
        ),
    ] = UNSET


class BatchSummary(msgspec.Struct, frozen=True, kw_only=True):
    total_scans: Annotated[int, Meta(description="All scans of the request.")]
    new_scans: Annotated[
        int, Meta(description="The scans without an error that say something new.")
    ]
    duplicate_scans: Annotated[
        int, Meta(description="The errors that follow from earlier scans of the ticket.")
    ]
    missing_tickets: Annotated[int, Meta(description="The errors with `ticket_not_found`.")]
    invalid_tickets: Annotated[
        int, Meta(description="All other errors, also scans that are refused or wait for review.")
    ]


class TimestampRange(msgspec.Struct, frozen=True, kw_only=True):
    oldest: datetime
    newest: datetime


class BatchAnswer(msgspec.Struct, frozen=True, kw_only=True):
    batch_id: str
    status: BatchStatus
    processed_count: int
    error_count: int
    summary: BatchSummary
    errors: list[BatchError]
    timestamp_range: TimestampRange
    timestamp: datetime
    sync_duration_seconds: float
    message: str | UnsetType = UNSET


class BatchSync(msgspec.Struct, frozen=True, kw_only=True):
    """A delivery of a device, as it is stored."""

    id: UUID
    batch_id: UUID
    source: Literal["offline_sync", "recovered"]
    device_id: UUID
    event_id: UUID
    status: BatchStatus
    batch_size: int
    processed_count: int
    error_count: int
    offset_seconds: float
    processed_scan_ids: list[UUID]
    synced_at: datetime
    waiting_elsewhere: list[UUID] = []
    """The other events at whose gates its scans that wait for review say they were made."""
    state: RecoveryState | None = None
    """Whether somebody has reviewed a delivery that was recovered from a file."""
