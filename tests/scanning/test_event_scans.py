"""All that was scanned at an event, page by page."""

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


async def test_what_is_no_event_has_no_scans(world: World):
    answer = await world.ask("GET", f"/api/scanning/events/{uuid4()}/scans")
    assert answer.status_code == 404
    path = f"/api/scanning/events/{world.event_id}/scans?after={uuid4()}"
    assert (await world.ask("GET", path)).json() == {"data": [], "next": None}
