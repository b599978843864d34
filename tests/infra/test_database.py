import asyncio
import contextlib
import os
import signal

import asyncpg
import pytest

from tests.support import Tenant
from voelgoed.infra import database as database_module
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.embedded import EmbeddedPostgres
from voelgoed.infra.refusal import StorageUnavailable
from voelgoed.services import Services

pytestmark = pytest.mark.own_database


async def name_of(database: Database, tenant: Tenant) -> str | None:
    async with database.transaction(tenant.id) as tx:
        return await tx.value(str, "SELECT name FROM organization")


async def rename(tx: Transaction, name: str) -> None:
    await tx.run("UPDATE organization SET name = $1", name)


async def test_an_error_undoes_everything_and_tells_nobody(services: Services, tenant: Tenant):
    told: list[str] = []

    async def listen(tx: Transaction) -> None:
        told.extend(message.topic for message in tx.messages)

    services.database.after_commit = listen
    with pytest.raises(ZeroDivisionError):
        async with services.database.transaction(tenant.id) as tx:
            await rename(tx, "never")
            tx.publish("event:1", {})
            raise ZeroDivisionError
    assert await name_of(services.database, tenant) == "Acme"
    assert told == []
    async with services.database.transaction(tenant.id) as tx:
        tx.publish("event:2", {})
    assert told == ["event:2"]


async def test_a_cancelled_request_leaves_no_open_transaction(services: Services, tenant: Tenant):
    begun = asyncio.Event()

    async def slow() -> None:
        async with services.database.transaction(tenant.id) as tx:
            await rename(tx, "cancelled")
            begun.set()
            await tx.run("SELECT pg_sleep(30)")

    for _ in range(20):  # more often than there are connections
        begun.clear()
        task = asyncio.create_task(slow())
        beginning = asyncio.create_task(begun.wait())
        await asyncio.wait({task, beginning}, return_when=asyncio.FIRST_COMPLETED)
        assert begun.is_set(), task
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert await name_of(services.database, tenant) == "Acme"


async def test_only_a_uuid_can_be_the_organisation(services: Services):
    with pytest.raises(TypeError):
        async with services.database.transaction("x'; DROP TABLE event; --"):  # type: ignore[arg-type]
            pass


async def test_lost_connections_are_replaced(
    services: Services, tenant: Tenant, postgres: EmbeddedPostgres, database_name: str
):
    admin = await asyncpg.connect(postgres.url("postgres", database_name))
    try:
        await name_of(services.database, tenant)
        await admin.execute(
            """
            SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
             WHERE datname = $1 AND pid <> pg_backend_pid()
            """,
            database_name,
        )
    finally:
        await admin.close()
    answers = [await asyncio.gather(name_of(services.database, tenant), return_exceptions=True)]
    assert await name_of(services.database, tenant) == "Acme", answers


async def test_a_database_that_is_away_is_a_refusal(clock):
    database = Database("postgresql://nobody@127.0.0.1:1/none", clock=clock, connections_max=2)
    with pytest.raises(StorageUnavailable):
        await database.open()
    with pytest.raises(StorageUnavailable):
        await database.ping()


async def test_a_failure_that_was_swallowed_is_not_taken_for_a_commit(
    services: Services, tenant: Tenant
):
    with pytest.raises(RuntimeError, match="rolled back"):
        async with services.database.transaction(tenant.id) as tx:
            await rename(tx, "never")
            with contextlib.suppress(asyncpg.PostgresError):
                await tx.run("SELECT 1 / 0")
    assert await name_of(services.database, tenant) == "Acme"


async def test_a_frozen_server_is_a_refusal_too(
    services: Services,
    tenant: Tenant,
    postgres: EmbeddedPostgres,
    database_name: str,
    monkeypatch: pytest.MonkeyPatch,
):
    """It keeps the connection and says nothing: as behind a cable that was pulled."""
    admin = await asyncpg.connect(postgres.url("postgres", "postgres"))
    await name_of(services.database, tenant)
    rows = await admin.fetch(
        "SELECT pid FROM pg_stat_activity WHERE datname = $1 AND application_name = 'voelgoed'",
        database_name,
    )
    for row in rows:
        os.kill(row["pid"], signal.SIGSTOP)
    try:
        with monkeypatch.context() as impatient, pytest.raises(StorageUnavailable):
            impatient.setattr(database_module, "FIRST_WORD_TIMEOUT_S", 0.5)
            async with asyncio.timeout(60):
                await name_of(services.database, tenant)
    finally:
        for row in rows:
            os.kill(row["pid"], signal.SIGCONT)
        await admin.close()
    assert await name_of(services.database, tenant) == "Acme"
