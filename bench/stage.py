"""What a benchmark plays on: a database of its own, servers in processes of their own."""

import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.request import urlopen

from voelgoed.accounts.actions.organizations import create_organization
from voelgoed.accounts.actions.sessions import log_in
from voelgoed.accounts.model import Caller, LogIn, NewUser, Origin
from voelgoed.config import Settings
from voelgoed.events.actions.events import create_event
from voelgoed.events.actions.venues import create_venue
from voelgoed.events.model import NewEvent, NewVenue
from voelgoed.infra.embedded import EmbeddedPostgres
from voelgoed.infra.master_key import MasterKey
from voelgoed.infra.migrate import migrate
from voelgoed.services import build_services

PASSWORD = "only for this benchmark"
MASTER_KEY = bytes(range(32))


@dataclass
class Stage:
    postgres: EmbeddedPostgres
    token: str
    caller: Caller
    event_id: str

    @property
    def postmaster(self) -> int:
        return int((self.postgres.data / "postmaster.pid").read_text().split()[0])


@contextlib.contextmanager
def a_stage() -> Iterator[Stage]:
    """PostgreSQL with default durability, one organisation, one event."""
    with tempfile.TemporaryDirectory(prefix="voelgoed-bench-") as directory:
        postgres = EmbeddedPostgres(Path(directory) / "postgres")
        postgres.start()
        try:
            asyncio.run(migrate(postgres.url("voelgoed_owner")))
            yield asyncio.run(_furnish(postgres))
        finally:
            postgres.stop()


async def _furnish(postgres: EmbeddedPostgres) -> Stage:
    services = build_services(Settings(), postgres.url(), master_key=MasterKey(MASTER_KEY))
    await services.database.open()
    owner = NewUser(email="owner@bench.example", name="Owner", role="owner", password=PASSWORD)
    organization, owner_id = await create_organization(services.database, "bench", "Bench", owner)
    caller = Caller(kind="user", id=owner_id, organization_id=organization.id, role="owner")
    venue = await create_venue(
        services.database, caller, NewVenue(name="Hall", timezone="UTC"), None
    )
    now = services.clock.now()
    new = NewEvent(
        venue_id=venue.id,
        name="Concert",
        starts_at=now,
        ends_at=now + timedelta(hours=3),
        capacity=10,
    )
    event = await create_event(services.database, caller, new, None)
    given = LogIn(organization="bench", email=owner.email, password=PASSWORD)
    logged_in = await log_in(services.database, Origin("127.0.0.1", "bench"), given)
    await services.database.close()
    return Stage(postgres, logged_in.token, caller, str(event.id))


@contextlib.contextmanager
def a_process(port: int, core: int | None, *command: str, **environment: str) -> Iterator[int]:
    """Pinned to one core, or to none, ready when its port answers. Gives its process id."""
    process = subprocess.Popen(
        [sys.executable, *command],
        env=os.environ | {"VOELGOED_MASTER_KEY": MASTER_KEY.hex()} | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    if core is not None:
        os.sched_setaffinity(process.pid, {core})
    try:
        _wait_for(port, process)
        yield process.pid
    finally:
        process.terminate()
        process.wait(30)


def _wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    for _ in range(200):
        with contextlib.suppress(OSError), urlopen(f"http://127.0.0.1:{port}/health/live"):
            return
        if process.poll() is not None:
            raise RuntimeError("the server ended before it answered")
        time.sleep(0.1)
    raise RuntimeError("the server did not answer within 20 s")
