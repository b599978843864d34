"""Conflicts as people see them: both scans, reviewed, dismissed, opened again."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx

from tests.scanning.node_support import hear, socket, subscribe
from tests.scanning.support import World
from tests.scanning.sync_support import conflicts, signed, sync
from tests.support import Tenant

MINUTE = timedelta(minutes=1)
PATH = "/api/scanning/conflicts"


async def a_conflict(world: World) -> dict[str, Any]:
    """A conflict: two devices let somebody in with one ticket."""
    [ticket] = await world.tickets(1)
    for ago in (11, 10):
        device = await world.device(name=f"iPad {ago}")
        await sync(world, device, await signed(world, device, ticket, ago * MINUTE))
    return (await conflicts(world))[0]["conflict"]


async def move(world: World, conflict: dict[str, Any], to: str, note: str = "") -> httpx.Response:
    body = {"to": to, "note": note, "version": conflict["version"]}
    return await world.ask("POST", f"{PATH}/{conflict['id']}/transitions", body)


async def moved(world: World, conflict: dict[str, Any], to: str, note: str = "") -> dict[str, Any]:
    answer = await move(world, conflict, to, note)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


async def listed(world: World, state: str) -> list[str]:
    path = f"/api/scanning/events/{world.event_id}/conflicts?state={state}"
    return [each["conflict"]["id"] for each in (await world.ask("GET", path)).json()["data"]]


async def test_a_conflict_shows_both_scans(world: World):
    conflict = await a_conflict(world)
    shown = (await world.ask("GET", f"{PATH}/{conflict['id']}")).json()["data"]
    assert shown["conflict"] == conflict
    assert (conflict["kind"], conflict["severity"]) == ("double_entry", "critical")
    assert (conflict["state"], conflict["version"]) == ("open", 1)
    assert shown["winner"]["device_name"] == "iPad 11"
    assert shown["winner"]["scanned_at_canonical"] < shown["scan"]["scanned_at_canonical"]
    assert [shown[each]["status"] for each in ("winner", "scan")] == ["admitted", "denied"]
    assert shown["scan"]["outcome"] == "valid"


async def double_entries(world: World) -> list[dict[str, Any]]:
    path = f"/api/scanning/events/{world.event_id}/alerts"
    found = (await world.ask("GET", path)).json()["data"]
    return [each for each in found if each["kind"] == "double_entry"]


async def test_the_alert_names_the_ticket_and_is_resolved_with_the_conflict(world: World):
    conflict = await a_conflict(world)
    [alert] = await double_entries(world)
    [row] = await world.rows("SELECT code FROM ticket WHERE id = $1", UUID(conflict["ticket_id"]))
    assert alert["details"]["ticket_code"] == row["code"]
    assert alert["details"]["conflict_id"] == conflict["id"]
    seen = await moved(world, conflict, "reviewed", "two of them came")
    [alert] = await double_entries(world)
    assert (alert["state"], alert["note"]) == ("resolved", "two of them came")
    assert alert["reviewed_by_id"] == str(world.tenant.users["gate_supervisor"])
    await moved(world, seen, "open")
    [alert] = await double_entries(world)
    assert alert["state"] == "resolved", "who opens the conflict again knows of it"


async def test_the_alert_stays_until_the_last_conflict_of_its_ticket_is_reviewed(world: World):
    [ticket] = await world.tickets(1)
    for ago in (12, 11, 10):
        device = await world.device(name=f"iPad {ago}")
        await sync(world, device, await signed(world, device, ticket, ago * MINUTE))
    first, second = [each["conflict"] for each in await conflicts(world)]
    await moved(world, first, "dismissed")
    assert [each["state"] for each in await double_entries(world)] == ["open"]
    await moved(world, second, "dismissed")
    assert [each["state"] for each in await double_entries(world)] == ["resolved"]


async def test_a_conflict_is_reviewed_dismissed_and_opened_again(world: World):
    conflict = await a_conflict(world)
    assert conflict["reviewed_by_id"] is None
    seen = await moved(world, conflict, "reviewed", "two of them came")
    assert (seen["state"], seen["note"], seen["version"]) == ("reviewed", "two of them came", 2)
    assert seen["reviewed_by_id"] == str(world.tenant.users["gate_supervisor"])
    assert (await moved(world, conflict, "reviewed", "two of them came"))["version"] == 2
    assert await listed(world, "reviewed") == [conflict["id"]]
    assert await listed(world, "open") == []
    stale = await move(world, conflict, "dismissed")
    assert (stale.status_code, stale.json()["error"]) == (409, "version_conflict")
    assert stale.json()["details"] == {"current_version": 2}
    dismissed = await moved(world, seen, "dismissed")
    assert (await moved(world, dismissed, "open"))["version"] == 4
    entries = await world.rows(
        "SELECT * FROM audit_entry WHERE action = 'conflict_moved' ORDER BY at, id"
    )
    assert [entry["changes"]["state"]["to"] for entry in entries] == [
        "reviewed",
        "dismissed",
        "open",
    ]
    assert entries[0]["actor_id"] == world.tenant.users["gate_supervisor"]
    assert entries[0]["changes"]["note"] == "two of them came"


async def test_staff_who_follow_the_event_receive_the_conflict(world: World):
    topic = f"alerts:{world.event_id}"
    async with socket(world, world.tenant.as_("gate_supervisor")) as connection:
        await subscribe(connection, topic)
        conflict = await a_conflict(world)
        heard = [(await hear(connection, topic))["data"] for _ in range(3)]
        assert {"event": "conflict_detected", "conflict": conflict} in heard
        raised = {each["alert"]["kind"] for each in heard if each["event"] == "alert_raised"}
        assert raised == {"double_entry", "high_error_rate_batch"}
        seen = await moved(world, conflict, "reviewed")
        message = (await hear(connection, topic))["data"]
        assert message == {"event": "conflict_moved", "conflict": seen}


async def test_conflicts_are_read_page_by_page_the_newest_first(world: World):
    made = [(await a_conflict(world))["id"] for _ in range(3)]
    path = f"/api/scanning/events/{world.event_id}/conflicts?limit=2"
    first = (await world.ask("GET", path)).json()
    rest = (await world.ask("GET", f"{path}&after={first['next']}")).json()
    ids = [each["conflict"]["id"] for each in (*first["data"], *rest["data"])]
    assert ids == made[::-1]
    assert rest["next"] is None


async def test_a_conflict_that_turns_out_to_be_none_is_removed_and_this_is_published(world: World):
    conflict = await a_conflict(world)
    path = f"/api/scanning/scans/{conflict['winner_scan_id']}/annulment"
    topic = f"alerts:{world.event_id}"
    async with socket(world, world.tenant.as_("gate_supervisor")) as connection:
        await subscribe(connection, topic)
        assert (await world.ask("POST", path, {"reason": "wrong person"})).is_success
        heard = (await hear(connection, topic))["data"]
        while (
            heard["event"] != "conflict_withdrawn"
        ):  # the message that it was a conflict may still be on its way
            heard = (await hear(connection, topic))["data"]
        assert heard["conflict"] == conflict
    assert await conflicts(world) == []
    answer = await move(world, conflict, "reviewed")
    assert (answer.status_code, answer.json()["error"]) == (404, "conflict_not_found")
    [entry] = await world.rows("SELECT * FROM audit_entry WHERE action = 'conflict_withdrawn'")
    [named] = entry["changes"]["conflicts"]
    assert named["winner_scan_id"] == conflict["winner_scan_id"]


async def test_a_review_is_void_when_another_scan_becomes_the_winner(world: World):
    [ticket] = await world.tickets(1)
    devices = [await world.device(name=f"iPad {number}") for number in range(3)]
    scans = [
        await signed(world, device, ticket, ago * MINUTE)
        for device, ago in zip(devices, (12, 11, 10), strict=True)
    ]
    await sync(world, devices[1], scans[1])
    await sync(world, devices[2], scans[2])
    [found] = await conflicts(world)
    seen = await moved(world, found["conflict"], "dismissed", "the same person")
    await sync(world, devices[0], scans[0])
    by_scan = {each["conflict"]["scan_id"]: each["conflict"] for each in await conflicts(world)}
    again = by_scan[scans[2]["scan_id"]]
    assert again["winner_scan_id"] == scans[0]["scan_id"]
    assert (again["state"], again["note"], again["reviewed_by_id"]) == ("open", "", None)
    assert again["version"] > seen["version"]


async def test_another_organisation_sees_nothing(world: World, other_tenant: Tenant):
    conflict, headers = await a_conflict(world), other_tenant.as_("owner")
    path = f"/api/scanning/events/{world.event_id}/conflicts"
    assert (await world.client.get(path, headers=headers)).json()["error"] == "event_not_found"
    path = f"{PATH}/{conflict['id']}"
    assert (await world.client.get(path, headers=headers)).json()["error"] == "conflict_not_found"
    body = {"to": "dismissed", "version": 1}
    answer = await world.client.post(f"{path}/transitions", json=body, headers=headers)
    assert (answer.status_code, answer.json()["error"]) == (404, "conflict_not_found")
    assert await listed(world, "open") == [conflict["id"]]


async def test_staff_who_do_not_run_the_gates_may_not_review(world: World):
    conflict = await a_conflict(world)
    path, body = f"{PATH}/{conflict['id']}", {"to": "dismissed", "version": 1}
    for role in ("box_office", "customer"):
        assert (await world.ask("GET", path, by=role)).status_code == 403
        assert (await world.ask("POST", f"{path}/transitions", body, by=role)).status_code == 403
    assert (await world.ask("POST", f"{path}/transitions", body, by="owner")).status_code == 200


async def test_an_unknown_conflict_is_not_found(world: World):
    assert (await world.ask("GET", f"{PATH}/{uuid4()}")).json()["error"] == "conflict_not_found"
    conflict = await a_conflict(world)
    for body in ({"to": "gone", "version": 1}, {"to": "open"}, {"to": "open", "version": 0}):
        path = f"{PATH}/{conflict['id']}/transitions"
        assert (await world.ask("POST", path, body)).status_code == 422
