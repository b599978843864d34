"""The lines and cells of a layout's table, as spreadsheets leave them behind."""

import csv
import math
import re
from collections import Counter
from collections.abc import Iterator
from io import StringIO

import msgspec

from voelgoed.seating.forms.draft import Draft
from voelgoed.seating.model.layout import GROUPS_MAX, SEATS_MAX, ZONES_MAX

SEPARATORS = (",", ";", "\t")
HEADER_CHARACTERS_MAX = 10_000
HEADER_CELLS_MAX = 16_384
"""A spreadsheet has no more columns, and may write all of them."""
LINES_MAX = 1 + ZONES_MAX + SEATS_MAX + GROUPS_MAX
"""That are filled in, without the header."""

COLUMNS: tuple[str, ...] = (
    "kind",
    "zone",
    "row",
    "number",
    "category",
    "x",
    "y",
    "seat_id",
    "companion_seat_id",
    "type",
    "name",
    "capacity",
    "access_mode",
    "membership_tier",
    "allowed_roles",
    "whitelist_id",
    "zone_id",
    "seats",
    "metadata",
)
ACCESS = ("access_mode", "membership_tier", "allowed_roles", "whitelist_id")
USED = {
    "layout": {"x", "y", "capacity"},
    "zone": {"zone", "type", "name", "capacity", *ACCESS, "zone_id", "metadata"},
    "seat": {"zone", "row", "number", "category", "x", "y", "seat_id", "companion_seat_id"},
    "group": {"type", "name", "seats", "metadata"},
}
"""Which columns a line of each kind fills in."""
AS_IT_IS = {"kind", "number", "x", "y", "capacity", "zone_id", "whitelist_id", "metadata"}
WITH_BLANKS = {"zone", "row", "name"}
"""Where blanks at the ends are part of it."""
NO_ROLES = "-"
"""An empty list of roles, which is not the same as no list at all."""

# Spreadsheets take =1 for a formula, 1-1 and mar-1 for dates, 007 for 7, true for TRUE.
_WOULD_CHANGE = re.compile(
    r"['=+\-@\s]|(?!([1-9]\d{0,9}|0)$)[\d.,]|(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
    r"|(true|false)$",
    re.IGNORECASE,
)


def guarded(column: str, cell: str) -> str:
    """So that a spreadsheet leaves it alone; reading takes the apostrophe away again."""
    return "'" + cell if column not in AS_IT_IS and _WOULD_CHANGE.match(cell) else cell


class Line(msgspec.Struct, frozen=True):
    number: int
    """Where it begins; a cell can go over several."""
    kind: str
    cells: dict[str, str]
    decimal_comma: bool

    def text(self, column: str) -> str:
        cell = self.cells.get(column, "")
        return (cell if column in WITH_BLANKS else cell.strip()).removeprefix("'")

    def given(self, *columns: str) -> dict[str, object]:
        """Those that are filled in, for fields of the same names."""
        return {name: self.text(name) for name in columns if self.text(name)}

    def numbers(self, *columns: str) -> dict[str, object]:
        """What is no number stays as it is, to be named with all the other faults."""
        return {name: self._number(self.text(name)) for name in columns if self.text(name)}

    def _number(self, cell: str) -> float | str:
        try:
            number = float(cell.replace(",", ".") if self.decimal_comma else cell)
        except ValueError:
            return cell
        if not math.isfinite(number):
            return cell
        return int(number) if number.is_integer() else number


def read_lines(text: str, draft: Draft) -> Iterator[Line]:
    separator = _separator(text)
    reader = csv.reader(StringIO(text, newline=""), delimiter=separator)
    header: list[str] | None = None
    end = lines = 0
    try:
        for record in reader:
            begin, end = end + 1, reader.line_num
            if not any(cell.strip() for cell in record) or record[0].startswith("sep="):
                continue
            if header is None and len(record) > HEADER_CELLS_MAX:
                draft.fault(begin, f"the table has more than {HEADER_CELLS_MAX} columns")
                return
            if header is None:
                header = _header(record, begin, draft)
            elif lines == LINES_MAX:
                draft.fault(begin, f"a table has at most {LINES_MAX} lines: the rest is not read")
                return
            else:
                lines += 1
                cells = _cells(header, record, begin, draft)
                kind = cells.pop("kind", "").strip().lower()
                yield Line(begin, kind, cells, separator != ",")
    except csv.Error as error:
        draft.fault(end + 1, f"this is no table: {error}")


def _separator(text: str) -> str:
    """A spreadsheet separates by ; where the decimal point is a comma."""
    first = next(
        (
            line
            for line in re.split(r"[\r\n]+", text[:HEADER_CHARACTERS_MAX])
            if "kind" in line.lower()
        ),
        "",
    )
    return max(SEPARATORS, key=first.count)


def _header(record: list[str], number: int, draft: Draft) -> list[str]:
    header = [cell.strip().lower() for cell in record]
    for name, times in Counter(header).items():
        if name and name not in COLUMNS:
            draft.fault(number, f"`{name[:40]}` is no column; columns are {', '.join(COLUMNS)}")
        if name and times > 1:
            draft.fault(number, f"the column {name[:40]} is there twice")
    if "kind" not in header:
        draft.fault(number, "the first line must name the columns, and one of them is `kind`")
    return header


def _cells(header: list[str], record: list[str], number: int, draft: Draft) -> dict[str, str]:
    if any(cell.strip() for cell in record[len(header) :]):
        draft.fault(number, f"the line has more than {len(header)} cells")
    return {name: cell for name, cell in zip(header, record, strict=False) if name and cell.strip()}
