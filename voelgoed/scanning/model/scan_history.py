"""A ticket's story: its scans, whenever they became known, and how each of them stands."""

from typing import Literal
from uuid import UUID

import msgspec

from voelgoed.scanning.model.decisions import Reason, ScanStatus
from voelgoed.scanning.model.occupancy import Passage
from voelgoed.scanning.model.outcomes import Outcome
from voelgoed.scanning.model.scans import Source

ConflictKind = Literal["double_entry", "duplicate_scan"]
ConflictSeverity = Literal["critical", "low"]


class Resolution(msgspec.Struct, frozen=True):
    """What a scan is in the light of all that is known."""

    status: ScanStatus
    reason: Reason | None = None
    entry_number: int | None = None


class HistoryScan(Passage, frozen=True, kw_only=True):
    """One that let somebody through, or that a device brought later."""

    ticket_id: UUID
    source: Source
    is_let_in: bool
    """At the gate, by whoever decided there and then."""
    reason_apart: Reason | None
    """What was against it, whatever else was scanned."""
    outcome: Outcome | None
    resolution: Resolution | None
    """Until now; None where it is new."""


class JudgedScan(msgspec.Struct, frozen=True):
    scan: HistoryScan
    resolution: Resolution
    winner: HistoryScan | None
    """The entry because of which it does not stand."""


class Clash(msgspec.Struct, frozen=True, kw_only=True):
    """Two scans of a ticket that cannot both stand."""

    event_id: UUID
    ticket_id: UUID
    scan_id: UUID
    winner_scan_id: UUID
    kind: ConflictKind
    severity: ConflictSeverity
