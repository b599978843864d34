"""Whether a scan that a device brings can have been made there and then.

A scan counts at gates of an event to which its device was assigned at that moment, within the event's
time. Whatever else a device brings is kept, is no entry, and waits for somebody to review it. The answer
follows from the scan, the assignments, the event and what was measured of the device's clock; only a moment in the future needs to be compared
with the arrival, and it is asked last.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

import msgspec

from voelgoed.scanning.model.decisions import Direction, EventFacts
from voelgoed.scanning.model.devices import DeviceAssignment
from voelgoed.scanning.model.scans import UnverifiedCause
from voelgoed.scanning.rules.device_clock import is_from_future

BEFORE_EVENT_MAX = timedelta(hours=24)
"""A scan may be so long before the event's first day: gates are tried out, and people come
early."""
EXITS_AFTER_EVENT_MAX = timedelta(hours=24)
"""After its end nobody comes in, but people still leave."""


class ScanOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """The time and the circumstances of a scan, as its device states them."""

    at: datetime
    """The moment by the server's clock."""
    tolerance: timedelta
    """The error that this moment may have."""
    direction: Direction
    received_at: datetime
    contradicts_clock: bool = False
    """By what was measured, the device's clock was another at that moment."""


def unverified_cause(
    origin: ScanOrigin, event: EventFacts, assignments: Iterable[DeviceAssignment]
) -> UnverifiedCause | None:
    """Why the scan waits for review; None where it counts. `event` is that of the gate which the scan
    names, `assignments` are those of the device, to whatever events."""
    own = [each for each in assignments if each.event_id == event.id]
    if not any(was_assigned(each, origin.at, origin.tolerance) for each in own):
        is_early = bool(own) and origin.at < min(each.from_at for each in own)
        return "before_assignment" if is_early else "foreign_gate"
    if not _is_in_event_time(origin, event):
        return "outside_event_time"
    if origin.contradicts_clock:
        return "clock_changed"
    if is_from_future(origin.at, origin.tolerance, origin.received_at):
        return "from_future"
    return None


def was_assigned(assignment: DeviceAssignment, at: datetime, tolerance: timedelta) -> bool:
    """Whether the device was there at that moment, as far as its clock can tell."""
    if at < assignment.from_at - tolerance:
        return False
    return assignment.until_at is None or at <= assignment.until_at + tolerance


def assignment_at(assignments: Iterable[DeviceAssignment], at: datetime) -> DeviceAssignment | None:
    """The assignment at that moment: the last one that had begun by then."""
    begun = [each for each in assignments if was_assigned(each, at, timedelta())]
    return max(begun, key=lambda each: (each.from_at, each.gate_id), default=None)


def _is_in_event_time(origin: ScanOrigin, event: EventFacts) -> bool:
    begins = min((day.starts_at for day in event.days), default=event.ends_at)
    ends = max([event.ends_at, *(day.ends_at for day in event.days)])
    if origin.direction == "exit":
        ends += EXITS_AFTER_EVENT_MAX
    earliest, latest = begins - BEFORE_EVENT_MAX - origin.tolerance, ends + origin.tolerance
    return earliest <= origin.at <= latest
