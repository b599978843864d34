"""Layouts as tables: nothing is lost, whatever spreadsheets do to them, and faults have lines."""

from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voelgoed.accounts.model import Role
from voelgoed.seating.forms.csv_cells import HEADER_CELLS_MAX, LINES_MAX
from voelgoed.seating.forms.csv_form import draft_of_csv, read_csv, write_csv
from voelgoed.seating.forms.text_form import read_text
from voelgoed.seating.model.layout import (
    SEATED,
    GroupType,
    LayoutConfig,
    Point,
    Seat,
    SeatGroup,
    TextFault,
    Zone,
    ZoneType,
)
from voelgoed.seating.rules.validation import check_config
from voelgoed.seating.samples import SAMPLES, sample

SMALL = """
focus 0,-3.5
zone hall reserved_seating "Great, Hall" prefix H
row A w1 c2 | 3-4
zone pit ga_standing Pit capacity 30
group family_block Family H-A-3..4
"""
HEADER = "kind,zone,row,number,category,x,y,seat_id,type,capacity\n"


def small() -> LayoutConfig:
    config, faults = read_text(SMALL)
    assert config is not None, faults
    return config


def faults_of(text: str) -> list[TextFault]:
    config, faults = read_csv(text)
    assert config is None
    return [TextFault(fault.line, fault.message) for fault in faults]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_survives(name: str) -> None:
    config = sample(name)
    assert read_csv(write_csv(config)) == (config, [])


# What a person does with it.


def test_a_table_written_by_hand_needs_few_cells() -> None:
    text = (
        HEADER
        + "zone,Hall,,,,,,,reserved_seating,\nseat,Hall,A,1,,0,0,A-1,,\nseat,Hall,A,2,,1,0,A-2,,\n"
    )
    config, faults = read_csv(text)
    assert config is not None, faults
    [hall] = config.zones
    assert (hall.name, hall.capacity, hall.seats[1].coordinates) == ("Hall", 2, Point(1, 0))


def test_adding_a_seat_is_adding_a_line() -> None:
    config = msgspec.structs.replace(small(), total_capacity=None)
    lines = write_csv(config).splitlines()
    [at] = [index for index, line in enumerate(lines) if ",H-A-4,," in line]
    lines.insert(
        at + 1, lines[at].replace("H-A-4", "H-A-5").replace(",4,", ",5,").replace(",2,", ",3,")
    )
    changed, faults = read_csv("\n".join(lines))
    assert changed is not None, faults
    assert changed.zones[0].capacity == 5


def test_lines_may_be_sorted() -> None:
    config = small()
    header, *lines = write_csv(config).splitlines()
    zones = [line for line in lines if line.startswith("zone")]
    rest = [line for line in lines if not line.startswith("zone")]
    assert read_csv("\n".join([header, *rest, *zones])) == (config, [])


# What a spreadsheet does with it.


def as_excel_in_afrikaans(text: str) -> str:
    """Semicolons, decimal commas, another line end, blank lines and padding, and a BOM."""
    lines = [line.replace(",", ";").replace(".", ",") for line in text.splitlines()]
    return "\ufeff" + "\r\n".join([lines[0] + ";;", *lines[1:], "", ";" * 21, ""])


def test_semicolons_decimal_commas_and_blank_lines_do_not_matter() -> None:
    config = msgspec.structs.replace(small(), seat_groups=[])
    plain = msgspec.structs.replace(config.zones[0], name="Hall")
    config = msgspec.structs.replace(config, zones=[plain, config.zones[1]])
    assert read_csv(as_excel_in_afrikaans(write_csv(config))) == (config, [])


def test_tabs_a_line_about_the_separator_and_whole_numbers_with_a_point_do_not_matter() -> None:
    text = HEADER + "zone,Hall,,,,,,,reserved_seating,1.0\nseat,Hall,A,7.0,,0,0,A-7,,"
    config, faults = read_csv(
        "sep=\t\n" + text.replace(",", "\t").upper().replace("RESERVED_SEATING", "reserved_seating")
    )
    assert config is not None, faults
    assert config.zones[0].seats[0].number == 7


@pytest.mark.parametrize(
    "text", ["1-1", "=SUM(A1)", "+1", "-", "@x", "007", "1e5", "MAR-1", "true", "'tis", " A", "1.5"]
)
def test_what_a_spreadsheet_would_change_is_marked_as_text(text: str) -> None:
    seat = Seat(seat_id=text.strip(), row=text, number=1, coordinates=Point(0, 0))
    zone = msgspec.structs.replace(small().zones[0], name=text, seats=[seat], capacity=1)
    config = LayoutConfig(zones=[zone])
    written = write_csv(config)
    assert f",'{text}," in written
    assert read_csv(written) == (config, [])


def test_names_that_are_not_ascii_begin_with_a_mark_for_excel() -> None:
    zone = msgspec.structs.replace(small().zones[0], name="Saal één")
    config = LayoutConfig(zones=[zone])
    assert write_csv(config).startswith("\ufeff")
    assert read_csv(write_csv(config)) == (config, [])
    assert not write_csv(small()).startswith("\ufeff")


# What is said of bad lines.


def test_every_bad_line_is_named_at_once() -> None:
    text = HEADER + (
        "zone,Hall,,,,,,,reserved_seating,\n"
        "seat,Hall,A,one,,0,0,A-1,,\n"
        "\n"
        "seat,Hall,A,2,sofa,1,,A-2,,\n"
        "seat,Stage,A,3,,2,0,A-3,,\n"
        "seat,Hall,A,4,,3,0,A 4,,\n"
        "chair,Hall,A,5,,3,0,A-5,,\n"
        "seat,Hall,A,6,,5,0,A-6,,9\n"
        "seat,Hall,A,7,,6,0,A-7,,,extra\n"
    )
    assert faults_of(text) == [
        TextFault(3, "seat A-1, number: must be a whole number from 0 to 1000000"),
        TextFault(5, "seat A-2, category: must be one of standard, wheelchair, companion, restricted_view, aisle"),
        TextFault(5, "seat A-2, coordinates.y: is missing"),
        TextFault(6, "there is no line for a zone `Stage`"),
        TextFault(7, "seat A 4, seat_id: must be text of 1 to 63 characters without blanks"),
        TextFault(8, "kind is one of layout, zone, seat, group, and not `chair`"),
        TextFault(9, "a seat has no capacity; leave the cell empty"),
        TextFault(10, "the line has more than 10 cells"),
    ]  # fmt: skip


def test_faults_between_lines_name_both() -> None:
    text = HEADER + "zone,Hall,,,,,,,reserved_seating,\n" + "seat,Hall,A,1,,0,0,A-1,,\n" * 2
    messages = [(fault.line, fault.message) for fault in faults_of(text)]
    assert (4, "seat A-1, seat_id: is already the seat_id of seat A-1 (line 3)") in messages


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "zones: must have 1 or more entries"),
        ("a,b\n", "the first line must name the columns, and one of them is `kind`"),
        ("kind,colour\n", "`colour` is no column; columns are kind, zone, row"),
        ("kind,zone,zone\n", "the column zone is there twice"),
        ("kind,zone,metadata\nzone,Hall,{\n", 'metadata is JSON, such as {"whole": true}'),
        ("kind,zone\nzone,Hall\nzone,Hall\n", "there is a zone `Hall` already"),
        ("kind,capacity\nlayout,5\nlayout,5\n", "the total capacity is given twice"),
        ("kind\n" + "x" * 140_000, "this is no table: field larger than field limit (131072)"),
    ],
)
def test_a_bad_table_says_what_is_wrong(text: str, reason: str) -> None:
    assert [fault for fault in faults_of(text) if fault.message.startswith(reason)]


CELLS = st.sampled_from(
    ["kind", "zone", "seat", "group", "layout", "Hall", "A", "1", "1,5", "x", '"', "'", "nan", "{}"]
)


@given(
    st.text()
    | st.lists(st.lists(CELLS | st.text(max_size=3), max_size=9), max_size=6).map(
        lambda lines: HEADER + "\n".join(",".join(line) for line in lines)
    )
)
def test_any_text_is_a_sound_layout_or_has_faults(text: str) -> None:
    config, faults = read_csv(text)
    assert (config is None) == bool(faults)


# Nothing is lost.

NAMES = st.text(min_size=1, max_size=20).filter(lambda name: name.strip() and "\x00" not in name)
ROWS = st.text(st.characters(min_codepoint=32, exclude_categories=["Cs"]), min_size=1, max_size=8)
ID_CHARACTERS = st.characters(
    min_codepoint=33, exclude_categories=["Z", "C"], exclude_characters="/?#%"
)
IDS = st.text(ID_CHARACTERS, min_size=1, max_size=9)
METADATA = st.dictionaries(
    st.sampled_from(["x", "note", "é"]),
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(st.characters(min_codepoint=1)),
    max_size=2,
)
ACCESS: list[dict[str, Any]] = [
    {},
    {"allowed_roles": []},
    {"access_mode": "membership_tier", "membership_tier": "2024-01"},
    {"access_mode": "whitelist", "whitelist_id": "6f1c1c0e-3b7a-4c59-9a53-0f3c7a1f7d10"},
]


@st.composite
def configs(draw: st.DrawFn) -> LayoutConfig:
    seat_ids = draw(st.lists(IDS, min_size=1, max_size=8, unique=True))
    places = draw(
        st.lists(
            st.tuples(st.integers(-9, 9), st.integers(-9, 9)),
            min_size=len(seat_ids),
            max_size=len(seat_ids),
            unique=True,
        )
    )
    shift = draw(st.floats(-1e5, 1e5))
    seats = [
        Seat(
            seat_id=seat_id,
            row=draw(ROWS),
            number=number,
            category=draw(st.sampled_from(["standard", "restricted_view", "aisle"])),
            coordinates=Point(x + shift, y / 3),
        )
        for number, (seat_id, (x, y)) in enumerate(zip(seat_ids, places, strict=True))
    ]
    cut = draw(st.integers(1, len(seats)))
    split = [part for part in (seats[:cut], seats[cut:]) if part]
    zones = [draw(zones_of(part)) for part in [*split, [], []]]
    draw(st.randoms(use_true_random=False)).shuffle(zones)
    group = SeatGroup(
        group_type=draw(st.sampled_from(get_args(GroupType)[1:3])),
        seat_ids=[seat.seat_id for seat in split[0]],
        name=draw(st.none() | NAMES),
    )
    total = draw(st.sampled_from([None, sum(zone.capacity for zone in zones)]))
    focus = draw(st.none() | st.builds(Point, st.floats(-9, 9), st.floats(-9, 9)))
    groups = draw(st.sampled_from([[], [group]]))
    return LayoutConfig(zones=zones, seat_groups=groups, total_capacity=total, focal_point=focus)


def zones_of(seats: list[Seat]) -> st.SearchStrategy[Zone]:
    types = [each for each in get_args(ZoneType) if (each in SEATED) == bool(seats)]
    roles = st.lists(st.sampled_from(get_args(Role)), min_size=1, unique=True)
    by_role = roles.map(lambda each: {"access_mode": "role_based", "allowed_roles": each})
    return st.builds(
        lambda access, **fields: msgspec.convert(
            msgspec.to_builtins(fields) | access | {"seats": msgspec.to_builtins(seats)}, Zone
        ),
        access=st.sampled_from(ACCESS) | by_role,
        zone_id=st.uuids(),
        zone_type=st.sampled_from(types),
        name=NAMES | st.just("The same"),
        capacity=st.just(len(seats)) if seats else st.integers(1, 400_000),
        metadata=METADATA,
    )


@given(configs())
def test_a_layout_survives_being_a_table(config: LayoutConfig) -> None:
    assert check_config(msgspec.to_builtins(config)) == (config, [])
    assert read_csv(write_csv(config)) == (config, [])


def test_a_header_is_no_wider_than_a_spreadsheet() -> None:
    _, faults = read_csv("kind" + ",a" * HEADER_CELLS_MAX + "\nzone")
    assert faults == [TextFault(1, f"the table has more than {HEADER_CELLS_MAX} columns")]


def test_of_a_table_without_end_no_more_is_read_than_a_layout_can_have() -> None:
    draft = draft_of_csv("kind\n" + "x\n" * (LINES_MAX + 1_000))
    assert len(draft.faults) == LINES_MAX + 1
    assert max(draft.faults) == TextFault(
        LINES_MAX + 2, f"a table has at most {LINES_MAX} lines: the rest is not read"
    )
