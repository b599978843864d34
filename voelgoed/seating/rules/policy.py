"""What an organisation's seating policy means for one event, and what it forbids."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from voelgoed.seating.model.event_layout import EventZone
from voelgoed.seating.model.layout import SEATED, VIP, Fault, Zone, ZoneType
from voelgoed.seating.model.policy import SeatingOverrides, SeatingPolicy

GENERAL_ADMISSION: frozenset[ZoneType] = frozenset({"ga_seated", "ga_standing"})


def effective_policy(policy: SeatingPolicy, overrides: SeatingOverrides) -> SeatingPolicy:
    """The policy as an event has it. What became mandatory after the event was arranged, or was
    forbidden since, is as the organisation says."""
    allowed = {
        field: value
        for field, value in _overridden(overrides).items()
        if _objection(policy, field, value) is None
    }
    return msgspec.structs.replace(policy, **allowed)


def override_faults(policy: SeatingPolicy, overrides: SeatingOverrides) -> list[Fault]:
    return [
        Fault(f"$.seating_overrides.{field}", objection)
        for field, value in _overridden(overrides).items()
        if (objection := _objection(policy, field, value)) is not None
    ]


def _objection(policy: SeatingPolicy, field: str, value: object) -> str | None:
    if value == getattr(policy, field):
        return None
    if field in policy.mandatory:
        return "the organisation does not let events change this"
    if field.startswith("allow_") and value is True:
        return "the organisation does not allow this, so no event can"
    return None


def zone_faults(zones: Sequence[Zone], policy: SeatingPolicy) -> list[Fault]:
    """What the policy has against the zones of a layout, taken together."""
    return [
        Fault(f"$.zones[{number}].zone_type", message)
        for number, zone in enumerate(zones)
        for message in _objections(zone, zones[0], policy)
    ]


def event_zone_faults(zones: Sequence[EventZone], policy: SeatingPolicy) -> list[Fault]:
    """The same of an event's zones, of which those that are disabled do not matter."""
    enabled = [zone.zone for zone in zones if zone.enabled]
    return [
        Fault(f"$.zone_overrides.{zone.zone_id}.zone_type", message)
        for zone in enabled
        for message in _objections(zone, enabled[0], policy)
    ]


def _overridden(overrides: SeatingOverrides) -> dict[str, Any]:
    return {
        field: value
        for field, value in msgspec.structs.asdict(overrides).items()
        if value is not msgspec.UNSET
    }


def _objections(zone: Zone, first: Zone, policy: SeatingPolicy) -> Iterator[str]:
    if zone.zone_type in SEATED and not policy.allow_reserved_seating:
        yield "reserved seating is not allowed here"
    if zone.zone_type in GENERAL_ADMISSION and not policy.allow_ga_seating:
        yield "general admission is not allowed here"
    if zone.zone_type in VIP and not policy.allow_vip_zones:
        yield "VIP zones are not allowed here"
    if not policy.allow_hybrid_ga_reserved and _has_seats(zone) != _has_seats(first):
        yield "zones with and without seats are not allowed side by side here"


def _has_seats(zone: Zone) -> bool:
    return zone.zone_type in SEATED
