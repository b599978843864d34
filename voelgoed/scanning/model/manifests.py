"""The manifest: all that a device needs to decide alone. Its exact form is in docs/offline.md."""

import datetime as dt
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.events.model import EventStatus, GateStatus
from voelgoed.ticketing.model.ticket_types import Reentry


class DeltaDoesNotFit(Exception):
    """What comes out is not the manifest that was meant: fetch it in full."""


class GateInside(msgspec.Struct, frozen=True, kw_only=True):
    gate_id: str
    """Its code, as everywhere in a manifest."""
    inside: int


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """The head of a manifest, which a delta repeats."""

    event_id: UUID
    event_name: str
    manifest_version: int
    generated_at: datetime
    expires_at: datetime
    occupancy: list[GateInside]
    """The people inside by each gate with a hard limit, since whatever day."""


class ManifestDay(msgspec.Struct, frozen=True, kw_only=True):
    date: dt.date
    starts_at: str
    ends_at: str


class ManifestEvent(msgspec.Struct, frozen=True, kw_only=True):
    status: EventStatus
    ends_at: str
    dedup_window_s: int
    days: list[ManifestDay]


class AccessRules(msgspec.Struct, frozen=True, kw_only=True):
    zones: list[UUID] | None
    max_concurrent: int | None
    """The gate's capacity; None where it has none. Nobody is denied because of it."""
    hard_capacity_limit: int | None = None
    """The number of people who may be inside by the gate; None where there is no limit."""
    entry_rules: list[str]


class ManifestGate(msgspec.Struct, frozen=True, kw_only=True):
    gate_id: str
    id: UUID
    name: str
    status: GateStatus
    access_rules: AccessRules


class ManifestZone(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    """The number that barcodes have: the zone's place in the layout, from 1."""
    zone: UUID
    name: str


class ManifestTicketType(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    name: str
    entry_limit: int | None
    max_daily_entries: int | None
    reentry: Reentry
    gate_ids: list[str] | None


class ManifestKey(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    public_key: str


class SeatNotes(msgspec.Struct, frozen=True, kw_only=True):
    seat: str
    notes: list[str]


class ManifestSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The part that is the same for all tickets and seldom changes."""

    event: ManifestEvent
    gates: list[ManifestGate]
    zones: list[ManifestZone]
    ticket_types: list[ManifestTicketType]
    public_keys: list[ManifestKey]
    seat_notes: list[SeatNotes]


class StoredManifest(msgspec.Struct, frozen=True, kw_only=True):
    """One version of an event's manifest, as it is kept; the document is kept separately."""

    event_id: UUID
    version: int
    generated_at: datetime
    event_name: str
    expires_at: datetime
    occupancy: list[GateInside]
    settings: str
    """The settings as the text that stands in the document."""
    settings_version: int
    """The version in which the settings last changed."""
    base_version: int
    """The oldest version from which a delta can be made."""
    tickets: int
    content_hash: str
    document_bytes: int
    """The size of the document without its last brace."""
    stored_bytes: int
    """The size of the same after compression."""
    code_key_hash: bytes
    fingerprint: str
    seen_xid: int
    checked_at: datetime
    """The last moment at which it was known to be up to date."""


class Versions(msgspec.Struct, frozen=True, kw_only=True):
    version: int | None
    """Null: they never said."""
    devices: int


class ManifestStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The manifests that devices at an event have to decide by."""

    event_id: UUID
    manifest_version: int | None
    """Null where no device asked for one yet."""
    built_at: datetime | None
    checked_at: datetime | None
    """The last moment at which it was known to be up to date."""
    expires_at: datetime | None
    tickets: int
    bytes: int
    """The size of the document."""
    compressed_bytes: int
    content_hash: str | None
    devices: list[Versions]
    """The number of devices with each version, as they last reported."""


class Tail(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The end of an answer, made for one device and one moment."""

    offset_seconds: float | None
    """The offset that is to be added to the device's clock; null where it did not send its time."""
    code_key: str
    signature: str
