"""What a scan is asked that was made some time ago, and what not any more."""

from collections.abc import Iterable
from datetime import datetime, timedelta

import msgspec

from voelgoed.events.model import EventStatus
from voelgoed.scanning.model.decisions import (
    REASONS_THAT_PASS,
    EventFacts,
    GateFacts,
    Reason,
)
from voelgoed.scanning.model.devices import Device
from voelgoed.scanning.model.stations import ScanningGate
from voelgoed.scanning.model.sync import OFFSET_S_MAX
from voelgoed.scanning.rules.facts import gate_facts
from voelgoed.ticketing.model.admissions import Reissued

NO_ISSUE = 0
"""Of a barcode that is not the ticket's present one."""
OFFSET_GAP_MAX = timedelta(seconds=60)
"""Between what a device says of its clock and what we measure: more is no accident."""
AHEAD_MAX = timedelta(seconds=60)
"""Of a scan, of the moment when it is brought."""
LATELY = timedelta(minutes=5)
_WAS_LIVE: frozenset[EventStatus] = frozenset({"live", "ended", "archived"})


def at_sync(event: EventFacts) -> EventFacts:
    """It may be over by now; whether it was then, its end tells."""
    return msgspec.structs.replace(event, status="live") if event.status in _WAS_LIVE else event


def gate_at_sync(gate: ScanningGate) -> GateFacts:
    """Who may pass there. Not whether it is open and how full it is now: the device knew better."""
    facts = gate_facts(gate, 0)
    return msgspec.structs.replace(facts, status="open", hard_capacity_limit=None)


def lasting(reason: Reason | None) -> Reason | None:
    """Of what we had against a scan: what holds though a device let somebody in."""
    return None if reason in REASONS_THAT_PASS else reason


def issue_then(present: int, shown: int | None, at: datetime, reissues: Iterable[Reissued]) -> int:
    """Which barcode it was, as of the moment when it was shown: one that was replaced only afterwards
    was as good as the present one. None: it is not the present one, and only its hash is known."""
    revoked = [each for each in reissues if shown is None or each.issue == shown]
    was_good = any(at < each.at for each in revoked)
    return present if was_good else (shown or NO_ISSUE)


class Clock(msgspec.Struct, frozen=True):
    """How to read the moments that a device tells."""

    offset: timedelta
    """Our time minus its own."""
    gap: timedelta | None
    """Between what it says and what was measured, if it is too large to believe it."""


def measured_lately(device: Device, now: datetime) -> timedelta | None:
    """As it told with its last heartbeat, manifest or delivery, if that was not so long ago that somebody
    may have set its clock since."""
    at, offset_s = device.clock_measured_at, device.clock_offset_seconds
    if at is None or offset_s is None or now - at > LATELY or abs(offset_s) > OFFSET_S_MAX:
        return None
    return timedelta(seconds=offset_s)


def clock_of(
    claimed: timedelta | None, measured: timedelta | None, lately: timedelta | None
) -> Clock:
    """A device is believed unless it is far off: what is measured has the way of the request in it.
    `measured` with what it brings, `lately` with something else before. What it tells with what it
    brings may be the time by a clock that was set since; one that claims nothing says so by that."""
    if measured is None:
        measured = lately
    if claimed is None:
        return Clock(measured or timedelta(), None)
    if measured is not None and abs(claimed - measured) > OFFSET_GAP_MAX:
        return Clock(measured, claimed - measured)
    return Clock(claimed, None)


def canonical(scanned_at: datetime, clock: Clock, received_at: datetime) -> datetime:
    """By our clock. Nobody has scanned anything in the future."""
    return min(scanned_at + clock.offset, received_at)


def is_from_future(scanned_at: datetime, clock: Clock, received_at: datetime) -> bool:
    return scanned_at + clock.offset > received_at + AHEAD_MAX
