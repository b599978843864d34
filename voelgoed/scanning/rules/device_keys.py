"""The key of a device: a text that says which device it is, and proves it.

`vgd_` and in base64 the organisation, the device, the version of its key, and a secret that is
derived from the master key and these three. Nothing of it is stored: to verify it is to derive it
again. That the device is active and this version the present one, its row tells.
"""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Iterable
from uuid import UUID

import msgspec

PREFIX = "vgd_"
PURPOSE = "device-key"
VERSION_BYTES = 4
SECRET_BYTES = 32
_HEAD_BYTES = 16 + 16 + VERSION_BYTES

Derive = Callable[..., Iterable[bytes]]
"""A function from a purpose and its subject to the keys derived from the present master key and
from the one before."""


class DeviceKey(msgspec.Struct, frozen=True):
    organization_id: UUID
    device_id: UUID
    version: int
    secret: bytes


def context(organization_id: UUID, device_id: UUID, version: int) -> tuple[bytes, ...]:
    return organization_id.bytes, device_id.bytes, version.to_bytes(VERSION_BYTES, "big")


def key_text(key: DeviceKey) -> str:
    head = b"".join(context(key.organization_id, key.device_id, key.version))
    # Without padding: a browser offers its key as a subprotocol, in which no `=` may be.
    return PREFIX + urlsafe_b64encode(head + key.secret).decode().rstrip("=")


def read_key(text: str) -> DeviceKey | None:
    """Reads a key from a text of the right form; `is_genuine` checks it."""
    if not text.startswith(PREFIX):
        return None
    try:
        raw = urlsafe_b64decode(text[len(PREFIX) :].encode("ascii") + b"=")
    except (ValueError, Base64Error):
        return None
    if len(raw) != _HEAD_BYTES + SECRET_BYTES:
        return None
    key = DeviceKey(
        UUID(bytes=raw[:16]),
        UUID(bytes=raw[16:32]),
        int.from_bytes(raw[32:_HEAD_BYTES], "big"),
        raw[_HEAD_BYTES:],
    )
    return key if key_text(key) == text else None


def is_genuine(key: DeviceKey, derive: Derive) -> bool:
    genuine = derive(PURPOSE, *context(key.organization_id, key.device_id, key.version))
    return any(hmac.compare_digest(key.secret, secret) for secret in genuine)
