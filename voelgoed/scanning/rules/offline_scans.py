"""A scan that a device made alone, and what becomes of it."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

import msgspec

from voelgoed.infra.refusal import Refusal
from voelgoed.infra.shapes import EARLIEST
from voelgoed.scanning.model.decisions import Direction, Reason
from voelgoed.scanning.model.devices import Device
from voelgoed.scanning.model.outcomes import Outcome
from voelgoed.scanning.model.scan_history import HistoryScan, Resolution
from voelgoed.scanning.model.scans import Doubt, UnverifiedCause
from voelgoed.scanning.model.stations import ScanningGate
from voelgoed.scanning.model.sync_facts import SyncedScan, SyncQuestion
from voelgoed.scanning.rules.presented import Presented
from voelgoed.scanning.rules.scan_rate import NEIGHBOURS_WITHIN
from voelgoed.ticketing.model.admissions import ScannedTicket


class OfflineScan(msgspec.Struct, frozen=True, kw_only=True):
    """A scan that a device made alone, as the device says."""

    scan_id: UUID
    sent_id: str
    """The id as the device sent it."""
    device: Device
    """The device that made it."""
    batch_id: UUID
    """The delivery that it came with."""
    ticket_id: UUID | None
    """None where the device does not know the ticket."""
    presented: Presented | None
    """The code that was read or typed; None where it is no code of ours, or the device kept its
    hash only."""
    given: str
    barcode_hash: str | None
    """The hash in hex; None where a code was typed."""
    gate: UUID | str | None
    """The gate by its id or code; None for the gate where the device was."""
    direction: Direction
    scanned_at: datetime
    """The moment by the device's clock."""
    at: datetime
    """The canonical moment, by the server's clock."""
    tolerance: timedelta
    """The error that this moment may have."""
    contradicts_clock: bool = False
    """By what was measured, the device's clock was another at that moment."""
    outcome: Outcome
    refusal: Refusal | None = None
    """Why the scan is not accepted, so that it stays on the device; None where it is."""
    refusal_if_new: Refusal | None = None
    """Why the scan is not accepted if it is new; None where nothing is wrong with it."""
    signature: str | None = None
    is_signed: bool | None = None
    """Whether the signature is the device's, of a scan that came with a file; None for any other."""
    doubts: Sequence[Doubt] = ()

    @property
    def is_let_in(self) -> bool:
        return self.outcome == "valid"


class SyncResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one scan of a delivery."""

    scan: OfflineScan
    refusal: Refusal | None = None
    """Why it is not kept: the device keeps it. None where it is kept."""
    is_known: bool = False
    """It was kept already, or came twice with the same deliveries."""
    is_corrected: bool = False
    """It was kept already, but what the device did was not known."""
    ticket: ScannedTicket | None = None
    gate: ScanningGate | None = None
    is_forged: bool = False
    unverified: UnverifiedCause | None = None
    """Why it waits for review, new or known; None where it counts, or somebody has rejected it."""
    stateless_reason: Reason | None = None
    resolution: Resolution | None = None
    winner: HistoryScan | None = None
    """The entry because of which it is not one."""
    row: SyncedScan | None = None
    """The scan's row; None where it is not new."""
    is_last_entry: bool = False
    """Nothing is known of the ticket after this entry."""

    @property
    def is_new(self) -> bool:
        return self.row is not None

    @property
    def is_learnt(self) -> bool:
        """It says something that was not known."""
        return self.is_new or self.is_corrected

    @property
    def is_good(self) -> bool:
        """Nothing is wrong with it."""
        if self.refusal is not None:
            return False
        return self.resolution is None or self.resolution.status == "admitted"


def question_about(scans: Sequence[OfflineScan], batch_ids: Sequence[UUID]) -> SyncQuestion:
    """The ids of the facts that are needed to decide about these scans."""
    accepted = [each for each in scans if each.refusal is None]
    moments = [each.at for each in accepted]
    return SyncQuestion(
        batch_ids=batch_ids,
        device_ids=list({each.device.id for each in scans}),
        scan_ids=[each.scan_id for each in accepted],
        ticket_ids=list({each.ticket_id for each in accepted if each.ticket_id}),
        codes=list({each.presented.code for each in accepted if each.presented}),
        barcode_hashes=list(
            {each.barcode_hash for each in accepted if each.barcode_hash and not each.presented}
        ),
        gate_ids=list({each.gate for each in accepted if isinstance(each.gate, UUID)}),
        gate_codes=list({each.gate for each in accepted if isinstance(each.gate, str)}),
        oldest=min(moments, default=EARLIEST) - NEIGHBOURS_WITHIN,
        newest=max(moments, default=EARLIEST) + NEIGHBOURS_WITHIN,
    )
