"""Processes that look at the same moment which periodic job is due."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import asyncpg

HANG_S = 180
LOCK = "LOCK TABLE pgqueuer_schedules IN EXCLUSIVE MODE"
SET_DUE = """
    UPDATE pgqueuer_schedules
       SET status = 'queued',
           next_run = now() + CASE WHEN entrypoint = $1 THEN interval '-1 hour'
                                   ELSE interval '1 hour' END
    """
"""So that no other is due, whatever the clock on the wall shows."""
WAITING = """
    SELECT count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1
    """


REGISTERING, LOOKING = "%INSERT INTO%pgqueuer_schedules%", "%picked_jobs%"
STEPS = (REGISTERING, REGISTERING, LOOKING, LOOKING)
"""What a process does with that table when it has connected: each is prepared, then executed."""


@asynccontextmanager
async def looking_together(
    admin_url: str, count: int, connect: Callable[[], object]
) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    """`connect` makes so many processes connect to the job queue. Inside, all of them wait for the
    answer to what is due: no job of theirs runs, and what the connection given changes, they see
    at the same moment afterwards."""
    async with (
        a_connection(admin_url) as one,
        a_connection(admin_url) as other,
        a_connection(admin_url) as watching,
        asyncio.timeout(HANG_S),
    ):

        async def all_wait(expected: int, query: str) -> None:
            while await watching.fetchval(WAITING, query) < expected:
                await asyncio.sleep(0.01)

        holder, next_holder = one, other
        await holder.execute("BEGIN")
        await holder.execute(LOCK)
        connect()
        await all_wait(count, STEPS[0])
        for step in STEPS[1:]:  # they go on by one step
            await next_holder.execute("BEGIN")
            locking = asyncio.create_task(next_holder.execute(LOCK))
            await all_wait(1, "LOCK TABLE%")  # behind them, and before their next step
            await holder.execute("COMMIT")
            await locking
            holder, next_holder = next_holder, holder
            await all_wait(count, step)
        yield holder
        await holder.execute("COMMIT")


@asynccontextmanager
async def a_connection(url: str) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()
