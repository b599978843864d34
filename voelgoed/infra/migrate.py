"""Brings the schema up to date: plain SQL files, forward only, one process at a time."""

import logging
from pathlib import Path

import asyncpg
from pogo_core.error import BadMigrationError
from pogo_core.util import migrate as pogo

MIGRATIONS = Path(__file__).parents[2] / "migrations"
LOCK = 7_305_808_869_230_632_559  # "voelgoed" as a number; any constant of our own would do
SERVER_ROLE = "voelgoed_server"


class MigrationError(Exception):
    """The schema could not be brought up to date; the message says why."""


async def migrate(owner_url: str, directory: Path = MIGRATIONS) -> None:
    """`owner_url` is the role that owns the tables; the server's own role may not do this."""
    connection = await _connect(owner_url)
    try:
        await _require_server_role(connection)
        # Session-level: held over the separate transactions of several migrations, and gone
        # by itself should this process die.
        await connection.execute("SELECT pg_advisory_lock($1)", LOCK)
        await pogo.apply(connection, directory, schema_name="public", logger=_quiet)
    except BadMigrationError as fault:
        raise MigrationError(f"{fault}: {fault.__cause__ or ''}") from fault
    except asyncpg.PostgresError as fault:
        raise MigrationError(
            f"The schema cannot be changed ({fault}); connect as the role that owns the database."
        ) from fault
    finally:
        await connection.close()


async def _connect(url: str) -> "asyncpg.Connection[asyncpg.Record]":
    try:
        return await asyncpg.connect(url)
    except (OSError, ValueError, asyncpg.PostgresError, asyncpg.InterfaceError) as fault:
        reason = str(fault).partition("\n")[0]
        raise MigrationError(f"The database cannot be reached: {reason}") from fault


async def _require_server_role(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    if not await connection.fetchval("SELECT 1 FROM pg_roles WHERE rolname = $1", SERVER_ROLE):
        raise MigrationError(
            f"The role {SERVER_ROLE} does not exist. Create it once as a superuser: "
            f"CREATE ROLE {SERVER_ROLE} LOGIN PASSWORD '...';"
        )


async def refuse_a_powerful_role(url: str) -> None:
    """The wall between tenants is worth nothing to a role that can step over it."""
    connection = await _connect(url)
    try:
        row = await connection.fetchrow(
            """
            SELECT rolsuper OR rolbypassrls AS bypasses,
                   EXISTS (SELECT 1 FROM pg_class
                            WHERE relowner = role.oid AND relnamespace = 'public'::regnamespace)
                       AS owns
              FROM pg_roles AS role WHERE rolname = current_user
            """
        )
    finally:
        await connection.close()
    if row is None or row["bypasses"] or row["owns"]:
        raise MigrationError(
            "The server's database role may own no tables and must be subject to row-level "
            f"security: connect as {SERVER_ROLE}, not as an owner or superuser."
        )


async def require_current_schema(url: str, directory: Path = MIGRATIONS) -> None:
    """A server on an older schema would look ready and answer every request with an apology."""
    connection = await _connect(url)
    try:
        if await connection.fetchval("SELECT to_regclass('_pogo_migration')") is None:
            applied: set[str] = set()
        else:
            rows = await connection.fetch("SELECT migration_id FROM _pogo_migration")
            applied = {row[0] for row in rows}
    finally:
        await connection.close()
    if missing := sorted(_names(directory) - applied):
        raise MigrationError(
            f"The database lacks {', '.join(missing)}: run `voelgoed migrate` first."
        )


def _names(directory: Path) -> set[str]:
    return {path.stem for path in directory.glob("*.sql")}


_quiet = logging.getLogger("voelgoed.migrations")
_quiet.setLevel(logging.ERROR)  # the library warns about every migration it applies
