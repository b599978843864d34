"""Rows that leave as one JSON array."""

from collections.abc import Sequence

import msgspec

from voelgoed.ticketing.model.exports import Exported


def json_rows(rows: Sequence[Exported], *, first: bool) -> bytes:
    """To stand between brackets, after what was written before."""
    text = b",\n".join(map(msgspec.json.encode, rows))
    return text if first or not rows else b",\n" + text
