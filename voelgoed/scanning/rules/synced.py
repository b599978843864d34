"""The facts by which a scan is judged that became known later than it was made."""

from collections.abc import Iterable
from datetime import datetime

import msgspec

from voelgoed.events.model import EventStatus
from voelgoed.scanning.model.decisions import (
    REASONS_THAT_PASS,
    EventFacts,
    GateFacts,
    Reason,
    TicketFacts,
)
from voelgoed.scanning.model.stations import ScanningGate
from voelgoed.ticketing.model.admissions import Reissued, ScannedTicket

NO_ISSUE = 0
"""The issue of a barcode that is not the ticket's present one."""
_OVER: frozenset[EventStatus] = frozenset({"ended", "archived"})


def at_sync(event: EventFacts) -> EventFacts:
    """The event as it was: one that has ended since was live, and its end says until when."""
    return msgspec.structs.replace(event, status="live") if event.status in _OVER else event


def gate_at_sync(gate: ScanningGate) -> GateFacts:
    """The facts about who may pass there, but not whether it is open and how full it is now: the
    device knew better."""
    return GateFacts(
        id=gate.id,
        status="open",
        allowed_zones=gate.allowed_zones,
        hard_capacity_limit=None,
        inside=0,
    )


def status_then(ticket: ScannedTicket, facts: TicketFacts, at: datetime) -> TicketFacts:
    """The ticket as it was at that moment. What was voided, refunded or marked used only afterwards was a
    good ticket then, whenever the scan becomes known."""
    since = ticket.status_since
    if since is None or at >= since:
        return facts
    return msgspec.structs.replace(facts, status="active")


def lasting(reason: Reason | None) -> Reason | None:
    """The reason against a scan if it still holds after a device let the person in; None if not."""
    return None if reason in REASONS_THAT_PASS else reason


def issue_then(present: int, shown: int | None, at: datetime, reissues: Iterable[Reissued]) -> int:
    """The issue of the barcode at the moment when it was shown: one that was replaced only
    afterwards was as good as the present one. None: it is not the present one, and only its hash is
    known."""
    revoked = [each for each in reissues if shown is None or each.issue == shown]
    was_good = any(at < each.at for each in revoked)
    return present if was_good else (shown or NO_ISSUE)
