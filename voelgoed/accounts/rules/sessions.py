"""Session tokens and how long they live.

A token carries its organisation, so that looking it up already happens behind that
organisation's wall. Another organisation's id in it finds nothing: the stored hash is
of the whole token.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from datetime import datetime, timedelta
from hashlib import sha256
from uuid import UUID

PREFIX = "vgs_"
SECRET_BYTES = 32
IDLE_MAX = timedelta(hours=12)
AGE_MAX = timedelta(days=7)
SEEN_EVERY = timedelta(minutes=1)
"""A session's last use is written down at most this often: reading must stay cheap."""


def session_token(organization_id: UUID, secret: bytes) -> str:
    return _token(organization_id.bytes + secret)


def organization_of(token: str) -> UUID | None:
    """None for anything that cannot be a session token."""
    try:
        raw = urlsafe_b64decode(token.removeprefix(PREFIX).encode("ascii"))
    except (ValueError, Base64Error):
        return None
    if len(raw) != 16 + SECRET_BYTES or _token(raw) != token:
        return None
    return UUID(bytes=raw[:16])


def _token(raw: bytes) -> str:
    return PREFIX + urlsafe_b64encode(raw).decode()


def token_hash(token: str) -> bytes:
    return sha256(token.encode()).digest()


def is_alive(*, last_seen_at: datetime, expires_at: datetime, now: datetime) -> bool:
    return now < expires_at and now - last_seen_at < IDLE_MAX
