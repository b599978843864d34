"""`POST /api/scans` as the document describes it: its answers, and its effects."""

from datetime import datetime
from typing import LiteralString
from uuid import UUID, uuid4

import pytest

from tests.scanning.support import LATER, World


async def test_an_admission_is_answered_as_documented(world: World):
    device, ticket = await world.device(), await world.ticket("A5")
    answer = await world.scan(device, await world.barcode(ticket))
    assert answer.status_code == 200, answer.text
    body = answer.json()
    scan_id = UUID(body.pop("scan_id"))
    datetime.fromisoformat(body.pop("scanned_at"))
    assert body == {
        "status": "admitted",
        "direction": "entry",
        "entry_number": 1,
        "ticket_code": ticket.code,
        "ticket_id": str(ticket.id),
        "seat_info": {
            "seat_id": str(ticket.seat_id),
            "block_name": "Hall",
            "row": "A",
            "seat_number": "5",
            "notes": [],
        },
        "gate": {"gate_id": str(device.gate.id), "gate_name": "Gate 0"},
        "occupancy": {
            "gate_current": 1,
            "gate_capacity": 500,
            "event_current": 1,
            "event_capacity": 500,
            "percent_full": 0,
        },
        "message": "✓ Entry permitted. Welcome!",
    }
    [scan] = await world.rows("SELECT * FROM scan")
    assert scan["id"] == scan_id
    assert scan["status"] == "admitted"
    assert (scan["gate_name"], scan["device_name"]) == ("Gate 0", "iPad-Gate-1")
    assert scan["reason_denied"] is None
    [kept] = await world.rows("SELECT * FROM ticket")
    assert (kept["status"], kept["scan_count"]) == ("scanned", 1)
    assert kept["last_gate_id"] == device.gate.id
    assert kept["scanned_at"] == kept["last_scanned_at"] == scan["scanned_at_canonical"]
    [entry] = await world.rows("SELECT * FROM audit_entry WHERE entity_type = 'Scan'")
    assert (entry["action"], entry["entity_id"]) == ("ticket_scanned", str(scan_id))
    assert (entry["actor_kind"], entry["actor_id"]) == ("device", device.id)
    assert entry["user_agent"] == "Scanner-PWA/1.0"
    assert entry["changes"]["ticket_code"] == ticket.code
    assert await world.inside() == {"event": 1, "gate-0": 1, str(ticket.zone_id): 1}


async def test_a_duplicate_is_answered_as_documented(world: World):
    device, ticket = await world.device(), await world.ticket()
    first = (await world.scan(device, ticket.code)).json()
    answer = await world.scan(await world.device(world.gates[1]), ticket.code)
    assert answer.status_code == 200
    body = answer.json()
    for made in ("scan_id", "scanned_at"):
        body.pop(made)
    assert body == {
        "status": "denied",
        "reason": "already_scanned",
        "direction": "entry",
        "ticket_code": ticket.code,
        "last_scanned_at": first["scanned_at"],
        "seconds_since_last_scan": 0,
        "last_gate_name": "Gate 0",
        "message": "✗ Ticket already scanned. Access denied.",
    }
    assert (await world.inside())["event"] == 1
    assert len(await world.rows("SELECT 1 FROM scan WHERE status = 'denied'")) == 1


async def test_re_entry_after_the_window(world: World, clock):
    device, ticket = await world.device(), await world.ticket()
    assert await world.verdict(device, ticket.code) == "admitted"
    clock.ahead += LATER
    answer = await world.scan(device, ticket.code)
    assert answer.json()["status"] == "admitted"
    assert answer.json()["entry_number"] == 2
    assert answer.json()["message"] == "✓ Entry permitted. Welcome back!"
    assert (await world.inside())["event"] == 1, "nobody is inside twice"


async def test_a_full_gate_is_answered_with_its_numbers(world: World):
    device, (first, second) = await world.device(), await world.tickets(2)
    await limit_gates(world, "hard_capacity_limit = 1")
    assert await world.verdict(device, first.code) == "admitted"
    scan_id = str(uuid4())
    answer = (await world.scan(device, second.code, scan_id=scan_id)).json()
    assert (answer["reason"], answer["current"], answer["capacity"]) == ("gate_at_capacity", 1, 1)
    again = (await world.scan(device, second.code, scan_id=scan_id)).json()
    assert again == answer


async def test_beyond_its_capacity_a_gate_admits_with_a_warning(world: World):
    """The capacity of a gate is not enforced; a hard limit is."""
    device, (first, second) = await world.device(), await world.tickets(2)
    await limit_gates(world, "capacity = 1")
    within = (await world.scan(device, first.code)).json()
    assert (within["status"], "warning" in within) == ("admitted", False)
    beyond = (await world.scan(device, second.code)).json()
    assert (beyond["status"], beyond["warning"]) == ("admitted", "gate_over_capacity")
    left = (await world.scan(device, first.code, direction="exit")).json()
    assert (left["status"], "warning" in left) == ("admitted", False)


async def test_an_event_that_is_not_live_is_answered_with_its_status(world: World):
    device, ticket = await world.device(), await world.ticket()
    async with world.services.database.transaction(world.tenant.id) as tx:
        await tx.run("UPDATE event SET status = 'published'")
    answer = (await world.scan(device, ticket.code)).json()
    given = (answer["reason"], answer["current_status"], answer["expected"])
    assert given == ("event_not_live", "published", "live")


@pytest.mark.parametrize(
    ("text", "error", "details"),
    [
        ("3KQR-7F92", "invalid_ticket_code_length", {"provided": 9}),
        ("3KQR-7F92-4M1X-8", "invalid_ticket_code_length", {"provided": 16}),
        ("3KQR-7F92-4M1?", "invalid_ticket_code_format", {}),
        ("VG1-is-no-barcode", "invalid_ticket_code_format", {}),
    ],
)
async def test_a_text_that_is_no_code_is_refused_as_documented(
    world: World, text: str, error: str, details: dict[str, int]
):
    answer = await world.scan(await world.device(), text)
    assert answer.status_code == 422
    assert (answer.json()["error"], answer.json()["details"]) == (error, details)


async def limit_gates(world: World, setting: LiteralString) -> None:
    async with world.services.database.transaction(world.tenant.id) as tx:
        await tx.connection.execute(f"UPDATE gate SET {setting}")
