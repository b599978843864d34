"""Where online scans are answered: requested one by one, decided and written together.

Each batch is loaded (`store/admission.py`), decided (`rules/admit_batch.py`) and written, and its plan
says what to answer and to publish.
"""

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

import msgspec
import structlog

from voelgoed.accounts.model import Caller
from voelgoed.infra.batcher import Batcher
from voelgoed.infra.cache import Cache
from voelgoed.infra.database import AT_ONCE_LOCK_TIMEOUT_MS, Database, Transaction
from voelgoed.infra.ids import new_id
from voelgoed.infra.refusal import StorageBusy, StorageUnavailable, Unavailable
from voelgoed.scanning.actions.event_context import EventContext
from voelgoed.scanning.actions.figures import count_scans
from voelgoed.scanning.actions.history_commit import reconcile_ticket
from voelgoed.scanning.actions.last_scans import LastScans
from voelgoed.scanning.actions.watch import FraudWatch
from voelgoed.scanning.model.admission import (
    AdmissionFacts,
    AdmissionPlan,
    DeviceCredential,
    LastEntry,
    ScanDecision,
    ScanRequest,
)
from voelgoed.scanning.model.occupancy import GateLevels, WrittenCounts
from voelgoed.scanning.model.scans import Answer, NewScan, Scan, SeatInfo
from voelgoed.scanning.rules.admit_batch import decide, with_counts
from voelgoed.scanning.rules.answers import answer_of
from voelgoed.scanning.rules.messages import counted, denied, gate_topic, passed
from voelgoed.scanning.rules.presented import read_presented
from voelgoed.scanning.store.admission import read_facts, write_plan
from voelgoed.seating.rules.messages import occupancy_topic
from voelgoed.ticketing.actions.admissions import last_scan_key

log = structlog.get_logger()

TOGETHER_MAX = 100
IN_FLIGHT_MAX = 2
"""Batches of one organisation: while PostgreSQL writes one, the next is read and decided."""
ATTEMPTS_MAX = 5
ANSWER_S = 1.8
"""A device that hears nothing for longer decides by itself."""
LEVELS_S = 0.5
"""How often the levels of all gates of an organisation's events are published, at most: to read them
costs a tenth of what PostgreSQL does for a scan."""
BUSY_S = ANSWER_S - 2 * AT_ONCE_LOCK_TIMEOUT_MS / 1000
"""How long there is time to queue once more: to wait for the lock together, and then alone."""


class ScanPipeline:
    def __init__(self, database: Database, cache: Cache, watch: FraudWatch) -> None:
        self._database = database
        self._watch = watch
        self.context = EventContext(database, cache)
        self.last_scans = LastScans(cache)
        self._levels_due: dict[UUID, float] = {}
        """By organisation: when levels may be published again."""
        self._given_up: set[asyncio.Future[Sequence[Answer | Exception]]] = set()
        self._batcher = Batcher[UUID, ScanRequest, Answer](
            "scans", self._in_time, together_max=TOGETHER_MAX, in_flight_max=IN_FLIGHT_MAX
        )

    async def scan(self, caller: Caller, key_version: int, new: NewScan) -> Answer:
        request = ScanRequest(
            caller=caller,
            by=DeviceCredential(key_version, new.device_id),
            scan_id=new.scan_id or new_id(),
            audit_id=new_id(),
            text=new.ticket_code.strip(),
            presented=read_presented(new.ticket_code),
            direction=new.direction,
            scanned_at=new.scanned_at,
            received_at=self._database.clock.now(),
        )
        return await self.submit(request)

    async def submit(self, request: ScanRequest) -> Answer:
        """A request that finds somebody else at work on its ticket queues again, behind the others."""
        begun = time.monotonic()
        while True:
            try:
                return await self._batcher.submit(request.caller.organization_id, request)
            except StorageBusy:
                if time.monotonic() - begun > BUSY_S:
                    raise

    async def _in_time(
        self, organization_id: UUID, requests: Sequence[ScanRequest]
    ) -> Sequence[Answer | Exception]:
        """One timer for all of them. What takes longer is given up, and not waited for: it may be
        written or not, and whoever asks again under the same ids will hear which."""
        work = asyncio.ensure_future(self._run(organization_id, requests))
        self._given_up.add(work)
        work.add_done_callback(self._let_go)
        done, _ = await asyncio.wait({work}, timeout=ANSWER_S)
        if not done or work.cancelled():
            work.cancel()
            raise StorageUnavailable()
        return work.result()

    def _let_go(self, work: "asyncio.Future[Sequence[Answer | Exception]]") -> None:
        self._given_up.discard(work)
        if not work.cancelled():
            work.exception()  # of what was given up nobody asks for it

    async def _run(
        self, organization_id: UUID, requests: Sequence[ScanRequest]
    ) -> Sequence[Answer | Exception]:
        """Load, decide, commit; again where something was missing, or changed meanwhile."""
        hints = await self.last_scans.hints(organization_id, requests)
        for _ in range(ATTEMPTS_MAX):
            begun = time.monotonic()
            async with self._database.at_once(organization_id) as tx:
                facts = await read_facts(tx, requests, hints)
                missing = self.context.missing_layouts(facts.gates.values())
                plan = None if missing else await self._plan(tx, requests, facts, hints)
                written = await self._commit(tx, plan) if plan else None
                answers = self._answers(tx, plan, written) if plan and written else None
            if plan is not None and answers is not None:
                await self.last_scans.remember(organization_id, plan.entries, begun)
                for ticket_id, scan_ids in plan.contested.items():
                    await self._reconcile(organization_id, ticket_id, scan_ids)
                return answers
            if missing:
                await self.context.fetch_layouts(organization_id, missing)
            elif plan is not None:
                hints = {code: hints[code] for code in hints if code not in plan.needs_tickets}
        raise StorageBusy()

    async def _reconcile(
        self, organization_id: UUID, ticket_id: UUID, scan_ids: Collection[UUID]
    ) -> None:
        """What is not found now is found when the next scan of the ticket becomes known."""
        try:
            await reconcile_ticket(self._database, organization_id, ticket_id, scan_ids)
        except Unavailable as refusal:
            log.warning("ticket_not_reconciled", ticket_id=str(ticket_id), error=refusal.code)

    async def _plan(
        self,
        tx: Transaction,
        requests: Sequence[ScanRequest],
        facts: AdmissionFacts,
        hints: dict[str, LastEntry],
    ) -> AdmissionPlan:
        days = await self.context.days_of(tx.organization_id, facts.gates.values())
        return decide(requests, msgspec.structs.replace(facts, days=days, hints=hints), tx.now)

    async def _commit(self, tx: Transaction, plan: AdmissionPlan) -> WrittenCounts | None:
        """None where the plan lacks something, or what it was made from changed meanwhile."""
        if plan.needs_tickets:
            return None
        organization_id, now = tx.organization_id, time.monotonic()
        with_levels = now >= self._levels_due.get(organization_id, now)
        written = await write_plan(tx, plan, with_levels=with_levels)
        if written is not None:
            tx.drop(*(last_scan_key(organization_id, code) for code in plan.exits))
            if written.levels:
                self._levels_due[organization_id] = now + LEVELS_S
        return written

    def _answers(
        self, tx: Transaction, plan: AdmissionPlan, written: WrittenCounts
    ) -> list[Answer | Exception]:
        """What follows from a commit: the answers, live messages, figures and the watch."""
        decisions = with_counts(plan, written.counts)
        self._watch.note(tx.organization_id, decisions)
        count_scans([each.scan for each in decisions if each.is_new and each.scan is not None])
        levels = _by_last_scan(decisions, written.levels)
        return [self._answer(tx, each, levels) for each in decisions]

    def _answer(
        self, tx: Transaction, decision: ScanDecision, levels: Mapping[UUID, msgspec.Raw]
    ) -> Answer | Exception:
        if decision.refusal is not None:
            return decision.refusal
        scan, gate, place = decision.scan, decision.gate, decision.place
        assert scan is not None
        seat = self.context.seat(gate.layout_id, place) if gate and place else None
        if decision.is_new:
            _publish(tx, scan, seat, levels.get(scan.id))
        return answer_of(scan, seat)


def _by_last_scan(
    decisions: Sequence[ScanDecision], levels: Sequence[GateLevels]
) -> dict[UUID, msgspec.Raw]:
    """Levels by the scan with which they are published: the last admission at their event, that day."""
    last = {
        (each.scan.event_id, each.scan.day): each.scan.id
        for each in decisions
        if each.is_new and each.scan is not None
    }
    # Somebody who counted as inside since yesterday changes that day's levels, of which nobody is told.
    return {
        last[each.event_id, each.day]: each.gates
        for each in levels
        if (each.event_id, each.day) in last
    }


def _publish(tx: Transaction, scan: Scan, seat: SeatInfo | None, gates: msgspec.Raw | None) -> None:
    topic = gate_topic(scan.gate_id)
    if scan.status == "denied":
        tx.publish(topic, denied(scan))
        return
    tx.publish(topic, passed(scan, seat))
    tx.publish(occupancy_topic(tx.organization_id, scan.event_id), counted(scan, gates))
