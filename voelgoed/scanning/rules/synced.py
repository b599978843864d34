"""The facts by which a scan is judged that became known later than it was made."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.events.model import EventStatus
from voelgoed.scanning.model.decisions import (
    REASONS_THAT_PASS,
    Attempt,
    EventFacts,
    GateFacts,
    Reason,
    TicketFacts,
)
from voelgoed.scanning.model.scan_history import HistoryScan
from voelgoed.scanning.model.stations import ScanningGate
from voelgoed.scanning.rules.decision import Case, foremost, judge_ticket
from voelgoed.scanning.rules.facts import NOBODY_CAME, ticket_facts
from voelgoed.ticketing.model.admissions import Reissued, ScannedTicket

ANY_GATE = GateFacts(
    id=UUID(int=0), status="open", allowed_zones=None, hard_capacity_limit=None, inside=0
)
"""The gate of a scan of which only the ticket is judged, or whose gate was judged before."""
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


def by_now(
    scan: HistoryScan, event: EventFacts, ticket: ScannedTicket, reissues: Iterable[Reissued]
) -> HistoryScan:
    """The scan with the stateless reason that follows from what is known now. Of a scan that was ahead when it
    arrived, the ticket may have been voided, refunded or reissued since, before the scan's moment."""
    at, issue = scan.scanned_at_canonical, scan.issue
    was_good = ticket.status_since is None or at < ticket.status_since
    if scan.source in ("online", "supervisor") or (was_good and issue is None):
        return scan
    then = status_then(ticket, ticket_facts(ticket), at)
    case = Case(
        attempt=Attempt(
            at=at,
            direction=scan.direction,
            issue=issue and issue_then(ticket.issue, issue, at, reissues),
        ),
        event=event,
        gate=ANY_GATE,
        ticket=then,
        history=NOBODY_CAME,
    )
    reason = foremost(scan.stateless_reason, judge_ticket(case, then))
    return msgspec.structs.replace(scan, stateless_reason=reason)


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
