"""A scan as it is asked for, kept and answered."""

import datetime as dt
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from voelgoed.events.model import EventStatus
from voelgoed.infra.shapes import DeviceRequest, Moment, SentId
from voelgoed.scanning.model.decisions import Direction, Reason, ScanStatus
from voelgoed.scanning.model.outcomes import Outcome

Source = Literal["online", "supervisor", "offline_sync", "recovered"]
"""`recovered`: from a file of what a device could not send."""
Doubt = Literal["before_pairing", "from_future", "after_revocation"]
"""The reason to doubt the moment of a scan that was recovered from a file."""
UnverifiedCause = Literal[
    "foreign_gate", "before_assignment", "outside_event_time", "clock_changed", "from_future"
]
"""Why a scan that a device brings waits for review, in the order in which it is asked."""
PRESENTED_MAX = 300
"""Characters. No code or barcode of ours has as many."""
CODE_KEPT_MAX = 64
"""The number of characters that are kept of a text that is no code of ours."""

ScanWarning = Literal["gate_over_capacity"]
"""`gate_over_capacity`: more are inside by the gate than its capacity, which is not enforced."""

Presented = Annotated[str, Meta(min_length=1, max_length=PRESENTED_MAX, pattern=r"^[^\x00]*$")]


class NewScan(DeviceRequest):
    ticket_code: Presented
    """The code, as somebody types it, or the whole text of the barcode."""
    device_id: UUID
    scanned_at: Moment
    scan_id: SentId | None = None
    """Made by the device. A scan that is sent again under its id is answered as it was."""
    direction: Direction = "entry"
    offline_batch: Literal[False] = False
    """Scans of a time without network go to `/api/scans/sync`."""


class Scan(msgspec.Struct, frozen=True, kw_only=True):
    """A scan as it is kept; its row is never changed."""

    id: UUID
    event_id: UUID
    ticket_id: UUID | None
    ticket_code: str
    device_id: UUID | None
    actor_id: UUID | None
    gate_id: UUID
    direction: Direction
    status: ScanStatus
    reason_denied: Reason | None
    scanned_at: datetime
    scanned_at_canonical: datetime
    day: dt.date | None
    zone_id: UUID | None
    entry_number: int | None
    gate_current: int | None = None
    """The people inside by this gate, and at the event, after the scan: known when it is
    written."""
    event_current: int | None = None
    gate_name: str
    device_name: str
    source: Source
    details: "ScanDetails"
    outcome: Outcome | None = None
    """What a device decided alone; None where it asked."""


class ScanDetails(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Further parts of an answer; short, because there are millions."""

    gate_capacity: int | None = None
    gate_current: int | None = None
    """The number of people inside by a gate that was full."""
    event_capacity: int | None = None
    event_status: EventStatus | None = None
    """The status of an event that was not live."""
    last_scanned_at: datetime | None = None
    seconds_since_last_scan: int | None = None
    last_gate_name: str | None = None
    left_at: datetime | None = None
    may_return_at: datetime | None = None
    tier: Literal["hot", "warm"] | None = None
    """The cache that denied it; None where PostgreSQL decided."""
    overridden: Reason | None = None
    """The reason that a supervisor overrode."""
    override_reason: str | None = None
    barcode_hash: str | None = None
    """The hash of a text that a device read and no ticket has."""
    signature: str | None = None
    """The signature of the device."""
    is_signed: bool | None = None
    """Whether that signature is the device's, for a scan from a file."""
    doubts: list[Doubt] = []
    issue: int | None = None
    """Which barcode was shown, where the scan claimed a moment that was yet to come: it may be replaced before."""
    unverified: UnverifiedCause | None = None
    """Why it waits for review; None where it counts."""


class SeatInfo(msgspec.Struct, frozen=True, kw_only=True):
    seat_id: UUID | None
    block_name: str
    row: str | None
    seat_number: str | None
    notes: list[str]
    """Notes about wheelchair places and the like."""


class GateInfo(msgspec.Struct, frozen=True, kw_only=True):
    gate_id: UUID
    gate_name: str


class OccupancyInfo(msgspec.Struct, frozen=True, kw_only=True):
    gate_current: int
    gate_capacity: int | None
    event_current: int
    event_capacity: int
    percent_full: int


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a scan: somebody is let through, or not and why."""

    status: ScanStatus
    scan_id: SentId
    """As the request had it."""
    direction: Direction
    ticket_code: str
    scanned_at: datetime
    message: str
    reason: Reason | UnsetType = UNSET
    ticket_id: UUID | UnsetType = UNSET
    entry_number: int | UnsetType = UNSET
    seat_info: SeatInfo | None | UnsetType = UNSET
    gate: GateInfo | UnsetType = UNSET
    occupancy: OccupancyInfo | UnsetType = UNSET
    last_scanned_at: datetime | UnsetType = UNSET
    seconds_since_last_scan: int | UnsetType = UNSET
    last_gate_name: str | UnsetType = UNSET
    left_at: datetime | UnsetType = UNSET
    """The moment at which the person left, if the ticket is denied because of its earlier
    entries."""
    may_return_at: datetime | UnsetType = UNSET
    """The moment from which a person who left is admitted again; left out where the ticket has no
    entry left."""
    capacity: int | UnsetType = UNSET
    """The limit of a gate that is full."""
    current: int | UnsetType = UNSET
    """The number of people inside by a gate that is full."""
    current_status: EventStatus | UnsetType = UNSET
    """The status of an event that is not live."""
    expected: Literal["live"] | UnsetType = UNSET
    warning: ScanWarning | UnsetType = UNSET
    """Somebody is let through, and staff should know something."""
