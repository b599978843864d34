"""A device signs every scan when it makes it, so that nobody can change or invent one afterwards.

Signed are five fields as JSON, in this order and without blanks, with exactly the texts that are
sent: HMAC-SHA256, whose key is the text of the device's API key.
"""

import hmac
from hashlib import sha256

import msgspec

SCHEME = "HMAC-SHA256="


class SignedFields(msgspec.Struct, frozen=True, kw_only=True):
    """The fields are texts, because a moment or an id can be written in more ways than one."""

    scan_id: str
    ticket_id: str | None
    barcode_hash: str
    scanned_at: str
    gate_id: str | None


def signed_bytes(fields: SignedFields) -> bytes:
    return msgspec.json.encode(fields)


def sign_scan(fields: SignedFields, api_key: str) -> str:
    return signature_of(signed_bytes(fields), api_key)


def is_signed_by(signature: str, fields: SignedFields, api_key: str) -> bool:
    """Accepts only the one way of writing a signature, and takes the same time however much of it
    is right."""
    expected = sign_scan(fields, api_key)
    return hmac.compare_digest(signature.encode(), expected.encode())


def signature_of(message: bytes, api_key: str) -> str:
    return SCHEME + hmac.new(api_key.encode(), message, sha256).hexdigest()
