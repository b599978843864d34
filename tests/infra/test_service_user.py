"""The user that PostgreSQL runs as where we are root."""

import os
import pwd
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from secrets import token_hex
from threading import Barrier

import pytest

from tests.processes import eventually
from voelgoed.infra import service_user

AT_ONCE = 8
IS_ROOT = os.geteuid() == 0


def test_the_commands_of_root_and_of_nobody_else_run_as_the_owner_of_the_directory(
    tmp_path: Path,
) -> None:
    command = service_user.as_the_owner_of(tmp_path)
    assert [word for word in command if word.startswith("--reuid")] == (
        [f"--reuid={pwd.getpwnam('voelgoed').pw_uid}"] if IS_ROOT else []
    )


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Iterator[Iterator[str]]:
    """The user has another name each time; all are removed again."""
    used: list[str] = []

    def fresh_names() -> Iterator[str]:
        for _ in range(20):
            used.append(f"voelgoed-test-{token_hex(4)}")
            monkeypatch.setattr(service_user, "NAME", used[-1])
            yield used[-1]

    yield fresh_names()
    for name in used:
        eventually(lambda: _is_removed(name))  # noqa: B023


def _is_removed(name: str) -> bool:
    """Not while somebody else has the user file locked."""
    return subprocess.run(["userdel", name], capture_output=True, check=False).returncode == 0


def ids_found() -> set[int]:
    """The ids of the user that are seen where several want it at the same moment."""
    start = Barrier(AT_ONCE)

    def find() -> int:
        start.wait()
        return service_user._service_user().pw_uid

    with ThreadPoolExecutor(AT_ONCE) as threads:
        return {each.result() for each in [threads.submit(find) for _ in range(AT_ONCE)]}


if IS_ROOT:  # nobody else can add a user

    def test_all_who_start_at_the_same_moment_get_the_same_user(names: Iterator[str]) -> None:
        for name in names:
            assert ids_found() == {pwd.getpwnam(name).pw_uid}

    def test_control_without_the_lock_they_do_not(
        names: Iterator[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(service_user, "_alone", nullcontext)
        assert any(len(ids_found()) > 1 for _ in names)
