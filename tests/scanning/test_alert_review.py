"""Alerts as people see them: one open alert per subject, followed, acknowledged, resolved."""

from uuid import uuid4

from tests.scanning.alert_support import A_WHILE, UNKNOWN, alerts, move, moved
from tests.scanning.node_support import hear, socket, subscribe
from tests.scanning.support import World
from tests.support import MovableClock, Tenant


async def test_a_continuing_problem_is_one_alert_that_counts_each_time(
    world: World, clock: MovableClock
):
    device = await world.device()
    for _ in range(3):
        await world.scan(device, UNKNOWN)
        await alerts(world)
    [first] = await alerts(world)
    assert first["occurrences"] == 3
    clock.ahead += A_WHILE
    await world.scan(device, "1111-1111-1111")
    [again] = await alerts(world)
    assert (again["id"], again["occurrences"], again["version"]) == (first["id"], 4, 1)
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


async def test_staff_who_run_the_gates_receive_each_alert(world: World, clock: MovableClock):
    device, topic = await world.device(), f"alerts:{world.event_id}"
    async with socket(world, world.tenant.as_("gate_supervisor")) as connection:
        assert (await subscribe(connection, topic))["type"] == "subscribed"
        await world.scan(device, UNKNOWN)
        [alert] = await alerts(world)
        heard = await hear(connection, topic)
        assert heard["data"] == {"event": "alert_raised", "alert": alert}
        clock.ahead += A_WHILE
        await world.scan(device, UNKNOWN)
        [alert] = await alerts(world)
        heard = await hear(connection, topic)
        assert heard["data"] == {"event": "alert_repeated", "alert": alert}
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
    nobody = [
        world.tenant.as_("box_office"),
        world.tenant.as_("customer"),
        other_tenant.as_("owner"),
        device.headers,
    ]
    for headers in nobody:
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


async def test_an_alert_that_was_raised_again_is_not_reopened(world: World, clock: MovableClock):
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
