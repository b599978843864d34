"""A line for each proof that ends, so that whoever waits knows what for. When the time of
`make prove` is up, what has not begun is left out, and said to be."""

import os
import time
from collections import Counter
from math import isfinite

import pytest

BEGAN = float(os.environ.get("PROVE_BEGAN", time.time()))
UNTIL = float(os.environ.get("PROVE_UNTIL", "inf"))
TIME_IS_UP = "the time is up"
ended: Counter[str] = Counter()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    if time.time() > UNTIL:
        pytest.skip(TIME_IS_UP)


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """No dots: a line or the last sentence says it better."""
    is_said_otherwise = (report.when == "call" and report.passed) or is_late(report)
    return (report.outcome, "", "") if is_said_otherwise else None


@pytest.hookimpl
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when != "call" and report.passed:
        return
    outcome = "not reached" if is_late(report) else report.outcome
    ended[outcome] += 1
    if not is_late(report):
        name = report.nodeid.removeprefix("tests/prove/")
        print(f"{clock_face()}  {outcome}  {report.duration:7.1f} s  {name}", flush=True)


def is_late(report: pytest.TestReport) -> bool:
    return report.skipped and TIME_IS_UP in str(report.longrepr)


def clock_face() -> str:
    """How long it has gone on, and of how long."""
    passed = f"{minutes(time.time() - BEGAN)}"
    return f"{passed} of {minutes(UNTIL - BEGAN)}" if isfinite(UNTIL) else passed


def minutes(seconds: float) -> str:
    return f"{int(seconds) // 60:3}:{int(seconds) % 60:02}"


def pytest_terminal_summary() -> None:
    print("\n" + ", ".join(f"{count} {outcome}" for outcome, count in sorted(ended.items())))
