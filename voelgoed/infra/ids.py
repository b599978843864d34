"""Identifiers we make: UUIDv7, so that new rows land together at the end of an index."""

from uuid import UUID

from uuid_utils.compat import uuid7


def new_id() -> UUID:
    return uuid7()
