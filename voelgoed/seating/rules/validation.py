"""Whether a layout is sound. All faults at once, each with its path."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from msgspec import UNSET, Struct, UnsetType

from voelgoed.seating.model.layout import (
    SEATED,
    SEATS_MAX,
    AccessMode,
    Fault,
    LayoutConfig,
    Metadata,
    ZoneType,
)
from voelgoed.seating.rules.access import NEEDED_BY, USED_BY
from voelgoed.seating.rules.validation_groups import FoundGroup, check_groups
from voelgoed.seating.rules.validation_seats import (
    FoundSeat,
    check_companions,
    check_distances,
    check_labels,
    seats_by_id,
)
from voelgoed.seating.rules.validation_shapes import Faults, check_metadata, salvage


class FoundZone(Struct, frozen=True):
    """A zone as far as it is sound, UNSET where it is not, and where it was found."""

    path: str
    zone_id: UUID | UnsetType
    zone_type: ZoneType | UnsetType
    capacity: int | UnsetType
    access_mode: AccessMode | UnsetType
    access_fields: frozenset[str]
    """Which of those that go with an access mode are given, sound or not."""
    metadata: Metadata | UnsetType
    seat_count: int | UnsetType


def check_config(given: object) -> tuple[LayoutConfig | None, list[Fault]]:
    """The layout, or what is wrong with it: never both, never neither."""
    faults = Faults()
    config = salvage(given, LayoutConfig, "$", faults)
    if isinstance(config, LayoutConfig):
        _check_meaning(config, faults)
    return (None, faults.found) if faults.found else (config, [])


def _check_meaning(config: Any, faults: Faults) -> None:
    """Of what is sound in shape. Any part of `config` can be UNSET, whatever its class says."""
    zones = _found_zones(config)
    _check_zone_ids(zones, faults)
    for zone in zones:
        _check_capacity(zone, faults)
        _check_access(zone, faults)
        check_metadata(zone.metadata, f"{zone.path}.metadata", faults)
    _check_total(config.total_capacity, zones, faults)
    seats = _found_seats(config)
    if len(seats) > SEATS_MAX:
        faults.add("$.zones", f"a layout has at most {SEATS_MAX} seats, and this has {len(seats)}")
    by_id = seats_by_id(seats, faults)
    check_labels(seats, faults)
    check_distances(seats, faults)
    check_companions(seats, by_id, faults)
    check_groups(_found_groups(config), by_id, faults)


def _found_zones(config: Any) -> list[FoundZone]:
    return [
        FoundZone(
            f"$.zones[{number}]",
            zone.zone_id,
            zone.zone_type,
            zone.capacity,
            zone.access_mode,
            _access_fields(zone),
            zone.metadata,
            UNSET if zone.seats is UNSET else len(zone.seats),
        )
        for number, zone in _sound(config.zones)
    ]


def _sound(given: Any) -> Iterable[tuple[int, Any]]:
    """Of a list, what is not UNSET, with its number."""
    items: Sequence[Any] = () if given is UNSET else given
    return ((number, item) for number, item in enumerate(items) if item is not UNSET)


def _access_fields(zone: Any) -> frozenset[str]:
    names = ("membership_tier", "allowed_roles", "whitelist_id")
    return frozenset(name for name in names if getattr(zone, name) not in (None, []))


def _found_seats(config: Any) -> list[FoundSeat]:
    return [
        FoundSeat(
            zone_number,
            number,
            seat.seat_id,
            seat.row,
            seat.number,
            seat.category,
            seat.coordinates,
            seat.companion_seat_id,
        )
        for zone_number, zone in _sound(config.zones)
        for number, seat in _sound(zone.seats)
    ]


def _found_groups(config: Any) -> Iterable[FoundGroup]:
    for number, group in _sound(config.seat_groups):
        seat_ids = () if group.seat_ids is UNSET else group.seat_ids
        yield FoundGroup(f"$.seat_groups[{number}]", group.group_type, seat_ids, group.metadata)


def _check_zone_ids(zones: Iterable[FoundZone], faults: Faults) -> None:
    firsts: dict[UUID, FoundZone] = {}
    for zone in zones:
        if zone.zone_id is UNSET:
            continue
        first = firsts.setdefault(zone.zone_id, zone)
        if first is not zone:
            faults.add(f"{zone.path}.zone_id", f"is already the zone_id of {first.path}")


def _check_capacity(zone: FoundZone, faults: Faults) -> None:
    if zone.zone_type is UNSET or zone.seat_count is UNSET:
        return
    if zone.zone_type not in SEATED:
        if zone.seat_count:
            faults.add(f"{zone.path}.seats", f"must be left out: {zone.zone_type} has no seats")
    elif not zone.seat_count:
        faults.add(f"{zone.path}.seats", f"must not be empty: {zone.zone_type} is made of seats")
    elif zone.capacity not in {UNSET, zone.seat_count}:
        message = f"must be the number of the zone's seats, which is {zone.seat_count}"
        faults.add(f"{zone.path}.capacity", message)


def _check_access(zone: FoundZone, faults: Faults) -> None:
    mode = zone.access_mode
    if mode is UNSET:
        return
    needed = NEEDED_BY.get(mode)
    if needed and needed not in zone.access_fields:
        faults.add(f"{zone.path}.{needed}", f"is needed when access_mode is {mode}")
    for name in sorted(zone.access_fields - USED_BY[mode]):
        faults.add(f"{zone.path}.{name}", f"is not used when access_mode is {mode}")


def _check_total(total: int | UnsetType | None, zones: Sequence[FoundZone], faults: Faults) -> None:
    capacities = [zone.capacity for zone in zones]
    known = [capacity for capacity in capacities if capacity is not UNSET]
    if total is None or total is UNSET or len(known) < len(capacities):
        return
    if total != sum(known):
        faults.add("$.total_capacity", f"must be the sum of the zones' capacities, {sum(known)}")
