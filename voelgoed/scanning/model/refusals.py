"""Why a device, or what it asks for, is refused. Why a ticket is denied: see `Reason`."""

from voelgoed.infra.refusal import (
    Conflict,
    Forbidden,
    Invalid,
    Malformed,
    Missing,
    TooMany,
    Unauthenticated,
    Untimely,
)


class InvalidDeviceToken(Unauthenticated):
    """This needs the key of a paired device."""


class DeviceInactive(Unauthenticated):
    """This device was deactivated or revoked; pair it again."""


ROTATION_DEMANDED = "rotation_demanded"
"""The `status` of a refusal with which a device is told to ask for its next key, and then again."""


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


class DeviceAlreadyPaired(Conflict):
    """There is a device with this id; an administrator must choose "Pair again" for it."""


class PairingForAnotherDevice(Conflict):
    """This pairing is for another device; let an administrator make one for this device."""


class TooManyDevices(Conflict):
    """An organisation has at most 5,000 devices; revoke those that are no longer used."""


class TimestampOutOfRange(Invalid):
    """The device's clock is more than five minutes off; set its date and time."""


class InvalidTicketCodeFormat(Invalid):
    """That is neither a ticket code such as 3KQR-7F92-4M1X nor the barcode of a ticket."""


class InvalidTicketCodeLength(Invalid):
    """A ticket code has 12 letters and digits, such as 3KQR-7F92-4M1X; this has more or fewer."""


class ScanIdReused(Conflict):
    """This scan_id was used for another scan."""


class ReplayedSignature(Conflict):
    """This scan was sent before, and said something else."""


class InvalidSignature(Invalid):
    """This scan was not signed by this device, or was changed since."""


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


class BatchMalformed(Malformed):
    """The batch has faults and was not looked at; `details.faults` names them."""


class BatchTooOld(Malformed):
    """The batch, or the clock of the device, is more than 24 hours off; export its scans to a file and
    let somebody import that."""


class BatchIdReused(Conflict):
    """This batch id was used for another batch."""


class UnknownBatch(Missing):
    """There is no such batch."""


class EventNotLive(Untimely):
    """The event is not live; the batch was not looked at, and the device has it still."""


class TooManySyncs(TooMany):
    """Many devices are sending at this moment; wait a little."""


class ConflictNotFound(Missing):
    """There is no such conflict."""


class RecoveryNotFound(Missing):
    """There is no such import of recovered scans."""


class RecoveryReviewed(Conflict):
    """Somebody has decided about these scans already."""
