"""Why a device, or what it asks for, is refused. Why a ticket is denied: see `Reason`."""

from voelgoed.infra.refusal import Conflict, Forbidden, Invalid, Missing, Unauthenticated


class InvalidDeviceToken(Unauthenticated):
    """This needs the key of a paired device."""


class DeviceInactive(Unauthenticated):
    """This device was deactivated or revoked; pair it again."""


class DeviceMismatch(Forbidden):
    """The key belongs to another device than the one named."""


class DeviceNotAssignedToGate(Forbidden):
    """This device has no gate; a supervisor must assign it to one."""


class DeviceNotFound(Missing):
    """There is no such device."""


class PairingTokenNotFound(Missing):
    """This pairing token is not known, or was used, or is more than five minutes old."""


class PairingTokenTaken(Conflict):
    """This pairing token is in use already; let the device show a new one."""


class TooManyDevices(Conflict):
    """An organisation has at most 5,000 devices; revoke those that are no longer used."""


class TimestampOutOfRange(Invalid):
    """The device's clock is more than five minutes off; set its date and time."""


class InvalidTicketCodeFormat(Invalid):
    """That is neither a ticket code such as 3KQR-7F92-4M1X nor the barcode of a ticket."""


class ScanIdReused(Conflict):
    """This scan_id was used for another scan."""


class ScanAnnulled(Conflict):
    """This admission was taken back; scan the ticket again, as a new scan."""


class ScanNotFound(Missing):
    """There is no such scan."""


class ScanNotAdmitted(Conflict):
    """Only an admission can be annulled."""


class OverrideNotAllowed(Conflict):
    """Nobody can be let in with this ticket; send its holder to the box office."""


class AlertNotFound(Missing):
    """There is no such alert."""


class AlertRaisedAgain(Conflict):
    """The same has been raised anew; look at that alert."""


class SearchTooShort(Invalid):
    """Type at least three letters or digits of a code, an order number or a name."""
