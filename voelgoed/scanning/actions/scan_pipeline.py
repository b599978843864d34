"""Where online scans are answered: requested one by one, decided and written together.

Each batch is loaded (`store/admission.py`), decided (`rules/admit_batch.py`) and written, and its plan
says what to answer. What follows from it (`scan_follow_up.py`) begins when all have their answers.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

import msgspec
import structlog

from voelgoed.accounts.model import Caller
from voelgoed.infra.batcher import Batcher
from voelgoed.infra.cache import Cache
from voelgoed.infra.database import AT_ONCE_LOCK_TIMEOUT_MS, Database, Transaction
from voelgoed.infra.ids import new_id
from voelgoed.infra.live import Live
from voelgoed.infra.refusal import StorageBusy, StorageUnavailable, Unavailable
from voelgoed.scanning.actions.event_context import EventContext, together
from voelgoed.scanning.actions.history_commit import reconcile_ticket
from voelgoed.scanning.actions.last_scans import LastScans
from voelgoed.scanning.actions.scan_follow_up import CommittedBatch, ScanFollowUp
from voelgoed.scanning.actions.watch import FraudWatch
from voelgoed.scanning.model.admission import (
    AdmissionFacts,
    AdmissionPlan,
    DeviceCredential,
    LastEntry,
    ScanDecision,
    ScanRequest,
)
from voelgoed.scanning.model.occupancy import Counted
from voelgoed.scanning.model.scans import Answer, NewScan, SeatInfo
from voelgoed.scanning.rules.admit_batch import (
    decide,
    gates_of,
    stations_behind,
    stations_of,
    with_counts,
)
from voelgoed.scanning.rules.answers import answer_of
from voelgoed.scanning.rules.presented import read_presented
from voelgoed.scanning.store.admission import read_facts, write_plan
from voelgoed.ticketing.actions.admissions import last_scan_key

log = structlog.get_logger()

TOGETHER_MAX = 100
IN_FLIGHT_MAX = 2
"""Batches of one organisation: while PostgreSQL writes one, the next is read and decided."""
ATTEMPTS_MAX = 5
ANSWER_S = 1.8
"""A device that hears nothing for longer decides by itself."""
BUSY_S = ANSWER_S - 2 * AT_ONCE_LOCK_TIMEOUT_MS / 1000
"""The time within which a request may queue once more: to wait for the lock together, and then
alone."""
DRAIN_S = 1.0


class ScanPipeline:
    def __init__(self, database: Database, cache: Cache, live: Live, watch: FraudWatch) -> None:
        self._database = database
        self.context = EventContext(database, cache)
        self.last_scans = LastScans(cache)
        self._follow_up = ScanFollowUp(database, live, self.last_scans, watch)
        self._given_up: set[asyncio.Future[Sequence[Answer | Exception]]] = set()
        self._committed: dict[UUID, deque[CommittedBatch]] = {}
        """Batches whose follow-up has not begun, by organisation."""
        self._following: dict[UUID, asyncio.Task[None]] = {}
        self._batcher = Batcher[UUID, ScanRequest, Answer](
            "scans",
            self._in_time,
            together_max=TOGETHER_MAX,
            in_flight_max=IN_FLIGHT_MAX,
            follow_up=self._start_follow_up,
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

    async def is_idle(self) -> None:
        """Returns when all has been done that follows from scans that were answered."""
        while self._following:
            await asyncio.wait(self._following.values())

    async def stop(self) -> None:
        """Scans that were answered are still published, if it does not take long."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.is_idle(), DRAIN_S)

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
                facts = await self._load(tx, requests, hints)
                missing = self.context.missing_layouts(gates_of(requests, facts) if facts else ())
                plan = decide(requests, facts, tx.now) if facts and not missing else None
                counts = await self._commit(tx, plan) if plan else None
            if plan is not None and counts is not None:
                for ticket_id, scan_ids in plan.contested.items():
                    await self._reconcile(organization_id, ticket_id, scan_ids)
                return self._answers(organization_id, plan, counts, begun)
            if missing:
                await self.context.fetch_layouts(organization_id, missing)
            elif plan is not None:
                hints = {code: hints[code] for code in hints if code not in plan.needs_tickets}
        raise StorageBusy()

    async def _load(
        self, tx: Transaction, requests: Sequence[ScanRequest], hints: Mapping[str, LastEntry]
    ) -> AdmissionFacts | None:
        """None where the stations that are remembered have changed, or more of them are needed."""
        organization_id, context = tx.organization_id, self.context
        wanted = stations_of(requests, hints)
        facts = await read_facts(tx, requests, hints, await context.stations(tx, wanted))
        if facts is None:
            context.forget_stations(organization_id)
            return None
        further = stations_behind(requests, facts)
        if not context.has_stations(organization_id, further):
            await context.stations(tx, together(wanted, further))
            return None
        days = await context.days_of(organization_id, gates_of(requests, facts))
        return msgspec.structs.replace(facts, days=days)

    async def _commit(self, tx: Transaction, plan: AdmissionPlan) -> list[Counted] | None:
        """None where the plan lacks something, or what it was made from changed meanwhile."""
        if plan.needs_tickets:
            return None
        counts = await write_plan(tx, plan)
        if counts is not None and plan.exits:
            tx.drop(*(last_scan_key(tx.organization_id, code) for code in plan.exits))
        return counts

    async def _reconcile(
        self, organization_id: UUID, ticket_id: UUID, scan_ids: Collection[UUID]
    ) -> None:
        """A conflict that is not found now is found when the next scan of the ticket becomes
        known."""
        try:
            await reconcile_ticket(self._database, organization_id, ticket_id, scan_ids)
        except Unavailable as refusal:
            log.warning("ticket_not_reconciled", ticket_id=str(ticket_id), error=refusal.code)

    def _answers(
        self, organization_id: UUID, plan: AdmissionPlan, counts: Sequence[Counted], begun: float
    ) -> list[Answer | Exception]:
        decisions = with_counts(plan, counts)
        seats = [self._seat_of(each) for each in decisions]
        committed = CommittedBatch(plan, decisions, seats, begun)
        self._committed.setdefault(organization_id, deque()).append(committed)
        return [_answer(each, seat) for each, seat in zip(decisions, seats, strict=True)]

    def _seat_of(self, decision: ScanDecision) -> SeatInfo | None:
        gate, place = decision.gate, decision.place
        return self.context.seat(gate.layout_id, place) if gate and place else None

    def _start_follow_up(self, organization_id: UUID) -> None:
        if organization_id in self._committed and organization_id not in self._following:
            task = asyncio.create_task(self._follow(organization_id), name="scan-follow-up")
            self._following[organization_id] = task

    async def _follow(self, organization_id: UUID) -> None:
        """One batch after the other, so that the messages of an organisation keep their order."""
        try:
            while batches := self._committed.pop(organization_id, None):
                for batch in batches:
                    await self._follow_up.run(organization_id, batch)
        except Exception:  # people were let in all the same
            log.exception("scan_follow_up_failed", organization_id=str(organization_id))
        finally:
            del self._following[organization_id]


def _answer(decision: ScanDecision, seat: SeatInfo | None) -> Answer | Exception:
    if decision.refusal is not None:
        return decision.refusal
    assert decision.scan is not None
    return answer_of(decision.scan, seat)
