"""Cells of the tables that spreadsheets open."""

import csv
from collections.abc import Iterable, Sequence
from io import StringIO

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet takes what begins with one of these for a formula, and does what it says."""
GUARD = "'"


def guarded(cell: str) -> str:
    """So that a spreadsheet leaves it alone; `unguarded` takes the apostrophe away again."""
    return GUARD + cell if cell.startswith(FORMULA) else cell


def unguarded(cell: str) -> str:
    bare = cell.strip()
    return bare[1:] if bare.startswith(GUARD) and bare[1:].startswith(FORMULA) else cell


def table(rows: Iterable[Sequence[str | int | None]]) -> str:
    """Of CSV (RFC 4180), with every text guarded."""
    text = StringIO(newline="")
    csv.writer(text).writerows(
        [guarded(cell) if isinstance(cell, str) else cell for cell in row] for row in rows
    )
    return text.getvalue()
