"""No seat is granted twice, whoever comes at the same time. Each race has a control: the same
without the protection, to show that it does happen."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID, uuid4

import asyncpg
import pytest

from tests.prove.length import luck, rounds
from tests.seating.race_support import (
    FIVE_MINUTES,
    Stage,
    a_hall,
    a_node,
    a_stage,
    ask,
    at,
    insistently,
    is_stuck,
    outcomes,
    refusals,
    waiting_for_a_lock,
)
from tests.support import STOPPED_AT, MovableClock, Tenant
from voelgoed.infra.database import Transaction
from voelgoed.infra.refusal import Refusal, StorageUnavailable
from voelgoed.seating.actions import seats as actions
from voelgoed.seating.actions.bookings import lock_bookings, open_bookings
from voelgoed.seating.actions.seats import SeatHold
from voelgoed.seating.actions.views import require_unchanged, snapshot_in
from voelgoed.seating.model.refusals import HoldGone, SeatNotAvailable, SeatsChangedMeanwhile
from voelgoed.seating.rules.selection import Booker, check_selection
from voelgoed.services import Services

pytestmark = pytest.mark.own_database

SEATS = 60
ROUNDS = rounds(short=6, full=20)
MOMENT = timedelta(microseconds=1)
GROUP = "A1 A2 A3 A4 A5 A6"


@pytest.fixture
def clock(clock: MovableClock) -> MovableClock:
    return clock.stop()


@pytest.fixture
async def stage(services: Services, tenant: Tenant) -> Stage:
    """A1 to A60."""
    return await a_stage(services, tenant, a_hall(SEATS))


@pytest.fixture
async def behind(stage: Stage, database_url: str) -> AsyncIterator[Stage]:
    """The same event through a node whose clock is a moment late."""
    clock = MovableClock().stop()
    clock.ahead = -MOMENT
    async with a_node(database_url, clock) as services:
        yield stage.on(services)


def every_round() -> list[str]:
    return [f"A{number}" for number in range(1, ROUNDS + 1)]


async def naively(
    stage: Stage, seat_id: str, was: str, becomes: str, looked: asyncio.Barrier | None = None
) -> bool:
    """Look, then write without saying what one saw: what everybody writes first."""
    view = await stage.view()
    [position] = at(view, seat_id)
    async with stage.transaction() as tx:
        found = await ask(tx, "SELECT status FROM seat_state WHERE position = $1", position)
        if (found[0]["status"] if found else "available") != was:
            return False
        if looked is not None:
            await looked.wait()
        await ask(
            tx,
            """
            INSERT INTO seat_state AS seat (organization_id, event_id, seat_id, position, status,
                                            held_until, seat_hold_id, blocked_reason, version,
                                            updated_at)
            VALUES (current_organization(), $1, $2, $3, $4::text,
                    CASE WHEN $4 = 'held' THEN now() END, $5,
                    CASE WHEN $4 = 'blocked' THEN 'broken' END, 1, now())
            ON CONFLICT (organization_id, event_id, seat_id) DO UPDATE SET
                status = EXCLUDED.status, held_until = EXCLUDED.held_until,
                blocked_reason = EXCLUDED.blocked_reason, version = seat.version + 1
            """,
            stage.event_id,
            view.plan.ids[position],
            position,
            becomes,
            uuid4(),
        )
        return True


async def deadlocked(work: Awaitable[object]) -> bool:
    try:
        await work
    except StorageUnavailable as busy:
        return isinstance(busy.__cause__, asyncpg.DeadlockDetectedError)
    except asyncpg.DeadlockDetectedError:
        return True
    return False


async def test_of_two_on_one_seat_exactly_one_wins(stage: Stage, behind: Stage):
    for seat_id in every_round():
        found = await outcomes([stage.hold(seat_id), behind.hold(seat_id)])
        assert refusals(found) == ["seat_not_available"]
        [winner] = [each for each in found if isinstance(each, UUID)]
        seat = await stage.seat(seat_id)
        assert (seat["seat_hold_id"], seat["version"]) == (winner, 1)


async def test_control_two_who_only_look_before_they_write_both_win(stage: Stage, behind: Stage):
    both = asyncio.Barrier(2)
    assert await asyncio.gather(
        naively(stage, "A1", "available", "held", both),
        naively(behind, "A1", "available", "held", both),
    ) == [True, True]


async def test_of_twenty_on_one_seat_exactly_one_wins_and_the_others_are_told_so(
    stage: Stage, behind: Stage
):
    for seat_id in every_round()[:10]:
        crowd = [(stage, behind)[number % 2].hold(seat_id) for number in range(20)]
        found = await outcomes(crowd)
        assert refusals(found) == ["seat_not_available"] * 19
    await stage.require_sound()


async def test_groups_that_want_the_same_seats_in_other_orders_get_all_or_nothing(
    stage: Stage, behind: Stage, clock: MovableClock
):
    """Nobody waits in a circle: that would be a refusal that is not one, and fail here."""
    random = luck("groups")
    for _ in range(ROUNDS // 2):
        wanted = [
            " ".join(random.sample([f"A{number}" for number in range(1, 13)], 5)) for _ in range(8)
        ]
        found = await outcomes(
            (stage, behind)[number % 2].hold(group) for number, group in enumerate(wanted)
        )
        assert set(refusals(found)) <= {"seat_not_available"}
        held = {
            row["seat_hold_id"]: row["seats"]
            for row in await stage.rows(
                "SELECT seat_hold_id, count(*) AS seats FROM seat_state"
                " WHERE status = 'held' AND held_until > $1 GROUP BY seat_hold_id",
                stage.services.clock.now(),
            )
        }
        assert held == {each: 5 for each in found if isinstance(each, UUID)}
        assert held
        clock.ahead += FIVE_MINUTES
        behind.services.clock.ahead += FIVE_MINUTES  # type: ignore[attr-defined]


async def test_control_groups_that_lock_in_their_own_order_deadlock(stage: Stage):
    await stage.hold("A1 A2")

    half_way = asyncio.Barrier(2)

    async def one_by_one(first: str, second: str) -> None:
        view = await stage.view()
        async with stage.transaction() as tx:
            await lock(tx, at(view, first))
            await half_way.wait()
            await lock(tx, at(view, second))

    both = [deadlocked(one_by_one("A1", "A2")), deadlocked(one_by_one("A2", "A1"))]
    assert sum(await asyncio.gather(*both)) == 1


async def lock(tx: Transaction, positions: list[int]) -> None:
    """As an UPDATE would, in the order that is given."""
    for position in positions:
        await ask(tx, "SELECT 1 FROM seat_state WHERE position = $1 FOR NO KEY UPDATE", position)


Others = Callable[[Stage, UUID], Awaitable[object]]


async def release(stage: Stage, hold_id: UUID) -> object:
    return await stage.release(GROUP, hold_id)


async def sell(stage: Stage, hold_id: UUID) -> object:
    return await stage.sell(GROUP, hold_id)


async def give_back(stage: Stage, hold_id: UUID) -> object:
    return await stage.give_back(GROUP, hold_id)


async def unblock(stage: Stage, _hold_id: UUID) -> object:
    return await stage.unblock(GROUP)


async def in_the_order_of_the_pages(stage: Stage, hold_id: UUID) -> object:
    """What an UPDATE of several rows does by itself."""
    view = await stage.view()
    async with stage.transaction() as tx:
        await lock(tx, at(view, GROUP)[::-1])


@pytest.mark.parametrize(
    ("other", "state", "circle"),
    [
        (release, "held", False),
        (sell, "held", False),
        (give_back, "sold", False),
        (unblock, "blocked", False),
        (in_the_order_of_the_pages, "held", True),
    ],
)
async def test_who_changes_many_seats_takes_them_in_one_order(
    stage: Stage, other: Others, state: str, circle: bool
):
    """Rows lie in the database as they came: here the last seat first. A bystander in the middle
    lets both get their first half. The last of these is the control."""
    for seat_id in reversed(GROUP.split()):
        await stage.release(seat_id, await stage.hold(seat_id))
    hold_id = await stage.hold(GROUP)
    if state != "held":
        await stage.sell(GROUP, hold_id)
    if state == "blocked":
        await stage.block(GROUP, including_taken=True)
    view = await stage.view()
    async with stage.transaction() as bystander:
        await lock(bystander, at(view, "A3"))
        if state == "blocked":
            first = asyncio.create_task(deadlocked(stage.give_back(GROUP, hold_id)))
        else:
            first = asyncio.create_task(deadlocked(stage.block(GROUP, including_taken=True)))
        await waiting_for_a_lock(stage, 1)
        second = asyncio.create_task(deadlocked(quietly(other(stage, hold_id))))
        await waiting_for_a_lock(stage, 2)
    assert (await first or await second) == circle
    await stage.require_sound()


async def quietly(work: Awaitable[object]) -> object:
    try:
        return await work
    except (HoldGone, SeatsChangedMeanwhile) as refusal:
        return refusal


async def test_of_a_hold_and_a_block_exactly_one_wins(stage: Stage, behind: Stage):
    for seat_id in every_round():
        found = await outcomes([stage.hold(seat_id), behind.block(seat_id)])
        [refusal] = refusals(found)
        assert await stage.statuses(seat_id) == [
            {"seat_taken": "held", "seat_not_available": "blocked"}[refusal]
        ]


async def test_a_block_that_takes_held_seats_too_always_gets_the_seat(stage: Stage, behind: Stage):
    for seat_id in every_round():
        held, _ = await outcomes([stage.hold(seat_id), behind.block(seat_id, including_taken=True)])
        assert await stage.statuses(seat_id) == ["blocked"]
        if isinstance(held, UUID):
            with pytest.raises(HoldGone):
                await stage.sell(seat_id, held)


async def test_control_a_hold_and_a_block_that_only_look_both_win(stage: Stage, behind: Stage):
    both = asyncio.Barrier(2)
    assert await asyncio.gather(
        naively(stage, "A1", "available", "held", both),
        naively(behind, "A1", "available", "blocked", both),
    ) == [True, True]


async def test_a_seat_is_sold_or_taken_over_at_the_moment_its_hold_ends_and_never_both(
    stage: Stage, behind: Stage, clock: MovableClock
):
    """For one node the hold has just ended, for the other it has a moment left."""
    until = stage.in_five_minutes()
    holds = {seat_id: await stage.hold(seat_id, until=until) for seat_id in every_round()}
    clock.ahead += FIVE_MINUTES
    behind.services.clock.ahead += FIVE_MINUTES  # type: ignore[attr-defined]
    for seat_id, hold_id in holds.items():
        found = await outcomes([behind.sell(seat_id, hold_id), stage.hold(seat_id)])
        [refusal] = refusals(found)
        seat = await stage.seat(seat_id)
        if refusal == "hold_gone":
            assert (seat["status"], seat["seat_hold_id"]) == ("held", found[1])
        else:
            assert refusal == "seat_not_available"
            assert (seat["status"], seat["seat_hold_id"]) == ("sold", hold_id)
    await stage.require_sound()


@pytest.mark.parametrize("protected", [True, False])
async def test_a_takeover_that_saw_the_hold_before_it_was_sold_gets_nothing(
    stage: Stage, behind: Stage, clock: MovableClock, protected: bool
):
    """The tightest of these interleavings, and with it the control."""
    hold_id = await stage.hold("A1")
    clock.ahead += FIVE_MINUTES
    behind.services.clock.ahead += FIVE_MINUTES  # type: ignore[attr-defined]
    view = await stage.view()
    async with behind.transaction() as late:
        await actions.sell(late, view, at(view, "A1"), [hold_id])
        if protected:
            taking = asyncio.create_task(stage.hold("A1"))
        else:
            taking = asyncio.create_task(naively(stage, "A1", "held", "held"))
        assert await is_stuck(taking, stage)
    [found] = await asyncio.gather(taking, return_exceptions=True)
    assert isinstance(found, SeatNotAvailable if protected else bool)
    assert await stage.statuses("A1") == ["sold" if protected else "held"]


async def test_of_a_release_and_a_sale_exactly_one_happens(stage: Stage, behind: Stage):
    behind.services.clock.ahead = timedelta()  # type: ignore[attr-defined]
    for seat_id in every_round():
        hold_id = await stage.hold(seat_id)
        freed, sold = await outcomes(
            [stage.release(seat_id, hold_id), behind.sell(seat_id, hold_id)]
        )
        assert (freed, refusals([sold])) in [(1, ["hold_gone"]), (0, [])]
        assert await stage.statuses(seat_id) == ["available" if freed else "sold"]


async def test_control_a_release_and_a_sale_that_only_look_both_happen(stage: Stage, behind: Stage):
    await stage.hold("A1")
    both = asyncio.Barrier(2)
    assert await asyncio.gather(
        naively(stage, "A1", "held", "available", both),
        naively(behind, "A1", "held", "sold", both),
    ) == [True, True]


async def book(stage: Stage, seats: str) -> UUID:
    """As a booking will: see that the seats may be taken together, then take them."""
    hold = SeatHold(uuid4(), None, stage.in_five_minutes())
    customer = stage.tenant.caller("customer")

    async def once() -> UUID:
        view = await stage.view()
        async with stage.transaction() as tx:
            await require_unchanged(tx, view)
            await lock_bookings(tx, view, at(view, seats))
            bookings = await open_bookings(tx, view, at(view, seats))
            if refusal := await bookings.refusal(customer, at(view, seats)):
                raise refusal
            await actions.hold(tx, customer, view, at(view, seats), hold)
        return hold.id

    return await actions.retrying(once)


async def test_two_bookings_never_leave_a_seat_alone_between_them(
    stage: Stage, behind: Stage, clock: MovableClock
):
    """Each by itself would not."""
    for _ in range(ROUNDS // 2):
        found = await outcomes([book(stage, "A1 A2"), book(behind, "A4 A5")])
        assert refusals(found) == ["booking_refused"]
        for node in (stage, behind):
            node.services.clock.ahead += FIVE_MINUTES  # type: ignore[attr-defined]


async def test_control_two_bookings_that_only_look_leave_a_seat_alone(stage: Stage):
    looked = asyncio.Barrier(2)

    async def book_naively(seats: str) -> bool:
        view = await stage.view()
        async with stage.transaction() as tx:
            house = view.house(await snapshot_in(tx, stage.event_id), tx.now)
            fine = not check_selection(house, at(view, seats), Booker()).problems
            await looked.wait()
            hold = SeatHold(uuid4(), None, stage.in_five_minutes())
            await actions.hold(tx, stage.caller, view, at(view, seats), hold)
        return fine

    assert await asyncio.gather(book_naively("A1 A2"), book_naively("A4 A5")) == [True, True]
    assert await stage.codes("A2 A3 A4") == ["held", "available", "held"]


async def test_bookings_in_several_rows_never_wait_in_a_circle(
    services: Services, tenant: Tenant, behind: Stage
):
    stage = await a_stage(services, tenant)
    nodes, random = (stage, stage.on(behind.services)), luck("rows")
    seats = [f"{row}{number}" for row in "ABC" for number in (1, 2, 3, 4)]
    for _ in range(ROUNDS // 3):
        wanted = [" ".join(random.sample(seats, 3)) for _ in range(8)]
        found = await outcomes(book(nodes[at % 2], each) for at, each in enumerate(wanted))
        assert set(refusals(found)) <= {"booking_refused", "seat_not_available"}
        for node in nodes:
            node.services.clock.ahead += FIVE_MINUTES  # type: ignore[attr-defined]


class NewAuditEntry(NamedTuple):
    name: str
    hold_id: UUID
    at_second: float


async def test_the_history_of_every_seat_is_one_that_could_be(
    stage: Stage, behind: Stage, clock: MovableClock
):
    """A crowd on six seats for a while. Each notes what it did and as which version of the seat:
    read in that order, no seat was ever given to somebody while it was somebody else's."""
    behind.services.clock.ahead = timedelta()  # type: ignore[attr-defined]
    history: dict[str, dict[int, NewAuditEntry]] = defaultdict(dict)

    async def visitor(number: int) -> None:
        random, node = luck(f"visitor {number}"), (stage, behind)[number % 2]
        for _ in range(rounds(short=12, full=60)):
            group = random.sample(GROUP.split(), random.randint(1, 3))
            hold_id = uuid4()
            if not await did(node, "hold", group, hold_id):
                continue
            if random.random() < 0.1:
                for each in (clock, behind.services.clock):
                    each.ahead += timedelta(seconds=40)  # type: ignore[attr-defined]
            await did(node, random.choice(["sell", "release", "sell"]), group, hold_id)
            await did(node, random.choice(["give_back", "release"]), group, hold_id)
            await did(node, "give_back", group, hold_id)

    async def did(node: Stage, name: str, group: list[str], hold_id: UUID) -> bool:
        async def once() -> bool:
            view = await node.view()
            positions = at(view, " ".join(group))
            noted: list[tuple[str, int, NewAuditEntry]] = []
            async with node.transaction() as tx:
                if name == "hold":
                    until = tx.now + timedelta(seconds=60)
                    hold = SeatHold(hold_id, None, until)
                    await actions.hold(tx, node.caller, view, positions, hold)
                elif name == "sell":
                    await actions.sell(tx, view, positions, [hold_id])
                else:
                    await getattr(actions, name)(tx, view, positions, [hold_id])
                entry = NewAuditEntry(name, hold_id, (tx.now - STOPPED_AT).total_seconds())
                for row in await ask(tx, WRITTEN_JUST_NOW):
                    noted.append((f"A{row['position'] + 1}", row["version"], entry))
            for seat_id, version, entry in noted:
                assert version not in history[seat_id], "two became the same version"
                history[seat_id][version] = entry
            return True

        try:
            return await insistently(once)
        except Refusal:
            return False

    await asyncio.gather(*(visitor(number) for number in range(16)))
    assert sum(map(len, history.values())) > len(history), "or it proves little"
    for seat_id, entries in history.items():
        assert sorted(entries) == list(range(1, len(entries) + 1)), "no change is unaccounted for"
        require_possible(seat_id, [entries[version] for version in sorted(entries)])
    await stage.require_sound()


WRITTEN_JUST_NOW = """
    SELECT position, version FROM seat_state WHERE xmin = pg_current_xact_id()::xid
"""


def require_possible(seat_id: str, entries: list[NewAuditEntry]) -> None:
    status, holder, until = "available", None, 0.0
    for entry in entries:
        mine = holder == entry.hold_id
        match entry.name:
            case "hold":
                ended = status == "held" and until <= entry.at_second
                assert status == "available" or ended, (seat_id, entries)
                status, holder, until = "held", entry.hold_id, entry.at_second + 60
            case "sell":
                assert status == "held", (seat_id, entries)
                assert mine, (seat_id, entries)
                assert until > entry.at_second, (seat_id, entries)
                status = "sold"
            case _:
                before = {"release": "held", "give_back": "sold"}[entry.name]
                assert status == before, (seat_id, entries)
                assert mine, (seat_id, entries)
                status, holder = "available", None
