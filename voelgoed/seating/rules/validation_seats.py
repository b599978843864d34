"""What must hold between the seats of a layout."""

from collections.abc import Iterable, Mapping
from math import floor, hypot

from msgspec import UNSET, Struct, UnsetType

from voelgoed.seating.model.layout import Point, SeatCategory
from voelgoed.seating.rules.validation_shapes import Faults

SEATS_APART_MIN = 0.1
PARTNERS: Mapping[SeatCategory, SeatCategory] = {
    "wheelchair": "companion",
    "companion": "wheelchair",
}

CELLS_ACROSS = 100_000_000
"""More cells than the plane is wide, so that a row and a column make one number."""
NEIGHBOURHOOD = tuple(CELLS_ACROSS * row + column for row in (-1, 0, 1) for column in (-1, 0, 1))


class FoundSeat(Struct, frozen=True, gc=False):
    """A seat as far as it is sound, UNSET where it is not, and where it was found."""

    zone: int
    index: int
    seat_id: str | UnsetType
    row: str | UnsetType
    number: int | UnsetType
    category: SeatCategory | UnsetType
    coordinates: Point | UnsetType
    companion_seat_id: str | None | UnsetType

    @property
    def path(self) -> str:
        return f"$.zones[{self.zone}].seats[{self.index}]"


def seats_by_id(seats: Iterable[FoundSeat], faults: Faults) -> dict[str, FoundSeat]:
    """The first seat of every id. Another one with it is a fault."""
    firsts: dict[str, FoundSeat] = {}
    for seat in seats:
        if seat.seat_id is UNSET:
            continue
        first = firsts.setdefault(seat.seat_id, seat)
        if first is not seat:
            faults.add(f"{seat.path}.seat_id", f"is already the seat_id of {first.path}")
    return firsts


def check_labels(seats: Iterable[FoundSeat], faults: Faults) -> None:
    firsts: dict[tuple[int, str, int], FoundSeat] = {}
    for seat in seats:
        if seat.row is UNSET or seat.number is UNSET:
            continue
        first = firsts.setdefault((seat.zone, seat.row, seat.number), seat)
        if first is not seat:
            message = f"is already the number of {first.path}, in the same row of the same zone"
            faults.add(f"{seat.path}.number", message)


def check_distances(seats: Iterable[FoundSeat], faults: Faults) -> None:
    """Looks only into the cells around each seat. A seat too close to another does not enter
    the grid, so that no cell ever holds more than a few, whatever is given."""
    grid: dict[int, list[tuple[Point, FoundSeat]]] = {}
    for seat in seats:
        point = seat.coordinates
        if point is UNSET:
            continue
        cell = floor(point.x / SEATS_APART_MIN) * CELLS_ACROSS + floor(point.y / SEATS_APART_MIN)
        around = [near for step in NEIGHBOURHOOD if (near := grid.get(cell + step))]
        touching = [other for near in around for at, other in near if _too_close(at, point)]
        if touching:
            message = f"must be at least {SEATS_APART_MIN} away from {touching[0].path}"
            faults.add(f"{seat.path}.coordinates", message)
        else:
            grid.setdefault(cell, []).append((point, seat))


def _too_close(one: Point, other: Point) -> bool:
    # Rounded, because 0.3 - 0.2 is a little less than 0.1.
    return round(hypot(one.x - other.x, one.y - other.y), 3) < SEATS_APART_MIN


def check_companions(
    seats: Iterable[FoundSeat], by_id: Mapping[str, FoundSeat], faults: Faults
) -> None:
    wheelchair_of: dict[str, FoundSeat] = {}
    for seat in seats:
        if seat.companion_seat_id is None or seat.companion_seat_id is UNSET:
            continue
        place = f"{seat.path}.companion_seat_id"
        partner = by_id.get(seat.companion_seat_id)
        for message in _reasons_against(seat, partner):
            faults.add(place, message)
        if seat.category != "wheelchair" or partner is None or partner.category != "companion":
            continue
        first = wheelchair_of.setdefault(seat.companion_seat_id, seat)
        if first is not seat:
            faults.add(place, f"names a companion that {first.path} has already")
        elif partner.companion_seat_id not in {None, UNSET, seat.seat_id}:
            faults.add(place, f"names {partner.path}, which names another wheelchair place")


def _reasons_against(seat: FoundSeat, partner: FoundSeat | None) -> Iterable[str]:
    wanted = UNSET if seat.category is UNSET else PARTNERS.get(seat.category)
    if wanted is None:
        yield "is only for a wheelchair place or a companion seat"
    elif seat.companion_seat_id == seat.seat_id:
        yield "must name another seat than itself"
    elif partner is None:
        yield "names no seat of this layout"
    else:
        if partner.zone != seat.zone:
            yield f"names {partner.path}, which is in another zone"
        if wanted is not UNSET and partner.category not in {wanted, UNSET}:
            yield f"must name a {wanted} seat, and {partner.path} is {partner.category}"
