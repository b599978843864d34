"""What a simulation needs of a server: an event that is live, gates, tickets, and what it says after."""

import asyncio
import csv
import io
from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID, uuid4

import httpx
import msgspec

from voelgoed.device.model import DeviceFault

T = TypeVar("T")
TIMEZONE = "Africa/Johannesburg"
TYPE = "Simulated"
FLOOR = "Floor"
LASTS = timedelta(hours=12)
TOGETHER_MAX = 8
"""Requests at once, while it prepares."""
IMPORT_S_MAX = 120
LOOK_S = 0.2
PAGE_MAX = 200


class SimulationFault(DeviceFault):
    """The simulation cannot go on."""


class LogIn(msgspec.Struct, frozen=True):
    url: str
    organization: str
    email: str
    password: str


class Ticket(msgspec.Struct, frozen=True):
    id: UUID
    barcode: str


class SoldTicket(msgspec.Struct, frozen=True):
    """A ticket as the organiser's export has it."""

    id: UUID
    status: str
    days: list[date]
    scan_count: int
    zone: str | None


class Gate(msgspec.Struct, frozen=True):
    id: UUID
    code: str
    name: str
    status: str = "open"
    allowed_zones: list[UUID] | None = None


class ListedScan(msgspec.Struct, frozen=True):
    """A scan as the server lists it."""

    id: UUID
    ticket_id: UUID | None
    status: str
    source: str
    device_id: UUID | None = None


class ListedConflict(msgspec.Struct, frozen=True, kw_only=True):
    kind: str
    severity: str
    ticket_id: UUID
    scan_id: UUID
    winner_scan_id: UUID


class _Page(msgspec.Struct):
    data: list[msgspec.Raw]
    next: str | None


class Venue:
    """The event, as seen by somebody who runs the organisation."""

    def __init__(self, client: httpx.AsyncClient, log_in: LogIn) -> None:
        self._client = client
        self._log_in = log_in
        self._token = ""
        self._busy = asyncio.Semaphore(TOGETHER_MAX)
        self.event_id = UUID(int=0)
        self.event_name = ""

    @property
    def url(self) -> str:
        return self._log_in.url

    async def log_in(self) -> None:
        given = self._log_in
        body = {"organization": given.organization, "email": given.email}
        answer = await self._ask("POST", "/api/sessions", body | {"password": given.password})
        self._token = answer["token"]

    async def open_event(self, tickets: int) -> None:
        """An event of its own, so that nobody's figures are spoilt."""
        now = datetime.now(UTC)
        self.event_name = f"Simulation {now:%d %b %H:%M:%S}"
        venue = await self._ask(
            "POST", "/api/venues", {"name": self.event_name, "timezone": TIMEZONE}
        )
        event = await self._ask(
            "POST",
            "/api/events",
            {
                "venue_id": venue["id"],
                "name": self.event_name,
                "starts_at": (now - timedelta(hours=1)).isoformat(),
                "ends_at": (now + LASTS).isoformat(),
                "capacity": tickets,
            },
        )
        self.event_id = UUID(event["id"])
        floor = {
            "zone_id": str(uuid4()),
            "zone_type": "ga_standing",
            "name": FLOOR,
            "capacity": tickets,
        }
        layout = await self._ask(
            "POST",
            f"/api/venues/{venue['id']}/layouts",
            {"name": self.event_name, "config": {"zones": [floor]}},
        )
        await self._ask("PUT", f"/api/events/{self.event_id}/layout", {"layout_id": layout["id"]})
        await self._ask(
            "POST",
            f"/api/events/{self.event_id}/ticket-types",
            {"name": TYPE, "kind": "ga", "currency": "ZAR", "prices": [{"amount_minor": 0}]}
            | {"entitlement": "single_entry"},
        )
        for to in ("published", "live"):
            await self._ask("POST", f"/api/events/{self.event_id}/transitions", {"to": to})

    async def open_gates(self, count: int) -> list[Gate]:
        body = [
            {"code": f"gate-{number}", "name": f"Gate {number}", "status": "open"}
            for number in range(1, count + 1)
        ]
        path = f"/api/events/{self.event_id}/gates"
        made = await asyncio.gather(*(self._ask("POST", path, each) for each in body))
        return msgspec.convert(made, list[Gate])

    async def import_tickets(self, count: int) -> list[Ticket]:
        table = io.StringIO()
        lines = csv.writer(table)
        lines.writerow(["type", "zone", "reference"])
        lines.writerows([TYPE, FLOOR, f"visitor-{number}"] for number in range(1, count + 1))
        path = f"/api/events/{self.event_id}/ticket-imports"
        imported = await self._ask("POST", path, table.getvalue().encode())
        for _ in range(int(IMPORT_S_MAX / LOOK_S)):
            if imported["status"] in ("done", "failed"):
                break
            await asyncio.sleep(LOOK_S)
            imported = await self._ask("GET", f"/api/ticket-imports/{imported['id']}")
        if imported["status"] != "done" or imported["created"] != count:
            raise SimulationFault(f"The tickets could not be imported: {imported}")
        return await self.tickets(await self.sold())

    async def go_to(self, event_id: UUID) -> None:
        """Goes to an existing event."""
        event = await self._ask("GET", f"/api/events/{event_id}")
        if event["status"] != "live":
            raise SimulationFault(f"{event['name']} is {event['status']}: nobody comes in.")
        self.event_id, self.event_name = event_id, event["name"]

    async def open_for_all(self) -> list[Gate]:
        """Gates at which everybody is let in."""
        path = f"/api/events/{self.event_id}/gates"
        gates = msgspec.convert(await self._ask("GET", path), list[Gate])
        found = [gate for gate in gates if gate.status == "open" and gate.allowed_zones is None]
        if not found:
            raise SimulationFault(f"No gate of {self.event_name} is open to everybody.")
        return found

    async def sold(self) -> list[SoldTicket]:
        path = f"/api/events/{self.event_id}/exports/tickets.json"
        answer = await self._request("GET", path)
        return msgspec.json.decode(answer.content, type=list[SoldTicket])

    async def today(self) -> date:
        path = f"/api/scanning/events/{self.event_id}/occupancy"
        return date.fromisoformat((await self._ask("GET", path))["day"])

    async def tickets(self, sold: Sequence[SoldTicket]) -> list[Ticket]:
        """The tickets with the texts of their QR codes."""
        return list(await asyncio.gather(*(self._ticket(each.id) for each in sold)))

    async def _ticket(self, ticket_id: UUID) -> Ticket:
        found = await self._ask("GET", f"/api/tickets/{ticket_id}")
        return Ticket(ticket_id, found["barcode"])

    async def void(self, tickets: Sequence[Ticket]) -> None:
        reason = {"reason": "simulation"}
        await asyncio.gather(
            *(self._ask("POST", f"/api/tickets/{each.id}/void", reason) for each in tickets)
        )

    async def pairing_token(self, gate: Gate) -> str:
        body = {"gate_id": str(gate.id), "name": f"Simulated at {gate.code}"}
        return (await self._ask("POST", "/api/scanning/pairings", body))["pairing_token"]

    async def revoke(self, device_id: UUID) -> None:
        await self._request("DELETE", f"/api/scanning/devices/{device_id}")

    async def scans(self) -> list[ListedScan]:
        path = f"/api/scanning/events/{self.event_id}/scans"
        return [msgspec.json.decode(each, type=ListedScan) async for each in self._pages(path)]

    async def conflicts(self) -> list[ListedConflict]:
        path = f"/api/scanning/events/{self.event_id}/conflicts"
        return [
            msgspec.convert(msgspec.json.decode(each)["conflict"], ListedConflict)
            async for each in self._pages(path)
        ]

    async def _pages(self, path: str) -> AsyncGenerator[msgspec.Raw]:
        after = ""
        while True:
            answer = await self._request("GET", f"{path}?limit={PAGE_MAX}{after}")
            page = msgspec.json.decode(answer.content, type=_Page)
            for each in page.data:
                yield each
            if page.next is None:
                return
            after = f"&after={page.next}"

    async def _ask(self, method: str, path: str, body: Any = None) -> Any:
        answer = await self._request(method, path, body)
        return answer.json()["data"]

    async def _request(self, method: str, path: str, body: Any = None) -> httpx.Response:
        is_table = isinstance(body, bytes)
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        if body is not None:
            headers["Content-Type"] = "text/csv" if is_table else "application/json"
        content = body if is_table or body is None else msgspec.json.encode(body)
        try:
            async with self._busy:
                answer = await self._client.request(
                    method, self.url + path, content=content, headers=headers
                )
        except httpx.HTTPError as fault:
            raise SimulationFault(f"{self.url} does not answer: {fault!r}") from fault
        if answer.is_error:
            raise SimulationFault(f"{method} {path}: {answer.status_code} {answer.text[:300]}")
        return answer
