"""The wall between organisations, as PostgreSQL itself sees it."""

from uuid import uuid4

import asyncpg
import pytest

from tests.support import Tenant
from voelgoed.infra.embedded import EmbeddedPostgres
from voelgoed.services import Services

pytestmark = pytest.mark.own_database

NOT_OF_A_TENANT = {
    "_pogo_migration": "which migrations have run",
    "_pogo_version": "the migration library's own version",
    "pgqueuer": "the job queue; payloads carry ids only, handlers set the organisation themselves",
    "pgqueuer_log": "outcomes of jobs",
    "pgqueuer_schedules": "when periodic jobs ran",
    "pgqueuer_statistics": "counts of jobs",
}
KEYED_BY_ID = {"organization"}  # its id is the organisation


@pytest.fixture
async def catalogue(postgres: EmbeddedPostgres, database_name: str):
    connection = await asyncpg.connect(postgres.url("postgres", database_name))
    yield connection
    await connection.close()


@pytest.fixture
async def server_role(database_url: str):
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


async def tenant_tables(catalogue: asyncpg.Connection) -> list[asyncpg.Record]:
    tables = await catalogue.fetch(
        """
        SELECT oid, relname, relrowsecurity, relforcerowsecurity FROM pg_class
         WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
        """
    )
    return [table for table in tables if table["relname"] not in NOT_OF_A_TENANT]


async def test_every_table_is_walled_off_or_on_the_short_list(catalogue: asyncpg.Connection):
    tables = await tenant_tables(catalogue)
    assert len(tables) >= 14
    for table in tables:
        assert table["relrowsecurity"], f"{table['relname']} has no row-level security"
        assert table["relforcerowsecurity"], f"{table['relname']} does not force it on its owner"


async def test_every_tenant_policy_compares_the_organisation(catalogue: asyncpg.Connection):
    policies = await catalogue.fetch("SELECT * FROM pg_policies WHERE schemaname = 'public'")
    for table in await tenant_tables(catalogue):
        mine = {p["policyname"]: p for p in policies if p["tablename"] == table["relname"]}
        column = "id" if table["relname"] in KEYED_BY_ID else "organization_id"
        assert mine["tenant"]["qual"] == f"({column} = current_organization())"
        assert mine["tenant"]["cmd"] == "ALL"
        others = {name: p["roles"] for name, p in mine.items() if name != "tenant"}
        # The owner's functions tell ids of organisations, and nothing else, to who sweeps and to
        # who has a token.
        known = [{}, *({name: ["voelgoed_owner"]} for name in ("directory", "sweep", "pairing"))]
        assert others in known, "a policy that opens the wall"


async def test_the_organisation_leads_every_key(catalogue: asyncpg.Connection):
    first_columns = await catalogue.fetch(
        """
        SELECT relation.relname, index.relname AS index, attname
          FROM pg_index
          JOIN pg_class AS relation ON relation.oid = indrelid
          JOIN pg_class AS index ON index.oid = indexrelid
          JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]
         WHERE relation.relnamespace = 'public'::regnamespace AND indisunique
        """
    )
    keys = [
        row for row in first_columns if row["relname"] not in NOT_OF_A_TENANT | {"organization": ""}
    ]
    assert len(keys) >= 15
    for key in keys:
        assert key["attname"] == "organization_id", f"{key['index']} is led by {key['attname']}"


async def test_the_servers_role_owns_nothing_and_cannot_step_over(server_role: asyncpg.Connection):
    role = await server_role.fetchrow("SELECT * FROM pg_roles WHERE rolname = current_user")
    for power in ("rolsuper", "rolbypassrls", "rolcreaterole", "rolcreatedb", "rolreplication"):
        assert not role[power], power
    owned = await server_role.fetchval(
        "SELECT count(*) FROM pg_class WHERE relowner = $1", role["oid"]
    )
    assert owned == 0
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await server_role.execute("ALTER TABLE app_user DISABLE ROW LEVEL SECURITY")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await server_role.execute("SET ROLE voelgoed_owner")


async def test_without_an_organisation_reading_is_an_error_not_all_rows(
    catalogue: asyncpg.Connection, server_role: asyncpg.Connection, tenant: Tenant
):
    for table in await tenant_tables(catalogue):
        with pytest.raises(asyncpg.PostgresError, match="voelgoed.organization_id"):
            await server_role.fetch(f"SELECT * FROM {table['relname']}")
    # PostgreSQL leaves the setting empty, not absent, once a transaction has used it.
    async with server_role.transaction():
        await server_role.execute(f"SET LOCAL voelgoed.organization_id = '{tenant.id}'")
    with pytest.raises(asyncpg.InvalidTextRepresentationError):
        await server_role.fetch("SELECT * FROM app_user")


async def test_another_organisations_rows_cannot_be_read_changed_or_planted(
    services: Services, tenant: Tenant, other_tenant: Tenant
):
    async with services.database.transaction(other_tenant.id) as tx:
        mine = await tx.connection.fetch("SELECT organization_id FROM app_user")
        assert {row["organization_id"] for row in mine} == {other_tenant.id}
        assert (
            await tx.run("UPDATE app_user SET name = 'x' WHERE id = $1", tenant.users["owner"]) == 0
        )
        assert await tx.run("DELETE FROM session WHERE user_id = $1", tenant.users["owner"]) == 0
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
        async with services.database.transaction(other_tenant.id) as tx:
            await tx.run(
                """
                INSERT INTO whitelist (organization_id, id, name, created_at)
                VALUES ($1, $2, 'planted', $3)
                """,
                tenant.id,
                uuid4(),
                tx.now,
            )


async def test_even_the_owner_of_the_tables_sees_nothing_of_tenants(
    postgres: EmbeddedPostgres, database_name: str, tenant: Tenant
):
    owner = await asyncpg.connect(postgres.url("voelgoed_owner", database_name))
    try:
        with pytest.raises(asyncpg.PostgresError, match="voelgoed.organization_id"):
            await owner.fetch("SELECT * FROM app_user")
    finally:
        await owner.close()


async def test_one_connection_serving_two_organisations_in_turn_keeps_them_apart(
    database_url: str, services: Services, tenant: Tenant, other_tenant: Tenant
):
    for current in (tenant, other_tenant, tenant):
        async with services.database.transaction(current.id) as tx:
            slug = await tx.value(str, "SELECT slug FROM organization")
        assert slug == current.organization.slug


async def test_the_server_may_only_add_to_the_audit_log_and_to_scans(
    services: Services, tenant: Tenant
):
    for statement in (
        "UPDATE audit_entry SET action = 'nothing happened'",
        "DELETE FROM audit_entry",
        "TRUNCATE audit_entry",
        "UPDATE scan SET status = 'denied'",
        "DELETE FROM scan",
        "UPDATE scan_annulment SET reason = ''",
        "DELETE FROM scan_annulment",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with services.database.transaction(tenant.id) as tx:
                await tx.connection.execute(statement)
