"""The embedded PostgreSQL under its supervisor, for real: it is killed, stopped and kept from starting."""

import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import asyncpg
import pytest

from tests.processes import all_pids, ask, eventually, fastest_place, is_alive
from voelgoed.infra.embedded import EmbeddedPostgres
from voelgoed.infra.supervisor import LOOK_EVERY_S, PAUSES_S, PostgresSupervisor


@pytest.fixture
def postgres() -> Iterator[EmbeddedPostgres]:
    with tempfile.TemporaryDirectory(prefix="pg-", dir=fastest_place()) as directory:
        made = EmbeddedPostgres(Path(directory, "pg"), settings={"fsync": "off"})
        made.start()
        yield made
        made.stop()


@pytest.fixture
def supervisor(postgres: EmbeddedPostgres) -> Iterator[PostgresSupervisor]:
    started = PostgresSupervisor(postgres)
    started.start()
    yield started
    started.stop()


def processes_of(postgres: EmbeddedPostgres) -> list[int]:
    found: list[int] = []
    for pid in all_pids():
        with suppress(OSError):
            if is_alive(pid) and Path(f"/proc/{pid}/cwd").samefile(postgres.data):
                found.append(pid)
    return found


def postmaster(postgres: EmbeddedPostgres) -> int:
    return int((postgres.data / "postmaster.pid").read_text().splitlines()[0])


def postmasters(postgres: EmbeddedPostgres) -> list[int]:
    """Those that listen; their children have them for a parent."""
    ours = processes_of(postgres)
    return [pid for pid in ours if _parent(pid) not in ours]


def _parent(pid: int) -> int:
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return 0


def answers(postgres: EmbeddedPostgres) -> bool:
    with suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
        return ask(postgres.url("postgres"), "SELECT 1") == [1]
    return False


def kill_postmaster(postgres: EmbeddedPostgres) -> None:
    os.kill(postmaster(postgres), signal.SIGKILL)


def kill_everything(postgres: EmbeddedPostgres) -> None:
    for pid in (postmaster(postgres), *processes_of(postgres)):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def stop_it(postgres: EmbeddedPostgres) -> None:
    os.kill(postmaster(postgres), signal.SIGINT)  # as `pg_ctl stop -m fast` does


@pytest.mark.parametrize("end", [kill_postmaster, kill_everything, stop_it])
def test_it_is_back_with_what_was_committed_however_it_went_and_again(
    postgres: EmbeddedPostgres,
    supervisor: PostgresSupervisor,
    end: Callable[[EmbeddedPostgres], None],
) -> None:
    ask(postgres.url("postgres"), "CREATE TABLE kept AS SELECT 42 AS answer")
    for _ in range(2):
        before = postmaster(postgres)
        end(postgres)
        eventually(lambda: not is_alive(before))  # noqa: B023
        eventually(lambda: answers(postgres) and supervisor.state == "running")
        assert ask(postgres.url("postgres"), "SELECT answer FROM kept") == [42]
        assert postmasters(postgres) == [postmaster(postgres)]


def test_without_a_supervisor_it_stays_away(postgres: EmbeddedPostgres) -> None:
    """The control: nothing else brings it back."""
    kill_postmaster(postgres)
    eventually(lambda: not processes_of(postgres))
    assert not threading.Event().wait(3 * (LOOK_EVERY_S + PAUSES_S[0]))
    assert not processes_of(postgres)


def test_a_process_that_outlives_its_postmaster_does_not_keep_it_away(
    postgres: EmbeddedPostgres, supervisor: PostgresSupervisor
) -> None:
    dead = postmaster(postgres)
    frozen = next(pid for pid in processes_of(postgres) if pid != dead)
    os.kill(frozen, signal.SIGSTOP)  # it neither ends nor lets go of the lock
    kill_postmaster(postgres)
    eventually(lambda: answers(postgres))
    assert not is_alive(frozen)


def test_while_it_cannot_be_started_the_state_says_so_and_it_is_tried_again(
    postgres: EmbeddedPostgres, supervisor: PostgresSupervisor
) -> None:
    configuration = postgres.data / "postgresql.conf"
    good = configuration.read_text()
    configuration.write_text(good + "\nnonsense = 1\n")
    kill_everything(postgres)
    eventually(lambda: supervisor.state == "failing")
    assert not processes_of(postgres)
    configuration.write_text(good)
    eventually(lambda: supervisor.state == "running")
    assert answers(postgres)


def test_killed_while_the_program_stops_it_is_not_started_again(
    postgres: EmbeddedPostgres, supervisor: PostgresSupervisor
) -> None:
    supervisor.stop_restarting()
    kill_postmaster(postgres)
    supervisor.stop()
    eventually(lambda: not processes_of(postgres))
    assert not threading.Event().wait(3 * (LOOK_EVERY_S + PAUSES_S[0]))
    assert not processes_of(postgres)
    postgres.stop()  # there is nothing to stop, and that is no fault


def test_stopped_in_the_middle_of_a_restart_it_leaves_nothing_running(
    postgres: EmbeddedPostgres, supervisor: PostgresSupervisor
) -> None:
    kill_everything(postgres)
    eventually(lambda: supervisor.state == "restarting")
    supervisor.stop()
    postgres.stop()
    eventually(lambda: not processes_of(postgres))


def test_started_by_somebody_else_meanwhile_there_is_one_postmaster(
    postgres: EmbeddedPostgres, supervisor: PostgresSupervisor
) -> None:
    kill_everything(postgres)
    EmbeddedPostgres(postgres.directory, settings={"fsync": "off"}).start()
    eventually(lambda: supervisor.state == "running" and answers(postgres))
    assert len(postmasters(postgres)) == 1
