"""A simulated crowd with outages loses nothing; and a loss would be noticed."""

from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID, uuid4

import pytest

from tests.conftest import MASTER_KEY, serving
from tests.device.support import a_scan
from tests.support import PASSWORD, a_tenant
from voelgoed.config import Settings
from voelgoed.device.simulation.cli import Simulation, trust_of
from voelgoed.device.simulation.crowd import Options, Post
from voelgoed.device.simulation.report import Findings, findings_of
from voelgoed.device.simulation.venue import ListedConflict, ListedScan, LogIn, SimulationFault
from voelgoed.services import build_services, running

pytestmark = pytest.mark.own_database

OPTIONS = Options(
    devices=3, visitors=40, seconds=1, outage=0.5, clock_error_s=30.0, cheats=0.4, seed=3
)


@pytest.fixture
async def log_in(database_url: str) -> AsyncIterator[LogIn]:
    """A log-in at a server that also runs jobs, because tickets are imported."""
    settings = Settings(database_connections_max=10)
    services = build_services(settings, database_url, master_key=MASTER_KEY)
    async with running(services, with_jobs=True), serving(services) as url:
        tenant = await a_tenant(services, "acme")
        yield LogIn(url, tenant.organization.slug, "owner@acme.example", PASSWORD)


async def simulated(log_in: LogIn, directory: Path) -> Findings:
    simulation = Simulation(log_in, OPTIONS, directory, trust_of(directory / "none"))
    return await simulation.run(None, 40)


async def test_a_crowd_with_outages_loses_nothing(log_in: LogIn, tmp_path: Path):
    findings = await simulated(log_in, tmp_path)
    assert findings.is_sound
    assert findings.made >= 40
    assert findings.kept == findings.made
    assert len(list(tmp_path.glob("device-*.db"))) == 3


async def test_a_failed_log_in_is_reported(log_in: LogIn, tmp_path: Path):
    stranger = LogIn(log_in.url, log_in.organization, log_in.email, "a guess of mine")
    with pytest.raises(SimulationFault, match="401"):
        await simulated(stranger, tmp_path)
    nowhere = LogIn("http://127.0.0.1:1", "acme", "a@b.example", "whatever it is")
    with pytest.raises(SimulationFault, match="does not answer"):
        await simulated(nowhere, tmp_path)


def a_post(*scans: Any) -> Post:
    store = SimpleNamespace(scans=lambda: list(scans))
    return cast(Post, SimpleNamespace(device=SimpleNamespace(store=store)))


def listed(scan_id: UUID, ticket_id: UUID | None = None) -> ListedScan:
    return ListedScan(scan_id, ticket_id, "admitted", "online")


def found(posts: list[Post], *kept: ListedScan, conflicts: Any = ()) -> Findings:
    return findings_of(posts, kept, conflicts)


def test_every_lost_or_doubled_scan_is_noticed():
    one = a_scan(sync_status="synced")
    other = a_scan(sync_status="synced", ticket_id=UUID(int=8))
    posts = [a_post(one), a_post(other)]
    good = [listed(one.scan_id), listed(other.scan_id)]
    assert found(posts, *good).is_sound
    assert found(posts, good[0]).missing == [other.scan_id]
    assert found(posts, *good, good[0]).repeated == [one.scan_id]
    stranger = uuid4()
    assert found(posts, *good, listed(stranger)).strange == [stranger]
    waiting = a_scan()
    assert found([a_post(waiting)], listed(waiting.scan_id)).changed == [waiting.scan_id]
    for wrong in (
        found(posts, good[0]),
        found(posts, *good, good[0]),
        found(posts, *good, listed(stranger)),
        found([a_post(waiting)], listed(waiting.scan_id)),
    ):
        assert not wrong.is_sound


def test_a_ticket_that_let_in_two_people_must_be_a_conflict():
    one, two = a_scan(sync_status="synced"), a_scan(sync_status="synced")
    posts, kept = [a_post(one), a_post(two)], [listed(one.scan_id), listed(two.scan_id)]
    silent = found(posts, *kept)
    assert (silent.double, silent.unnoticed, silent.is_sound) == (1, [UUID(int=7)], False)
    conflict = ListedConflict(
        kind="double_entry",
        severity="critical",
        ticket_id=UUID(int=7),
        scan_id=two.scan_id,
        winner_scan_id=one.scan_id,
    )
    assert found(posts, *kept, conflicts=[conflict]).is_sound
