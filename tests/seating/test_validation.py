"""A layout is sound, or every fault is named at once, each with its path."""

import copy
from collections.abc import Callable
from typing import Any
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voelgoed.seating.model.layout import (
    CAPACITY_MAX,
    GROUP_SEATS_MAX,
    METADATA_BYTES_MAX,
    SEATS_MAX,
    ZONES_MAX,
    LayoutConfig,
)
from voelgoed.seating.rules.validation import check_config
from voelgoed.seating.rules.validation_shapes import FAULTS_MAX, METADATA_LEVELS_MAX

Json = dict[str, Any]

ZONE = "$.zones[0]"
SEAT = "$.zones[0].seats[0]"
GROUP = "$.seat_groups[0]"
SOMEBODY = str(UUID(int=7))


def a_seat(label: str, **changes: Any) -> Json:
    """`A-1` is seat 1 of row A, and has a place of its own in the plane."""
    row, number = label.split("-")
    place = {"x": int(number), "y": sum(map(ord, row))}
    return {"seat_id": label, "row": row, "number": int(number), "coordinates": place} | changes


def a_zone(*seats: Json, number: int = 0, **changes: Any) -> Json:
    zone = {"zone_id": str(UUID(int=number)), "zone_type": "reserved_seating", "name": "Stalls"}
    return zone | {"capacity": len(seats), "seats": list(seats)} | changes


def standing(number: int = 0, **changes: Any) -> Json:
    """A zone without seats."""
    return a_zone(number=number, zone_type="ga_standing", capacity=500) | changes


def a_group(group_type: str, *seat_ids: str, **metadata: Any) -> Json:
    return {"group_type": group_type, "seat_ids": list(seat_ids), "metadata": metadata}


def a_layout(*zones: Json, **changes: Any) -> Json:
    return {"zones": list(zones)} | changes


def one_seat(**changes: Any) -> Json:
    return a_layout(a_zone(a_seat("A-1", **changes)))


def seats(*given: Json, groups: tuple[Json, ...] = ()) -> Json:
    return a_layout(a_zone(*given), seat_groups=list(groups))


def two_zones(first: Json, second: Json, *groups: Json) -> Json:
    return a_layout(a_zone(first), a_zone(second, number=1), seat_groups=list(groups))


def row_of(count: int) -> list[Json]:
    return [a_seat(f"A-{number}") for number in range(1, count + 1)]


def wheelchair(seat_id: str, companion: str | None = None) -> Json:
    return a_seat(seat_id, category="wheelchair", companion_seat_id=companion)


def companion(seat_id: str, of: str | None = None) -> Json:
    return a_seat(seat_id, category="companion", companion_seat_id=of)


def nested(levels: int) -> Json:
    metadata: Json = {}
    for _ in range(levels - 1):
        metadata = {"deeper": metadata}
    return metadata


def paths(config: object) -> list[str]:
    found, faults = check_config(config)
    assert (found is None) == bool(faults)
    return [fault.path for fault in faults]


def messages(config: object) -> str:
    return "\n".join(fault.message for fault in check_config(config)[1])


A_GOOD_LAYOUT = a_layout(
    a_zone(
        *row_of(4),
        wheelchair("B-1", "B-2"),
        companion("B-2", "B-1"),
        companion("B-3", "B-1"),
        wheelchair("B-4"),
        companion("B-5"),
        a_seat("C-1", category="aisle"),
    ),
    a_zone(a_seat("T-1"), a_seat("T-2"), number=1, zone_type="vip_reserved"),
    standing(2, access_mode="membership_tier", membership_tier="gold", whitelist_id=SOMEBODY),
    standing(3, access_mode="role_based", allowed_roles=["admin"], metadata=nested(20)),
    standing(4, access_mode="whitelist", whitelist_id=SOMEBODY, allowed_roles=[]),
    seat_groups=[
        a_group("wheelchair_pair", "B-1", "B-2", "B-3"),
        a_group("family_block", "A-1", "A-2", min_party=3),
        a_group("reserved_block", "A-2", "A-3"),
        a_group("vip_table", "T-1", "T-2", whole=True),
    ],
    focal_point={"x": 0, "y": -10.5},
    total_capacity=10 + 2 + 3 * 500,
)


def test_a_good_layout_is_returned_without_faults() -> None:
    config, faults = check_config(A_GOOD_LAYOUT)
    assert faults == []
    assert isinstance(config, LayoutConfig)
    assert [len(zone.seats) for zone in config.zones] == [10, 2, 0, 0, 0]


SHAPES: list[tuple[object, str]] = [
    (None, "$"),
    (float("nan"), "$"),
    ([{}], "$"),
    ({}, "$.zones"),
    (a_layout(), "$.zones"),
    ({"zones": {}}, "$.zones"),
    ({"zones": [5]}, ZONE),
    (a_layout(standing(), colour="red"), "$.colour"),
    (a_layout(standing(colour="red")), "$.zones[0].colour"),
    (a_layout(standing(zone_id="A")), "$.zones[0].zone_id"),
    (a_layout(standing(zone_type="balcony")), "$.zones[0].zone_type"),
    (a_layout(standing(name="  ")), "$.zones[0].name"),
    (a_layout(standing(capacity=0)), "$.zones[0].capacity"),
    (a_layout(standing(capacity=-3)), "$.zones[0].capacity"),
    (a_layout(standing(capacity=CAPACITY_MAX + 1)), "$.zones[0].capacity"),
    (a_layout(standing(access_mode="bribe")), "$.zones[0].access_mode"),
    (a_layout(standing(seats={})), "$.zones[0].seats"),
    (a_layout(standing(metadata=[])), "$.zones[0].metadata"),
    (a_layout(*(standing(n) for n in range(ZONES_MAX + 1))), "$.zones"),
    (a_layout(standing(), focal_point={"x": 1}), "$.focal_point.y"),
    (a_layout(standing(), total_capacity="500"), "$.total_capacity"),
    (one_seat(seat_id="A 1"), f"{SEAT}.seat_id"),
    (one_seat(seat_id=""), f"{SEAT}.seat_id"),
    (one_seat(row="A\nB"), f"{SEAT}.row"),
    (one_seat(number="1"), f"{SEAT}.number"),
    (one_seat(number=1.5), f"{SEAT}.number"),
    (one_seat(number=True), f"{SEAT}.number"),
    (one_seat(category="throne"), f"{SEAT}.category"),
    (one_seat(coordinates=[1, 2]), f"{SEAT}.coordinates"),
    (one_seat(coordinates={"x": float("nan"), "y": 0}), f"{SEAT}.coordinates.x"),
    (one_seat(coordinates={"x": 0, "y": float("inf")}), f"{SEAT}.coordinates.y"),
    (one_seat(coordinates={"x": 0, "y": 10**400}), f"{SEAT}.coordinates.y"),
    (one_seat(coordinates={"x": 0, "y": 0, "z": 0}), f"{SEAT}.coordinates.z"),
    (one_seat(companion_seat_id=5), f"{SEAT}.companion_seat_id"),
    (seats(a_seat("A-1"), groups=(a_group("choir", "A-1"),)), f"{GROUP}.group_type"),
    (seats(a_seat("A-1"), groups=(a_group("wheelchair_pair"),)), f"{GROUP}.seat_ids"),
]

ROLES: Json = {"access_mode": "role_based"}
MEANINGS: list[tuple[Json, str]] = [
    # zones
    (a_layout(standing(), standing()), "$.zones[1].zone_id"),
    (a_layout(a_zone(capacity=5)), f"{ZONE}.seats"),
    (a_layout(a_zone(zone_type="vip_reserved", capacity=5)), f"{ZONE}.seats"),
    (a_layout(standing(seats=row_of(1))), f"{ZONE}.seats"),
    (a_layout(standing(zone_type="ga_seated", seats=row_of(1))), f"{ZONE}.seats"),
    (a_layout(a_zone(*row_of(3), capacity=4)), f"{ZONE}.capacity"),
    (a_layout(standing(), total_capacity=499), "$.total_capacity"),
    # access
    (a_layout(standing(access_mode="membership_tier")), f"{ZONE}.membership_tier"),
    (a_layout(standing(**ROLES)), f"{ZONE}.allowed_roles"),
    (a_layout(standing(**ROLES, allowed_roles=[])), f"{ZONE}.allowed_roles"),
    (a_layout(standing(**ROLES, allowed_roles=["admin", "king"])), f"{ZONE}.allowed_roles[1]"),
    (a_layout(standing(access_mode="whitelist")), f"{ZONE}.whitelist_id"),
    (a_layout(standing(membership_tier="gold")), f"{ZONE}.membership_tier"),
    (a_layout(standing(allowed_roles=["admin"])), f"{ZONE}.allowed_roles"),
    (a_layout(standing(whitelist_id=SOMEBODY)), f"{ZONE}.whitelist_id"),
    (
        a_layout(standing(**ROLES, allowed_roles=["admin"], membership_tier="gold")),
        f"{ZONE}.membership_tier",
    ),
    # seats
    (seats(*row_of(2), a_seat("B-1", seat_id="A-2")), "$.zones[0].seats[2].seat_id"),
    (two_zones(a_seat("A-1"), a_seat("B-1", seat_id="A-1")), "$.zones[1].seats[0].seat_id"),
    (seats(a_seat("A-1"), a_seat("B-1", row="A")), "$.zones[0].seats[1].number"),
    (
        seats(a_seat("A-1"), a_seat("B-1", coordinates={"x": 1.0004, "y": 65})),
        "$.zones[0].seats[1].coordinates",
    ),
    (
        two_zones(a_seat("A-1"), a_seat("B-1", coordinates={"x": 0.95, "y": 65.05})),
        "$.zones[1].seats[0].coordinates",
    ),
    # companions
    (seats(wheelchair("A-1", "Z-9")), f"{SEAT}.companion_seat_id"),
    (seats(wheelchair("A-1", "A-1")), f"{SEAT}.companion_seat_id"),
    (two_zones(wheelchair("A-1", "B-1"), companion("B-1")), f"{SEAT}.companion_seat_id"),
    (seats(wheelchair("A-1", "A-2"), a_seat("A-2")), f"{SEAT}.companion_seat_id"),
    (seats(wheelchair("A-1", "A-2"), wheelchair("A-2")), f"{SEAT}.companion_seat_id"),
    (seats(companion("A-1", "A-2"), companion("A-2")), f"{SEAT}.companion_seat_id"),
    (
        seats(a_seat("A-1", companion_seat_id="A-2"), companion("A-2")),
        f"{SEAT}.companion_seat_id",
    ),
    (
        seats(companion("A-1"), wheelchair("A-2", "A-1"), wheelchair("A-3", "A-1")),
        "$.zones[0].seats[2].companion_seat_id",
    ),
    (
        seats(wheelchair("A-1", "A-2"), companion("A-2", "A-3"), wheelchair("A-3")),
        f"{SEAT}.companion_seat_id",
    ),
    # groups
    (seats(*row_of(1), groups=(a_group("vip_table", "A-1", "A-9"),)), f"{GROUP}.seat_ids[1]"),
    (seats(*row_of(1), groups=(a_group("vip_table", "A-1", "A-1"),)), f"{GROUP}.seat_ids[1]"),
    (
        two_zones(a_seat("A-1"), a_seat("B-1"), a_group("reserved_block", "A-1", "B-1")),
        f"{GROUP}.seat_ids[1]",
    ),
    (
        seats(*row_of(3), groups=tuple(a_group("family_block", f"A-{n}", "A-3") for n in (1, 2))),
        "$.seat_groups[1].seat_ids[1]",
    ),
    (
        seats(*row_of(1), groups=(a_group("family_block", "A-1"), a_group("vip_table", "A-1"))),
        "$.seat_groups[1].seat_ids[0]",
    ),
    (
        seats(*row_of(1), groups=(a_group("vip_table", "A-1"), a_group("family_block", "A-1"))),
        "$.seat_groups[1].seat_ids[0]",
    ),
    (
        seats(wheelchair("A-1"), a_seat("A-2"), groups=(a_group("wheelchair_pair", "A-1", "A-2"),)),
        f"{GROUP}.seat_ids",
    ),
    (
        seats(
            wheelchair("A-1"),
            wheelchair("A-2"),
            companion("A-3"),
            groups=(a_group("wheelchair_pair", "A-1", "A-2", "A-3"),),
        ),
        f"{GROUP}.seat_ids",
    ),
    # metadata
    (a_layout(standing(metadata={"a": "x" * METADATA_BYTES_MAX})), f"{ZONE}.metadata"),
    (a_layout(standing(metadata=nested(METADATA_LEVELS_MAX + 1))), f"{ZONE}.metadata"),
    (a_layout(standing(metadata=nested(100_000))), f"{ZONE}.metadata"),
    (a_layout(standing(metadata={"a": "\0"})), f"{ZONE}.metadata"),
    (
        seats(*row_of(1), groups=(a_group("vip_table", "A-1", a="x" * METADATA_BYTES_MAX),)),
        f"{GROUP}.metadata",
    ),
    (
        seats(*row_of(1), groups=(a_group("vip_table", "A-1", whole="yes"),)),
        f"{GROUP}.metadata.whole",
    ),
    *(
        (
            seats(*row_of(1), groups=(a_group("family_block", "A-1", min_party=wrong),)),
            f"{GROUP}.metadata.min_party",
        )
        for wrong in (0, 51, 2.0, True, "3", None)
    ),
]


@pytest.mark.parametrize(("config", "path"), SHAPES + MEANINGS)
def test_a_fault_is_named_once_with_its_path(config: object, path: str) -> None:
    assert paths(config) == [path]


@pytest.mark.parametrize("field", ["zone_id", "zone_type", "name", "capacity"])
def test_a_missing_field_of_a_zone_is_named(field: str) -> None:
    zone = a_zone(a_seat("A-1"))
    del zone[field]
    assert paths(a_layout(zone)) == [f"{ZONE}.{field}"]


@pytest.mark.parametrize("field", ["seat_id", "row", "number", "coordinates"])
def test_a_missing_field_of_a_seat_is_named(field: str) -> None:
    seat = a_seat("A-1")
    del seat[field]
    assert paths(a_layout(a_zone(seat))) == [f"{SEAT}.{field}"]


def test_faults_of_shape_and_of_meaning_come_together() -> None:
    config = a_layout(
        a_zone(a_seat("A-1", number="x", row=5), a_seat("B-1"), name="", capacity=9),
        a_zone(a_seat("B-2", seat_id="A-1"), a_seat("B-3"), number=0),
        standing(1, access_mode="whitelist", capacity=-1),
        "no zone",  # type: ignore[arg-type]
        seat_groups=[a_group("choir", "B-1", "B-9")],
        total_capacity=1,
    )
    assert sorted(paths(config)) == [
        "$.seat_groups[0].group_type",
        "$.seat_groups[0].seat_ids[1]",
        "$.zones[0].capacity",
        "$.zones[0].name",
        "$.zones[0].seats[0].number",
        "$.zones[0].seats[0].row",
        "$.zones[1].seats[0].seat_id",
        "$.zones[1].zone_id",
        "$.zones[2].capacity",
        "$.zones[2].whitelist_id",
        "$.zones[3]",
    ]


def test_a_seat_with_a_fault_can_still_be_named_by_others() -> None:
    broken = companion("A-2") | {"number": "two"}
    pair = a_group("wheelchair_pair", "A-1", "A-2")
    assert paths(seats(wheelchair("A-1", "A-2"), broken, groups=(pair,))) == [
        "$.zones[0].seats[1].number"
    ]


def test_a_field_that_is_given_wrongly_is_not_called_missing() -> None:
    wrong = standing(access_mode="membership_tier", membership_tier="GOLD!")
    assert paths(a_layout(wrong)) == [f"{ZONE}.membership_tier"]
    wrong = standing(access_mode="role_based", allowed_roles=["king"])
    assert paths(a_layout(wrong)) == [f"{ZONE}.allowed_roles[0]"]


def test_a_companion_can_be_wrong_in_two_ways() -> None:
    config = two_zones(wheelchair("A-1", "B-1"), a_seat("B-1"))
    assert paths(config) == [f"{SEAT}.companion_seat_id"] * 2
    assert "another zone" in messages(config)
    assert "must name a companion seat" in messages(config)


def test_seats_a_little_apart_are_apart_anywhere_in_the_plane() -> None:
    for start in (-999_999.0, -0.25, 0.2, 999_999.0):
        row = [
            a_seat(f"A-{n}", coordinates={"x": start + n / 10, "y": -start}) for n in range(1, 9)
        ]
        assert paths(seats(*row)) == []


def test_the_same_row_and_number_can_be_in_another_zone() -> None:
    assert paths(two_zones(a_seat("A-1"), a_seat("B-1", row="A"))) == []


def test_a_duplicate_says_where_the_first_one_is() -> None:
    assert SEAT in messages(seats(a_seat("A-1"), a_seat("B-1", seat_id="A-1")))


def test_messages_are_plain_words() -> None:
    for config, _ in SHAPES + MEANINGS:
        told = messages(config)
        assert told
        assert not any(sign in told for sign in ("^", "\\", "regex", "`", "Expected", "UNSET"))


def test_unknown_words_are_answered_with_the_known_ones() -> None:
    assert "ga_standing" in messages(a_layout(standing(zone_type="balcony")))
    assert "restricted_view" in messages(one_seat(category="throne"))
    assert "role_based" in messages(a_layout(standing(access_mode="bribe")))


def test_there_are_at_most_so_many_seats() -> None:
    def house(count: int) -> Json:
        every = [
            a_seat(f"A-{n}", coordinates={"x": n % 1000, "y": n // 1000}) for n in range(count)
        ]
        return a_layout(a_zone(*every))

    assert paths(house(SEATS_MAX)) == []
    assert paths(house(SEATS_MAX + 1)) == ["$.zones"]


def test_of_a_list_that_is_too_long_no_more_is_looked_at_than_there_may_be() -> None:
    names = [f"A-{number}" for number in range(GROUP_SEATS_MAX + 5)]
    layout = a_layout(a_zone(a_seat("A-0")), seat_groups=[a_group("family_block", *names)])
    found = list(paths(layout))
    assert f"{GROUP}.seat_ids" in found
    assert f"{GROUP}.seat_ids[{GROUP_SEATS_MAX - 1}]" in found
    assert f"{GROUP}.seat_ids[{GROUP_SEATS_MAX}]" not in found


def test_only_so_many_faults_are_named() -> None:
    shapes = a_layout(a_zone(*[a_seat("A-1", number="x")] * (FAULTS_MAX + 500)))
    meanings = a_layout(a_zone(*[a_seat("A-1")] * (FAULTS_MAX + 500)))
    assert len(paths(shapes)) == len(paths(meanings)) == FAULTS_MAX


def test_a_long_unknown_name_is_cut() -> None:
    assert len(paths(a_layout(standing(), **{"x" * 10_000: 1}))[0]) < 200


def test_names_that_are_not_text_are_faults() -> None:
    assert paths({"zones": [standing()], 10**5000: 1}) == ["$"]
    assert paths(a_layout(standing(metadata={1: 2}))) == [f"{ZONE}.metadata"]


WORDS = [*LayoutConfig.__struct_fields__, "seats", "seat_id", "coordinates", "x", "metadata"]
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=20,
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container and key inside a JSON value."""
    if isinstance(value, dict | list):
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        return [(value, key) for key in keys] + [p for key in keys for p in places(value[key])]
    return []


def passes_again(config: LayoutConfig) -> bool:
    return check_config(msgspec.json.decode(msgspec.json.encode(config)))[1] == []


@given(anything)
def test_whatever_is_given_is_a_layout_or_has_faults(value: object) -> None:
    paths(value)


@given(st.data(), anything)
def test_anything_anywhere_in_a_layout_is_sound_or_a_fault(data: st.DataObject, value: Any) -> None:
    config = copy.deepcopy(A_GOOD_LAYOUT)
    container, key = data.draw(st.sampled_from(places(config)))
    container[key] = value
    found, faults = check_config(config)
    assert passes_again(found) if found else faults


@st.composite
def good_layouts(draw: st.DrawFn) -> Json:
    zones: list[Json] = []
    for number in range(draw(st.integers(1, 3))):
        rows = [f"{'ABC'[number]}{row}" for row in "XYZ"[: draw(st.integers(1, 3))]]
        width = draw(st.integers(2, 5))
        every = [a_seat(f"{row}-{n}") for row in rows for n in range(width)]
        if draw(st.booleans()):
            every[0] |= {"category": "wheelchair", "companion_seat_id": every[1]["seat_id"]}
            every[1] |= {"category": "companion"}
        for n, seat in enumerate(every):
            seat["coordinates"] = {"x": n + draw(st.floats(0, 0.8)), "y": number}
        zones.append(a_zone(*every, number=number))
    total = sum(zone["capacity"] for zone in zones)
    return a_layout(*zones, seat_groups=[], total_capacity=draw(st.sampled_from([None, total])))


def set_in_seat(field: str, value: Any) -> Callable[[Json, int, int], str]:
    def mutate(config: Json, zone: int, seat: int) -> str:
        config["zones"][zone]["seats"][seat][field] = value
        return f"$.zones[{zone}].seats[{seat}].{field}"

    return mutate


def set_in_zone(field: str, value: Any) -> Callable[[Json, int, int], str]:
    def mutate(config: Json, zone: int, _: int) -> str:
        config["zones"][zone][field] = value
        return f"$.zones[{zone}].{field}"

    return mutate


def let_people_stand(config: Json, zone: int, _: int) -> str:
    config["zones"][zone]["zone_type"] = "ga_standing"
    return f"$.zones[{zone}].seats"


def repeat_seat(config: Json, zone: int, seat: int) -> str:
    every = config["zones"][zone]["seats"]
    every.append(copy.deepcopy(every[seat]))
    return f"$.zones[{zone}].seats[{len(every) - 1}].seat_id"


def repeat_zone(config: Json, zone: int, _: int) -> str:
    config["zones"].append(copy.deepcopy(config["zones"][zone]))
    return f"$.zones[{len(config['zones']) - 1}].zone_id"


def group_with_a_stranger(config: Json, zone: int, seat: int) -> str:
    known = config["zones"][zone]["seats"][seat]["seat_id"]
    config["seat_groups"].append(a_group("reserved_block", known, "stranger"))
    return f"{GROUP}.seat_ids[1]"


MUTATIONS = [
    set_in_seat("number", -1),
    set_in_seat("category", "throne"),
    set_in_seat("companion_seat_id", "stranger"),
    set_in_seat("coordinates", None),
    set_in_seat("colour", "red"),
    set_in_zone("capacity", 999),
    set_in_zone("zone_type", 5),
    set_in_zone("seats", []),
    set_in_zone("membership_tier", "gold"),
    set_in_zone("metadata", {"a": "x" * METADATA_BYTES_MAX}),
    let_people_stand,
    repeat_seat,
    repeat_zone,
    group_with_a_stranger,
]


@given(good_layouts(), st.data(), st.sampled_from(MUTATIONS))
def test_one_mistake_in_a_good_layout_is_found_where_it_is(
    config: Json, data: st.DataObject, mutate: Callable[[Json, int, int], str]
) -> None:
    zone = data.draw(st.integers(0, len(config["zones"]) - 1))
    seat = data.draw(st.integers(0, len(config["zones"][zone]["seats"]) - 1))
    path = mutate(config, zone, seat)
    assert path in paths(config)


@given(good_layouts())
def test_a_layout_that_passes_still_passes_after_a_journey_as_json(config: Json) -> None:
    found, faults = check_config(config)
    assert faults == []
    assert found is not None
    assert passes_again(found)
