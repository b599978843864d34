"""Rows that leave: as a table that spreadsheets open, or as one JSON array."""

import datetime as dt
from collections.abc import Sequence
from typing import cast

import msgspec

from voelgoed.ticketing.forms.cells import table
from voelgoed.ticketing.model.exports import Exported


def csv_header(shape: type[Exported]) -> bytes:
    return table([shape.__struct_fields__]).encode()


def csv_rows(rows: Sequence[Exported]) -> bytes:
    return table(map(_cells, rows)).encode()


def json_rows(rows: Sequence[Exported], *, first: bool) -> bytes:
    """To stand between brackets, after what was written before."""
    text = b",\n".join(map(msgspec.json.encode, rows))
    return text if first or not rows else b",\n" + text


def _cells(row: Exported) -> list[str | int | None]:
    return [_cell(getattr(row, name)) for name in row.__struct_fields__]


def _cell(value: object) -> str | int | None:
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, list):
        return " ".join(map(str, cast(list[object], value)))
    return value.isoformat() if isinstance(value, dt.datetime) else str(value)
