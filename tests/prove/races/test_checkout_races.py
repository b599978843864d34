"""A hold ends once: sold, given up or over. Money is given back once. Whoever comes at the same time.

Three nodes share one database. For two of them the holds have one more moment, for the third they
ended ten seconds ago, so that a sale and the sweep of the same hold are both right by their own
clock. Each race has a control: the same without the protection, to show that it does happen.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any

import msgspec
import pytest

from tests.conftest import MASTER_KEY
from tests.prove.length import luck, rounds
from tests.prove.races.test_seat_races import deadlocked
from tests.seating.race_support import (
    FLOOR,
    a_node,
    ask,
    is_stuck,
    outcomes,
    refusals,
)
from tests.support import MovableClock, Tenant
from tests.ticketing.sales_support import CASH, ELSEWHERE, Sales, sales
from voelgoed.infra.database import Transaction
from voelgoed.infra.refusal import Refusal
from voelgoed.seating.store.places import lock_days
from voelgoed.services import Services
from voelgoed.ticketing.actions import hold_changes, ticket_types
from voelgoed.ticketing.model.holds import Hold
from voelgoed.ticketing.model.orders import NewPayment, Notice, OrderDetails
from voelgoed.ticketing.rules.holds import SWEEP_AFTER
from voelgoed.ticketing.rules.payments import meaning_of
from voelgoed.ticketing.store import holds as hold_store
from voelgoed.ticketing.store import orders, payments, tickets

pytestmark = pytest.mark.own_database

SEATS = [f"A{number}" for number in range(1, 21)]
BLOCKS = rounds(short=1, full=5)
ROUNDS = rounds(short=4, full=len(SEATS))
MOMENT = timedelta(microseconds=1)
PAUSE_MS_MAX = 4


@dataclass
class Nodes:
    here: Sales
    beside: Sales
    ahead: Sales

    @property
    def clocks(self) -> list[MovableClock]:
        return [each.services.clock for each in (self.here, self.beside, self.ahead)]  # type: ignore[misc]

    def at(self, moment: timedelta) -> None:
        for clock in self.clocks:
            clock.ahead = moment

    def when_holds_end(self, since: timedelta) -> None:
        """For one node ten seconds ago, for the others in a moment."""
        ttl = timedelta(minutes=5)
        here, beside, ahead = self.clocks
        here.ahead = beside.ahead = since + ttl - MOMENT
        ahead.ahead = since + ttl + SWEEP_AFTER


@pytest.fixture
def clock(clock: MovableClock) -> MovableClock:
    return clock.stop()


@pytest.fixture
async def nodes(services: Services, tenant: Tenant, database_url: str) -> AsyncIterator[Nodes]:
    here = await sales(services, tenant)
    async with (
        a_node(database_url, MovableClock().stop(), master_key=MASTER_KEY) as beside,
        a_node(database_url, MovableClock().stop(), master_key=MASTER_KEY) as ahead,
    ):
        yield Nodes(here, here.on(beside), here.on(ahead))


@dataclass
class Bout:
    """One seat, and whoever wants something of it."""

    nodes: Nodes
    seat: str
    hold: Hold
    order: OrderDetails | None = None

    @property
    def waiting(self) -> OrderDetails:
        assert self.order is not None
        return self.order


Work = Callable[[Bout], Awaitable[Any]]

BUYERS: dict[str, Work] = {
    "place": lambda bout: bout.nodes.here.order([bout.hold], CASH),
    "pay": lambda bout: bout.nodes.here.pay(bout.waiting),
    "notice": lambda bout: bout.nodes.here.tell(bout.waiting),
}
SPOILERS: dict[str, Work] = {
    "sweep": lambda bout: bout.nodes.ahead.sweep(),
    "rival": lambda bout: bout.nodes.ahead.reserve(bout.seat, bout.nodes.ahead.rival),
    "release": lambda bout: bout.nodes.beside.release(bout.hold),
    "extend": lambda bout: bout.nodes.beside.extend(bout.hold),
    "cancel": lambda bout: bout.nodes.beside.cancel(bout.waiting),
}
BUYER_CODES = {"hold_ended", "order_expired", "hold_gone", "order_not_pending"}
SPOILER_CODES = {
    "sweep": set[str](),
    "release": set[str](),
    "rival": {"seat_not_available", "seat_no_longer_available"},
    "extend": {"hold_ended"},
    "cancel": {"order_not_pending"},
}
PAIRS = [
    (buyer, (spoiler,))
    for buyer in BUYERS
    for spoiler in SPOILERS
    if (buyer, spoiler) != ("place", "cancel")
]
ALL_AT_ONCE = [
    ("place", ("sweep", "rival", "release", "extend")),
    ("pay", tuple(SPOILERS)),
    ("notice", tuple(SPOILERS)),
]


async def a_while(random: Random, work: Awaitable[Any]) -> Any:
    await asyncio.sleep(random.random() * PAUSE_MS_MAX / 1000)
    return await work


@pytest.mark.parametrize(("buyer", "spoilers"), [*PAIRS, *ALL_AT_ONCE])
async def test_a_hold_is_sold_or_given_up_or_over_and_never_two_of_these(
    nodes: Nodes, buyer: str, spoilers: tuple[str, ...]
):
    """Twenty times in each block, the seats side by side."""
    random, found = luck(buyer + str(spoilers)), Counter[str]()
    for number in range(BLOCKS):
        since = timedelta(hours=number)
        nodes.at(since)
        bouts = await prepared(nodes, buyer)
        nodes.when_holds_end(since)
        works = [BUYERS[buyer], *(SPOILERS[each] for each in spoilers)]
        answers = await outcomes(a_while(random, work(bout)) for bout in bouts for work in works)
        for at, bout in enumerate(bouts):
            mine = answers[at * len(works) : (at + 1) * len(works)]
            found[await ended(bout, mine[0], dict(zip(spoilers, mine[1:], strict=True)))] += 1
        await nodes.ahead.require_sound()
        await cleared(nodes, since)
    assert sum(found.values()) == BLOCKS * len(SEATS)


async def prepared(nodes: Nodes, buyer: str) -> list[Bout]:
    held = await asyncio.gather(*(nodes.here.reserve(seat) for seat in SEATS))
    bouts = [Bout(nodes, seat, hold) for seat, hold in zip(SEATS, held, strict=True)]
    if buyer != "place":
        placing = (nodes.here.order([bout.hold], payment_of(buyer)) for bout in bouts)
        for bout, order in zip(bouts, await asyncio.gather(*placing), strict=True):
            bout.order = order
    return bouts


def payment_of(buyer: str) -> NewPayment | None:
    return ELSEWHERE if buyer == "notice" else None


async def ended(bout: Bout, bought: Any, others: dict[str, Any]) -> str:
    """How, after everybody was told what is true."""
    [row] = await bout.nodes.here.stage.rows(
        """
        SELECT seat.status AS seat, seat_hold_id = hold.id AS is_mine, hold.status AS hold,
               (SELECT count(*) FROM ticket WHERE hold_id = hold.id AND status = 'active') AS tickets
          FROM seat_hold AS hold JOIN seat_state AS seat USING (event_id, seat_id)
         WHERE hold.id = $1
        """,
        bout.hold.hold_id,
    )
    for name, answer in others.items():
        assert set(refusals([answer])) <= SPOILER_CODES[name], (name, answer)
    if is_bought := not isinstance(bought, Refusal) and bought != "refund_due":
        if isinstance(bought, str):
            assert bought in ("paid", "paid_late")
        assert (row["seat"], row["is_mine"], row["hold"], row["tickets"]) == (
            ("sold", True, "converted", 1)
        )
    else:
        assert set(refusals([bought])) <= BUYER_CODES
        assert row["tickets"] == 0
    rival = others.get("rival")
    if rival is not None and not isinstance(rival, Refusal):
        assert not is_bought
        assert (row["seat"], row["is_mine"]) == ("held", False)
        return "rival"
    if is_bought:
        return "sold"
    # Then somebody ended it before, and for nobody's good the seat is free again.
    assert others.keys() - {"extend"}
    assert (row["seat"], row["hold"]) in {("available", "expired"), ("available", "cancelled")}
    return row["hold"]


async def cleared(nodes: Nodes, since: timedelta) -> None:
    """What is left ends, and what was sold is given back: the next block finds every seat free."""
    nodes.at(since + timedelta(minutes=30))
    await nodes.ahead.sweep()
    await nodes.ahead.expire()
    await nodes.here.require_sound()
    sold = await nodes.here.stage.rows("SELECT id FROM ticket_order WHERE status = 'paid'")
    await asyncio.gather(*(nodes.here.refund(row["id"]) for row in sold))
    await nodes.here.require_sound()
    taken = await nodes.here.stage.rows("SELECT 1 FROM seat_state WHERE status <> 'available'")
    assert taken == []


async def swept_by(tx: Transaction, node: Sales, hold: Hold) -> None:
    """What the sweep does to a hold it has locked."""
    found = await hold_store.lock_holds(tx, [hold.hold_id])
    await hold_changes._end(tx, node.till, await node.stage.view(), found, hold_changes.EXPIRED)


async def sell_naively(node: Sales, hold: Hold, looked: asyncio.Event, go: asyncio.Event) -> None:
    """Look at the hold, then sell its seat: what everybody writes first."""
    async with node.stage.transaction() as tx:
        [found] = await hold_store.find_holds(tx, [hold.hold_id])
        assert found.status == "active"
        looked.set()
        await go.wait()
        await ask(
            tx,
            "UPDATE seat_state SET status = 'sold', held_until = NULL, locked_at = NULL,"
            " seat_hold_id = $2 WHERE seat_id = $1",
            hold.seat_id,
            hold.hold_id,
        )
        await hold_store.mark_converted(tx, [hold.hold_id])


async def test_a_sale_that_waits_for_the_sweep_sells_nothing(nodes: Nodes):
    """The tightest of these interleavings."""
    hold = await nodes.here.reserve("A1")
    nodes.when_holds_end(timedelta())
    async with nodes.ahead.stage.transaction() as tx:
        await swept_by(tx, nodes.ahead, hold)
        sale = asyncio.create_task(nodes.here.order([hold], CASH))
        assert await is_stuck(sale, nodes.here.stage)
    assert refusals(await outcomes([sale])) == ["hold_ended"]
    await nodes.ahead.reserve("A1", nodes.ahead.rival)
    await nodes.ahead.require_sound()


async def test_control_a_sale_that_only_looks_sells_a_seat_that_somebody_else_holds(nodes: Nodes):
    hold = await nodes.here.reserve("A1")
    nodes.when_holds_end(timedelta())
    looked, go = asyncio.Event(), asyncio.Event()
    sale = asyncio.create_task(sell_naively(nodes.here, hold, looked, go))
    await looked.wait()
    async with nodes.ahead.stage.transaction() as tx:
        await swept_by(tx, nodes.ahead, hold)
    rival = await nodes.ahead.reserve("A1", nodes.ahead.rival)
    go.set()
    await sale
    assert rival.status == "held"
    assert (await nodes.here.stage.seat("A1"))["status"] == "sold"
    with pytest.raises(AssertionError, match="a sold seat without its ticket"):
        await nodes.here.require_sound()


async def test_an_extension_that_comes_too_late_leaves_the_seat_to_who_took_it(nodes: Nodes):
    """It began in time, and waits; meanwhile the seat is somebody else's."""
    for seat in SEATS[:5]:
        nodes.at(timedelta())
        hold = await nodes.here.reserve(seat)
        nodes.when_holds_end(timedelta())
        async with nodes.beside.stage.transaction() as bystander:
            await hold_store.lock_holds(bystander, [hold.hold_id])
            extension = asyncio.create_task(nodes.here.extend(hold))
            assert await is_stuck(extension, nodes.here.stage)
            await nodes.ahead.reserve(seat, nodes.ahead.rival)
        assert refusals(await outcomes([extension])) == ["hold_ended"]
        await nodes.ahead.require_sound()


# Webhooks.


async def test_two_notices_of_one_payment_at_once_buy_once(nodes: Nodes):
    for number in range(ROUNDS):
        order = await nodes.here.pending(f"A{number + 1}", floor=1)
        same = "one" + str(number) if number % 2 else ""
        found = await outcomes(
            [nodes.here.tell(order, delivery=same), nodes.beside.tell(order, delivery=same)]
        )
        assert sorted(found) == (["paid", "paid"] if same else ["nothing", "paid"])
        after = await nodes.here.read(order)
        assert (after.order.status, len(after.tickets), len(after.payments)) == ("paid", 2, 1)
    await nodes.here.require_sound()


async def test_of_a_notice_and_the_till_one_buys_and_the_other_is_given_back(nodes: Nodes):
    for number in range(ROUNDS):
        order = await nodes.here.pending(f"A{number + 1}")
        told, paid = await outcomes([nodes.here.tell(order), nodes.beside.pay(order)])
        after = await nodes.here.read(order)
        bought = [each for each in after.payments if each.status == "succeeded"]
        assert (after.order.status, len(bought)) == ("paid", 1)
        assert (told, refusals([paid])) in [("paid", ["order_not_pending"]), ("refund_due", [])]
    await nodes.here.require_sound()


async def test_control_two_who_only_look_at_the_payment_both_mean_to_complete_it(nodes: Nodes):
    order, both = await nodes.here.pending("A1"), asyncio.Barrier(2)
    payment = order.payments[0]
    notice = Notice(
        delivery_id="one",
        payment_id=payment.id,
        status="succeeded",
        amount_minor=payment.amount_minor,
        currency=payment.currency,
    )

    async def naively(node: Sales) -> str:
        async with node.stage.transaction() as tx:
            found = await orders.find_order(tx, order.order.id)
            paid = await payments.find_payment(tx, payment.id)
            assert found is not None
            assert paid is not None
            meaning = meaning_of(found, paid, notice)
            await both.wait()
            await payments.update_payment(tx, msgspec.structs.replace(paid, status="succeeded"))
            return meaning

    assert await asyncio.gather(naively(nodes.here), naively(nodes.beside)) == ["complete"] * 2


# Money and tickets, after the sale.


async def test_of_two_refunds_at_once_one_gives_the_money_back(nodes: Nodes):
    for number in range(ROUNDS):
        sale = await nodes.here.sell(f"A{number + 1}", floor=1)
        found = await outcomes([nodes.here.refund(sale), nodes.beside.refund(sale)])
        assert refusals(found) == ["nothing_to_refund"]
        after = await nodes.here.read(sale)
        assert (after.order.status, after.order.refunded_minor) == ("refunded", 23_000)
        assert [each.refunded_minor for each in after.payments] == [23_000]
    await nodes.here.require_sound()


async def test_tickets_refunded_one_by_one_at_once_give_back_what_was_paid(nodes: Nodes):
    """Paid elsewhere: what is due there grows with every ticket."""
    for number in range(ROUNDS):
        order = await nodes.here.pending(f"A{number + 1}", floor=3)
        await nodes.here.tell(order)
        each = [ticket.id for ticket in (await nodes.here.read(order)).tickets]
        works = [
            (nodes.here, nodes.beside)[at % 2].refund(order, [ticket_id])
            for at, ticket_id in enumerate(each)
        ]
        assert refusals(await outcomes(works)) == []
        after = await nodes.here.read(order)
        assert (after.order.status, after.order.refunded_minor) == ("refunded", 39_000)
        assert [payment.refund_due_minor for payment in after.payments] == [39_000]
    await nodes.here.require_sound()


async def test_of_a_void_and_a_refund_exactly_one_happens(nodes: Nodes):
    for number in range(ROUNDS):
        sale = await nodes.here.sell(f"A{number + 1}")
        ticket_id = sale.tickets[0].id
        voided, refunded = await outcomes([nodes.here.void(ticket_id), nodes.beside.refund(sale)])
        assert refusals([voided, refunded]) in (["nothing_to_refund"], ["ticket_not_valid"])
        after = await nodes.here.read(sale)
        is_refunded = not isinstance(refunded, Refusal)
        assert after.tickets[0].status == ("refunded" if is_refunded else "voided")
        assert after.payments[0].refunded_minor == (15_000 if is_refunded else 0)
    await nodes.here.require_sound()


@pytest.mark.parametrize("status", ["refunded", "voided"])
async def test_control_two_who_only_look_at_the_ticket_both_end_it(nodes: Nodes, status: str):
    sale, both = await nodes.here.sell("A1"), asyncio.Barrier(2)

    async def naively(node: Sales) -> bool:
        async with node.stage.transaction() as tx:
            [found] = await tickets.list_tickets_of(tx, sale.order.id)
            await both.wait()
            await tickets.end_tickets(tx, [found.ticket.id], status, "ill")  # type: ignore[arg-type]
            return found.ticket.status == "active"

    assert await asyncio.gather(naively(nodes.here), naively(nodes.beside)) == [True, True]


async def test_a_ticket_that_is_void_has_no_barcode_whoever_made_a_new_one(nodes: Nodes):
    for number in range(ROUNDS):
        sale = await nodes.here.sell(f"A{number + 1}")
        ticket_id = sale.tickets[0].id
        new, _ = await outcomes([nodes.here.reissue(ticket_id), nodes.beside.void(ticket_id)])
        assert refusals([new]) in ([], ["ticket_not_valid"])
        [row] = await nodes.here.stage.rows(
            "SELECT status, issue, (SELECT array_agg(reason ORDER BY reason) FROM ticket_revocation"
            " WHERE ticket_id = ticket.id) AS revoked FROM ticket WHERE id = $1",
            ticket_id,
        )
        is_new = not isinstance(new, Refusal)
        assert row["status"] == "voided"
        assert row["issue"] == 1 + is_new
        assert row["revoked"] == ["reissued", "voided"][1 - is_new :]
    await nodes.here.require_sound()


async def test_of_two_reissues_at_once_each_revokes_the_one_before(nodes: Nodes):
    sale = await nodes.here.sell("A1")
    ticket_id = sale.tickets[0].id
    for _ in range(ROUNDS // 2):
        await outcomes([nodes.here.reissue(ticket_id), nodes.beside.reissue(ticket_id)])
    revoked = await nodes.here.stage.rows("SELECT issue FROM ticket_revocation ORDER BY issue")
    assert [row["issue"] for row in revoked] == list(range(1, ROUNDS + 1))


async def test_control_a_reissue_that_only_looks_gives_a_barcode_for_a_void_ticket(nodes: Nodes):
    ticket_id = (await nodes.here.sell("A1")).tickets[0].id
    async with nodes.here.stage.transaction() as tx:
        found = await tickets.find_ticket(tx, ticket_id)
        assert found is not None
        assert found.ticket.status == "active"
        await nodes.beside.void(ticket_id)
        new = msgspec.structs.replace(found.ticket, issue=2)
        await tickets.reissue_ticket(tx, new, b"of another barcode")
    [row] = await nodes.here.stage.rows("SELECT status, issue FROM ticket")
    assert (row["status"], row["issue"]) == ("voided", 2)


# Quotas, and the order of locks.


async def test_the_last_of_a_quota_go_to_as_many_as_there_are(services: Services, tenant: Tenant):
    """Twenty at once, five left; whoever pays later has theirs already."""
    here = await sales(services, tenant, quota=5)
    for number in range(rounds(short=2, full=10)):
        holds = await asyncio.gather(*(here.reserve(seat) for seat in SEATS))
        payments_ = [CASH, None, ELSEWHERE]
        works = [here.order([hold], payments_[at % 3]) for at, hold in enumerate(holds)]
        found = await outcomes(works)
        assert refusals(found) == ["ticket_type_sold_out"] * 15, number
        await here.require_sound()
        won = [each for each in found if not isinstance(each, Refusal)]
        ending = (
            here.refund(each) if each.order.status == "paid" else here.cancel(each) for each in won
        )
        await outcomes([*ending, *(here.release(hold) for hold in holds)])
        await here.require_sound()


async def test_control_counting_before_selling_sells_too_many(nodes: Nodes):
    both = asyncio.Barrier(2)
    await nodes.here.stage.rows("UPDATE ticket_type SET quota = 1 RETURNING id")

    async def naively(node: Sales) -> bool:
        async with node.stage.transaction() as tx:
            [row] = await ask(tx, "SELECT count(*) AS sold FROM ticket")
            await both.wait()
            return row["sold"] < 1

    assert await asyncio.gather(naively(nodes.here), naively(nodes.beside)) == [True, True]


async def test_sales_refunds_cancellations_and_late_payments_never_wait_in_a_circle(nodes: Nodes):
    """Each wants seats, places and ticket types; a circle would be a refusal that is not one."""
    random = luck("a circle")
    nodes.at(timedelta())
    for number in range(ROUNDS):
        since = timedelta(hours=number)
        nodes.at(since)
        late = [await nodes.here.pending(seats, floor=2) for seats in ("A1 A2 A3", "A7 A6 A5")]
        nodes.at(since + timedelta(minutes=6))
        late += [await nodes.here.pending(seats, floor=2) for seats in ("A3 A2 A1", "A5 A6 A7")]
        nodes.at(since + timedelta(minutes=12))
        sold = [await nodes.here.sell(f"A{at} A{at + 1}", floor=2) for at in (9, 11)]
        waiting = [
            await nodes.here.order(await nodes.here.hold(f"A{at} A{at + 1}", floor=2))
            for at in (13, 15)
        ]
        held = [await nodes.here.hold(f"A{at} A{at + 1}", floor=2) for at in (17, 19)]
        works: list[Awaitable[Any]] = []
        for at in range(2):
            node, other = (nodes.here, nodes.beside) if at else (nodes.beside, nodes.here)
            works += [node.tell(late[at]), other.tell(late[at + 2])]
            works += [node.refund(sold[at]), other.cancel(waiting[at]), node.order(held[at], CASH)]
        works += [nodes.here.expire(), nodes.beside.sweep()]
        random.shuffle(works)
        assert refusals(await outcomes(a_while(random, work) for work in works)) == []
        await nodes.here.require_sound()
        await cleared(nodes, since + timedelta(minutes=15))


async def test_control_types_before_places_and_places_before_types_deadlock(nodes: Nodes):
    sale = await nodes.here.sell(floor=1)
    half_way, counts = asyncio.Barrier(2), {nodes.here.standing: 1}

    async def one(node: Sales, *, types_first: bool) -> None:
        async with node.stage.transaction() as tx:
            for step in (types_first, not types_first):
                if step:
                    await ticket_types.take(tx, counts)
                else:
                    await lock_days(tx, sale.order.event_id, FLOOR)
                if step is types_first:
                    await half_way.wait()

    both = [
        deadlocked(one(nodes.here, types_first=True)),
        deadlocked(one(nodes.beside, types_first=False)),
    ]
    assert sum(await asyncio.gather(*both)) == 1
