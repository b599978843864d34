"""The embedded PostgreSQL, for real: clusters are made, killed, damaged and started again."""

import asyncio
import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import asyncpg
import pytest

from tests.processes import HANG_S, fastest_place
from voelgoed.infra import embedded as module
from voelgoed.infra.embedded import EmbeddedPostgres, EmbeddedPostgresError

Maker = Callable[..., EmbeddedPostgres]


@pytest.fixture
def place() -> Iterator[Path]:
    """Not pytest's, which keeps the directories of three runs: a cluster is 40 MB."""
    with tempfile.TemporaryDirectory(prefix="pg-", dir=fastest_place()) as directory:
        yield Path(directory)


@pytest.fixture
def a_postgres(place: Path) -> Iterator[Maker]:
    made: list[EmbeddedPostgres] = []

    def make(
        directory: Path = place / "pg", *, durable: bool = False, **settings: str
    ) -> EmbeddedPostgres:
        fast = {} if durable else {"fsync": "off"}
        made.append(EmbeddedPostgres(directory, settings=fast | settings))
        return made[-1]

    yield make
    for postgres in made:
        postgres.stop()


@pytest.fixture(scope="module")
def initialised() -> Iterator[Path]:
    """What a first start makes. Nothing runs there."""
    with tempfile.TemporaryDirectory(prefix="pg-", dir=fastest_place()) as directory:
        postgres = EmbeddedPostgres(Path(directory, "pg"), settings={"fsync": "off"})
        postgres.start()
        postgres.stop()
        yield postgres.directory


@pytest.fixture
def later(place: Path, initialised: Path) -> None:
    """The test's first start is not the first one of its cluster."""
    subprocess.run(["cp", "-a", initialised, place / "pg"], check=True)


not_the_first = pytest.mark.usefixtures("later")


@pytest.fixture
def processes() -> Iterator[list[subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for process in started:
        process.kill()
        process.wait()


def ask(postgres: EmbeddedPostgres, sql: str, role: str = "postgres") -> list[Any]:
    """The first row."""

    async def fetch() -> list[Any]:
        connection = await asyncpg.connect(postgres.url(role))
        try:
            row = await connection.fetchrow(sql)
        finally:
            await connection.close()
        return list(row) if row else []

    return asyncio.run(fetch())


def socket_directory(postgres: EmbeddedPostgres) -> Path:
    return Path(parse_qs(urlsplit(postgres.url()).query)["host"][0])


def postmaster(postgres: EmbeddedPostgres) -> int:
    return int((postgres.data / "postmaster.pid").read_text().splitlines()[0])


def state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "gone"


def modes_and_owners(path: Path) -> list[tuple[int, int, int]]:
    stats = [each.stat() for each in (path, *path.parents)]
    return [(stat.st_mode, stat.st_uid, stat.st_gid) for stat in stats]


def kill(*pids: int) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    while any(state(pid) not in ("Z", "gone") for pid in pids):
        time.sleep(0.01)


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_the_first_start_makes_a_durable_database_and_its_roles(a_postgres: Maker) -> None:
    postgres = a_postgres(durable=True)
    progress: list[str] = []
    postgres.start(progress.append)
    assert progress == ["Creating the database, once", "Starting PostgreSQL"]
    names = ("fsync", "synchronous_commit", "max_connections", "TimeZone", "listen_addresses")
    shown = ask(postgres, f"SELECT {','.join(f'current_setting($${name}$$)' for name in names)}")
    assert shown == ["on", "on", "200", "UTC", ""]
    database = (
        "SELECT datdba::regrole::text, pg_encoding_to_char(encoding), datlocprovider, datlocale"
        " FROM pg_database WHERE datname = 'voelgoed'"
    )
    assert ask(postgres, database) == ["voelgoed_owner", "UTF8", b"b", "C.UTF-8"]
    powers = (
        "SELECT rolcanlogin, rolsuper, rolbypassrls, rolcreatedb, rolcreaterole"
        " FROM pg_roles WHERE rolname = current_user"
    )
    for role in ("voelgoed_owner", "voelgoed_server"):
        assert ask(postgres, powers, role) == [True, False, False, False, False]


@not_the_first
def test_a_second_start_adopts_the_running_server(a_postgres: Maker) -> None:
    first, second = a_postgres(), a_postgres()
    first.start()
    pid = postmaster(first)
    second.start()
    assert postmaster(second) == pid
    assert second.url() == first.url()


def test_starts_at_the_same_moment_make_one_server(a_postgres: Maker) -> None:
    both = [a_postgres(), a_postgres()]
    with ThreadPoolExecutor() as pool:
        list(pool.map(EmbeddedPostgres.start, both))
    assert len({ask(each, "SELECT pg_postmaster_start_time()")[0] for each in both}) == 1


@not_the_first
def test_stop_ends_it_and_may_be_repeated(a_postgres: Maker) -> None:
    postgres = a_postgres()
    postgres.stop()
    postgres.start()
    pid = postmaster(postgres)
    postgres.stop()
    postgres.stop()
    assert state(pid) in ("Z", "gone")
    assert not list(socket_directory(postgres).iterdir())


@not_the_first
def test_what_was_committed_survives_kill_9_of_everything(a_postgres: Maker) -> None:
    postgres = a_postgres(durable=True)
    postgres.start()
    ask(postgres, "CREATE TABLE kept AS SELECT 42 AS answer")
    pid = postmaster(postgres)
    kill(pid, *children(pid))
    postgres.start()
    assert postmaster(postgres) != pid
    assert ask(postgres, "SELECT answer FROM kept") == [42]


@not_the_first
def test_a_start_waits_until_orphans_of_a_killed_server_have_stopped_writing(
    a_postgres: Maker,
    processes: list[subprocess.Popen[bytes]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "PROGRESS_EVERY_SECONDS", 0.05)
    postgres = a_postgres()
    postgres.start()
    # A file that appears in its data directory, where it is, ends it.
    busy = """DO $$
        BEGIN WHILE pg_stat_file('enough', true) IS NULL LOOP END LOOP; END $$"""
    psql = [postgres.bin_directory / "psql", postgres.url("postgres"), "-c", busy]
    processes.append(subprocess.Popen(psql, stderr=subprocess.DEVNULL))
    orphan = "SELECT pid FROM pg_stat_activity WHERE query LIKE 'DO%' AND state = 'active'"
    while not (found := ask(postgres, orphan)):
        time.sleep(0.02)
    kill(postmaster(postgres))
    waiting = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        starting = pool.submit(postgres.start, lambda said: waiting.set())
        waiting.wait(HANG_S)
        assert not starting.done()
        assert state(found[0]) not in ("Z", "gone")
        (postgres.data / "enough").touch()
        starting.result()
    assert state(found[0]) in ("Z", "gone")


@not_the_first
@pytest.mark.parametrize("stale", ["dead", "zombie", "another program", "nonsense"])
def test_a_stale_process_id_is_no_obstacle(
    stale: str, a_postgres: Maker, processes: list[subprocess.Popen[bytes]]
) -> None:
    postgres = a_postgres()
    postgres.start()
    files = [postgres.data / "postmaster.pid", socket_directory(postgres) / ".s.PGSQL.5432.lock"]
    contents = [file.read_text() for file in files]
    pid = contents[0].splitlines()[0]
    postgres.stop()
    # As PostgreSQL's own user, because it takes the processes of others for stale by itself.
    owner = postgres.directory.stat().st_uid
    command = ["true"] if stale in ("dead", "zombie") else ["sleep", "600"]
    process = subprocess.Popen(command, user=owner if os.geteuid() == 0 else None)
    processes.append(process)
    if stale == "dead":
        process.wait()
    while stale == "zombie" and state(process.pid) != "Z":
        time.sleep(0.01)
    for file, content in zip(files, contents, strict=True):
        file.write_text("" if stale == "nonsense" else content.replace(pid, str(process.pid)))
        shutil.chown(file, owner)
    postgres.start()
    assert postmaster(postgres) != process.pid


@not_the_first
def test_the_server_of_a_copied_directory_is_not_taken_for_ours(
    place: Path, a_postgres: Maker
) -> None:
    original = a_postgres()
    original.start()
    pid_file = (original.data / "postmaster.pid").read_text()
    original.stop()
    # What `cp -r` makes as root: everything belongs to root.
    shutil.copytree(original.directory, place / "copy", symlinks=True)
    original.start()
    copy = a_postgres(place / "copy")
    _, _, rest = pid_file.partition("\n")
    (copy.data / "postmaster.pid").write_text(f"{postmaster(original)}\n{rest}")
    copy.start()
    assert postmaster(copy) != postmaster(original)
    assert ask(copy, "SELECT current_setting('data_directory')") == [str(copy.data)]


def test_a_first_start_killed_half_way_is_healed_by_the_next(
    a_postgres: Maker, processes: list[subprocess.Popen[bytes]]
) -> None:
    postgres = a_postgres()
    program = (
        "import sys; from pathlib import Path; from voelgoed.infra.embedded import EmbeddedPostgres;"
        "EmbeddedPostgres(Path(sys.argv[1])).start()"
    )
    first = subprocess.Popen([sys.executable, "-c", program, str(postgres.directory)])
    processes.append(first)
    while not list(postgres.directory.glob("initdb-*/base")):
        time.sleep(0.01)
    kill(first.pid)
    assert not postgres.data.exists()
    postgres.start()
    assert not list(postgres.directory.glob("initdb-*"))
    assert ask(postgres, "SELECT 1", "voelgoed_server") == [1]


@not_the_first
@pytest.mark.parametrize("missing", ["DATABASE voelgoed", "ROLE voelgoed_server"])
def test_a_role_or_database_that_is_still_missing_is_made(missing: str, a_postgres: Maker) -> None:
    postgres = a_postgres()
    postgres.start()
    admin = postgres.url("postgres", "postgres")
    subprocess.run([postgres.bin_directory / "psql", admin, "-qc", f"DROP {missing}"], check=True)
    postgres.start()
    assert ask(postgres, "SELECT current_user::text", "voelgoed_server") == ["voelgoed_server"]


def test_a_foreign_directory_is_refused_and_left_alone(place: Path, a_postgres: Maker) -> None:
    (place / "pg").mkdir()
    (place / "pg" / "thesis.txt").write_text("mine")
    with pytest.raises(EmbeddedPostgresError, match=r"holds no database of Voelgoed's"):
        a_postgres().start()
    assert [path.name for path in (place / "pg").iterdir()] == ["thesis.txt"]


def test_a_directory_named_data_is_not_yet_a_cluster(place: Path, a_postgres: Maker) -> None:
    (place / "pg" / "data").mkdir(parents=True)
    (place / "pg" / "data" / "thesis.txt").write_text("mine")
    with pytest.raises(EmbeddedPostgresError, match=r"holds no database of Voelgoed's"):
        a_postgres().start()


def test_the_data_of_another_version_is_named_and_untouched(place: Path, a_postgres: Maker) -> None:
    version = place / "pg" / "data" / "PG_VERSION"
    version.parent.mkdir(parents=True)
    version.write_text("15\n")
    with pytest.raises(EmbeddedPostgresError, match=r"PostgreSQL 15, this is 18; .* untouched"):
        a_postgres().start()
    assert [path.name for path in version.parent.iterdir()] == ["PG_VERSION"]


def test_a_directory_that_cannot_be_written_is_refused(a_postgres: Maker) -> None:
    # Not even root may make a directory in /sys.
    with pytest.raises(EmbeddedPostgresError, match=r"^/sys/voelgoed/pg is not writable"):
        a_postgres(Path("/sys/voelgoed/pg")).start()


def test_a_full_disk_is_called_that(
    tmp_path: Path, a_postgres: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(small)]
    mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    if not mounted:

        def mkdtemp(**_: object) -> str:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(tempfile, "mkdtemp", mkdtemp)
    try:
        with pytest.raises(EmbeddedPostgresError, match=r"the disk is full$"):
            a_postgres(small / "pg").start()
        assert {path.name for path in (small / "pg").iterdir()} <= {"in-use", "socket"}
    finally:
        if mounted:
            subprocess.run(["umount", str(small)], check=True)


def test_a_failed_start_says_why_in_one_line(a_postgres: Maker) -> None:
    with pytest.raises(EmbeddedPostgresError, match=r"shared_buffers") as failure:
        a_postgres(shared_buffers="a lot").start()
    assert "\n" not in str(failure.value)


@not_the_first
def test_a_large_log_is_set_aside(a_postgres: Maker) -> None:
    postgres = a_postgres()
    postgres.start()
    postgres.stop()
    with postgres.log.open("a") as log:
        log.truncate(11_000_000)
    postgres.start()
    assert postgres.log.stat().st_size < 100_000
    assert postgres.log.with_name("postgres.log.1").stat().st_size == 11_000_000


def test_a_socket_path_too_long_moves_to_the_temporary_directory(
    tmp_path: Path, a_postgres: Maker
) -> None:
    postgres = a_postgres(tmp_path / ("long" * 30) / "pg")
    postgres.start()
    assert socket_directory(postgres).parent == Path("/tmp")
    assert socket_directory(postgres).stat().st_mode & 0o777 == 0o700
    assert ask(postgres, "SELECT 1") == [1]
    postgres.stop()
    assert not socket_directory(postgres).exists()


def test_a_symlink_planted_in_the_temporary_directory_is_refused(
    tmp_path: Path, a_postgres: Maker
) -> None:
    postgres = a_postgres(tmp_path / ("long" * 30) / "pg")
    trap = socket_directory(postgres)
    trap.symlink_to(tmp_path)
    try:
        with pytest.raises(EmbeddedPostgresError, match=r"belongs to someone else"):
            postgres.start()
    finally:
        trap.unlink()


@not_the_first
def test_the_environment_of_the_caller_changes_nothing(
    a_postgres: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PGHOST", "PGPORT", "PGUSER", "PGDATA", "PGOPTIONS"):
        monkeypatch.setenv(name, "1")
    postgres = a_postgres()
    postgres.start()
    assert (socket_directory(postgres) / ".s.PGSQL.5432").is_socket()


def test_a_closed_home_directory_stays_closed(
    tmp_path: Path, a_postgres: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    package = a_postgres().bin_directory.parents[1]
    for name in (package.name, f"{package.name}.libs"):
        other_version = shutil.ignore_patterns("pginstall")
        shutil.copytree(package.with_name(name), home / "venv" / name, ignore=other_version)
    monkeypatch.setattr(sys, "path", [str(home / "venv"), *sys.path])
    postgres = a_postgres(home / "var" / "pg")
    assert postgres.bin_directory.is_relative_to(home)
    before = modes_and_owners(home)
    postgres.start()
    assert ask(postgres, "SELECT 1") == [1]
    assert modes_and_owners(home) == before
    runs_as = Path(f"/proc/{postmaster(postgres)}").stat().st_uid
    assert runs_as != 0
    assert runs_as == postgres.directory.stat().st_uid
    if os.geteuid() != 0:
        assert runs_as == os.geteuid()
