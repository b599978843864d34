"""What an event does differently with a layout: whether it can, and what comes of it."""

from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from uuid import UUID

import msgspec
from msgspec import UNSET

from voelgoed.seating.model.event_layout import EventZone, Overrides, ZoneOverride
from voelgoed.seating.model.layout import SEATED, Fault, Zone
from voelgoed.seating.rules.access import NEEDED_BY, USED_BY

ACCESS_FIELDS = ("membership_tier", "allowed_roles", "whitelist_id")


def overlay_faults(
    zones: Sequence[Zone], seat_ids: Collection[str], overrides: Overrides
) -> list[Fault]:
    """All at once. Whether a zone has seats is told by its type, so they may be left out."""
    by_id = {zone.zone_id: zone for zone in zones}
    return [
        *_list_faults("$.blocked_seat_ids", overrides.blocked_seat_ids, frozenset(seat_ids)),
        *_list_faults("$.disabled_zones", overrides.disabled_zones, by_id.keys()),
        *_nothing_left_faults(by_id.keys(), overrides.disabled_zones),
        *_override_faults(by_id, overrides.zone_overrides),
        *_unknown_zone_faults("$.pricing_zones", overrides.pricing_zones, by_id),
    ]


def event_zones(zones: Sequence[Zone], overrides: Overrides) -> tuple[EventZone, ...]:
    """Every zone of the layout as the event has it, in the layout's order."""
    disabled = frozenset(overrides.disabled_zones)
    prices = overrides.pricing_zones
    unchanged = ZoneOverride()
    return tuple(
        EventZone(
            zone=_overridden(zone, overrides.zone_overrides.get(zone.zone_id, unchanged)),
            enabled=zone.zone_id not in disabled,
            pricing_rule_id=prices[zone.zone_id].pricing_rule_id
            if zone.zone_id in prices
            else None,
        )
        for zone in zones
    )


def _list_faults(path: str, named: Sequence[object], known: AbstractSet[object]) -> Iterator[Fault]:
    seen = set[object]()
    for number, name in enumerate(named):
        if name not in known:
            yield Fault(f"{path}[{number}]", "is not in this layout")
        if name in seen:
            yield Fault(f"{path}[{number}]", "is named twice")
        seen.add(name)


def _nothing_left_faults(known: AbstractSet[UUID], disabled: Sequence[UUID]) -> Iterator[Fault]:
    if known <= set(disabled):
        yield Fault("$.disabled_zones", "leaves the event without a zone")


def _unknown_zone_faults(
    path: str, named: Collection[UUID], known: Collection[UUID]
) -> Iterator[Fault]:
    for zone_id in named:
        if zone_id not in known:
            yield Fault(f"{path}.{zone_id}", "is not in this layout")


def _override_faults(
    by_id: dict[UUID, Zone], overrides: dict[UUID, ZoneOverride]
) -> Iterator[Fault]:
    yield from _unknown_zone_faults("$.zone_overrides", overrides, by_id)
    for zone_id, override in overrides.items():
        if zone_id in by_id:
            path = f"$.zone_overrides.{zone_id}"
            after = _overridden(by_id[zone_id], override)
            yield from _seat_faults(path, by_id[zone_id], after, override)
            yield from _access_faults(path, after, override)


def _seat_faults(path: str, before: Zone, after: Zone, override: ZoneOverride) -> Iterator[Fault]:
    if after.zone_type not in SEATED:
        return
    if before.zone_type not in SEATED:
        yield Fault(f"{path}.zone_type", "needs seats, and the layout has none in this zone")
    elif override.capacity is not UNSET:
        yield Fault(f"{path}.capacity", "is the number of seats; block some to have fewer")


def _access_faults(path: str, after: Zone, override: ZoneOverride) -> Iterator[Fault]:
    needed = NEEDED_BY.get(after.access_mode)
    if needed is not None and not getattr(after, needed):
        yield Fault(f"{path}.{needed}", f"is needed by access_mode {after.access_mode}")
    for field in ACCESS_FIELDS:
        # A tier on a zone that stays public would look like a restriction and be none.
        if getattr(override, field) and field not in USED_BY[after.access_mode]:
            yield Fault(f"{path}.{field}", f"has no effect with access_mode {after.access_mode}")


def _overridden(zone: Zone, override: ZoneOverride) -> Zone:
    named = {
        field: value
        for field, value in msgspec.structs.asdict(override).items()
        if value is not UNSET
    }
    return msgspec.structs.replace(zone, **(_outdated(override) | named), seats=[])


def _outdated(override: ZoneOverride) -> dict[str, None]:
    """What the layout says about access that means nothing in the event's mode."""
    if override.access_mode is UNSET:
        return {}
    return {field: None for field in ACCESS_FIELDS if field not in USED_BY[override.access_mode]}
