"""Online scans: what is requested, the facts that decide it, and the plan that a batch of them makes."""

import datetime as dt
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal
from uuid import UUID

import msgspec

from voelgoed.accounts.model import Caller
from voelgoed.events.model import EventDay
from voelgoed.infra.refusal import Refusal
from voelgoed.scanning.model.decisions import Direction
from voelgoed.scanning.model.occupancy import CapacityCheck, Counted, KnownReset
from voelgoed.scanning.model.scans import Scan
from voelgoed.scanning.model.stations import ScanningDevice, ScanningGate
from voelgoed.ticketing.model.admissions import Attendance, ScannedTicket, TicketPlace


class Presented(msgspec.Struct, frozen=True):
    """The code that somebody shows to a scanner, or types."""

    text: str
    code: str
    barcode_hash: str | None
    """The hash in hex; None where a code was typed. A barcode is genuine if the ticket has the same
    hash: it has one valid text, of which no letter can be added, left out or written otherwise."""


class DeviceCredential(msgspec.Struct, frozen=True):
    """What a device proved, and the device that its request names."""

    key_version: int
    named_device_id: UUID


class Override(msgspec.Struct, frozen=True):
    """A supervisor lets somebody through at a gate, whatever the rule says."""

    gate_id: UUID
    reason: str


class ScanRequest(msgspec.Struct, frozen=True, kw_only=True):
    caller: Caller
    by: DeviceCredential | Override
    scan_id: UUID
    sent_id: str
    """The scan's id as it was sent, which the answer repeats."""
    audit_id: UUID
    """A fresh id for the audit entry of this scan."""
    text: str
    """The text as it was sent, without the blanks around it."""
    presented: Presented | None
    """None where the text is neither a code nor a barcode of ours."""
    direction: Direction
    scanned_at: datetime
    received_at: datetime


class LastEntry(msgspec.Struct, frozen=True, kw_only=True):
    """The last entry with a ticket, as a cache remembers it. Redis has only the first three fields."""

    scan_id: UUID
    gate_id: UUID
    scan_at: datetime
    tier: Literal["hot", "warm"]
    ticket_id: UUID | None = None
    event_id: UUID | None = None
    zone_id: UUID | None = None
    gate_name: str | None = None
    barcode_hash: str | None = None
    """The hash of the ticket's only valid barcode."""


class KnownScan(Scan, frozen=True, kw_only=True):
    """A scan that was written before under the id of a request."""

    place: TicketPlace | None
    """None where there is no such ticket."""
    is_annulled: bool


class AdmissionFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a batch of requests is decided from."""

    devices: Mapping[UUID, ScanningDevice]
    gates: Mapping[UUID, ScanningGate]
    """Where the devices are, and those that requests, hints and known scans name."""
    inside: Mapping[UUID, Mapping[dt.date, int]]
    """The people inside by gates with a hard limit, on each day."""
    carried: Mapping[UUID, Mapping[dt.date, int]]
    """The people inside by all gates of an event with a hard limit, on each day, by event."""
    resets: Mapping[UUID, datetime]
    """The moment at which somebody last declared the venue empty, by event."""
    tickets: Mapping[str, ScannedTicket]
    """Tickets by their codes; those for which a cache gave a hint are not read."""
    known: Mapping[UUID, KnownScan]
    event_keys: Mapping[UUID, Mapping[int, bytes]]
    """Public keys by event and number, where a barcode is not the one that its ticket has now, or
    where a hint needs a barcode that is genuine."""
    days: Mapping[UUID, Sequence[EventDay]] = {}
    """The days of each event, by the event's id."""
    hints: Mapping[str, LastEntry] = {}
    """What caches remember of tickets that were not read, by code."""


class CountsAhead(msgspec.Struct, frozen=True):
    """The number of people who come in after an admitted scan in the same write; None for a denied
    scan."""

    at_gate: int | None = None
    at_event: int | None = None


class ScanAuditEntry(msgspec.Struct, frozen=True):
    """An entry for the audit log about a scan."""

    id: UUID
    actor_kind: str
    actor_id: UUID | None
    action: str
    entity_id: UUID
    changes: dict[str, object]
    ip: str | None
    user_agent: str | None


class ScanDecision(msgspec.Struct, frozen=True):
    """The decision about one request: a refusal, or a scan."""

    request: ScanRequest
    refusal: Refusal | None = None
    scan: Scan | None = None
    gate: ScanningGate | None = None
    place: ScannedTicket | TicketPlace | None = None
    """The place that the ticket of an admission is for."""
    is_new: bool = False
    """False where the scan was known, or the same request comes earlier in the batch."""
    is_forged: bool = False


class TicketEntry(msgspec.Struct, frozen=True):
    """An admitted entry that the caches should remember."""

    scan: Scan
    barcode_hash: str
    window_s: int


class AdmissionPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What to write, to answer and to remember."""

    decisions: Sequence[ScanDecision]
    """One for each request, in their order."""
    needs_tickets: frozenset[str]
    """Codes of tickets that must be read because a hint is not enough. Where there are any, the plan
    must not be carried out."""
    attendance: Sequence[Attendance]
    counts: Sequence[Counted]
    """The changes of the counts."""
    capacity: Sequence[CapacityCheck]
    earliest: Sequence[KnownReset]
    """The moment of the first admission, by event: if the venue was declared empty since, the plan
    is void."""
    scans: Sequence[Scan]
    ahead: Sequence[CountsAhead]
    """One for each of the scans."""
    audit: Sequence[ScanAuditEntry]
    entries: Sequence[TicketEntry]
    exits: Sequence[str]
    """Codes of tickets whose last entry the caches should forget: its holder left."""
    contested: Mapping[UUID, Sequence[UUID]]
    """Tickets that somebody passed with while people were inside with them who had no right to, and the scans
    of it: whether that is a conflict, the ticket's history says."""
