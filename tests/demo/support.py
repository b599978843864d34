"""What tests of the demo share."""

from typing import Any

import asyncpg

from voelgoed.infra.embedded import EmbeddedPostgres


async def look(postgres: EmbeddedPostgres, name: str, query: str) -> list[Any]:
    """Past every wall."""
    connection = await asyncpg.connect(postgres.url("postgres", name))
    try:
        return [tuple(row) for row in await connection.fetch(query)]
    finally:
        await connection.close()
