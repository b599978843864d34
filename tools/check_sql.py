"""Prepares every SQL literal of the package against the real schema, as the server's own role.

A misspelt column, a missing grant or a wrong type fails here, not at the gate. Also
refuses SQL that is not one literal: what cannot be prepared cannot be trusted.
"""

import ast
import asyncio
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import asyncpg

from voelgoed.infra.embedded import EmbeddedPostgres
from voelgoed.infra.migrate import migrate

PACKAGE = Path(__file__).parents[1] / "voelgoed"
QUERY_ARGUMENT = {
    "rows": 1,
    "row": 1,
    "value": 1,
    "run": 0,
    "statement": 0,
}  # methods of Transaction ...
QUERY_ARGUMENT_OF_DATABASE = {"call": 1, "organizations_with": 0}  # ... and of Database
RAW_METHODS = {"fetch", "fetchrow", "fetchval", "execute", "executemany"}
PASSES_QUERIES_ON = ("infra/database.py", "infra/bundle.py")
"""Their own literals count, what they are given does not."""
OTHER_DATABASES = ("device/store.py",)
"""A device keeps what it scans in SQLite; its tests run every statement."""
NOT_PREPARABLE = ("SET LOCAL", "COMMIT", "ROLLBACK")


def literals(path: Path) -> Iterator[tuple[int, str | None]]:
    """Line and text of every query; None where the text is not a literal."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        method = node.func.attr
        on = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
        if on == "tx" and method in QUERY_ARGUMENT:
            query = node.args[QUERY_ARGUMENT[method]]
        elif on == "database" and method in QUERY_ARGUMENT_OF_DATABASE:
            query = node.args[QUERY_ARGUMENT_OF_DATABASE[method]]
        elif method in RAW_METHODS and node.args:
            query = node.args[0]
        else:
            continue
        text = query.value if isinstance(query, ast.Constant) else None
        yield node.lineno, text if isinstance(text, str) else None


async def faults(url: str) -> tuple[int, list[str]]:
    connection = await asyncpg.connect(url)
    await connection.execute(
        "SELECT set_config('voelgoed.organization_id', $1, false)", str(UUID(int=0))
    )
    count, found = 0, list[str]()
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name in OTHER_DATABASES:
            continue
        for line, query in literals(path):
            if query is None and name in PASSES_QUERIES_ON:
                continue
            count += 1
            if query is None:
                found.append(f"voelgoed/{name}:{line}: the query is not a literal")
            elif not query.startswith(NOT_PREPARABLE):
                try:
                    await connection.prepare(query)
                except asyncpg.PostgresError as fault:
                    found.append(f"voelgoed/{name}:{line}: {fault}")
    await connection.close()
    return count, found


def main() -> int:
    with tempfile.TemporaryDirectory() as directory:
        postgres = EmbeddedPostgres(Path(directory) / "postgres", settings={"fsync": "off"})
        postgres.start()
        try:
            asyncio.run(migrate(postgres.url("voelgoed_owner")))
            count, found = asyncio.run(faults(postgres.url()))
        finally:
            postgres.stop()
    print("\n".join(found) or f"{count} SQL literals prepared")
    return 1 if found or not count else 0


if __name__ == "__main__":
    sys.exit(main())
