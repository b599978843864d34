"""Makes the demo in a process of its own, which kills itself after so many commits."""

import asyncio
import os
import signal
from pathlib import Path

from tests.processes import quick_passwords
from tests.support import MASTER_KEY_BYTES
from voelgoed.config import Settings
from voelgoed.demo.seed import ensure_demo
from voelgoed.infra.data_directory import DataDirectory
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.master_key import MasterKey

follow_up = Database._follow_up  # pyright: ignore[reportPrivateUsage]


def seed_until_killed(database_url: str, directory: Path, commits_max: int) -> None:
    with quick_passwords():
        asyncio.run(_seed(database_url, directory, commits_max))


async def _seed(database_url: str, directory: Path, commits_max: int) -> None:
    commits = 0

    async def count(self: Database, tx: Transaction) -> None:
        nonlocal commits
        commits += 1
        if commits > commits_max:
            os.kill(os.getpid(), signal.SIGKILL)
        await follow_up(self, tx)

    Database._follow_up = count  # pyright: ignore[reportPrivateUsage]
    claimed = DataDirectory.claim(directory)
    settings, key = Settings(database_connections_max=10), MasterKey(MASTER_KEY_BYTES)
    await ensure_demo(settings, database_url, key, claimed, "http://127.0.0.1:1", print)
