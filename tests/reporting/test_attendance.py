"""Who came, when and where: whatever happened at the gates, the report says what the counters say."""

from collections import Counter
from datetime import UTC, timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest

from tests.reporting.attendance_support import found_in, require_as_counted
from tests.reporting.support import (
    at_the_event,
    log_in_again,
    report,
    require_attendance_adds_up,
    table,
)
from tests.scanning.support import LATER, World, a_world
from tests.seating.race_support import DAYS
from tests.support import SOON, MovableClock, Tenant
from voelgoed.scanning.actions.occupancy_resets import declare_empty
from voelgoed.scanning.actions.supervision import annul
from voelgoed.scanning.model.supervision import Annulment, NewOccupancyReset
from voelgoed.services import Services


@pytest.fixture
async def world(services: Services, client: httpx.AsyncClient, tenant: Tenant) -> World:
    return await a_world(services, client, tenant, gates=2, is_begun=False)


async def an_evening(world: World, clock: MovableClock) -> None:
    """Three come; one leaves by the other gate and comes again; one is denied; the next day one."""
    at_the_event(world, clock)
    here, there = [await world.device(gate) for gate in world.gates]
    seated = await world.ticket("A1")
    first, second = await world.tickets(2)
    for ticket in (seated, first, second):
        assert await world.verdict(here, ticket.code) == "admitted"
    assert await world.verdict(here, first.code) == "already_scanned"
    assert await world.verdict(here, "0000-0000-0000") == "ticket_not_found"
    clock.ahead += timedelta(minutes=20)
    assert await world.verdict(there, first.code, direction="exit") == "admitted"
    clock.ahead += timedelta(minutes=20)
    assert await world.verdict(there, first.code) == "admitted"
    clock.ahead += timedelta(days=1)
    assert await world.verdict(there, second.code) == "admitted"


async def test_one_evening_by_gate_zone_day_and_time(world: World, clock: MovableClock) -> None:
    await an_evening(world, clock)
    found = await found_in(world, 15)
    await require_as_counted(world, found)
    total = found.total
    assert (total.entries, total.first_entries, total.reentries) == (5, 3, 2)
    assert (total.exits, total.denied, total.inside) == (1, 2, 3)
    assert {each.reason: each.denied for each in found.reasons} == {
        "already_scanned": 1,
        "ticket_not_found": 1,
    }
    assert [(each.code, each.entries, each.inside) for each in found.gates] == [
        ("gate-0", 3, 1),
        ("gate-1", 2, 2),
    ]
    assert [(each.day, each.entries, each.inside) for each in found.days] == [
        (DAYS[0], 4, 2),
        (DAYS[1], 1, 1),
    ]
    zones = {each.name: each for each in found.zones}
    assert (zones["Hall"].entries, zones["Floor"].entries, zones["No zone"].denied) == (1, 4, 1)
    assert [each.inside for each in found.buckets] == [3, 2, 3, 1]
    assert found.busiest_minute is not None
    assert found.busiest_minute.entries == 3
    assert found.fullest is not None
    assert found.fullest.inside == 3


async def test_a_span_counts_what_was_in_it_and_who_is_inside_at_its_end(
    world: World, clock: MovableClock
) -> None:
    await an_evening(world, clock)
    start = SOON.astimezone(UTC) + timedelta(minutes=10)
    found = await found_in(world, 1, start, start + timedelta(minutes=20))
    require_attendance_adds_up(found)
    assert (found.total.entries, found.total.exits, found.total.denied) == (0, 1, 0)
    assert found.total.inside == 2, "of whom all came before"
    assert [each.inside for each in found.buckets] == [2]
    later = await found_in(world, 1, start + timedelta(minutes=20))
    assert (later.total.first_entries, later.total.reentries) == (0, 2)
    nothing = await found_in(world, 1, start + timedelta(days=300))
    assert (nothing.buckets, nothing.total.entries, nothing.total.inside) == ([], 0, 3)


async def test_spans_side_by_side_add_up_to_the_whole(world: World, clock: MovableClock) -> None:
    await an_evening(world, clock)
    cut = SOON + timedelta(minutes=30)
    whole = await found_in(world, 5)
    before, after = await found_in(world, 5, None, cut), await found_in(world, 5, cut, None)
    for name in ("entries", "first_entries", "reentries", "exits", "denied"):
        told = getattr(before.total, name) + getattr(after.total, name)
        assert told == getattr(whole.total, name)
    assert [*before.buckets, *after.buckets] == whole.buckets


async def test_what_was_annulled_does_not_count(world: World, clock: MovableClock) -> None:
    at_the_event(world, clock)
    device, ticket = await world.device(), await world.ticket()
    answer = (await world.scan(device, ticket.code)).json()
    database, caller = world.services.database, world.tenant.caller("gate_supervisor")
    await annul(database, caller, UUID(answer["scan_id"]), Annulment(reason="turnstile"))
    found = await found_in(world)
    assert (found.total.entries, found.total.denied, found.buckets) == (0, 0, [])
    await require_as_counted(world, found)


async def test_nobody_is_inside_after_the_venue_was_declared_empty_until_somebody_comes(
    world: World, clock: MovableClock
) -> None:
    at_the_event(world, clock)
    device = await world.device()
    first, second, third = await world.tickets(3)
    assert await world.verdict(device, first.code) == "admitted"
    assert await world.verdict(device, second.code) == "admitted"
    clock.ahead += timedelta(minutes=20)
    before = world.now
    database, caller = world.services.database, world.tenant.caller("gate_supervisor")
    await declare_empty(database, caller, world.event_id, NewOccupancyReset(reason="Sweep"), None)
    clock.ahead += timedelta(minutes=20)
    for ticket in (first, third):
        assert await world.verdict(device, ticket.code) == "admitted"
    found = await found_in(world, 15)
    await require_as_counted(world, found)
    assert (found.total.entries, found.total.inside) == (4, 2)
    assert [(each.entries, each.inside) for each in found.buckets] == [(2, 2), (0, 0), (2, 2)]
    assert (await found_in(world, 15, until=before)).total.inside == 2


async def test_a_gate_that_was_deleted_keeps_what_it_counted(
    world: World, clock: MovableClock
) -> None:
    at_the_event(world, clock)
    device, ticket = await world.device(world.gates[1]), await world.ticket()
    await world.verdict(device, ticket.code)
    async with world.services.database.transaction(world.tenant.id) as tx:
        await tx.run("DELETE FROM gate WHERE id = $1", world.gates[1].id)
    found = await found_in(world)
    assert [(each.code, each.name, each.entries) for each in found.gates] == [
        ("gate-0", "Gate 0", 0),
        (None, "Gate 1", 1),
    ]
    require_attendance_adds_up(found)


async def test_over_http_with_buckets_and_as_a_table(world: World, clock: MovableClock) -> None:
    await an_evening(world, clock)
    await log_in_again(world)
    asked = (world.client, world.tenant, world.event_id, "attendance")
    by: Any = {"by": "gate_supervisor"}
    whole = await report(*asked, **by)
    assert (whole["bucket_minutes"], whole["since"], whole["until"]) == (15, None, None)
    assert whole["timezone"] == "Africa/Johannesburg"
    begins = [each["since"] for each in (await report(*asked, **by, bucket_minutes=60))["buckets"]]
    assert len(begins) == 2
    assert all(each.endswith("00:00Z") for each in begins)
    rows = await table(*asked, **by, bucket_minutes=60)
    parts = Counter(row["part"] for row in rows)
    assert parts == {"total": 1, "day": 2, "gate": 2, "zone": 3, "reason": 2, "bucket": 2}
    assert rows[0]["entries"] == "5"
    assert rows[-1]["name"].endswith("+02:00"), "as clocks at the venue have it"


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"bucket_minutes": 7}, "invalid_request"),
        ({"bucket_minutes": 0}, "invalid_request"),
        ({"bucket_minutes": "many"}, "invalid_request"),
        ({"since": "yesterday"}, "invalid_request"),
        ({"since": "2030-06-01T12:00:00"}, "invalid_request"),
        ({"since": "0001-01-01T00:00:00+14:00"}, "invalid_request"),
        ({"until": "9999-12-31T23:59:59-12:00"}, "invalid_request"),
        ({"since": "2030-06-02T00:00:00Z", "until": "2030-06-01T00:00:00Z"}, "empty_span"),
    ],
)
async def test_a_faulty_question_is_refused(
    world: World, params: dict[str, Any], code: str
) -> None:
    for name in ("attendance", "attendance.csv", "funnel", "funnel.csv"):
        path = f"/api/events/{world.event_id}/reports/{name}"
        answer = await world.client.get(path, params=params, headers=world.tenant.as_("owner"))
        assert (answer.status_code, answer.json()["error"]) == (422, code), (name, answer.text)


async def test_a_long_event_by_minutes_is_too_much_and_says_so(world: World) -> None:
    async with world.services.database.transaction(world.tenant.id) as tx:
        await tx.run("UPDATE event SET ends_at = ends_at + interval '20 days'")
        await tx.run("UPDATE event_day SET ends_at = ends_at + interval '20 days'")
    path = f"/api/events/{world.event_id}/reports/attendance"
    answer = await world.ask("GET", f"{path}?bucket_minutes=1")
    assert (answer.status_code, answer.json()["error"]) == (422, "too_many_buckets")
    assert answer.json()["details"]["buckets_max"] == 10_000
    assert (await world.ask("GET", f"{path}?bucket_minutes=15")).status_code == 200
    span = f"since={(SOON + LATER).isoformat().replace('+00:00', 'Z')}&until=2030-06-02T12:00:00Z"
    assert (await world.ask("GET", f"{path}?bucket_minutes=1&{span}")).status_code == 200
