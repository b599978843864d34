"""What a device decides from when nobody answers: its manifest, as it reads it, and its own scans."""

import datetime as dt
from datetime import datetime
from typing import Literal
from uuid import UUID

import msgspec

from voelgoed.events.model import EventDay, EventStatus
from voelgoed.scanning.model.decisions import Direction, Verdict
from voelgoed.scanning.model.manifests import (
    GateInside,
    ManifestGate,
    ManifestKey,
    ManifestTicketType,
    ManifestZone,
    SeatNotes,
)
from voelgoed.scanning.model.outcomes import Colour, Outcome
from voelgoed.ticketing.model.tickets import TicketStatus

Undecided = Literal["manifest_expired", "gate_unknown"]
"""Why a device cannot say anything: its manifest is of an event that is over, or knows not where the
device stands."""


class ManifestEventRead(msgspec.Struct, frozen=True, kw_only=True):
    status: EventStatus
    ends_at: datetime
    dedup_window_s: int
    days: list[EventDay]


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A ticket, as a manifest has it."""

    ticket_id: UUID
    barcode_hash: str
    zone: UUID | None
    gate_ids: list[str] | None
    """Codes of gates; None where every gate that lets its zone in is good."""
    entry_limit: int | None
    code_hash: str
    status: TicketStatus
    issue: int
    type: int
    """The number of its ticket type."""
    seat: str | None = None
    days: list[dt.date] = []
    """The days on which the ticket is valid; empty where it is valid on all days."""
    membership: bool | None = None
    entries: int = 0
    day: dt.date | None = None
    """The day of the last entry, which `day_entries` counts; None before the first entry."""
    day_entries: int = 0
    last_scanned_at: datetime | None = None
    last_gate: str | None = None
    is_inside: bool = False
    last_exit_at: datetime | None = None
    """The exit after the last entry with it; None while the person is inside."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    event_id: UUID
    event_name: str
    manifest_version: int
    generated_at: datetime
    expires_at: datetime
    occupancy: list[GateInside]
    event: ManifestEventRead
    gates: list[ManifestGate]
    zones: list[ManifestZone]
    ticket_types: list[ManifestTicketType]
    public_keys: list[ManifestKey]
    seat_notes: list[SeatNotes]
    tickets: list[Entry]


class OwnScan(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody whom this device let through."""

    ticket_id: UUID
    at: datetime
    """The moment by the server's clock."""
    direction: Direction
    gate: str
    """Its code."""
    acknowledged_at: datetime | None = None
    """The moment, by the server's clock, at which the server confirmed this scan; None until it
    has."""


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What the staff at the gate see besides the colour."""

    seat: str | None = None
    zone: str | None = None
    notes: list[str] = []
    last_scanned_at: datetime | None = None
    last_gate: str | None = None
    """Names, not codes or ids."""


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    verdict: Verdict
    outcome: Outcome
    colour: Colour
    ticket_id: UUID | None
    barcode_hash: str
    """The hash to be sent: of the shown barcode, or of the ticket whose code was typed."""
    is_forged: bool
    """A barcode of this event that this event's keys did not sign."""
    shown: Shown
