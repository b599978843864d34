"""The facts from which offline deliveries are decided, and the rows that the decisions become."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.infra.shapes import EARLIEST
from voelgoed.scanning.model.conflicts import Conflict
from voelgoed.scanning.model.decisions import EventFacts, Reason
from voelgoed.scanning.model.devices import ClockPeriod, DeviceAssignment
from voelgoed.scanning.model.scan_history import HistoryScan, HistoryState, Resolution
from voelgoed.scanning.model.scans import Scan
from voelgoed.scanning.model.stations import ScanningDevice, ScanningGate
from voelgoed.scanning.model.sync import BatchSync
from voelgoed.ticketing.model.admissions import Reissued, ScannedTicket


class SyncQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """The ids of the facts that some deliveries need."""

    batch_ids: Sequence[UUID]
    device_ids: Sequence[UUID]
    scan_ids: Sequence[UUID]
    ticket_ids: Sequence[UUID]
    codes: Sequence[str]
    barcode_hashes: Sequence[str]
    gate_ids: Sequence[UUID]
    gate_codes: Sequence[str]
    oldest: datetime
    """The oldest moment that matters to the scans; `newest` is the latest."""
    newest: datetime
    is_whole: bool = False
    """True where whole histories must be read, also of tickets that have a checkpoint."""


def question_about_scans(
    scan_ids: Sequence[UUID] = (), ticket_ids: Sequence[UUID] = ()
) -> SyncQuestion:
    """The ids of stored scans and of tickets to be read without a delivery, with whole
    histories."""
    return SyncQuestion(
        batch_ids=(),
        device_ids=(),
        scan_ids=scan_ids,
        ticket_ids=ticket_ids,
        codes=(),
        barcode_hashes=(),
        gate_ids=(),
        gate_codes=(),
        oldest=EARLIEST,
        newest=EARLIEST,
        is_whole=True,
    )


class RecordedScan(Scan, frozen=True, kw_only=True):
    stateless_reason: Reason | None
    """What is against it whatever else was scanned; None for a scan that was made online."""
    is_let_in: bool
    """Whether somebody was let through, as far as is known now."""
    resolution: Resolution
    """The present resolution of the scan."""
    is_waiting: bool
    """The scan waits for review; false once somebody has rejected it."""


class KeptAnswer(msgspec.Struct, frozen=True):
    """The answer to a delivery that came before."""

    batch_id: UUID
    fingerprint: str
    answer: str


class SyncFacts(msgspec.Struct, frozen=True, kw_only=True):
    """All that decisions about deliveries are made from, read at one moment."""

    devices: Mapping[UUID, ScanningDevice]
    """The devices as they are now."""
    assignments: Mapping[UUID, Sequence[DeviceAssignment]]
    """The assignments of each device, by its id."""
    answers: Mapping[UUID, KeptAnswer]
    """Answers that were given before, by batch id."""
    gates: Mapping[UUID, ScanningGate]
    gate_codes: Mapping[tuple[UUID, str], UUID]
    """The ids of gates, by event and code."""
    events: Mapping[UUID, EventFacts]
    manifest_versions: Mapping[UUID, int]
    """The present version of each event's manifest, by the event's id."""
    tickets: Sequence[ScannedTicket]
    reissues: Mapping[UUID, Sequence[Reissued]]
    """The moments at which barcodes of tickets were replaced, by the ticket's id."""
    keys: Mapping[UUID, Mapping[int, bytes]]
    """The public keys of each event, by their numbers."""
    known: Mapping[UUID, RecordedScan]
    """Scans that are kept already, by their ids."""
    annulled: frozenset[UUID]
    unreviewed: Mapping[UUID, HistoryScan]
    """Scans that wait for review."""
    histories: Mapping[UUID, Sequence[HistoryScan]]
    """The scans of each ticket that let somebody through; where it has a checkpoint, those after
    that."""
    checkpoints: Mapping[UUID, HistoryState]
    """The state of tickets with very many scans after most of them; none where whole histories were
    asked for."""
    checkpointed: frozenset[UUID]
    """The tickets that have a checkpoint: it must follow whatever changes their history."""
    conflicts: Sequence[Conflict]
    """The known conflicts of those tickets."""
    nearby_entries: Mapping[UUID, Sequence[datetime]]
    """Moments of entries that each device delivered before, near those that it delivers now."""


class SyncedScan(Scan, frozen=True, kw_only=True):
    stateless_reason: Reason | None
    batch_id: UUID


class NewBatch(BatchSync, frozen=True, kw_only=True):
    fingerprint: str
    """The hash of the request, by which a repetition is recognised."""
    answer: str


class SyncSuccess(msgspec.Struct, frozen=True, kw_only=True):
    """A device delivered something."""

    device_id: UUID
    key_version: int
    offset_s: float | None
    """The offset of its clock, measured with the delivery; None where the device sent no time."""
    periods: Sequence[ClockPeriod] | None = None
    """What is known of its clock by now; None where the delivery added nothing."""


class DeliveryOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """From where a delivery came, as the audit entries of its scans say."""

    batch_id: UUID
    ip: str | None
    user_agent: str | None
