"""When the time of `make prove` is up, what has not begun is left out, and said to be."""

import os
import time

import pytest

UNTIL = float(os.environ.get("PROVE_UNTIL", "inf"))
TIME_IS_UP = "the time is up"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    if time.time() > UNTIL:
        pytest.skip(TIME_IS_UP)
