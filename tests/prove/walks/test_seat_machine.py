"""Whatever several people do to a few seats and a few places, at once or one after the other,
comes out as if they had done it in some order: compared with a small model after every moment."""

import copy
import datetime as dt
from collections import Counter
from collections.abc import Awaitable
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.prove.length import examples
from tests.seating.race_support import (
    DAYS,
    FLOOR,
    Stage,
    a_config,
    a_stage,
    at,
    floor,
    outcomes,
    unpacked,
)
from tests.support import MovableClock, Tenant
from voelgoed.infra.refusal import Refusal
from voelgoed.seating.actions.places import Places
from voelgoed.seating.model.seats import SeatsChanged
from voelgoed.services import Services

SEATS = ("A1", "A2", "A3", "C1")
CODES = {"available": 0, "held": 1, "sold": 2, "blocked": 3}
CAPACITY = 6
HOLD_S = 60


@dataclass
class Seat:
    status: str = "available"
    hold: int | None = None
    until: int = 0
    was_sold: bool = False


@dataclass
class Model:
    """All there is to know, with moments as seconds and holds as small numbers."""

    now: int = 0
    version: int = 1
    capacity: int = CAPACITY
    seats: dict[str, Seat] = field(default_factory=lambda: {name: Seat() for name in SEATS})
    places: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    """By hold: how many, on which days (bits), until when. What has ended may still be here."""
    sold: Counter[int] = field(default_factory=Counter)

    def status(self, name: str) -> str:
        seat = self.seats[name]
        ended = seat.status == "held" and seat.until <= self.now
        return "available" if ended else seat.status

    def held_places(self, day: int) -> int:
        return sum(
            count
            for count, days, until in self.places.values()
            if until > self.now and day in bits(days)
        )

    def room(self, day: int) -> int:
        return self.capacity - self.sold[day] - self.held_places(day)

    def hold(self, names: str, hold: int) -> object:
        if any(self.status(name) != "available" for name in names.split()):
            return "seat_not_available"
        for name in names.split():
            self.seats[name] = Seat("held", hold, self.now + HOLD_S)
        return None

    def release(self, names: str, hold: int) -> object:
        mine = self._of(names, hold, "held")
        for seat in mine:
            seat.__init__()
        return len(mine)

    def sell(self, names: str, hold: int) -> object:
        mine = [seat for seat in self._of(names, hold, "held") if seat.until > self.now]
        if len(mine) < len(names.split()):
            return "hold_gone"
        for seat in mine:
            seat.status = "sold"
        return None

    def give_back(self, names: str, hold: int) -> object:
        mine = [seat for seat in self._of(names, hold) if seat.status == "sold" or seat.was_sold]
        for seat in mine:
            seat.__init__("available" if seat.status == "sold" else "blocked")
        return len(mine)

    def _of(self, names: str, hold: int, status: str | None = None) -> list[Seat]:
        seats = [self.seats[name] for name in names.split()]
        return [seat for seat in seats if seat.hold == hold and status in (None, seat.status)]

    def block(self, names: str, including_taken: bool) -> object:
        wanted = [name for name in names.split() if self.seats[name].status != "blocked"]
        if not including_taken and any(self.status(name) != "available" for name in wanted):
            return "seat_taken"
        for name in wanted:
            seat = self.seats[name]
            sold = seat.status == "sold"
            self.seats[name] = Seat("blocked", seat.hold if sold else None, 0, sold)
        return wanted

    def unblock(self, names: str) -> object:
        wanted = [name for name in names.split() if self.seats[name].status == "blocked"]
        for name in wanted:
            seat = self.seats[name]
            self.seats[name] = Seat("sold" if seat.was_sold else "available", seat.hold)
        return wanted

    def hold_places(self, count: int, days: int, hold: int) -> object:
        if min(map(self.room, bits(days))) < count:
            return "block_at_capacity"
        self.places = {key: each for key, each in self.places.items() if each[2] > self.now}
        self.places[hold] = (count, days, self.now + HOLD_S)
        return None

    def release_places(self, hold: int) -> object:
        return self.places.pop(hold)[0] if hold in self.places else 0

    def sell_places(self, count: int, days: int, hold: int) -> object:
        if hold not in self.places or self.places[hold][2] <= self.now:
            return "hold_gone"
        del self.places[hold]
        self.sold.update(dict.fromkeys(bits(days), count))
        return None

    def give_places_back(self, count: int, days: int) -> object:
        if any(self.sold[day] < count for day in bits(days)):
            return "places_not_sold"
        self.sold.subtract(dict.fromkeys(bits(days), count))
        return None

    def put(self, capacity: int, version: int) -> object:
        if (version, capacity) == (self.version - 1, self.capacity):
            return None  # the same request again
        if version != self.version:
            return "version_conflict"
        raw = self.seats.values()
        if any(seat.status == "sold" or seat.was_sold for seat in raw) or any(self.sold.values()):
            return "layout_frozen"
        live = any(self.status(name) == "held" for name in SEATS)
        if live or any(map(self.held_places, range(3))):
            return "seats_held"
        for seat in raw:
            if seat.status == "held":
                seat.__init__()
        self.places, self.capacity, self.version = {}, capacity, version + 1
        return None


def bits(days: int) -> list[int]:
    return [day for day in range(3) if days >> day & 1]


names = st.lists(st.sampled_from(SEATS), min_size=1, max_size=3, unique=True).map(
    lambda chosen: " ".join(sorted(chosen))
)
holds = st.integers(0, 2)
count, days = st.integers(1, 4), st.integers(1, 7)
recent = st.integers(0, 3)
"""Which of the latest holds of places."""
action = st.one_of(
    st.tuples(st.just("hold"), names, holds),
    st.tuples(st.sampled_from(["release", "sell", "sell", "give_back"]), names, holds),
    st.tuples(st.just("block"), names, st.booleans()),
    st.tuples(st.just("unblock"), names),
    st.tuples(st.just("hold_places"), count, days),
    st.tuples(st.sampled_from(["release_places", "sell_places", "give_places_back"]), recent),
    st.tuples(st.just("put"), st.integers(3, 8)),
)
moment = st.one_of(
    st.integers(1, HOLD_S),
    st.lists(action, min_size=1, max_size=3),
    st.lists(action, min_size=2, max_size=3),
)


class Play:
    """Does to the program and to the model what was drawn."""

    def __init__(self, stage: Stage, clock: MovableClock) -> None:
        self.stage = stage
        self.clock = clock
        self.model = Model()
        self.asked: list[tuple[int, int]] = []
        """Of every hold of places, how many and on which days."""

    def place_hold(self, hold: int) -> UUID:
        """In no other event."""
        return UUID(int=(self.stage.event_id.int & ~0xFFFF) + hold)

    def meant(self, drawn: tuple[Any, ...]) -> tuple[Any, ...] | None:
        name, *values = drawn
        if name == "hold_places":
            self.asked.append((values[0], values[1]))
            return (*drawn, len(self.asked) - 1)
        if name == "put":
            return (*drawn, self.model.version)
        if name.endswith("_places") or name == "give_places_back":
            hold = len(self.asked) - 1 - values[0]
            if hold < 0:
                return None
            return {
                "release_places": (name, hold),
                "sell_places": (name, *self.asked[hold], hold),
                "give_places_back": (name, *self.asked[hold]),
            }[name]
        return drawn

    async def do(self, action: tuple[Any, ...]) -> object:
        stage, (name, *values) = self.stage, action
        until = self.clock.now() + dt.timedelta(seconds=HOLD_S)
        work: Awaitable[object]
        match name, values:
            case "hold", [seats, hold]:
                work = stage.hold(seats, UUID(int=hold + 1), until=until)
            case "release" | "sell" | "give_back", [seats, hold]:
                work = getattr(stage, name)(seats, UUID(int=hold + 1))
            case "block", [seats, including_taken]:
                work = stage.block(seats, including_taken=including_taken)
            case "unblock", [seats]:
                work = stage.unblock(seats)
            case "hold_places", [count, days, hold]:
                work = stage.hold_places(
                    places(count, days), hold_id=self.place_hold(hold), until=until
                )
            case "release_places", [hold]:
                work = stage.release_places(self.place_hold(hold))
            case "sell_places", [count, days, hold]:
                work = stage.sell_places(places(count, days), hold_id=self.place_hold(hold))
            case "give_places_back", [count, days]:
                work = stage.give_places_back([places(count, days)])
            case _, [capacity, version]:
                work = stage.put(smaller(capacity), version=version)
            case _:
                raise AssertionError(action)
        done = await work
        return done if name in ("release", "give_back", "release_places") else changed(done)

    async def live_through(self, moment: int | list[tuple[Any, ...]]) -> None:
        if isinstance(moment, int):
            self.model.now += moment
            self.clock.ahead += dt.timedelta(seconds=moment)
            return
        if any(drawn[0] == "block" for drawn in moment):
            # A block says nothing to seats that are blocked already, so while somebody lifts
            # that, each seat by itself is as the two did it in some order, but not all together.
            moment = [drawn for drawn in moment if drawn[0] != "unblock"]
        actions = [action for drawn in moment if (action := self.meant(drawn)) is not None]
        found = await outcomes(self.do(action) for action in actions)
        found = [each.code if isinstance(each, Refusal) else each for each in found]
        truth = await self.truth()
        possible = [self.after(actions, order) for order in permutations(range(len(actions)))]
        fitting = [model for model, told in possible if told == found and as_told(model) == truth]
        assert fitting, (actions, found, truth)
        self.model = fitting[0]

    def after(
        self, actions: list[tuple[Any, ...]], order: tuple[int, ...]
    ) -> tuple[Model, list[object]]:
        model, told = copy.deepcopy(self.model), dict[int, object]()
        for number in order:
            name, *values = actions[number]
            told[number] = getattr(model, name)(*values)
        return model, [told[number] for number in range(len(actions))]

    async def truth(self) -> object:
        rows = await self.stage.rows(
            "SELECT seat_id, status, seat_hold_id, sold_when_blocked FROM seat_state"
            " WHERE event_id = $1 AND status <> 'available'",
            self.stage.event_id,
        )
        view = await self.stage.view()
        seats = {
            view.plan.seats[view.plan.by_id[row["seat_id"]]].seat_id: (
                row["status"],
                row["seat_hold_id"] and row["seat_hold_id"].int - 1,
                row["sold_when_blocked"],
            )
            for row in rows
        }
        counters = await self.stage.counters(FLOOR)
        kept = await self.stage.rows(
            "SELECT hold_id FROM place_hold WHERE event_id = $1", self.stage.event_id
        )
        sold = [counters.get(day, (0, 0))[1] for day in DAYS]
        return seats, sorted(number_of(row["hold_id"]) for row in kept), sold

    async def require_told_right(self) -> None:
        """Through the caches, and counters against rows."""
        await self.stage.require_sound()
        view = await self.stage.view()
        codes = unpacked((await self.stage.questions.seat_map()).seats, len(view.plan))
        assert [codes[position] for position in at(view, " ".join(SEATS))] == [
            CODES[self.model.status(name)] for name in SEATS
        ]
        zone = await self.stage.zone(FLOOR)
        assert zone.capacity == self.model.capacity
        told = [(day.available, day.held, day.sold) for day in zone.days]
        model = self.model
        assert told == [
            (model.room(day), model.held_places(day), model.sold[day]) for day in range(3)
        ]


def as_told(model: Model) -> object:
    """As `Play.truth` has it."""
    seats = {
        name: (seat.status, seat.hold, seat.was_sold)
        for name, seat in model.seats.items()
        if seat.status != "available"
    }
    return seats, sorted(model.places), [model.sold[day] for day in range(3)]


def changed(done: object) -> object:
    return done.changed if isinstance(done, SeatsChanged) else None


def number_of(hold_id: UUID) -> int:
    return hold_id.int & 0xFFFF


def places(count: int, days: int) -> Places:
    return floor(count, [DAYS[day] for day in bits(days)])


def smaller(capacity: int) -> dict[str, Any]:
    return {"zone_overrides": {str(FLOOR): {"capacity": capacity}}}


@pytest.fixture
def clock(clock: MovableClock) -> MovableClock:
    return clock.stop()


@examples(short=15, full=500)
@given(moments=st.lists(moment, min_size=1, max_size=14))
async def test_everything_happens_as_if_one_after_the_other(
    services: Services, tenant: Tenant, clock: MovableClock, moments: list[Any]
):
    stage = await a_stage(services, tenant, a_config(floor=CAPACITY))
    play = Play(stage, clock)
    for moment in moments:
        await play.live_through(moment)
        await play.require_told_right()
