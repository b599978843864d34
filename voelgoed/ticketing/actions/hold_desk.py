"""Where seats and places are held: one by one as people ask, together as they are written."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from voelgoed.accounts.actions.audit import record_all
from voelgoed.accounts.model import Caller, Unauthorized
from voelgoed.infra.batcher import Batcher
from voelgoed.infra.cache import Cache
from voelgoed.infra.database import Database
from voelgoed.infra.idempotency import IdempotencyKey
from voelgoed.infra.refusal import Refusal
from voelgoed.seating.actions.access import denied_zones
from voelgoed.seating.actions.questions import choose_best
from voelgoed.seating.actions.seats import RETRY_AFTER_S
from voelgoed.seating.actions.view_cache import Views
from voelgoed.seating.actions.views import (
    View,
    bitmap_key,
    snapshot_of,
)
from voelgoed.seating.model.refusals import SeatsChangedMeanwhile
from voelgoed.seating.rules.board import with_held
from voelgoed.ticketing.actions.hold_batch import Batch, ChosenSeatGone, Party, Wanted, failed
from voelgoed.ticketing.actions.hold_registry import HeldSeat, HoldRegistry
from voelgoed.ticketing.model.holds import Booking, NewBooking, Source
from voelgoed.ticketing.model.refusals import (
    NothingWanted,
    SeatAlreadyHeldByAnotherUser,
    SeatHeldByAnotherUser,
    SeatReservationFailed,
)

TOGETHER_MAX = 100
IN_FLIGHT_MAX = 1
"""Of one event. Two were measured to be slower: the batches get smaller, and each has its price."""
CHOOSE_AGAIN_AFTER_S = (0.010, 0.020, 0.040, 0.080, 0.160)
"""For a party whose seats others were faster to take."""

Key = tuple[UUID, UUID]


class HoldDesk:
    def __init__(self, database: Database, cache: Cache) -> None:
        self._database = database
        self._cache = cache
        self.registry = HoldRegistry(cache)
        self._batcher = Batcher[Key, Wanted, Party](
            "holds", self._together, together_max=TOGETHER_MAX, in_flight_max=IN_FLIGHT_MAX
        )
        self._views = Views(database, cache)
        self._choosing: defaultdict[Key, set[int]] = defaultdict(set)

    async def reserve(
        self, caller: Caller, event_id: UUID, seat_id: str, source: Source
    ) -> tuple[Booking, bool]:
        """One seat. Tells whether the hold is new; to ask for one's own seat is to get it again."""
        wanted = Wanted(caller=caller, seats=(seat_id,), source=source, is_whole=False)
        return await self._submit(event_id, wanted)

    async def book(
        self, caller: Caller, event_id: UUID, new: NewBooking, once: IdempotencyKey | None
    ) -> tuple[Booking, bool]:
        """All of it, or nothing."""
        if not (new.seat_ids or new.best or new.places):
            raise NothingWanted()
        wanted = Wanted(
            caller=caller,
            seats=tuple(dict.fromkeys(new.seat_ids)),
            best=new.best,
            places=tuple(new.places),
            guests=tuple(new.guests),
            source=new.source,
            notes=new.notes,
            once=once,
        )
        return await self._submit(event_id, wanted)

    async def _submit(self, event_id: UUID, wanted: Wanted) -> tuple[Booking, bool]:
        if wanted.caller.id is None:
            raise Unauthorized()
        key = wanted.caller.organization_id, event_id
        party = await self._batcher.submit(key, wanted)
        for pause_s in CHOOSE_AGAIN_AFTER_S:
            if not isinstance(party.refusal, ChosenSeatGone):
                break
            await asyncio.sleep(pause_s)
            party = await self._batcher.submit(key, wanted)
        if isinstance(party.refusal, ChosenSeatGone):
            await self._refuse(key, [party], SeatReservationFailed())
        if party.refusal is not None:
            raise party.refusal
        assert party.booking is not None
        return party.booking, party.is_new

    async def _together(self, key: Key, wishes: Sequence[Wanted]) -> Sequence[Party]:
        """Again from the start when somebody elsewhere changed the same seats meanwhile."""
        for pause_s in RETRY_AFTER_S:
            try:
                return await self._attempt(key, wishes)
            except SeatsChangedMeanwhile:
                self._views.forget(*key)
                await asyncio.sleep(pause_s)
        try:
            return await self._attempt(key, wishes)
        except SeatsChangedMeanwhile:
            self._views.forget(*key)
            if len(wishes) > 1:
                raise  # they are tried one by one
        parties = [Party(wanted=wanted) for wanted in wishes]
        return await self._refuse(key, parties, SeatReservationFailed())

    async def _attempt(self, key: Key, wishes: Sequence[Wanted]) -> Sequence[Party]:
        organization_id = key[0]
        parties = [Party(wanted=wanted) for wanted in wishes]
        try:
            view = await self._views.of(*key)
        except Refusal as refusal:
            return await self._refuse(key, parties, refusal)
        try:
            await self._resolve(key, view, parties)
            async with self._database.transaction(organization_id) as tx:
                batch = Batch(tx, view, parties)
                await batch.decide()
                await batch.write()
        finally:
            self._choosing[key].difference_update(at for party in parties for at in party.chosen)
            if not self._choosing[key]:
                del self._choosing[key]
        await self.registry.remember(organization_id, batch.holds, tx.now)
        return parties

    async def _refuse(self, key: Key, parties: Sequence[Party], why: Refusal) -> Sequence[Party]:
        """All of them, and nothing else; it is on record all the same."""
        for party in parties:
            party.refusal = why
        async with self._database.transaction(key[0]) as tx:
            await record_all(tx, [failed(party.wanted, key[1], why) for party in parties])
        return parties

    async def _resolve(self, key: Key, view: View, parties: Sequence[Party]) -> None:
        """From names and numbers to seats; who cannot have theirs for certain is refused here."""
        now = self._database.clock.now()
        for party in parties:
            try:
                # A seat may be named twice, by its label and by its id.
                named = (view.position(seat_id) for seat_id in party.wanted.seats)
                party.positions = list(dict.fromkeys(named))
            except Refusal as refusal:
                party.refusal = refusal
        await self._ask_registry(key, view, parties, now)
        choosing = [party for party in parties if party.wanted.best and party.refusal is None]
        if choosing:
            await self._choose(key, view, choosing)

    async def _ask_registry(
        self, key: Key, view: View, parties: Sequence[Party], now: datetime
    ) -> None:
        """First this process's memory, then Redis about what it does not remember."""
        organization_id, event_id = key
        unknown: list[tuple[Party, UUID]] = []
        for party in parties:
            for position in party.positions:
                seat_id = view.plan.ids[position]
                held = self.registry.hot(organization_id, event_id, seat_id)
                if held is None:
                    unknown.append((party, seat_id))
                elif _is_anothers(held, party, now):
                    party.refusal = SeatAlreadyHeldByAnotherUser(None, **_until(held, now))
                    break
        asked = [(party, seat_id) for party, seat_id in unknown if party.refusal is None]
        found = await self.registry.warm(
            organization_id, event_id, [seat_id for _, seat_id in asked], now
        )
        for (party, _), held in zip(asked, found, strict=True):
            if held is not None and _is_anothers(held, party, now) and party.refusal is None:
                party.refusal = SeatHeldByAnotherUser(None, **_until(held, now))

    async def _choose(self, key: Key, view: View, parties: Sequence[Party]) -> None:
        """One after the other, so that two of this process do not get the same seats proposed."""
        organization_id, event_id = key
        snapshot = await snapshot_of(self._database, self._cache, organization_id, event_id)
        if snapshot.layout_id != view.event_layout.layout_id:  # one is of before a change of layout
            await self._cache.drop([bitmap_key(organization_id, event_id)])
            raise SeatsChangedMeanwhile()
        now = self._database.clock.now()
        for party in parties:
            assert party.wanted.best is not None
            async with self._database.transaction(organization_id) as tx:
                denied = await denied_zones(tx, party.wanted.caller, view)
            spoken_for = self._choosing[key].union(party.positions)
            house = view.house(with_held(snapshot, spoken_for, now + view.hold_ttl), now)
            try:
                _, choice = choose_best(view, house, party.wanted.best, denied)
            except Refusal as refusal:
                party.refusal = refusal
                continue
            party.chosen = [int(view.plan.rows.position[step]) for step in choice.steps]
            party.positions = [*party.positions, *party.chosen]
            self._choosing[key].update(party.chosen)


def _is_anothers(held: HeldSeat, party: Party, now: datetime) -> bool:
    return held.held_until > now and held.user_id != party.wanted.caller.id


def _until(held: HeldSeat, now: datetime) -> dict[str, object]:
    """Not who: for how long."""
    left = max(1, round((held.held_until - now).total_seconds()))
    return {"expires_at": held.held_until.isoformat(), "expires_in": left}
