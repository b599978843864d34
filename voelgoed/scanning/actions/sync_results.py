"""A scan that a device made alone, as it says, and what becomes of it."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.infra.refusal import Refusal
from voelgoed.scanning.model.decisions import Direction, Reason
from voelgoed.scanning.model.devices import Device
from voelgoed.scanning.model.outcomes import Outcome
from voelgoed.scanning.model.scan_history import HistoryScan, Resolution
from voelgoed.scanning.model.scans import Doubt
from voelgoed.scanning.model.stations import ScanningGate
from voelgoed.scanning.rules.presented import Presented
from voelgoed.scanning.store.syncs import SyncedScan
from voelgoed.ticketing.model.admissions import ScannedTicket


class OfflineScan(msgspec.Struct, frozen=True, kw_only=True):
    """A scan that a device made alone, as it says."""

    scan_id: UUID
    sent_id: str
    """The id as the device sent it."""
    ticket_id: UUID | None
    """Where the device knows it."""
    presented: Presented | None
    """What was read or typed, if it is anything of ours."""
    given: str
    barcode_hash: str | None
    """In hex; None where a code was typed."""
    gate: UUID | str | None
    """By id or code; None: where the device is."""
    direction: Direction
    scanned_at: datetime
    at: datetime
    """By our clock."""
    outcome: Outcome
    signature: str | None = None
    is_signed: bool | None = None
    """Of one from a file: whether that is the device's."""
    doubts: Sequence[Doubt] = ()


@dataclass(slots=True)
class SyncResult:
    """What became of one."""

    brought: OfflineScan
    device: Device
    """Of whom."""
    batch_id: UUID
    """With which."""
    refusal: Refusal | None = None
    """It is not kept; the device has it still."""
    refusal_if_new: Refusal | None = None
    """Unless it is kept already."""
    is_known: bool = False
    """It is kept already."""
    twin: "SyncResult | None" = None
    """The same, brought at the same time and looked at before it."""
    is_corrected: bool = False
    """So it is, but it was not known what the device did."""
    gate: ScanningGate | None = None
    ticket: ScannedTicket | None = None
    is_forged: bool = False
    is_from_future: bool = False
    """Its device claims a moment that is yet to come."""
    apart: Reason | None = None
    day: dt.date | None = None
    story: HistoryScan | None = None
    resolution: Resolution | None = None
    winner: HistoryScan | None = None
    """The entry because of which it does not stand."""

    scan: SyncedScan | None = None
    """As it was written."""
    is_last_entry: bool = False
    """The last thing known of its ticket."""

    @property
    def is_new(self) -> bool:
        return self.refusal is None and not self.is_known

    @property
    def is_learnt(self) -> bool:
        """It said something that was not known."""
        return self.is_new or self.is_corrected

    @property
    def is_good(self) -> bool:
        """Nothing is wrong with it, as far as it was looked at now."""
        if self.refusal is not None:
            return False
        return self.resolution is None or self.resolution.status == "admitted"
