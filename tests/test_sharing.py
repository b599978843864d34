"""Tests share a database and a server. One that goes too far is found out, also the next one."""

import asyncpg
import httpx
import pytest

from tests.bystander import Bystander
from tests.conftest import changeable_parts
from tests.everything import one_of_everything
from tests.support import Tenant
from voelgoed.services import Services


async def test_a_bystander_has_rows_of_nearly_every_kind(bystander: Bystander) -> None:
    filled = [table for table, lines in bystander.before.items() if lines]
    assert len(filled) >= 30, filled


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE ticket SET status = 'voided'",
        "UPDATE organization SET name = 'taken over'",
        "DELETE FROM session",
        "INSERT INTO whitelist SELECT id, gen_random_uuid(), 'planted', now() FROM organization",
    ],
)
async def test_control_a_test_that_writes_to_all_organisations_fails(
    bystander: Bystander, statement: str
) -> None:
    """As a superuser, for whom there is no row-level security; and as if it had never been."""
    writing = bystander.rows.superuser.transaction()
    await writing.start()
    try:
        await bystander.rows.superuser.execute(statement)
        with pytest.raises(AssertionError, match="of another organisation"):
            await bystander.require_untouched()
    finally:
        await writing.rollback()
        bystander.before = await bystander.rows.read()


async def test_control_a_test_that_reads_of_all_organisations_finds_more_than_its_own(
    services: Services, tenant: Tenant, client: httpx.AsyncClient, bystander: Bystander
) -> None:
    await one_of_everything(client, tenant, services)
    query = "SELECT count(*) FROM ticket"
    async with services.database.transaction(tenant.id) as tx:
        own = await tx.connection.fetchval(query)
    assert own == 1
    assert await bystander.rows.superuser.fetchval(query) > own


async def test_control_a_test_that_changes_the_shared_server_for_good_fails(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = changeable_parts(services)
    with monkeypatch.context() as patched:
        patched.setattr(services.database, "after_commit", None)
        assert changeable_parts(services) != before
    assert changeable_parts(services) == before


async def test_a_statement_without_an_organisation_is_an_error(
    services: Services, bystander: Bystander
) -> None:
    connection = await asyncpg.connect(services.database.url)
    try:
        with pytest.raises(asyncpg.PostgresError):
            await connection.fetch("SELECT * FROM ticket")
    finally:
        await connection.close()
