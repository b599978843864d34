"""The watch over the gates: what it raises from real scans, and what people do with that."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

import asyncpg
import httpx
import pytest

from tests.scanning.node_support import another_node, hear, socket, subscribe
from tests.scanning.support import LATER, Device, World, a_world
from tests.support import MovableClock, Tenant
from voelgoed.infra.embedded import EmbeddedPostgres
from voelgoed.infra.metrics import scans_unwatched
from voelgoed.scanning.actions.watch import WAITING_MAX
from voelgoed.scanning.actions.wishes import Credential, Outcome, Wanted
from voelgoed.services import Services

UNKNOWN = "0000-0000-0000"
A_WHILE = timedelta(seconds=6)
"""Longer than for which a repetition is not written down."""


async def alerts(world: World, **query: str) -> list[dict[str, Any]]:
    """When the watch has seen all that happened."""
    async with asyncio.timeout(20):
        await world.services.watch.is_idle()
    path = f"/api/scanning/events/{world.event_id}/alerts"
    answer = await world.client.get(path, params=query, headers=world.tenant.as_("gate_supervisor"))
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


async def kinds(world: World) -> list[str]:
    return sorted(alert["kind"] for alert in await alerts(world))


async def put_policy(world: World, **policy: Any) -> dict[str, Any]:
    path = f"/api/events/{world.event_id}/scan-policy"
    present = (await world.ask("GET", path)).json()["data"]
    answer = await world.ask("PUT", path, {"version": present["version"], **policy})
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


async def move(
    world: World, alert: dict[str, Any], to: str, note: str = "", version: int | None = None
) -> httpx.Response:
    body = {"to": to, "note": note, "version": version or alert["version"]}
    return await world.ask("POST", f"/api/scanning/alerts/{alert['id']}/transitions", body)


async def moved(world: World, alert: dict[str, Any], to: str, note: str = "") -> dict[str, Any]:
    answer = await move(world, alert, to, note)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


async def forged(world: World, device: Device) -> str:
    """Somebody's code, with a signature that is not ours."""
    barcode = await world.barcode(await world.ticket())
    other = "A" if barcode[-20] != "A" else "B"
    assert await world.verdict(device, barcode[:-20] + other + barcode[-19:]) == "ticket_not_found"
    return barcode


async def test_a_quiet_evening_raises_nothing(world: World, clock: MovableClock):
    here, there = await world.device(), await world.device(world.gates[1])
    tickets = await world.tickets(5)
    for ticket in tickets:
        assert await world.verdict(here, ticket.code) == "admitted"
    clock.ahead += LATER
    assert await world.verdict(there, tickets[0].code) == "admitted"
    assert await alerts(world) == []


async def test_impossible_travel(world: World):
    ticket = await world.ticket()
    assert await world.verdict(await world.device(), ticket.code) == "admitted"
    there = await world.device(world.gates[1])
    assert await world.verdict(there, ticket.code) == "already_scanned"
    [alert] = await alerts(world)
    assert alert["kind"] == "impossible_travel"
    assert (alert["severity"], alert["state"], alert["occurrences"]) == ("high", "open", 1)
    assert (alert["subject_type"], alert["subject_id"]) == ("ticket", str(ticket.id))
    assert alert["event_id"] == str(world.event_id)
    assert alert["details"] == {
        "ticket_code": ticket.code,
        "from_gate": "Gate 0",
        "to_gate": "Gate 1",
        "seconds": 0,
    }
    assert alert["first_at"] == alert["last_at"]


async def test_impossible_travel_between_two_nodes(
    world: World, database_url: str, clock: MovableClock
):
    ticket, device = await world.ticket(), await world.device()
    there = await world.device(world.gates[1])
    async with another_node(world, database_url, clock) as other:
        assert await world.verdict(device, ticket.code) == "admitted"
        assert await other.verdict(there, ticket.code) == "already_scanned"
        assert [alert["kind"] for alert in await alerts(other)] == ["impossible_travel"]


async def test_a_journey_after_an_annulled_admission_is_possible(world: World):
    ticket, here, there = (
        await world.ticket(),
        await world.device(),
        await world.device(world.gates[1]),
    )
    scan = (await world.scan(here, ticket.code)).json()
    path = f"/api/scanning/scans/{scan['scan_id']}/annulment"
    assert (await world.ask("POST", path, {"reason": "turnstile"})).status_code == 204
    await world.services.live.is_idle()
    assert await world.verdict(there, ticket.code) == "admitted"
    assert await world.verdict(there, ticket.code) == "already_scanned"
    assert await alerts(world) == []


async def test_repeated_duplicates_from_the_sixth_on(world: World):
    ticket, device = await world.ticket(), await world.device()
    for _ in range(1 + 5):
        await world.scan(device, ticket.code)
    assert await alerts(world) == []
    await world.scan(device, ticket.code)
    [alert] = await alerts(world)
    assert (alert["kind"], alert["subject_id"]) == ("repeated_duplicates", str(ticket.id))


async def test_duplicates_of_hours_ago_do_not_count(world: World, clock: MovableClock):
    await put_policy(world, dedup_window_s=86_400)
    ticket, device = await world.ticket(), await world.device()
    for _ in range(1 + 5):
        await world.scan(device, ticket.code)
    clock.ahead += timedelta(hours=1, seconds=1)
    for _ in range(5):
        assert await world.verdict(device, ticket.code) == "already_scanned"
    assert await alerts(world) == []


async def test_high_velocity_when_a_minute_has_more_scans_than_allowed(
    world: World, clock: MovableClock
):
    await put_policy(world, gate_scans_per_minute_max=4)
    device, tickets = await world.device(), await world.tickets(9)
    for ticket in tickets[:4]:
        await world.scan(device, ticket.code)
    clock.ahead += timedelta(seconds=61)
    for ticket in tickets[4:8]:
        await world.scan(device, ticket.code)
    assert await alerts(world) == []
    await world.scan(device, tickets[8].code)
    [alert] = await alerts(world)
    assert (alert["kind"], alert["severity"]) == ("high_velocity", "low")
    assert (alert["subject_type"], alert["subject_id"]) == ("gate", str(device.gate.id))


async def test_device_malfunction_over_a_tenth_of_twenty(world: World):
    device, other = await world.device(), await world.device(name="another")
    for ticket in (*await world.tickets(10), *await world.tickets(7)):
        assert await world.verdict(device, ticket.code) == "admitted"
    for _ in range(2):
        await world.scan(device, UNKNOWN)
        await world.scan(other, UNKNOWN)  # whose errors are not the first one's
    assert await kinds(world) == ["ticket_not_found", "ticket_not_found"]
    await world.scan(device, UNKNOWN)
    found = {alert["kind"]: alert for alert in await alerts(world)}
    alert = found["device_malfunction"]
    assert (alert["subject_type"], alert["subject_id"]) == ("device", str(device.id))
    assert (alert["details"]["scans"], alert["details"]["errors"]) == (20, 3)


async def test_an_unknown_ticket_alerts_security(world: World):
    device = await world.device()
    assert await world.verdict(device, UNKNOWN) == "ticket_not_found"
    [alert] = await alerts(world)
    assert (alert["kind"], alert["subject_id"]) == ("ticket_not_found", str(device.id))
    assert alert["details"]["ticket_code"] == UNKNOWN


async def test_a_forged_barcode_is_critical(world: World):
    device = await world.device()
    await forged(world, device)
    [alert] = await alerts(world)
    assert (alert["kind"], alert["severity"]) == ("forged_barcode", "critical")
    assert alert["subject_id"] == str(device.id)


async def test_a_clock_that_is_off(world: World):
    device, ticket = await world.device(), await world.ticket()
    off = (world.now - timedelta(seconds=400)).isoformat()
    answer = await world.scan(device, ticket.code, scanned_at=off)
    assert answer.json()["error"] == "timestamp_out_of_range"
    [alert] = await alerts(world)
    assert (alert["kind"], alert["subject_id"]) == ("clock_skew", str(device.id))
    assert alert["details"]["diff_seconds"] == 400


async def test_a_gate_near_capacity(services: Services, client: httpx.AsyncClient, tenant: Tenant):
    world = await a_world(services, client, tenant, gate={"capacity": 10})
    device, tickets = await world.device(), await world.tickets(9)
    for ticket in tickets[:8]:
        await world.scan(device, ticket.code)
    assert await alerts(world) == []
    await world.scan(device, tickets[8].code)
    [alert] = await alerts(world)
    assert (alert["kind"], alert["subject_id"]) == ("gate_near_capacity", str(device.gate.id))
    assert (alert["details"]["current"], alert["details"]["capacity"]) == (9, 10)


async def test_what_goes_on_is_one_alert_counted_now_and_then(world: World, clock: MovableClock):
    device = await world.device()
    for _ in range(3):
        await world.scan(device, UNKNOWN)
        await alerts(world)
    [first] = await alerts(world)
    assert first["occurrences"] == 1
    clock.ahead += A_WHILE
    await world.scan(device, "1111-1111-1111")
    [again] = await alerts(world)
    assert (again["id"], again["occurrences"], again["version"]) == (first["id"], 2, 1)
    assert again["details"]["ticket_code"] == "1111-1111-1111"
    assert again["first_at"] == first["first_at"]
    assert again["last_at"] > first["last_at"]
    await world.scan(await world.device(name="another"), UNKNOWN)
    assert len(await alerts(world)) == 2


async def test_a_scan_sent_again_is_not_noticed_again(world: World, clock: MovableClock):
    device, scan_id = await world.device(), str(uuid4())
    await world.scan(device, UNKNOWN, scan_id=scan_id)
    await alerts(world)
    clock.ahead += A_WHILE
    await world.scan(device, UNKNOWN, scan_id=scan_id)
    [alert] = await alerts(world)
    assert alert["occurrences"] == 1


async def test_who_runs_the_gates_hears_of_an_alert_once(world: World, clock: MovableClock):
    device, topic = await world.device(), f"alerts:{world.event_id}"
    async with socket(world, world.tenant.as_("gate_supervisor")) as connection:
        assert (await subscribe(connection, topic))["type"] == "subscribed"
        await world.scan(device, UNKNOWN)
        [alert] = await alerts(world)
        heard = await hear(connection, topic)
        assert heard["data"] == {"event": "alert_raised", "alert": alert}
        clock.ahead += A_WHILE
        await world.scan(device, UNKNOWN)  # a repetition is not news
        [alert] = await alerts(world)
        after = await moved(world, alert, "resolved", "a typing error")
        assert (await hear(connection, topic))["data"] == {"event": "alert_moved", "alert": after}
        again = await moved(world, after, "open")
        assert (await hear(connection, topic))["data"]["alert"] == again
        await moved(world, again, "resolved")
        await hear(connection, topic)
        clock.ahead += A_WHILE
        await world.scan(device, UNKNOWN)
        newest = (await alerts(world))[0]
        assert (await hear(connection, topic))["data"] == {"event": "alert_raised", "alert": newest}
        assert (newest["occurrences"], newest["id"] == alert["id"]) == (1, False)


async def test_nobody_else_may_follow_alerts(world: World, other_tenant: Tenant):
    device, topic = await world.device(), f"alerts:{world.event_id}"
    strangers = [
        world.tenant.as_("box_office"),
        world.tenant.as_("customer"),
        other_tenant.as_("owner"),
        device.headers,
    ]
    for headers in strangers:
        async with socket(world, headers) as connection:
            assert (await subscribe(connection, topic))["type"] == "refused"


async def test_an_alert_is_acknowledged_resolved_and_opened_again(world: World):
    device = await world.device()
    await world.scan(device, UNKNOWN)
    [alert] = await alerts(world)
    seen = await moved(world, alert, "acknowledged", "on my way")
    assert (seen["state"], seen["note"], seen["version"]) == ("acknowledged", "on my way", 2)
    assert seen["reviewed_by_id"] == str(world.tenant.users["gate_supervisor"])
    assert seen["reviewed_at"] is not None
    assert (await moved(world, alert, "acknowledged", "on my way"))["version"] == 2, "twice is once"
    assert (await move(world, alert, "resolved")).json()["error"] == "version_conflict"
    resolved = await moved(world, seen, "resolved")
    assert [each["id"] for each in await alerts(world, state="resolved")] == [alert["id"]]
    assert await alerts(world, state="open") == []
    assert (await moved(world, resolved, "open"))["state"] == "open"
    entries = await world.rows(
        "SELECT * FROM audit_entry WHERE action = 'alert_moved' ORDER BY at, id"
    )
    assert [entry["changes"]["state"]["to"] for entry in entries] == [
        "acknowledged",
        "resolved",
        "open",
    ]
    assert entries[0]["changes"]["kind"] == "ticket_not_found"
    assert entries[0]["actor_id"] == world.tenant.users["gate_supervisor"]


async def test_one_that_was_raised_again_is_not_opened_again(world: World, clock: MovableClock):
    device = await world.device()
    await world.scan(device, UNKNOWN)
    [first] = await alerts(world)
    first = await moved(world, first, "resolved")
    clock.ahead += A_WHILE
    await world.scan(device, UNKNOWN)
    assert len(await alerts(world)) == 2
    answer = await move(world, first, "open")
    assert (answer.status_code, answer.json()["error"]) == (409, "alert_raised_again")


async def test_alerts_are_read_page_by_page_the_newest_first(world: World):
    for number in range(3):
        await world.scan(await world.device(name=f"iPad {number}"), UNKNOWN)
        await alerts(world)
    path = f"/api/scanning/events/{world.event_id}/alerts?limit=2"
    first = (await world.ask("GET", path)).json()
    rest = (await world.ask("GET", f"{path}&after={first['next']}")).json()
    names = [each["details"]["device_name"] for each in (*first["data"], *rest["data"])]
    assert names == ["iPad 2", "iPad 1", "iPad 0"]
    assert rest["next"] is None


async def test_another_organisation_sees_nothing(world: World, other_tenant: Tenant):
    await world.scan(await world.device(), UNKNOWN)
    [alert] = await alerts(world)
    headers = other_tenant.as_("owner")
    path = f"/api/scanning/events/{world.event_id}/alerts"
    assert (await world.client.get(path, headers=headers)).json()["error"] == "event_not_found"
    path = f"/api/scanning/alerts/{alert['id']}/transitions"
    body = {"to": "resolved", "version": 1}
    answer = await world.client.post(path, json=body, headers=headers)
    assert (answer.status_code, answer.json()["error"]) == (404, "alert_not_found")
    assert (await alerts(world))[0]["state"] == "open"


async def test_a_device_is_not_blocked_unless_that_is_wanted(world: World):
    device, ticket = await world.device(), await world.ticket("A9")
    await forged(world, device)
    assert await kinds(world) == ["forged_barcode"]
    assert await world.verdict(device, ticket.code) == "admitted"


async def test_a_device_that_reads_nonsense_is_blocked(world: World):
    await put_policy(world, blocks_devices=True, gate_scans_per_minute_max=1_000)
    device, other, ticket = await world.device(), await world.device(), await world.ticket("A9")
    await world.scan(other, UNKNOWN)
    await forged(world, other)  # which any visitor can print
    async with socket(world, device.headers) as connection:
        async with asyncio.timeout(10):
            await connection.recv()  # it follows its own topic
            for _ in range(20):
                await world.scan(device, UNKNOWN)
            await alerts(world)
            await connection.wait_closed()
        assert (connection.close_code, connection.close_reason) == (4401, "device_inactive")
    answer = await world.scan(device, ticket.code)
    assert (answer.status_code, answer.json()["error"]) == (401, "device_inactive")
    [entry] = await world.rows("SELECT * FROM audit_entry WHERE action = 'device_blocked'")
    assert (entry["actor_kind"], entry["entity_id"]) == ("system", str(device.id))
    assert entry["changes"]["because"] == "device_malfunction"
    assert await world.verdict(other, ticket.code) == "admitted"


async def activate(world: World, device: Device) -> None:
    path = f"/api/scanning/devices/{device.id}"
    version = (await world.ask("GET", path)).json()["data"]["version"]
    answer = await world.ask("PATCH", path, {"version": version, "status": "active"})
    assert answer.status_code == 200, answer.text


async def test_a_blocked_device_that_is_activated_begins_anew(world: World):
    await put_policy(world, blocks_devices=True, gate_scans_per_minute_max=1_000)
    device = await world.device()
    for _ in range(20):
        await world.scan(device, UNKNOWN)
    assert "device_malfunction" in await kinds(world)
    assert (await world.scan(device, UNKNOWN)).json()["error"] == "device_inactive"
    await activate(world, device)
    for _ in range(19):
        assert await world.verdict(device, UNKNOWN) == "ticket_not_found"
        await alerts(world)
    await world.scan(device, UNKNOWN)
    await alerts(world)
    assert (await world.scan(device, UNKNOWN)).json()["error"] == "device_inactive"
    blocked = await world.rows("SELECT 1 FROM audit_entry WHERE action = 'device_blocked'")
    assert len(blocked) == 2


@pytest.fixture
async def admin(postgres: EmbeddedPostgres, database_name: str):
    connection = await asyncpg.connect(postgres.url("postgres", database_name))
    yield connection
    await connection.close()


async def test_scans_do_not_wait_for_a_watch_that_waits(world: World, admin: asyncpg.Connection):
    device = await world.device()
    lock = admin.transaction()
    await lock.start()
    await admin.execute("LOCK TABLE scan_alert IN ACCESS EXCLUSIVE MODE")
    await world.scan(device, UNKNOWN)
    looking = asyncio.create_task(world.services.watch.is_idle())
    await asyncio.sleep(0.2)  # by now it waits for the lock
    for ticket in await world.tickets(10):
        assert await world.verdict(device, ticket.code) == "admitted"
    assert not looking.done()
    await lock.rollback()
    assert await kinds(world) == ["ticket_not_found"]
    await looking


async def test_a_watch_that_fails_harms_no_scan_and_goes_on(
    world: World, admin: asyncpg.Connection
):
    device, ticket = await world.device(), await world.ticket()
    before = scans_unwatched._value.get()
    await admin.execute("ALTER TABLE scan_alert RENAME TO gone")
    await world.scan(device, UNKNOWN)
    await world.services.watch.is_idle()
    assert scans_unwatched._value.get() == before + 1
    assert await world.verdict(device, ticket.code) == "admitted"
    await admin.execute("ALTER TABLE gone RENAME TO scan_alert")
    await world.scan(device, UNKNOWN)
    assert await kinds(world) == ["ticket_not_found"]


async def test_what_could_not_be_looked_at_is_looked_at_when_the_database_is_back(
    world: World, admin: asyncpg.Connection, database_name: str
):
    lock = admin.transaction()
    await lock.start()
    await admin.execute("LOCK TABLE scan_alert IN ACCESS EXCLUSIVE MODE")
    await world.scan(await world.device(), UNKNOWN)
    looking = asyncio.create_task(world.services.watch.is_idle())
    lost: list[Any] = []
    async with asyncio.timeout(10):
        while not lost:
            await asyncio.sleep(0.01)
            lost = await admin.fetch(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE datname = $1 AND wait_event_type = 'Lock'
                """,
                database_name,
            )
    await lock.rollback()
    await looking
    assert await kinds(world) == ["ticket_not_found"]


async def test_too_many_that_wait_are_dropped_and_counted(services: Services, tenant: Tenant):
    watch, before = services.watch, scans_unwatched._value.get()
    for _ in range(3):
        watch.note(tenant.id, [an_outcome(services, tenant)] * (WAITING_MAX // 2))
    await watch.is_idle()
    dropped = scans_unwatched._value.get() - before
    assert dropped == WAITING_MAX // 2


def an_outcome(services: Services, tenant: Tenant) -> Outcome:
    """Of a scan that was sent again: nothing to look at."""
    now = services.clock.now()
    return Outcome(
        Wanted(
            caller=tenant.caller(),
            by=Credential(1, uuid4()),
            scan_id=uuid4(),
            given=UNKNOWN,
            presented=None,
            direction="entry",
            scanned_at=now,
            received_at=now,
        )
    )


async def test_before_it_stops_the_watch_looks_at_what_it_was_told(world: World):
    device = await world.device()
    await world.scan(device, UNKNOWN)
    await world.services.watch.stop()
    assert await kinds(world) == ["ticket_not_found"]
    assert await world.verdict(device, (await world.ticket()).code) == "admitted"


async def test_a_watch_that_cannot_look_stops_all_the_same(world: World, admin: asyncpg.Connection):
    async with admin.transaction():
        await admin.execute("LOCK TABLE scan_alert IN ACCESS EXCLUSIVE MODE")
        await world.scan(await world.device(), UNKNOWN)
        async with asyncio.timeout(10):
            await world.services.watch.stop()


async def test_an_event_is_scanned_as_usual_until_somebody_changes_that(world: World):
    path = f"/api/events/{world.event_id}/scan-policy"
    usual = {
        "event_id": str(world.event_id),
        "dedup_window_s": 300,
        "travel_s": 300,
        "duplicates_per_hour_max": 5,
        "gate_scans_per_minute_max": 60,
        "device_error_rate_max": 0.1,
        "blocks_devices": False,
        "version": 1,
        "updated_at": None,
    }
    assert (await world.ask("GET", path)).json()["data"] == usual
    changed = await put_policy(world, travel_s=60)
    assert changed["updated_at"] is not None
    assert changed | {"updated_at": None} == usual | {"travel_s": 60, "version": 2}
    assert (await world.ask("GET", path)).json()["data"] == changed
    stale = await world.ask("PUT", path, {"version": 1, "travel_s": 30})
    assert (stale.status_code, stale.json()["error"]) == (409, "version_conflict")
    again = await put_policy(world, blocks_devices=True)
    assert (again["travel_s"], again["version"]) == (300, 3), "what is left out is as usual"
    entries = await world.rows(
        "SELECT changes, entity_id FROM audit_entry WHERE action = 'scan_policy_changed' ORDER BY at"
    )
    assert [entry["entity_id"] for entry in entries] == [str(world.event_id)] * 2
    assert entries[0]["changes"] == {"travel_s": {"from": 300, "to": 60}}


async def test_the_duplicate_window_is_the_events_own(world: World, clock: MovableClock):
    await put_policy(world, dedup_window_s=10)
    device, ticket = await world.device(), await world.ticket()
    assert await world.verdict(device, ticket.code) == "admitted"
    clock.ahead += timedelta(seconds=9)
    assert await world.verdict(device, ticket.code) == "already_scanned"
    clock.ahead += timedelta(seconds=2)
    assert await world.verdict(device, ticket.code) == "admitted"


@pytest.mark.parametrize(
    "wrong",
    [
        {"travel_s": -1},
        {"dedup_window_s": 86_401},
        {"duplicates_per_hour_max": 0},
        {"gate_scans_per_minute_max": 10_001},
        {"device_error_rate_max": 1.1},
        {"blocks_devices": 1},
    ],
)
async def test_limits_have_limits(world: World, wrong: dict[str, Any]):
    path = f"/api/events/{world.event_id}/scan-policy"
    answer = await world.ask("PUT", path, {"version": 1} | wrong)
    assert answer.status_code == 422, answer.text
