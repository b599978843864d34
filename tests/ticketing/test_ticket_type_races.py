"""A quota is a quota, whoever comes at the same time. Each race has a control."""

import asyncio
from collections.abc import Awaitable
from typing import Any
from uuid import UUID

import asyncpg
import msgspec
import pytest

from tests.seating.race_support import (
    Stage,
    a_node,
    a_stage,
    ask,
    insistently,
    is_stuck,
    outcomes,
    refusals,
)
from tests.support import MovableClock, Tenant
from tests.ticketing.support import a_ticket_type
from voelgoed.infra.refusal import StorageUnavailable
from voelgoed.services import Services
from voelgoed.ticketing.actions import ticket_types as actions
from voelgoed.ticketing.model.ticket_types import NewTicketType, TicketType, TicketTypeChange

ROUNDS = 20


@pytest.fixture
async def stage(services: Services, tenant: Tenant) -> Stage:
    return await a_stage(services, tenant)


async def a_type(stage: Stage, **changes: Any) -> TicketType:
    services, new = stage.services, msgspec.convert(a_ticket_type(**changes), NewTicketType)
    return await actions.create_ticket_type(
        services.database, services.cache, stage.caller, stage.event_id, new, None
    )


async def take(stage: Stage, counts: dict[UUID, int]) -> None:
    async with stage.transaction() as tx:
        await actions.take(tx, counts)


async def give_back(stage: Stage, counts: dict[UUID, int]) -> None:
    async with stage.transaction() as tx:
        await actions.give_back(tx, counts)


async def taken(stage: Stage, ticket_type: TicketType) -> int:
    [row] = await stage.rows("SELECT taken FROM ticket_type WHERE id = $1", ticket_type.id)
    return row["taken"]


async def test_of_a_hundred_who_want_the_last_ten_ten_get_one(
    stage: Stage, database_url: str, clock: MovableClock
):
    ticket_type = await a_type(stage, quota=50)
    await take(stage, {ticket_type.id: 40})
    async with a_node(database_url, clock) as services:
        nodes = (stage, stage.on(services))

        def client(number: int) -> Awaitable[None]:
            return insistently(lambda: take(nodes[number % 2], {ticket_type.id: 1}))

        found = await outcomes(client(number) for number in range(100))
    assert found.count(None) == 10
    assert refusals(found) == ["ticket_type_sold_out"] * 90
    assert await taken(stage, ticket_type) == 50


async def test_control_writing_what_was_counted_oversells(stage: Stage):
    """Eight are told that they have the last one, and the CHECK sees nothing wrong."""
    ticket_type, counted = await a_type(stage, quota=1), asyncio.Barrier(8)

    async def client() -> bool:
        async with stage.transaction() as tx:
            [row] = await ask(tx, "SELECT taken, quota FROM ticket_type")
            if row["taken"] >= row["quota"]:
                return False
            await counted.wait()
            await ask(tx, "UPDATE ticket_type SET taken = $1", row["taken"] + 1)
            return True

    assert sum(await asyncio.gather(*(client() for _ in range(8)))) == 8
    assert await taken(stage, ticket_type) == 1


async def test_control_adding_what_was_seen_to_fit_is_a_fault_of_the_database(stage: Stage):
    """The CHECK is the last word, but it is not a refusal that anybody could read."""
    ticket_type, counted = await a_type(stage, quota=1), asyncio.Barrier(2)

    async def client() -> None:
        async with stage.transaction() as tx:
            await ask(tx, "SELECT 1 FROM ticket_type WHERE taken < quota")
            await counted.wait()
            await ask(tx, "UPDATE ticket_type SET taken = taken + 1")

    found = await asyncio.gather(client(), client(), return_exceptions=True)
    assert any(isinstance(each, asyncpg.CheckViolationError) for each in found)
    assert await taken(stage, ticket_type) == 1


async def test_what_is_taken_and_given_back_is_counted_exactly(stage: Stage):
    types = [await a_type(stage, name=f"Type {n}", quota=6) for n in range(3)]

    async def client(number: int) -> None:
        counts = {types[(number + step) % 3].id: 1 + step for step in range(2)}
        for _ in range(ROUNDS // 2):
            await insistently(lambda: take(stage, counts))
            await insistently(lambda: give_back(stage, counts))

    found = await outcomes(client(number) for number in range(8))
    assert set(refusals(found)) <= {"ticket_type_sold_out"}
    assert [await taken(stage, each) for each in types] == [0, 0, 0]


async def test_orders_of_two_types_in_either_order_never_wait_in_a_circle(stage: Stage):
    seat, programme = [(await a_type(stage, name=name)).id for name in ("Seat", "Programme")]
    orders = [{seat: 1, programme: 1}, {programme: 1, seat: 1}] * 4
    for _ in range(ROUNDS):
        assert await outcomes(take(stage, order) for order in orders) == [None] * 8


async def test_control_two_types_in_either_order_deadlock(stage: Stage):
    seat, programme = [(await a_type(stage, name=name)).id for name in ("Seat", "Programme")]
    half_way = asyncio.Barrier(2)
    add = "UPDATE ticket_type SET taken = taken + 1 WHERE id = $1"

    async def client(first: UUID, second: UUID) -> bool:
        try:
            async with stage.transaction() as tx:
                await ask(tx, add, first)
                await half_way.wait()
                await ask(tx, add, second)
        except StorageUnavailable as busy:
            return isinstance(busy.__cause__, asyncpg.DeadlockDetectedError)
        return False

    assert sum(await asyncio.gather(client(seat, programme), client(programme, seat))) == 1


async def test_a_quota_cannot_be_lowered_under_an_order_that_is_being_made(stage: Stage):
    ticket_type = await a_type(stage, quota=10)
    services, change = stage.services, TicketTypeChange(version=1, quota=3)
    async with stage.transaction() as tx:
        await actions.take(tx, {ticket_type.id: 4})
        changing = asyncio.create_task(
            actions.change_ticket_type(
                services.database, services.cache, stage.caller, ticket_type.id, change
            )
        )
        assert await is_stuck(changing, stage)
    [refused] = await outcomes([changing])
    assert refusals([refused]) == ["invalid_ticket_type"]
    assert await taken(stage, ticket_type) == 4


async def test_a_type_that_is_deleted_meanwhile_is_not_sold(stage: Stage):
    ticket_type = await a_type(stage)
    async with stage.transaction() as tx:
        await ask(tx, "DELETE FROM ticket_type WHERE id = $1", ticket_type.id)
        taking = asyncio.create_task(take(stage, {ticket_type.id: 1}))
        assert await is_stuck(taking, stage)
    assert refusals(await outcomes([taking])) == ["ticket_type_not_found"]
