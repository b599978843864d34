"""Installations for the tests of crashes."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes import Installation, an_installation, quick_passwords
from voelgoed.config import Settings
from voelgoed.demo.seed import ensure_demo
from voelgoed.infra.data_directory import DataDirectory
from voelgoed.infra.master_key import MasterKey, key_kept_in
from voelgoed.infra.migrate import migrate


@pytest.fixture(scope="session")
def furnished() -> Iterator[Path]:
    """The data that a first start of `voelgoed up` leaves behind, to be copied where that start is
    not what is tested. Nothing runs there."""
    with an_installation() as made, quick_passwords():
        directory = DataDirectory.claim(made.data)
        made.postgres.start()
        asyncio.run(migrate(made.postgres.url("voelgoed_owner")))
        asyncio.run(
            ensure_demo(
                Settings(),
                made.postgres.url(),
                MasterKey(key_kept_in(made.data)),
                directory,
                "http://127.0.0.1:1",
                lambda _: None,
            )
        )
        made.postgres.stop()
        directory.release()
        yield made.data


@pytest.fixture
def here(furnished: Path) -> Iterator[Installation]:
    """One with a demo, as after an earlier start."""
    with an_installation(furnished) as installation:
        yield installation
        installation.show()


@pytest.fixture
def empty() -> Iterator[Installation]:
    """One where nothing was ever started."""
    with an_installation() as installation:
        yield installation
        installation.show()
