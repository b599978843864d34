"""Whatever happens at the gates, in whatever order, a small model predicts the answers and the counts."""

import datetime as dt
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.prove.length import examples
from tests.scanning.support import TABLET, Device, World, a_world
from tests.support import MovableClock, a_tenant
from voelgoed.scanning.actions.own_device import prove
from voelgoed.scanning.actions.supervision import admit_by_hand, annul, move_ticket
from voelgoed.scanning.model.scans import NewScan
from voelgoed.scanning.model.supervision import Annulment, ManualAdmission, TicketTransition
from voelgoed.services import Services
from voelgoed.ticketing.model.tickets import Ticket

WINDOW = timedelta(seconds=300)
TICKETS, GATES = 3, 2


@dataclass(frozen=True)
class Passage:
    """A scan that let somebody through."""

    at: datetime
    way: str
    gate: int
    scan_id: UUID
    is_by_hand: bool = False


@dataclass
class ModelTicket:
    limit: int | None
    reentry: str
    status: str = "active"
    let_through: list[Passage] = field(default_factory=list[Passage])
    """All scans that let somebody through, whether they count or not."""
    passages: list[Passage] = field(default_factory=list[Passage])
    """The scans that count."""
    irregular: list[int] = field(default_factory=list[int])
    """The gates at which people came in who are inside irregularly."""

    @property
    def entries(self) -> list[Passage]:
        return [each for each in self.passages if each.way == "entry"]

    def inside_at(self) -> int | None:
        """The gate where the ticket last came in, if it has not left since."""
        if not self.passages or self.passages[-1].way == "exit":
            return None
        return self.passages[-1].gate

    def judge_again(self) -> None:
        """Judges the history again after an annulment, as if the annulled scan had never been."""
        let_through, self.let_through = self.let_through, []
        self.passages, self.irregular = [], []
        for each in let_through:
            self.let(each)

    def let(self, each: Passage) -> None:
        self.let_through.append(each)
        if each.is_by_hand or self.by_history(each.at, each.way) == "admitted":
            if each.way == "exit" and self.inside_at() is None:
                del self.irregular[:1]
            self.passages.append(each)
        elif each.way == "entry":
            self.irregular.append(each.gate)

    def verdict(self, now: datetime, way: str) -> str:
        if way == "entry" and self.status == "used":
            return "ticket_already_used"
        if way == "entry" and self.status == "voided":
            return "ticket_voided"
        return self.by_history(now, way)

    def by_history(self, now: datetime, way: str) -> str:
        limit, reentry = self.limit, self.reentry
        if way == "exit":
            somebody = self.inside_at() is not None or self.irregular
            return "admitted" if somebody else "not_inside"
        if self.entries and now - self.entries[-1].at < WINDOW:
            return "already_scanned"
        if self.entries and reentry == "never":
            return "reentry_not_allowed"
        if self.entries and reentry == "after_exit" and self.inside_at() is not None:
            return "exit_required"
        if limit is not None and len(self.entries) >= limit:
            return "entry_limit_reached"
        return "admitted"


class Play:
    def __init__(
        self,
        world: World,
        clock: MovableClock,
        tickets: list[Ticket],
        limit: int | None,
        reentry: str,
    ) -> None:
        self.world = world
        self.clock = clock
        self.tickets = tickets
        self.model = [ModelTicket(limit, reentry) for _ in tickets]
        self.said: Counter[str] = Counter()

    @property
    def supervisor(self) -> Any:
        return self.world.tenant.caller("gate_supervisor")

    async def scan(self, which: int, gate: int, way: str) -> None:
        ticket, model, device = self.tickets[which], self.model[which], self.world.devices[gate]
        now, scan_id = self.clock.now(), uuid4()
        expected = model.verdict(now, way)
        verdict_given = await self._ask(device, ticket.code, way, scan_id)
        assert verdict_given == expected, (which, way, model)
        self.said[verdict_given] += 1
        if verdict_given == "admitted":
            model.let(Passage(now, way, gate, scan_id))
            if model.status == "active" and way == "entry":
                model.status = "scanned"
        if which == 0:  # a repeated request gets the same answer
            assert await self._ask(device, ticket.code, way, scan_id) == expected

    async def _ask(self, device: Device, code: str, way: Any, scan_id: UUID) -> str:
        services = self.world.services
        proven = prove(services.master_key, device.api_key, TABLET)
        new = NewScan(
            ticket_code=code,
            device_id=device.id,
            scanned_at=self.clock.now(),
            scan_id=str(scan_id),
            direction=way,
        )
        answer = await services.scans.scan(proven.caller, proven.key_version, new)
        return str(answer.reason) if answer.reason else answer.status

    async def by_hand(self, which: int, gate: int) -> None:
        services, model, scan_id = self.world.services, self.model[which], uuid4()
        if model.status == "voided":
            return
        new = ManualAdmission(
            ticket_code=self.tickets[which].code,
            gate_id=self.world.gates[gate].id,
            reason="known to the house",
            scan_id=str(scan_id),
        )
        answer = await admit_by_hand(services.database, services.scans, self.supervisor, new)
        assert answer.status == "admitted"
        model.let(Passage(self.clock.now(), "entry", gate, scan_id, is_by_hand=True))
        if model.status == "active":
            model.status = "scanned"

    async def annul(self, which: int, at: int) -> None:
        model = self.model[which]
        if not model.passages:
            return
        gone = model.passages[at % len(model.passages)]
        await annul(
            self.world.services.database,
            self.supervisor,
            gone.scan_id,
            Annulment(reason="turnstile"),
        )
        model.let_through.remove(gone)
        model.judge_again()
        if model.status == "scanned" and not model.entries:
            model.status = "active"

    async def move(self, which: int, to: Any) -> None:
        services, model = self.world.services, self.model[which]
        if model.status == "voided":
            return
        new = TicketTransition(to=to, reason="so it is")
        ticket_id = self.tickets[which].id
        await move_ticket(services.database, services.checkout, self.supervisor, ticket_id, new)
        model.status = to
        if to == "active":
            model.let_through.clear()
            model.judge_again()

    async def require_as_the_model_says(self) -> None:
        for ticket, model in zip(self.tickets, self.model, strict=True):
            [kept] = await self.world.rows("SELECT * FROM ticket WHERE id = $1", ticket.id)
            entries = model.entries
            assert kept["status"] == model.status
            assert kept["scan_count"] == len(entries)
            assert kept["is_inside"] == (model.inside_at() is not None)
            assert kept["scanned_at"] == (entries[0].at if entries else None)
            assert kept["last_scanned_at"] == (entries[-1].at if entries else None)
        counts = await self.world.rows("SELECT * FROM occupancy")
        by_gate = Counter(model.inside_at() for model in self.model)
        irregular = Counter(gate for model in self.model for gate in model.irregular)
        by_gate.update(irregular)
        for number, gate in enumerate(self.world.gates):
            [row] = [each for each in counts if each["scope_id"] == gate.id] or [None]
            if row is None:
                assert by_gate[number] == 0
                continue
            passages = [p for model in self.model for p in model.passages if p.gate == number]
            assert (row["inside"], row["irregular"]) == (by_gate[number], irregular[number])
            assert row["entries"] == sum(p.way == "entry" for p in passages)
            assert row["exits"] == sum(p.way == "exit" for p in passages)
        event = [row for row in counts if row["scope"] == "event"]
        zones = [row for row in counts if row["scope"] == "zone"]
        inside = sum(by_gate.values()) - by_gate[None]
        assert sum(row["inside"] for row in event) == sum(row["inside"] for row in zones) == inside
        assert all(row["day"] == dt.date(2030, 6, 1) for row in counts)


@pytest.fixture
def clock(clock: MovableClock) -> MovableClock:
    return clock.stop()


which = st.integers(0, TICKETS - 1)
gate = st.integers(0, GATES - 1)
steps = st.one_of(
    st.tuples(st.just("scan"), which, gate, st.sampled_from(["entry", "entry", "exit"])),
    st.tuples(st.just("scan"), which, gate, st.sampled_from(["entry", "entry", "exit"])),
    st.tuples(st.just("wait"), st.sampled_from([1, 150, 299, 300, 400])),
    st.tuples(st.just("by_hand"), which, gate),
    st.tuples(st.just("annul"), which, st.integers(0, 5)),
    st.tuples(st.just("move"), which, st.sampled_from(["used", "active", "voided"])),
)


@examples(short=15, full=500)
@example(
    limit=None,
    reentry="allowed",
    actions=[("move", 0, "used"), ("by_hand", 0, 0), ("scan", 0, 0, "entry")],
)
@given(
    limit=st.sampled_from([None, 2]),
    reentry=st.sampled_from(["allowed", "allowed", "after_exit", "never"]),
    actions=st.lists(steps, min_size=5, max_size=30),
)
async def test_decisions_and_counts_are_what_the_model_says(
    services: Services,
    client: httpx.AsyncClient,
    clock: MovableClock,
    limit: int | None,
    reentry: str,
    actions: list[tuple[Any, ...]],
):
    clock.ahead = timedelta()  # each example has an organisation of its own
    tenant = await a_tenant(services, "acme")
    world = await a_world(services, client, tenant, gates=GATES, entry_limit=limit, reentry=reentry)
    for each in world.gates:
        await world.device(each)
    play = Play(world, clock, await world.tickets(TICKETS), limit, reentry)
    for name, *values in actions:
        if name == "wait":
            clock.ahead += timedelta(seconds=values[0])
        else:
            await getattr(play, name)(*values)
        clock.ahead += timedelta(milliseconds=1)
        await play.require_as_the_model_says()
