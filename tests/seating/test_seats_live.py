"""Following an event's seats and its counts over the websocket."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from random import Random
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect

from tests.seating.api_support import (
    CODES,
    PIT,
    SeatedEvent,
    a_config,
    a_seated_event,
    codes_in,
    hold,
    hold_places,
    release,
    sell,
    sell_places,
)
from tests.support import Tenant
from voelgoed.accounts.model import Role
from voelgoed.infra.database import LiveChange
from voelgoed.seating.model.changes import SeatStatesChanged, ZonePlacesChanged
from voelgoed.services import Services


@pytest.fixture
async def event(client: httpx.AsyncClient, tenant: Tenant, services: Services) -> SeatedEvent:
    config = a_config(("..wc......", ".........."), ("....wc",), places={"Pit": 30})
    event = await a_seated_event(client, tenant, config)
    await told(services)
    return event


def seats_topic(event: SeatedEvent) -> str:
    return f"seats:{event.event_id}"


def occupancy_topic(event: SeatedEvent) -> str:
    return f"occupancy:{event.tenant.id}:{event.event_id}"


@contextlib.asynccontextmanager
async def socket(url: str, tenant: Tenant, role: Role) -> AsyncIterator[ClientConnection]:
    address = url.replace("http://", "ws://") + "/api/live"
    async with connect(address, additional_headers=tenant.as_(role)) as connection:
        yield connection


async def hear(connection: ClientConnection, after: int = 0) -> dict[str, Any]:
    """The next one that is news to who knows everything up to this number."""
    async with asyncio.timeout(10):
        while True:
            frame = json.loads(await connection.recv())
            if frame.get("seq", 0) > after:
                return frame


async def subscribe(connection: ClientConnection, topic: str) -> dict[str, Any]:
    await connection.send(json.dumps({"type": "subscribe", "topic": topic}))
    async with asyncio.timeout(10):
        while True:
            frame = json.loads(await connection.recv())
            if frame["type"] in ("subscribed", "refused"):
                return frame


async def told(services: Services) -> None:
    """All that was committed so far has its number."""
    async with asyncio.timeout(10):
        await services.live.is_idle()


class Follower:
    """A browser: loads the map, and from then on applies what it hears."""

    def __init__(self, event: SeatedEvent, connection: ClientConnection) -> None:
        self.event, self.connection = event, connection
        self.codes: list[str] = []
        self.seq = 0

    async def begin(self) -> None:
        assert (await subscribe(self.connection, seats_topic(self.event)))["type"] == "subscribed"
        await self.load()

    async def load(self) -> None:
        seat_map = (await self.event.get("seats")).json()["data"]
        self.codes, self.seq = codes_in(seat_map), seat_map["seq"]

    async def apply_next(self) -> dict[str, Any]:
        frame = await hear(self.connection, self.seq)
        assert (frame["type"], frame["topic"]) == ("message", seats_topic(self.event))
        assert frame["seq"] == self.seq + 1
        self.seq = frame["seq"]
        for position, code in frame["data"]["seats"]:
            self.codes[position] = CODES[code]
        return frame["data"]

    async def catch_up(self, services: Services) -> None:
        """Apply all that was committed so far; changes close to each other are sent as one."""
        await told(services)
        published = (await self.event.get("seats")).json()["data"]["seq"]
        while self.seq < published:
            await self.apply_next()

    async def is_right(self) -> bool:
        return self.codes == list((await self.event.map()).values())


async def test_a_follower_of_the_seats_has_the_right_map_without_loading_it_again(
    services: Services, event: SeatedEvent, url: str
):
    await event.block("B1")
    await told(services)
    async with socket(url, event.tenant, "customer") as connection:
        follower = Follower(event, connection)
        await follower.begin()
        assert follower.seq == 2, "what was told before is in the map"
        await event.block("A1 A2")
        assert (await follower.apply_next())["event"] == "seats_changed"
        assert await follower.is_right()
        wheelchair = await hold(services, event, "A3")
        await follower.apply_next()
        assert follower.codes[2:4] == ["held", "soft_reserved"]
        assert await follower.is_right()
        await release(services, event, "A3", wheelchair)
        await follower.apply_next()
        assert follower.codes[2:4] == ["available", "available"]
        await event.unblock("A1 B1")
        await follower.apply_next()
        assert await follower.is_right()
        assert (await event.get("seats")).json()["data"]["seq"] <= follower.seq


async def test_a_zone_that_fills_up_releases_companion_seats_to_its_followers(
    services: Services, event: SeatedEvent, url: str
):
    async with socket(url, event.tenant, "customer") as connection:
        follower = Follower(event, connection)
        await follower.begin()
        await sell(services, event, "A3")
        await follower.catch_up(services)
        assert follower.codes[3] == "soft_reserved"
        rest = [seat for seat in event.seat_ids[:20] if seat not in ("A3", "A4", "B9", "B10")]
        await sell(services, event, " ".join(rest))
        await follower.catch_up(services)
        assert follower.codes[3] == "available", "17 of 20 are taken"
        assert await follower.is_right()


async def test_whatever_happens_in_whatever_order_the_follower_stays_right(
    services: Services, event: SeatedEvent, url: str
):
    random, holds = Random(3), dict[str, UUID]()
    async with socket(url, event.tenant, "customer") as connection:
        follower = Follower(event, connection)
        await follower.begin()
        for _ in range(30):
            seat = random.choice(event.seat_ids)
            status = (await event.map())[seat]
            if status in ("available", "soft_reserved") and random.random() < 0.7:
                holds[seat] = await hold(services, event, seat)
            elif status == "held" and random.random() < 0.7:
                await sell(services, event, seat, holds[seat])
            elif status == "held":
                await release(services, event, seat, holds[seat])
            elif status == "blocked":
                await event.unblock(seat)
            else:
                await event.block(seat, including_taken=True)
            await follower.apply_next()
            assert await follower.is_right()


async def test_many_changes_at_once_are_told_in_an_order_that_ends_right(
    services: Services, event: SeatedEvent, url: str
):
    async with socket(url, event.tenant, "customer") as connection:
        follower = Follower(event, connection)
        await follower.begin()
        await asyncio.gather(
            *(event.block(seat) for seat in event.seat_ids[:6]),
            *(event.block(f"{seat} B5") for seat in event.seat_ids[6:9]),
        )
        await follower.catch_up(services)
        assert follower.codes[:9] == ["blocked"] * 9
        assert await follower.is_right()


async def test_a_change_too_large_to_list_says_so(
    services: Services, client: httpx.AsyncClient, tenant: Tenant, url: str
):
    event = await a_seated_event(client, tenant, a_config(["." * 101] * 5))
    await told(services)
    async with socket(url, tenant, "customer") as connection:
        seq = (await subscribe(connection, seats_topic(event)))["seq"]
        await event.block(" ".join(event.seat_ids))
        frame = await hear(connection, seq)
        assert frame["data"] == {"event": "seats_changed", "seats": None}


async def test_another_layout_is_told_to_followers(event: SeatedEvent, url: str):
    async with socket(url, event.tenant, "customer") as connection:
        seq = (await subscribe(connection, seats_topic(event)))["seq"]
        await event.put_layout({"disabled_zones": [PIT]})
        first = await hear(connection, seq)
        await event.office.ask("DELETE", f"{event.path}/layout")
        second = await hear(connection, seq + 1)
        message = {"event": "layout_changed", "event_id": event.event_id}
        assert (first["data"], second["data"]) == (message, message)
        assert (first["seq"], second["seq"]) == (seq + 1, seq + 2)


async def test_what_changes_nothing_is_told_to_nobody(
    services: Services, event: SeatedEvent, url: str
):
    await event.block("A1")
    await told(services)
    async with socket(url, event.tenant, "customer") as connection:
        seq = (await subscribe(connection, seats_topic(event)))["seq"]
        await event.block("A1")
        await event.unblock("B1")
        await event.block("Z9")
        await event.block("A2")
        frame = await hear(connection, seq)
        assert frame["seq"] == seq + 1
        assert [1, CODES.index("blocked")] in frame["data"]["seats"]


async def test_a_customer_hears_how_many_places_are_left(
    services: Services, event: SeatedEvent, url: str
):
    async with socket(url, event.tenant, "customer") as connection:
        follower = Follower(event, connection)
        await follower.begin()
        await hold_places(services, event, 4)
        assert await follower.apply_next() == {
            "event": "places_changed",
            "seats": [],
            "places": [[PIT, 26]],
        }
        assert await follower.is_right(), "and no seat is another than before"
        await sell_places(services, event, 6)
        assert (await follower.apply_next())["places"] == [[PIT, 20]], "held, or sold already"


async def test_changes_that_waited_together_are_one_message_about_each_kind(
    services: Services, event: SeatedEvent, url: str
):
    view = await event.view(services)
    event_id, pit = view.event.id, UUID(PIT)
    async with socket(url, event.tenant, "customer") as connection:
        seq = (await subscribe(connection, seats_topic(event)))["seq"]
        changes = (
            SeatStatesChanged(event_id, view.assignment, (4, 5)),
            ZonePlacesChanged(event_id, pit),
            SeatStatesChanged(event_id, view.assignment, (5, 6)),
            ZonePlacesChanged(event_id, pit),
        )
        services.live.post(
            event.tenant.id, [LiveChange(seats_topic(event), change) for change in changes]
        )
        seats, places = await hear(connection, seq), await hear(connection, seq + 1)
        assert {4, 5, 6} <= {position for position, _ in seats["data"]["seats"]}
        assert places["data"]["places"] == [[PIT, 30]]
        await told(services)
        assert (await event.get("seats")).json()["data"]["seq"] == seq + 2


async def test_positions_of_another_layout_make_followers_read_again(
    services: Services, event: SeatedEvent, url: str
):
    view = await event.view(services)
    change = LiveChange(
        seats_topic(event), SeatStatesChanged(view.event.id, view.assignment, (10_000,))
    )
    async with socket(url, event.tenant, "customer") as connection:
        seq = (await subscribe(connection, seats_topic(event)))["seq"]
        await event.put_layout({"disabled_zones": [PIT]})
        assert (await hear(connection, seq))["data"]["event"] == "layout_changed"
        services.live.post(event.tenant.id, [change])
        assert (await hear(connection, seq + 1))["type"] == "resync"
        await event.office.ask("DELETE", f"{event.path}/layout")
        assert (await hear(connection, seq + 2))["data"]["event"] == "layout_changed"
        services.live.post(event.tenant.id, [change])
        assert (await hear(connection, seq + 3))["type"] == "resync"


async def test_staff_follow_the_counts(services: Services, event: SeatedEvent, url: str):
    for role in ("gate_supervisor", "box_office"):
        async with socket(url, event.tenant, role) as connection:
            answer = await subscribe(connection, occupancy_topic(event))
            assert answer["type"] == "subscribed"
    async with socket(url, event.tenant, "organiser") as connection:
        seq = (await subscribe(connection, occupancy_topic(event)))["seq"]
        await sell(services, event, "A1 A3")
        frame = await hear(connection, seq + 2)  # after one of each seat that was held
        data, counts = frame["data"], await event.availability()
        assert data.pop("timestamp").startswith("20")
        assert data == {
            "event": "seat_sold",
            "event_id": event.event_id,
            "total_available": counts["available"],
            "total_held": 0,
            "total_sold": 2,
            "percent_available": pytest.approx(100 * counts["available"] / 56, abs=0.01),
            "percent_held": 0.0,
        }
        await event.block("B1")
        frame = await hear(connection, seq + 3)
        assert frame["data"]["event"] == "seats_blocked"
        assert frame["data"]["total_available"] == counts["available"] - 1


async def test_who_may_not_know_is_told_that_there_is_no_such_thing(
    client: httpx.AsyncClient, event: SeatedEvent, other_tenant: Tenant, url: str
):
    draft = await a_seated_event(client, event.tenant, states=())
    seats, counts = seats_topic(event), occupancy_topic(event)
    for tenant, role, topic in (
        (event.tenant, "customer", counts),
        (event.tenant, "customer", seats_topic(draft)),
        (event.tenant, "owner", f"occupancy:{other_tenant.id}:{event.event_id}"),
        (event.tenant, "owner", f"occupancy:{event.tenant.id}:{uuid4()}"),
        (event.tenant, "owner", f"seats:{uuid4()}"),
        (other_tenant, "owner", seats),
        (other_tenant, "owner", counts),
        (other_tenant, "owner", f"occupancy:{other_tenant.id}:{event.event_id}"),
        (event.tenant, "owner", f"{seats}:{event.event_id}"),
        (event.tenant, "owner", f"occupancy:{event.event_id}"),
        (event.tenant, "owner", f"{counts}:"),
        (event.tenant, "owner", counts.upper()),
        (event.tenant, "owner", "occupancy::"),
        (event.tenant, "owner", f"occupancy:{event.tenant.id.hex}:{event.event_id}"),
    ):
        async with socket(url, tenant, role) as connection:
            answer = await subscribe(connection, topic)
            assert answer["type"] == "refused", (role, topic)
            assert answer["error"] in ("unknown_topic", "event_not_found")
    async with socket(url, event.tenant, "box_office") as connection:
        assert (await subscribe(connection, seats_topic(draft)))["type"] == "subscribed"
