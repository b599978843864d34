"""When the time of `make prove` is up, what has not begun is left out, and said to be."""

import os
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parent

UNTIL = float(os.environ.get("PROVE_UNTIL", "inf"))
TIME_IS_UP = "the time is up"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker("prove")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    if time.time() > UNTIL:
        pytest.skip(TIME_IS_UP)
