"""Whatever happens at the gates, the report on attendance agrees with the counters."""

from datetime import timedelta

import httpx
import pytest

from tests.prove.length import seeds
from tests.prove.walks.gate_walk import GateWalk
from tests.reporting.attendance_support import found_in, require_as_counted
from tests.reporting.support import (
    log_in_again,
    require_no_shows_add_up,
)
from tests.scanning.recovery_support import recover
from tests.scanning.support import a_world
from tests.scanning.sync_support import deliver, offline, signed, sync
from tests.support import MovableClock, Tenant
from voelgoed.infra.rate_limit import Limit
from voelgoed.reporting.actions.no_shows import report_no_shows
from voelgoed.services import Services

STEPS = 120


class OfflineGateWalk(GateWalk):
    """A gate walk with devices that are offline for a while and deliver their scans later, by either
    address or by a file that nobody has reviewed."""

    async def step(self) -> None:
        if self.random.random() < 0.35:
            self.did.append("alone")
            await self.alone()
        else:
            await super().step()

    async def alone(self) -> None:
        world, luck = self.world, self.random
        device, ticket = luck.choice(self.devices), luck.choice(self.tickets)
        ago = timedelta(seconds=luck.randint(1, 1_500))
        more = {"outcome": luck.choice(["valid", "valid", "duplicate", "invalid"])}
        way = luck.choice(["entry", "entry", "exit"])
        form = luck.choice(["signed", "queue", "file"])
        if form == "queue":
            await deliver(world, device, offline(world, ticket.code, ago, direction=way, **more))
            return
        scan = await signed(world, device, ticket, ago, direction=way, **more)
        await log_in_again(world)
        await (sync if form == "signed" else recover)(world, device, scan)


@pytest.mark.parametrize("seed", seeds(short=2, full=50))
async def test_the_attendance_report_agrees_with_the_counters_whatever_happens(
    services: Services,
    client: httpx.AsyncClient,
    tenant: Tenant,
    clock: MovableClock,
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
) -> None:
    world = await a_world(services, client, tenant, gates=3, is_begun=False)
    for limit in ("batch_limit", "queue_limit"):
        monkeypatch.setattr(services.syncs, limit, Limit(1_000_000, timedelta(minutes=1)))
    walk = OfflineGateWalk(world, clock, seed)
    await walk.begin()
    for number in range(STEPS):
        await walk.step()
        if number % 20 == 0:
            await require_as_counted(world, await found_in(world, 5))
    for minutes in (1, 5, 15, 60):
        await require_as_counted(world, await found_in(world, minutes))
    absent = await report_no_shows(services.reports, tenant.caller("box_office"), world.event_id)
    require_no_shows_add_up(absent)
    did = set(walk.did)
    assert {"scan", "alone"} < did
    assert did & {"admit", "annul"}, "one of them is missing in one walk of fifty"
    assert (await found_in(world)).total.entries > STEPS / 20, "or this walk proves little"
