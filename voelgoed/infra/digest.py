"""What a body is known by on its way, so that one that was changed there is noticed."""

from base64 import b64encode
from hashlib import sha256

SCHEME = "sha-256="


def digest_of(body: bytes) -> str:
    """As the header `Content-Digest` has it (RFC 9530)."""
    return f"{SCHEME}:{b64encode(sha256(body).digest()).decode()}:"


def is_of(digest: str, body: bytes) -> bool:
    """Of the bytes as they were sent. What is told in a way that we do not know tells nothing."""
    told = (each.strip() for each in digest.split(","))
    return all(each == digest_of(body) for each in told if each.startswith(SCHEME))
