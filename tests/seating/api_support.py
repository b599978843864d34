"""Builders for tests through HTTP: little layouts, and a published event that has one.

Zones of seats are drawn as `tests/seating/support.py` says, so their seats are A1, A2, ...
"""

import base64
import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import msgspec

from tests.seating.support import a_layout
from tests.support import Tenant, a_venue, an_event
from voelgoed.accounts.model import Role
from voelgoed.seating.actions import places as place_actions
from voelgoed.seating.actions import seats as seat_actions
from voelgoed.seating.actions.places import Places
from voelgoed.seating.actions.seats import SeatHold
from voelgoed.seating.actions.views import View, see
from voelgoed.seating.rules.compact import unpack
from voelgoed.services import Services

QUESTIONS = {
    "/api/layout-checks",
    "/api/layout-readings",
    "/api/events/{event_id:uuid}/best-available",
    "/api/events/{event_id:uuid}/selection-checks",
    "/api/events/{event_id:uuid}/zones/{zone_id:uuid}/access-checks",
}
"""Posted because what they ask needs a body. They change nothing, so the audit log says nothing."""

TWO_ROWS = ("..........", "..........")
ONE, TWO = str(UUID(int=100)), str(UUID(int=101))
"""The first and the second zone of seats of `a_config`."""
PIT, FLOOR = str(UUID(int=200)), str(UUID(int=201))
"""The first and the second zone of places."""
CODES = ("available", "held", "sold", "blocked", "soft_reserved", "withheld")


def a_config(
    *zones: Sequence[str], places: Mapping[str, int] | None = None, **layout: Any
) -> dict[str, Any]:
    """Zones of seats as drawn, or one of two rows of ten, and after them zones of so many
    standing places by name."""
    config = msgspec.to_builtins(a_layout(*(zones or [TWO_ROWS]), **layout))
    config["zones"] += [
        {
            "zone_id": str(UUID(int=200 + number)),
            "zone_type": "ga_standing",
            "name": name,
            "capacity": capacity,
        }
        for number, (name, capacity) in enumerate((places or {}).items())
    ]
    return config


def a_zone(config: dict[str, Any], at: int = 0, **changes: Any) -> dict[str, Any]:
    """The config with one zone changed."""
    zones = [zone | changes if n == at else zone for n, zone in enumerate(config["zones"])]
    return config | {"zones": zones}


def a_new_layout(config: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    return {"name": "Main hall", "config": config or a_config(), **changes}


def refusal(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]


def faults(answer: httpx.Response) -> list[str]:
    return [fault["path"] for fault in answer.json()["details"]["faults"]]


@dataclass(frozen=True)
class Office:
    """The organisation's staff, who set everything up."""

    client: httpx.AsyncClient
    tenant: Tenant

    async def ask(
        self, method: str, path: str, body: Any = None, by: Role = "organiser", **headers: str
    ) -> httpx.Response:
        return await self.client.request(
            method, path, json=body, headers=self.tenant.as_(by) | headers
        )

    async def make(self, path: str, body: Any) -> dict[str, Any]:
        answer = await self.ask("POST", path, body)
        assert answer.is_success, answer.text
        return answer.json()["data"]

    async def venue(self) -> str:
        return (await self.make("/api/venues", a_venue()))["id"]

    async def layout(
        self, venue_id: str, config: dict[str, Any] | None = None, **changes: Any
    ) -> dict[str, Any]:
        return await self.make(f"/api/venues/{venue_id}/layouts", a_new_layout(config, **changes))

    async def event(self, venue_id: str, *states: str, **changes: Any) -> str:
        event_id = (await self.make("/api/events", an_event(venue_id, **changes)))["id"]
        for state in states:
            await self.make(f"/api/events/{event_id}/transitions", {"to": state})
        return event_id

    async def policy(self, **changes: Any) -> dict[str, Any]:
        """Changed, whatever its version."""
        now = (await self.ask("GET", "/api/seating-policy")).json()["data"]
        body = {"version": now["version"], **changes}
        answer = await self.ask("PATCH", "/api/seating-policy", body, by="admin")
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]

    async def audit(self, action: str) -> list[dict[str, Any]]:
        """The newest first."""
        answer = await self.ask("GET", f"/api/audit?action={action}&limit=200", by="admin")
        return answer.json()["data"]


@dataclass(frozen=True)
class SeatedEvent:
    """An event with a layout, through its routes."""

    office: Office
    event_id: str
    venue_id: str
    layout_id: str
    config: dict[str, Any]

    @property
    def path(self) -> str:
        return f"/api/events/{self.event_id}"

    @property
    def tenant(self) -> Tenant:
        return self.office.tenant

    @property
    def seat_ids(self) -> list[str]:
        """In the order of the map."""
        return [seat["seat_id"] for zone in self.config["zones"] for seat in zone.get("seats", [])]

    async def get(self, what: str, by: Role = "customer", **headers: str) -> httpx.Response:
        return await self.office.ask("GET", f"{self.path}/{what}", by=by, **headers)

    async def post(self, what: str, body: Any, by: Role = "customer") -> httpx.Response:
        return await self.office.ask("POST", f"{self.path}/{what}", body, by=by)

    async def put_layout(
        self, overrides: dict[str, Any] | None = None, *, version: int | None = 1, **changes: Any
    ) -> httpx.Response:
        body = {"layout_id": self.layout_id, "overrides": overrides or {}, "version": version}
        return await self.office.ask("PUT", f"{self.path}/layout", body | changes)

    async def availability(self) -> dict[str, Any]:
        answer = await self.get("availability")
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]

    async def zone(self, zone_id: str = ONE) -> dict[str, Any]:
        zones = (await self.availability())["zones"]
        return next(zone for zone in zones if zone["zone_id"] == zone_id)

    async def map(self) -> dict[str, str]:
        """What the map says of each seat."""
        answer = await self.get("seats")
        assert answer.status_code == 200, answer.text
        return dict(zip(self.seat_ids, codes_in(answer.json()["data"]), strict=True))

    async def seats(self, status: str) -> str:
        """Those of which the map says this."""
        return " ".join(seat for seat, found in (await self.map()).items() if found == status)

    async def block(self, seats: str, by: Role = "box_office", **changes: Any) -> httpx.Response:
        body = {"seat_ids": seats.split(), "reason": "broken", **changes}
        return await self.post("seat-blocks", body, by=by)

    async def unblock(self, seats: str, by: Role = "box_office", **changes: Any) -> httpx.Response:
        body = {"seat_ids": seats.split(), "reason": "mended", **changes}
        return await self.post("seat-blocks/lifted", body, by=by)

    async def best(self, party: int, by: Role = "customer", **wish: Any) -> httpx.Response:
        return await self.post("best-available", {"party": party, **wish}, by=by)

    async def check(self, seats: str, by: Role = "customer") -> dict[str, Any]:
        answer = await self.post("selection-checks", {"seat_ids": seats.split()}, by=by)
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]

    async def view(self, services: Services) -> View:
        owner = self.tenant.caller("owner")
        return await see(services.database, services.cache, owner, UUID(self.event_id))


def codes_in(seat_map: dict[str, Any]) -> list[str]:
    packed = base64.b64decode(seat_map["seats"])
    return [CODES[code] for code in unpack(packed, seat_map["seat_count"]).tolist()]


async def a_seated_event(
    client: httpx.AsyncClient,
    tenant: Tenant,
    config: dict[str, Any] | None = None,
    overrides: dict[str, Any] | None = None,
    states: Sequence[str] = ("published",),
    **changes: Any,
) -> SeatedEvent:
    """Of a venue of its own; the changes are of the event."""
    office = Office(client, tenant)
    config = config or a_config()
    venue_id = await office.venue()
    layout = await office.layout(venue_id, config)
    event_id = await office.event(venue_id, *states, **changes)
    event = SeatedEvent(office, event_id, venue_id, layout["id"], config)
    answer = await event.put_layout(overrides, version=None)
    assert answer.status_code == 200, answer.text
    return event


# What the domain of holds and tickets will do. Seats are named with blanks between them.


async def hold(
    services: Services,
    event: SeatedEvent,
    seats: str,
    *,
    until: datetime | None = None,
    holder: Role | None = None,
) -> UUID:
    view, owner = await event.view(services), event.tenant.caller("owner")
    holder_id = None if holder is None else event.tenant.users[holder]
    positions = _positions(view, seats)
    async with services.database.transaction(event.tenant.id) as tx:
        hold = SeatHold(uuid4(), holder_id, until or tx.now + timedelta(minutes=5))
        await seat_actions.hold(tx, owner, view, positions, hold)
    return hold.id


async def sell(
    services: Services, event: SeatedEvent, seats: str, hold_id: UUID | None = None
) -> UUID:
    """What this hold has, or a hold made for it."""
    hold_id = hold_id or await hold(services, event, seats)
    view = await event.view(services)
    positions = _positions(view, seats)
    async with services.database.transaction(event.tenant.id) as tx:
        await seat_actions.sell(tx, view, positions, [hold_id])
    return hold_id


async def release(services: Services, event: SeatedEvent, seats: str, hold_id: UUID) -> int:
    view = await event.view(services)
    async with services.database.transaction(event.tenant.id) as tx:
        return len(await seat_actions.release(tx, view, _positions(view, seats), [hold_id]))


async def hold_places(
    services: Services,
    event: SeatedEvent,
    count: int,
    *days: dt.date,
    zone_id: str = PIT,
    until: datetime | None = None,
) -> tuple[UUID, Places]:
    """On these days, or on all of the event's."""
    view, hold_id = await event.view(services), uuid4()
    wanted = Places(UUID(zone_id), count, list(days) or [day.date for day in view.event.days])
    async with services.database.transaction(event.tenant.id) as tx:
        end = until or tx.now + timedelta(minutes=5)
        await place_actions.hold_places(tx, view, [wanted], hold_id, end)
    return hold_id, wanted


async def sell_places(
    services: Services, event: SeatedEvent, count: int, *days: dt.date, zone_id: str = PIT
) -> Places:
    hold_id, places = await hold_places(services, event, count, *days, zone_id=zone_id)
    view = await event.view(services)
    async with services.database.transaction(event.tenant.id) as tx:
        await place_actions.sell_places(tx, view, [places], [hold_id])
    return places


def _positions(view: View, seats: str) -> list[int]:
    return [view.position(seat_id) for seat_id in seats.split()]
