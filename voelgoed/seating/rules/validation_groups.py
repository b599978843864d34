"""What must hold for the groups of seats of a layout."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import UNSET, Struct, UnsetType

from voelgoed.seating.model.layout import GroupType, Metadata
from voelgoed.seating.model.policy import PARTY_MAX
from voelgoed.seating.rules.validation_seats import FoundSeat
from voelgoed.seating.rules.validation_shapes import Faults, check_metadata


class FoundGroup(Struct, frozen=True):
    """A group as far as it is sound, UNSET where it is not, and where it was found."""

    path: str
    group_type: GroupType | UnsetType
    seat_ids: Sequence[str | UnsetType]
    metadata: Metadata | UnsetType


def check_groups(
    groups: Iterable[FoundGroup], by_id: Mapping[str, FoundSeat], faults: Faults
) -> None:
    memberships: dict[str, dict[GroupType, FoundGroup]] = {}
    for group in groups:
        _check_members(group, by_id, faults)
        _check_zone(group, by_id, faults)
        _check_other_groups(group, memberships, faults)
        _check_wheelchair_pair(group, by_id, faults)
        check_metadata(group.metadata, f"{group.path}.metadata", faults)
        _check_wishes(group, faults)


def _check_members(group: FoundGroup, by_id: Mapping[str, FoundSeat], faults: Faults) -> None:
    seen: set[str] = set()
    for number, seat_id in enumerate(group.seat_ids):
        if seat_id is UNSET:
            continue
        if seat_id not in by_id:
            faults.add(f"{group.path}.seat_ids[{number}]", "names no seat of this layout")
        if seat_id in seen:
            faults.add(f"{group.path}.seat_ids[{number}]", "is in this group already")
        seen.add(seat_id)


def _check_zone(group: FoundGroup, by_id: Mapping[str, FoundSeat], faults: Faults) -> None:
    """Names the first seat that is elsewhere; the rest of them would say the same."""
    home: int | None = None
    for number, seat_id in enumerate(group.seat_ids):
        seat = None if seat_id is UNSET else by_id.get(seat_id)
        if seat is None:
            continue
        if home is None:
            home = seat.zone
        if seat.zone != home:
            message = f"is in another zone than the seats before it, which are in $.zones[{home}]"
            faults.add(f"{group.path}.seat_ids[{number}]", message)
            return


def _check_other_groups(
    group: FoundGroup, memberships: dict[str, dict[GroupType, FoundGroup]], faults: Faults
) -> None:
    if group.group_type is UNSET:
        return
    for number, seat_id in enumerate(group.seat_ids):
        if seat_id is UNSET:
            continue
        others = memberships.setdefault(seat_id, {})
        rival = _rival(group.group_type, others)
        if rival is not None and rival is not group:
            message = f"is in {rival.path} already, and cannot be in both"
            faults.add(f"{group.path}.seat_ids[{number}]", message)
        others.setdefault(group.group_type, group)


def _rival(group_type: GroupType, others: Mapping[GroupType, FoundGroup]) -> FoundGroup | None:
    if group_type == "vip_table":
        return next(iter(others.values()), None)
    return others.get(group_type) or others.get("vip_table")


def _check_wheelchair_pair(
    group: FoundGroup, by_id: Mapping[str, FoundSeat], faults: Faults
) -> None:
    if group.group_type != "wheelchair_pair":
        return
    members = [None if each is UNSET else by_id.get(each) for each in dict.fromkeys(group.seat_ids)]
    categories = Counter(UNSET if seat is None else seat.category for seat in members)
    if not members or categories[UNSET]:
        return
    if categories["wheelchair"] != 1:
        message = f"must have one wheelchair place in it, and has {categories['wheelchair']}"
        faults.add(f"{group.path}.seat_ids", message)
    if not categories["companion"]:
        faults.add(f"{group.path}.seat_ids", "must have a companion seat in it")


def _check_wishes(group: FoundGroup, faults: Faults) -> None:
    if group.metadata is UNSET:
        return
    whole = group.metadata.get("whole", False)
    if group.group_type == "vip_table" and not isinstance(whole, bool):
        faults.add(f"{group.path}.metadata.whole", "must be true or false")
    min_party = group.metadata.get("min_party", 1)
    if group.group_type == "family_block" and not _is_party(min_party):
        message = f"must be a whole number from 1 to {PARTY_MAX}"
        faults.add(f"{group.path}.metadata.min_party", message)


def _is_party(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= PARTY_MAX
