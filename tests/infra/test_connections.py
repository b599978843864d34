"""Connections of single-statement transactions, on the real PostgreSQL."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from voelgoed.infra import connections as module
from voelgoed.infra.connections import ConnectionStack

SIZE = 3


@pytest.fixture
async def stack(database_url: str) -> AsyncIterator[ConnectionStack]:
    made = ConnectionStack(lambda: asyncpg.connect(database_url), SIZE)
    yield made
    made.terminate()


async def process_of(connection: asyncpg.Connection) -> int:
    return await connection.fetchval("SELECT pg_backend_pid()")


async def taken(stack: ConnectionStack, count: int) -> list[asyncpg.Connection]:
    return [await stack.acquire(timeout=20) for _ in range(count)]


async def test_the_one_that_was_given_back_last_is_taken_first(stack: ConnectionStack):
    first, second = await taken(stack, 2)
    stack.release(first, is_sound=True)
    stack.release(second, is_sound=True)
    assert await taken(stack, 2) == [second, first]


async def test_no_more_are_opened_than_there_may_be(stack: ConnectionStack):
    first, *_ = await taken(stack, SIZE)
    with pytest.raises(TimeoutError):
        await stack.acquire(timeout=0.01)
    waiting = asyncio.create_task(stack.acquire(timeout=20))
    await asyncio.sleep(0)
    stack.release(first, is_sound=True)
    assert await waiting is first


async def test_of_many_who_wait_each_has_a_turn(stack: ConnectionStack):
    async def use() -> int:
        connection = await stack.acquire(timeout=20)
        try:
            return await process_of(connection)
        finally:
            stack.release(connection, is_sound=True)

    processes = await asyncio.gather(*(use() for _ in range(20 * SIZE)))
    assert len(set(processes)) <= SIZE


async def test_who_gives_up_waiting_passes_the_turn_on(stack: ConnectionStack):
    first, *_ = await taken(stack, SIZE)
    impatient, patient = (asyncio.create_task(stack.acquire(timeout=20)) for _ in range(2))
    await asyncio.sleep(0)
    stack.release(first, is_sound=True)  # for the impatient one, who is cancelled before it hears
    impatient.cancel()
    assert await patient is first
    assert impatient.cancelled() or await asyncio.gather(impatient, return_exceptions=True)


async def test_one_that_was_lost_makes_room_for_another(stack: ConnectionStack):
    connections = await taken(stack, SIZE)
    for each in connections:
        each.terminate()
        stack.release(each, is_sound=True)
    again = await taken(stack, SIZE)
    assert len({await process_of(each) for each in again}) == SIZE


async def test_one_that_was_lost_while_nobody_used_it_is_not_handed_out(stack: ConnectionStack):
    lost, admin = await taken(stack, 2)
    process = await process_of(lost)
    stack.release(lost, is_sound=True)
    await admin.execute("SELECT pg_terminate_backend($1, 20000)", process)
    while (
        not lost.is_closed()
    ):  # the server's last word may arrive before the end of the connection
        await asyncio.sleep(0.01)
    assert await process_of(await stack.acquire(timeout=20)) != process


async def test_a_statement_that_was_given_up_ends_with_its_connection(stack: ConnectionStack):
    slow, other = await taken(stack, 2)
    process = await process_of(slow)
    work = asyncio.create_task(slow.execute("SELECT pg_sleep(1000)"))
    while not await other.fetchval(
        "SELECT count(*) FROM pg_stat_activity WHERE pid = $1 AND state = 'active'", process
    ):
        await asyncio.sleep(0.01)
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)
    stack.release(slow, is_sound=False)
    while await other.fetchval("SELECT count(*) FROM pg_stat_activity WHERE pid = $1", process):
        await asyncio.sleep(0.01)
    stack.release(other, is_sound=True)
    assert process not in [await process_of(each) for each in await taken(stack, SIZE)]


async def test_one_that_nobody_used_for_long_is_opened_anew(
    stack: ConnectionStack, monkeypatch: pytest.MonkeyPatch
):
    [old] = await taken(stack, 1)
    process = await process_of(old)
    stack.release(old, is_sound=True)
    monkeypatch.setattr(module, "IDLE_S", 0.0)
    assert await process_of(await stack.acquire(timeout=20)) != process


async def test_a_server_that_refuses_leaves_room_for_the_next_try(database_url: str):
    urls = ["postgresql://nobody@127.0.0.1:1/none"] * SIZE + [database_url] * SIZE

    async def connect() -> asyncpg.Connection:
        return await asyncpg.connect(urls.pop(0))

    stack = ConnectionStack(connect, SIZE)
    for _ in range(SIZE):
        with pytest.raises(ConnectionRefusedError):
            await stack.acquire(timeout=20)
    assert len(await taken(stack, SIZE)) == SIZE
    stack.terminate()
