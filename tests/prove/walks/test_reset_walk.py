"""Random evenings in which the venue is declared empty at times: the counts always agree with the scans."""

from datetime import timedelta
from random import Random

import httpx
import pytest

from tests.prove.length import rounds, seeds
from tests.scanning.support import LATER, Device, World, a_world
from tests.scanning.sync_support import signed, sync
from tests.support import MovableClock, Tenant
from voelgoed.scanning.actions.occupancy_resets import declare_empty
from voelgoed.scanning.actions.recount import recount_event
from voelgoed.scanning.actions.supervision import annul
from voelgoed.scanning.model.supervision import Annulment, NewOccupancyReset
from voelgoed.services import Services
from voelgoed.ticketing.model.tickets import Ticket

pytestmark = pytest.mark.own_database

STEPS = rounds(short=25, full=60)


class Walk:
    def __init__(self, world: World, clock: MovableClock, luck: Random) -> None:
        self.world, self.clock, self.luck = world, clock, luck
        self.caller = world.tenant.caller("gate_supervisor")
        self.tickets: list[Ticket] = []
        self.devices: list[Device] = []
        self.taken_out = 0

    async def begin(self) -> None:
        self.tickets = await self.world.tickets(4)
        self.devices = [await self.world.device(gate) for gate in self.world.gates]

    async def step(self) -> str:
        steps = [self.deliver, self.deliver, self.deliver, self.empty, self.annul, self.wait]
        step = self.luck.choice(steps)
        await step()
        return step.__name__

    async def deliver(self) -> None:
        """Delivers late scans, from before and after resets, also of codes that are no tickets, but not too
        often in a minute."""
        self.clock.ahead += timedelta(seconds=10)
        device = self.luck.choice(self.devices)
        shown = self.luck.choices([*self.tickets, None], k=self.luck.randint(1, 3))
        scans = [
            await signed(
                self.world,
                device,
                ticket,
                timedelta(seconds=self.luck.randint(0, 2_000), milliseconds=number),
                direction=self.luck.choice(["entry", "entry", "exit"]),
            )
            for number, ticket in enumerate(shown)
        ]
        await sync(self.world, device, *scans)

    async def empty(self) -> None:
        database, new = self.world.services.database, NewOccupancyReset(reason="Sweep")
        reset = await declare_empty(database, self.caller, self.world.event_id, new, None)
        self.taken_out += reset.inside

    async def annul(self) -> None:
        """Annuls one of the scans that count."""
        found = await self.world.rows(
            """
            SELECT id FROM scan
             WHERE status = 'admitted'
               AND NOT EXISTS (SELECT 1 FROM scan_ruling WHERE scan_id = scan.id)
               AND NOT EXISTS (SELECT 1 FROM scan_annulment WHERE scan_id = scan.id)
             ORDER BY id
            """
        )
        if found:
            database, scan_id = self.world.services.database, self.luck.choice(found)["id"]
            await annul(database, self.caller, scan_id, Annulment(reason="turnstile"))

    async def wait(self) -> None:
        self.clock.ahead += self.luck.choice([timedelta(seconds=1), LATER, timedelta(minutes=20)])


@pytest.mark.parametrize("seed", seeds(short=3, full=40))
async def test_the_counts_agree_with_the_scans_however_often_the_venue_is_emptied(
    services: Services, client: httpx.AsyncClient, tenant: Tenant, clock: MovableClock, seed: int
):
    world = await a_world(services, client, tenant, gates=2)
    walk = Walk(world, clock, Random(seed))
    await walk.begin()
    done: list[str] = []
    for _ in range(STEPS):
        done.append(await walk.step())
        found = await recount_event(services.database, tenant.id, world.event_id)
        assert found == [], done
    await walk.empty()
    assert await recount_event(services.database, tenant.id, world.event_id) == []
    assert set((await world.inside()).values()) <= {0}
    assert walk.taken_out > 0
