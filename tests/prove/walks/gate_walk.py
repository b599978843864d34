"""A random walk over everything that can happen at the gates."""

import random
from datetime import timedelta
from uuid import UUID

from tests.scanning.support import LATER, Device, World
from tests.seating.race_support import DAYS
from tests.support import SOON, MovableClock
from voelgoed.scanning.actions.supervision import admit_by_hand, annul, move_ticket
from voelgoed.scanning.model.supervision import Annulment, ManualAdmission, TicketTransition
from voelgoed.ticketing.model.tickets import Ticket


class GateWalk:
    def __init__(self, world: World, clock: MovableClock, seed: int) -> None:
        self.world, self.clock, self.random = world, clock, random.Random(seed)
        self.devices: list[Device] = []
        self.tickets: list[Ticket] = []
        self.admitted: list[UUID] = []
        self.days_left = len(DAYS) - 1
        self.did: list[str] = []

    async def begin(self) -> None:
        world = self.world
        self.tickets = [await world.ticket("A1"), await world.ticket("A5"), *await world.tickets(4)]
        self.clock.ahead = SOON - (world.now - self.clock.ahead)
        self.devices = [await world.device(gate) for gate in world.gates for _ in range(2)]

    async def step(self) -> None:
        acts = [self.scan] * 10 + [self.wait] * 4 + [self.admit, self.annul, self.reset]
        if self.random.random() < 0.01 and self.days_left:
            acts = [self.next_day]
        act = self.random.choice(acts)
        self.did.append(act.__name__)
        await act()

    async def scan(self) -> None:
        direction = self.random.choice(["entry", "entry", "exit"])
        device, ticket = self.random.choice(self.devices), self.random.choice(self.tickets)
        answer = (await self.world.scan(device, ticket.code, direction=direction)).json()
        if answer["status"] == "admitted":
            self.admitted.append(UUID(answer["scan_id"]))

    async def wait(self) -> None:
        self.clock.ahead += LATER

    async def next_day(self) -> None:
        self.days_left -= 1
        self.clock.ahead += timedelta(days=1) - timedelta(hours=1) * self.random.random()

    async def admit(self) -> None:
        services = self.world.services
        new = ManualAdmission(
            ticket_code=self.random.choice(self.tickets).code,
            gate_id=self.random.choice(self.world.gates).id,
            reason="knows the band",
            direction=self.random.choice(["entry", "exit"]),
        )
        caller = self.world.tenant.caller("gate_supervisor")
        answer = await admit_by_hand(services.database, services.scans, caller, new)
        assert answer.status == "admitted"
        self.admitted.append(answer.scan_id)

    async def annul(self) -> None:
        if self.admitted:
            caller = self.world.tenant.caller("gate_supervisor")
            scan_id = self.random.choice(self.admitted)
            await annul(
                self.world.services.database, caller, scan_id, Annulment(reason="turnstile")
            )

    async def reset(self) -> None:
        services, caller = self.world.services, self.world.tenant.caller("gate_supervisor")
        ticket = self.random.choice(self.tickets)
        for to in self.random.choice([["active"], ["used", "active"]]):
            new = TicketTransition(to=to, reason="as if nobody had come")
            await move_ticket(services.database, services.checkout, caller, ticket.id, new)
