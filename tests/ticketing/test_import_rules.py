"""Files of tickets sold elsewhere, without a database: what a line says, and which ticket it is."""

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Any
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.seating.support import LINEAGE, a_layout
from tests.ticketing.support import DAYS, a_stored_type, an_event_on
from voelgoed.infra.tables import guarded, table, unguarded
from voelgoed.seating.model.event_layout import EventZone, Overrides
from voelgoed.seating.model.layout import LayoutConfig, Zone
from voelgoed.seating.model.seats import SeatStatus, ZoneDay
from voelgoed.seating.rules.overlay import event_zones
from voelgoed.seating.rules.plan import Plan, compile_plan
from voelgoed.seating.rules.rooms import Rooms
from voelgoed.ticketing.forms import ticket_table
from voelgoed.ticketing.forms.ticket_table import COLUMNS, LINE_CHARACTERS_MAX, TicketTable
from voelgoed.ticketing.model.imports import Identity, ImportFault, KnownTicket, TicketRow
from voelgoed.ticketing.rules.codes import code_from
from voelgoed.ticketing.rules.import_ledger import File, Known, Room, Sorted, sort_out
from voelgoed.ticketing.rules.imports import Draft, Names, draft_of

SEATED_ID, STANDING_ID, SATURDAY_ID = UUID(int=1), UUID(int=2), UUID(int=3)
STANDARD = a_stored_type(id=SEATED_ID, name="Standard")
STANDING = a_stored_type(id=STANDING_ID, number=2, name="Standing", kind="ga")
SATURDAY = a_stored_type(id=SATURDAY_ID, number=3, name="Saturday", kind="ga", valid_days=DAYS[:1])
PIT, LAWN, OTHER_LAWN, VIP = (UUID(int=200 + number) for number in range(4))
CODE = "AAAA-BBBB-CCCC"
MISSING = ("type", "is missing")


def a_plan() -> tuple[Plan, tuple[EventZone, ...]]:
    """Seats A1 to A5 in `Zone 1` and B1 to B5 in `Zone 2`; a pit, two lawns, an area for guests."""
    seats = a_layout(["....."], ["....."])
    named = {PIT: "Pit", LAWN: "Lawn", OTHER_LAWN: "Lawn", VIP: "Guests"}
    places = [
        Zone(zone_id=zone_id, zone_type="ga_standing", name=name, capacity=10)
        for zone_id, name in named.items()
    ]
    plan = compile_plan(LayoutConfig(zones=[*seats.zones, *places]), LINEAGE)
    return plan, event_zones(plan.zones, Overrides(disabled_zones=[VIP]))


PLAN, ZONES = a_plan()
TYPES = [STANDARD, STANDING, SATURDAY]


def names(types: Sequence[Any] = TYPES, zones: Sequence[EventZone] = ZONES) -> Names:
    return Names(an_event_on(*DAYS), types, zones, PLAN)


def drafted(line: int = 2, **cells: str) -> Draft:
    draft = draft_of(TicketRow(line, **cells), names())
    assert isinstance(draft, Draft), draft
    return draft


def faults(known: Names | None = None, **cells: str) -> list[tuple[str, str]]:
    found = draft_of(TicketRow(2, **cells), known or names())
    assert isinstance(found, list), found
    assert {fault.line for fault in found} == {2}
    return [(fault.field, fault.message) for fault in found]


def read(content: bytes, pieces: int = 1) -> tuple[list[Any], list[tuple[int, str, str]]]:
    """The records, and what is wrong with the file."""
    reader, size = TicketTable(), max(1, -(-len(content) // pieces))
    records: list[Any] = []
    for at in range(0, max(1, len(content)), size):
        records += reader.feed(content[at : at + size], is_last=at + size >= len(content))
    return records, [(fault.line, fault.field, fault.message) for fault in reader.faults]


# The table.


def test_columns_come_in_any_order_and_case_and_blanks_around_cells_do_not_matter() -> None:
    records, wrong = read(b" Seat ,TYPE,code\nA1 , Standard,\taaaa-bbbb-cccc\n")
    assert records == [TicketRow(2, seat="A1", type="Standard", code="aaaa-bbbb-cccc")]
    assert wrong == []


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("separator", [",", ";"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("last", [True, False])
def test_the_files_of_every_spreadsheet_are_read(
    end: str, separator: str, bom: bytes, last: bool
) -> None:
    lines = [["type", "name"], ["Standard", '"Zoë ""Z"" Ö, jr; x"'], ["", ""], ["Standing", "y"]]
    text = end.join(separator.join(line) for line in lines) + (end if last else "")
    records, wrong = read(bom + text.encode())
    assert records == [
        TicketRow(2, type="Standard", name='Zoë "Z" Ö, jr; x'),
        TicketRow(4, type="Standing", name="y"),
    ]
    assert wrong == []


def test_a_line_that_says_what_separates_cells_is_believed() -> None:
    records, _ = read(b"sep=;\r\ntype;name\r\nStandard;Botha, Anna\r\n")
    assert records == [TicketRow(3, type="Standard", name="Botha, Anna")]
    assert read(b"sep=|\ntype|name\n")[1] == [
        (2, "header", "cells are separated by commas or semicolons")
    ]


def test_short_lines_have_empty_cells_and_long_ones_are_a_fault() -> None:
    records, wrong = read(b"type,name,code\nStandard\nStandard,x,,,,\nStandard,x,,,y\n")
    assert records == [
        TicketRow(2, type="Standard"),
        TicketRow(3, type="Standard", name="x"),
        ImportFault(4, "line", "has more than 3 cells"),
    ]
    assert wrong == []


def test_a_quote_that_is_not_closed_spoils_its_line_and_no_other() -> None:
    records, wrong = read(b'type,name\nStandard,"x\nStandard,y\nStandard,"x"y\nStandard,z\n')
    message = "has a quote that is not closed, or not opened"
    assert records == [
        ImportFault(2, "line", message),
        TicketRow(3, type="Standard", name="y"),
        ImportFault(4, "line", message),
        TicketRow(5, type="Standard", name="z"),
    ]
    assert wrong == []


def test_unknown_columns_are_named_once_each_with_all_other_faults_of_the_header() -> None:
    records, wrong = read(b"typ,colour,colour,seat,seat\n" + b"Standard,red,,A1,\n" * 100)
    assert records == []
    assert [(line, field, message.split(";")[0]) for line, field, message in wrong] == [
        (1, "header", "`typ` is no column"),
        (1, "header", "`colour` is no column"),
        (1, "header", "the column `seat` is there twice"),
        (1, "header", "the column `type` is missing"),
    ]


def test_columns_without_a_name_are_left_alone() -> None:
    assert read(b"type,,\nStandard,x,y\n") == ([TicketRow(2, type="Standard")], [])


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (b"", 1, "is empty"),
        (b"\n\n  \n", 3, "is empty"),
        (b"\xef\xbb\xbf", 1, "is empty"),
        (b"PK\x03\x04" + bytes(100), 1, "is a zip file or a workbook"),
        (b"\xd0\xcf\x11\xe0" + bytes(100), 1, "is an old workbook"),
        (b"\x1f\x8b\x08", 1, "is a gzip file"),
        (b"%PDF-1.7", 1, "is a PDF"),
        ("type\nStandard".encode("utf-16"), 1, "is not UTF-8 but UTF-16"),
        ("type,name\nStandard,x\nStandard,Zoë\n".encode("latin-1"), 3, "is not UTF-8"),
        (b"type,name\nStandard,Zo\xc3", 2, "is not UTF-8"),
        (b"type\nStandard\0\n", 1, "is not a text"),
        (b"type\n" + b"x" * (LINE_CHARACTERS_MAX + 1), 2, "has a line of more than"),
    ],
)
@pytest.mark.parametrize("pieces", [1, 2])
def test_what_is_no_table_is_told_in_a_word(
    content: bytes, line: int, message: str, pieces: int
) -> None:
    records, [fault] = read(content, pieces)
    assert fault[1] == "file"
    assert fault[2].startswith(message)
    if pieces == 1:
        assert (records, fault[0]) == ([], line)


def test_only_a_header_is_a_table_without_lines() -> None:
    assert read(b"type,seat\r\n") == ([], [])


def test_more_lines_than_there_may_be_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ticket_table, "ROWS_MAX", 3)
    assert read(b"type\n" + b"x\n" * 3)[1] == []
    assert read(b"type\n" + b"x\n" * 4)[1] == [(5, "file", "has more than 3 lines; split it")]


cells = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff\u2028\u2029\x85"),
    max_size=20,
)


@given(
    st.lists(st.dictionaries(st.sampled_from(COLUMNS), cells), max_size=8),
    st.permutations(COLUMNS),
    st.sampled_from(",;"),
    st.sampled_from(["\n", "\r\n"]),
    st.integers(1, 40),
)
def test_what_a_table_writer_writes_is_read_back_however_it_is_cut(
    rows: list[dict[str, str]], order: list[str], separator: str, end: str, pieces: int
) -> None:
    text = StringIO(newline="")
    writer = csv.DictWriter(text, order, restval="", delimiter=separator, lineterminator=end)
    writer.writeheader()
    for row in rows:
        writer.writerow({name: guarded(cell) for name, cell in row.items()})
    records, wrong = read(text.getvalue().encode(), pieces)
    expected = [
        TicketRow(line, **{name: cell.strip() for name, cell in row.items()})
        for line, row in enumerate(rows, start=2)
        if any(cell.strip() for cell in row.values())
    ]
    assert (records, wrong) == (expected, [])


@given(st.binary(max_size=300), st.integers(1, 10))
def test_whatever_is_sent_is_read_or_refused(content: bytes, pieces: int) -> None:
    records, wrong = read(b"type,name\n" + content, pieces)
    assert all(record.line > 1 for record in records)
    whole = read(b"type,name\n" + content)
    assert bool(wrong) == bool(whole[1])
    if not wrong:
        assert records == whole[0]


@given(st.text(st.sampled_from("=+-@'\tab "), max_size=6))
def test_no_cell_is_a_formula_and_every_cell_comes_back(cell: str) -> None:
    [[written]] = csv.reader(StringIO(table([[cell]]), newline=""))
    assert not written.startswith(("=", "+", "-", "@", "\t"))
    if cell == cell.strip() and not cell.startswith("'"):
        assert unguarded(written) == cell


# A line.


def test_a_line_with_everything_becomes_a_ticket() -> None:
    draft = drafted(
        code=" aaaabbbbcccc",
        type="Standard",
        zone="Zone 2",
        seat="B3",
        name="Anna Botha",
        email="anna@people.example",
        days=f"{DAYS[2]}; {DAYS[0]}",
        reference="ORDER-7",
        price_minor="45000",
    )
    assert draft == Draft(
        line=2,
        code=CODE,
        ticket_type_id=SEATED_ID,
        ticket_type_number=1,
        zone_id=UUID(int=101),
        zone_number=2,
        position=7,
        seat_id=PLAN.ids[7],
        seat_label="B3",
        days=(DAYS[0], DAYS[2]),
        days_mask=0b101,
        name="Anna Botha",
        email="anna@people.example",
        reference="ORDER-7",
        price_minor=45_000,
    )


def test_a_ticket_for_places_needs_little() -> None:
    draft = drafted(code=CODE, type="Standing", zone="Pit")
    assert (draft.zone_id, draft.zone_number, draft.seat_id) == (PIT, 3, None)
    assert (draft.days, draft.days_mask) == (tuple(DAYS), 0)
    assert (draft.name, draft.email, draft.reference, draft.price_minor) == ("", None, None, 0)


def test_types_zones_and_seats_may_be_named_by_their_ids() -> None:
    seat = drafted(type=str(SEATED_ID).upper(), seat=str(PLAN.ids[0]), zone=str(UUID(int=100)))
    assert (seat.ticket_type_id, seat.position) == (SEATED_ID, 0)
    assert drafted(code=CODE, type="Standing", zone=str(OTHER_LAWN)).zone_id == OTHER_LAWN


def test_the_days_are_those_of_the_type_unless_the_line_says_less() -> None:
    saturday = drafted(code=CODE, type="Saturday", zone="Pit")
    assert (saturday.days, saturday.days_mask) == ((DAYS[0],), 1)
    twice = drafted(code=CODE, type="Standing", zone="Pit", days=f"{DAYS[1]} {DAYS[1]}")
    assert (twice.days, twice.days_mask) == ((DAYS[1],), 0b10)


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (
            {"code": "ABC"},
            [("code", "is no code of the form XXXX-XXXX-XXXX, of letters and digits")],
        ),
        ({"code": ""}, [("code", "needs a code, or a seat, or a reference")]),
        ({"type": ""}, [MISSING]),
        ({"type": "Balcony"}, [("type", "is no ticket type of this event")]),
        ({"zone": ""}, [("zone", "is needed by a ticket without a seat")]),
        ({"zone": "Balcony"}, [("zone", "is no zone of this event")]),
        ({"zone": "Lawn"}, [("zone", "is the name of several zones; give the id of one")]),
        ({"zone": "Guests"}, [("zone", "is closed at this event")]),
        ({"zone": "Zone 1"}, [("zone", "has numbered seats")]),
        ({"seat": "A1", "zone": ""}, [("seat", "tickets of this type have no seat")]),
        ({"type": "Standard"}, [("seat", "is needed by tickets of this type")]),
        ({"type": "Standard", "zone": ""}, [("seat", "is needed by tickets of this type")]),
        (
            {"type": "Standard", "zone": "", "seat": "Z9"},
            [("seat", "is no seat of this event")],
        ),
        (
            {"type": "Standard", "zone": "Zone 2", "seat": "A1"},
            [("zone", "is not the zone of this seat")],
        ),
        ({"email": "anna"}, [("email", "is no e-mail address")]),
        ({"email": "anna@x" + "y" * 300}, [("email", "is no e-mail address")]),
        ({"name": "x" * 201}, [("name", "has more than 200 characters")]),
        ({"reference": "x" * 101}, [("reference", "has more than 100 characters")]),
        ({"price_minor": "12.50"}, [("price_minor", "is no amount in minor units, such as 15000")]),
        ({"price_minor": "-1"}, [("price_minor", "is no amount in minor units, such as 15000")]),
        (
            {"price_minor": "9" * 12},
            [("price_minor", "is no amount in minor units, such as 15000")],
        ),
        ({"days": "saturday"}, [("days", f"`saturday` is no date such as {DAYS[0]}")]),
        ({"days": "2020-01-01"}, [("days", "2020-01-01 is no day of this event")]),
        (
            {"type": "Saturday", "days": f"{DAYS[0]} {DAYS[1]}"},
            [("days", f"{DAYS[1]} is no day of this ticket type")],
        ),
    ],
)
def test_a_wrong_cell_is_a_fault_with_its_column(
    wrong: dict[str, str], expected: list[tuple[str, str]]
) -> None:
    sound = {"code": CODE, "type": "Standing", "zone": "Pit"}
    assert faults(**sound | wrong) == expected


def test_all_faults_of_a_line_are_told_at_once() -> None:
    wrong = dict.fromkeys(COLUMNS, "?") | {"name": "x" * 201, "reference": "x" * 101}
    assert [field for field, _ in faults(**wrong)] == [
        *("code", "type", "seat", "zone", "name", "email", "reference", "price_minor"),
    ]


def test_a_type_that_is_sold_elsewhere_only_is_a_fault_of_the_type() -> None:
    only_pit = a_stored_type(id=STANDING_ID, name="Standing", kind="ga", zone_ids=[PIT])
    known = names([only_pit])
    wrong = faults(known, code=CODE, type="Standing", zone=str(LAWN))
    assert wrong == [("type", "is not sold in this zone")]


def test_a_type_without_a_day_at_this_event_is_a_fault() -> None:
    gone = a_stored_type(id=STANDING_ID, name="Standing", kind="ga", valid_days=[])
    wrong = faults(names([gone]), code=CODE, type="Standing", zone="Pit")
    assert wrong == [("days", "this ticket type is valid on no day of this event")]


def test_a_zone_that_has_lost_its_seats_to_the_event_sells_none() -> None:
    changed = msgspec.convert(
        {"zone_overrides": {str(UUID(int=100)): {"zone_type": "ga_standing"}}}, Overrides
    )
    known = names(zones=event_zones(PLAN.zones, changed))
    assert faults(known, type="Standard", seat="A1") == [
        ("zone", "has no numbered seats at this event")
    ]


def test_an_event_without_a_layout_has_tickets_without_places() -> None:
    bare = Names(an_event_on(*DAYS), TYPES)
    draft = draft_of(TicketRow(2, code=CODE, type="Standing"), bare)
    assert isinstance(draft, Draft)
    assert (draft.zone_id, draft.zone_number, draft.seat_id) == (None, 0, None)
    unknown = "is unknown: this event has no layout"
    assert faults(bare, code=CODE, type="Standing", zone="Pit") == [("zone", unknown)]
    assert faults(bare, code=CODE, type="Standard") == [("seat", unknown)]


@given(st.fixed_dictionaries(dict.fromkeys(COLUMNS, cells)))
def test_whatever_a_line_says_it_is_a_ticket_or_has_faults(row: dict[str, str]) -> None:
    found = draft_of(TicketRow(2, **row), names())
    assert isinstance(found, Draft) or found != []


# Which ticket a line is.


def known_as(draft: Draft, code: str = CODE, **changes: Any) -> KnownTicket:
    """The ticket that comes of a draft."""
    ticket = KnownTicket(
        code=draft.code or code,
        issue=1,
        order_id=None,
        ticket_type_id=draft.ticket_type_id,
        zone_id=draft.zone_id,
        seat_id=draft.seat_id,
        days=list(draft.days),
        holder_name=draft.name,
        holder_email=draft.email,
        external_reference=draft.reference,
        price_minor=draft.price_minor,
    )
    return msgspec.structs.replace(ticket, **changes)


class Book:
    """The tickets there are, as a database would have them."""

    def __init__(self) -> None:
        self.tickets: list[KnownTicket] = []
        self.identities: set[Identity] = set()

    def read(
        self, drafts: Sequence[Draft], file: File | None = None, *, dry_run: bool = False
    ) -> Sorted:
        file = file or a_file_of(drafts)
        identities = file.note(drafts)
        known = Known(
            by_code={ticket.code: ticket for ticket in self.tickets},
            by_seat={ticket.seat_id: ticket for ticket in self.tickets if ticket.seat_id},
            identities=self.identities & {each for each in identities if each},
            identities_of=Counter(each.reference for each in self.identities),
        )
        found = sort_out(drafts, identities, known, file)
        here = [each for each in identities if each and each in known.identities]
        file.imported.update(each.reference for each in here)
        if not dry_run:
            for draft, identity in found.new:
                self.tickets.append(known_as(draft, f"MADE-0000-{len(self.tickets):04d}"))
                if identity:
                    self.identities.add(identity)
                    file.imported[identity.reference] += 1
        return found

    def read_in(self, drafts: Sequence[Draft], at_once: int) -> list[Sorted]:
        """As a file that is worked through so many lines at a time."""
        file = a_file_of(drafts)
        return [self.read(drafts[at : at + at_once], file) for at in range(0, len(drafts), at_once)]


def a_file_of(drafts: Iterable[Draft]) -> File:
    first: dict[str, int] = {}
    for draft in drafts:
        if draft.code is not None:
            first.setdefault(draft.code, draft.line)
    return File(first)


def lines(*rows: dict[str, str]) -> list[Draft]:
    return [drafted(number, **row) for number, row in enumerate(rows, start=2)]


def verdicts(found: Iterable[Sorted]) -> tuple[int, int, list[tuple[int, str, str]]]:
    """New, unchanged, faults."""
    all_ = list(found)
    wrong = [(each.line, each.field, each.message) for one in all_ for each in one.faults]
    return sum(len(one.new) for one in all_), sum(one.unchanged for one in all_), wrong


def stands(**cells: str) -> dict[str, str]:
    return {"type": "Standing", "zone": "Pit", **cells}


def sits(seat: str, **cells: str) -> dict[str, str]:
    return {"type": "Standard", "seat": seat, **cells}


def test_a_code_that_exists_with_the_same_content_is_unchanged() -> None:
    book, drafts = Book(), lines(stands(code=CODE, name="Anna"), sits("A1", code="AAAA-AAAA-AAAA"))
    assert verdicts([book.read(drafts)]) == (2, 0, [])
    assert verdicts([book.read(drafts)]) == (0, 2, [])


@pytest.mark.parametrize(
    "other",
    [
        stands(code=CODE, name="Ben"),
        stands(code=CODE, name="Anna", email="a@b.example"),
        stands(code=CODE, name="Anna", price_minor="1"),
        stands(code=CODE, name="Anna", reference="7"),
        stands(code=CODE, name="Anna", days=str(DAYS[0])),
        stands(code=CODE, name="Anna") | {"zone": str(LAWN)},
        sits("A1", code=CODE, name="Anna"),
    ],
)
def test_a_code_that_exists_with_another_content_is_taken(other: dict[str, str]) -> None:
    book = Book()
    book.read(lines(stands(code=CODE, name="Anna")))
    assert verdicts([book.read(lines(other))]) == (
        0,
        0,
        [(2, "code", "code is taken by another ticket")],
    )


def test_a_code_that_was_sold_here_is_taken() -> None:
    book, [draft] = Book(), lines(stands(code=CODE))
    book.tickets.append(known_as(draft, order_id=UUID(int=9)))
    assert verdicts([book.read([draft])])[2] == [(2, "code", "code is taken by another ticket")]


def test_a_ticket_that_was_passed_on_since_is_still_that_ticket() -> None:
    book, [draft] = Book(), lines(stands(code=CODE, name="Anna", email="a@b.example"))
    book.tickets.append(known_as(draft, issue=2, holder_name="Ben", holder_email=None))
    assert verdicts([book.read([draft])]) == (0, 1, [])
    book.tickets[0] = known_as(draft, issue=2, price_minor=5)
    assert verdicts([book.read([draft])])[2] != []


@pytest.mark.parametrize("at_once", [1, 2, 10])
def test_the_same_code_twice_is_a_fault_of_the_second_line(at_once: int) -> None:
    drafts = lines(stands(code=CODE), stands(code=CODE), stands(code=CODE, name="Ben"))
    again = "code is on line 2 already"
    assert verdicts(Book().read_in(drafts, at_once)) == (
        1,
        0,
        [(3, "code", again), (4, "code", again)],
    )


@pytest.mark.parametrize("at_once", [1, 2, 10])
def test_the_same_seat_twice_is_a_fault_of_the_second_line(at_once: int) -> None:
    drafts = lines(sits("A1"), sits("A1"), sits("A1", code=CODE))
    again = "seat is on line 2 already"
    assert verdicts(Book().read_in(drafts, at_once)) == (
        1,
        0,
        [(3, "seat", again), (4, "seat", again)],
    )


def test_a_seat_without_a_code_is_known_by_its_ticket() -> None:
    book, drafts = Book(), lines(sits("A1", name="Anna"), sits("A2"))
    assert verdicts([book.read(drafts)]) == (2, 0, [])
    assert verdicts([book.read(drafts)]) == (0, 2, [])
    # Another name is another ticket; that its seat is sold is found out when it is wanted.
    assert verdicts([book.read(lines(sits("A1", name="Ben")))])[0] == 1


def test_a_seat_with_a_reference_is_known_also_when_its_ticket_is_void() -> None:
    book, drafts = Book(), lines(sits("A1", reference="7"), sits("A2"))
    book.read(drafts)
    book.tickets.clear()  # void: no seat's ticket any more
    assert verdicts([book.read(drafts)]) == (1, 1, [])


@pytest.mark.parametrize("at_once", [1, 2, 3, 10])
def test_an_order_of_several_alike_is_imported_once(at_once: int) -> None:
    book = Book()
    drafts = lines(
        stands(reference="7", name="Anna"),
        stands(reference="8", name="Ben"),
        stands(reference="7", name="Anna"),
        stands(reference="7", name="Carl"),
        stands(reference="7", name="Anna"),
    )
    assert verdicts(book.read_in(drafts, at_once)) == (5, 0, [])
    assert verdicts(book.read_in(drafts, at_once)) == (0, 5, [])
    assert verdicts(book.read_in(drafts[::-1], at_once)) == (0, 5, [])
    longer = [*drafts, drafted(7, **stands(reference="7", name="Anna"))]
    assert verdicts(book.read_in(longer, at_once)) == (1, 5, [])


def test_a_line_of_an_order_that_was_changed_is_no_second_ticket() -> None:
    book = Book()
    book.read(lines(stands(reference="7", name="Ana"), stands(reference="7", name="Ben")))
    found = book.read(lines(stands(reference="7", name="Anna"), stands(reference="7", name="Ben")))
    message = "reference is of another ticket, which is not among the lines so far"
    assert verdicts([found]) == (0, 1, [(2, "reference", message)])


def test_a_line_that_had_a_fault_is_imported_when_it_has_none() -> None:
    """It left no trace that could be taken for another ticket."""
    book = Book()
    first = lines(stands(reference="7", name="Anna"), stands(reference="7", name="Ben"))
    book.read(first[:1])
    assert verdicts([book.read(first)]) == (1, 1, [])


def test_a_line_with_a_code_is_known_by_nothing_else() -> None:
    """Whoever sends every day what was sold that day may give all of it the same reference."""
    book = Book()
    book.read(lines(stands(code="AAAA-AAAA-AAAA", reference="SHOP"), stands(reference="SHOP")))
    found = book.read(lines(stands(code="BBBB-BBBB-BBBB", reference="SHOP")))
    assert verdicts([found]) == (1, 0, [])


def test_what_is_read_once_more_is_counted_once() -> None:
    drafts = lines(sits("A1"), stands(reference="7"), stands(reference="7"))
    file = a_file_of(drafts)
    first = file.note(drafts)
    file.unsay(drafts, first)
    assert file.first_line_of_seat == {}
    assert file.note(drafts) == first


rows = st.lists(
    st.one_of(
        st.builds(
            lambda number, name: stands(code=code_from(number.to_bytes(8, "big")), name=name),
            st.integers(0, 6).map(lambda number: number << 40),
            st.sampled_from(["", "Anna"]),
        ),
        st.builds(
            lambda reference, name: stands(reference=reference, name=name),
            st.sampled_from("78"),
            st.sampled_from(["", "Anna", "Ben"]),
        ),
        st.builds(
            lambda seat, name, more: sits(seat, name=name, **more),
            st.sampled_from(["A1", "A2", "B1"]),
            st.sampled_from(["", "Anna"]),
            st.sampled_from([{}, {"reference": "7"}, {"reference": "9"}]),
        ),
    ),
    max_size=12,
)


@given(rows, st.integers(1, 12), st.integers(1, 12))
def test_a_file_imported_again_adds_nothing_however_it_is_cut(
    given: list[dict[str, str]], at_once: int, then_at_once: int
) -> None:
    book, drafts = Book(), lines(*given)
    new, _, wrong = verdicts(book.read_in(drafts, at_once))
    before = list(book.tickets)
    again, unchanged, wrong_again = verdicts(book.read_in(drafts, then_at_once))
    assert (again, unchanged) == (0, new)
    assert book.tickets == before
    assert wrong_again == wrong
    assert new + len(wrong) == len(drafts)


@given(rows, st.integers(0, 12), st.integers(1, 4))
def test_an_import_that_stopped_half_way_and_went_on_did_what_one_in_one_go_does(
    given: list[dict[str, str]], stopped: int, at_once: int
) -> None:
    drafts = lines(*given)
    straight, interrupted = Book(), Book()
    straight.read_in(drafts, at_once)
    begun, file = drafts[:stopped], a_file_of(drafts)
    interrupted.read(begun, file)
    # Another process, which has only the file and the database.
    file = a_file_of(drafts)
    identities = file.note(begun)
    file.imported.update(each.reference for each in identities if each in interrupted.identities)
    interrupted.read(drafts[stopped:], file)
    assert Counter(ticket.content for ticket in interrupted.tickets) == Counter(
        ticket.content for ticket in straight.tickets
    )


@given(rows, st.integers(1, 12))
def test_a_dry_run_says_what_would_be_done(given: list[dict[str, str]], at_once: int) -> None:
    drafts, book = lines(*given), Book()
    file = a_file_of(drafts)
    said = [
        book.read(drafts[at : at + at_once], file, dry_run=True)
        for at in range(0, len(drafts), at_once)
    ]
    assert book.tickets == []
    assert verdicts(said) == verdicts(book.read_in(drafts, at_once))


# Room.


def a_room(
    seats: dict[int, SeatStatus] | None = None, places: int = 10, left: int | None = None
) -> Room:
    days = [
        ZoneDay(zone_id=PIT, day=day, capacity=places + number, held=0, sold=0)
        for number, day in enumerate(DAYS)
    ]
    types = {SEATED_ID: left, STANDING_ID: left, SATURDAY_ID: left}
    return Room(seats or {0: "available"}, Rooms(days), types)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        ("sold", "seat is sold"),
        ("held", "seat is held by somebody right now"),
        ("blocked", "seat is blocked"),
    ],
)
def test_a_seat_that_is_not_free_is_a_fault(status: SeatStatus, message: str) -> None:
    [draft] = lines(sits("A1"))
    assert a_room({0: status}).refuse(draft) == ImportFault(2, "seat", message)
    assert a_room().refuse(draft) is None


def test_a_zone_is_full_on_the_first_day_that_is() -> None:
    passes, [friday] = lines(*[stands(code=CODE)] * 3), lines(stands(code=CODE, days=str(DAYS[1])))
    room = a_room(places=2)
    assert [room.refuse(draft) for draft in passes] == [
        None,
        None,
        ImportFault(4, "zone", "zone is full"),
    ]
    assert room.refuse(friday) is None
    assert room.refuse(friday) == ImportFault(2, "zone", "zone is full")


def test_a_ticket_type_is_sold_out_when_its_quota_is_taken() -> None:
    seat, place, more = lines(sits("A1"), stands(code=CODE), stands(code=CODE))
    room = a_room(left=1)
    assert room.refuse(seat) is None
    assert room.refuse(place) is None
    assert room.refuse(more) == ImportFault(4, "type", "ticket type is sold out")


def test_who_gets_no_seat_takes_nothing_of_the_quota() -> None:
    sold, free = lines(sits("A1"), sits("A2"))
    room = a_room({0: "sold", 1: "available"}, left=1)
    assert room.refuse(sold) is not None
    assert room.refuse(free) is None


def test_a_ticket_without_a_zone_needs_no_room() -> None:
    bare = Names(an_event_on(*DAYS), TYPES)
    draft = draft_of(TicketRow(2, code=CODE, type="Standing"), bare)
    assert isinstance(draft, Draft)
    assert a_room(places=0).refuse(draft) is None
