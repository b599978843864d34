"""Orders that come in together are written together, and each is answered as if it came alone."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Iterable
from random import Random
from typing import Any
from uuid import uuid4

import pytest

from tests.seating.race_support import waiting_for_a_lock
from tests.support import Tenant
from tests.ticketing.hold_support import table
from tests.ticketing.sales_support import CASH, ELSEWHERE, Sales, sales
from voelgoed.infra.idempotency import IdempotencyKey
from voelgoed.infra.refusal import Refusal
from voelgoed.services import Services
from voelgoed.ticketing.actions import order_batch
from voelgoed.ticketing.actions.order_batch import OrderBatch
from voelgoed.ticketing.model.holds import Hold
from voelgoed.ticketing.model.orders import NewPayment, OrderDetails


@pytest.fixture
async def shop(services: Services, tenant: Tenant) -> Sales:
    return await sales(services, tenant)


async def together(orders: Iterable[Awaitable[OrderDetails]]) -> list[OrderDetails | Refusal]:
    found = await asyncio.gather(*orders, return_exceptions=True)
    for each in found:
        if not isinstance(each, OrderDetails | Refusal):
            raise each
    return found  # type: ignore[return-value]


def words(answers: Iterable[OrderDetails | Refusal]) -> Counter[str]:
    return Counter(
        each.code if isinstance(each, Refusal) else each.order.status for each in answers
    )


async def transactions(shop: Sales) -> int:
    """In which tickets were written."""
    query = "SELECT count(DISTINCT created_at) AS count FROM ticket"
    [row] = await table(shop.services, shop.tenant, query)
    return row["count"]


async def test_twenty_orders_are_one_transaction(shop: Sales):
    holds = [await shop.hold(f"A{2 * at + 1} A{2 * at + 2}", floor=1) for at in range(20)]
    sold = await together(shop.order(each, CASH) for each in holds)
    assert words(sold) == {"paid": 20}
    assert await transactions(shop) <= 3
    for hold, sale in zip(holds, sold, strict=True):
        assert isinstance(sale, OrderDetails)
        assert {line.hold_id for line in sale.lines} == {each.hold_id for each in hold}
        assert sale == await shop.read(sale), "what was answered is what was written"
    await shop.require_sound()


async def test_one_who_is_refused_takes_nobody_along(shop: Sales):
    good = [await shop.hold(f"A{at}") for at in range(1, 11)]
    ended = await shop.hold("A11")
    await shop.release(ended[0])
    somebody_elses = await shop.hold("A12", by=shop.tenant.caller("admin"))
    anna = shop.tenant.caller("customer")
    twice = await shop.hold("A13")
    orders = [shop.order(each, CASH) for each in good]
    orders.insert(3, shop.order(ended, CASH))
    orders.insert(5, shop.order(somebody_elses, by=anna))
    orders.insert(7, shop.order([*twice, *twice], CASH))
    orders.append(shop.order(good[0], ELSEWHERE))
    found = await together(orders)
    assert words(found) == {
        "paid": 10,
        "hold_ended": 2,  # given up, and sold by another order of the same moment
        "hold_not_found": 1,
        "hold_named_twice": 1,
    }
    assert await transactions(shop) <= 2
    await shop.require_sound()


async def test_of_many_orders_of_one_hold_one_sells_it(shop: Sales):
    holds = await shop.hold("A1 A2", floor=2)
    waiting = await together(shop.order(holds, ELSEWHERE) for _ in range(3))
    assert words(waiting) == {"pending": 3}, "nothing is sold yet"
    found = await together(shop.order(holds, CASH) for _ in range(10))
    assert words(found) == {"paid": 1, "hold_ended": 9}
    await shop.require_sound()


async def test_the_last_of_a_quota_go_to_whoever_came_first(services: Services, tenant: Tenant):
    shop = await sales(services, tenant, quota=7)
    holds = [await shop.hold(f"A{2 * at + 1} A{2 * at + 2}") for at in range(10)]
    found = await together(shop.order(each, CASH) for each in holds)
    assert [words([each]) for each in found] == [{"paid": 1}] * 3 + [
        {"ticket_type_sold_out": 1}
    ] * 7
    assert isinstance(found[3], Refusal)
    [short] = found[3].details["ticket_types"]  # type: ignore[misc]
    assert short["left"] == 1
    single = await together([shop.order([(await shop.hold("A21"))[0]], CASH)])
    assert words(single) == {"paid": 1}, "one is left, and not lost to those who wanted two"
    await shop.require_sound()


async def test_what_only_the_writing_finds_out_is_found_out_one_by_one(
    shop: Sales, monkeypatch: pytest.MonkeyPatch
):
    """Quota that is gone between the reading and the writing, as by another node."""
    monkeypatch.setattr(order_batch.ticket_types, "require_left", lambda *_: None)
    async with shop.services.database.transaction(shop.tenant.id) as tx:
        await tx.run("UPDATE ticket_type SET quota = 3")
    holds = [await shop.hold(f"A{at}") for at in range(1, 9)]
    found = await together(shop.order(each, CASH) for each in holds)
    assert words(found) == {"paid": 3, "ticket_type_sold_out": 5}
    await shop.require_sound()


async def test_one_key_is_one_order_however_often_and_fast_it_is_sent(shop: Sales):
    holds = await shop.hold("A1 A2")
    key = IdempotencyKey(shop.till.id or uuid4(), "k1", b"same")
    found = await together(shop.order(holds, CASH, once=key) for _ in range(10))
    assert words(found) == {"paid": 10}
    assert len({each.order.id for each in found if isinstance(each, OrderDetails)}) == 1
    again = await shop.order(holds, CASH, once=key)
    assert again == found[0]
    other = IdempotencyKey(key.actor_id, "k1", b"another request")
    assert words(await together([shop.order(holds, CASH, once=other)])) == {
        "idempotency_key_reused": 1
    }
    await shop.require_sound()


async def test_the_same_key_once_more_while_the_first_is_being_written_is_the_same_order(
    shop: Sales,
):
    """As when the answer is lost: the second request finds the first one's holds sold, and no answer
    yet when it first looks."""
    holds, key = await shop.hold("A1 A2"), IdempotencyKey(shop.till.id or uuid4(), "k1", b"same")
    async with shop.services.database.transaction(shop.tenant.id) as tx:
        await tx.run("SELECT FROM ticket_type FOR NO KEY UPDATE")  # for which the first waits, last
        first = asyncio.create_task(shop.order(holds, CASH, once=key))
        await waiting_for_a_lock(shop.stage, 1)
        second = asyncio.create_task(shop.order(holds, CASH, once=key))
        await waiting_for_a_lock(shop.stage, 2)
    assert await first == await second
    await shop.require_sound()


async def test_who_comes_twice_under_one_key_holds_nobody_up(shop: Sales):
    holds = [await shop.hold(f"A{at}") for at in range(1, 7)]
    mine, other = (IdempotencyKey(shop.till.id or uuid4(), name, b"same") for name in ("k1", "k2"))
    keys = [None, mine, None, mine, other, mine, None, other]
    which = [0, 1, 2, 1, 3, 1, 4, 3]
    found = await together(
        shop.order(holds[at], CASH, once=key) for at, key in zip(which, keys, strict=True)
    )
    assert words(found) == {"paid": 8}
    ids = [each.order.id for each in found if isinstance(each, OrderDetails)]
    assert [ids.index(each) for each in ids] == [0, 1, 2, 1, 4, 1, 6, 4]
    await shop.require_sound()


async def test_a_twin_that_fails_takes_nobody_along_who_is_placed_by_then(
    shop: Sales, monkeypatch: pytest.MonkeyPatch
):
    holds = [await shop.hold(f"A{at}") for at in range(1, 4)]
    key = IdempotencyKey(shop.till.id or uuid4(), "k1", b"same")
    really, batches = OrderBatch.place, 0

    async def place(self: OrderBatch) -> Any:
        nonlocal batches
        batches += 1
        if batches > 1:
            raise ZeroDivisionError
        return await really(self)

    monkeypatch.setattr(OrderBatch, "place", place)
    orders = [shop.order(holds[0], CASH), *(shop.order(holds[1], CASH, once=key) for _ in range(2))]
    found = await asyncio.gather(*orders, return_exceptions=True)
    assert [type(each) for each in found] == [OrderDetails, OrderDetails, ZeroDivisionError]
    await shop.require_sound()


async def test_a_hold_that_ended_with_its_layout_is_an_ended_hold(shop: Sales):
    """Its seat is not in the event's plan any more, and that is nobody else's trouble."""
    gone, here = await shop.hold("A1"), await shop.hold("A2")
    async with shop.services.database.transaction(shop.tenant.id) as tx:
        await tx.run(
            "UPDATE seat_hold SET status = 'expired', seat_id = $2 WHERE id = $1",
            gone[0].hold_id,
            uuid4(),
        )
    found = await together(shop.order(each, CASH) for each in (gone, here))
    assert words(found) == {"hold_ended": 1, "paid": 1}


async def test_seats_taken_one_by_one_are_judged_by_what_was_there_before(shop: Sales):
    """Several customers of one batch; none is judged by what the others have just bought."""
    await shop.stage.put({"seating_overrides": {"orphan_avoidance_strict": True}}, version=2)
    people = [shop.tenant.caller("customer"), shop.tenant.caller("organiser")]
    bad = [await shop.reserve(seat, by=people[0]) for seat in ("A1", "A3")]
    good = [await shop.reserve(seat, by=people[1]) for seat in ("A5", "A6")]
    found = await together(
        shop.order(holds, ELSEWHERE, by=who) for holds, who in zip((bad, good), people, strict=True)
    )
    assert words(found) == {"booking_refused": 1, "pending": 1}


async def test_a_refused_order_keeps_no_answer_under_its_key(shop: Sales):
    holds = await shop.hold("A1")
    await shop.release(holds[0])
    key = IdempotencyKey(shop.till.id or uuid4(), "k1", b"same")
    assert words(await together([shop.order(holds, CASH, once=key)])) == {"hold_ended": 1}
    kept = await table(shop.services, shop.tenant, "SELECT * FROM idempotency_key")
    assert kept == []


@pytest.mark.parametrize("seed", range(6))
async def test_any_mixture_is_answered_as_one_by_one(services: Services, tenant: Tenant, seed: int):
    """The same wishes in the same order, all at once and one after the other: the same answers."""
    random, shop = Random(seed), await sales(services, tenant, quota=24)
    kinds = [random.choice(KINDS) for _ in range(30)]
    orders = await _orders(shop, kinds, first=1)
    at_once = await together(shop.order(*order) for order in orders)
    await shop.require_sound()
    async with services.database.transaction(tenant.id) as tx:
        await tx.run("UPDATE ticket_type SET quota = quota + taken")  # as many are left as were
    orders = await _orders(shop, kinds, first=31)
    one_by_one = [each for order in orders for each in await together([shop.order(*order)])]
    await shop.require_sound()
    assert [words([each]) for each in at_once] == [words([each]) for each in one_by_one]


KINDS = ["seat", "floor", "both", "ended", "pending", "the first again"]


async def _orders(shop: Sales, kinds: list[str], first: int) -> list[tuple[list[Hold], NewPayment]]:
    orders: list[tuple[list[Hold], NewPayment]] = []
    for at, kind in enumerate(kinds):
        seat, floor = f"A{first + at}" if kind != "floor" else "", at % 3
        holds = await shop.hold(seat, floor if kind == "both" else 2 if kind == "floor" else 0)
        if kind == "ended":
            await shop.release(holds[0])
        if kind == "the first again" and orders:
            holds = orders[0][0]
        orders.append((holds, ELSEWHERE if kind == "pending" else CASH))
    return orders
