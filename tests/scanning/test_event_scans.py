"""The list of all scans of an event, page by page."""

from datetime import datetime
from uuid import uuid4

from tests.scanning.support import World


async def listed(world: World, limit: int = 50) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    after = ""
    while True:
        path = f"/api/scanning/events/{world.event_id}/scans?limit={limit}{after}"
        answer = await world.ask("GET", path)
        assert answer.status_code == 200, answer.text
        found += answer.json()["data"]
        if answer.json()["next"] is None:
            return found
        after = f"&after={answer.json()['next']}"


async def test_every_attempt_is_listed_once_the_newest_first(world: World):
    device = await world.device()
    made: list[str] = []
    for ticket in await world.tickets(5):
        for _ in range(2):
            made.append((await world.scan(device, ticket.code)).json()["scan_id"])
    made.append((await world.scan(device, "ZZZZ-ZZZZ-ZZZZ")).json()["scan_id"])
    for limit in (1, 3, 50):
        found = await listed(world, limit)
        assert [each["id"] for each in found] == made[::-1]
    assert found[0]["ticket_id"] is None
    assert (found[1]["status"], found[1]["reason_denied"]) == ("denied", "already_scanned")
    assert found[2]["status"] == "admitted"


async def test_a_listed_scan_names_its_event_gate_and_device_and_when_it_was_stored(world: World):
    device, ticket = await world.device(name="iPad-Gate-1"), await world.ticket()
    await world.scan(device, ticket.code)
    [scan] = await listed(world)
    [kept] = await world.rows("SELECT created_at FROM scan")
    named = (scan["event_id"], scan["gate_name"], scan["device_name"])
    assert named == (str(world.event_id), "Gate 0", "iPad-Gate-1")
    assert datetime.fromisoformat(str(scan["created_at"])) == kept["created_at"]
    answer = await world.ask("GET", f"/api/scanning/tickets/{ticket.id}/scans")
    [of_ticket] = answer.json()["data"]
    for name in ("event_id", "gate_name", "device_name", "created_at"):
        assert of_ticket[name] == scan[name]


async def test_a_ticket_has_the_gate_of_its_last_entry(world: World):
    ticket = await world.ticket()
    path = f"/api/tickets/{ticket.id}"
    headers = world.tenant.as_("owner")
    before = await world.client.get(path, headers=headers)
    assert before.json()["data"]["ticket"]["last_gate_id"] is None
    await world.scan(await world.device(world.gates[1]), ticket.code)
    after = await world.client.get(path, headers=headers)
    assert after.json()["data"]["ticket"]["last_gate_id"] == str(world.gates[1].id)


async def test_the_audit_entry_of_a_scan_has_device_address_and_agent(world: World):
    device, ticket = await world.device(name="iPad-Gate-1"), await world.ticket()
    await world.scan(device, ticket.code)
    path = "/api/audit?action=ticket_scanned"
    answer = await world.client.get(path, headers=world.tenant.as_("owner"))
    [entry] = answer.json()["data"]
    assert entry["metadata"] == {
        "device_id": str(device.id),
        "device_name": "iPad-Gate-1",
        "ip_address": "127.0.0.1",
        "user_agent": "Scanner-PWA/1.0",
    }


async def test_an_unknown_event_has_no_scans(world: World):
    answer = await world.ask("GET", f"/api/scanning/events/{uuid4()}/scans")
    assert answer.status_code == 404
    path = f"/api/scanning/events/{world.event_id}/scans?after={uuid4()}"
    assert (await world.ask("GET", path)).json() == {"data": [], "next": None}
