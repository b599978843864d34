"""The keys that sign the barcodes of an event."""

from datetime import datetime

import msgspec

from voelgoed.infra.refusal import Conflict, Missing

KEYS_MAX = 255
"""Of one event: barcodes have one byte for the number."""


class EventKey(msgspec.Struct, frozen=True, kw_only=True):
    """What everybody may know of it: enough to verify, not to sign."""

    number: int
    """Within the event; barcodes carry it."""
    public_key: bytes
    """Of Ed25519, 32 bytes in base64."""
    created_at: datetime
    retired_at: datetime | None
    """Since when it signs no more; what it signed is still good."""


class EventKeyNotFound(Missing):
    """There is no such key of this event."""


class TooManyEventKeys(Conflict):
    """An event has at most 255 keys."""
