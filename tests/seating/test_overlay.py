"""What an event may do differently with a layout, and what its zones are then."""

from typing import Any, get_args
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voelgoed.seating.model.event_layout import EventZone, Overrides, PricingZone, ZoneOverride
from voelgoed.seating.model.layout import (
    SEATED,
    AccessMode,
    Point,
    Seat,
    Zone,
    ZoneType,
)
from voelgoed.seating.rules.overlay import event_zones, overlay_faults

STALLS, LAWN, LOUNGE, NOWHERE = (UUID(int=number) for number in (1, 2, 3, 404))
FRIENDS, PRESS, RULE = (UUID(int=number) for number in (11, 12, 21))
SEAT_IDS = ("A-1", "A-2", "A-3")


def a_zone(zone_id: UUID = STALLS, **changes: Any) -> Zone:
    return Zone(
        **{
            "zone_id": zone_id,
            "zone_type": "reserved_seating",
            "name": "Zone",
            "capacity": 3,
            **changes,
        }
    )


def a_seat(seat_id: str) -> Seat:
    return Seat(seat_id=seat_id, row="A", number=1, coordinates=Point(0, 0))


LAYOUT = [
    a_zone(STALLS, seats=[a_seat(each) for each in SEAT_IDS]),
    a_zone(LAWN, zone_type="ga_standing", capacity=500),
    a_zone(
        LOUNGE,
        zone_type="vip_standing",
        capacity=50,
        access_mode="membership_tier",
        membership_tier="voelgoed_vriendinne",
        whitelist_id=FRIENDS,
        metadata={"bar": True},
    ),
]


def paths(zones: list[Zone] = LAYOUT, **overrides: Any) -> list[str]:
    """The places of all faults of these overrides."""
    return [fault.path for fault in overlay_faults(zones, SEAT_IDS, Overrides(**overrides))]


def override_paths(zone_id: UUID, **changes: Any) -> list[str]:
    """The fields at fault in this override of one zone."""
    prefix = f"$.zone_overrides.{zone_id}."
    found = paths(zone_overrides={zone_id: ZoneOverride(**changes)})
    return [path.removeprefix(prefix) for path in found]


def overridden(zone: Zone, **changes: Any) -> Zone:
    overrides = Overrides(zone_overrides={zone.zone_id: ZoneOverride(**changes)})
    [event_zone] = event_zones([zone], overrides)
    return event_zone.zone


access: dict[str, st.SearchStrategy[Any]] = {
    "membership_tier": st.sampled_from([None, "gold"]),
    "allowed_roles": st.sampled_from([None, ["admin"]]),
    "whitelist_id": st.sampled_from([None, PRESS]),
}
zones_of_layouts = st.lists(
    st.builds(
        a_zone,
        st.uuids(),
        zone_type=st.sampled_from(get_args(ZoneType)),
        capacity=st.integers(1, 1000),
        seats=st.sampled_from([[], [a_seat("A-1")]]),
        access_mode=st.sampled_from(get_args(AccessMode)),
        **access,
    ),
    min_size=1,
    max_size=5,
    unique_by=lambda zone: zone.zone_id,
)
changes_of_zones: dict[str, st.SearchStrategy[Any]] = {
    "zone_type": st.sampled_from(get_args(ZoneType)),
    "capacity": st.integers(1, 1000),
    "access_mode": st.sampled_from(get_args(AccessMode)),
    **access,
}
zone_overrides = st.fixed_dictionaries({}, optional=changes_of_zones).map(
    lambda given: ZoneOverride(**given)
)


@st.composite
def overlays(draw: st.DrawFn) -> tuple[list[Zone], Overrides]:
    zones = draw(zones_of_layouts)
    ids = st.sampled_from([zone.zone_id for zone in zones])
    overrides = Overrides(
        disabled_zones=draw(st.lists(ids, unique=True)),
        zone_overrides=draw(st.dictionaries(ids, zone_overrides)),
        pricing_zones=draw(
            st.dictionaries(ids, st.builds(PricingZone, pricing_rule_id=st.uuids()))
        ),
    )
    return zones, overrides


# What can be overridden


def test_an_event_that_changes_nothing_has_no_faults() -> None:
    assert paths() == []


def test_the_overlay_of_the_specification_has_no_faults() -> None:
    assert (
        paths(
            blocked_seat_ids=["A-1", "A-3"],
            disabled_zones=[LOUNGE],
            zone_overrides={
                LAWN: ZoneOverride(access_mode="membership_tier", membership_tier="special")
            },
            pricing_zones={STALLS: PricingZone(pricing_rule_id=RULE)},
        )
        == []
    )


def test_only_seats_of_the_layout_can_be_blocked_each_once() -> None:
    found = paths(blocked_seat_ids=["A-1", "Z-9", "A-1"])
    assert found == ["$.blocked_seat_ids[1]", "$.blocked_seat_ids[2]"]


def test_only_zones_of_the_layout_can_be_disabled_each_once() -> None:
    found = paths(disabled_zones=[NOWHERE, LAWN, LAWN])
    assert found == ["$.disabled_zones[0]", "$.disabled_zones[2]"]


def test_an_event_keeps_at_least_one_zone() -> None:
    assert paths(disabled_zones=[STALLS, LAWN]) == []
    assert paths(disabled_zones=[LOUNGE, STALLS, LAWN]) == ["$.disabled_zones"]


def test_only_zones_of_the_layout_can_be_changed_or_priced() -> None:
    found = paths(
        zone_overrides={NOWHERE: ZoneOverride(capacity=1)},
        pricing_zones={NOWHERE: PricingZone(pricing_rule_id=RULE)},
    )
    assert found == [f"$.zone_overrides.{NOWHERE}", f"$.pricing_zones.{NOWHERE}"]


def test_the_capacity_of_a_seated_zone_is_its_seats() -> None:
    assert override_paths(STALLS, capacity=2) == ["capacity"]
    assert override_paths(STALLS, capacity=2, zone_type="vip_reserved") == ["capacity"]
    assert override_paths(STALLS, capacity=900, zone_type="ga_standing") == []
    assert override_paths(LAWN, capacity=400) == []


@pytest.mark.parametrize("zone_type", sorted(SEATED))
def test_a_zone_without_seats_cannot_become_seated(zone_type: ZoneType) -> None:
    assert override_paths(LAWN, zone_type=zone_type, capacity=3) == ["zone_type"]
    assert override_paths(STALLS, zone_type=zone_type) == []


@pytest.mark.parametrize(
    ("access_mode", "needed", "enough"),
    [
        ("membership_tier", "membership_tier", "gold"),
        ("role_based", "allowed_roles", ["admin"]),
        ("whitelist", "whitelist_id", PRESS),
    ],
)
def test_an_access_mode_comes_with_what_it_needs(
    access_mode: AccessMode, needed: str, enough: object
) -> None:
    assert override_paths(LAWN, access_mode=access_mode) == [needed]
    assert override_paths(LAWN, access_mode=access_mode, **{needed: None}) == [needed]
    assert override_paths(LAWN, access_mode=access_mode, **{needed: enough}) == []


def test_nobody_is_not_a_role() -> None:
    assert override_paths(LAWN, access_mode="role_based", allowed_roles=[]) == ["allowed_roles"]


def test_what_the_layout_says_need_not_be_repeated() -> None:
    assert override_paths(LOUNGE, access_mode="membership_tier") == []
    assert override_paths(LOUNGE, access_mode="whitelist") == []


def test_what_the_access_mode_needs_cannot_be_taken_away() -> None:
    assert override_paths(LOUNGE, membership_tier=None) == ["membership_tier"]
    assert override_paths(LOUNGE, whitelist_id=None) == []


def test_a_restriction_that_would_have_no_effect_is_a_fault() -> None:
    assert override_paths(LAWN, membership_tier="gold") == ["membership_tier"]
    assert override_paths(LAWN, whitelist_id=PRESS) == ["whitelist_id"]
    assert override_paths(LOUNGE, allowed_roles=["admin"]) == ["allowed_roles"]
    assert override_paths(LAWN, membership_tier=None, whitelist_id=None) == []


def test_all_faults_are_told_at_once() -> None:
    found = paths(
        blocked_seat_ids=["Z-9"],
        disabled_zones=[NOWHERE],
        zone_overrides={
            STALLS: ZoneOverride(capacity=1, access_mode="whitelist"),
            NOWHERE: ZoneOverride(),
            LAWN: ZoneOverride(zone_type="reserved_seating", access_mode="role_based"),
        },
        pricing_zones={NOWHERE: PricingZone(pricing_rule_id=RULE)},
    )
    assert found == [
        "$.blocked_seat_ids[0]",
        "$.disabled_zones[0]",
        f"$.zone_overrides.{NOWHERE}",
        f"$.zone_overrides.{STALLS}.capacity",
        f"$.zone_overrides.{STALLS}.whitelist_id",
        f"$.zone_overrides.{LAWN}.zone_type",
        f"$.zone_overrides.{LAWN}.allowed_roles",
        f"$.pricing_zones.{NOWHERE}",
    ]


@given(overlays())
def test_faults_do_not_depend_on_whether_the_zones_carry_their_seats(
    overlay: tuple[list[Zone], Overrides],
) -> None:
    zones, overrides = overlay
    bare = [each.zone for each in event_zones(zones, Overrides())]
    assert overlay_faults(bare, [], overrides) == overlay_faults(zones, [], overrides)


# What comes of it


def test_an_event_that_changes_nothing_has_the_layouts_zones_without_their_seats() -> None:
    stalls, lawn, lounge = event_zones(LAYOUT, Overrides())
    assert stalls == EventZone(zone=a_zone(STALLS), enabled=True, pricing_rule_id=None)
    assert (lawn.zone, lounge.zone) == (LAYOUT[1], LAYOUT[2])


def test_disabled_zones_are_still_there_but_not_enabled() -> None:
    zones = event_zones(LAYOUT, Overrides(disabled_zones=[LOUNGE]))
    assert [each.enabled for each in zones] == [True, True, False]


def test_a_pricing_rule_is_told_with_its_zone() -> None:
    pricing = {LAWN: PricingZone(pricing_rule_id=RULE)}
    zones = event_zones(LAYOUT, Overrides(pricing_zones=pricing))
    assert [each.pricing_rule_id for each in zones] == [None, RULE, None]


def test_a_seated_zone_that_becomes_standing_keeps_its_capacity_unless_told() -> None:
    assert overridden(LAYOUT[0], zone_type="ga_standing").capacity == 3
    assert overridden(LAYOUT[0], zone_type="ga_standing", capacity=900).capacity == 900


def test_a_zone_that_becomes_public_forgets_its_restrictions() -> None:
    public = overridden(LAYOUT[2], access_mode="public")
    assert public.access_mode == "public"
    assert public.membership_tier is public.allowed_roles is public.whitelist_id is None


def test_another_tier_alone_leaves_the_rest_as_it_was() -> None:
    lounge = overridden(LAYOUT[2], membership_tier="special")
    assert (lounge.access_mode, lounge.membership_tier) == ("membership_tier", "special")
    assert lounge.whitelist_id == FRIENDS
    assert lounge.metadata == {"bar": True}


def test_in_another_mode_only_what_still_applies_is_the_layouts() -> None:
    by_role = overridden(LAYOUT[2], access_mode="role_based", allowed_roles=["organiser"])
    assert (by_role.membership_tier, by_role.whitelist_id) == (None, FRIENDS)
    by_name = overridden(LAYOUT[2], access_mode="whitelist", whitelist_id=PRESS)
    assert (by_name.membership_tier, by_name.whitelist_id) == (None, PRESS)


def test_a_layouts_whitelist_can_be_dropped_by_name() -> None:
    assert overridden(LAYOUT[2], whitelist_id=None).whitelist_id is None


@given(overlays())
def test_an_event_has_the_layouts_zones_in_the_layouts_order_without_seats(
    overlay: tuple[list[Zone], Overrides],
) -> None:
    zones, overrides = overlay
    result = event_zones(zones, overrides)
    assert [each.zone.zone_id for each in result] == [zone.zone_id for zone in zones]
    assert not any(each.zone.seats for each in result)
    assert {each.zone.zone_id for each in result if not each.enabled} == set(
        overrides.disabled_zones
    )


@given(overlays())
def test_zones_that_are_not_overridden_stay_as_they_are(
    overlay: tuple[list[Zone], Overrides],
) -> None:
    zones, overrides = overlay
    unchanged = event_zones(zones, Overrides())
    for before, after in zip(unchanged, event_zones(zones, overrides), strict=True):
        if before.zone.zone_id not in overrides.zone_overrides:
            assert after.zone == before.zone


@given(overlays())
def test_without_faults_every_overridden_zone_can_be_entered_by_somebody(
    overlay: tuple[list[Zone], Overrides],
) -> None:
    zones, overrides = overlay
    at_fault = " ".join(fault.path for fault in overlay_faults(zones, [], overrides))
    seated = {zone.zone_id for zone in zones if zone.zone_type in SEATED}
    for zone in (each.zone for each in event_zones(zones, overrides)):
        if zone.zone_id not in overrides.zone_overrides or str(zone.zone_id) in at_fault:
            continue
        assert zone.zone_type not in SEATED or zone.zone_id in seated
        assert zone.access_mode != "membership_tier" or zone.membership_tier
        assert zone.access_mode != "role_based" or zone.allowed_roles
        assert zone.access_mode != "whitelist" or zone.whitelist_id
