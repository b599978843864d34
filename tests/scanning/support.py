"""Builders: a live event, open gates, sold tickets, devices."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import msgspec

from tests.support import Tenant, a_gate
from tests.ticketing.sales_support import Sales, sales
from voelgoed.accounts.model import Origin, Role
from voelgoed.events.actions.events import move_event
from voelgoed.events.actions.gates import create_gate
from voelgoed.events.model import Gate, NewGate, Transition
from voelgoed.scanning.actions.devices import create_pairing, pair
from voelgoed.scanning.model.devices import NewPairing, Pair
from voelgoed.services import Services
from voelgoed.ticketing.actions.tickets import read_ticket
from voelgoed.ticketing.model.tickets import Ticket

TABLET = Origin("127.0.0.1", "Scanner-PWA/1.0")


@dataclass(frozen=True)
class Device:
    id: UUID
    api_key: str
    gate: Gate

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.api_key}", "User-Agent": "Scanner-PWA/1.0"}


@dataclass
class World:
    """An event with its gates, seen through one node."""

    services: Services
    client: httpx.AsyncClient
    sales: Sales
    gates: list[Gate]
    devices: list[Device] = field(default_factory=list[Device])

    @property
    def tenant(self) -> Tenant:
        return self.sales.tenant

    @property
    def event_id(self) -> UUID:
        return self.sales.stage.event_id

    @property
    def now(self) -> datetime:
        return self.services.clock.now()

    async def ticket(self, seat: str = "A1") -> Ticket:
        return (await self.sales.sell(seat)).tickets[0]

    async def tickets(self, count: int) -> list[Ticket]:
        """Tickets for the floor; at most ten are sold together."""
        sold: list[Ticket] = []
        while len(sold) < count:
            some = min(10, count - len(sold))
            sold += (await self.sales.sell(floor=some)).tickets
        return sold

    async def barcode(self, ticket: Ticket) -> str:
        services, caller = self.services, self.tenant.caller("owner")
        found = await read_ticket(services.database, services.master_key, caller, ticket.id)
        assert found.barcode is not None
        return found.barcode

    async def device(self, gate: Gate | None = None, name: str = "iPad-Gate-1") -> Device:
        services, gate = self.services, gate or self.gates[0]
        new = NewPairing(gate_id=gate.id, name=name, device_type="ipad")
        pairing = await create_pairing(services.database, self.tenant.caller("owner"), new)
        assert pairing.pairing_token is not None
        given = Pair(pairing_token=pairing.pairing_token)
        paired = await pair(services.database, services.master_key, TABLET, given)
        device = Device(paired.device_id, paired.api_key, gate)
        await self.was_here_before(device)
        self.devices.append(device)
        return device

    async def begin(self) -> None:
        """Lets the event's first day begin, whatever the clock says, so that scans of these days count."""
        await self.rows(
            """
            UPDATE event_day SET starts_at = least(starts_at, $2::timestamptz - interval '2 days')
             WHERE event_id = $1
               AND date = (SELECT min(date) FROM event_day WHERE event_id = $1)
            """,
            self.event_id,
            self.now,
        )

    async def was_here_before(self, device: Device) -> None:
        """Makes the device stand at its gate for two days, so that it can deliver scans of that time."""
        await self.rows(
            """
            INSERT INTO device_assignment (organization_id, id, device_id, gate_id, event_id, from_at,
                                           until_at)
            SELECT organization_id, gen_random_uuid(), device_id, gate_id, event_id,
                   from_at - interval '2 days', from_at
              FROM device_assignment WHERE device_id = $1
            """,
            device.id,
        )

    def body(self, device: Device, code: str, **more: Any) -> dict[str, Any]:
        return {
            "ticket_code": code,
            "device_id": str(device.id),
            "scanned_at": self.now.isoformat(),
            "scan_id": str(uuid4()),
            **more,
        }

    async def scan(self, device: Device, code: str, **more: Any) -> httpx.Response:
        """The answer, after everything that follows from the scan has happened."""
        body = self.body(device, code, **more)
        answer = await self.client.post("/api/scans", json=body, headers=device.headers)
        await self.services.scans.is_idle()
        return answer

    async def verdict(self, device: Device, code: str, **more: Any) -> str:
        """`admitted`, or the reason why not."""
        answer = await self.scan(device, code, **more)
        assert answer.status_code in (200, 404), answer.text
        body = answer.json()
        return body.get("reason", body["status"])

    async def ask(
        self, method: str, path: str, body: Any = None, by: Role = "gate_supervisor"
    ) -> httpx.Response:
        return await self.client.request(method, path, json=body, headers=self.tenant.as_(by))

    async def rows(self, query: str, *values: object) -> list[dict[str, Any]]:
        async with self.services.database.transaction(self.tenant.id) as tx:
            return [dict(row) for row in await tx.connection.fetch(query, *values)]

    async def inside(self) -> dict[str, int]:
        """The number of people inside over all days: at the event, at gates by their code, in zones by
        their id."""
        names = {gate.id: gate.code for gate in self.gates} | {self.event_id: "event"}
        counts: dict[str, int] = {}
        for row in await self.rows("SELECT scope_id, inside FROM occupancy"):
            name = names.get(row["scope_id"], str(row["scope_id"]))
            counts[name] = counts.get(name, 0) + row["inside"]
        return counts


async def a_world(
    services: Services,
    client: httpx.AsyncClient,
    tenant: Tenant,
    *,
    gates: int = 1,
    gate: dict[str, Any] | None = None,
    seats: int = 20,
    is_begun: bool = True,
    **types: Any,
) -> World:
    """`gate` holds settings for all gates, `types` settings for the ticket types."""
    sold = await sales(services, tenant, seats=seats, **types)
    database, caller = services.database, tenant.caller("owner")
    made: list[Gate] = []
    for number in range(gates):
        body = a_gate(code=f"gate-{number}", name=f"Gate {number}", status="open", capacity=500) | (
            gate or {}
        )
        new = msgspec.convert(body, NewGate)
        made.append(await create_gate(database, caller, sold.stage.event_id, new, None))
    await move_event(database, caller, sold.stage.event_id, Transition(to="live"))
    world = World(services, client, sold, made)
    if is_begun:
        await world.begin()
    return world


LATER = timedelta(seconds=301)
"""A time that is longer than the usual duplicate window."""
