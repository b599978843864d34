"""Tables that spreadsheets open, as CSV."""

import csv
import datetime as dt
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import cast

import msgspec

Cell = str | int | float | None

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet takes what begins with one of these for a formula, and does what it says."""
GUARD = "'"


def guarded(cell: str) -> str:
    """So that a spreadsheet leaves it alone; `unguarded` takes the apostrophe away again."""
    return GUARD + cell if cell.startswith(FORMULA) else cell


def unguarded(cell: str) -> str:
    bare = cell.strip()
    return bare[1:] if bare.startswith(GUARD) and bare[1:].startswith(FORMULA) else cell


def table(rows: Iterable[Sequence[Cell]]) -> str:
    """Of CSV (RFC 4180), with every text guarded."""
    text = StringIO(newline="")
    csv.writer(text).writerows(
        [guarded(cell) if isinstance(cell, str) else cell for cell in row] for row in rows
    )
    return text.getvalue()


def header_of(shape: type[msgspec.Struct]) -> bytes:
    return table([shape.__struct_fields__]).encode()


def rows_of(rows: Iterable[msgspec.Struct]) -> bytes:
    """A column for each field, in their order."""
    return table(
        [cell_of(getattr(row, name)) for name in row.__struct_fields__] for row in rows
    ).encode()


def cell_of(value: object) -> Cell:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list):
        return " ".join(map(str, cast(list[object], value)))
    if isinstance(value, dict):
        return msgspec.json.encode(value).decode()
    return value.isoformat() if isinstance(value, dt.datetime) else str(value)
