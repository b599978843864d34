"""Tickets by e-mail."""

import msgspec


class Posting(msgspec.Struct, frozen=True, kw_only=True):
    """A letter that will be sent."""

    to: str
    """The buyer's address."""
