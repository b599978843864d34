"""What changed between two versions of a layout, by the ids that stay the same."""

from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from voelgoed.seating.model.layout import (
    LayoutConfig,
    LayoutDiff,
    Seat,
    SeatMove,
    SeatRecategorised,
    SeatRelabelled,
    SeatRezoned,
    Zone,
)


class Both(Struct, frozen=True):
    """A seat that is in both versions."""

    before: Seat
    after: Seat
    zone_before: UUID
    zone_after: UUID


def diff(before: LayoutConfig, after: LayoutConfig) -> LayoutDiff:
    """In the order of the layout that has it; what both have, in the order of `after`."""
    old, new = _seats(before), _seats(after)
    old_zones, new_zones = _zones(before), _zones(after)
    kept = _kept(old, new)
    return LayoutDiff(
        added=[seat_id for seat_id in new if seat_id not in old],
        removed=[seat_id for seat_id in old if seat_id not in new],
        moved=_moved(kept),
        recategorised=_recategorised(kept),
        relabelled=_relabelled(kept),
        rezoned=_rezoned(kept),
        zones_added=[zone_id for zone_id in new_zones if zone_id not in old_zones],
        zones_removed=[zone_id for zone_id in old_zones if zone_id not in new_zones],
        zones_changed=[
            zone_id
            for zone_id, zone in new_zones.items()
            if zone_id in old_zones and zone != old_zones[zone_id]
        ],
        companions_changed=[
            both.after.seat_id
            for both in kept
            if both.before.companion_seat_id != both.after.companion_seat_id
        ],
        groups_changed=before.seat_groups != after.seat_groups,
        focal_point_moved=before.focal_point != after.focal_point,
    )


def _seats(config: LayoutConfig) -> dict[str, tuple[UUID, Seat]]:
    return {seat.seat_id: (zone.zone_id, seat) for zone in config.zones for seat in zone.seats}


def _zones(config: LayoutConfig) -> dict[UUID, Zone]:
    """Without their seats, which are compared one by one."""
    return {zone.zone_id: replace(zone, seats=[]) for zone in config.zones}


def _kept(old: dict[str, tuple[UUID, Seat]], new: dict[str, tuple[UUID, Seat]]) -> list[Both]:
    return [
        Both(old[seat_id][1], seat, old[seat_id][0], zone_id)
        for seat_id, (zone_id, seat) in new.items()
        if seat_id in old
    ]


def _moved(kept: list[Both]) -> list[SeatMove]:
    return [
        SeatMove(both.after.seat_id, both.before.coordinates, both.after.coordinates)
        for both in kept
        if both.before.coordinates != both.after.coordinates
    ]


def _recategorised(kept: list[Both]) -> list[SeatRecategorised]:
    return [
        SeatRecategorised(both.after.seat_id, both.before.category, both.after.category)
        for both in kept
        if both.before.category != both.after.category
    ]


def _relabelled(kept: list[Both]) -> list[SeatRelabelled]:
    return [
        SeatRelabelled(both.after.seat_id, _label(both.before), _label(both.after))
        for both in kept
        if _label(both.before) != _label(both.after)
    ]


def _label(seat: Seat) -> str:
    return f"{seat.row} {seat.number}"


def _rezoned(kept: list[Both]) -> list[SeatRezoned]:
    return [
        SeatRezoned(both.after.seat_id, both.zone_before, both.zone_after)
        for both in kept
        if both.zone_before != both.zone_after
    ]
