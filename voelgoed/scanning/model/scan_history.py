"""A ticket's scan history: its scans, whenever they became known, and how each of them is resolved."""

import datetime as dt
from typing import Literal
from uuid import UUID

import msgspec

from voelgoed.scanning.model.decisions import Reason, ScanStatus
from voelgoed.scanning.model.occupancy import Passage
from voelgoed.scanning.model.outcomes import Outcome
from voelgoed.scanning.model.scans import Source
from voelgoed.ticketing.model.admissions import Attendance

ConflictKind = Literal["double_entry"]
ConflictSeverity = Literal["critical"]


class Resolution(msgspec.Struct, frozen=True):
    """The status of a scan in the light of all that is known."""

    status: ScanStatus
    reason: Reason | None = None
    entry_number: int | None = None


class HistoryScan(Passage, frozen=True, kw_only=True):
    """One scan of a ticket's history."""

    ticket_id: UUID
    source: Source
    is_let_in: bool
    """Whether somebody was let through at the gate, by the device or by the server."""
    stateless_reason: Reason | None
    """What is against the scan whatever else was scanned; None where nothing is."""
    outcome: Outcome | None
    """What the device decided alone; None where it asked."""
    resolution: Resolution | None
    """The resolution of the scan until now; None while it is new."""
    issue: int | None = None
    """Which barcode was shown with a scan that claimed a moment that was yet to come. None where its moment
    had come when it arrived, or a code was typed."""


class HistoryState(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a ticket after some of its scans, in canonical order."""

    attendance: Attendance
    """The attendance that counts, and the irregular people inside."""
    everybody: Attendance
    """The same, if everybody who was let in counted."""
    last_entry: HistoryScan | None = None
    """The last entry that counts."""
    last_let_in: HistoryScan | None = None
    """The last entry, whether it counts or not."""
    unmatched: tuple[HistoryScan, ...] = ()
    """Irregular entries that are in no conflict."""
    is_elsewhere: bool = False
    """Somebody was let in with the ticket at another event than its own."""
    last_scan: HistoryScan | None = None
    """The last scan that the state is made of; None at the beginning."""


class JudgedScan(msgspec.Struct, frozen=True):
    scan: HistoryScan
    resolution: Resolution
    winner: HistoryScan | None = None
    """The entry because of which the scan is not one; None where there is no such entry."""


class JudgedHistory(msgspec.Struct, frozen=True):
    scans: list[JudgedScan]
    """The scans in canonical order."""
    state: HistoryState
    """The state after the last of them."""
    attendance: Attendance
    """The state as it is now: the venue may have been declared empty since."""
    earlier: list[JudgedScan]
    """Scans from before the first of them that are in a conflict now."""


class Clash(msgspec.Struct, frozen=True, kw_only=True):
    """Two scans of a ticket that cannot both be right."""

    event_id: UUID
    ticket_id: UUID
    scan_id: UUID
    winner_scan_id: UUID
    kind: ConflictKind
    severity: ConflictSeverity


class Ruling(msgspec.Struct, frozen=True, kw_only=True):
    """A later resolution of a scan; the last ruling about a scan stands."""

    scan_id: UUID
    event_id: UUID
    is_let_in: bool
    status: ScanStatus
    reason_denied: Reason | None
    entry_number: int | None
    day: dt.date
