"""`voelgoed` in processes of its own, ended by their ids and never left behind.

Python and all that it imports take a second and more to start. So the processes of one worker are
forked off a server that has imported everything: they have their own id, session, signals,
environment and files, and run the program's entry point; only passwords are hashed quickly.
`Installation.execute` starts the installed executable itself.
"""

import asyncio
import json
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import asyncpg
import httpx
import pytest
from websockets.sync.client import ClientConnection, connect

from tests.support import MASTER_KEY_BYTES, QUICK_PASSWORD_HASHER
from voelgoed.cli import main
from voelgoed.infra import passwords
from voelgoed.infra.embedded import EmbeddedPostgres
from voelgoed.infra.publisher import CHANNEL

EXECUTABLE = Path(sys.executable).with_name("voelgoed")
HANG_S = 180
"""Nothing here takes nearly as long; who waits this long waits for ever."""
IS_UP = "Voelgoed is running"
MEMORY = Path("/dev/shm")
MEMORY_FREE_BYTES_MIN = 2 * 1024**3

forks = multiprocessing.get_context("forkserver")
forks.set_forkserver_preload(["tests.processes"])


class Process:
    """One `voelgoed ...`. What it prints goes to files, so that it never waits for a reader."""

    def __init__(
        self,
        directory: Path,
        arguments: Sequence[str],
        settings: dict[str, str],
        *,
        is_forked: bool = True,
    ) -> None:
        outside = {k: v for k, v in os.environ.items() if not k.startswith("VOELGOED_")}
        ours = {f"VOELGOED_{name.upper()}": value for name, value in settings.items()}
        self._directory = Path(tempfile.mkdtemp(prefix="process-", dir=directory))
        start = _fork if is_forked else _execute
        self.pid, self._wait = start(arguments, outside | ours, self._directory)

    @property
    def out(self) -> str:
        return (self._directory / "out").read_text()

    @property
    def err(self) -> str:
        return (self._directory / "err").read_text()

    @property
    def url(self) -> str:
        """Which may be printed a moment after what was waited for."""

        def printed() -> re.Match[str] | None:
            return re.search(r"https?://\S+?:\d+\b", self.out + self.err)

        eventually(printed)
        found = printed()
        assert found
        return found[0]

    def wait_for(self, *texts: str) -> Self:
        """Until it has printed one of them."""

        def printed() -> bool:
            has_ended = self._wait(0) is not None
            is_printed = any(text in self.out + self.err for text in texts)
            assert is_printed or not has_ended, self.err
            return is_printed

        eventually(printed)
        return self

    def end(self, number: signal.Signals) -> int:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)
        return self.wait()

    def ctrl_c(self) -> int:
        """As a terminal does it: to the whole process group."""
        os.killpg(self.pid, signal.SIGINT)
        return self.wait()

    def wait(self) -> int:
        """Its exit code, or the number of the signal that ended it, negative."""
        code = self._wait(HANG_S)
        assert code is not None, "waited for ever"
        return code


Wait = Callable[[float], int | None]
"""For so many seconds: the exit code, or None while it runs."""


def _execute(
    arguments: Sequence[str], environment: dict[str, str], directory: Path
) -> tuple[int, Wait]:
    with (directory / "out").open("wb") as out, (directory / "err").open("wb") as err:
        process = subprocess.Popen(
            [EXECUTABLE, *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,  # so that Ctrl-C of this test's reader is not theirs
        )

    def wait(seconds: float) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            return process.wait(seconds)
        return None

    return process.pid, wait


def _fork(
    arguments: Sequence[str], environment: dict[str, str], directory: Path
) -> tuple[int, Wait]:
    for name in ("out", "err"):
        (directory / name).touch()
    process = forks.Process(
        target=_main, args=(["voelgoed", *arguments], environment, directory), daemon=True
    )
    process.start()
    assert process.pid is not None

    def wait(seconds: float) -> int | None:
        process.join(seconds)
        return process.exitcode

    return process.pid, wait


def _main(arguments: list[str], environment: dict[str, str], directory: Path) -> None:
    """What the installed executable does, in a process that was forked for it."""
    os.setsid()
    for number, path, flags in (
        (0, Path(os.devnull), os.O_RDONLY),
        (1, directory / "out", os.O_WRONLY),
        (2, directory / "err", os.O_WRONLY),
    ):
        opened = os.open(path, flags)
        os.dup2(opened, number)
        os.close(opened)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = arguments
    with quick_passwords():
        main()


@contextmanager
def quick_passwords() -> Iterator[None]:
    """The demo has a dozen users; to hash their passwords well takes most of its time."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(passwords, "HASHER", QUICK_PASSWORD_HASHER)
        yield


class Installation:
    """A data directory, and whatever was started on it."""

    def __init__(self, copied: Path | None = None) -> None:
        """Empty, or a copy of another one's data while nothing runs there."""
        # A short name: a path of 100 bytes would put the socket elsewhere.
        self._directory = Path(tempfile.mkdtemp(prefix="chaos-", dir=fastest_place()))
        self._processes: list[Process] = []
        self.data = self._directory / "var"
        self.postgres = EmbeddedPostgres(self.data / "postgres")
        if copied is not None:
            subprocess.run(["cp", "-a", copied, self.data], check=True)

    def run(self, *arguments: str, **settings: str) -> Process:
        return self._start(arguments, settings, is_forked=True)

    def execute(self, *arguments: str, **settings: str) -> Process:
        """The installed executable."""
        return self._start(arguments, settings, is_forked=False)

    def _start(
        self, arguments: Sequence[str], settings: dict[str, str], *, is_forked: bool
    ) -> Process:
        settings = {"data": str(self.data)} | settings
        process = Process(self._directory, arguments, settings, is_forked=is_forked)
        self._processes.append(process)
        return process

    def up(self, *arguments: str, **settings: str) -> Process:
        return self.run("up", "--port", "0", *arguments, **settings).wait_for(IS_UP)

    def serve(self, database_url: str, *arguments: str, **settings: str) -> Process:
        return self.run("serve", "--port", "0", *arguments, database_url=database_url, **settings)

    @property
    def demo(self) -> dict[str, Any]:
        return json.loads((self.data / "demo.json").read_text())

    def kill_database(self) -> None:
        """kill -9 of the postmaster and its children; or of the initdb that is still at work."""
        pids = self.database_processes()
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        eventually(lambda: not any(map(is_alive, pids)))

    def kill_postmaster(self) -> None:
        """Its children end by themselves."""
        postmaster, *_ = pids = self.database_processes()
        os.kill(postmaster, signal.SIGKILL)
        eventually(lambda: not any(map(is_alive, pids)))

    def database_processes(self) -> list[int]:
        """Those that work in the data directory; the postmaster first, that it starts no others."""
        found = [pid for pid in all_pids() if is_alive(pid) and self._is_ours(pid)]
        with suppress(OSError, ValueError, IndexError):
            pid_file = self.postgres.data / "postmaster.pid"
            postmaster = int(pid_file.read_text().splitlines()[0])
            found.sort(key=lambda pid: pid != postmaster)
        return found

    def _is_ours(self, pid: int) -> bool:
        with suppress(OSError):
            place = Path(f"/proc/{pid}/cwd").readlink()
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
            return place.is_relative_to(self.data) or os.fsencode(self.data) in command
        return False

    def show(self) -> None:
        for process in self._processes:
            print(f"--- process {process.pid} said:", process.err, sep="\n")

    def remove(self) -> None:
        for process in self._processes:
            process.end(signal.SIGKILL)
        self.kill_database()
        shutil.rmtree(self._directory)


class ServerProcess:
    """The real executable on the tests' database; it can be killed, and started again elsewhere."""

    def __init__(self, installation: Installation, database_url: str) -> None:
        self._installation = installation
        self._database_url = database_url
        self._process: Process | None = None
        self.starts = 0

    async def start(self, **settings: str) -> str:
        """Where it listens."""
        assert self._process is None
        settings = {"master_key": MASTER_KEY_BYTES.hex()} | settings
        process = self._installation.serve(self._database_url, **settings)
        await asyncio.to_thread(process.wait_for, "Serving http")
        self._process = process
        self.starts += 1
        return process.url

    async def kill(self) -> None:
        assert self._process is not None
        await asyncio.to_thread(self._process.end, signal.SIGKILL)
        self._process = None


def fastest_place() -> Path | None:
    """Memory, where there is room: what `kill -9` ends has written its files all the same, and on a
    disk the thousand files of a database are what takes the time."""
    with suppress(OSError):
        if shutil.disk_usage(MEMORY).free >= MEMORY_FREE_BYTES_MIN:
            return MEMORY
    return None


@contextmanager
def an_installation(copied: Path | None = None) -> Iterator[Installation]:
    installation = Installation(copied)
    try:
        yield installation
    finally:
        installation.remove()


@contextmanager
def servers(
    count: int, database_url: str, *arguments: str, **settings: str
) -> Iterator[list[Process]]:
    """So many `voelgoed serve` on one database."""
    with an_installation() as installation:
        started = [installation.serve(database_url, *arguments, **settings) for _ in range(count)]
        yield [process.wait_for("Serving http") for process in started]
        installation.show()


def all_pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def eventually(happens: Callable[[], object]) -> None:
    until = time.monotonic() + HANG_S
    while not happens():
        assert time.monotonic() < until, "waited for ever"
        time.sleep(0.02)


def a_client(url: str, token: str) -> httpx.Client:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.Client(base_url=url, headers=headers, timeout=HANG_S, trust_env=False)


@contextmanager
def a_follower(url: str, token: str, topic: str) -> Iterator[ClientConnection]:
    """A websocket that has subscribed."""
    headers = {"Authorization": f"Bearer {token}"}
    address = url.replace("http", "ws", 1) + "/api/live"
    with connect(address, additional_headers=headers, proxy=None) as socket:
        socket.send(json.dumps({"type": "subscribe", "topic": topic}))
        assert frame(socket)["type"] == "subscribed"
        yield socket


def frame(socket: ClientConnection) -> dict[str, Any]:
    until = time.monotonic() + HANG_S
    while (received := json.loads(socket.recv(HANG_S)))["type"] == "alive":
        assert time.monotonic() < until, "waited for ever"
    return received


@contextmanager
def overheard(admin_url: str) -> Iterator[list[str]]:
    """What is told to every process from now on, as it is told."""
    told: list[str] = []
    listening, enough = threading.Event(), threading.Event()

    async def listen() -> None:
        connection = await asyncpg.connect(admin_url)
        try:
            await connection.add_listener(CHANNEL, lambda *heard: told.append(str(heard[3])))
            listening.set()
            await asyncio.to_thread(enough.wait)
        finally:
            await connection.close()

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(asyncio.run, listen())
        try:
            eventually(lambda: listening.is_set() or done.done())
            yield told
        finally:
            enough.set()
    done.result()


def runs_of(job: str, process: Process) -> int:
    metrics = httpx.get(f"{process.url}/metrics", trust_env=False, timeout=HANG_S).text
    found = re.search(rf'^voelgoed_jobs_total{{name="{job}",outcome="done"}} (\d+)', metrics, re.M)
    return int(found[1]) if found else 0


def ask(database_url: str, sql: str) -> list[Any]:
    """The first column of what the database answers."""

    async def fetch() -> list[Any]:
        connection = await asyncpg.connect(database_url)
        try:
            return [row[0] for row in await connection.fetch(sql)]
        finally:
            await connection.close()

    return asyncio.run(fetch())
