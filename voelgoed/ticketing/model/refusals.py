"""Why the ticketing domain refuses."""

from voelgoed.infra.refusal import (
    Conflict,
    Failed,
    Forbidden,
    Invalid,
    Malformed,
    Missing,
    Unauthenticated,
    Untimely,
)


class TicketTypeNotFound(Missing):
    """There is no such ticket type at this event."""


class InvalidTicketType(Invalid):
    """The ticket type has faults; `details.faults` names each one with its path."""


class TicketTypeNameTaken(Conflict):
    """There is a ticket type with this name at this event already."""


class TicketTypeInUse(Conflict):
    """Tickets of this type were ordered; take it off sale instead of deleting it."""


class TicketTypeSoldOut(Conflict):
    """There are not that many left; `details.ticket_types` says of which and how many are."""


class TooManyTicketTypes(Conflict):
    """An event has at most 500 ticket types."""


class InvalidReservation(Malformed):
    """The request has faults; `details.faults` names each one."""

    code = "invalid_request"


class EventNotAvailable(Untimely):
    """Seats of this event cannot be booked: it is not published, or it is over."""


class EventUnavailable(Untimely):
    """This event was cancelled."""


class EventSalesClosed(Untimely):
    """Tickets for this event are not on sale at this time."""


class NothingWanted(Invalid):
    """Say which seats, how many, or which places."""


class SeatAlreadyHeldByAnotherUser(Conflict):
    """Somebody is holding this seat right now."""


class SeatHeldByAnotherUser(Conflict):
    """Somebody is holding this seat right now."""


class SeatReservationFailed(Failed):
    """Too many wanted this seat at the same moment; try again."""


class GuestsNotNamed(Forbidden):
    """This zone is not open to everybody; name everybody who comes along."""


class MembershipAlreadyUsed(Forbidden):
    """A membership opens one seat at an event; name the guests who come along."""


class HoldNotFound(Missing):
    """There is no such hold of yours."""


class HoldEnded(Conflict):
    """This hold has ended; choose your seats again."""


class HoldAlreadyExtended(Conflict):
    """A hold can be extended once."""


class OrderNotFound(Missing):
    """There is no such order."""


class TicketNotFound(Missing):
    """There is no such ticket."""


class PaymentNotFound(Missing):
    """There is no such payment."""


class PaymentAccountNotFound(Missing):
    """This organisation does not use that payment provider."""


class HoldsOfSeveralEvents(Invalid):
    """An order is for one event."""


class HoldNamedTwice(Invalid):
    """Each seat is named once, and of places exactly as many as are held."""


class TicketTypeNotSoldHere(Conflict):
    """This type of ticket is not sold for that seat or place."""


class TicketTypeNotOnSale(Conflict):
    """This type of ticket is not on sale."""


class TooManyPerType(Conflict):
    """An order cannot have that many tickets of this type."""


class OneCurrencyOnly(Conflict):
    """An order is paid in one currency."""


class OrderNotPending(Conflict):
    """This order is not waiting to be paid."""


class OrderExpired(Conflict):
    """The seats of this order were not paid for in time; choose your seats again."""


class OrderHasPrice(Conflict):
    """This order has a price; cancel it and place it again as complimentary."""


class PaymentNotAllowed(Forbidden):
    """Only the box office takes payments by hand."""


class PaymentMethodMissing(Invalid):
    """Say how it was paid: cash, card_terminal or complimentary."""


class NothingToRefund(Conflict):
    """None of these tickets can be refunded: they were scanned, voided or refunded already."""


class TicketNotValid(Conflict):
    """This ticket is voided or refunded."""


class BarcodeNotFound(Missing):
    """This ticket was voided or refunded: it has no barcode any more, and lets nobody in."""


class TicketsNotFound(Missing):
    """This order has no tickets that are good: it is not paid, or they were voided or refunded."""


class MailIsOff(Conflict):
    """This installation sends no e-mail; its operator can set VOELGOED_SMTP_URL."""


class BuyerAddressMissing(Conflict):
    """There is no e-mail address on this order."""


class WebhookSignatureWrong(Unauthenticated):
    """This was not signed with the secret of that payment provider."""
