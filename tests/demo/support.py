"""What tests of the demo share."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import asyncpg
import pytest
from argon2 import PasswordHasher

from voelgoed.infra import passwords
from voelgoed.infra.embedded import EmbeddedPostgres


async def look(postgres: EmbeddedPostgres, name: str, query: str) -> list[Any]:
    """Past every wall."""
    connection = await asyncpg.connect(postgres.url("postgres", name))
    try:
        return [tuple(row) for row in await connection.fetch(query)]
    finally:
        await connection.close()


@contextmanager
def quick_passwords() -> Iterator[None]:
    """A demo has a dozen users, and to hash their passwords takes most of its time."""
    with pytest.MonkeyPatch.context() as patched:
        quick = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
        patched.setattr(passwords, "_hasher", quick)
        yield
