import asyncio
from pathlib import Path

import asyncpg
import pytest

from voelgoed.infra.embedded import EmbeddedPostgres
from voelgoed.infra.migrate import (
    MIGRATIONS,
    MigrationError,
    migrate,
    refuse_a_powerful_role,
    require_current_schema,
)

pytestmark = pytest.mark.own_database


@pytest.fixture
async def empty(postgres: EmbeddedPostgres):
    admin = await asyncpg.connect(postgres.url("postgres", "postgres"))
    await admin.execute("CREATE DATABASE empty OWNER voelgoed_owner")
    yield "empty"
    await admin.execute("DROP DATABASE empty WITH (FORCE)")
    await admin.close()


async def applied(url: str) -> list[str]:
    connection = await asyncpg.connect(url)
    try:
        rows = await connection.fetch("SELECT migration_id FROM _pogo_migration ORDER BY 1")
        return [row[0] for row in rows]
    finally:
        await connection.close()


async def test_many_processes_starting_at_once_migrate_once(postgres: EmbeddedPostgres, empty: str):
    url = postgres.url("voelgoed_owner", empty)
    await asyncio.gather(*(migrate(url) for _ in range(5)))
    assert await applied(url) == sorted(path.stem for path in MIGRATIONS.glob("*.sql"))


async def test_a_migration_that_fails_leaves_nothing_of_itself(
    postgres: EmbeddedPostgres, empty: str, tmp_path: Path
):
    (tmp_path / "0001_half.sql").write_text(
        "-- half\n-- depends:\n\n-- migrate: apply\n"
        "CREATE TABLE first (id int);\nCREATE TABLE second (id nonsense);\n-- migrate: rollback\n"
    )
    url = postgres.url("voelgoed_owner", empty)
    with pytest.raises(MigrationError, match="0001_half"):
        await migrate(url, tmp_path)
    connection = await asyncpg.connect(url)
    try:
        assert await connection.fetchval("SELECT to_regclass('first')") is None
    finally:
        await connection.close()
    assert await applied(url) == []


async def test_a_database_that_is_away_is_explained():
    with pytest.raises(MigrationError, match="cannot be reached"):
        await migrate("postgresql://nobody@127.0.0.1:1/none")


@pytest.mark.parametrize("role", ["postgres", "voelgoed_owner"])
async def test_the_server_refuses_to_run_as_a_role_that_can_step_over_the_wall(
    postgres: EmbeddedPostgres, database_name: str, role: str
):
    with pytest.raises(MigrationError, match="voelgoed_server"):
        await refuse_a_powerful_role(postgres.url(role, database_name))
    await refuse_a_powerful_role(postgres.url("voelgoed_server", database_name))


def test_migrations_are_numbered_and_depend_on_the_one_before():
    names = sorted(path.stem for path in MIGRATIONS.glob("*.sql"))
    assert [name[:4] for name in names] == [f"{n:04}" for n in range(1, len(names) + 1)]
    for before, name in zip(["", *names], names, strict=False):
        second_line = (MIGRATIONS / f"{name}.sql").read_text().splitlines()[1]
        assert second_line.removeprefix("-- depends:").strip() == before


async def test_a_server_refuses_a_database_that_was_not_migrated(
    postgres: EmbeddedPostgres, empty: str
):
    with pytest.raises(MigrationError, match="0001_foundation.*run `voelgoed migrate`"):
        await require_current_schema(postgres.url("voelgoed_server", empty))
    await migrate(postgres.url("voelgoed_owner", empty))
    await require_current_schema(postgres.url("voelgoed_server", empty))


async def test_only_the_owner_of_the_database_migrates_it(postgres: EmbeddedPostgres, empty: str):
    with pytest.raises(MigrationError, match="owns the database"):
        await migrate(postgres.url("voelgoed_server", empty))
