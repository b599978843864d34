"""Why the seating domain refuses."""

from voelgoed.infra.refusal import Conflict, Forbidden, Invalid, Missing, Unavailable


class LayoutNotFound(Missing):
    """There is no such layout."""


class EventLayoutNotFound(Missing):
    """This event has no layout."""


class EventLayoutTaken(Conflict):
    """This event has a layout already; name its version to replace it."""


class SeatNotFound(Missing):
    """There is no such seat at this event."""


class ZoneNotFound(Missing):
    """There is no such zone at this event."""


class InvalidLayout(Invalid):
    """The layout has faults; `details.faults` names each one with its path."""


class InvalidOverrides(Invalid):
    """The event's overrides have faults; `details.faults` names each one with its path."""


class PolicyForbids(Forbidden):
    """The organisation's seating policy does not allow this; `details.faults` says what."""


class LayoutNotActive(Conflict):
    """Only an active layout of the event's venue can be given to an event."""


class InvalidLayoutTransition(Conflict):
    """A layout cannot go from its present state to that one."""


class LayoutNotDraft(Conflict):
    """Only a draft can be deleted; archive the layout instead."""


class LayoutFrozen(Conflict):
    """Tickets are sold for this event; its layout can no longer be changed."""


class SeatsHeld(Conflict):
    """Somebody is holding seats of this event right now; try again when the holds have ended."""


class SeatNotAvailable(Conflict):
    """A seat is no longer available."""


class SeatNoLongerAvailable(Conflict):
    """Somebody else was a moment faster; this seat has just been taken."""


class SeatTaken(Conflict):
    """Some of these seats are held or sold; say `including_taken` to block them all the same."""


class SeatBlockedByLayout(Conflict):
    """These seats are blocked by the event's layout; change its overrides instead."""


class SeatsChangedMeanwhile(Conflict):
    """Somebody changed these seats in the meantime; look again."""


class BlockAtCapacity(Conflict):
    """There are not that many places left in this zone."""


class ZoneHasSeats(Conflict):
    """This zone has numbered seats; choose seats instead of places."""


class PlacesNotSold(Conflict):
    """So many places were not sold in this zone on these days."""


class HoldGone(Conflict):
    """This hold has ended, or has lost its seats."""


class NoSuitableSeats(Conflict):
    """No free seats fit this party; `details` says what would."""


class BookingRefused(Conflict):
    """This cannot be booked."""


class ZoneAccessDenied(Forbidden):
    """This zone is not open to everybody of your party; `details.reason` says why."""


class LayoutUnavailable(Unavailable):
    """The layout could not be loaded right now; try again shortly."""
