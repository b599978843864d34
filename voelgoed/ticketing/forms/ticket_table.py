"""A table of tickets sold elsewhere, read piece by piece as it comes in.

A line of the file is a line of the table: no column of ours has a line break in a cell, and a quote
that somebody forgot to close must not swallow the tickets after it.
"""

import codecs
import csv
from collections.abc import Iterator
from io import StringIO
from typing import get_args

from voelgoed.infra.tables import unguarded
from voelgoed.ticketing.model.imports import (
    ROWS_MAX,
    Column,
    Field,
    ImportFault,
    Record,
    TicketRow,
)

COLUMNS: tuple[Column, ...] = get_args(Column)
SEPARATORS = (",", ";")
LINE_CHARACTERS_MAX = 20_000
NAMED_CHARACTERS_MAX = 40
SEPARATOR_LINE = "sep="
"""Some spreadsheets begin with a line that says what separates the cells."""
OTHER_KINDS = {
    b"PK\x03\x04": "is a zip file or a workbook",
    b"\xd0\xcf\x11\xe0": "is an old workbook",
    b"\x1f\x8b": "is a gzip file",
    b"%PDF": "is a PDF",
    b"\xff\xfe": "is not UTF-8 but UTF-16",
    b"\xfe\xff": "is not UTF-8 but UTF-16",
}
"""By how they begin."""
SAVE_IT = "a spreadsheet saves that as `CSV UTF-8`"


class TicketTable:
    def __init__(self) -> None:
        self.faults: list[ImportFault] = []
        """Of the file as a whole. With any of these nothing more is read from it."""
        self.rows = 0
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._begun = False
        self._line = 0
        self._rest = ""
        self._separator: str | None = None
        self._width = 0
        self._places: list[int | None] = []
        """Of each of the columns, where it stands in a line."""

    @property
    def has_header(self) -> bool:
        return self._width > 0

    def feed(self, piece: bytes, *, is_last: bool = False) -> list[Record]:
        """The lines that are complete now."""
        records: list[Record] = []
        for line in self._lines(piece, is_last):
            self._line += 1
            if len(line) > LINE_CHARACTERS_MAX:
                self._fail("file", f"has a line of more than {LINE_CHARACTERS_MAX} characters")
            elif not self.has_header:
                self._read_header(line)
            elif (record := self._record(line)) is not None:
                records.append(record)
            if self.faults:
                return []
        if is_last and not self.has_header and not self.faults:
            self._fail("file", "is empty; its first line must name the columns")
        return records

    def _lines(self, piece: bytes, is_last: bool) -> Iterator[str]:
        """Ended by \\n, \\r\\n or \\r; the last one waits until it is known where it ends."""
        lines = list(StringIO(self._rest + self._decoded(piece, is_last), newline=""))
        self._rest = ""
        if lines and not is_last and not lines[-1].endswith("\n"):
            self._rest = lines.pop()
            if len(self._rest) > LINE_CHARACTERS_MAX:
                lines.append(self._rest)
        return iter(lines)

    def _decoded(self, piece: bytes, is_last: bool) -> str:
        if self.faults:
            return ""
        if piece and not self._begun:
            self._begun = True
            for beginning, kind in OTHER_KINDS.items():
                if piece.startswith(beginning):
                    return self._fail("file", f"{kind}; {SAVE_IT}")
        try:
            text = self._decoder.decode(piece, is_last)
        except UnicodeDecodeError as fault:
            before = fault.object[: fault.start].count(b"\n")
            return self._fail("file", f"is not UTF-8; {SAVE_IT}", self._line + before + 1)
        return self._fail("file", "is not a text") if "\0" in text else text

    def _read_header(self, line: str) -> None:
        if line.startswith(SEPARATOR_LINE):
            self._separator = line.removeprefix(SEPARATOR_LINE).strip("\r\n")
            return
        if not line.strip("\r\n\t ,;"):
            return
        self._separator = self._separator or max(SEPARATORS, key=line.count)
        if self._separator not in SEPARATORS:
            self._fail("header", "cells are separated by commas or semicolons")
            return
        names = [cell.strip().lower() for cell in self._cells(line) or []]
        self._check(names)
        self._width = len(names)
        self._places = [names.index(name) if name in names else None for name in COLUMNS]

    def _check(self, names: list[str]) -> None:
        known: tuple[str, ...] = COLUMNS
        for name in dict.fromkeys(names):
            shown = name[:NAMED_CHARACTERS_MAX]
            if name and name not in known:
                self._fail("header", f"`{shown}` is no column; columns are {', '.join(COLUMNS)}")
            elif name and names.count(name) > 1:
                self._fail("header", f"the column `{shown}` is there twice")
        if "type" not in names:
            self._fail("header", "the column `type` is missing")

    def _record(self, line: str) -> Record | None:
        """None for a line without anything."""
        cells = self._cells(line)
        if cells is not None and not any(cells):
            return None
        self.rows += 1
        if self.rows > ROWS_MAX:
            self._fail("file", f"has more than {ROWS_MAX} lines; split it")
        if cells is None:
            return ImportFault(self._line, "line", "has a quote that is not closed, or not opened")
        width = len(cells)
        if width > self._width and any(cells[self._width :]):
            return ImportFault(self._line, "line", f"has more than {self._width} cells")
        return TicketRow(
            self._line, *["" if at is None or at >= width else cells[at] for at in self._places]
        )

    def _cells(self, line: str) -> list[str] | None:
        assert self._separator is not None
        if '"' not in line:
            cells = line.split(self._separator)
        else:
            try:
                [cells] = csv.reader([line], delimiter=self._separator, strict=True)
            except csv.Error:
                return None
        if "'" in line:
            cells = [unguarded(cell) for cell in cells]
        return [cell.strip() for cell in cells]

    def _fail(self, field: Field, message: str, line: int | None = None) -> str:
        self.faults.append(ImportFault(line or max(1, self._line), field, message))
        return ""
