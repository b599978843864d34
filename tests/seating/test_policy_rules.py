"""What an organisation's seating policy lets its events change, and which zones it allows."""

from datetime import UTC, datetime
from typing import Any, get_args
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voelgoed.seating.model.layout import SEATED, VIP, Zone, ZoneType
from voelgoed.seating.model.policy import PolicyField, SeatingOverrides, SeatingPolicy
from voelgoed.seating.rules.policy import effective_policy, override_faults, zone_faults

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
FIELDS: tuple[PolicyField, ...] = get_args(PolicyField)

zone_types = st.lists(st.sampled_from(get_args(ZoneType)), max_size=6)


def a_policy(**changes: Any) -> SeatingPolicy:
    return SeatingPolicy(id=UUID(int=1), created_at=NOON, updated_at=NOON, **changes)


def a_zone(zone_type: ZoneType) -> Zone:
    return Zone(zone_id=UUID(int=1), zone_type=zone_type, name="Zone", capacity=10)


def value_of(field: PolicyField) -> st.SearchStrategy[Any]:
    return st.booleans() if isinstance(getattr(a_policy(), field), bool) else st.integers(1, 20)


fields = st.fixed_dictionaries({}, optional={field: value_of(field) for field in FIELDS})
policies = st.builds(
    lambda given, mandatory: a_policy(**given, mandatory=mandatory),
    fields,
    st.lists(st.sampled_from(FIELDS), unique=True),
)
overrides_of_events = fields.map(lambda given: SeatingOverrides(**given))


def refused_zones(*zone_types: ZoneType, **policy: Any) -> list[str]:
    """The paths of what a generous policy with these changes has against such zones."""
    generous = a_policy(**({"allow_vip_zones": True} | policy))
    return [fault.path for fault in zone_faults([a_zone(each) for each in zone_types], generous)]


def test_an_event_without_overrides_has_its_organisations_policy() -> None:
    policy = a_policy(max_seats_per_booking=4)
    assert effective_policy(policy, SeatingOverrides()) == policy


def test_the_overrides_of_the_specification_are_taken() -> None:
    overrides = SeatingOverrides(
        enforce_accessibility_rules=False,
        orphan_avoidance_strict=False,
        default_hold_ttl_minutes=5,
    )
    policy = a_policy(default_hold_ttl_minutes=10)
    effective = effective_policy(policy, overrides)
    assert override_faults(policy, overrides) == []
    assert not effective.enforce_accessibility_rules
    assert not effective.orphan_avoidance_strict
    assert effective.default_hold_ttl_minutes == 5
    assert effective.max_seats_per_booking == policy.max_seats_per_booking


def test_what_is_mandatory_cannot_be_overridden() -> None:
    policy = a_policy(mandatory=["enforce_accessibility_rules", "max_holds_per_user"])
    overrides = SeatingOverrides(
        enforce_accessibility_rules=False, max_holds_per_user=9, max_seats_per_booking=2
    )
    assert [fault.path for fault in override_faults(policy, overrides)] == [
        "$.seating_overrides.enforce_accessibility_rules",
        "$.seating_overrides.max_holds_per_user",
    ]


def test_repeating_what_is_mandatory_is_no_fault() -> None:
    policy = a_policy(mandatory=["enforce_accessibility_rules", "max_holds_per_ip"])
    overrides = SeatingOverrides(enforce_accessibility_rules=True, max_holds_per_ip=None)
    assert override_faults(policy, overrides) == []


def test_an_event_can_lift_a_limit_that_is_not_mandatory() -> None:
    policy = a_policy(max_holds_per_user=3)
    assert effective_policy(policy, SeatingOverrides(max_holds_per_user=None)) == a_policy()


def named_by(overrides: SeatingOverrides) -> dict[str, Any]:
    return {
        field: value
        for field, value in msgspec.structs.asdict(overrides).items()
        if value is not msgspec.UNSET
    }


def is_refused(policy: SeatingPolicy, field: str, value: object) -> bool:
    """What is mandatory stays, and what the organisation forbids no event may allow."""
    changes = value != getattr(policy, field)
    return changes and (field in policy.mandatory or (field.startswith("allow_") and value is True))


@given(policies, overrides_of_events)
def test_the_faults_are_exactly_the_overrides_that_are_refused(
    policy: SeatingPolicy, overrides: SeatingOverrides
) -> None:
    assert {fault.path for fault in override_faults(policy, overrides)} == {
        f"$.seating_overrides.{field}"
        for field, value in named_by(overrides).items()
        if is_refused(policy, field, value)
    }


@given(policies, overrides_of_events)
def test_overrides_change_what_they_name_if_they_may_and_nothing_else(
    policy: SeatingPolicy, overrides: SeatingOverrides
) -> None:
    effective = effective_policy(policy, overrides)
    allowed = {
        field: value
        for field, value in named_by(overrides).items()
        if not is_refused(policy, field, value)
    }
    assert msgspec.structs.asdict(effective) == msgspec.structs.asdict(policy) | allowed
    assert effective_policy(effective, overrides) == effective


def test_what_becomes_mandatory_later_is_enforced_at_once() -> None:
    overrides = SeatingOverrides(enforce_accessibility_rules=False)
    assert not effective_policy(a_policy(), overrides).enforce_accessibility_rules
    strict = a_policy(mandatory=["enforce_accessibility_rules"])
    assert effective_policy(strict, overrides).enforce_accessibility_rules


@given(zone_types)
def test_a_policy_that_allows_everything_refuses_no_zone(zone_types: list[ZoneType]) -> None:
    assert refused_zones(*zone_types) == []


@pytest.mark.parametrize(
    ("forbidden", "refused"),
    [
        ("allow_reserved_seating", SEATED),
        ("allow_ga_seating", {"ga_seated", "ga_standing"}),
        ("allow_vip_zones", VIP),
    ],
)
def test_each_permission_is_about_its_own_zones(forbidden: str, refused: set[ZoneType]) -> None:
    for zone_type in get_args(ZoneType):
        expected = ["$.zones[0].zone_type"] if zone_type in refused else []
        assert refused_zones(zone_type, **{forbidden: False}) == expected


def test_vip_zones_are_refused_unless_they_are_allowed() -> None:
    zones = [a_zone("ga_seated"), a_zone("vip_standing")]
    assert [fault.path for fault in zone_faults(zones, a_policy())] == ["$.zones[1].zone_type"]


def test_without_hybrids_all_zones_are_of_the_first_ones_kind() -> None:
    found = refused_zones(
        "reserved_seating",
        "ga_standing",
        "vip_reserved",
        "vip_standing",
        allow_hybrid_ga_reserved=False,
    )
    assert found == ["$.zones[1].zone_type", "$.zones[3].zone_type"]


@given(zone_types)
def test_without_hybrids_zones_may_be_all_seated_or_all_unseated(
    zone_types: list[ZoneType],
) -> None:
    mixed = len({each in SEATED for each in zone_types}) > 1
    assert bool(refused_zones(*zone_types, allow_hybrid_ga_reserved=False)) == mixed


def test_every_objection_is_told_at_once() -> None:
    forbidding = a_policy(
        allow_reserved_seating=False, allow_ga_seating=False, allow_hybrid_ga_reserved=False
    )
    faults = zone_faults([a_zone("ga_seated"), a_zone("vip_reserved")], forbidding)
    assert [(fault.path, fault.message.split(" not ")[0]) for fault in faults] == [
        ("$.zones[0].zone_type", "general admission is"),
        ("$.zones[1].zone_type", "reserved seating is"),
        ("$.zones[1].zone_type", "VIP zones are"),
        ("$.zones[1].zone_type", "zones with and without seats are"),
    ]
