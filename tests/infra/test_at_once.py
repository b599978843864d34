"""Statements that are transactions by themselves, on connections that stay set to an organisation."""

import asyncio
from uuid import UUID

import asyncpg
import msgspec
import pytest

from tests.support import Tenant
from voelgoed.infra.database import ChangedMeanwhile, Database, Transaction
from voelgoed.services import Services


class Named(msgspec.Struct):
    id: UUID
    name: str


async def names(tx: Transaction, found: list[Named]) -> None:
    found.extend(await tx.rows(Named, "SELECT id, name FROM organization"))


async def rename(tx: Transaction, name: str) -> None:
    await tx.run("UPDATE organization SET name = $1", name)


async def rename_if(tx: Transaction, before: str, name: str) -> None:
    await tx.run(
        """
        WITH renamed AS (UPDATE organization SET name = $2 WHERE name = $1 RETURNING 1)
        SELECT CASE WHEN count(*) = 0 THEN abort('VG001', 'it has another name') END FROM renamed
        """,
        before,
        name,
    )


async def read(database: Database, organization_id: UUID) -> list[Named]:
    found: list[Named] = []
    async with database.at_once(organization_id) as tx:
        await tx.gather(names(tx, found))
    return found


async def test_each_organisation_sees_itself_on_whatever_connection(
    services: Services, tenant: Tenant, other_tenant: Tenant
):
    asked = [tenant, other_tenant] * 30
    found = await asyncio.gather(*(read(services.database, each.id) for each in asked))
    assert [[each.id for each in rows] for rows in found] == [[each.id] for each in asked]


async def test_a_connection_set_to_somebody_else_is_noticed_before_anything_comes_of_it(
    services: Services, tenant: Tenant, other_tenant: Tenant
):
    """Such as by a proxy that hands connections around."""
    database, found = services.database, list[Named]()
    with pytest.raises(asyncpg.PostgresError, match="another organisation"):
        async with database.at_once(tenant.id) as tx:
            await tx.connection.execute(f"SET voelgoed.organization_id = '{other_tenant.id}'")
            await tx.gather(names(tx, found), rename(tx, "stolen"))
    assert found == []
    assert [each.name for each in await read(database, other_tenant.id)] == ["Rival"]
    assert [each.name for each in await read(database, tenant.id)] == ["Acme"]


async def test_what_is_not_so_any_more_undoes_all_that_goes_with_it(
    services: Services, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
):
    told: list[str] = []

    async def listen(tx: Transaction) -> None:
        told.extend(message.topic for message in tx.messages)

    monkeypatch.setattr(services.database, "after_commit", listen)

    async def plant(tx: Transaction) -> None:
        await tx.run(
            "INSERT INTO live_topic (organization_id, topic, seq, touched_at)"
            " SELECT current_organization(), 'planted', 1, $1",
            tx.now,
        )

    for before, name in (("Somebody", "Never"), ("Acme", "New")):
        try:
            async with services.database.at_once(tenant.id) as tx:
                tx.publish(name, {})
                await tx.gather(plant(tx), rename_if(tx, before, name))
        except ChangedMeanwhile:
            assert name == "Never"
            assert [each.name for each in await read(services.database, tenant.id)] == ["Acme"]
            async with services.database.transaction(tenant.id) as tx:
                assert await tx.value(int, "SELECT count(*) FROM live_topic") == 0
    assert [each.name for each in await read(services.database, tenant.id)] == ["New"]
    assert told == ["New"]


async def test_two_gathered_one_after_the_other_are_two_transactions(
    services: Services, tenant: Tenant
):
    with pytest.raises(ZeroDivisionError):
        async with services.database.at_once(tenant.id) as tx:
            await tx.gather(rename(tx, "Kept"))
            raise ZeroDivisionError
    assert [each.name for each in await read(services.database, tenant.id)] == ["Kept"]


async def test_what_takes_more_than_one_statement_is_refused(services: Services, tenant: Tenant):
    async def twice(tx: Transaction) -> None:
        await rename(tx, "One")
        await rename(tx, "Two")

    async with services.database.at_once(tenant.id) as tx:
        with pytest.raises(RuntimeError, match="one statement"):
            await tx.gather(twice(tx))
        with pytest.raises(AssertionError, match="gathered"):
            await rename(tx, "Three")
    assert [each.name for each in await read(services.database, tenant.id)] == ["One"]


async def test_nothing_stays_set_where_transactions_are(services: Services, tenant: Tenant):
    await read(services.database, tenant.id)
    with pytest.raises(asyncpg.PostgresError, match=r"organization_id|uuid"):
        await services.database.call(dict, "SELECT name FROM organization")


async def test_a_connection_that_lost_its_setting_is_set_again(services: Services, tenant: Tenant):
    with pytest.raises(asyncpg.PostgresError):
        async with services.database.at_once(tenant.id) as tx:
            await tx.connection.execute("RESET ALL")
            await tx.gather(names(tx, []))
    assert [each.name for each in await read(services.database, tenant.id)] == ["Acme"]


RENAME = """
    WITH renamed AS (UPDATE organization SET name = $3 WHERE name = $2 RETURNING name)
    SELECT (SELECT name FROM renamed
            WHERE CASE WHEN current_organization() <> $1
                       THEN abort('VG002', 'the connection is set to another organisation')
                       ELSE true END)
     WHERE CASE WHEN (SELECT count(*) FROM renamed) = 0
                THEN abort('VG001', 'it has another name') ELSE true END
"""


async def test_a_statement_is_a_transaction_by_itself(services: Services, tenant: Tenant):
    with pytest.raises(ZeroDivisionError):
        async with services.database.at_once(tenant.id) as tx:
            assert await tx.statement(RENAME, "Acme", "Kept") == "Kept"
            raise ZeroDivisionError
    assert [each.name for each in await read(services.database, tenant.id)] == ["Kept"]


async def test_a_statement_that_finds_a_change_writes_nothing_and_others_go_on(
    services: Services, tenant: Tenant
):
    async with services.database.at_once(tenant.id) as tx:
        with pytest.raises(ChangedMeanwhile):
            await tx.statement(RENAME, "Somebody", "Never")
        assert await tx.statement(RENAME, "Acme", "New") == "New"


async def test_a_statement_that_selects_no_text_is_a_fault(services: Services, tenant: Tenant):
    async with services.database.at_once(tenant.id) as tx:
        with pytest.raises(TypeError, match="not a text"):
            await tx.statement("SELECT CASE WHEN current_organization() <> $1 THEN 'x' END")
