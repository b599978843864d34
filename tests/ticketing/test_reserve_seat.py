"""POST /api/events/{event_id}/seats/{seat_id}/reserve, as the specification has it."""

from datetime import timedelta
from uuid import UUID, uuid4

import httpx
import pytest

from tests.seating.api_support import SeatedEvent, a_config, a_seated_event, refusal, sell
from tests.support import MovableClock, Tenant
from tests.ticketing.hold_support import Customer, customers, table
from voelgoed.services import Services


@pytest.fixture
async def event(client: httpx.AsyncClient, tenant: Tenant) -> SeatedEvent:
    return await a_seated_event(client, tenant)


async def test_a_seat_is_held_for_five_minutes(
    services: Services, event: SeatedEvent, anna: Customer
):
    answer = await anna.reserve(event, "A3", source="web")
    assert answer.status_code == 201, answer.text
    assert answer.headers["cache-control"] == "no-store"
    data = answer.json()["data"]
    view = await event.view(services)
    assert data["seat_id"] == str(view.plan.ids[view.position("A3")])
    assert (data["event_id"], data["status"]) == (event.event_id, "held")
    assert (data["row"], data["seat_number"], data["block_name"]) == ("A", "3", "Zone 1")
    assert data["expires_in_seconds"] == 300
    assert data["message"] == "Seat reserved for 5 minutes. Proceed to checkout."
    [hold] = await table(services, event.tenant, "SELECT * FROM seat_hold")
    assert (str(hold["id"]), hold["status"], hold["source"]) == (data["hold_id"], "active", "web")
    assert hold["user_id"] == anna.id
    assert int(hold["held_until"].timestamp()) == data["held_until_unix"]
    [seat] = await table(services, event.tenant, "SELECT * FROM seat_state")
    assert (seat["status"], seat["seat_hold_id"], seat["version"]) == ("held", hold["id"], 1)
    assert (seat["held_until"], seat["locked_at"]) == (hold["held_until"], hold["created_at"])


async def test_it_is_on_record(services: Services, event: SeatedEvent, anna: Customer):
    hold = await anna.held(event, "A3")
    [entry] = await event.office.audit("seat_reserved")
    assert (entry["entity_type"], entry["entity_id"]) == ("SeatHold", hold["hold_id"])
    assert (entry["actor_id"], entry["metadata"]["ip_address"]) == (str(anna.id), "127.0.0.1")
    assert entry["changes"] == {
        "seat_id": hold["seat_id"],
        "event_id": event.event_id,
        "status": "active",
        "held_until": hold["held_until"],
        "source": "web",
    }
    [happened] = await table(services, event.tenant, "SELECT * FROM domain_event")
    assert happened["name"] == "SeatReserved"
    assert happened["payload"]["hold_id"] == hold["hold_id"]


async def test_the_label_and_the_id_of_a_seat_are_the_same_seat(
    services: Services, event: SeatedEvent, anna: Customer
):
    view = await event.view(services)
    hold = await anna.held(event, str(view.plan.ids[view.position("B2")]))
    again = await anna.reserve(event, "B2")
    assert (again.status_code, again.json()["data"]["hold_id"]) == (200, hold["hold_id"])


async def test_no_body_is_a_reservation_from_the_web(event: SeatedEvent, anna: Customer):
    path = f"{event.path}/seats/A1/reserve"
    answer = await anna.client.post(path, headers=anna.headers)
    assert answer.status_code == 201


@pytest.mark.parametrize(
    ("seat", "body", "path"),
    [("A1", {"source": "fax"}, "$.source"), ("A1", {"price": 1}, "$"), ("A1", [], "$")],
)
async def test_a_faulty_request_is_refused(
    event: SeatedEvent, anna: Customer, seat: str, body: object, path: str
):
    answer = await anna.ask("POST", f"{event.path}/seats/{seat}/reserve", body)
    assert refusal(answer) == (400, "invalid_request")
    assert path in answer.json()["details"]["faults"][0]["path"]


async def test_an_event_must_be_a_uuid(anna: Customer):
    answer = await anna.ask("POST", "/api/events/nonsense/seats/A1/reserve", {})
    assert refusal(answer) == (400, "invalid_request")


async def test_unknown_events_and_seats_are_not_found(event: SeatedEvent, anna: Customer):
    answer = await anna.ask("POST", f"/api/events/{uuid4()}/seats/A1/reserve", {})
    assert refusal(answer) == (404, "event_not_found")
    assert refusal(await anna.reserve(event, "Z99")) == (404, "seat_not_found")
    assert refusal(await anna.reserve(event, str(uuid4()))) == (404, "seat_not_found")
    failures = await event.office.audit("seat_reserve_failed")
    assert [failure["changes"]["error"] for failure in failures] == [
        "seat_not_found",
        "seat_not_found",
        "event_not_found",
    ]


async def test_who_has_not_logged_in_holds_nothing(client: httpx.AsyncClient, event: SeatedEvent):
    answer = await client.post(f"{event.path}/seats/A1/reserve", json={})
    assert refusal(answer) == (401, "unauthorized")


async def test_a_gate_supervisor_holds_nothing(event: SeatedEvent):
    answer = await event.post("seats/A1/reserve", {}, by="gate_supervisor")
    assert refusal(answer) == (403, "permission_denied")


async def test_before_and_after_the_sale_nothing_is_held(
    client: httpx.AsyncClient, tenant: Tenant, anna: Customer, clock: MovableClock
):
    now = clock.now()
    event = await a_seated_event(
        client,
        tenant,
        sale_start=(now + timedelta(hours=1)).isoformat(),
        sale_end=(now + timedelta(hours=2)).isoformat(),
    )
    assert refusal(await anna.reserve(event, "A1")) == (400, "event_sales_closed")
    clock.ahead = timedelta(hours=1, minutes=1)
    assert (await anna.reserve(event, "A1")).status_code == 201
    clock.ahead = timedelta(hours=2, minutes=1)
    assert refusal(await anna.reserve(event, "A2")) == (400, "event_sales_closed")


async def test_more_than_ten_seats_in_five_minutes_are_refused(
    event: SeatedEvent, anna: Customer, ben: Customer, clock: MovableClock
):
    for number in range(1, 11):
        assert (await anna.reserve(event, f"A{number}")).status_code == 201
    answer = await anna.reserve(event, "B1")
    assert refusal(answer) == (429, "rate_limited")
    assert 1 <= int(answer.headers["retry-after"]) <= 300
    assert (await anna.reserve(event, "A1")).status_code == 200  # one's own costs nothing
    assert (await ben.reserve(event, "B1")).status_code == 201
    clock.ahead = timedelta(minutes=5, seconds=1)
    assert (await anna.reserve(event, "A1")).status_code == 201


async def test_a_policy_can_limit_addresses_too(event: SeatedEvent, anna: Customer, ben: Customer):
    await event.office.policy(max_holds_per_ip=3)
    await anna.held(event, "A1")
    await ben.held(event, "A2")
    await ben.held(event, "A3")
    assert refusal(await anna.reserve(event, "A4")) == (429, "rate_limited")


async def test_staff_sell_all_day_long(event: SeatedEvent):
    for number in range(1, 11):
        for row in "AB":
            answer = await event.post(f"seats/{row}{number}/reserve", {}, by="box_office")
            assert answer.status_code == 201, answer.text


async def test_somebody_elses_seat_is_refused_without_a_name_and_with_the_time_left(
    event: SeatedEvent, anna: Customer, ben: Customer
):
    await anna.held(event, "A1")
    answer = await ben.reserve(event, "A1")
    assert refusal(answer) == (409, "seat_already_held_by_another_user")
    assert 295 <= answer.json()["details"]["expires_in"] <= 300
    assert str(anna.id) not in answer.text
    [failure] = await event.office.audit("seat_reserve_failed")
    assert failure["changes"]["error"] == "seat_already_held_by_another_user"
    assert failure["actor_id"] == str(ben.id)


async def test_what_this_process_forgot_the_database_knows(
    services: Services, event: SeatedEvent, anna: Customer, ben: Customer
):
    await anna.held(event, "A1")
    services.cache.forget_all()
    answer = await ben.reserve(event, "A1")
    assert refusal(answer) == (409, "seat_not_available")
    details = answer.json()["details"]
    assert details["current_status"] == "held"
    assert 295 <= details["expires_in_seconds"] <= 300


async def test_the_same_seat_of_another_event_is_another_seat(
    services: Services, event: SeatedEvent, anna: Customer, ben: Customer
):
    other_id = await event.office.event(event.venue_id, "published")
    other = SeatedEvent(event.office, other_id, event.venue_id, event.layout_id, event.config)
    await other.put_layout(version=None)
    await anna.held(event, "A1")
    assert (await ben.reserve(other, "A1")).status_code == 201
    services.cache.forget_all()
    assert refusal(await ben.reserve(event, "A1")) == (409, "seat_not_available")


async def test_a_blocked_seat_is_refused(event: SeatedEvent, anna: Customer):
    await event.block("A1")
    answer = await anna.reserve(event, "A1")
    assert refusal(answer) == (409, "seat_not_available")
    assert answer.json()["details"]["current_status"] == "blocked"


async def test_who_takes_seats_one_by_one_is_not_judged_by_the_first(
    event: SeatedEvent, anna: Customer
):
    await anna.held(event, "A2")
    await anna.held(event, "A1")


async def test_the_time_to_live_is_the_policys_and_the_events(event: SeatedEvent, anna: Customer):
    await event.office.policy(default_hold_ttl_minutes=12)
    hold = await anna.held(event, "A1")
    assert hold["expires_in_seconds"] == 720
    assert hold["message"] == "Seat reserved for 12 minutes. Proceed to checkout."
    await event.put_layout({"seating_overrides": {"default_hold_ttl_minutes": 1}}, version=1)


# Every row of the specification's table of edge cases.


async def test_edge_overselling(event: SeatedEvent, anna: Customer, ben: Customer):
    """The races are in tests/races; here: in one batch only one of them gets it."""
    import asyncio

    answers = await asyncio.gather(anna.reserve(event, "A1"), ben.reserve(event, "A1"))
    assert sorted(answer.status_code for answer in answers) == [201, 409]


async def test_edge_duplicate_hold_by_the_same_user(
    services: Services, event: SeatedEvent, anna: Customer
):
    import asyncio

    answers = await asyncio.gather(*(anna.reserve(event, "A1") for _ in range(5)))
    assert sorted(answer.status_code for answer in answers) == [200, 200, 200, 200, 201]
    assert len({answer.json()["data"]["hold_id"] for answer in answers}) == 1
    assert len(await table(services, event.tenant, "SELECT id FROM seat_hold")) == 1


async def test_edge_multi_tenant_isolation_breach(
    services: Services, client: httpx.AsyncClient, event: SeatedEvent, other_tenant: Tenant
):
    [mallory] = await customers(services, client, other_tenant, 1)
    assert refusal(await mallory.reserve(event, "A1")) == (404, "event_not_found")
    assert await table(services, event.tenant, "SELECT id FROM seat_hold") == []
    assert await event.office.audit("seat_reserve_failed") == []


async def test_edge_network_timeout_of_the_client(event: SeatedEvent, anna: Customer):
    """Whoever did not hear the answer asks again, or looks."""
    await anna.reserve(event, "A1")
    assert (await anna.reserve(event, "A1")).status_code == 200
    answer = await event.get("seats/A1")
    assert answer.json()["data"]["status"] == "held"
    assert [hold["seat_label"] for hold in await anna.holds()] == ["A1"]


async def test_edge_block_at_capacity(client: httpx.AsyncClient, tenant: Tenant, anna: Customer):
    event = await a_seated_event(client, tenant, a_config(places={"Pit": 3}))
    pit = event.config["zones"][1]["zone_id"]
    assert (await anna.book(event, places=[{"zone_id": pit, "count": 2}])).status_code == 201
    answer = await anna.book(event, places=[{"zone_id": pit, "count": 2}])
    assert refusal(answer) == (409, "block_at_capacity")
    assert answer.json()["details"] == {"zone_id": pit, "available": 1, "asked": 2}


async def test_edge_seat_already_sold(services: Services, event: SeatedEvent, anna: Customer):
    await sell(services, event, "A1")
    answer = await anna.reserve(event, "A1")
    assert refusal(answer) == (409, "seat_not_available")
    assert answer.json()["details"]["current_status"] == "sold"


@pytest.mark.parametrize(
    ("states", "code"),
    [
        ((), "event_not_available"),
        (("published", "live", "ended"), "event_not_available"),
        (("published", "live", "ended", "archived"), "event_not_available"),
        (("published", "cancelled"), "event_unavailable"),
    ],
)
async def test_edge_event_draft_or_archived(
    client: httpx.AsyncClient, tenant: Tenant, anna: Customer, states: tuple[str, ...], code: str
):
    event = await a_seated_event(client, tenant, states=())
    for state in states:
        await event.office.make(f"{event.path}/transitions", {"to": state})
    assert refusal(await anna.reserve(event, "A1")) == (400, code)


async def test_edge_event_changes_state_during_selection(event: SeatedEvent, anna: Customer):
    await anna.held(event, "A1")
    await event.office.make(f"{event.path}/transitions", {"to": "cancelled"})
    assert refusal(await anna.reserve(event, "A3")) == (400, "event_unavailable")


async def test_edge_session_expired(event: SeatedEvent, anna: Customer, clock: MovableClock):
    clock.ahead = timedelta(days=30)
    assert refusal(await anna.reserve(event, "A1")) == (401, "unauthorized")


async def test_an_expired_hold_is_free_at_once(
    services: Services, event: SeatedEvent, anna: Customer, ben: Customer, clock: MovableClock
):
    hold = await anna.held(event, "A1")
    clock.ahead = timedelta(minutes=5)
    assert await event.seats("held") == ""
    taken = await ben.held(event, "A1")
    assert taken["hold_id"] != hold["hold_id"]
    assert await anna.holds() == []
    [seat] = await table(services, event.tenant, "SELECT * FROM seat_state")
    assert seat["holder_id"] == ben.id
    assert UUID(taken["hold_id"]) == seat["seat_hold_id"]
