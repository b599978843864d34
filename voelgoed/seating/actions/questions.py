"""What one can ask about an event's seats. Answers inform; only a hold grants."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

import msgspec

from voelgoed.accounts.model import Caller
from voelgoed.accounts.rules.permissions import may
from voelgoed.infra.cache import Cache
from voelgoed.infra.database import Database
from voelgoed.seating.actions.access import denial, denied_zones
from voelgoed.seating.actions.views import View, occupancy_key, see, snapshot_in, snapshot_of
from voelgoed.seating.model.refusals import BookingRefused, LayoutUnavailable, NoSuitableSeats
from voelgoed.seating.model.seats import (
    BLOCKED,
    HELD,
    Availability,
    BestRequest,
    CheckRequest,
    Problem,
    Proposal,
    SeatDetails,
    SeatingReport,
    SeatMap,
    SelectionCheck,
    Snapshot,
    ZoneDay,
)
from voelgoed.seating.rules.access import Denied
from voelgoed.seating.rules.answers import best_for, proposal, what_would_fit
from voelgoed.seating.rules.apart import nearest_apart
from voelgoed.seating.rules.compact import pack
from voelgoed.seating.rules.counts import availability, report
from voelgoed.seating.rules.house import House, next_end
from voelgoed.seating.rules.plan import CATEGORIES
from voelgoed.seating.rules.search import Choice, Search, Wish, search_for
from voelgoed.seating.rules.selection import Booker, check_selection
from voelgoed.seating.rules.states import seconds_left
from voelgoed.seating.rules.stretches import stretches
from voelgoed.seating.store.places import next_place_hold_end, read_days
from voelgoed.seating.store.seats import find_blocked_reason, find_states, held_by

OCCUPANCY_TTL_S = 60.0
READS_MAX = 3
"""Nobody changes an event's layout more often while one reads."""
CODE_NAMES = ("available", "held", "sold", "blocked", "soft_reserved", "withheld")


class _Counted(msgspec.Struct, frozen=True):
    availability: Availability
    until: datetime
    """When the first hold ends, and the counts with it."""
    under: tuple[int, int, int]
    """The versions of event, overlay and policy that they follow from."""


class _Truth(msgspec.Struct, frozen=True):
    """Seats and places as PostgreSQL has them."""

    snapshot: Snapshot
    zone_days: list[ZoneDay]
    now: datetime
    until: datetime
    """When something of it will be otherwise, if nobody does anything."""


class Questions:
    """Asked by one caller about one event."""

    def __init__(self, database: Database, cache: Cache, caller: Caller, event_id: UUID) -> None:
        self._database = database
        self._cache = cache
        self._caller = caller
        self._event_id = event_id

    async def availability(self) -> Availability:
        """Counted at most once a minute, and anew when anything it follows from is otherwise."""
        view = await self._see()
        key = occupancy_key(self._caller.organization_id, self._event_id)
        counted = await self._cache.read(key, _Counted, self._count, ttl_s=OCCUPANCY_TTL_S)
        if self._is_over(counted, view):
            await self._cache.drop([key])
            counted = await self._cache.read(key, _Counted, self._count, ttl_s=OCCUPANCY_TTL_S)
        if self._is_over(counted, view):  # somebody had it from Redis just before
            counted = await self._count()
        return counted.availability

    def _is_over(self, counted: _Counted, view: View) -> bool:
        return counted.until <= self._database.clock.now() or counted.under != _versions(view)

    async def _count(self) -> _Counted:
        """From PostgreSQL alone: what a cache says, however fresh, may be of before the moment
        from which this may be cached."""
        view, truth = await self._truth()
        house = view.house(truth.snapshot, truth.now)
        days = [day.date for day in view.event.days]
        counts = availability(view.event_layout, house, truth.zone_days, days)
        return _Counted(counts, truth.until, _versions(view))

    async def seat_map(self) -> SeatMap:
        view, house, seq = await self._house()
        return SeatMap(
            event_id=self._event_id,
            layout_id=view.event_layout.layout_id,
            layout_version=view.event_layout.layout_version,
            seat_count=len(view.plan),
            seats=pack(house.codes),
            seq=seq,
            as_of=self._database.clock.now(),
        )

    async def seat(self, seat_id: str) -> SeatDetails:
        view, house, _ = await self._house()
        position = view.position(seat_id)
        plan = view.plan
        async with self._database.transaction(self._caller.organization_id) as tx:
            states = await find_states(tx, self._event_id, [plan.ids[position]])
            reason = await find_blocked_reason(tx, self._event_id, plan.ids[position])
        code = int(house.codes[position])
        is_staff = may(self._caller.role, "seats.block")
        seat, zone = plan.seats[position], plan.zones[int(plan.zone[position])]
        return SeatDetails(
            id=plan.ids[position],
            seat_id=seat.seat_id,
            zone_id=zone.zone_id,
            zone_name=zone.name,
            row=seat.row,
            number=seat.number,
            category=seat.category,
            status=CODE_NAMES[code],  # pyright: ignore[reportArgumentType]
            expires_in_seconds=seconds_left(states[0], tx.now) if states and code == HELD else None,
            blocked_reason=reason if is_staff and code == BLOCKED else None,
            companions=[plan.seats[each].seat_id for each in plan.companions(position)],
            group=plan.groups.names.get(position),
        )

    async def best(self, request: BestRequest) -> Proposal:
        view, house, _ = await self._house()
        search, choice = choose_best(view, house, request, await self._denied(view))
        return proposal(house, search.free, choice)

    async def check(self, request: CheckRequest) -> SelectionCheck:
        """What would come of booking these seats: refusals, lonely seats, alternatives."""
        view, house, _ = await self._house()
        positions = list(dict.fromkeys(view.position(seat_id) for seat_id in request.seat_ids))
        denied = await self._denied(view)
        booker = await self._booker(_open_zones(view, denied))
        verdict = check_selection(house, positions, booker)
        verdict.problems.extend(_denials(view, positions, denied))
        free = stretches(house)
        return SelectionCheck(
            bookable=not verdict.problems,
            problems=verdict.problems,
            warnings=verdict.warnings,
            orphans=[view.plan.seats[position].seat_id for position in verdict.orphans],
            companions=[view.plan.seats[position].seat_id for position in verdict.companions],
            alternatives=[proposal(house, free, choice) for choice in verdict.alternatives],
        )

    async def report(self) -> SeatingReport:
        _, house, _ = await self._house()
        counted = await self._count()
        return report(self._event_id, house, counted.availability)

    async def _see(self) -> View:
        return await see(self._database, self._cache, self._caller, self._event_id)

    async def _house(self) -> tuple[View, House, int]:
        view = await self._see()
        snapshot = await snapshot_of(
            self._database, self._cache, self._caller.organization_id, self._event_id
        )
        if snapshot.layout_id != view.event_layout.layout_id:  # one is of before a change of layout
            view, truth = await self._truth()
            snapshot = truth.snapshot
        return view, view.house(snapshot, self._database.clock.now()), snapshot.seq

    async def _truth(self) -> tuple[View, _Truth]:
        for _ in range(READS_MAX):
            view = await self._see()
            async with self._database.transaction(self._caller.organization_id) as tx:
                snapshot = await snapshot_in(tx, self._event_id)
                zone_days = await read_days(tx, self._event_id, tx.now)
                place_hold_end = await next_place_hold_end(tx, self._event_id)
            if snapshot.layout_id == view.event_layout.layout_id:
                in_a_while = tx.now + timedelta(seconds=OCCUPANCY_TTL_S)
                ends = [in_a_while, place_hold_end, next_end(snapshot, tx.now)]
                until = min(end for end in ends if end is not None)
                return view, _Truth(snapshot, zone_days, tx.now, until)
        raise LayoutUnavailable()

    async def _denied(self, view: View) -> dict[int, Denied]:
        async with self._database.transaction(self._caller.organization_id) as tx:
            return await denied_zones(tx, self._caller, view)

    async def _booker(self, zones: frozenset[int]) -> Booker:
        staff = may(self._caller.role, "seats.sell_withheld")
        if self._caller.id is None:
            return Booker(staff=staff, zones=zones)
        async with self._database.transaction(self._caller.organization_id) as tx:
            mine = await held_by(tx, self._event_id, self._caller.id, tx.now)
        return Booker(frozenset(state.position for state in mine), staff, zones)


def choose_best(
    view: View, house: House, request: BestRequest, denied: dict[int, Denied]
) -> tuple[Search, Choice]:
    _check_party(view, request)
    wish = _wish(view, request, denied)
    search = search_for(house, wish)
    choice = best_for(search)
    may_sit_apart = not (wish.wheelchair_places or view.policy.group_adjacency_strict)
    if choice is None and wish.apart and may_sit_apart:
        choice = nearest_apart(search)
    if choice is None:
        fitting = what_would_fit(house, search, _open_zones(view, denied))
        raise NoSuitableSeats(
            fitting.message,
            party=wish.party,
            largest_together=len(fitting.together),
            together=fitting.together,
            apart=fitting.apart,
            in_other_zones=fitting.in_other_zones,
        )
    return search, choice


def _versions(view: View) -> tuple[int, int, int]:
    return view.event.version, view.event_layout.version, view.policy.version


def _check_party(view: View, request: BestRequest) -> None:
    policy = view.policy
    if request.party > policy.max_seats_per_booking:
        raise BookingRefused(
            f"One booking has at most {policy.max_seats_per_booking} seats.",
            max_seats_per_booking=policy.max_seats_per_booking,
        )
    if request.wheelchair_places > policy.max_wheelchair_seats_per_booking:
        most = policy.max_wheelchair_seats_per_booking
        raise BookingRefused(
            f"One booking has at most {most} wheelchair place{'s' * (most > 1)}.",
            max_wheelchair_seats_per_booking=most,
        )
    if request.wheelchair_places > request.party:
        raise BookingRefused("A party cannot have more wheelchair users than people.")


def _denials(view: View, positions: Sequence[int], denied: dict[int, Denied]) -> list[Problem]:
    of_zone: dict[int, list[str]] = defaultdict(list)
    for position in positions:
        of_zone[int(view.plan.zone[position])].append(view.plan.seats[position].seat_id)
    return [
        Problem(code="zone_access_denied", message=denied[zone].message, seat_ids=seat_ids)
        for zone, seat_ids in of_zone.items()
        if zone in denied
    ]


def _open_zones(view: View, denied: dict[int, Denied]) -> frozenset[int]:
    return frozenset(range(len(view.zones))) - denied.keys()


def _wish(view: View, request: BestRequest, denied: dict[int, Denied]) -> Wish:
    """Zones that the caller may not book in are left out, and refused when asked for by name."""
    zones = set(_open_zones(view, denied))
    if request.zone_ids is not None:
        for zone_id in request.zone_ids:
            view.zone(zone_id)
        zones = {view.plan.zone_index[zone_id] for zone_id in request.zone_ids}
        for zone in sorted(zones & denied.keys()):
            raise denial(view.zones[zone].zone.zone_id, denied[zone])
    if request.pricing_rule_ids is not None:
        rules = set(request.pricing_rule_ids)
        zones &= {at for at, zone in enumerate(view.zones) if zone.pricing_rule_id in rules}
    categories = request.categories
    return Wish(
        party=request.party,
        zones=frozenset(zones),
        categories=None if categories is None else frozenset(map(CATEGORIES.index, categories)),
        wheelchair_places=request.wheelchair_places,
        apart=request.apart,
    )
