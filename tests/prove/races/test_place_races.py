"""Places are counted exactly, whoever comes at the same time, and never beyond the zone's
capacity. Each race has a control: the same without the lock."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest

from tests.prove.length import luck, rounds
from tests.seating.race_support import (
    DAYS,
    FIVE_MINUTES,
    FLOOR,
    FLOOR_PLACES,
    PIT,
    Stage,
    a_config,
    a_node,
    a_stage,
    ask,
    floor,
    insistently,
    is_stuck,
    outcomes,
    pit,
    refusals,
)
from tests.support import MovableClock, Tenant
from voelgoed.infra.refusal import Refusal, StorageUnavailable
from voelgoed.seating.actions import places as actions
from voelgoed.seating.actions.places import Places
from voelgoed.seating.model.refusals import HoldGone
from voelgoed.services import Services

pytestmark = pytest.mark.own_database

MOMENT = timedelta(microseconds=1)
ROUNDS = rounds(short=4, full=40)
LAST = rounds(short=20, full=100)
DEEDS = rounds(short=20, full=100)


@pytest.fixture
def clock(clock: MovableClock) -> MovableClock:
    return clock.stop()


@pytest.fixture
async def stage(services: Services, tenant: Tenant) -> Stage:
    return await a_stage(services, tenant)


@pytest.fixture
async def behind(stage: Stage, database_url: str) -> AsyncIterator[Stage]:
    """The same event through a node whose clock is a moment late."""
    clock = MovableClock().stop()
    clock.ahead = -MOMENT
    async with a_node(database_url, clock) as services:
        yield stage.on(services)


def move(seconds: float, *stages: Stage) -> None:
    for stage in stages:
        stage.services.clock.ahead += timedelta(seconds=seconds)  # type: ignore[attr-defined]


async def hold_naively(stage: Stage, places: Places, counted: asyncio.Barrier) -> bool:
    """Count, see that there is room, and add: what everybody writes first."""
    async with stage.transaction() as tx:
        [row] = await ask(
            tx,
            "SELECT held, capacity FROM zone_day WHERE event_id = $1 AND zone_id = $2 AND day = $3",
            stage.event_id,
            places.zone_id,
            places.days[0],
        )
        if row["held"] + places.count > row["capacity"]:
            return False
        await counted.wait()
        await ask(
            tx,
            "UPDATE zone_day SET held = $4 WHERE event_id = $1 AND zone_id = $2 AND day = $3",
            stage.event_id,
            places.zone_id,
            places.days[0],
            row["held"] + places.count,
        )
        await ask(
            tx,
            "INSERT INTO place_hold VALUES (current_organization(), $1, $2, $3, $4, $5, $6)",
            stage.event_id,
            places.zone_id,
            uuid4(),
            places.days,
            places.count,
            stage.in_five_minutes(),
        )
        return True


class Visitor:
    """Holds, releases, buys and gives back at random, and knows what it has bought."""

    def __init__(self, number: int, stage: Stage) -> None:
        self.random = luck(f"visitor {number}")
        self.stage = stage
        self.held: list[tuple[UUID, list[Places]]] = []
        self.bought: list[list[Places]] = []
        self.refused: Counter[str] = Counter()
        self.done = 0

    def wish(self) -> list[Places]:
        zones = self.random.choice([[FLOOR], [PIT], [FLOOR, PIT], [PIT, FLOOR], [FLOOR, FLOOR]])
        return [
            Places(
                zone_id, self.random.randint(1, 4), self.random.choice([DAYS, DAYS[:1], DAYS[1:]])
            )
            for zone_id in zones
        ]

    async def come(self, times: int, between: Callable[[], None]) -> None:
        for _ in range(times):
            between()
            try:
                await insistently(self.once)
                self.done += 1
            except Refusal as refusal:
                self.refused[refusal.code] += 1

    async def once(self) -> None:
        entry = self.random.random()
        if entry < 0.4 or not (self.held or self.bought):
            wanted = self.wish()
            self.held.append((await self.stage.hold_places(*wanted), wanted))
        elif entry < 0.75 and self.held:
            hold_id, wanted = self.random.choice(self.held)
            await self.stage.sell_places(*wanted, hold_id=hold_id)
            self.held.remove((hold_id, wanted))
            self.bought.append(wanted)
        elif entry < 0.85 and self.held:
            await self.stage.release_places(self.random.choice(self.held)[0])
        elif self.bought:
            await self.stage.give_places_back(self.bought[-1])
            self.bought.pop()


async def test_counters_are_exact_after_thousands_of_changes(
    services: Services, tenant: Tenant, behind: Stage
):
    stage = await a_stage(services, tenant, a_config(floor=60, pit=40))
    behind = stage.on(behind.services)
    visitors = [Visitor(number, (stage, behind)[number % 2]) for number in range(24)]

    def time_passes() -> None:
        move(1, stage, behind)  # so that some holds end meanwhile

    await asyncio.gather(*(visitor.come(DEEDS, time_passes) for visitor in visitors))
    await stage.require_sound()
    bought: Counter[tuple[Any, Any]] = Counter()
    for places in (each for visitor in visitors for order in visitor.bought for each in order):
        bought.update({(places.zone_id, day): places.count for day in places.days})
    for zone_id in (FLOOR, PIT):
        for day, (_, sold) in (await stage.counters(zone_id)).items():
            assert sold == bought[zone_id, day]
    refused = sum((visitor.refused for visitor in visitors), Counter[str]())
    assert set(refused) <= {"block_at_capacity", "hold_gone"}
    assert sum(visitor.done for visitor in visitors) > DEEDS


async def test_control_counting_without_a_lock_loses_count(stage: Stage):
    await stage.release_places(await stage.hold_places(floor(1)))
    all_ = asyncio.Barrier(8)
    await asyncio.gather(*(hold_naively(stage, floor(1, DAYS[:1]), all_) for _ in range(8)))
    with pytest.raises(AssertionError):
        await stage.require_sound()


async def test_of_many_who_want_the_last_places_as_many_get_one_as_there_are(
    services: Services, tenant: Tenant, database_url: str, clock: MovableClock
):
    stage = await a_stage(services, tenant, a_config(floor=1_000))
    await stage.hold_places(floor(1_000 - LAST))
    async with a_node(database_url, clock) as services:
        nodes = (stage, stage.on(services))

        def client(number: int) -> Awaitable[UUID]:
            return insistently(lambda: nodes[number % 2].hold_places(floor(1)))

        found = await outcomes(client(number) for number in range(5 * LAST))
    assert sum(isinstance(each, UUID) for each in found) == LAST
    assert refusals(found) == ["block_at_capacity"] * 4 * LAST
    assert set((await stage.counters(FLOOR)).values()) == {(1_000, 0)}
    await stage.require_sound()


async def test_control_adding_what_was_seen_to_fit_is_a_fault_of_the_database(stage: Stage):
    """The CHECK is the last word, but it is not a refusal that anybody could read."""
    await stage.hold_places(floor(FLOOR_PLACES - 1))
    counted = asyncio.Barrier(2)

    async def client() -> None:
        async with stage.transaction() as tx:
            room = "SELECT 1 FROM zone_day WHERE event_id = $1 AND zone_id = $2 AND held < capacity"
            if await ask(tx, room, stage.event_id, FLOOR):
                await counted.wait()
                await ask(
                    tx,
                    "UPDATE zone_day SET held = held + 1 WHERE event_id = $1 AND zone_id = $2",
                    stage.event_id,
                    FLOOR,
                )

    found = await asyncio.gather(client(), client(), return_exceptions=True)
    assert any(isinstance(each, asyncpg.CheckViolationError) for each in found)


async def test_the_first_to_come_to_a_zone_make_its_days_once(stage: Stage, behind: Stage):
    random = luck("days")
    for _ in range(ROUNDS // 2):
        async with stage.transaction() as tx:
            await ask(tx, "DELETE FROM place_hold")
            await ask(tx, "DELETE FROM zone_day")
        days = [random.sample(DAYS, random.randint(1, 3)) for _ in range(10)]
        found = await outcomes(
            (stage, behind)[number % 2].hold_places(floor(1, each), pit(1, each))
            for number, each in enumerate(days)
        )
        assert refusals(found) == []
        await stage.require_sound()
        assert sorted(await stage.counters(FLOOR)) == DAYS


async def test_bookings_of_two_zones_in_either_order_never_wait_in_a_circle(
    stage: Stage, behind: Stage
):
    await stage.hold_places(floor(1), pit(1))
    for _ in range(ROUNDS):
        found = await outcomes(
            node.hold_places(*order)
            for node in (stage, behind)
            for order in ([floor(1), pit(1)], [pit(1), floor(1, DAYS[:1])], [pit(1, DAYS[1:])])
        )
        assert set(refusals(found)) <= {"block_at_capacity"}
        held = [each for each in found if isinstance(each, UUID)]
        assert await outcomes(map(stage.release_places, held)) == [
            {True: 2, False: 1}[number % 3 < 2]
            for number, each in enumerate(found)
            if isinstance(each, UUID)
        ]
    assert set((await stage.counters(PIT)).values()) == {(1, 0)}


async def test_control_two_zones_in_either_order_deadlock(stage: Stage):
    await stage.hold_places(floor(1), pit(1))

    half_way = asyncio.Barrier(2)
    touch = "UPDATE zone_day SET held = held WHERE zone_id = $1"

    async def add(first: UUID, second: UUID) -> bool:
        try:
            async with stage.transaction() as tx:
                await ask(tx, touch, first)
                await half_way.wait()
                await ask(tx, touch, second)
        except StorageUnavailable as busy:
            return isinstance(busy.__cause__, asyncpg.DeadlockDetectedError)
        return False

    assert sum(await asyncio.gather(add(FLOOR, PIT), add(PIT, FLOOR))) == 1


async def test_of_a_release_and_a_sale_exactly_one_happens(stage: Stage, behind: Stage):
    for round_ in range(ROUNDS):
        hold_id = await stage.hold_places(floor(2), pit(1))
        before = await stage.counters(PIT)
        freed, sold = await outcomes(
            [
                stage.release_places(hold_id),
                behind.sell_places(floor(2), pit(1), hold_id=hold_id),
            ]
        )
        assert (freed, refusals([sold])) in [(3, ["hold_gone"]), (0, [])], round_
        after = await stage.counters(PIT)
        assert after[DAYS[0]][1] - before[DAYS[0]][1] == (0 if freed else 1)
        if not freed:
            await stage.give_places_back([floor(2), pit(1)])
    await stage.require_sound()


async def test_places_are_sold_or_taken_over_when_their_hold_ends_and_never_both(
    stage: Stage, behind: Stage
):
    """For one node the hold has just ended, for the other it has a moment left."""
    for _ in range(ROUNDS):
        until = stage.in_five_minutes()
        everything = floor(FLOOR_PLACES)
        hold_id = await stage.hold_places(everything, until=until)
        move(FIVE_MINUTES.total_seconds(), stage, behind)
        sold, taken = await outcomes(
            [behind.sell_places(everything, hold_id=hold_id), stage.hold_places(everything)]
        )
        assert sorted(refusals([sold, taken])) in [["hold_gone"], ["block_at_capacity"]]
        await stage.require_sound()
        if sold is None:
            await stage.give_places_back([everything])
        elif isinstance(taken, UUID):
            await stage.release_places(taken)


async def test_a_sale_that_saw_the_hold_before_it_was_let_go_of_gets_nothing(
    stage: Stage, behind: Stage
):
    """The tightest of these interleavings."""
    hold_id = await stage.hold_places(floor(FLOOR_PLACES))
    move(FIVE_MINUTES.total_seconds(), stage, behind)
    view = await stage.view()
    async with stage.transaction() as tx:
        await actions.hold_places(tx, view, [floor(1)], uuid4(), stage.in_five_minutes())
        selling = asyncio.create_task(behind.sell_places(floor(FLOOR_PLACES), hold_id=hold_id))
        assert await is_stuck(selling, stage)
    with pytest.raises(HoldGone):
        await selling
    assert set((await stage.counters(FLOOR)).values()) == {(1, 0)}
