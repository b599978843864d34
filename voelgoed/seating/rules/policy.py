"""What an organisation's seating policy means for one event, and what it forbids."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from voelgoed.seating.model.layout import SEATED, VIP, Fault, Zone, ZoneType
from voelgoed.seating.model.policy import SeatingOverrides, SeatingPolicy

GENERAL_ADMISSION: frozenset[ZoneType] = frozenset({"ga_seated", "ga_standing"})


def effective_policy(policy: SeatingPolicy, overrides: SeatingOverrides) -> SeatingPolicy:
    """The policy as an event has it; `override_faults` says whether it may."""
    return msgspec.structs.replace(policy, **_overridden(overrides))


def override_faults(policy: SeatingPolicy, overrides: SeatingOverrides) -> list[Fault]:
    return [
        Fault(f"$.seating_overrides.{field}", "the organisation does not let events change this")
        for field, value in _overridden(overrides).items()
        if field in policy.mandatory and value != getattr(policy, field)
    ]


def zone_faults(zones: Sequence[Zone], policy: SeatingPolicy) -> list[Fault]:
    """What the policy has against these zones, taken together."""
    return [
        Fault(f"$.zones[{number}].zone_type", message)
        for number, zone in enumerate(zones)
        for message in _objections(zone, zones[0], policy)
    ]


def _overridden(overrides: SeatingOverrides) -> dict[str, Any]:
    return {
        field: value
        for field, value in msgspec.structs.asdict(overrides).items()
        if value is not msgspec.UNSET
    }


def _objections(zone: Zone, first: Zone, policy: SeatingPolicy) -> Iterator[str]:
    if zone.zone_type in SEATED and not policy.allow_reserved_seating:
        yield "the organisation does not allow reserved seating"
    if zone.zone_type in GENERAL_ADMISSION and not policy.allow_ga_seating:
        yield "the organisation does not allow general admission"
    if zone.zone_type in VIP and not policy.allow_vip_zones:
        yield "the organisation does not allow VIP zones"
    if not policy.allow_hybrid_ga_reserved and _has_seats(zone) != _has_seats(first):
        yield "the organisation does not allow zones with and without seats side by side"


def _has_seats(zone: Zone) -> bool:
    return zone.zone_type in SEATED
