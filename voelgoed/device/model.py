"""The data of a device: what it is, what it stores, and why it refuses."""

from datetime import datetime
from typing import Literal
from uuid import UUID

import msgspec

from voelgoed.scanning.model.decisions import Direction, Reason
from voelgoed.scanning.model.offline import Shown
from voelgoed.scanning.model.outcomes import Colour, Outcome

SyncStatus = Literal["pending", "synced", "failed"]
"""`failed`: the server will not have it, and says why. It is kept, and can be exported."""


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    url: str
    api_key: str
    device_id: UUID
    name: str
    organization_id: UUID
    organization_name: str
    event_id: UUID | None
    gate_id: UUID | None
    """The gate as the server last reported it; a supervisor may move a device."""


class ClockState(msgspec.Struct, frozen=True, kw_only=True):
    offset_seconds: float = 0.0
    """The offset that is to be added to the device's clock."""
    is_measured: bool = False
    """Heard from the server, and the clock had not jumped since."""
    last_read: datetime | None = None


class LoggedScan(msgspec.Struct, frozen=True, kw_only=True):
    """A scan as it is on disk, in the order in which scans were made."""

    scan_id: UUID
    ticket_id: UUID | None
    barcode: str
    """The text that was read or typed."""
    barcode_hash: str
    scanned_at: datetime
    """The moment by the device's clock."""
    scanned_at_corrected: datetime
    """The moment by the server's clock."""
    is_measured: bool
    """Whether the offset of the clock was known when it was made."""
    gate_id: str
    """Its id, not its code: the server has to know it wherever the device is by then."""
    direction: Direction
    outcome: Outcome
    reason: Reason | None
    ticket_code: str | None
    """The text that is sent along, where the ticket is in no manifest."""
    signature: str
    sync_status: SyncStatus
    retry_count: int = 0
    """The number of times it was sent in vain, for whatever reason."""
    refusal_count: int = 0
    """The number of times the server refused this very scan, with the signature that it has."""
    last_error: str | None = None
    synced_at: datetime | None = None
    """The moment at which the server had it, by the server's clock."""


class Outgoing(msgspec.Struct, frozen=True):
    """A batch on its way. Until it is answered it is sent again as it is, to the byte."""

    batch_id: UUID
    body: bytes
    scan_ids: list[UUID]
    offset_seconds: float
    """The offset of the clock that its scans were read from, which may have been set since."""


class ScanAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer that the person at the gate sees."""

    scan_id: UUID
    outcome: Outcome
    colour: Colour
    reason: Reason | None
    message: str
    is_offline: bool
    """Decided here, to be brought to the server later."""
    ticket_id: UUID | None = None
    entry_number: int | None = None
    left_at: datetime | None = None
    """The moment at which the person left, if the ticket is denied because of its earlier
    entries."""
    may_return_at: datetime | None = None
    shown: Shown = Shown()


class SyncReport(msgspec.Struct, kw_only=True):
    """The result of delivering a queue."""

    synced: int = 0
    failed: int = 0
    """Not wanted by the server; they are kept and can be exported."""
    left: int = 0
    """Still to be brought, for `reason`."""
    requests: int = 0
    conflicts: list[UUID] = []
    """Scans of which the server has another opinion than this device."""
    unverified: dict[UUID, str] = {}
    """Scans that the server keeps and somebody has to review before they count, and why."""
    reason: str | None = None


class DeviceFault(Exception):
    """The device cannot do this."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or " ".join((type(self).__doc__ or "").split()))


class NotPaired(DeviceFault):
    """This device is nobody's yet. Ask for a pairing token and pair it."""


class NoGate(DeviceFault):
    """This device has no gate. Whoever looks after devices gives it one."""


class NothingRead(DeviceFault):
    """Nothing was read."""


class ServerAway(DeviceFault):
    """The server does not answer."""


class KeyRefused(DeviceFault):
    """The server does not know this key: the device was revoked, deactivated, or somebody else has
    changed its key. Its scans are kept; pair it again, or export them."""


class Refused(DeviceFault):
    """The server refused."""


class ForgedManifest(DeviceFault):
    """What came is not a manifest that was made for this device. It was not kept."""


class StateUnusable(DeviceFault):
    """The file with this device's state cannot be used."""
