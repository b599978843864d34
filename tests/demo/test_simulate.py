"""`voelgoed simulate` at the demo's festival, again and again."""

from pathlib import Path

import msgspec
import pytest

from tests.conftest import serving
from tests.demo.test_demo import its_services, make
from voelgoed.accounts.model import Caller
from voelgoed.demo.file import Demo
from voelgoed.device.simulation.cli import CHEATS_AT_THE_DEMO, Simulation, trust_of
from voelgoed.device.simulation.crowd import Options
from voelgoed.device.simulation.venue import LogIn
from voelgoed.scanning.actions.devices import list_devices
from voelgoed.scanning.actions.recount import recount_all
from voelgoed.services import Services

pytestmark = pytest.mark.own_database

OPTIONS = Options(
    devices=3,
    visitors=30,
    seconds=1,
    outage=0.4,
    clock_error_s=10.0,
    cheats=0.3,
    seed=5,
    leaving=0.3,
    kinds=CHEATS_AT_THE_DEMO,
)


async def test_it_loses_nothing_there_and_leaves_no_device_behind(
    database_url: str, tmp_path: Path
):
    demo, _ = await make(database_url, tmp_path)
    assert demo is not None
    owner = demo.users["owner"]
    async with its_services(database_url) as services, serving(services) as url:
        log_in = LogIn(url, demo.organization_slug, owner.email, owner.password)
        simulation = Simulation(log_in, OPTIONS, tmp_path / "first", trust_of(tmp_path / "none"))
        (tmp_path / "first").mkdir()
        findings = await simulation.run(demo.event_id, 0)
        assert findings.is_sound
        assert findings.made >= OPTIONS.visitors
        assert await recount_all(services.database) == (1, [])
        devices = await _devices(services, demo)
        assert {name for name in devices if name.startswith("Simulated")} == set()


async def test_when_all_have_come_in_they_leave_and_come_back(database_url: str, tmp_path: Path):
    demo, _ = await make(database_url, tmp_path)
    assert demo is not None
    owner = demo.users["owner"]
    async with its_services(database_url) as services, serving(services) as url:
        log_in = LogIn(url, demo.organization_slug, owner.email, owner.password)
        many = msgspec.structs.replace(OPTIONS, visitors=200, cheats=0.0)
        (tmp_path / "second").mkdir()
        simulation = Simulation(log_in, many, tmp_path / "second", trust_of(tmp_path / "none"))
        findings = await simulation.run(demo.event_id, 0)
        assert findings.is_sound
        assert findings.made > many.visitors  # who comes back has left before
        assert await recount_all(services.database) == (1, [])


async def _devices(services: Services, demo: Demo) -> list[str]:
    assert demo.organization_id is not None
    system = Caller(kind="system", id=None, organization_id=demo.organization_id)
    found = await list_devices(services.database, system, demo.event_id, False, None, 100)
    return [device.name for device in found]
