"""Whatever happens at the gates, the counters agree with the scans."""

import httpx
import pytest

from tests.prove.length import seeds
from tests.prove.walks.gate_walk import GateWalk
from tests.scanning.support import World, a_world
from tests.support import MovableClock, Tenant
from voelgoed.scanning.actions.recount import recount_event
from voelgoed.scanning.model.recount import Difference
from voelgoed.services import Services

STEPS = 200


@pytest.mark.parametrize("seed", seeds(short=2, full=50))
async def test_the_counters_agree_with_the_scans_whatever_happens_at_the_gates(
    services: Services, client: httpx.AsyncClient, tenant: Tenant, clock: MovableClock, seed: int
):
    world = await a_world(services, client, tenant, gates=3)
    walk = GateWalk(world, clock, seed)
    await walk.begin()
    for number in range(STEPS):
        await walk.step()
        if number % 5 == 0:
            assert await differences_in(world) == [], walk.did
    assert await differences_in(world) == []
    assert {"scan", "admit", "annul", "reset"} < set(walk.did)
    [counted] = await world.rows("SELECT count(*) FROM scan WHERE status = 'admitted'")
    assert counted["count"] > STEPS / 10, "or this walk proves little"


async def differences_in(world: World) -> list[Difference]:
    return await recount_event(world.services.database, world.tenant.id, world.event_id)
