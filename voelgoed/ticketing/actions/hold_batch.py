"""Several parties' wishes, decided one after the other and written together.

In one transaction: read what the decisions need, decide each party over those values and over what
the parties before it got, write everything at once. Every write names what it was decided on; if
anything of it is no longer so, nothing of the transaction stays and it is tried again.
"""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from datetime import datetime
from uuid import UUID

import msgspec

from voelgoed.accounts.actions.audit import record_all
from voelgoed.accounts.model import Caller, NewAuditEntry
from voelgoed.infra.database import Transaction
from voelgoed.infra.idempotency import (
    IdempotencyKey,
    IdempotencyKeyReused,
    keep_answers,
    kept_answers,
)
from voelgoed.infra.ids import new_id
from voelgoed.infra.rate_limit import Limit, take_all, windows
from voelgoed.infra.refusal import Conflict, Refusal
from voelgoed.seating.actions import seats as seat_states
from voelgoed.seating.actions.access import require_access
from voelgoed.seating.actions.bookings import (
    CHOSEN_BY_US,
    WHILE_CHOOSING,
    Bookings,
    lock_bookings,
    open_bookings,
)
from voelgoed.seating.actions.places import (
    HeldPlaces,
    Places,
    open_zones,
    refuse_places,
    take_places,
)
from voelgoed.seating.actions.seats import note_wheelchairs
from voelgoed.seating.actions.views import View, require_same_view
from voelgoed.seating.model.refusals import (
    BookingRefused,
    SeatNoLongerAvailable,
    SeatNotAvailable,
    SeatsChangedMeanwhile,
)
from voelgoed.seating.model.seats import BestRequest, Problem
from voelgoed.seating.rules.rooms import Rooms
from voelgoed.ticketing.actions.domain_events import reserved
from voelgoed.ticketing.actions.hold_views import booking, shown
from voelgoed.ticketing.model.holds import Booking, PlacesWish, SeatHold, Source
from voelgoed.ticketing.model.refusals import GuestsNotNamed, MembershipAlreadyUsed
from voelgoed.ticketing.rules.holds import Allowance, limits_of, sale_refusal
from voelgoed.ticketing.store import holds as store
from voelgoed.ticketing.store.domain_events import insert_domain_events


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What one party asks for."""

    caller: Caller
    seats: tuple[str, ...] = ()
    best: BestRequest | None = None
    places: tuple[PlacesWish, ...] = ()
    guests: tuple[str, ...] = ()
    source: Source = "web"
    notes: str = ""
    is_whole: bool = True
    """Else more may follow: seats are being taken one by one, and are judged when they are bought."""
    once: IdempotencyKey | None = None


class Party(msgspec.Struct, kw_only=True):
    """A wish on its way to a booking or a refusal."""

    wanted: Wanted
    positions: list[int] = []
    """Seats that were asked for by name, then those we chose."""
    chosen: list[int] = []
    limits: dict[str, Limit] = {}
    """How many seats their caller may hold, by what they are counted under."""
    refusal: Refusal | None = None
    booking: Booking | None = None
    is_new: bool = False
    holds: list[SeatHold] = []


class ChosenSeatGone(Conflict):
    """A seat that we chose was taken before we got it; choose again."""


class Batch:
    def __init__(self, tx: Transaction, view: View, parties: Sequence[Party]) -> None:
        self._tx = tx
        self._view = view
        self._parties = parties
        self._held_until: datetime = tx.now + view.hold_ttl
        self._granted: dict[tuple[UUID, int], SeatHold] = {}
        """In this transaction: by holder and position."""

    async def decide(self) -> None:
        """The event's layout and state are the view's until the transaction ends."""
        tx, view, parties = self._tx, self._view, self._parties
        closed = sale_refusal(view.event, tx.now)
        await self._answer_again(parties)
        open_parties = [party for party in parties if not (party.refusal or party.booking)]
        positions = [at for party in open_parties for at in party.positions]
        zones = {wish.zone_id for party in open_parties for wish in party.wanted.places}
        await tx.gather(
            require_same_view(tx, view),
            lock_bookings(tx, view, positions, before_places=bool(zones)),
        )
        await tx.gather(self._read_bookings(positions), self._read_allowance(open_parties))
        self._rooms = await open_zones(tx, view, zones) if zones else Rooms(())
        for party in parties:
            if self._is_answered_by_a_twin(party) or party.refusal or party.booking:
                continue
            if closed is not None:
                party.refusal = closed
            else:
                await self._decide(party)
        # Perhaps because of the same request through another node, of a moment ago.
        await self._answer_again([party for party in parties if party.refusal])

    async def _read_bookings(self, positions: Sequence[int]) -> None:
        tx, view = self._tx, self._view
        self._bookings = await open_bookings(tx, view, positions) if positions else None

    async def _read_allowance(self, parties: Sequence[Party]) -> None:
        for party in parties:
            party.limits = limits_of(party.wanted.caller, self._view.policy)
        limited = {key for party in parties for key in party.limits}
        found = await windows(self._tx, sorted(limited)) if limited else {}
        self._allowance = Allowance(found, self._tx.now)

    async def _answer_again(self, parties: Sequence[Party]) -> None:
        """Who asks again under the same key gets what was answered then, even if it could not be had
        now."""
        keys = [party.wanted.once for party in parties if party.wanted.once]
        answers = await kept_answers(self._tx, keys, Booking)
        for party in parties:
            kept = answers.get(party.wanted.once) if party.wanted.once else None
            if isinstance(kept, Booking):
                party.booking, party.refusal = kept, None
            elif kept is not None:
                party.refusal = kept

    def _is_answered_by_a_twin(self, party: Party) -> bool:
        """Two requests under one key in one batch: the same, or one too many."""
        once = party.wanted.once
        if once is None or party.booking is not None:
            return False
        for other in self._parties:
            key = other.wanted.once
            if other.booking and key and (key.actor_id, key.key) == (once.actor_id, once.key):
                if key == once:
                    party.booking, party.refusal = other.booking, None
                else:
                    party.refusal = IdempotencyKeyReused()
                return True
        return False

    async def _decide(self, party: Party) -> None:
        self._rooms.begin()
        try:
            # What we chose is to be had anew, even if it is the caller's by now.
            named = [at for at in party.positions if at not in party.chosen]
            mine = self._own(party.wanted.caller, named)
            wanted_now = [at for at in party.positions if at not in mine]
            party.refusal = await self._refusal(party, wanted_now)
            if party.refusal is None:
                await self._grant(party, mine)
        except Refusal as refusal:
            party.refusal = refusal
        if party.refusal is not None:
            self._rooms.undo()

    def _own(self, caller: Caller, positions: Sequence[int]) -> dict[int, UUID]:
        """Those that the caller holds already, and by which hold: to ask twice is to ask once."""
        assert self._bookings is not None or not positions
        own: dict[int, UUID] = {}
        for position in positions:
            if caller.id is not None and (granted := self._granted.get((caller.id, position))):
                own[position] = granted.id
                continue
            state = self._bookings.state(position)  # pyright: ignore[reportOptionalMemberAccess]
            is_held = (
                state.status == "held" and state.held_until and state.held_until > self._tx.now
            )
            if is_held and state.holder_id == caller.id and state.seat_hold_id is not None:
                own[position] = state.seat_hold_id
        return own

    async def _refusal(self, party: Party, positions: Sequence[int]) -> Refusal | None:
        wanted, view = party.wanted, self._view
        count = len(positions) + sum(wish.count for wish in wanted.places)
        most = view.policy.max_seats_per_booking
        if count > most:
            problem = Problem(
                code="too_many_seats", message=f"One booking has at most {most} seats."
            )
            return BookingRefused(problem.message, problems=[problem])
        refusal = self._allowance.refusal(party.limits, count)
        if refusal is None and positions:
            refusal = await self._refuse_seats(party, positions)
        if refusal is None and wanted.places:
            refusal = refuse_places(view, self._rooms, self._places(wanted))
        return refusal

    async def _refuse_seats(self, party: Party, positions: Sequence[int]) -> Refusal | None:
        """Those that were asked for and those we chose, each by its own rules."""
        assert self._bookings is not None
        caller, chosen = party.wanted.caller, set(party.chosen)
        named = [at for at in positions if at not in chosen]
        refusal = None
        if named:
            overlooked = frozenset[str]() if party.wanted.is_whole else WHILE_CHOOSING
            refusal = await self._bookings.refusal(caller, named, self._taken_by, overlooked)
        if refusal is None and chosen:
            refusal = await self._bookings.refusal(
                caller, party.chosen, self._taken_by, CHOSEN_BY_US
            )
            if isinstance(refusal, SeatNoLongerAvailable | SeatNotAvailable):
                return ChosenSeatGone()
        return refusal

    def _taken_by(self, caller: Caller) -> list[int]:
        plan = self._view.plan
        return [
            plan.by_id[hold.seat_id]
            for party in self._parties
            if party.wanted.caller.id == caller.id
            for hold in party.holds
            if hold.seat_id is not None
        ]

    def _places(self, wanted: Wanted) -> list[Places]:
        every_day = [day.date for day in self._view.event.days]
        return [Places(wish.zone_id, wish.count, wish.days or every_day) for wish in wanted.places]

    async def _grant(self, party: Party, mine: dict[int, UUID]) -> None:
        positions = [at for at in party.positions if at not in mine]
        memberships = await self._memberships(party.wanted, positions)
        party.holds = self._new_holds(party.wanted, positions, memberships)
        self._note_granted(party)
        if self._bookings is not None:
            self._bookings.take(positions)
        self._allowance.spend(party.limits, sum(hold.places for hold in party.holds))
        kept = await self._kept(mine)
        holds = [shown(self._view, hold, self._tx.now) for hold in [*kept, *party.holds]]
        booking_id = (party.holds or kept)[0].booking_id
        party.booking = booking(booking_id, self._view.event.id, holds)
        party.is_new = bool(party.holds)

    def _note_granted(self, party: Party) -> None:
        by_id = self._view.plan.by_id
        for hold in party.holds:
            if hold.seat_id is not None:
                self._granted[hold.user_id, by_id[hold.seat_id]] = hold

    async def _kept(self, mine: Mapping[int, UUID]) -> list[SeatHold]:
        """Of this transaction, and of earlier ones."""
        ids = set(mine.values())
        new = [hold for hold in self._granted.values() if hold.id in ids] if ids else []
        earlier = ids.difference(hold.id for hold in new)
        return [*(await store.find_holds(self._tx, sorted(earlier)) if earlier else []), *new]

    async def _memberships(
        self, wanted: Wanted, positions: Sequence[int]
    ) -> dict[UUID, list[UUID | None]]:
        """By zone that is not open to everybody: by which membership each of the party may."""
        plan, tx = self._view.plan, self._tx
        admitted: dict[UUID, list[UUID | None]] = {}
        if not self._view.restricted_zones:
            return admitted
        counts = Counter(plan.zones[int(plan.zone[at])].zone_id for at in positions)
        for wish in wanted.places:
            counts[wish.zone_id] += wish.count
        restricted = {
            zone_id: count
            for zone_id, count in sorted(counts.items())
            if zone_id in self._view.restricted_zones
        }
        for zone_id, count in restricted.items():
            access = await require_access(tx, wanted.caller, self._view, zone_id, wanted.guests)
            if count > len(access.admitted):
                named = len(access.admitted)
                raise GuestsNotNamed(zone_id=str(zone_id), asked=count, named=named)
            admitted[zone_id] = [each.associated_membership_id for each in access.admitted]
        used = await self._used({each for some in admitted.values() for each in some if each})
        for zone_id, count in restricted.items():
            # Whose membership has opened a seat sits there; this is for who comes along.
            left = [each for each in admitted[zone_id] if each not in used][:count]
            if len(left) < count:
                raise MembershipAlreadyUsed()
            used.update(each for each in left if each)
            admitted[zone_id] = left
        return admitted

    async def _used(self, memberships: Set[UUID]) -> set[UUID]:
        if not memberships:
            return set()
        tx, event_id = self._tx, self._view.event.id
        await store.lock_memberships(tx, event_id)
        used = set(await store.used_memberships(tx, event_id, sorted(memberships), tx.now))
        here = {hold.associated_membership_id for party in self._parties for hold in party.holds}
        return used.union(membership for membership in here if membership)

    def _new_holds(
        self,
        wanted: Wanted,
        positions: Sequence[int],
        memberships: dict[UUID, list[UUID | None]],
    ) -> list[SeatHold]:
        plan, booking_id = self._view.plan, new_id()
        left = {zone_id: list(each) for zone_id, each in memberships.items()}
        holds = [
            self._hold(wanted, booking_id, zone_id, left, seat_id=plan.ids[position])
            for position in positions
            for zone_id in (plan.zones[int(plan.zone[position])].zone_id,)
        ]
        for places in self._places(wanted):
            # Who is let in by a membership has a place of their own.
            apart = places.zone_id in left
            for count in [1] * places.count if apart else [places.count]:
                of = Places(places.zone_id, count, sorted(set(places.days)))
                holds.append(self._hold(wanted, booking_id, places.zone_id, left, places=of))
        return holds

    def _hold(
        self,
        wanted: Wanted,
        booking_id: UUID,
        zone_id: UUID,
        memberships: dict[UUID, list[UUID | None]],
        *,
        seat_id: UUID | None = None,
        places: Places | None = None,
    ) -> SeatHold:
        assert wanted.caller.id is not None
        return SeatHold(
            id=new_id(),
            event_id=self._view.event.id,
            booking_id=booking_id,
            user_id=wanted.caller.id,
            seat_id=seat_id,
            zone_id=zone_id,
            places=1 if places is None else places.count,
            days=None if places is None else places.days,
            status="active",
            held_until=self._held_until,
            extended=False,
            source=wanted.source,
            is_judged=wanted.is_whole,
            notes=wanted.notes or None,
            associated_membership_id=memberships[zone_id].pop(0)
            if zone_id in memberships
            else None,
            created_at=self._tx.now,
            updated_at=self._tx.now,
        )

    @property
    def holds(self) -> list[SeatHold]:
        return [hold for party in self._parties for hold in party.holds]

    async def write(self) -> None:
        tx, view, holds = self._tx, self._view, self.holds
        places = [
            HeldPlaces(Places(hold.zone_id, hold.places, hold.days), hold.id, hold.held_until)
            for hold in holds
            if hold.days is not None
        ]
        await tx.gather(
            seat_states.take(tx, view, self._held_seats(self._bookings, holds)),
            store.insert_holds(tx, holds),
            insert_domain_events(tx, [reserved(tx, hold) for hold in holds]),
            record_all(
                tx, [entry for party in self._parties for entry in self._audit_entries(party)]
            ),
            self._spend(),
        )
        await take_places(tx, view, places)
        await self._note_wheelchairs()
        await self._keep_answers()

    async def _spend(self) -> None:
        spent = self._allowance.spent
        if spent and not await take_all(self._tx, spent, self._allowance.limits):
            raise SeatsChangedMeanwhile()

    def _held_seats(
        self, bookings: Bookings | None, holds: Sequence[SeatHold]
    ) -> list[seat_states.HeldSeat]:
        if bookings is None:
            return []
        return [
            seat_states.HeldSeat(
                bookings.state(self._view.plan.by_id[hold.seat_id]),
                seat_states.SeatHold(hold.id, hold.user_id, hold.held_until),
            )
            for hold in holds
            if hold.seat_id is not None
        ]

    async def _note_wheelchairs(self) -> None:
        plan = self._view.plan
        for party in self._parties:
            seats = [plan.by_id[hold.seat_id] for hold in party.holds if hold.seat_id is not None]
            if not plan.paired.isdisjoint(seats):
                await note_wheelchairs(self._tx, party.wanted.caller, self._view, seats)

    def _audit_entries(self, party: Party) -> list[NewAuditEntry]:
        if isinstance(party.refusal, ChosenSeatGone):
            return []  # there will be another attempt
        if party.refusal is not None:
            return [failed(party.wanted, self._view.event.id, party.refusal)]
        return [
            NewAuditEntry(party.wanted.caller, "seat_reserved", "SeatHold", hold.id, _changes(hold))
            for hold in party.holds
        ]

    async def _keep_answers(self) -> None:
        answers = {
            party.wanted.once: party.booking
            for party in self._parties
            if party.wanted.once is not None and party.is_new
        }
        if not answers:
            return
        if await keep_answers(self._tx, answers):
            raise SeatsChangedMeanwhile()  # the same key at the same moment; it is answered by now


def failed(wanted: Wanted, event_id: UUID, refusal: Refusal) -> NewAuditEntry:
    changes: dict[str, object] = {
        "event_id": event_id,
        "seats": list(wanted.seats),
        "places": sum(wish.count for wish in wanted.places),
        "error": refusal.code,
        "source": wanted.source,
    }
    if wanted.best is not None:
        changes["party"] = wanted.best.party
    subject = wanted.seats[0] if wanted.seats else str(event_id)
    return NewAuditEntry(wanted.caller, "seat_reserve_failed", "SeatHold", subject, changes)


def _changes(hold: SeatHold) -> dict[str, object]:
    held: dict[str, object] = {
        "event_id": hold.event_id,
        "status": hold.status,
        "held_until": hold.held_until,
        "source": hold.source,
    }
    if hold.seat_id is not None:
        return {"seat_id": hold.seat_id, **held}
    return {"zone_id": hold.zone_id, "places": hold.places, "days": hold.days, **held}
