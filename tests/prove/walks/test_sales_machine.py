"""Whatever people do to holds, orders, payments and tickets, in whatever order, a small model says what
they are told, what is free afterwards, and that money and seats agree."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.prove.length import examples
from tests.seating.race_support import FLOOR
from tests.support import MovableClock, a_tenant
from tests.ticketing.sales_support import CASH, ELSEWHERE, Sales, sales
from voelgoed.infra.refusal import Refusal
from voelgoed.services import Services
from voelgoed.ticketing.model.holds import Hold
from voelgoed.ticketing.model.orders import OrderDetails

pytestmark = pytest.mark.own_database  # it sweeps, which goes over all tenants

SEATS = ("A1", "A2", "A3", "A4")
CAPACITY = 5
QUOTA = 4
"""Of each ticket type."""
TTL_S, SWEEP_AFTER_S = 300, 10
TAKEN = {
    "seat_already_held_by_another_user",
    "seat_held_by_another_user",
    "seat_not_available",
    "seat_no_longer_available",
}
PAYMENTS = {"later": None, "cash": CASH, "elsewhere": ELSEWHERE}


@dataclass
class ModelHold:
    seat: str | None
    places: int
    by: str
    until: int
    status: str = "active"
    extended: bool = False


@dataclass
class ModelOrder:
    holds: list[int]
    until: int
    status: str = "pending"
    payment: str | None = None
    """Of the one elsewhere."""
    tickets: list[tuple[int, str]] = field(default_factory=list)
    """By hold, and how they are."""


@dataclass
class Model:
    now: int = 0
    seats: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Held or sold, and through which hold."""
    holds: list[ModelHold] = field(default_factory=list)
    orders: list[ModelOrder] = field(default_factory=list)
    standing: set[int] = field(default_factory=set)
    """Holds that have places."""
    sold: int = 0
    taken: Counter[bool] = field(default_factory=Counter)
    """Of the quotas: of seats, of places."""

    def lives(self, number: int) -> bool:
        hold = self.holds[number]
        return hold.status == "active" and hold.until > self.now

    def is_free(self, seat: str) -> bool:
        status, hold = self.seats.get(seat, ("available", -1))
        return status == "available" or (status == "held" and self.holds[hold].until <= self.now)

    @property
    def room(self) -> int:
        live = (self.holds[each] for each in self.standing)
        held = sum(hold.places for hold in live if hold.until > self.now)
        return CAPACITY - self.sold - held

    def reserve(self, seat: str, by: str) -> str:
        status, number = self.seats.get(seat, ("available", -1))
        if not self.is_free(seat):
            mine = status == "held" and self.holds[number].by == by
            return "again" if mine else "taken"
        self.seats[seat] = ("held", len(self.holds))
        self.holds.append(ModelHold(seat, 1, by, self.now + TTL_S))
        return "new"

    def stand(self, count: int, by: str) -> str:
        if self.room < count:
            return "block_at_capacity"
        self.standing.add(len(self.holds))
        self.holds.append(ModelHold(None, count, by, self.now + TTL_S))
        return "new"

    def end(self, number: int) -> None:
        hold = self.holds[number]
        if hold.status != "active":
            return
        hold.status = "cancelled" if hold.until > self.now else "expired"
        self.standing.discard(number)
        if hold.seat and self.seats.get(hold.seat) == ("held", number):
            del self.seats[hold.seat]

    def extend(self, number: int) -> str:
        hold = self.holds[number]
        if not self.lives(number):
            return "hold_ended"
        if hold.extended:
            return "hold_already_extended"
        hold.until, hold.extended = self.now + TTL_S, True
        return "done"

    def sweep(self) -> None:
        for number, hold in enumerate(self.holds):
            if hold.until <= self.now - SWEEP_AFTER_S:
                self.end(number)
        for order in self.orders:
            if order.status == "pending" and order.until <= self.now - SWEEP_AFTER_S:
                if all(self.lives(each) for each in order.holds):
                    order.until = min(self.holds[each].until for each in order.holds)
                else:
                    order.status = "expired"
                    self.taken -= self.counts(order.holds)

    def counts(self, holds: list[int]) -> Counter[bool]:
        counts = Counter[bool]()
        for each in holds:
            counts[self.holds[each].seat is not None] += self.holds[each].places
        return counts

    def is_sold_out(self, holds: list[int]) -> bool:
        counts = self.counts(holds)
        return any(self.taken[each] + count > QUOTA for each, count in counts.items())

    def order(self, holds: list[int], payment: str) -> str:
        if not all(self.lives(each) for each in holds):
            return "hold_ended"
        if self.is_sold_out(holds):
            return "ticket_type_sold_out"
        self.taken.update(self.counts(holds))
        order = ModelOrder(holds, min(self.holds[each].until for each in holds))
        self.orders.append(order)
        if payment == "cash":
            self.sell(order)
        elif payment == "elsewhere":
            order.payment = "pending"
        return order.status

    def sell(self, order: ModelOrder) -> None:
        order.status = "paid"
        for number in order.holds:
            hold = self.holds[number]
            hold.status = "converted"
            order.tickets += [(number, "active")] * hold.places
            self.standing.discard(number)
            if hold.seat:
                self.seats[hold.seat] = ("sold", number)
            else:
                self.sold += hold.places

    def pay(self, number: int) -> str:
        order = self.orders[number]
        if order.status != "pending":
            return "order_not_pending"
        if not all(self.lives(each) for each in order.holds):
            return "order_expired"
        self.sell(order)
        return "paid"

    def tell(self, number: int) -> str:
        order = self.orders[number]
        if order.payment != "pending":
            return "nothing"
        if order.status not in ("pending", "expired"):
            order.payment = "refund_due"
            return "refund_due"
        if order.status == "pending" and all(self.lives(each) for each in order.holds):
            order.payment = "succeeded"
            self.sell(order)
            return "paid"
        if self.can_have_again(order):
            if order.status == "expired":
                self.taken.update(self.counts(order.holds))
            order.payment = "succeeded"
            self.sell(order)
            return "paid_late"
        if order.status == "pending":
            self.taken -= self.counts(order.holds)
        order.status = order.payment = "refund_due"
        return "refund_due"

    def can_have_again(self, order: ModelOrder) -> bool:
        lost = [each for each in order.holds if not self.lives(each)]
        seats = [seat for each in lost if (seat := self.holds[each].seat)]
        places = sum(self.holds[each].places for each in lost if not self.holds[each].seat)
        if order.status == "expired" and self.is_sold_out(order.holds):
            return False
        return all(self.is_free(seat) for seat in seats) and places <= self.room

    def cancel(self, number: int) -> str:
        order = self.orders[number]
        if order.status not in ("pending", "cancelled"):
            return "order_not_pending"
        if order.status == "pending":
            for each in order.holds:
                self.end(each)
            self.taken -= self.counts(order.holds)
            order.status = "cancelled"
        return "cancelled"

    def refund(self, number: int) -> str:
        order = self.orders[number]
        active = [at for at, (_, status) in enumerate(order.tickets) if status == "active"]
        if not active:
            return "nothing_to_refund"
        for at in active:
            self.end_ticket(order, at, "refunded")
        order.status = "refunded"
        return "refunded"

    def void(self, number: int, at: int) -> str:
        order = self.orders[number]
        _, status = order.tickets[at]
        if status == "refunded":
            return "ticket_not_valid"
        if status == "active":
            self.end_ticket(order, at, "voided")
        return "voided"

    def end_ticket(self, order: ModelOrder, at: int, status: str) -> None:
        number, _ = order.tickets[at]
        order.tickets[at] = number, status
        seat = self.holds[number].seat
        self.taken[seat is not None] -= 1
        if seat:
            del self.seats[seat]
        else:
            self.sold -= 1


@dataclass
class Play:
    """The same actions, done to the model and to the database."""

    sales: Sales
    clock: MovableClock
    model: Model = field(default_factory=Model)
    holds: list[Hold] = field(default_factory=list)
    orders: list[OrderDetails] = field(default_factory=list)

    async def do(self, action: str, number: int, other: int) -> None:
        if action in ("release", "extend", "order") and not self.holds:
            return
        if action in ("pay", "tell", "cancel", "refund", "void") and not self.orders:
            return
        try:
            said, told = await getattr(self, f"do_{action}")(number, other)
        except Refused as refused:
            said, told = refused.expected, refused.told
        assert said == told, (action, number, other)

    async def answer(self, expected: str, work: Any) -> Any:
        """What came of it, or that it was refused as the model says."""
        try:
            return await work
        except Refusal as refusal:
            raise Refused(expected, "taken" if refusal.code in TAKEN else refusal.code) from None

    async def do_pass(self, number: int, _: int) -> tuple[str, str]:
        self.model.now += (1, 60, 150, 289, 300, 311)[number % 6]
        self.clock.ahead = timedelta(seconds=self.model.now)
        return "", ""

    async def do_sweep(self, *_: int) -> tuple[str, str]:
        self.model.sweep()
        await self.sales.sweep()
        await self.sales.expire()
        return "", ""

    async def do_reserve(self, number: int, other: int) -> tuple[str, str]:
        seat, who = SEATS[number % 4], ("till", "rival")[other % 2]
        expected = self.model.reserve(seat, who)
        hold = await self.answer(expected, self.sales.reserve(seat, getattr(self.sales, who)))
        is_new = hold.hold_id not in {each.hold_id for each in self.holds}
        if is_new:
            self.holds.append(hold)
        return expected, "new" if is_new else "again"

    async def do_stand(self, number: int, other: int) -> tuple[str, str]:
        who = ("till", "rival")[other % 2]
        expected = self.model.stand(1 + number % 3, who)
        by = getattr(self.sales, who)
        work = self.sales.hold(floor=1 + number % 3, by=by)
        self.holds += await self.answer(expected, work)
        return expected, "new"

    async def do_release(self, number: int, _: int) -> tuple[str, str]:
        number %= len(self.holds)
        self.model.end(number)
        await self.sales.release(self.holds[number])
        return "", ""

    async def do_extend(self, number: int, _: int) -> tuple[str, str]:
        number %= len(self.holds)
        expected = self.model.extend(number)
        await self.answer(expected, self.sales.extend(self.holds[number]))
        return expected, "done"

    async def do_order(self, number: int, other: int) -> tuple[str, str]:
        """The newest hold, or it and the one before, or any."""
        last = len(self.holds) - 1
        chosen = {0: [last], 1: [last, max(0, last - 1)]}.get(number % 4, [number % (last + 1)])
        holds = sorted(set(chosen))
        payment = ("later", "cash", "elsewhere")[other % 3]
        expected = self.model.order(holds, payment)
        wanted = [self.holds[each] for each in holds]
        order = await self.answer(expected, self.sales.order(wanted, PAYMENTS[payment]))
        self.orders.append(order)
        return expected, order.order.status

    async def do_pay(self, number: int, _: int) -> tuple[str, str]:
        number %= len(self.orders)
        expected = self.model.pay(number)
        paid = await self.answer(expected, self.sales.pay(self.orders[number]))
        return expected, paid.order.status

    async def do_tell(self, number: int, _: int) -> tuple[str, str]:
        number %= len(self.orders)
        if self.model.orders[number].payment is None:
            return "", ""
        expected = self.model.tell(number)
        return expected, await self.sales.tell(self.orders[number])

    async def do_cancel(self, number: int, _: int) -> tuple[str, str]:
        number %= len(self.orders)
        expected = self.model.cancel(number)
        after = await self.answer(expected, self.sales.cancel(self.orders[number]))
        return expected, after.order.status

    async def do_refund(self, number: int, _: int) -> tuple[str, str]:
        number %= len(self.orders)
        expected = self.model.refund(number)
        after = await self.answer(expected, self.sales.refund(self.orders[number]))
        return expected, after.order.status

    async def do_void(self, number: int, other: int) -> tuple[str, str]:
        number %= len(self.orders)
        if not self.model.orders[number].tickets:
            return "", ""
        at = other % len(self.model.orders[number].tickets)
        expected = self.model.void(number, at)
        tickets = (await self.sales.read(self.orders[number])).tickets
        after = await self.answer(expected, self.sales.void(tickets[at].id))
        return expected, after.ticket.status

    async def require_same(self) -> None:
        model, stage = self.model, self.sales.stage
        assert await stage.codes(" ".join(SEATS)) == [
            "available" if model.is_free(seat) else model.seats[seat][0] for seat in SEATS
        ]
        zone = await stage.zone(FLOOR)
        assert {(day.available, day.sold) for day in zone.days} == {(model.room, model.sold)}
        rows = await stage.rows(
            "SELECT status FROM ticket_order WHERE event_id = $1 ORDER BY id", stage.event_id
        )
        assert [row["status"] for row in rows] == [order.status for order in model.orders]
        await self.sales.require_sound()


class Refused(Exception):
    def __init__(self, expected: str, told: str) -> None:
        self.expected, self.told = expected, told


small = st.integers(0, 11)
actions = st.sampled_from(
    [
        *("reserve", "stand", "order", "pass", "tell") * 2,
        *("sweep", "release", "extend", "order", "pay", "cancel", "refund", "void"),
    ]
)


@pytest.fixture
def clock(clock: MovableClock) -> MovableClock:
    return clock.stop()


@examples(short=20, full=500)
@given(steps=st.lists(st.tuples(actions, small, small), min_size=5, max_size=30))
async def test_seats_places_quotas_and_money_are_what_the_model_says(
    services: Services, clock: MovableClock, steps: list[tuple[str, int, int]]
):
    clock.ahead = timedelta()  # so that each example has an organisation of its own
    tenant = await a_tenant(services, "acme")
    play = Play(await sales(services, tenant, 4, CAPACITY, quota=QUOTA), clock)
    for step in steps:
        await play.do(*step)
        await play.require_same()
