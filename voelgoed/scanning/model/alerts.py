"""Alerts: what each is about, and the findings that raise it."""

from datetime import datetime
from typing import Literal
from uuid import UUID

import msgspec

from voelgoed.infra.shapes import Note, Request, Version
from voelgoed.scanning.model.decisions import Reason
from voelgoed.scanning.model.scans import Scan, Source

AlertKind = Literal[
    "impossible_travel",
    "repeated_duplicates",
    "high_velocity",
    "device_malfunction",
    "ticket_not_found",
    "forged_barcode",
    "clock_skew",
    "gate_near_capacity",
    "double_entry",
    "invalid_admission",
    "high_error_rate_batch",
    "delayed_batch_submission",
    "batch_size_anomaly",
    "future_timestamp",
    "impossible_timestamp",
    "clock_manipulation",
    "invalid_signature",
    "replayed_signature",
    "scan_id_reused",
    "repeated_sync_failures",
    "revoked_device_sync",
    "unverified_scans",
    "foreign_gate",
    "impossible_rate",
]
Severity = Literal["low", "high", "critical"]
SubjectType = Literal["ticket", "gate", "device", "event", "batch"]
AlertState = Literal["open", "acknowledged", "resolved"]


class Suspicion(msgspec.Struct, frozen=True, kw_only=True):
    """A finding that raises an alert, or repeats one."""

    event_id: UUID
    kind: AlertKind
    severity: Severity
    subject_type: SubjectType
    subject_id: UUID
    at: datetime
    details: dict[str, object]
    """Names, numbers and limits, for people to read."""
    occurrences: int = 1
    """The number of times it happened."""

    @property
    def about(self) -> tuple[UUID, AlertKind, UUID]:
        """Suspicions with the same key share one alert until it is resolved."""
        return self.event_id, self.kind, self.subject_id


class Alert(msgspec.Struct, frozen=True, kw_only=True):
    id: UUID
    event_id: UUID
    kind: AlertKind
    severity: Severity
    subject_type: SubjectType
    subject_id: UUID
    state: AlertState
    occurrences: int
    """How many times it happened, each one counted."""
    details: dict[str, object]
    """The details of the last time; where it happened several times at once, `occasions` lists each. About a
    ticket, `occasions` lists every time."""
    first_at: datetime
    last_at: datetime
    reviewed_by_id: UUID | None
    reviewed_at: datetime | None
    note: str
    version: int
    """The version counts what people did to the alert; a repetition does not change it."""


class AlertTransition(Request):
    to: AlertState
    version: Version
    note: Note = ""


class DeviceError(msgspec.Struct, frozen=True, kw_only=True):
    """A request that a working device in honest hands seldom makes."""

    event_id: UUID
    gate_id: UUID
    device_id: UUID
    device_name: str
    gate_name: str
    at: datetime
    diff_seconds: int | None = None
    """The error of its clock, where that is the reason."""


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """The scans at the gates of one organisation since the watch last looked."""

    scans: list[Scan]
    forged_ids: frozenset[UUID]
    """The scans with a forged barcode."""
    refused: list[DeviceError]
    """Requests that were refused and made no scan."""


class TicketQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """The number of times that a ticket was a duplicate until its last scan, and the other gates
    where it was scanned."""

    ticket_id: UUID
    gate_id: UUID
    """The gate of the ticket's last scan."""
    hour_since: datetime
    travel_since: datetime
    until: datetime
    enough: int
    """The number of duplicates that raises an alert."""


class GateQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """The number of scans at a gate in the minute until its last one."""

    gate_id: UUID
    since: datetime
    until: datetime
    enough: int
    """The count stops here: a higher one changes nothing."""


class DeviceQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """The number of errors among a device's scans in the ten minutes before the last of them."""

    device_id: UUID
    gate_id: UUID
    since: datetime


class WatchQuestions(msgspec.Struct, frozen=True, kw_only=True):
    """The counts that the watch needs from PostgreSQL before it can judge a round of scans."""

    tickets: list[TicketQuestion]
    gates: list[GateQuestion]
    devices: list[DeviceQuestion]


class TicketCount(msgspec.Struct, frozen=True, kw_only=True):
    """A ticket that was a duplicate too often, or was at more than one gate."""

    ticket_id: UUID
    duplicates: int
    is_elsewhere: bool


class Sighting(msgspec.Struct, frozen=True, kw_only=True):
    """One of a ticket's scans."""

    id: UUID
    ticket_id: UUID
    gate_id: UUID
    gate_name: str
    at: datetime
    reason: Reason | None
    source: Source
    entry_number: int | None


class GateCount(msgspec.Struct, frozen=True, kw_only=True):
    gate_id: UUID
    count: int


class DeviceCount(msgspec.Struct, frozen=True, kw_only=True):
    device_id: UUID
    count: int
    """The number of scans that the device made, including refused ones."""
    errors: int


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """The answers to the watch's questions."""

    tickets: list[TicketCount]
    sightings: list[Sighting]
    """The scans of those tickets that were at more than one gate."""
    gates: list[GateCount]
    devices: list[DeviceCount]
